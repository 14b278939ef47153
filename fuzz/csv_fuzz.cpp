// Regions and boxes as text: any bytes give either valid regions or InvalidArgument.
#include <areal/error.hpp>
#include <cstdlib>
#include <string>
#include "media/media.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}
void check(const areal::Region& r) {
  std::int64_t end = 0;
  require(r.width >= 0 && r.height >= 0);
  require(!__builtin_add_overflow(r.x, r.width, &end) && !__builtin_add_overflow(r.y, r.height, &end));
}
void check_sentence(const std::string& what, const std::string& start) {
  require(what.starts_with(start) && what.find('\n') == std::string::npos && what.size() < 400);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    for (const auto& named : areal::media::parse_regions_csv(text, "F.csv")) check(named.region);
  } catch (const areal::InvalidArgument& error) {
    check_sentence(error.what(), "F.csv: line ");
  }
  try {
    std::int64_t frame = 0;
    for (const auto& box : areal::media::parse_boxes_csv(text, "F.csv")) {
      require(box.frame >= frame);
      frame = box.frame;
      check(box.region);
    }
  } catch (const areal::InvalidArgument& error) {
    check_sentence(error.what(), "F.csv: line ");
  }
  try {
    check(areal::media::parse_region(text).region);
  } catch (const areal::InvalidArgument& error) {
    check_sentence(error.what(), "region '");
  }
  return 0;
}
