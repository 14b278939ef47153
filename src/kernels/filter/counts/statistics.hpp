#pragma once
// What window-counts finds in the counts of a window by level, which are a lane's in shared memory. Groups without
// pixels are left out.

#include <cmath>
#include <cstdint>
#include "formulas/level_statistics.hpp"
#include "kernels/filter/level_tables.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// A lane's counts of 16 bits, two in a word: 256 of levels in `fine`, 16 of 16 levels each in `coarse`. Words of a
/// lane lie apart by a warp, so that it has a bank of its own.
template <class M>
struct LevelCounts {
  static constexpr unsigned none = 256;                     ///< the level of what is no pixel of the window
  static constexpr int fine_lines = 129, coarse_lines = 9;  ///< one for `none`

  M m;
  std::uint32_t *fine, *coarse;

  AREAL_DEVICE static std::uint16_t& cell(std::uint32_t* counts, unsigned bin) {
    return reinterpret_cast<std::uint16_t*>(counts)[(bin & ~1u) * warp_size + (bin & 1)];
  }
  AREAL_DEVICE void clear(bool has_groups) const {
    AREAL_NO_UNROLL
    for (int i = 0; i < fine_lines; ++i) m.put(fine[i * warp_size], 0);
    AREAL_NO_UNROLL
    for (int i = 0; has_groups && i < coarse_lines; ++i) m.put(coarse[i * warp_size], 0);
  }

  /// Of the window: as each move takes one from a count and adds it to another, all counts add up to 0.
  AREAL_DEVICE int pixels() const { return static_cast<int>(-m.get(fine[(fine_lines - 1) * warp_size]) & 0xffff); }
  /// The level of the pixel of that rank: the last one before whose pixels there are at most as many.
  AREAL_DEVICE int level_of(unsigned rank) const {
    unsigned before = 0;
    const int group = last_of_16(coarse, rank, before);
    return 16 * group + last_of_16(fine + 8 * group * warp_size, rank, before);
  }
  /// The pixels up to a level.
  AREAL_DEVICE unsigned up_to(int level) const {
    return sum_before(coarse, level >> 4) + sum_before(fine + 8 * (level >> 4) * warp_size, (level & 15) + 1);
  }
  /// The least of the most frequent levels.
  AREAL_DEVICE int mode() const {
    unsigned most = 0;
    int found = 0;
    for_groups([&](int group, unsigned pixels) {
      if (pixels <= most) return;
      for_levels(group, [&](int i, unsigned count) {
        if (count > most) most = count, found = 16 * group + i;
      });
    });
    return found;
  }
  /// Otsu's threshold of n pixels.
  AREAL_DEVICE int split(unsigned n, bool zeros_alone) const {
    unsigned sum = 0;
    for_groups([&](int group, unsigned pixels) {
      if (pixels > 0)
        for_levels(group, [&](int i, unsigned count) { sum += static_cast<unsigned>(16 * group + i) * count; });
    });
    formulas::BestSplitOfBytes best(n, sum);
    double up_to = 0, sum_up_to = 0;
    for_groups([&](int group, unsigned pixels) {
      if (pixels == 0) return;
      for_levels(group, [&](int i, unsigned count) {
        if (count == 0) return;
        const int level = 16 * group + i;
        const double more = exact(count);
        up_to += more, sum_up_to += more * level;
        if (up_to < n && (level > 0 || zeros_alone)) best.offer(static_cast<unsigned>(level), up_to, sum_up_to);
      });
    });
    return static_cast<int>(best.level());
  }
  /// The weighted mean around level p, NaN if no pixel has a weight. 16 sums, one for each low half byte of a level,
  /// end in the CPU's order; products are exact.
  AREAL_DEVICE double bilateral(int p, const RangePair* table, int reach) const {
    double sums[16] = {}, moments[16] = {};
    for_groups([&](int group, unsigned pixels) {
      if (pixels == 0 || 16 * group + 15 < p - reach || 16 * group > p + reach) return;
      for_levels(group, [&](int i, unsigned count) {
        const int level = 16 * group + i, distance = level < p ? p - level : level - p;
        if (count == 0 || distance > reach) return;
        const RangePair one = m.load(table + distance);
        const double more = exact(count);
        sums[i] = std::fma(more, one.at[0], sums[i]);
        moments[i] = std::fma(more, level < p ? -one.at[1] : one.at[1], moments[i]);
      });
    });
    fold<8>(sums), fold<4>(sums), fold<2>(sums), fold<1>(sums);
    fold<8>(moments), fold<4>(moments), fold<2>(moments), fold<1>(moments);
    return p + moments[0] / sums[0];
  }

 private:
  /// Without the conversion's instruction, which is slow.
  AREAL_DEVICE static double exact(unsigned count) {
    return __builtin_bit_cast(double, 0x4330000000000000u | count) - 0x1p52;
  }
  AREAL_DEVICE static unsigned half(std::uint32_t word, int i) { return i % 2 == 0 ? word & 0xffff : word >> 16; }

  /// Adds the numbers from `half` on to those before.
  template <int half>
  AREAL_DEVICE static void fold(double (&numbers)[16]) {
    AREAL_UNROLL
    for (int i = 0; i < half; ++i) numbers[i] = numbers[i] + numbers[i + half];
  }
  /// visit(group, pixels)
  template <class Visit>
  AREAL_DEVICE void for_groups(const Visit& visit) const {
    AREAL_NO_UNROLL
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t word = m.get(coarse[i * warp_size]);
      AREAL_NO_UNROLL
      for (int j = 0; j < 2; ++j) visit(2 * i + j, half(word, j));
    }
  }
  /// visit(i, count) of a group's 16 levels.
  template <class Visit>
  AREAL_DEVICE void for_levels(int group, const Visit& visit) const {
    std::uint32_t word[8];
    AREAL_UNROLL
    for (int i = 0; i < 8; ++i) word[i] = m.get(fine[(8 * group + i) * warp_size]);
    AREAL_UNROLL
    for (int i = 0; i < 16; ++i) visit(i, half(word[i / 2], i));
  }
  /// Of the first `end` of 16 counts.
  AREAL_DEVICE unsigned sum_before(const std::uint32_t* counts, int end) const {
    unsigned sum = 0;
    AREAL_UNROLL
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t word = m.get(counts[i * warp_size]);
      sum += (2 * i < end ? half(word, 0) : 0) + (2 * i + 1 < end ? half(word, 1) : 0);
    }
    return sum;
  }
  AREAL_DEVICE int last_of_16(const std::uint32_t* counts, unsigned rank, unsigned& before) const {
    std::uint32_t word[8];
    AREAL_UNROLL
    for (int i = 0; i < 8; ++i) word[i] = m.get(counts[i * warp_size]);
    unsigned sum = before;
    int found = 0;
    AREAL_UNROLL
    for (int i = 0; i < 16; ++i) {
      if (sum <= rank) found = i, before = sum;
      sum += half(word[i / 2], i);
    }
    return found;
  }
};

}  // namespace areal::kernels
