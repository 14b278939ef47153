#pragma once
// Sums of boxes of a volume. 1 launch, a thread a box. Reads the box and at most 8 elements of the table, at addresses
// that depend only on the box; writes 8 bytes.

#include "formulas/corners.hpp"
#include "formulas/variance.hpp"
#include "kernels/query/corners.hpp"
#include "kernels/query/launches.hpp"
#include "kernels/query/regions.hpp"

namespace areal::kernels {

struct BoxesArgs {
  BoxList boxes;
  formulas::Extents volume;
  TableArgs table;
  std::int64_t plane;  ///< bytes from a slice of the table to the next one
  bool vectors;        ///< 16 bytes of a box may be loaded at once
  double* out;
};

template <class M, class C>
struct Boxes {
  using T = typename C::T;
  using Args = BoxesArgs;
  using Shared = NoShared;
  static constexpr int threads = 256, resident = 5;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    answer_each<threads>(m, a.boxes.count, a.boxes.refused, [&](std::int64_t i) {
      bool refused = false;
      const Box box = taken_box(i, refused);
      m.store_streaming(a.out + i, refused ? formulas::not_a_number() : sum(box));
      return refused;
    });
  }

  AREAL_DEVICE Box taken_box(std::int64_t i, bool& refused) {
    const auto row = numbers<6>(m, reinterpret_cast<const std::int64_t*>(a.boxes.data + i), a.vectors);
    const Box box{row.at[0], row.at[1], row.at[2], row.at[3], row.at[4], row.at[5]};
    if (formulas::lies_inside(box, a.volume)) return box;
    refused = a.boxes.outside == Outside::error || box.width < 0 || box.height < 0 || box.depth < 0;
    return refused ? Box{} : formulas::clipped(box, a.volume);
  }

  AREAL_DEVICE double sum(const Box& box) {
    if (box.width == 0 || box.height == 0 || box.depth == 0) return 0;
    const auto point = [&](int c) { return formulas::box_point(box, c); };
    return real_sum(signed_sum<T, 8>(m, a.table, a.plane, point), a.table);
  }
};

template <class Launcher>
void run_query(Launcher& launcher, const BoxesRequest& request) {
  forget_refused(launcher, request.boxes);
  const BoxesArgs a{request.boxes,
                    request.extents,
                    table_args(request.volume, request.border),
                    request.volume.batch_pitch,
                    may_load_vectors(request.boxes),
                    request.out};
  launch_each_of<Boxes>(launcher, request.volume.type, request.boxes.count, a);
}

}  // namespace areal::kernels
