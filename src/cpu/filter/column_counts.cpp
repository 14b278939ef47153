#include "cpu/filter/column_counts.hpp"
#include <algorithm>
#include <array>
#include <cstring>
#include "cpu/filter/rank_rows.hpp"
#include "formulas/level_statistics.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/filter/column_counts.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef AREAL_CPU_FILTER_COLUMN_COUNTS_ONCE
#define AREAL_CPU_FILTER_COLUMN_COUNTS_ONCE
namespace areal::cpu {

/// Row l: what a pixel of level l of 16 adds to cumulative counts. The last row is of no level.
template <class C>
struct Steps {
  alignas(64) std::array<std::array<C, 16>, 17> of{};
  constexpr Steps() {
    for (std::size_t level = 0; level < 16; ++level)
      for (std::size_t bin = level; bin < 16; ++bin) of[level][bin] = 1;
  }
};
template <class C>
inline constexpr Steps<C> steps{};

}  // namespace areal::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// 16 counts, in as many vectors as they need.
template <class C>
struct Bins {
  static HWY_INLINE void add(C* to, const C* more) {
    const hn::CappedTag<C, 16> d;
    const auto lanes = hn::Lanes(d);
    for (std::size_t i = 0; i < 16; i += lanes)
      hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, more + i)), d, to + i);
  }
  static HWY_INLINE void subtract(C* to, const C* less) {
    const hn::CappedTag<C, 16> d;
    const auto lanes = hn::Lanes(d);
    for (std::size_t i = 0; i < 16; i += lanes)
      hn::StoreU(hn::Sub(hn::LoadU(d, to + i), hn::LoadU(d, less + i)), d, to + i);
  }
  static HWY_INLINE void exchange(C* to, const C* more, const C* less) {
    const hn::CappedTag<C, 16> d;
    const auto lanes = hn::Lanes(d);
    for (std::size_t i = 0; i < 16; i += lanes)
      hn::StoreU(hn::Sub(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, more + i)), hn::LoadU(d, less + i)), d, to + i);
  }
  // Bins whose cumulative count is at most the rank.
  static HWY_INLINE std::size_t below(const C* counts, std::uint32_t rank) {
    const hn::CappedTag<C, 16> d;
    const auto lanes = hn::Lanes(d);
    const auto limit = hn::Set(d, static_cast<C>(rank + 1));  // a rank is less than a count, so that this fits
    std::size_t found = 0;
    for (std::size_t i = 0; i < 16; i += lanes) found += hn::CountTrue(d, hn::Lt(hn::LoadU(d, counts + i), limit));
    return found;
  }
};

template <class C>
void add_levels(const ColumnCounts<C>& counts, const std::uint16_t* HWY_RESTRICT levels) {
  C* HWY_RESTRICT coarse = counts.coarse;
  C* HWY_RESTRICT fine = counts.fine;
  const std::int64_t cells = counts.cells;
  for (std::int64_t i = 0; i < cells; ++i) {
    const std::int64_t level = levels[i], high = level >> 4;
    Bins<C>::add(coarse + 16 * i, steps<C>.of[static_cast<std::size_t>(high)].data());
    Bins<C>::add(fine + 16 * (high * cells + i), steps<C>.of[static_cast<std::size_t>(level & 15)].data());
  }
}

template <class C>
void step_levels(const ColumnCounts<C>& counts, const std::uint16_t* HWY_RESTRICT entering,
                 const std::uint16_t* HWY_RESTRICT leaving) {
  C* HWY_RESTRICT coarse = counts.coarse;
  C* HWY_RESTRICT fine = counts.fine;
  const std::int64_t cells = counts.cells;
  for (std::int64_t i = 0; i < cells; ++i) {
    const std::int64_t in = entering[i], out = leaving[i], in_high = in >> 4, out_high = out >> 4;
    Bins<C>::exchange(coarse + 16 * i, steps<C>.of[static_cast<std::size_t>(in_high)].data(),
                      steps<C>.of[static_cast<std::size_t>(out_high)].data());
    Bins<C>::add(fine + 16 * (in_high * cells + i), steps<C>.of[static_cast<std::size_t>(in & 15)].data());
    Bins<C>::subtract(fine + 16 * (out_high * cells + i), steps<C>.of[static_cast<std::size_t>(out & 15)].data());
  }
}

