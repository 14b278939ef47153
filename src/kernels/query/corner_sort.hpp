#pragma once
// The corners of regions, numbered 4 i + c, sorted by their elements of an array: a radix sort from the lowest digit of
// 8 bits up, each pass stable. A pass counts each digit in each block's part of the corners, adds the counts, and moves
// the corners, 256 at a time. Element numbers are recomputed from the regions, which are smaller than keys would be.
// Workspace: 8 bytes a corner and 257 KiB.

#include <bit>
#include "formulas/scatter.hpp"
#include "kernels/primitives/warp/warp.hpp"
#include "kernels/query/regions.hpp"
#include "kernels/query/sort_space.hpp"

namespace areal::kernels {

struct CornersArgs {
  RegionArgs regions;
  formulas::CornerGrid grid;
  std::int64_t count;  ///< 4 of each region
};

/// The element of a corner of a checked region; grid.elements() if it has none.
template <class M>
AREAL_DEVICE std::int64_t element_of(const M& m, const CornersArgs& a, std::uint32_t corner) {
  return a.grid.element(checked_region(m, a.regions, corner / 4).region, static_cast<int>(corner % 4));
}

struct SortArgs {
  CornersArgs corners;
  const std::uint32_t* from;  ///< null: in order
  std::uint32_t* to;
  std::uint32_t* counts;  ///< of each digit's blocks
  std::uint32_t* totals;  ///< of each digit
  std::int64_t blocks, corners_per_block;
  int shift;  ///< of the digit

  template <class M>
  AREAL_DEVICE std::uint32_t corner(const M& m, std::int64_t i) const {
    return from ? m.load(from + i) : static_cast<std::uint32_t>(i);
  }
  template <class M>
  AREAL_DEVICE int digit(const M& m, std::uint32_t corner) const {
    return static_cast<int>(element_of(m, corners, corner) >> shift & (sort_digits - 1));
  }
};

struct ScanShared {
  std::uint32_t warps[sort_digits / warp_size];
};
/// The sum of the values of the threads before this one, of 256. 1 barrier.
template <class M>
AREAL_DEVICE std::uint32_t sum_before(const M& m, std::uint32_t value, ScanShared& s) {
  const std::uint32_t sum = warp_scan(m, value);
  if (m.lane() == warp_size - 1) m.put(s.warps[m.warp()], sum);
  m.sync();
  std::uint32_t before = sum - value;
  for (int w = 0; w < m.warp(); ++w) before += m.get(s.warps[w]);
  return before;
}

/// Counts each digit in each block's part. The first pass reports invalid regions.
template <class M, class C>
struct CountDigits {
  using Args = SortArgs;
  static constexpr int threads = sort_digits, resident = 8;
  struct Shared {
    std::uint32_t counts[sort_digits];
  };
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    m.put(s.counts[m.thread()], 0u);
    m.sync();
    const std::int64_t begin = m.block() * a.corners_per_block;
    for (std::int64_t tile = begin; tile < begin + a.corners_per_block; tile += threads) {
      const std::int64_t i = tile + m.thread();
      const bool there = i < a.corners.count;
      if (there) m.shared_add(s.counts[a.digit(m, a.corner(m, i))], 1u);
      if (!a.from && a.corners.regions.refused)
        report(m, a.corners.regions.refused, i / 4, there && checked_region(m, a.corners.regions, i / 4).refused);
    }
    m.sync();
    m.store(a.counts + m.thread() * a.blocks + m.block(), m.get(s.counts[m.thread()]));
  }
};

