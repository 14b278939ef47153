#pragma once
// The tuning of lookback, lookback-diagonal and all-partials, their plan, and their schedule: 1 launch.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include "kernels/primitives/fill_border.hpp"
#include "kernels/primitives/strides.hpp"
#include "kernels/primitives/table_geometry.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/sat/lookback/kernel.hpp"
#include "kernels/sat/request.hpp"
#include "kernels/sat/valid.hpp"

namespace areal::kernels {

/// How tiles are cut, and how many a multiprocessor holds at once.
struct LookbackTuning {
  int warps_x, warps_y;  ///< warps in a row, and in a column, of the tile
  int rows_per_warp;
  int resident;             ///< blocks of a multiprocessor, limited by registers
  int window_size = 4;      ///< words that a look-back loads at once
  int loads_in_flight = 4;  ///< words of a row that a thread loads at once
  int group = 16;           ///< rows of up to this many tiles are one group
  bool rescan = false;      ///< scan rows when they are written, not before
};
/// By bytes of a pixel and of a sum, and whether pixels are summed four at a time, as unsigned bytes are. Measured on
/// one H200, 2026-11: see docs/notes/cuda-sat.md for other attempts.
constexpr LookbackTuning lookback_tuning(int in, int out, bool four, LookbackOrder order) {
  const bool diagonal = order == LookbackOrder::diagonals, direct = order == LookbackOrder::direct;
  using Tuning = LookbackTuning;
  if (out == 8) {
    if (in == 8)
      return diagonal
                 ? Tuning{.warps_x = 1, .warps_y = 8, .rows_per_warp = 16, .resident = 3, .window_size = 3}
                 : Tuning{.warps_x = 2, .warps_y = 4, .rows_per_warp = 16, .resident = 3, .group = 8, .rescan = true};
    if (in == 4 || direct)
      return {.warps_x = 1,
              .warps_y = 8,
              .rows_per_warp = 16,
              .resident = 3,
              .window_size = diagonal ? 3 : 4,
              .group = 8,
              .rescan = true};
    Tuning tuning{.warps_x = 2, .warps_y = 8, .rows_per_warp = in == 1 ? 32 : 16, .resident = 2, .rescan = true};
    if (diagonal)
      tuning.window_size = 2;
    else
      tuning.loads_in_flight = 1, tuning.group = 8;
    return tuning;
  }
  if (direct || in == 4 || (in == 1 && !four))
    return {
        .warps_x = 1, .warps_y = 8, .rows_per_warp = 16, .resident = in < out ? 4 : 3, .window_size = diagonal ? 3 : 4};
  if (in == 2)
    return diagonal ? Tuning{.warps_x = 2,
                             .warps_y = 8,
                             .rows_per_warp = 16,
                             .resident = 2,
                             .window_size = 3,
                             .rescan = true}
                    : Tuning{.warps_x = 1, .warps_y = 8, .rows_per_warp = 16, .resident = 4};
  return diagonal ? Tuning{.warps_x = 2, .warps_y = 8, .rows_per_warp = 32, .resident = 2, .window_size = 2}
                  : Tuning{.warps_x = 1, .warps_y = 8, .rows_per_warp = 32, .resident = 4};
}

/// More tiles than any device holds at once.
inline constexpr int most_together = 4096;

/// Types and tuning.
template <class In_, class T_, class Gather_, bool reverse_ = false,
          bool together_ = Gather_::order == LookbackOrder::direct>
struct LookbackConfig {
  using In = In_;
  using T = T_;
  using Gather = Gather_;
  static constexpr LookbackOrder order = Gather::order;
  static constexpr bool byte = std::is_same_v<In, std::uint8_t>;
  static constexpr LookbackTuning tuning = lookback_tuning(sizeof(In), sizeof(T), byte, order);
  static constexpr bool both = false, rescan = tuning.rescan, reverse = reverse_;
  static constexpr bool together = together_;
  static constexpr int most_across = most_together;
  static constexpr int vector = rescan && sizeof(In) < 8 ? 4 : 16 / static_cast<int>(sizeof(T));
  static constexpr int warps_x = tuning.warps_x, warps_y = tuning.warps_y, rows_per_warp = tuning.rows_per_warp,
                       resident = tuning.resident;
  static constexpr int window_size = tuning.window_size, loads_in_flight = tuning.loads_in_flight, group = tuning.group;
  /// Sums of a tile's own columns and rows: for small integers they fit 32 bits for every table.
  using Small = std::conditional_t<std::is_signed_v<In>, std::int32_t, std::uint32_t>;
  using Cell = std::conditional_t<(rescan || byte) && std::is_integral_v<In> && sizeof(In) <= 2, Small, T>;
};

/// A sum and a sum of squares. The sums of bytes within a tile fit 32 bits for every table; those of signed bytes keep
/// their sign when they are widened.
template <class In_, class T_, class Squares, class Gather_, bool reverse_ = false>
struct LookbackSquaresConfig {
  using In = In_;
  using T = SumPair<T_, Squares>;
  template <class Small, class S>
  using Local = std::conditional_t<sizeof(In) == 1, Small, S>;
  using Cell = SumPair<Local<std::conditional_t<std::is_signed_v<In>, std::int32_t, std::uint32_t>, T_>,
                       Local<std::uint32_t, Squares>>;
  using Gather = Gather_;
  static constexpr LookbackOrder order = Gather::order;
  static constexpr bool both = true, rescan = true, byte = false, reverse = reverse_;
  static constexpr bool together = false;
  static constexpr int most_across = most_together;
  static constexpr int vector = sizeof(In) == 8 ? 2 : 4;
  static constexpr int warps_x = 2;
  static constexpr bool many = sizeof(In) == 1 && sizeof(T_) == 4 && sizeof(Squares) == 8;  // warps, of few registers
  static constexpr int warps_y = many ? 8 : 4;
  static constexpr int rows_per_warp = (sizeof(In) <= 2 ? 128 : 64) / warps_y;
  static constexpr int resident = 2;
  static constexpr int window_size = 4, loads_in_flight = many ? 1 : 4;
  static constexpr int group = 8;
};

/// The geometry and the workspace of one plan.
template <class C>
struct LookbackPlan {
  using In = typename C::In;
  using T = typename C::T;
  using Kernel = Lookback<NoMachine, C>;