// The fine counts of windows, of which those of one step are up to date after `at`.
template <class C>
class FineCounts {
 public:
  FineCounts(const ColumnCounts<C>& counts, std::int64_t size) : counts_(counts), size_(size) { seen_.fill(-1); }
  // Of the window from cell x on, after those of earlier ones. A zero is before the bins, so that the count below bin
  // 0 needs no branch.
  HWY_INLINE const C* at(std::size_t high, std::int64_t x) {
    C* const fine = store_.data() + 32 * high + 32;
    const C* const column = counts_.fine + 16 * static_cast<std::int64_t>(high) * counts_.cells;
    const std::int64_t gap = x - seen_[high];
    if (gap == 1 && x > 0) {
      Bins<C>::exchange(fine, column + 16 * (x + size_ - 1), column + 16 * (x - 1));
    } else if (seen_[high] >= 0 && 2 * gap < size_) {
      for (std::int64_t i = seen_[high]; i < x; ++i)
        Bins<C>::exchange(fine, column + 16 * (i + size_), column + 16 * i);
    } else {
      std::memset(fine, 0, 16 * sizeof(C));
      for (std::int64_t i = x; i < x + size_; ++i) Bins<C>::add(fine, column + 16 * i);
    }
    seen_[high] = x;
    return fine;
  }

 private:
  const ColumnCounts<C>& counts_;
  std::int64_t size_;
  alignas(64) std::array<C, 17 * 32> store_{};
  std::array<std::int64_t, 16> seen_;  // the window that a step's counts are of
};

// visit(x, coarse): the coarse counts of each window, with a zero before the bins.
template <class C, class Visit>
HWY_INLINE void for_coarse(const ColumnCounts<C>& counts, std::int64_t size, std::int64_t windows, const Visit& visit) {
  alignas(64) std::array<C, 48> store{};
  C* const coarse = store.data() + 32;
  for (std::int64_t i = 0; i < size; ++i) Bins<C>::add(coarse, counts.coarse + 16 * i);
  for (std::int64_t x = 0; x < windows; ++x) {
    if (x > 0) Bins<C>::exchange(coarse, counts.coarse + 16 * (x + size - 1), counts.coarse + 16 * (x - 1));
    visit(x, coarse);
  }
}

template <class C>
void percentiles_of(const ColumnCounts<C>& counts, std::int64_t size, std::int64_t windows, double percent,
                    std::uint32_t* HWY_RESTRICT n, std::uint8_t* HWY_RESTRICT level, std::uint32_t* HWY_RESTRICT rest) {
  FineCounts<C> fine_counts(counts, size);
  RankOf rank_of(percent);
  for_coarse(counts, size, windows, [&](std::int64_t x, const C* coarse) HWY_ATTR {
    const std::uint32_t pixels = coarse[15], rank = rank_of(pixels);
    n[x] = pixels;
    const std::size_t high = std::min<std::size_t>(15, Bins<C>::below(coarse, rank));
    const std::uint32_t left = rank - (coarse - 1)[high];
    const C* const fine = fine_counts.at(high, x);
    const std::size_t low = std::min<std::size_t>(15, Bins<C>::below(fine, left));
    level[x] = static_cast<std::uint8_t>(16 * high + low);
    if (rest != nullptr) rest[x] = left - (fine - 1)[low];
  });
}

template <class C>
void ranks_of(const ColumnCounts<C>& counts, std::int64_t size, std::int64_t windows,
              const std::uint8_t* HWY_RESTRICT centres, std::uint32_t* HWY_RESTRICT n,
              std::uint32_t* HWY_RESTRICT up_to) {
  FineCounts<C> fine_counts(counts, size);
  for_coarse(counts, size, windows, [&](std::int64_t x, const C* coarse) HWY_ATTR {
    n[x] = coarse[15];
    const std::size_t high = centres[x] >> 4;
    up_to[x] = static_cast<std::uint32_t>((coarse - 1)[high]) + fine_counts.at(high, x)[centres[x] & 15];
  });
}

// All counts of a window. Sum knows of each change.
template <class C, class Sum>
class AllCounts {
 public:
  AllCounts(const ColumnCounts<C>& counts, std::int64_t size, Sum& sum) : counts_(counts), size_(size), sum_(sum) {
    for (std::size_t high = 0; high < 16; ++high) {
      for (std::int64_t i = 0; i < size; ++i) Bins<C>::add(cumulative(high), column(high, i));
      changed(high);
    }
  }
  // To the window that begins with cell x, from the one before.
  HWY_INLINE void step(std::int64_t x) {
    const C* const entering = counts_.coarse + 16 * (x + size_ - 1);
    const C* const leaving = counts_.coarse + 16 * (x - 1);
    C before_entering = 0, before_leaving = 0;
    for (std::size_t high = 0; high < 16; ++high) {
      const bool has_none = entering[high] == before_entering && leaving[high] == before_leaving;
      before_entering = entering[high], before_leaving = leaving[high];
      if (has_none) continue;
      Bins<C>::exchange(cumulative(high), column(high, x + size_ - 1), column(high, x - 1));
      changed(high);
    }
  }