/// A warp a digit: its counts become the sums of those of the blocks before.
template <class M, class C>
struct AddDigits {
  using Args = SortArgs;
  using Shared = NoShared;
  static constexpr int threads = 256, resident = 8;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t digit = m.block() * (threads / warp_size) + m.warp();
    std::uint32_t total = 0;
    for (std::int64_t first = 0; first < a.blocks; first += warp_size) {
      const bool there = first + m.lane() < a.blocks;
      std::uint32_t* const count = a.counts + digit * a.blocks + first + m.lane();
      const std::uint32_t value = there ? m.load(count) : 0;
      const std::uint32_t sum = warp_scan(m, value);
      if (there) m.store(count, total + (sum - value));
      total += m.shuffle(sum, warp_size - 1);
    }
    if (m.lane() == 0) m.store(a.totals + digit, total);
  }
};

/// Moves each corner to its place: after those with smaller digits, and after its own digit's in blocks, warps and
/// lanes before.
template <class M, class C>
struct MoveCorners {
  using Args = SortArgs;
  static constexpr int threads = sort_digits, resident = 4, warps = threads / warp_size;
  struct Shared {
    ScanShared scan;
    std::uint32_t place[warps][sort_digits];  ///< first counts
  };
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const int t = m.thread();  // for all warps' places of digit t
    std::uint32_t next = sum_before(m, m.load(a.totals + t), s.scan) + m.load(a.counts + t * a.blocks + m.block());
    const std::int64_t begin = m.block() * a.corners_per_block;
    for (std::int64_t tile = begin; tile < begin + a.corners_per_block && tile < a.corners.count; tile += threads) {
      for (int w = 0; w < warps; ++w) m.put(s.place[w][t], 0u);
      m.sync();
      const bool there = tile + t < a.corners.count;
      const std::uint32_t corner = there ? a.corner(m, tile + t) : 0;
      const int digit = there ? a.digit(m, corner) : 0;
      const unsigned peers = lanes_of(digit, there), before = peers & ((1u << m.lane()) - 1);
      if (there && before == 0) m.put(s.place[m.warp()][digit], static_cast<std::uint32_t>(std::popcount(peers)));
      m.sync();
      for (int w = 0; w < warps; ++w) {
        const std::uint32_t count = m.get(s.place[w][t]);
        m.put(s.place[w][t], next);
        next += count;
      }
      m.sync();
      if (there)
        m.store(a.to + m.get(s.place[m.warp()][digit]) + static_cast<std::uint32_t>(std::popcount(before)), corner);
      m.sync();
    }
  }

  /// The active lanes with the same digit. 9 votes.
  AREAL_DEVICE unsigned lanes_of(int digit, bool there) {
    unsigned same = m.ballot(there);
    AREAL_UNROLL
    for (int bit = 1; bit < sort_digits; bit *= 2) {
      const unsigned set = m.ballot((digit & bit) != 0);
      same &= digit & bit ? set : ~set;
    }
    return same;
  }
};

/// The corners' numbers, sorted, in the workspace.
template <class Launcher>
const std::uint32_t* sort_corners(Launcher& launcher, const CornersArgs& corners, void* workspace) {
  Workspace from(workspace);
  const SortSpace space(from, corners.count);
  const std::int64_t tiles = (corners.count + sort_digits - 1) / sort_digits;
  const std::int64_t tiles_per_block = (tiles + sort_digits - 1) / sort_digits;
  SortArgs a{corners,
             nullptr,
             space.corners[0],
             space.counts,
             space.totals,
             (tiles + tiles_per_block - 1) / tiles_per_block,
             tiles_per_block * sort_digits,
             0};
  for (int to = 0;; to = 1 - to) {
    launcher.template launch<CountDigits, NoConfig>(a.blocks, a, false);
    launcher.template launch<AddDigits, NoConfig>(sort_digits * warp_size / AddDigits<NoMachine, NoConfig>::threads, a,
                                                  false);
    launcher.template launch<MoveCorners, NoConfig>(a.blocks, a, false);
    a.shift += 8;
    if (corners.grid.elements() >> a.shift == 0) return a.to;
    a.from = a.to;
    a.to = space.corners[1 - to];
  }
}

}  // namespace areal::kernels
