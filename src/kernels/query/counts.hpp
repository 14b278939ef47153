#pragma once
// Histograms of regions straight from the pixels, exact in any order: integers are added. One launch counts up to
// `most_alone` regions if the request has memory for parts. Other requests take two, which overlap.
//
// BeginCounts clears the histograms of regions that blocks may share. Reads 4 numbers a region, writes 8 bytes a bin of
// those with more than `whole_pixels` pixels; for more than `most_alone` regions also a sum for each 256 of them.
//
// CountRegions cuts the regions, one after another, into as many shares of equal cost as it has blocks. The grid does
// not depend on the regions, so it may be captured in a graph. A block adds the costs of up to `most_alone` regions up
// itself (4 numbers each), else reads the sums and the regions of its groups. Each pixel of a region is read once, in
// aligned vectors where a pixel is one integer of 8 or 16 bits: 1 byte a pixel of bytes, and up to a vector at either
// end of a row. Counts lie in shared memory, with up to 32 copies of each bin's cell, so that the lanes of a warp do
// not meet in one: a shared add a pixel, and of vectors also of their pixels beside the region. A block ends a region
// with 8 bytes a bin: stored for a region that is not cut. Of a region that is cut, with two launches, each block adds
// its bins with pixels to the histogram (at most a region a block more than there are regions). With one launch a block
// publishes its counts, 8 bytes a bin, if the region goes on in later blocks; the last block of the region waits for
// these counts and stores the sum. Of 16 blocks of one region the last one publishes the sum of all, so that none waits
// for more than 15 blocks and a sum for each 16 before. Blocks take turns as they start, and wait for earlier turns
// alone. Bins that do not fit shared memory are counted in global memory, an atomic add a pixel.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>
#include "kernels/primitives/counted_image.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/tile_state.hpp"
#include "kernels/primitives/warp/warp.hpp"
#include "kernels/query/regions.hpp"
#include "kernels/query/weights.hpp"

namespace areal::kernels {

/// The counts of a bin that one block hands on.
using PartWord = TileState<std::uint32_t>;

struct RegionCountsArgs {
  static constexpr int group = 256;                      ///< regions that a block looks at together
  static constexpr std::int64_t most_alone = 4 * group;  ///< regions whose costs each block adds up itself
  static constexpr std::int64_t whole_pixels = 8192;     ///< of the largest region that is never cut
  static constexpr std::int64_t segment_pixels = 4096;   ///< rows longer than that are cut, too
  static constexpr int most_cells = (256 + 1) * 32;
  static constexpr std::int64_t least_share = 2048;  ///< the least costs that are worth a block
  static constexpr int part_group = 16;              ///< blocks whose parts one of them adds up

  RegionArgs regions;
  CountedImage image;
  int bins = 0;
  std::uint32_t scale = 0;         ///< if not 0, a pixel's bin is pixel * scale / 65536
  int log_copies = 0;              ///< 2 to that power cells a bin
  bool in_global = false;          ///< the bins do not fit shared memory
  std::int64_t overhead = 0;       ///< the cost of a region besides its pixels, in pixels
  std::int64_t* totals = nullptr;  ///< the cost of each group; null for most_alone regions or fewer
  // Of one launch; else null.
  std::uint64_t* turns =
      nullptr;                ///< the blocks of this launch that have begun, and in its upper half earlier launches
  PartWord* parts = nullptr;  ///< a histogram a block
  std::uint64_t* out = nullptr;