 private:
  HWY_INLINE C* cumulative(std::size_t high) { return cumulative_.data() + 32 * high + 32; }
  HWY_INLINE const C* column(std::size_t high, std::int64_t cell) const {
    return counts_.fine + 16 * (static_cast<std::int64_t>(high) * counts_.cells + cell);
  }
  HWY_INLINE void changed(std::size_t high) {
    const hn::CappedTag<C, 16> d;
    const auto lanes = hn::Lanes(d);
    const C* const up_to = cumulative(high);
    C* const plain = plain_.data() + 16 * high;
    alignas(64) std::array<C, 16> before;
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 16; i += lanes) {
      const auto old = hn::LoadU(d, plain + i);
      const auto now = hn::Sub(hn::LoadU(d, up_to + i), hn::LoadU(d, up_to + i - 1));
      std::array<std::uint8_t, 8> mask{};
      hn::StoreMaskBits(d, hn::Ne(old, now), mask.data());
      bits |= static_cast<std::uint32_t>(mask[0] | mask[1] << 8) << i;
      hn::StoreU(old, d, before.data() + i);
      hn::StoreU(now, d, plain + i);
    }
    if (bits != 0) sum_.change(high, before.data(), plain, bits);
  }

  const ColumnCounts<C>& counts_;
  std::int64_t size_;
  Sum& sum_;
  alignas(64) std::array<C, 17 * 32> cumulative_{};
  alignas(64) std::array<C, 256> plain_{};
};

template <class C, class Sum, class Visit>
HWY_INLINE void for_all_counts(const ColumnCounts<C>& counts, std::int64_t size, std::int64_t windows, Sum& sum,
                               std::uint32_t* HWY_RESTRICT n, const Visit& visit) {
  AllCounts<C, Sum> all(counts, size, sum);
  for_coarse(counts, size, windows, [&](std::int64_t x, const C* coarse) HWY_ATTR {
    if (x > 0) all.step(x);
    n[x] = coarse[15];
    visit(x);
  });
}

// The greatest count of each step, and all counts.
template <class C>
struct MostFrequent {
  alignas(64) std::array<C, 16> most{};
  const C* counts = nullptr;
  HWY_INLINE void change(std::size_t high, const C*, const C* now, std::uint32_t) {
    C greatest = 0;
    for (std::size_t i = 0; i < 16; ++i) greatest = std::max(greatest, now[i]);
    most[high] = greatest;
    counts = now - 16 * high;
  }
  HWY_INLINE static std::size_t first(const C* counts) {
    const C greatest = *std::max_element(counts, counts + 16);
    return static_cast<std::size_t>(std::find(counts, counts + 16, greatest) - counts);
  }
};

template <class C>
void modes_of(const ColumnCounts<C>& counts, std::int64_t size, std::int64_t windows, std::uint32_t* HWY_RESTRICT n,
              std::uint8_t* HWY_RESTRICT level) {
  MostFrequent<C> sum;
  for_all_counts(counts, size, windows, sum, n, [&](std::int64_t x) HWY_ATTR {
    const std::size_t high = MostFrequent<C>::first(sum.most.data());
    const std::size_t low = sum.most[high] == 0 ? 0 : MostFrequent<C>::first(sum.counts + 16 * high);
    level[x] = static_cast<std::uint8_t>(16 * high + low);
  });
}

// The levels that have pixels, and the sum of all.
template <class C>
struct Occupied {
  std::array<std::uint16_t, 16> levels{};
  std::uint64_t sum = 0;
  const C* counts = nullptr;
  HWY_INLINE void change(std::size_t high, const C* before, const C* now, std::uint32_t bits) {
    counts = now - 16 * high;
    for (; bits != 0; bits &= bits - 1) {
      const auto low = static_cast<std::size_t>(hwy::Num0BitsBelowLS1Bit_Nonzero32(bits));
      sum += (16 * high + low) * (static_cast<std::uint64_t>(now[low]) - before[low]);
      const auto bit = static_cast<std::uint16_t>(1U << low);
      levels[high] = static_cast<std::uint16_t>(now[low] != 0 ? levels[high] | bit : levels[high] & ~bit);
    }
  }
};

