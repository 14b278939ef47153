#pragma once
// Histograms of regions from a compact store. 1 launch; loads do not depend on one another. Reads per region: 4
// numbers; K' anchors at 4 points; K' strips at 8 points, and those of further pairs of wide edges; a label for each
// pixel between the corners and their anchors, or of the whole box if that has fewer. Writes 8 bytes a bin.
//
// Labels of a byte: a warp has a region, and a lane up to 8 neighbouring bins; four lanes compute the addresses of the
// corners and the edges for all. Ballots on the labels' bits select the
// pixels of each lane's bins, 32 at once: no two lanes meet in a cell. Labels of two bytes: a block has a region, and
// counts in shared memory, up to 4096 bins at once.

#include <bit>
#include <cstdint>
#include "formulas/variance.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/query/compact_box.hpp"
#include "kernels/query/regions.hpp"
#include "kernels/query/request.hpp"

namespace areal::kernels {

/// Bins of a lane: 1, 2, 4 or 8.
template <int each_>
struct CompactLanes {
  static constexpr int each = each_;
};

template <class M, class C>
struct CompactWarpCounts {
  using Args = CompactCountsArgs;
  using Shared = NoShared;
  static constexpr int each = C::each;
  static constexpr int log_each = std::countr_one(static_cast<unsigned>(each - 1)), planes = 5 + log_each;
  static constexpr int warps = 4, threads = warps * warp_size, resident = each < 4 ? 8 : each == 4 ? 7 : 5;
  static constexpr int ahead = 4;  ///< labels of a lane that are loaded together
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t i = m.block() * warps + m.warp();
    CheckedRegion region;
    if (i < a.regions.count) {
      region = checked_region(m, a.regions, i);
      answer(i, region);
    }
    report(m, a.regions.refused, i, region.refused && m.lane() == 0);
  }

  AREAL_DEVICE void answer(std::int64_t i, const CheckedRegion& region) {
    const formulas::Compact& c = a.c;
    const std::int64_t first = static_cast<std::int64_t>(m.lane()) * each;
    const CompactBox box(m, c, region.region);
    const bool is_empty = region.region.width == 0 || region.region.height == 0;
    std::uint32_t sums[each] = {};
    if (!is_empty) {
      if (!box.is_small) add_lattice(box, first, first < c.padded_bins(), sums);
      add_labels(box, sums);
    }
    write(box, i, first, region.refused, sums);
  }