  AREAL_BOTH static int cells_of(int bins, int log_copies) { return (bins + 1) << log_copies; }
};

/// How a region may be cut: into rows or, if they are long, 2, 4, 8, .. segments of each.
struct RegionCut {
  int log_segments = 0;
  int segment = 0;         ///< pixels of each but the last ones of a row, which may be shorter or empty
  std::int64_t units = 0;  ///< segments of all rows
  bool whole = false;      ///< one block counts all of it
};
AREAL_DEVICE RegionCut cut_of(const Region& region, bool in_global) {
  RegionCut cut;
  const std::int64_t pixels = region.width * region.height;
  cut.whole = pixels <= RegionCountsArgs::whole_pixels && !in_global;
  if (pixels == 0) return cut;
  while ((region.width - 1) >> cut.log_segments >= RegionCountsArgs::segment_pixels) ++cut.log_segments;
  cut.segment = static_cast<int>((region.width - 1) >> cut.log_segments) + 1;
  cut.units = region.height << cut.log_segments;
  return cut;
}
AREAL_DEVICE std::int64_t cost_of(const RegionCut& cut, std::int64_t overhead) {
  return cut.units * cut.segment + overhead;
}

// ---------------------------------------------------------------- the first launch

template <class M, class C>
struct BeginCounts {
  static constexpr int threads = RegionCountsArgs::group, resident = 4, warps = threads / warp_size;
  struct Shared {
    std::int64_t sums[warps];
  };
  using Args = RegionCountsArgs;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    m.trigger_next_launch();
    const std::int64_t i = m.block() * threads + m.thread();
    if (a.regions.refused && i == 0) m.store(a.regions.refused, std::int64_t{-1});
    const bool is_there = i < a.regions.count;
    const RegionCut cut = is_there ? cut_of(checked_region(m, a.regions, i).region, a.in_global) : RegionCut{};
    clear(m.ballot(is_there && !cut.whole));
    if (!a.totals) return;
    Shared& s = m.template shared<Shared>();
    const std::int64_t sum = warp_sum(m, is_there ? cost_of(cut, a.overhead) : std::int64_t{0});
    if (m.lane() == 0) m.put(s.sums[m.warp()], sum);
    m.sync();
    if (m.thread() != 0) return;
    std::int64_t total = 0;
    for (int w = 0; w < warps; ++w) total += m.get(s.sums[w]);
    m.store(a.totals + m.block(), total);
  }

  /// The histograms of these of the warp's regions.
  AREAL_DEVICE void clear(unsigned lanes) {
    std::uint64_t* histogram = a.out + (m.block() * threads + m.warp() * warp_size) * a.bins;
    for (; lanes != 0; lanes >>= 1, histogram += a.bins)
      if (lanes & 1u)
        for (int bin = m.lane(); bin < a.bins; bin += warp_size) m.store(histogram + bin, std::uint64_t{0});
  }
};

// ---------------------------------------------------------------- the second launch

/// vector_: bytes of a load; 0 for pixels one by one, of any rule and alignment. scaled_: the bin is a product.
/// log_copies_: the number of a bin's cells, if it is always the same.
template <class In_, int vector_, bool scaled_ = false, int log_copies_ = -1>
struct CountsConfig {
  using In = In_;
  static constexpr int log_copies = log_copies_;
  static constexpr int vector = vector_;
  static constexpr bool scaled = scaled_;
};

template <class M, class C>
struct CountRegions {
  using In = typename C::In;
  using Args = RegionCountsArgs;
  static constexpr int threads = RegionCountsArgs::group, resident = 4, warps = threads / warp_size;
  static constexpr int most_units = 1 << 16;  ///< counted at once: fewer pixels than 32 bits hold

  struct Shared {
    alignas(16) std::uint32_t cells[RegionCountsArgs::most_cells];
    Region regions[RegionCountsArgs::group];
    std::int64_t start[RegionCountsArgs::group + 1];  ///< the costs before each region
    std::int64_t sums[4][warps];
    std::int64_t first_group, first_cost;
    std::uint64_t turn;  ///< of a.turns
    // Of one launch.
    std::int64_t each, more;        ///< blocks have a share of `each`, the first `more` of them one more
    std::int64_t last, last_start;  ///< the region that the block ends last, and the costs before it
    Region last_region;
    ByteBins<C::scaled ? 8 : sizeof(In)> bin_of;
  };

  M m;
  const Args& a;  // a copy, whose tables are read by index, would lie in local memory