template <class C>
void splits_of(const ColumnCounts<C>& counts, std::int64_t size, std::int64_t windows, bool zeros_alone,
               std::uint32_t* HWY_RESTRICT n, std::uint8_t* HWY_RESTRICT level) {
  Occupied<C> occupied;
  for_all_counts(counts, size, windows, occupied, n, [&](std::int64_t x) HWY_ATTR {
    formulas::BestSplit best(n[x], occupied.sum);
    std::uint64_t k = 0, s = 0;
    for (std::size_t high = 0; high < 16; ++high)
      for (std::uint32_t bits = occupied.levels[high]; bits != 0; bits &= bits - 1) {
        const std::size_t at = 16 * high + static_cast<std::size_t>(hwy::Num0BitsBelowLS1Bit_Nonzero32(bits));
        k += occupied.counts[at], s += at * occupied.counts[at];
        if (k < n[x] && (at > 0 || zeros_alone)) best.offer(static_cast<std::uint32_t>(at), k, s);
      }
    level[x] = static_cast<std::uint8_t>(best.level());
  });
}

template <class C>
struct Terms {
  const EntropyTerms& terms;
  TermSum<C> sum = 0;
  HWY_INLINE void change(std::size_t, const C* before, const C* now, std::uint32_t bits) {
    for (; bits != 0; bits &= bits - 1) {
      const auto low = static_cast<std::size_t>(hwy::Num0BitsBelowLS1Bit_Nonzero32(bits));
      sum += terms.of(now[low]) - terms.of(before[low]);
    }
  }
};

template <class C>
void entropies_of(const ColumnCounts<C>& counts, std::int64_t size, std::int64_t windows, const EntropyTerms& terms,
                  std::uint32_t* HWY_RESTRICT n, double* HWY_RESTRICT entropy) {
  Terms<C> sum{terms};
  for_all_counts(counts, size, windows, sum, n, [&](std::int64_t x) HWY_ATTR {
    entropy[x] = n[x] == 0 ? 0 : formulas::entropy_of(terms.of(static_cast<C>(n[x])) - sum.sum, n[x]);
  });
}

// Of cumulative counts: a bit for each bin that has pixels.
template <class C>
HWY_INLINE std::uint32_t occupied_bins(const C* counts) {
  const hn::CappedTag<C, 16> d;
  const auto lanes = hn::Lanes(d);
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < 16; i += lanes) {
    std::array<std::uint8_t, 8> mask{};
    hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, counts + i), hn::LoadU(d, counts + i - 1)), mask.data());
    bits |= static_cast<std::uint32_t>(mask[0] | mask[1] << 8) << i;
  }
  return bits;
}

// sum + counts * weights. Weights have 37 bits, so that products with 16 bits of a count are exact, fused or not.
template <class D, class V>
HWY_INLINE V add_products(D d, hn::Vec<hn::Rebind<std::uint16_t, D>> counts, V weights, V sum) {
  const hn::Rebind<std::int32_t, D> words;
  return hn::MulAdd(hn::PromoteTo(d, hn::PromoteTo(words, counts)), weights, sum);
}
template <class D, class V>
HWY_INLINE V add_products(D d, hn::Vec<hn::Rebind<std::uint32_t, D>> counts, V weights, V sum) {
  const hn::Rebind<std::int32_t, D> words;
  const auto low = hn::And(hn::BitCast(words, counts), hn::Set(words, 0xffff)),
             high = hn::BitCast(words, hn::ShiftRight<16>(counts));
  return hn::MulAdd(hn::Mul(hn::PromoteTo(d, high), hn::Set(d, 65536.0)), weights,
                    hn::MulAdd(hn::PromoteTo(d, low), weights, sum));
}

// The upper half of numbers is added to the lower one.
template <std::size_t half>
HWY_INLINE void fold(double* numbers) {
  const hn::CappedTag<double, half> d;
  const auto lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < half; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d, numbers + i), hn::LoadU(d, numbers + i + half)), d, numbers + i);
}
// The sum of 16 numbers, in an order that no vector's length changes.
HWY_INLINE double total(double* numbers) {
  fold<8>(numbers);
  fold<4>(numbers);
  fold<2>(numbers);
  return numbers[0] + numbers[1];
}

