#include "view/regions.hpp"

#include <algorithm>
#include <areal/error.hpp>

namespace areal::view {
namespace {

// `name` is UTF-8.
void check_name(std::string_view name) {
  std::size_t characters = 0;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) throw InvalidArgument("name: it may have no control characters");
    characters += (byte & 0xc0) != 0x80 ? 1 : 0;
  }
  if (characters > Regions::longest_name)
    throw InvalidArgument("name: it has " + std::to_string(characters) + " characters, and may have " +
                          std::to_string(Regions::longest_name));
}

}  // namespace

std::vector<DrawnRegion>::iterator Regions::find(std::int64_t id) {
  const auto at = std::lower_bound(regions_.begin(), regions_.end(), id,
                                   [](const DrawnRegion& region, std::int64_t wanted) { return region.id < wanted; });
  if (at == regions_.end() || at->id != id) throw InvalidArgument("region " + std::to_string(id) + ": there is none");
  return at;
}

std::int64_t Regions::set(std::int64_t id, std::string_view name, const Region& box) {
  check_name(name);
  checked_region(box, 0, width_, height_);
  if (box.width == 0 || box.height == 0) throw InvalidArgument("box: it may not be empty");
  if (id != 0) {
    DrawnRegion& region = *find(id);
    region.name = name, region.box = box;
  } else {
    if (regions_.size() >= most)
      throw InvalidArgument("regions: there may be " + std::to_string(most) + "; remove some first");
    id = next_id_++;
    regions_.push_back({id, std::string(name), box});
  }
  ++revision_;
  return id;
}

void Regions::follow(std::int64_t id, const Region& box) {
  const auto at = std::find_if(regions_.begin(), regions_.end(), [&](const auto& region) { return region.id == id; });
  if (at == regions_.end() || at->box == box) return;
  at->box = box;
  ++revision_;
}

void Regions::remove(std::int64_t id) {
  regions_.erase(find(id));
  ++revision_;
}

}  // namespace areal::view
