#pragma once
// One channel at full size and halved again and again, for drawing.

#include <areal/array.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <vector>

namespace areal::view {

struct Extent {
  std::int64_t width = 0, height = 0;
  friend bool operator==(const Extent&, const Extent&) = default;
};

/// Sides of a tile; the last level is one tile.
inline constexpr std::int64_t tile_side = 256;

/// The full size, and half of each size, rounded up, until it is one tile.
std::vector<Extent> levels_of(const Extent& full);

class Pyramid {
 public:
  /// The channel must stay valid. Levels of 8u are 8u, others 32f. A pixel is the mean of up to four; NaN is left out,
  /// unless all are NaN. O(H W).
  explicit Pyramid(const ConstView& channel);

  const ConstView& level(std::size_t number) const { return levels_[number]; }
  std::size_t levels() const noexcept { return levels_.size(); }
  /// Bytes of the levels below the first, of a channel of that shape and type.
  static std::uint64_t bytes(const Extent& full, Type type);

 private:
  std::vector<Array> halves_;
  std::vector<ConstView> levels_;
};

}  // namespace areal::view
