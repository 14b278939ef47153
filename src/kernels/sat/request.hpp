#pragma once
// What tables are asked for, before the data is there, and where their elements lie.

#include <algorithm>
#include <areal/border.hpp>
#include <areal/lane.hpp>
#include <areal/view.hpp>
#include <areal/warp_scan.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

namespace areal::kernels {

/// How many lines a ribbon has, at most (ribbon.hpp).
inline constexpr int ribbon_lines = 16;

/// All that one execute gives.
struct SatRequest {
  Shape image;
  Lane lane;
  Border border = Border::zero;
  std::optional<Type> squares = {};
  bool tilted = false, mask = false, ignore_nan = false, volume = false;
  double r = 0.25;                        ///< of hybrid-1r1w
  WarpScan scan = WarpScan::kogge_stone;  ///< of scanrow-brlt and scanrow-column

  bool counts() const { return mask || ignore_nan; }
};

/// Over what pixels are summed.
enum class Summed : std::uint8_t { pixels, tilted };

/// What one schedule gives, a table or the sum with its squares: names a kernel, and says what that kernel must know.
struct TableRequest {
  std::string_view id;  ///< how pixels are summed; tilted tables and sums with squares have one way
  Summed what = Summed::pixels;
  Lane lane;  ///< elements that are read, and sums; need not be one of lanes()
  Shape image;
  Border border = Border::zero;
  std::optional<Type> squares = {};
  double r = 0.25;                        ///< of hybrid-1r1w
  WarpScan scan = WarpScan::kogge_stone;  ///< of scanrow-brlt and scanrow-column
};
struct TableViews {
  View sum, squares = {};
};

/// The border is an output offset and an edge of zeros: all algorithms compute the inclusive table of a (sub)image.
struct Placed {
  std::int64_t width = 0, height = 0;  ///< of the image that is summed
  std::int64_t offset = 0;             ///< columns and rows of zeros before the first sum
};
inline Placed placed(const Shape& image, Border border) {
  const std::int64_t lost = border == Border::exclusive ? 1 : 0;
  return {std::max<std::int64_t>(0, image.width - lost), std::max<std::int64_t>(0, image.height - lost),
          border == Border::none ? 0 : 1};
}
/// A volume's slices are placed as its rows are.
inline std::int64_t placed_depth(const Shape& image, Border border) {
  return std::max<std::int64_t>(0, image.batch - (border == Border::exclusive ? 1 : 0));
}

}  // namespace areal::kernels
