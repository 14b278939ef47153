#pragma once
// FragmentTrackers on a device. A step is 2 launches: the votes on all places (fragment_votes.hpp), and the choice of
// each box's best place; each begins while the launch before it ends. All data stays on the device. The start is 1
// launch: the first frame's shares.

#include "kernels/query/fragment_votes.hpp"
#include "kernels/query/launches.hpp"
#include "kernels/query/request.hpp"

namespace areal::kernels {

/// The cumulative shares of each fragment in the first frame. A thread a box and fragment; reads 8 elements a bin,
/// writes 1.
template <class M, class C>
struct FragmentShares {
  using T = typename C::T;
  using Args = FragmentsArgs;
  using Shared = NoShared;
  static constexpr int threads = 128, resident = 4;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t i = m.block() * threads + m.thread();
    if (i >= static_cast<std::int64_t>(a.boxes) * fragments_of_a_box) return;
    const TrackedBox box = load_box(m, a.box + i / fragments_of_a_box);
    Region window =
        formulas::fragment(box.width, box.height, formulas::fragment_place(static_cast<int>(i % fragments_of_a_box)));
    window.x += static_cast<std::int64_t>(box.x), window.y += static_cast<std::int64_t>(box.y);
    const WindowCorners at = window_corners(a.first, window);
    double total = 0, count = 0;
    for (int bin = 0; bin < a.bins; ++bin) total += static_cast<double>(window_count<T>(m, a.first, at, bin * a.plane));
    const double inverse = formulas::inverse_of(total);
    double* const shares = a.shares + i * a.bins;
    for (int bin = 0; bin < a.bins; ++bin) {
      count += static_cast<double>(window_count<T>(m, a.first, at, bin * a.plane));
      m.store(shares + bin, count * inverse);
    }
  }
};

/// Updates each box to the best of its blocks' votes. A warp a box; reads 16 bytes a block of the votes, the box and
/// the scales, writes the box once or twice. Without any valid place the box stays.
template <class M, class C>
struct FragmentChoice {
  using Args = FragmentsArgs;
  using Shared = NoShared;
  static constexpr int threads = warp_size, resident = 4;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    m.wait_previous_launch();
    const TrackedBox box = load_box(m, a.box + m.block());
    const std::int64_t of_scale = static_cast<std::int64_t>(a.rows) * a.chunks;
    const FragmentVote* const votes = a.votes + m.block() * a.scales * of_scale;
    FragmentVote best = no_vote();
    double best_cost = best.distance;
    const auto take = [&](const FragmentVote& vote, double cost) {
      if (is_better(cost, vote.key, best_cost, best.key)) best = vote, best_cost = cost;
    };
    for (std::int64_t i = m.lane(); i < a.scales * of_scale; i += warp_size) {
      const FragmentVote vote = m.load(votes + i);
      take(vote, cost_of(vote.distance, m.load(a.scale + i / of_scale), a.scale_cost));
    }
    AREAL_UNROLL
    for (int n = warp_size / 2; n > 0; n /= 2) {
      const FragmentVote other{m.shuffle_xor(best.distance, n), m.shuffle_xor(best.key, n)};
      take(other, m.shuffle_xor(best_cost, n));
    }
    if (m.lane() != 0) return;
    TrackedBox found = box;
    if (best_cost < std::numeric_limits<double>::infinity()) {
      const double factor = m.load(a.scale + (best.key >> (key_place_bits + key_away_bits)));
      found = box_at(a, formulas::scaled(box, factor), best);
    }
    store_box(a.box + m.block(), found);
    if (a.out) store_box(a.out + m.block(), found);
  }

  AREAL_DEVICE void store_box(TrackedBox* to, const TrackedBox& box, Site site = AREAL_HERE) {
    m.store(&to->x, box.x, site);
    m.store(&to->y, box.y, site);
    m.store(&to->width, box.width, site);
    m.store(&to->height, box.height, site);
    m.store(&to->distance, box.distance, site);
  }
};

inline FragmentsArgs fragments_args(const FragmentsRequest& request) {
  const TensorView& tensor = request.tensor;
  return {table_args(tensor.view, tensor.border),
          tensor.view.plane_pitch,
          static_cast<int>(tensor.bins()),
          tensor.image_width(),
          tensor.image_height(),
          request.radius,
          FragmentTracker::least_side,
          static_cast<int>(request.boxes),
          static_cast<int>(request.scales),
          static_cast<int>(request.rows),
          static_cast<int>(request.chunks()),
          request.rank,
          request.scale_cost,
          request.scale,
          request.box,
          request.out,
          request.shares,
          static_cast<FragmentVote*>(request.votes)};
}

/// f.operator()<T>() for the type of the tensor's elements.
template <class F>
void with_counts(Type type, const F& f) {
  switch (type) {
    case Type::u16:
      return f.template operator()<std::uint16_t>();
    case Type::u64:
      return f.template operator()<std::uint64_t>();
    case Type::f32:
      return f.template operator()<float>();
    case Type::f64:
      return f.template operator()<double>();
    default:
      return f.template operator()<std::uint32_t>();
  }
}

template <class Launcher>
void run_query(Launcher& launcher, const FragmentsRequest& request) {
  const FragmentsArgs a = fragments_args(request);
  const std::int64_t fragments = request.boxes * fragments_of_a_box;
  if (request.starts)
    return with_counts(request.tensor.view.type,
                       [&]<class T>() { launch_each<FragmentShares, ElementConfig<T>>(launcher, fragments, a); });
  const std::int64_t blocks = request.boxes * request.votes_of_a_box();
  // Sums of counts below 2^32 pixels are exact in 32 bits.
  if (a.bins == 16 && request.tensor.view.type == Type::u32 && a.first.aligned &&
      a.width * a.height < std::int64_t{1} << 32)
    launcher.template launch<FragmentVotes16, NoConfig>(blocks, a, true);
  else
    with_counts(request.tensor.view.type,
                [&]<class T>() { launcher.template launch<FragmentVotes, ElementConfig<T>>(blocks, a, true); });
  launcher.template launch<FragmentChoice, NoConfig>(request.boxes, a, true);
}

}  // namespace areal::kernels
