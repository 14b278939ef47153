#pragma once
// relay (areal). 1 launch. Reads 1, writes 1 per element. Floats have the same bits every run. The kernel is
// kernel.hpp. Requirements (relay_takes and relay_fits): images of bytes with one channel, whose summed width is a
// multiple of 16, whose rows are aligned to 16 bytes, which are at most 65536 pixels high and have a block for each
// strip of 256 columns; tables of 4 bytes with or without a border.

#include <algorithm>
#include <cstdint>
#include <string>
#include "kernels/primitives/strides.hpp"
#include "kernels/primitives/table_geometry.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/sat/relay/kernel.hpp"
#include "kernels/sat/relay/tuning.hpp"
#include "kernels/sat/request.hpp"

namespace areal::kernels {

/// The most blocks of a launch: the workspace counts launches for each.
inline constexpr std::int64_t relay_most_blocks = 256;

/// Blocks count units in 31 bits, also beyond their last one: a warp by one for each warp of its role.
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
    supported = p.width > 0 && p.height > 0 && p.width % 16 == 0 && std::max(p.width, p.height) <= relay_longest &&
                image.channels == 1 && image.batch > 0;
    if (!supported) return;
    args.width = static_cast<int>(p.width), args.height = static_cast<int>(p.height);
    args.strips = static_cast<int>((p.width + Kernel::columns - 1) / Kernel::columns);
    args.groups = static_cast<int>((p.height + Kernel::unit_rows - 1) / Kernel::unit_rows);
    args.bands = (args.groups + Kernel::band - 1) / Kernel::band;
    const std::int64_t of_image = static_cast<std::int64_t>(args.groups) * args.strips;
    supported = image.batch <= relay_most_units / of_image;
    if (!supported) return;
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
  bool supported = false;
  std::int64_t units = 0;
  std::size_t workspace_bytes = 0;
};

template <class T, int unit_rows, bool reverse>
using RelayPlanOf = RelayPlan<RelayConfig<T, true, unit_rows, reverse>, RelayConfig<T, false, unit_rows, reverse>>;

inline bool has_high_units(const Shape& image) {
  return image.width * image.height >= relay_high_units_from / std::max<std::int64_t>(image.batch, 1);
}
template <class T, bool reverse>
std::size_t relay_workspace_bytes(const TableRequest& request) {
  return has_high_units(request.image) ? RelayPlanOf<T, 64, reverse>(request.image, request.border).workspace_bytes
                                       : RelayPlanOf<T, 32, reverse>(request.image, request.border).workspace_bytes;
}

/// What relay needs, if it does not support this request on this machine; empty if it does.
template <class Plan, class Launcher>
std::string relay_takes(Launcher& launcher, const TableRequest& request) {
  const Shape& image = request.image;
  if (request.counts) return "it takes no mask and leaves no pixels out";
  if (request.carries) return "it takes no carries";
  if (image.channels != 1) return "it takes images of one channel";
  const Plan plan(image, request.border);
  if (!plan.supported) {
    const std::int64_t width = table_geometry(image, request.border).width;
    if (width > 0 && width % 16 != 0)
      return std::string("it takes widths that are multiples of 16") +
             (width == image.width ? "" : ", plus 1 with border exclusive") + ", this image is " +
             std::to_string(image.width) + " wide";
    return "it takes images of 1 to " + std::to_string(relay_longest) + " pixels a side, and at most " +
           std::to_string(relay_most_units) + " units of 256 columns; the batch is " + std::to_string(image.batch) +
           " of " + std::to_string(image.width) + "x" + std::to_string(image.height);
  }
  const std::int64_t most =
      std::min({launcher.template most_together<Relay, typename Plan::Aligned>(),
                launcher.template most_together<Relay, typename Plan::Shifted>(), relay_most_blocks});
  if (plan.args.strips <= most) return {};  // each strip has a block that carries its columns
  return "it takes a block for each 256 columns, and the device holds " + std::to_string(most) +
         " at once; this image is " + std::to_string(image.width) + " wide";
}

/// Sets the image's and the table's addresses in the plan's arguments. False if rows of pixels are not aligned to 16
/// bytes, or entries are not aligned to their size.
template <class Plan>
bool place_relay(typename Plan::Args& a, const ConstView& image, const TableViews& tables, Strides& out) {
  using T = typename Plan::Kernel::T;
  static constexpr bool reverse = Plan::Kernel::reverse;
  Strides in;
  a.image = first_element<reverse>(image, in), a.image_row = in.row, a.image_batch = in.batch;
  if (alignment_of(a.image, in, 1, 16) != Alignment::vectors) return false;
  if (reverse) ++a.image;
  a.table = first_element<reverse>(tables.sum, out), a.table_row = out.row, a.table_batch = out.batch;
  return alignment_of(a.table, out, sizeof(T), sizeof(T)) == Alignment::vectors;
}

/// What views relay needs, if it does not support these; empty if it does.
template <class Plan>
std::string relay_fits(const TableRequest&, const ConstView& image, const TableViews& tables) {
  if (!tables.carry.empty()) return "it takes no carries";
  typename Plan::Args nowhere{};
  Strides out;
  if (place_relay<Plan>(nowhere, image, tables, out)) return {};
  return "it takes rows of pixels that begin at multiples of 16 bytes, and entries at multiples of 4";
}

template <class C, class Launcher, class Args>
bool launch_relay(Launcher& launcher, const Args& a, std::int64_t units) {
  const std::int64_t blocks = std::min({launcher.template most_together<Relay, C>(), units, relay_most_blocks});
  if (blocks < a.strips) return false;
  return launcher.template launch_together<Relay, C>(blocks, a);
}

/// For views that fit. The workspace was zeroed once. Returns false without a launch if the device refuses to run the
/// blocks at once.
template <class Plan, class Launcher>
bool relay(Launcher& launcher, Border border, const ConstView& image, const TableViews& tables, void* workspace) {
  Plan plan(image.shape, border, workspace);
  auto& a = plan.args;
  Strides out;
  place_relay<Plan>(a, image, tables, out);
  if (a.edge) a.table += out.row + out.column;
  return alignment_of(a.table, out, sizeof(typename Plan::Kernel::T), 16) == Alignment::vectors
             ? launch_relay<typename Plan::Aligned>(launcher, a, plan.units)
             : launch_relay<typename Plan::Shifted>(launcher, a, plan.units);
}

}  // namespace areal::kernels