  /// A lane computes the addresses of one corner and one edge for all lanes; it has bins if `has_bins`.
  AREAL_DEVICE void add_lattice(const CompactBox& box, std::int64_t first, bool has_bins, std::uint32_t (&sums)[each]) {
    static constexpr int vector = each < 4 ? each : 4;
    const int own = m.lane() & 3;
    const std::int64_t anchor = box.anchor(a.c, a.image, own);
    AREAL_UNROLL
    for (int corner = 0; corner < 4; ++corner) {
      const char* const from = a.store + m.shuffle(anchor, corner) + first * 4;
      if (a.c.anchor_bytes != 4 || !has_bins) continue;  // wider ones are added at the end
      AREAL_UNROLL
      for (int v = 0; v < each; v += vector) {
        const auto values = m.load(reinterpret_cast<const Vec<std::uint32_t, vector>*>(from) + v / vector);
        AREAL_UNROLL
        for (int k = 0; k < vector; ++k)
          sums[v + k] += CompactBox::is_negative(corner) ? 0u - values.at[k] : values.at[k];
      }
    }
    const CompactEdge e = box.edge(a, own);
    const std::int64_t bytes = first * formulas::Compact::strip_bytes, before_at = e.at + e.first * e.pitch,
                       next_at = before_at + e.step * e.pitch;
    const unsigned reversed = m.ballot(e.is_reversed), negative = m.ballot(e.is_negative),
                   there = m.ballot(e.step != 0), further = m.ballot(e.step != 0 && e.first + e.step < e.last) & 15u;
    CompactStrip<each> before[4] = {}, next[4] = {};
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) {
      const char *const from = a.store + m.shuffle(before_at, i) + bytes, *const to =
                                                                              a.store + m.shuffle(next_at, i) + bytes;
      if ((there >> i & 1u) == 0 || !has_bins) continue;
      before[i] = m.load(reinterpret_cast<const CompactStrip<each>*>(from));
      next[i] = m.load(reinterpret_cast<const CompactStrip<each>*>(to));
    }
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i)
      add_pair((reversed >> i & 1u) != 0, (negative >> i & 1u) != 0, before[i], next[i], sums);
    if (further != 0 && has_bins) add_further<each>(m, a, box, bytes, further, sums);
  }

  AREAL_DEVICE void add_labels(const CompactBox& box, std::uint32_t (&sums)[each]) {
    const auto* const labels = reinterpret_cast<const std::uint8_t*>(a.store + a.c.labels_at());
    const auto pitch = static_cast<int>(a.c.square_columns() * 16);
    std::uint32_t flips[5];
    AREAL_UNROLL
    for (int i = 0; i < 5; ++i) flips[i] = (m.lane() >> i & 1) != 0 ? 0u : ~0u;
    const CompactRectangle of_own_lane = box.rectangle(a.c, a.image, m.lane() & 3);
    AREAL_NO_UNROLL
    for (int i = 0; i < box.rectangles(); ++i) {
      const CompactRectangle r = of_own_lane.of_lane(m, i);
      std::uint32_t counts[each] = {};
      AREAL_NO_UNROLL
      for (int pixel = 0; pixel < r.pixels; pixel += ahead * warp_size) {
        std::uint32_t own[ahead];
        AREAL_UNROLL
        for (int k = 0; k < ahead; ++k) {
          const int at = pixel + k * warp_size + m.lane();
          own[k] = at < r.pixels ? m.load(labels + r.label(pitch, at)) : ~0u;
        }
        AREAL_UNROLL
        for (int k = 0; k < ahead; ++k)
          if (pixel + k * warp_size < r.pixels) count(own[k], flips, counts);
      }
      AREAL_UNROLL
      for (int v = 0; v < each; ++v) sums[v] += r.is_negative ? 0u - counts[v] : counts[v];
    }
  }
  /// Adds the labels of a warp.
  AREAL_DEVICE void count(std::uint32_t label, const std::uint32_t (&flips)[5], std::uint32_t (&counts)[each]) {
    std::uint32_t pixels = m.ballot(label < static_cast<std::uint32_t>(a.c.bins));
    std::uint32_t low[log_each == 0 ? 1 : log_each];
    AREAL_UNROLL
    for (int i = 0; i < log_each; ++i) low[i] = m.ballot((label >> i & 1u) != 0);
    AREAL_UNROLL
    for (int i = 0; i < 5; ++i) pixels &= m.ballot((label >> (i + log_each) & 1u) != 0) ^ flips[i];
    AREAL_UNROLL
    for (int v = 0; v < each; ++v) {
      std::uint32_t own = pixels;
      AREAL_UNROLL
      for (int i = 0; i < log_each; ++i) own &= (v >> i & 1) != 0 ? low[i] : ~low[i];
      counts[v] += static_cast<std::uint32_t>(std::popcount(own));
    }
  }

  AREAL_DEVICE void write(const CompactBox& box, std::int64_t i, std::int64_t first, bool refused,
                          const std::uint32_t (&sums)[each]) {
    std::uint64_t answers[each];
    AREAL_UNROLL
    for (int v = 0; v < each; ++v) {
      answers[v] = first + v < a.c.bins ? compact_count(m, a, box, first + v, sums[v]) : 0;
      if (a.real)
        answers[v] =
            __builtin_bit_cast(std::uint64_t, refused ? formulas::not_a_number() : static_cast<double>(answers[v]));
    }
    std::uint64_t* const to = static_cast<std::uint64_t*>(a.out) + i * a.c.bins + first;
    if constexpr (each > 1)
      if (a.pairs) {
        AREAL_UNROLL
        for (int v = 0; v < each; v += 2)
          if (first + v < a.c.bins)
            m.store_streaming(reinterpret_cast<Vec<std::uint64_t, 2>*>(to + v),
                              Vec<std::uint64_t, 2>{{answers[v], answers[v + 1]}});
        return;
      }
    AREAL_UNROLL
    for (int v = 0; v < each; ++v)
      if (first + v < a.c.bins) m.store_streaming(to + v, answers[v]);
  }
};

