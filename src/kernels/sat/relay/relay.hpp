#pragma once
// relay (areal). 1 launch. Reads 1, writes 1 per element. Floats are the same every run. The kernel is kernel.hpp. It
// takes images of bytes with one channel, whose summed width is a multiple of 16, whose rows begin at multiples of 16
// bytes, which are at most 65536 pixels high and have a block for each strip of 256 columns, and tables of 4 bytes with
// or without a border; all else (masks, carries, other widths) is the tiles', from the same plan.

#include <algorithm>
#include <cstdint>
#include <string>
#include "kernels/primitives/strides.hpp"
#include "kernels/primitives/table_geometry.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/sat/relay/kernel.hpp"
#include "kernels/sat/relay/tuning.hpp"
#include "kernels/sat/request.hpp"
#include "kernels/sat/valid.hpp"

namespace areal::kernels {

/// What relay leaves to tiles is lookback-diagonal's where the shorter side has at least so many pixels; of one H200,
/// 2026-11.
inline constexpr std::int64_t relay_diagonal_from = 8192;

/// More blocks are not launched: the workspace counts launches for each.
inline constexpr std::int64_t relay_most_blocks = 256;

/// Blocks count units in 31 bits, beyond their last one, too: a warp by one for each warp that does the same.
inline constexpr std::int64_t relay_most_units = (std::int64_t{1} << 31) - 1 - 32 * relay_most_blocks;

/// The geometry and the workspace of one plan. Both configurations have the same.
template <class Aligned_, class Shifted_>
struct RelayPlan {
  using Aligned = Aligned_;
  using Shifted = Shifted_;
  using Kernel = Relay<NoMachine, Aligned>;
  using Args = typename Kernel::Args;
  static_assert(Kernel::warps == Relay<NoMachine, Shifted>::warps &&
                Kernel::unit_rows == Relay<NoMachine, Shifted>::unit_rows);
  static_assert(Kernel::band == Relay<NoMachine, Shifted>::band &&
                Kernel::reverse == Relay<NoMachine, Shifted>::reverse);

  RelayPlan(const Shape& image, Border border, void* workspace = nullptr) {
    const TableGeometry p = table_geometry(image, border);
    args.edge = p.offset == 1;
    taken = p.width > 0 && p.height > 0 && p.width % 16 == 0 && std::max(p.width, p.height) <= relay_longest &&
            image.channels == 1 && image.batch > 0;
    if (!taken) return;
    args.width = static_cast<int>(p.width), args.height = static_cast<int>(p.height);
    args.strips = static_cast<int>((p.width + Kernel::columns - 1) / Kernel::columns);
    args.groups = static_cast<int>((p.height + Kernel::unit_rows - 1) / Kernel::unit_rows);
    args.bands = (args.groups + Kernel::band - 1) / Kernel::band;
    const std::int64_t of_image = static_cast<std::int64_t>(args.groups) * args.strips;
    taken = image.batch <= relay_most_units / of_image;
    if (!taken) return;
    args.images = static_cast<int>(image.batch);
    units = image.batch * of_image;
    const std::int64_t bands = image.batch * args.bands * args.strips;
    Workspace from(workspace);
    from.take(args.launches, relay_most_blocks * Kernel::warps);
    from.take(args.rows, units * Kernel::unit_rows);
    from.take(args.left, units * Kernel::unit_rows);
    from.take(args.columns, units * 64);
    from.take(args.above, bands * 64);
    from.take(args.corners, bands);
    workspace_bytes = from.bytes();
  }

  Args args{};
  bool taken = false;
  std::int64_t units = 0;
  std::size_t workspace_bytes = 0;
};

template <class T, int unit_rows, bool reverse>
using RelayPlanOf = RelayPlan<RelayConfig<T, true, unit_rows, reverse>, RelayConfig<T, false, unit_rows, reverse>>;

inline bool has_high_units(const Shape& image) {
  return image.width * image.height >= relay_high_units_from / std::max<std::int64_t>(image.batch, 1);
}
template <class T, bool reverse>
std::size_t relay_workspace_bytes(const Shape& image, Border border) {
  return has_high_units(image) ? RelayPlanOf<T, 64, reverse>(image, border).workspace_bytes
                               : RelayPlanOf<T, 32, reverse>(image, border).workspace_bytes;
}

/// Why relay does not take such a request, wherever the data lie; empty if it does.
template <class Plan>
std::string relay_declines(const TableRequest& request) {
  if (request.counts) return "it takes no mask and leaves no pixels out";
  if (request.image.channels != 1) return "it takes images of one channel";
  if (Plan(request.image, request.border).taken) return {};
  return "it takes widths that are multiples of 16 (with border exclusive, plus 1) and sides of up to " +
         std::to_string(relay_longest) + ", this image is " + std::to_string(request.image.width) + "x" +
         std::to_string(request.image.height);
}

template <class C, class Launcher, class Args>
bool launch_relay(Launcher& launcher, const Args& a, std::int64_t units) {
  const std::int64_t blocks = std::min({launcher.template most_together<Relay, C>(), units, relay_most_blocks});
  if (blocks < a.strips) return false;  // each strip has a block that carries its columns
  return launcher.template launch_together<Relay, C>(blocks, a);
}

/// False, and nothing is done, where it does not take this image, or the machine not its blocks. The workspace was
/// zeroed once.
template <class Plan, class Launcher>
bool relay(Launcher& launcher, Border border, const ConstView& image, const Valid& valid, const TableViews& tables,
           void* workspace) {
  using T = typename Plan::Kernel::T;
  static constexpr bool reverse = Plan::Kernel::reverse;
  Plan plan(image.shape, border, workspace);
  const bool carries = tables.carry.above.data != nullptr || tables.carry.left.data != nullptr;
  if (!plan.taken || valid.plane != nullptr || carries) return false;
  auto& a = plan.args;
  Strides in, out;
  a.image = first_element<reverse>(image, in), a.image_row = in.row, a.image_batch = in.batch;
  if (alignment_of(a.image, in, 1, 16) != Alignment::vectors) return false;
  if (reverse) ++a.image;
  a.table = first_element<reverse>(tables.sum, out), a.table_row = out.row, a.table_batch = out.batch;
  if (alignment_of(a.table, out, sizeof(T), sizeof(T)) != Alignment::vectors) return false;
  if (a.edge) a.table += out.row + out.column;
  return alignment_of(a.table, out, sizeof(T), 16) == Alignment::vectors
             ? launch_relay<typename Plan::Aligned>(launcher, a, plan.units)
             : launch_relay<typename Plan::Shifted>(launcher, a, plan.units);
}

}  // namespace areal::kernels