  AREAL_DEVICE void operator()() {
    count_share(m.template shared<Shared>());
    // Also for a block that adds nothing: whatever waits for this launch must find the first one complete, too.
    m.wait_previous_launch();
  }
  AREAL_DEVICE void count_share(Shared& s) {
    std::uint64_t turn = 0;
    if (a.turns && m.thread() == 0) turn = m.atomic_add(a.turns, std::uint64_t{1});
    s.bin_of.fill(m, a.image, threads);
    if (!a.in_global)
      for (int i = m.thread(); i < RegionCountsArgs::cells_of(a.bins, log_copies()); i += threads)
        m.put(s.cells[i], 0u);
    Share share;
    std::int64_t group = 0, cost = 0;
    bool has_last = false;
    const bool is_one_group = groups() == 1;
    if (!is_one_group) {
      if (a.totals) m.wait_previous_launch();
      if (a.turns) keep_turn(s, turn);
      share = share_of(s, a.totals ? sum_of_totals(s) : sum_of_regions(s));
      if (share.low == share.high) return;
      find(s, share.low, group, cost);
    }
    do {
      scan(s, group, cost, is_one_group && a.turns, turn);
      cost = m.get(s.start[RegionCountsArgs::group]);
      if (is_one_group) share = share_of(s, cost);
      for (int i = region_at_cost(s, share.low); i < RegionCountsArgs::group && m.get(s.start[i]) < share.high; ++i) {
        const std::int64_t region = group * RegionCountsArgs::group + i, start = m.get(s.start[i]);
        // Earlier blocks publish their parts of this one last.
        if (a.turns && start < share.low && m.get(s.start[i + 1]) < share.high)
          keep_for_last(s, region, i), has_last = true;
        else
          take(s, region, start, load(s.regions[i]), share);
      }
      ++group;
    } while (cost < share.high);
    if (!has_last) return;
    m.sync();
    take(s, m.get(s.last), m.get(s.last_start), load(s.last_region), share);
  }
  AREAL_DEVICE void keep_for_last(Shared& s, std::int64_t region, int i) {
    if (m.thread() != 0) return;
    const Region rectangle = load(s.regions[i]);
    m.put(s.last, region), m.put(s.last_start, m.get(s.start[i]));
    store(s.last_region, rectangle);
  }
  AREAL_DEVICE Region load(const Region& from) const {
    return {m.get(from.x), m.get(from.y), m.get(from.width), m.get(from.height)};
  }
  AREAL_DEVICE void store(Region& to, const Region& region) {
    m.put(to.x, region.x), m.put(to.y, region.y), m.put(to.width, region.width), m.put(to.height, region.height);
  }
  AREAL_DEVICE int log_copies() const { return C::log_copies >= 0 ? C::log_copies : a.log_copies; }

  // ---- the share of this block

