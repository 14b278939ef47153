#pragma once
// What the kernels of FragmentTrackers share: a block's box, scale and row of places, the distance of a place from its
// fragments' votes, and the comparison of places.

#include <bit>
#include <cstdint>
#include <limits>
#include "formulas/fragments.hpp"
#include "kernels/query/corners.hpp"
#include "kernels/query/request.hpp"

namespace areal::kernels {

inline constexpr int fragments_of_a_box = FragmentTracker::fragments;
/// Adjacent places of a block: half a warp.
inline constexpr int places_of_a_block = static_cast<int>(FragmentsRequest::places);

/// The best of some places: its cost and its key. Of equal costs the smallest key is the best.
struct alignas(16) FragmentVote {
  double distance;
  std::uint64_t key;
};

/// From the highest bits: the scale's number, the squared distance of the place from the box's last position, the
/// number of the place row by row. Bits suffice for 2048 scales and a radius of 4096.
inline constexpr int key_place_bits = 27, key_away_bits = 26;
inline constexpr std::int64_t most_key_scales = std::int64_t{1} << (64 - key_place_bits - key_away_bits);

struct FragmentsArgs {
  TableArgs first;     ///< the first bin's plane
  std::int64_t plane;  ///< bytes from a bin's plane to the next one's
  int bins;
  std::int64_t width, height;  ///< of the image
  std::int64_t radius, least_side;
  int boxes, scales, rows, chunks;  ///< a block for each of all of them, the chunks of a row side by side
  int rank;                         ///< the rank of the vote that counts among a place's votes; from 1
  double scale_cost;
  const double* scale;  ///< the first is 1
  TrackedBox* box;      ///< updated in place
  TrackedBox* out;      ///< gets the same boxes, or null
  double* shares;       ///< boxes x fragments x bins
  FragmentVote* votes;  ///< one a block
};

template <class M>
AREAL_DEVICE TrackedBox load_box(const M& m, const TrackedBox* box, Site site = AREAL_HERE) {
  return {m.load(&box->x, site), m.load(&box->y, site), m.load(&box->width, site), m.load(&box->height, site),
          m.load(&box->distance, site)};
}

AREAL_DEVICE double cost_of(double distance, double scale, double scale_cost) {
  return distance * (scale == 1 ? 1 : 1 + scale_cost);
}

/// A row of neighbouring places.
struct PlacesOfBlock {
  std::int64_t left = 0, top = 0;  ///< of the first place
  std::int64_t dx = 0, dy = 0;     ///< from the box's last position to the first place
  double factor = 1;               ///< of the scale
  int scale = 0, count = 0;        ///< its number; number of places, 0: none
};

/// The box of a block.
AREAL_DEVICE std::int64_t box_of_block(const FragmentsArgs& a, std::int64_t block) {
  return static_cast<unsigned>(block) / (static_cast<unsigned>(a.scales * a.rows) * static_cast<unsigned>(a.chunks));
}

/// The block's places, and its box in its scale.
template <class M>
AREAL_DEVICE PlacesOfBlock places_of_block(const M& m, const FragmentsArgs& a, TrackedBox& from) {
  auto at = static_cast<unsigned>(m.block());  // a grid has less than 2^31 blocks
  PlacesOfBlock p;
  const unsigned chunk = at % static_cast<unsigned>(a.chunks);
  at /= static_cast<unsigned>(a.chunks);
  const unsigned row = at % static_cast<unsigned>(a.rows);
  at /= static_cast<unsigned>(a.rows);
  p.scale = static_cast<int>(at % static_cast<unsigned>(a.scales));
  p.factor = m.load(a.scale + p.scale);
  from = formulas::scaled(load_box(m, a.box + at / static_cast<unsigned>(a.scales)), p.factor);
  const formulas::SearchArea area = formulas::search_area(from, a.width, a.height, a.radius, a.least_side);
  p.left = area.x0 + static_cast<std::int64_t>(chunk) * places_of_a_block;
  p.top = area.y0 + row;
  p.dx = p.left - area.x, p.dy = p.top - area.y;
  const std::int64_t left = area.x1 - p.left + 1;
  if (!area.is_empty && p.top <= area.y1 && left > 0)
    p.count = left < places_of_a_block ? static_cast<int>(left) : places_of_a_block;
  return p;
}

AREAL_DEVICE std::uint64_t key_of(const FragmentsArgs& a, const PlacesOfBlock& p, int place) {
  const std::int64_t dx = p.dx + place, dy = p.dy;
  const std::int64_t number = (dy + a.radius) * (2 * a.radius + 1) + dx + a.radius;
  return static_cast<std::uint64_t>(p.scale) << (key_place_bits + key_away_bits) |
         static_cast<std::uint64_t>(dx * dx + dy * dy) << key_place_bits | static_cast<std::uint64_t>(number);
}

/// The box at the place of a key, `from` being the box in that key's scale.
AREAL_DEVICE TrackedBox box_at(const FragmentsArgs& a, TrackedBox from, const FragmentVote& vote) {
  const std::uint64_t number = vote.key & ((std::uint64_t{1} << key_place_bits) - 1);
  const auto side = static_cast<std::uint64_t>(2 * a.radius + 1);
  from.x += static_cast<double>(static_cast<std::int64_t>(number % side) - a.radius);
  from.y += static_cast<double>(static_cast<std::int64_t>(number / side) - a.radius);
  from.distance = vote.distance;
  return from;
}

/// A place with infinite cost.
AREAL_DEVICE FragmentVote no_vote() { return {std::numeric_limits<double>::infinity(), ~std::uint64_t{0}}; }

AREAL_DEVICE bool is_better(double cost, std::uint64_t key, double best_cost, std::uint64_t best_key) {
  return cost < best_cost || (cost == best_cost && key < best_key);
}

/// The number of the lowest set bit. Not std::countr_zero: nvcc 13.0 compiles libstdc++ 12's to the constant 32.
AREAL_DEVICE int lowest_bit(unsigned bits) { return std::popcount((bits & (0u - bits)) - 1); }

/// Of 32 + 8 values, a lane's `a` and, in the first 8 lanes, its `b`, the one with that rank in order; in all lanes. No
/// value is NaN. Rounds of 2 shuffles and 4 votes, each of which partitions the remaining values by one of them: about
/// 7 rounds, 40 at most.
template <class M>
AREAL_DEVICE double ranked(const M& m, double a, double b, int rank) {
  unsigned left_a = full_mask, left_b = (1u << (fragments_of_a_box - warp_size)) - 1;
  for (;;) {
    const int lane = lowest_bit(left_a != 0 ? left_a : left_b);
    const double pivot = m.shuffle(left_a != 0 ? a : b, lane);
    const unsigned below_a = m.ballot(a < pivot) & left_a, below_b = m.ballot(b < pivot) & left_b;
    const int below = std::popcount(below_a) + std::popcount(below_b);
    if (rank <= below) {
      left_a = below_a, left_b = below_b;
      continue;
    }
    const unsigned to_a = m.ballot(a <= pivot) & left_a, to_b = m.ballot(b <= pivot) & left_b;
    const int up_to = std::popcount(to_a) + std::popcount(to_b);
    if (rank <= up_to) return pivot;
    rank -= up_to;
    left_a &= ~to_a, left_b &= ~to_b;
  }
}

/// The votes of a block's places by its fragments: 17, not 16, as a warp reads the votes of one place.
struct VotesOfBlock {
  double at[fragments_of_a_box][places_of_a_block + 1];
  FragmentVote of_warp[warp_size];
};

/// For a block without places.
template <class M>
AREAL_DEVICE void store_none(const M& m, const FragmentsArgs& a) {
  if (m.thread() == 0) m.store(a.votes + m.block(), no_vote());
}

/// Writes the block's best place. Called by all threads, after they have put their votes, without a barrier. 2
/// barriers.
template <int threads, class M>
AREAL_DEVICE void store_best(const M& m, const FragmentsArgs& a, const PlacesOfBlock& p, VotesOfBlock& votes) {
  constexpr int warps = threads / warp_size;
  m.sync();
  FragmentVote best = no_vote();
  double best_cost = best.distance;
  for (int place = m.warp(); place < p.count; place += warps) {
    const double first = m.get(votes.at[m.lane()][place]);
    const double second = m.lane() < fragments_of_a_box - warp_size ? m.get(votes.at[warp_size + m.lane()][place]) : 0;
    const double distance = ranked(m, first, second, a.rank), cost = cost_of(distance, p.factor, a.scale_cost);
    const std::uint64_t key = key_of(a, p, place);
    if (is_better(cost, key, best_cost, best.key)) best = {distance, key}, best_cost = cost;
  }
  if (m.lane() == 0) m.put(votes.of_warp[m.warp()], best);
  m.sync();
  if (m.thread() != 0) return;
  for (int warp = 1; warp < warps; ++warp) {
    const FragmentVote other = m.get(votes.of_warp[warp]);
    const double cost = cost_of(other.distance, p.factor, a.scale_cost);
    if (is_better(cost, other.key, best_cost, best.key)) best = other, best_cost = cost;
  }
  m.store(a.votes + m.block(), best);
}

}  // namespace areal::kernels
