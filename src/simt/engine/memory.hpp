#pragma once
// The global memory of the simulated machine: the regions that its owner registered.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "simt/checks/shadow.hpp"

namespace areal::simt {

/// Memory that kernels may touch. The bytes stay the owner's and must outlive their registration.
struct Region {
  std::string name;
  const void* data = nullptr;
  std::size_t bytes = 0;
  bool initialised = true;  ///< false: a fault to read before it is written
  bool writable = true;
  bool poison = true;  ///< if not initialised: filled on registration. False if bytes between elements are not ours
};

struct ShadowedRegion : Region {
  Shadow shadow;

  std::uintptr_t first() const { return reinterpret_cast<std::uintptr_t>(data); }
  bool holds(std::uintptr_t at, std::size_t n) const { return at - first() < bytes && n <= bytes - (at - first()); }
};

class Memory {
 public:
  static constexpr int poison = 0xcd;

  /// Throws InvalidArgument if the region overlaps another.
  void add(const Region& region);
  void remove(const void* data);
  /// The region that contains the address, or the one that begins or ends nearest to it; null if there is none at all.
  ShadowedRegion* nearest(std::uintptr_t at);
  /// The region that begins there. Throws InvalidArgument if none does.
  ShadowedRegion& at(const void* data);

  const std::vector<std::unique_ptr<ShadowedRegion>>& regions() const { return regions_; }
  ReadLists& lists() { return lists_; }

 private:
  std::vector<std::unique_ptr<ShadowedRegion>> regions_;  // by address
  ReadLists lists_;
};

}  // namespace areal::simt
