#pragma once
// What tables are asked for, before the data is there.

#include <areal/border.hpp>
#include <areal/research/warp_scan.hpp>
#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

namespace areal::kernels {

/// How many lines a thin has, at most (thin.hpp).
inline constexpr int thin_lines = 16;

/// All that one execute gives.
struct SatRequest {
  Shape image;
  TypePair types;
  Border border = Border::zero;
  std::optional<Type> squares = {};
  bool tilted = false, mask = false, ignore_nan = false, volume = false;
  double r = 0.25;                        ///< of hybrid-1r1w
  WarpScan scan = WarpScan::kogge_stone;  ///< of scanrow-brlt and scanrow-column

  bool counts() const { return mask || ignore_nan; }
};

/// Over what pixels are summed.
enum class TableKind : std::uint8_t { pixels, tilted };

/// What one schedule gives, a table or the sum with its squares: names a kernel, and says what that kernel must know.
struct TableRequest {
  std::string_view id;  ///< how pixels are summed; tilted tables and sums with squares have one way
  TableKind what = TableKind::pixels;
  TypePair types;  ///< elements that are read, and sums; need not be one of lanes()
  Shape image;
  Border border = Border::zero;
  std::optional<Type> squares = {};
  double r = 0.25;                        ///< of hybrid-1r1w
  WarpScan scan = WarpScan::kogge_stone;  ///< of scanrow-brlt and scanrow-column
};
struct TableViews {
  View sum, squares = {};
};

}  // namespace areal::kernels