  explicit LookbackPlan(const Shape& image, Border border, void* workspace = nullptr) {
    const TableGeometry p = table_geometry(image, border);
    args.width = p.width, args.height = p.height, args.edge = p.offset == 1;
    args.channels = static_cast<int>(image.channels);
    const std::int64_t images = image.batch * image.channels;
    args.tiles_x = static_cast<int>((p.width + Kernel::tile_width - 1) / Kernel::tile_width);
    args.tiles_y = static_cast<int>((p.height + Kernel::tile_height - 1) / Kernel::tile_height);
    // One group for a short row of tiles, else about as many groups as tiles in each.
    args.group = args.tiles_x <= C::group ? std::max(1, args.tiles_x) : 1;
    while (args.tiles_x > C::group && static_cast<std::int64_t>(args.group) * args.group < args.tiles_x) ++args.group;
    args.groups = (args.tiles_x + args.group - 1) / args.group;
    blocks = static_cast<std::int64_t>(args.tiles_x) * args.tiles_y * images;
    Workspace from(workspace);
    if (C::together && (blocks > most_together || std::max(args.tiles_x, args.tiles_y) > C::most_across))
      blocks = 0, too_many = true;
    from.take(args.ticket, C::together ? 0 : 1);
    from.take(args.launches, C::together ? blocks : 0);
    from.take(args.rows, blocks * Kernel::tile_height);
    from.take(args.group_sums,
              Kernel::order != LookbackOrder::rows
                  ? 0
                  : args.groups * static_cast<std::int64_t>(args.tiles_y) * images * Kernel::tile_height);
    from.take(args.columns, blocks * Kernel::tile_width);
    from.take(args.totals, blocks * Kernel::totals);
    workspace_bytes = blocks == 0 ? 0 : from.bytes();
  }

  LookbackArgs<In, T> args{};
  std::int64_t blocks = 0;
  bool too_many = false;  ///< for a C that needs all its tiles at once: no blocks are launched then
  std::size_t workspace_bytes = 0;
};

/// The address of a table's first sum, and the alignment of its vectors.
template <class T, bool reverse>
char* first_sum(const View& table, bool edge, Strides& out) {
  char* const corner = first_element<reverse>(table, out);
  char* const first = corner + (edge ? out.row + out.column : 0);
  out.alignment = alignment_of(first, out, sizeof(T), 16);
  return first;
}

/// The schedule; `squares` if C has both. The workspace was zeroed once. For a reversed table, views, marks of valid
/// pixels and carries are passed from the last row on. Returns false without a launch if C needs all its tiles at once
/// and the device does not hold them.
template <class C, class Launcher>
bool lookback(Launcher& launcher, Border border, const ConstView& image, const Valid& valid, const TableViews& tables,
              void* workspace) {
  LookbackPlan<C> plan(image.shape, border, workspace);
  if (plan.too_many) return false;
  auto& a = plan.args;
  const bool empty = plan.blocks == 0, edge_alone = empty && border != Border::none;
  if constexpr (C::both) {
    if (edge_alone) {
      fill_border<decltype(C::T::first), C::reverse>(launcher, tables.sum, tables.carry);
      fill_border<decltype(C::T::second), C::reverse>(launcher, tables.squares, tables.squares_carry);
    }
    a.table = first_sum<decltype(C::T::first), C::reverse>(tables.sum, a.edge, a.out);
    a.squares = first_sum<decltype(C::T::second), C::reverse>(tables.squares, a.edge, a.squares_out);
  } else {
    if (edge_alone) fill_border<typename C::T, C::reverse>(launcher, tables.sum, tables.carry);
    a.table = first_sum<typename C::T, C::reverse>(tables.sum, a.edge, a.out);
  }
  if (empty) return true;
  a.carry[0] = carry_lines(tables.carry, C::reverse), a.carry[1] = carry_lines(tables.squares_carry, C::reverse);
  a.image = first_element<C::reverse>(image, a.in);
  a.valid = valid;
  if (C::reverse && valid.plane != nullptr) a.valid.plane += image.shape.width - 1;
  a.in.alignment = alignment_of(a.image, a.in, sizeof(typename C::In), sizeof(Vec<typename C::In, C::vector>));
  // From the right, vectors of the marks are aligned only if they fill a row.
  if (C::reverse && valid.plane != nullptr && image.shape.width % C::vector != 0)
    a.in.alignment = std::min(a.in.alignment, Alignment::elements);
  if constexpr (C::together) {
    return launcher.template launch_together<Lookback, C>(plan.blocks, a);
  } else {
    launcher.template launch<Lookback, C>(plan.blocks, a, false);
    return true;
  }
}

}  // namespace areal::kernels