  struct Share {
    std::int64_t low = 0, high = 0;  ///< [low, high) of all costs
  };
  AREAL_DEVICE Share share_of(Shared& s, std::int64_t all) {
    std::int64_t blocks = m.blocks(), turn = m.block();
    if (a.turns) {
      turn = turn_of(s);
      const std::int64_t most = all / RegionCountsArgs::least_share + 1;
      blocks = blocks < most ? blocks : most;
    }
    std::uint64_t more = 0;
    const auto each =
        static_cast<std::int64_t>(divide(static_cast<std::uint64_t>(all), static_cast<std::uint64_t>(blocks), more));
    const auto longer = static_cast<std::int64_t>(more);
    if (a.turns && m.thread() == 0) m.put(s.each, each), m.put(s.more, longer);
    if (turn >= blocks) return {};
    const std::int64_t low = each * turn + (turn < longer ? turn : longer);
    return {low, low + each + (turn < longer ? 1 : 0)};
  }
  AREAL_DEVICE int turn_of(Shared& s) const { return static_cast<int>(m.get(s.turn) & 0xffffffffu); }
  /// The block whose share has that cost.
  AREAL_DEVICE int turn_at(Shared& s, std::int64_t cost) const {
    const std::int64_t each = m.get(s.each), more = m.get(s.more), longer = more * (each + 1);
    const bool is_longer = cost < longer;
    std::uint64_t rest = 0;
    return static_cast<int>(
        (is_longer ? 0 : more) +
        static_cast<std::int64_t>(divide(static_cast<std::uint64_t>(is_longer ? cost : cost - longer),
                                         static_cast<std::uint64_t>(is_longer ? each + 1 : each), rest)));
  }
  /// In the lower half the block's turn. The last block sets the counter to that of the next launch.
  AREAL_DEVICE void keep_turn(Shared& s, std::uint64_t turn) {
    if (m.thread() != 0) return;
    m.put(s.turn, turn);
    const auto blocks = static_cast<std::uint64_t>(m.blocks());
    if ((turn & 0xffffffffu) == blocks - 1) m.atomic_add(a.turns, (std::uint64_t{1} << 32) - blocks);
  }
  AREAL_DEVICE std::int64_t cost_at(std::int64_t i) const {
    if (i >= a.regions.count) return 0;
    return cost_of(cut_of(checked_region(m, a.regions, i).region, a.in_global), a.overhead);
  }
  /// Of up to 4 groups, whose sums stay in s.sums.
  AREAL_DEVICE std::int64_t sum_of_regions(Shared& s) {
    AREAL_UNROLL
    for (int k = 0; k < 4; ++k) {
      const std::int64_t sum = warp_sum(m, cost_at(k * RegionCountsArgs::group + m.thread()));
      if (m.lane() == 0) m.put(s.sums[k][m.warp()], sum);
    }
    m.sync();
    std::int64_t all = 0;
    for (int k = 0; k < 4; ++k) all += group_sum(s, k);
    return all;
  }
  AREAL_DEVICE std::int64_t group_sum(Shared& s, int k) const {
    std::int64_t sum = 0;
    for (int w = 0; w < warps; ++w) sum += m.get(s.sums[k][w]);
    return sum;
  }
  AREAL_DEVICE std::int64_t groups() const {
    return (a.regions.count + RegionCountsArgs::group - 1) / RegionCountsArgs::group;
  }
  AREAL_DEVICE std::int64_t sum_of_totals(Shared& s) {
    std::int64_t sum = 0;
    for (std::int64_t g = m.thread(); g < groups(); g += threads) sum += m.load(a.totals + g);
    sum = warp_sum(m, sum);
    if (m.lane() == 0) m.put(s.sums[0][m.warp()], sum);
    m.sync();
    const std::int64_t all = group_sum(s, 0);
    m.sync();
    return all;
  }
  /// The group of the region at that cost, and the cost of all groups before.
  AREAL_DEVICE void find(Shared& s, std::int64_t at, std::int64_t& group, std::int64_t& cost) {
    if (!a.totals) {
      for (;; ++group) {
        const std::int64_t sum = group_sum(s, static_cast<int>(group));
        if (at < cost + sum) return;
        cost += sum;
      }
    }
    for (std::int64_t first = 0;; first += threads) {
      const std::int64_t g = first + m.thread(), own = g < groups() ? m.load(a.totals + g) : 0;
      const std::int64_t inclusive = warp_scan(m, own);
      if (m.lane() == warp_size - 1) m.put(s.sums[1][m.warp()], inclusive);
      m.sync();
      std::int64_t before = cost;
      for (int w = 0; w < m.warp(); ++w) before += m.get(s.sums[1][w]);
      if (at >= before + inclusive - own && at < before + inclusive) {
        m.put(s.first_group, g);
        m.put(s.first_cost, before + inclusive - own);
      }
      cost += group_sum(s, 1);
      m.sync();
      if (at < cost) break;
    }
    group = m.get(s.first_group), cost = m.get(s.first_cost);
  }
  /// The regions of a group, and the costs before each.
  AREAL_DEVICE void scan(Shared& s, std::int64_t group, std::int64_t cost, bool keeps_turn, std::uint64_t turn) {
    const std::int64_t i = group * RegionCountsArgs::group + m.thread();
    CheckedRegion region;
    std::int64_t own = 0;
    if (i < a.regions.count) {
      region = checked_region(m, a.regions, i);
      own = cost_of(cut_of(region.region, a.in_global), a.overhead);
      if (region.refused) region.region.x = -1;
    }
    const std::int64_t inclusive = warp_scan(m, own);
    m.sync();  // nobody reads the previous group any more
    if (m.lane() == warp_size - 1) m.put(s.sums[1][m.warp()], inclusive);
    m.sync();
    for (int w = 0; w < m.warp(); ++w) cost += m.get(s.sums[1][w]);
    m.put(s.start[m.thread() + 1], cost + inclusive);
    if (m.thread() == 0) m.put(s.start[0], cost);
    store(s.regions[m.thread()], region.region);
    if (keeps_turn) keep_turn(s, turn);  // it has arrived meanwhile
    m.sync();
  }
  /// The last region that begins at that cost or before; 0 if none does.
  AREAL_DEVICE int region_at_cost(Shared& s, std::int64_t cost) const {
    int first = 0;
    for (int half = RegionCountsArgs::group / 2; half > 0; half /= 2)
      if (m.get(s.start[first + half]) <= cost) first += half;
    return first;
  }

  // ---- one region

  /// What happens to the counts of a block.
  enum class Goes : std::uint8_t { stored, added, published, joined };

