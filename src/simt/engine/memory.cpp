#include "simt/engine/memory.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <cstring>

namespace areal::simt {

void Memory::add(const Region& region) {
  if (region.bytes == 0) return;  // an empty table has no address
  auto added = std::make_unique<ShadowedRegion>();
  static_cast<Region&>(*added) = region;
  const auto at = std::upper_bound(regions_.begin(), regions_.end(), added->first(),
                                   [](std::uintptr_t first, const auto& r) { return first < r->first(); });
  const bool overlaps = (at != regions_.end() && (*at)->first() - added->first() < region.bytes) ||
                        (at != regions_.begin() && added->first() - at[-1]->first() < at[-1]->bytes);
  if (overlaps) throw InvalidArgument("region \"" + region.name + "\" overlaps another that is registered");
  added->shadow.cover(added->first(), region.bytes, region.initialised, lists_);
  // The owner declared these bytes uninitialised, and kernels write them through this pointer.
  if (!region.initialised && region.writable && region.poison)
    std::memset(const_cast<void*>(region.data), poison, region.bytes);
  regions_.insert(at, std::move(added));
}

void Memory::remove(const void* data) {
  for (auto at = regions_.begin(); at != regions_.end(); ++at)
    if ((*at)->data == data) {
      (*at)->shadow.cover(0, 0, false, lists_);
      regions_.erase(at);
      return;
    }
}

ShadowedRegion* Memory::nearest(std::uintptr_t address) {
  const auto after = std::upper_bound(regions_.begin(), regions_.end(), address,
                                      [](std::uintptr_t a, const auto& r) { return a < r->first(); });
  if (after == regions_.begin()) return regions_.empty() ? nullptr : after->get();
  ShadowedRegion* const before = after[-1].get();
  const std::uintptr_t end = before->first() + before->bytes;
  if (address < end || after == regions_.end()) return before;
  return address - end < (*after)->first() - address ? before : after->get();
}

ShadowedRegion& Memory::at(const void* data) {
  for (const auto& region : regions_)
    if (region->data == data) return *region;
  throw InvalidArgument("no region begins at that address");
}

}  // namespace areal::simt
