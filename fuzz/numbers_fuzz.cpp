// The numbers of the command line: any text gives a value or InvalidArgument, and an accepted value reads back the same
// from its own text.

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include "io/numbers.hpp"
#include "media/media.hpp"

namespace {

using namespace areal::command;

template <class F>
auto accepted(F&& parse) -> std::optional<decltype(parse())> {
  try {
    return parse();
  } catch (const areal::InvalidArgument&) {
    return std::nullopt;
  }
}

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  if (const auto value = accepted([&] { return whole_number("--n", text); }))
    require(whole_number("--n", std::to_string(*value)) == *value);
  if (const auto value = accepted([&] { return whole_number("--n", text, 0, 100); }))
    require(*value >= 0 && *value <= 100);
  accepted([&] { return number("--n", text); });
  if (const auto values = accepted([&] { return number_list("--edges", text); }))
    require(values->size() == split(text, ',').size());
  accepted([&] { return range("--range", text); });
  if (const auto value = accepted([&] { return size("--size", text); })) {
    require(value->width >= 1 && value->height >= 1);
    require(size("--size", std::to_string(value->width) + "x" + std::to_string(value->height)) == *value);
  }
  if (const auto value = accepted([&] { return raw_format("--raw", text); }))
    require(value->size.width >= 0 && value->size.height >= 0);
  if (const auto value = accepted([&] { return areal::media::parse_region(text); })) {
    const areal::Region& r = value->region;
    std::int64_t end = 0;
    require(r.width >= 0 && r.height >= 0);
    require(!__builtin_add_overflow(r.x, r.width, &end) && !__builtin_add_overflow(r.y, r.height, &end));
  }
  return 0;
}
