#include "cpu/filter/column_counts.hpp"
#include <algorithm>
#include <array>
#include <cstring>
#include "cpu/filter/rank_rows.hpp"

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

template <class C>
void percentiles_of(const ColumnCounts<C>& counts, std::int64_t size, std::int64_t windows, double percent,
                    std::uint32_t* HWY_RESTRICT n, std::uint8_t* HWY_RESTRICT level, std::uint32_t* HWY_RESTRICT rest) {
  // A zero before the bins, so that the count below bin 0 needs no branch.
  alignas(64) std::array<C, 48> coarse_store{};
  alignas(64) std::array<C, 17 * 32> fine_store{};
  std::array<std::int64_t, 16> at;  // the window that a fine step's counts are of
  at.fill(-1);
  C* const coarse = coarse_store.data() + 32;
  const std::int64_t cells = counts.cells;
  RankOf rank_of(percent);
  for (std::int64_t i = 0; i < size; ++i) Bins<C>::add(coarse, counts.coarse + 16 * i);
  for (std::int64_t x = 0; x < windows; ++x) {
    if (x > 0) Bins<C>::exchange(coarse, counts.coarse + 16 * (x + size - 1), counts.coarse + 16 * (x - 1));
    const std::uint32_t pixels = coarse[15], rank = rank_of(pixels);
    n[x] = pixels;
    const std::size_t high = std::min<std::size_t>(15, Bins<C>::below(coarse, rank));
    const std::uint32_t left = rank - (coarse - 1)[high];
    C* const fine = fine_store.data() + 32 * high + 32;
    const C* const column = counts.fine + 16 * static_cast<std::int64_t>(high) * cells;
    const std::int64_t gap = x - at[high];
    if (gap == 1 && x > 0) {
      Bins<C>::exchange(fine, column + 16 * (x + size - 1), column + 16 * (x - 1));
    } else if (at[high] >= 0 && 2 * gap < size) {
      for (std::int64_t i = at[high]; i < x; ++i) Bins<C>::exchange(fine, column + 16 * (i + size), column + 16 * i);
    } else {
      std::memset(fine, 0, 16 * sizeof(C));
      for (std::int64_t i = x; i < x + size; ++i) Bins<C>::add(fine, column + 16 * i);
    }
    at[high] = x;
    const std::size_t low = std::min<std::size_t>(15, Bins<C>::below(fine, left));
    level[x] = static_cast<std::uint8_t>(16 * high + low);
    if (rest != nullptr) rest[x] = left - (fine - 1)[low];
  }
}

template <class C>
inline constexpr ColumnKernels<C> column_set = {add_levels<C>, step_levels<C>, percentiles_of<C>};

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