template <class C>
void bilateral_of(const ColumnCounts<C>& counts, std::int64_t size, std::int64_t windows, const RangeWeights& weights,
                  const std::uint8_t* HWY_RESTRICT centres, std::uint32_t* HWY_RESTRICT n, double* HWY_RESTRICT mean) {
  const hn::CappedTag<double, 16> d;
  const hn::Rebind<C, decltype(d)> dc;
  const auto lanes = hn::Lanes(d);
  FineCounts<C> fine_counts(counts, size);
  alignas(64) std::array<double, 16> sums, moments;
  std::array<const C*, 16> fine;
  std::array<std::size_t, 16> levels;
  for_coarse(counts, size, windows, [&](std::int64_t x, const C* coarse) HWY_ATTR {
    const std::uint8_t p = centres[x];
    std::size_t groups = 0;
    for (std::uint32_t bits = occupied_bins(coarse) & weights.groups(p); bits != 0; bits &= bits - 1) {
      const auto high = static_cast<std::size_t>(hwy::Num0BitsBelowLS1Bit_Nonzero32(bits));
      fine[groups] = fine_counts.at(high, x), levels[groups++] = 16 * high;
    }
    const double* const weight = weights.weights(p);
    const double* const moment = weights.moments(p);
    for (std::size_t i = 0; i < 16; i += lanes) {
      auto sum = hn::Zero(d), first = hn::Zero(d);
      for (std::size_t g = 0; g < groups; ++g) {
        const auto of_level = hn::Sub(hn::LoadU(dc, fine[g] + i), hn::LoadU(dc, fine[g] + i - 1));
        sum = add_products(d, of_level, hn::LoadU(d, weight + levels[g] + i), sum);
        first = add_products(d, of_level, hn::LoadU(d, moment + levels[g] + i), first);
      }
      hn::Store(sum, d, sums.data() + i);
      hn::Store(first, d, moments.data() + i);
    }
    const double all = total(sums.data());
    n[x] = all > 0 ? static_cast<std::uint32_t>(coarse[15]) : 0;
    mean[x] = p + total(moments.data()) / all;
  });
}

template <class C>
inline constexpr ColumnKernels<C> column_set = {add_levels<C>, step_levels<C>, percentiles_of<C>, ranks_of<C>,
                                                modes_of<C>,   splits_of<C>,   entropies_of<C>,   bilateral_of<C>};

std::int64_t find_cell_of(const std::uint16_t* HWY_RESTRICT x, const std::uint16_t* HWY_RESTRICT y, std::int64_t n,
                          std::uint16_t left, std::uint16_t top, std::uint16_t width, std::uint16_t height,
                          std::uint32_t rest) {
  const hn::ScalableTag<std::uint16_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto first_x = hn::Set(d, left), first_y = hn::Set(d, top), columns = hn::Set(d, width),
             rows = hn::Set(d, height);
  std::int64_t i = 0;
  std::uint32_t seen = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto inside = hn::And(hn::Lt(hn::Sub(hn::LoadU(d, x + i), first_x), columns),
                                hn::Lt(hn::Sub(hn::LoadU(d, y + i), first_y), rows));
    const auto more = static_cast<std::uint32_t>(hn::CountTrue(d, inside));
    if (seen + more > rest) break;
    seen += more;
  }
  for (; i < n; ++i) {
    const bool inside =
        static_cast<std::uint16_t>(x[i] - left) < width && static_cast<std::uint16_t>(y[i] - top) < height;
    if (inside && seen++ == rest) return i;
  }
  return n - 1;
}

}  // namespace
const ColumnKernels<std::uint16_t>* short_kernels() { return &column_set<std::uint16_t>; }
const ColumnKernels<std::uint32_t>* long_kernels() { return &column_set<std::uint32_t>; }
FindCell find_cell_kernel() { return find_cell_of; }
}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
HWY_EXPORT(short_kernels);
HWY_EXPORT(long_kernels);
HWY_EXPORT(find_cell_kernel);

template <>
const ColumnKernels<std::uint16_t>& column_kernels() {
  return *HWY_DYNAMIC_DISPATCH(short_kernels)();
}
template <>
const ColumnKernels<std::uint32_t>& column_kernels() {
  return *HWY_DYNAMIC_DISPATCH(long_kernels)();
}
FindCell find_cell() { return HWY_DYNAMIC_DISPATCH(find_cell_kernel)(); }

}  // namespace areal::cpu
#endif