/// A block a region.
template <class M, class C>
struct CompactBlockCounts {
  using Args = CompactCountsArgs;
  static constexpr int threads = 256, resident = 4;
  static constexpr int most = 4096;  ///< bins counted at once
  struct Shared {
    std::uint32_t cells[most];
  };
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const std::int64_t i = m.block();
    const CheckedRegion region = checked_region(m, a.regions, i);
    if (m.warp() == 0) report(m, a.regions.refused, i, region.refused && m.lane() == 0);
    const bool is_empty = region.region.width == 0 || region.region.height == 0;
    const CompactBox box(a.c, region.region);
    AREAL_NO_UNROLL
    for (std::int64_t first = 0; first < a.c.bins; first += most) {
      const auto bins = static_cast<int>(a.c.bins - first < most ? a.c.bins - first : most);
      for (int k = m.thread(); k < bins; k += threads) m.put(s.cells[k], 0u);
      m.sync();
      if (!is_empty) count(s, box, static_cast<std::uint32_t>(first), bins);
      m.sync();
      for (int k = m.thread(); k < bins; k += threads) write(s, box, is_empty, region.refused, i, first, k);
      m.sync();
    }
  }

  AREAL_DEVICE void count(Shared& s, const CompactBox& box, std::uint32_t first, int bins) {
    const auto* const labels = reinterpret_cast<const std::uint16_t*>(a.store + a.c.labels_at());
    const auto pitch = static_cast<int>(a.c.square_columns() * 16);
    AREAL_NO_UNROLL
    for (int i = 0; i < box.rectangles(); ++i) {
      const CompactRectangle r = box.rectangle(a.c, a.image, i);
      for (int pixel = m.thread(); pixel < r.pixels; pixel += threads) {
        const std::uint32_t bin = m.load(labels + r.label(pitch, pixel)) - first;
        if (bin < static_cast<std::uint32_t>(bins)) m.shared_add(s.cells[bin], r.is_negative ? ~0u : 1u);
      }
    }
  }

  AREAL_DEVICE void write(Shared& s, const CompactBox& box, bool is_empty, bool refused, std::int64_t i,
                          std::int64_t first, int k) {
    const formulas::Compact& c = a.c;
    std::uint32_t sum[1] = {m.get(s.cells[k])};
    if (!is_empty && !box.is_small) {
      if (c.anchor_bytes == 4) sum[0] += anchors_of<std::uint32_t>(m, a, box, first + k);
      add_strips<1>(m, a, box, (first + k) * formulas::Compact::strip_bytes, sum);
    }
    const std::uint64_t answer = compact_count(m, a, box, first + k, sum[0]);
    if (a.real)
      m.store_streaming(static_cast<double*>(a.out) + i * c.bins + first + k,
                        refused ? formulas::not_a_number() : static_cast<double>(answer));
    else
      m.store_streaming(static_cast<std::uint64_t*>(a.out) + i * c.bins + first + k, answer);
  }
};

template <class Launcher>
void run_query(Launcher& launcher, const CompactCountsRequest& request) {
  forget_refused(launcher, request.regions);
  const formulas::Compact& c = request.layout;
  CompactCountsArgs a;
  a.regions = region_args(request.regions, c.width, c.height, false);
  a.c = c;
  a.store = static_cast<const char*>(request.store);
  a.image = request.image;
  a.most = static_cast<std::uint32_t>(request.most);
  a.out = request.out;
  a.real = request.real;
  a.pairs = c.bins % 2 == 0 && reinterpret_cast<std::uintptr_t>(request.out) % 16 == 0;
  if (c.label_bytes == 2)
    return launcher.template launch<CompactBlockCounts, NoConfig>(request.regions.count, a, false);
  const auto launch = [&]<int each>(CompactLanes<each>) {
    using Lanes = CompactLanes<each>;
    constexpr std::int64_t warps = CompactWarpCounts<NoMachine, Lanes>::warps;
    launcher.template launch<CompactWarpCounts, Lanes>((request.regions.count + warps - 1) / warps, a, false);
  };
  const std::int64_t bins = c.padded_bins();
  if (bins <= 32) return launch(CompactLanes<1>{});
  if (bins <= 64) return launch(CompactLanes<2>{});
  if (bins <= 128) return launch(CompactLanes<4>{});
  launch(CompactLanes<8>{});
}

}  // namespace areal::kernels
