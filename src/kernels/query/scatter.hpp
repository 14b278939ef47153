#pragma once
// Values scattered to the corners of regions: the 4 N corners are sorted by their elements, stably, so that an
// element's corners are consecutive, in the order of the regions; the thread of the first one adds them. 1 launch
// writes zeros, 3 for each 8 bits of an element's number sort, 1 adds. Writes each element of the output once, and
// those with corners again. A pass of the sort reads each corner's number (from the second pass on) and region twice,
// and writes the number, 513 counts a block and 256 more, with at most 256 blocks. The last launch reads numbers and
// regions three times (a corner, the one before and its successor in the element), and the values once for each corner.

#include "kernels/query/corner_sort.hpp"
#include "kernels/query/launches.hpp"
#include "kernels/query/tiles.hpp"

namespace areal::kernels {

struct ZerosArgs {
  OutputArgs out;
  PlaneArgs planes;
  std::int64_t plane_blocks;
};

/// A thread an element.
template <class M, class C>
struct Zeros {
  using Args = ZerosArgs;
  using Shared = NoShared;
  static constexpr int threads = warp_size * output_tile_height, resident = 8;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t plane = m.block() / a.plane_blocks;
    const OutputPlace at = output_place(m, a.out, m.block() - plane * a.plane_blocks);
    if (at.x >= a.out.width || at.y >= a.out.height) return;
    const std::int64_t offset = plane % a.planes.channels * a.out.channel + plane / a.planes.channels * a.out.batch;
    store_element(m, a.out.data + offset + at.y * a.out.row + at.x * a.out.column, typename C::T{0}, a.out.aligned);
  }
};

struct AddCornersArgs {
  CornersArgs corners;
  const std::uint32_t* sorted;
  const void* values;  ///< of 8 bytes
  OutputArgs out;
  PlaneArgs planes;
};

/// A thread a corner and plane. T: of the output.
template <class M, class C>
struct AddCorners {
  using T = typename C::T;
  using Value = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
  using Args = AddCornersArgs;
  using Shared = NoShared;
  static constexpr int threads = 256, resident = 4;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t n = m.block() * threads + m.thread();
    if (n >= a.corners.count * a.planes.count) return;
    const std::int64_t plane = n / a.corners.count, first = n - plane * a.corners.count;
    std::uint32_t corner = m.load(a.sorted + first);
    const std::int64_t element = element_of(m, a.corners, corner);
    if (element == a.corners.grid.elements()) return;
    if (first > 0 && element_of(m, a.corners, m.load(a.sorted + first - 1)) == element) return;
    Value sum = 0;
    for (std::int64_t i = first;;) {
      const Value value =
          m.load(static_cast<const Value*>(a.values) + std::int64_t{corner / 4} * a.planes.count + plane);
      sum = formulas::is_minus_corner(static_cast<int>(corner % 4)) ? sum - value : sum + value;
      if (++i == a.corners.count) break;
      corner = m.load(a.sorted + i);
      if (element_of(m, a.corners, corner) != element) break;
    }
    const std::int64_t x = element % a.corners.grid.width, y = element / a.corners.grid.width;
    const std::int64_t offset = plane % a.planes.channels * a.out.channel + plane / a.planes.channels * a.out.batch;
    store_element(m, a.out.data + offset + y * a.out.row + x * a.out.column, static_cast<T>(sum), a.out.aligned);
  }
};

template <class Launcher>
void run_query(Launcher& launcher, const ScatterRequest& request) {
  forget_refused(launcher, request.regions);
  const Shape& shape = request.out.shape;
  const auto grid = formulas::CornerGrid::of(shape.width, shape.height, request.border);
  const std::int64_t more = request.border == Border::zero ? 1 : 0;
  const CornersArgs corners{region_args(request.regions, shape.width - more, shape.height - more, false), grid,
                            4 * request.regions.count};
  const PlaneArgs planes = plane_args(request.out);
  const OutputArgs out = output_args(request.out);
  const ZerosArgs zeros{out, planes, output_blocks(out)};
  const auto zero = [&]<class T>(T) {
    launcher.template launch<Zeros, ElementConfig<T>>(planes.count * zeros.plane_blocks, zeros, false);
  };
  size_of(request.out.type) == 8 ? zero(std::uint64_t{}) : zero(std::uint32_t{});
  if (corners.count == 0) return;
  const std::uint32_t* const sorted = sort_corners(launcher, corners, request.workspace);
  const AddCornersArgs add{corners, sorted, request.values, out, planes};
  launch_each_of<AddCorners>(launcher, request.out.type, corners.count * planes.count, add);
}

}  // namespace areal::kernels
