#pragma once
// Whether sums of integers fit their table: an answer that may have wrapped is refused.

#include <areal/region.hpp>
#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include "media/media.hpp"
#include "stats.hpp"

namespace areal::command {

using media::PixelRange;

/// Of any pixels of that integer type.
PixelRange range_of(Type type) noexcept;
/// Of the pixels of all channels and images, integers. O(pixels)
PixelRange range_of(const ConstView& image);
PixelRange united(const PixelRange& a, const PixelRange& b) noexcept;

/// What the sums of a table are made of. Floats fit always, as they round instead of wrapping.
struct SumTypes {
  TypePair types;
  std::optional<Type> squares = {};
  PixelRange pixels = {};

  /// Could the sum, or the sum of squares, of that many of these pixels exceed its type?
  bool fits(std::int64_t pixels_in_region) const noexcept;
};

/// Throws InvalidArgument for the first region, clipped to the image, with an answer that may have wrapped: which one,
/// what its pixels are at most, and the types that hold it. `depth` is a volume's.
void require_exact(const SumTypes& sums, const std::vector<Region>& regions, const std::vector<Stat>& stats,
                   const Shape& image, std::int64_t depth = 1);

}  // namespace areal::command