  /// The units of a region that lie in the share.
  AREAL_DEVICE void take(Shared& s, std::int64_t i, std::int64_t start, const Region& region, const Share& share) {
    const RegionCut cut = cut_of(region, a.in_global);
    const bool begins = start >= share.low;
    if (begins && region.x < 0 && m.thread() == 0 && a.regions.refused) {
      if (!a.turns) m.wait_previous_launch();
      m.atomic_min(reinterpret_cast<std::uint64_t*>(a.regions.refused), static_cast<std::uint64_t>(i));
    }
    if (a.in_global) m.wait_previous_launch();
    std::uint64_t* const histogram = a.out + i * a.bins;
    std::int64_t unit = cut.whole ? 0 : first_unit(cut, start, share.low);
    const std::int64_t end = !cut.whole ? first_unit(cut, start, share.high) : begins ? cut.units : 0;
    if (a.turns && !cut.whole) {
      // A block without a unit has a part, too.
      const bool ends = start + cost_of(cut, a.overhead) <= share.high;
      if (unit < end) count(s, region, cut, unit, static_cast<int>(end - unit), histogram);
      return finish(s, histogram, !ends ? Goes::published : begins ? Goes::stored : Goes::joined, begins ? -1 : start);
    }
    if (unit == end && !(cut.whole && begins)) return;
    do {  // once for an empty region
      const auto units = static_cast<int>(end - unit < most_units ? end - unit : most_units);
      if (units > 0) count(s, region, cut, unit, units, histogram);
      if (!a.in_global) finish(s, histogram, cut.whole ? Goes::stored : Goes::added, -1);
      unit += most_units;
    } while (unit < end);
  }
  /// The first unit of a region that begins at that cost or behind it.
  AREAL_DEVICE static std::int64_t first_unit(const RegionCut& cut, std::int64_t start, std::int64_t cost) {
    if (cost <= start) return 0;
    if (cost - start >= cut.units * cut.segment) return cut.units;
    std::uint64_t rest = 0;
    return static_cast<std::int64_t>(divide(static_cast<std::uint64_t>(cost - start + cut.segment - 1),
                                            static_cast<std::uint64_t>(cut.segment), rest));
  }

  /// The parts of a region's earlier blocks that a block adds to its own.
  struct Parts {
    int begin = 0, own = 0, groups = 0, count = 0;
  };
  /// Of a region whose first block has the cost `start`.
  AREAL_DEVICE Parts parts_before(Shared& s, std::int64_t start, bool is_last) const {
    static constexpr int each = RegionCountsArgs::part_group;
    const int turn = turn_of(s), begin = turn_at(s, start);
    Parts parts;
    if (!is_last && turn % each != each - 1) return parts;
    // The first of the blocks of this group; before these come the last blocks of earlier groups.
    parts.begin = begin, parts.own = turn - (turn % each < turn - begin ? turn % each : turn - begin);
    parts.groups = is_last && parts.own > begin ? parts.own / each - begin / each : 0;
    parts.count = parts.groups + turn - parts.own;
    return parts;
  }
  AREAL_DEVICE const PartWord* part(const Parts& parts, int k, int bin) const {
    static constexpr int each = RegionCountsArgs::part_group;
    const int turn = k < parts.groups ? (parts.begin / each + k) * each + each - 1 : parts.own + k - parts.groups;
    return a.parts + static_cast<std::int64_t>(turn) * a.bins + bin;
  }

  /// Adds the cells up, clears them, and writes the sums. Earlier blocks have the region from the cost `start` on; -1
  /// if it begins here.
  AREAL_DEVICE void finish(Shared& s, std::uint64_t* histogram, Goes goes, std::int64_t start) {
    m.sync();
    if (goes == Goes::added) m.wait_previous_launch();
    const int log_readers = log_copies() < 2 ? 0 : log_copies() - 2;  // threads of a bin, four cells each
    const int n = a.bins << log_readers, reader = m.thread() & ((1 << log_readers) - 1);
    std::uint32_t epoch = 0;
    Parts parts;
    if (a.turns) {
      epoch = static_cast<std::uint32_t>(m.get(s.turn) >> 32) + 1;
      if (start >= 0) parts = parts_before(s, start, goes == Goes::joined);
    }
    AREAL_NO_UNROLL
    for (int from = 0; from < n; from += threads) {
      const int i = from + m.thread(), bin = i >> log_readers;
      std::uint32_t sum = i < n ? taken(s, i) : 0;
      if (i < n && parts.count > 0)
        sum += gather<4>(m, epoch, reader, 1 << log_readers, parts.count, [&](int k) {
                 return part(parts, k, bin);
               }).sum();
      for (int lanes = 1; lanes < 1 << log_readers; lanes *= 2) sum += m.shuffle_xor(sum, lanes);
      if (i >= n || reader != 0) continue;
      if (goes == Goes::published)
        store_word(m, a.parts + static_cast<std::int64_t>(turn_of(s)) * a.bins + bin, PartWord{sum, epoch});
      else if (goes == Goes::stored || goes == Goes::joined)
        m.store(histogram + bin, std::uint64_t{sum});
      else if (sum != 0)
        m.atomic_add(histogram + bin, std::uint64_t{sum});
    }
    m.sync();
  }
  /// The sum of the i-th thread's cells, which are cleared.
  AREAL_DEVICE std::uint32_t taken(Shared& s, int i) {
    if (log_copies() >= 2) {
      auto& cells = reinterpret_cast<Vec<std::uint32_t, 4>&>(s.cells[4 * i]);
      const auto four = m.get(cells);
      m.put(cells, {});
      return four.at[0] + four.at[1] + four.at[2] + four.at[3];
    }
    std::uint32_t sum = m.get(s.cells[i << log_copies()]);
    m.put(s.cells[i << log_copies()], 0u);
    if (log_copies() == 1) {
      sum += m.get(s.cells[2 * i + 1]);
      m.put(s.cells[2 * i + 1], 0u);
    }
    return sum;
  }

