#pragma once
// Checks whether integer sums fit their table's type, to refuse results that may have wrapped.

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

/// The range of an integer type.
PixelRange range_of(Type type) noexcept;
/// The range of the pixels of an integer image, with all channels and the whole batch. O(pixels)
PixelRange range_of(const ConstView& image);
/// The smallest range that contains both.
PixelRange union_of(const PixelRange& a, const PixelRange& b) noexcept;

/// The types and pixel range behind a table. Float sums always fit: they round instead of wrapping.
struct SumTypes {
  TypePair types;
  std::optional<Type> squares = {};
  PixelRange pixels = {};

  /// Do the sum and the sum of squares of that many pixels fit their types, whatever the pixels are?
  bool fits(std::int64_t pixels_in_region) const noexcept;
};

/// Throws InvalidArgument for the first region, clipped to the image, whose statistics may have wrapped. The message
/// has the region, the range of the pixels and the types that are wide enough. `depth`: slices of a volume.
void require_exact(const SumTypes& sums, const std::vector<Region>& regions, const std::vector<Stat>& stats,
                   const Shape& image, std::int64_t depth = 1);

}  // namespace areal::command
