#pragma once
// The pixels of a region as keys in their order (formulas/rank.hpp), straight from the image: a radix selection, 8 bits
// at a time. O(pixels) for each region, and for some of its pixels again for each further digit.

#include <areal/region.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <span>
#include <vector>

namespace areal::cpu {

/// The order of the pixels of a type.
struct PixelOrder {
  Type type;

  double value(std::uint64_t key) const;         ///< the pixel's
  std::uint64_t least_from(double value) const;  ///< the least key of a pixel of that value or more, at most `end`
  std::uint64_t end() const;                     ///< above the keys of all pixels but NaN
  bool has_nan() const { return is_float(type); }
};

/// The pixels of a region, for one thread at a time.
class RegionKeys {
 public:
  /// Of one channel of one image; the region lies inside.
  void read(const ConstView& view, std::int64_t image, std::int64_t channel, const Region& region);
  std::uint64_t below(std::uint64_t key) const;
  /// keys[i] = the key of rank ranks[i]; `ranks` rise, from 0 on, and are below the number of pixels.
  void select(std::span<const std::uint64_t> ranks, std::uint64_t* keys);
  /// Bytes that one of that many pixels needs.
  static std::uint64_t bytes(Type type, std::uint64_t pixels) { return 2 * pixels * size_of(type); }

 private:
  template <class Key>
  struct Keys {
    std::vector<Key> all, some;
    std::int64_t count = 0;
  };
  template <class F>
  decltype(auto) with_keys(const F& f) const;

  Type type_ = Type::u8;
  mutable Keys<std::uint8_t> keys8_;
  mutable Keys<std::uint16_t> keys16_;
  mutable Keys<std::uint32_t> keys32_;
  mutable Keys<std::uint64_t> keys64_;
};

}  // namespace areal::cpu