  // ---- pixels

  AREAL_DEVICE void count(Shared& s, const Region& region, const RegionCut& cut, std::int64_t first, int units,
                          std::uint64_t* histogram) {
    if constexpr (C::vector != 0)
      count_vectors(s, region, cut, first, units);
    else
      count_pixels(s, region, cut, first, units, histogram);
  }

  /// A step of all threads over the `each` items of consecutive units.
  struct Walk {
    int unit, at, each, units_on, items_on;
    AREAL_DEVICE Walk(int thread, int each_)
        : unit(thread / each_), at(thread % each_), each(each_), units_on(threads / each_), items_on(threads % each_) {}
    AREAL_DEVICE void next() {
      unit += units_on, at += items_on;
      if (at >= each) at -= each, ++unit;
    }
  };
  struct UnitAt {
    const char* from;  ///< its first pixel
    int pixels;
  };
  AREAL_DEVICE UnitAt unit_at(const Region& region, const RegionCut& cut, std::int64_t unit) const {
    const std::int64_t row = unit >> cut.log_segments, skipped = (unit - (row << cut.log_segments)) * cut.segment;
    const std::int64_t pixels = region.width - skipped;
    return {a.image.data + (region.y + row) * a.image.in.row + (region.x + skipped) * a.image.in.column,
            static_cast<int>(pixels < cut.segment ? pixels : cut.segment)};
  }

  /// Pixels loaded at once, and a bit for each that counts.
  struct Pixels {
    Vec<std::uint32_t, C::vector == 0 ? 1 : C::vector / 4> words = {};
    std::uint32_t valid = 0;
  };
  static constexpr int each_vector = C::vector / static_cast<int>(sizeof(In));

  AREAL_DEVICE void count_vectors(Shared& s, const Region& region, const RegionCut& cut, std::int64_t first,
                                  int units) {
    const std::int64_t row = a.image.in.row;
    if (row % C::vector == 0 && cut.log_segments == 0) {  // all units begin alike
      const char* const corner = unit_at(region, cut, first).from;
      const int before = before_in_vector(corner), behind = before + cut.segment;
      const char* const from = corner - before * static_cast<int>(sizeof(In));
      add_vectors(s, units, (behind + each_vector - 1) / each_vector, [&](int unit, int at) {
        return load_vector(from + unit * row + at * C::vector, at == 0 ? before : 0, behind - at * each_vector);
      });
    } else {
      add_vectors(s, units, (cut.segment + 2 * each_vector - 2) / each_vector, [&](int unit, int at) {
        const UnitAt begin = unit_at(region, cut, first + unit);
        const int pixel = at * each_vector - before_in_vector(begin.from);  // of the unit
        return load_vector(begin.from + pixel * static_cast<int>(sizeof(In)), pixel < 0 ? -pixel : 0,
                           begin.pixels - pixel);
      });
    }
  }
  template <class Load>
  AREAL_DEVICE void add_vectors(Shared& s, int units, int each, Load load) {
    Walk walk(m.thread(), each);
    Pixels pixels;
    std::uint32_t beside = 0;
    for (;;) {  // the next vector is loaded before this one is counted
      const bool more = walk.unit < units;
      Pixels next;
      if (more) next = load(walk.unit, walk.at);
      walk.next();
      if (pixels.valid != 0) add(s, pixels, beside);
      if (!more) break;
      pixels = next;
    }
    if (beside != 0) add(s, bin_of(s, 0), 0 - beside);
  }
  AREAL_DEVICE static int before_in_vector(const char* p) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(p) % C::vector / sizeof(In));
  }
  /// A vector's pixels from `low` on, before `high`.
  AREAL_DEVICE Pixels load_vector(const char* from, int low, int high) const {
    Pixels pixels;
    if (high <= low) return pixels;
    pixels.valid = (1u << (high < each_vector ? high : each_vector)) - (1u << low);
    if (from >= a.image.data && from + C::vector <= a.image.end) {
      pixels.words = m.load(reinterpret_cast<const Vec<std::uint32_t, C::vector / 4>*>(from));
      return pixels;
    }
    static constexpr int in_word = 4 / static_cast<int>(sizeof(In));  // at the image's first or last byte
    AREAL_UNROLL
    for (int w = 0; w < C::vector / 4; ++w) {
      std::uint32_t word = 0;
      AREAL_NO_UNROLL
      for (int k = 0; k < in_word; ++k)
        if (pixels.valid >> (w * in_word + k) & 1u)
          word |= std::uint32_t{m.load(reinterpret_cast<const In*>(from) + w * in_word + k)} << (8 * sizeof(In) * k);
      pixels.words.at[w] = word;
    }
    return pixels;
  }
  /// Counts the vector's pixels outside the region as zeros; add_vectors subtracts them at the end. No pixel needs a
  /// branch.
  AREAL_DEVICE void add(Shared& s, Pixels& pixels, std::uint32_t& beside) {
    static constexpr int in_word = 4 / static_cast<int>(sizeof(In)), bits = 8 * static_cast<int>(sizeof(In));
    static constexpr std::uint32_t all = (1u << each_vector) - 1;
    if (pixels.valid != all) {
      beside += static_cast<std::uint32_t>(std::popcount(~pixels.valid & all));
      AREAL_UNROLL
      for (int w = 0; w < C::vector / 4; ++w) {
        std::uint32_t mask = 0;
        AREAL_UNROLL
        for (int k = 0; k < in_word; ++k) mask |= (pixels.valid >> (w * in_word + k) & 1u) << (bits * k);
        pixels.words.at[w] &= mask * ((1u << bits) - 1);
      }
    }
    AREAL_UNROLL
    for (int w = 0; w < C::vector / 4; ++w) {
      AREAL_UNROLL
      for (int k = 0; k < in_word; ++k) add(s, bin_of(s, pixels.words.at[w] >> (bits * k) & ((1u << bits) - 1)), 1);
    }
  }
  AREAL_DEVICE std::uint32_t bin_of(Shared& s, std::uint32_t value) const {
    if constexpr (C::scaled) return value * a.scale >> 16;
    std::uint32_t bin = 0;
    if constexpr (sizeof(In) == 1)
      bin = m.get(s.bin_of.of[value]);
    else
      bin = m.load(reinterpret_cast<const std::uint16_t*>(a.image.rule.channel[0].data) + value);
    // Pixels without a bin are counted behind the last one.
    return bin < static_cast<std::uint32_t>(a.bins) ? bin : static_cast<std::uint32_t>(a.bins);
  }
  AREAL_DEVICE void add(Shared& s, std::uint32_t bin, std::uint32_t n) {
    const std::uint32_t copy = static_cast<std::uint32_t>(m.lane()) & ((1u << log_copies()) - 1);
    m.shared_add((s.cells + copy)[bin << log_copies()], n);
  }

  AREAL_DEVICE void count_pixels(Shared& s, const Region& region, const RegionCut& cut, std::int64_t first, int units,
                                 std::uint64_t* histogram) {
    for (Walk walk(m.thread(), cut.segment); walk.unit < units; walk.next()) {
      const UnitAt unit = unit_at(region, cut, first + walk.unit);
      if (walk.at >= unit.pixels) continue;
      const int bin = bin_at<In>(m, a.image, s.bin_of, unit.from + walk.at * a.image.in.column);
      if (bin < 0) continue;
      if (a.in_global)
        m.atomic_add(histogram + bin, std::uint64_t{1});
      else
        add(s, static_cast<std::uint32_t>(bin), 1);
    }
  }
};

// ---------------------------------------------------------------- the launches

/// The launches of RegionCountsArgs for a request of counts.
template <class Launcher>
class CountLaunches {
 public:
  CountLaunches(Launcher& launcher, const CountsRequest& request) : launcher_(launcher), list_(request.regions) {
    const Shape& shape = request.image.shape;
    a_.regions = region_args(request.regions, shape.width, shape.height, false);
    a_.image = counted_image(request.image, request.rule);
    a_.bins = request.bins;
    a_.scale = request.scale;
    a_.in_global = RegionCountsArgs::cells_of(request.bins, 0) > RegionCountsArgs::most_cells;
    while (a_.log_copies < 5 &&
           RegionCountsArgs::cells_of(request.bins, a_.log_copies + 1) <= RegionCountsArgs::most_cells)
      ++a_.log_copies;
    a_.overhead = a_.in_global ? 256 : 256 + 4 * request.bins;
    const bool are_few = request.regions.count <= RegionCountsArgs::most_alone;
    a_.totals = are_few ? nullptr : static_cast<std::int64_t*>(request.workspace);
    a_.out = static_cast<std::uint64_t*>(request.out);
    pixels_ = static_cast<double>(shape.width) * static_cast<double>(shape.height);
    if (!are_few || request.parts == nullptr || request.regions.count == 0 || pixels_ > most_part) return;
    a_.turns = static_cast<std::uint64_t*>(request.parts);
    a_.parts = reinterpret_cast<PartWord*>(a_.turns + 2);
  }

  void begin() {
    if (a_.turns) return forget_refused(launcher_, list_);
    const std::int64_t groups = (a_.regions.count + RegionCountsArgs::group - 1) / RegionCountsArgs::group;
    launcher_.template launch<BeginCounts, NoConfig>(std::max<std::int64_t>(groups, a_.regions.refused ? 1 : 0), a_,
                                                     false);
  }
  /// Pixels of that type.
  template <class In>
  void count(In) {
    if (a_.regions.count == 0) return;
    if constexpr (sizeof(In) <= 2)
      if (has_vectors(sizeof(In))) {
        static constexpr int log_copies = sizeof(In) == 1 ? 5 : -1;
        if (a_.scale != 0) return launch<CountsConfig<In, vector, true, log_copies>>();
        return launch<CountsConfig<In, vector, false, log_copies>>();
      }
    launch<CountsConfig<In, 0>>();
  }

 private:
  /// 10,000 boxes of 200x200 in 8192x8192 bytes, 32 bins, on an H100: 306 us; with 8 bytes 421, with 4 628.
  static constexpr int vector = 16;
  static constexpr double most_part = 1 << 30;  ///< pixels of an image whose blocks count in 32 bits, also in parts

  bool has_vectors(std::size_t size) const {
    const CountedImage& image = a_.image;
    return image.rule.channels == 1 && image.in.column == static_cast<std::int64_t>(size) &&
           image.in.alignment != Alignment::bytes && (size == 1 ? a_.log_copies == 5 : !a_.in_global);
  }
  /// As many blocks as the device holds at once, or fewer for a small image.
  template <class C>
  void launch() {
    std::int64_t most = launcher_.template most_together<CountRegions, C>();
    // Of few regions a block does little more than to find its share: 100 boxes of 200x200 in 1920x1080 bytes, 32 bins,
    // take 19.4 us in four blocks a multiprocessor, and 17.1 in two (H100, between events).
    if (a_.turns) most = std::min((most + 1) / 2, CountsRequest::most_parts);
    const double costs = static_cast<double>(a_.regions.count) * (pixels_ + static_cast<double>(a_.overhead));
    const auto wanted = static_cast<std::int64_t>(std::min(costs / RegionCountsArgs::least_share, 1e9)) + 1;
    launcher_.template launch<CountRegions, C>(std::min<std::int64_t>(most > 0 ? most : 1024, wanted), a_,
                                               a_.turns == nullptr);
  }

  Launcher& launcher_;
  const RegionList& list_;
  RegionCountsArgs a_;
  double pixels_ = 0;  ///< of the image
};

template <class Launcher>
void run_query(Launcher& launcher, const CountsRequest& request) {
  if (request.weights) return sum_weights(launcher, request);
  CountLaunches<Launcher> launches(launcher, request);
  launches.begin();
  with_pixel(request.image.type, [&](auto pixel) { launches.count(pixel); });
}

}  // namespace areal::kernels
