#include "cpu/filter/block_rows.hpp"
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include "formulas/block_order.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/filter/block_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

struct Sum {
  using Element = double;
  static double neutral() { return 0; }
  static double merge(double a, double b) { return a + b; }
};
struct MergedMoments {
  using Element = formulas::Moments;
  static formulas::Moments neutral() { return {}; }
  static formulas::Moments merge(const formulas::Moments& a, const formulas::Moments& b) {
    return formulas::merged(a, b);
  }
};
// A NaN of either side wins.
template <class T>
struct Least {
  using Element = T;
  static T neutral() {
    return std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
  static T merge(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return std::isnan(a) ? a : b >= a ? a : b;
    return b < a ? b : a;
  }
};
template <class T>
struct Most {
  using Element = T;
  static T neutral() {
    return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  }
  static T merge(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return std::isnan(a) ? a : b <= a ? a : b;
    return b > a ? b : a;
  }
};

template <class M>
void clear(void* to, std::int64_t n) {
  std::fill_n(static_cast<typename M::Element*>(to), n, M::neutral());
}

template <class M>
void merge_rows(void* to, const void* a, const void* b, std::int64_t n) {
  using T = typename M::Element;
  T* const out = static_cast<T*>(to);
  const T* const left = static_cast<const T*>(a);
  const T* const right = static_cast<const T*>(b);
  for (std::int64_t i = 0; i < n; ++i) out[i] = M::merge(left[i], right[i]);
}

template <class M>
void merge_three_rows(void* to, const void* a, const void* b, const void* c, std::int64_t n) {
  using T = typename M::Element;
  T* HWY_RESTRICT out = static_cast<T*>(to);
  const T* HWY_RESTRICT first = static_cast<const T*>(a);
  const T* HWY_RESTRICT second = static_cast<const T*>(b);
  const T* HWY_RESTRICT third = static_cast<const T*>(c);
  for (std::int64_t i = 0; i < n; ++i) out[i] = M::merge(M::merge(first[i], second[i]), third[i]);
}

// The sums from the beginning and the end of every block, and the blocks' totals.
template <class M, std::int64_t block>
void sums_of_blocks(const BlockWindows& of, const typename M::Element* HWY_RESTRICT row, const BlockScratch& scratch) {
  using T = typename M::Element;
  T* HWY_RESTRICT prefix = static_cast<T*>(scratch.prefix);
  T* HWY_RESTRICT suffix = static_cast<T*>(scratch.suffix);
  T* HWY_RESTRICT total = static_cast<T*>(scratch.total);
  for (std::int64_t begin = 0; begin < of.positions; begin += block) {
    T forwards = row[begin], backwards = row[begin + block - 1];
    prefix[begin] = forwards, suffix[begin + block - 1] = backwards;
    for (std::int64_t i = 1; i < block; ++i) {
      prefix[begin + i] = forwards = M::merge(forwards, row[begin + i]);
      suffix[begin + block - 1 - i] = backwards = M::merge(row[begin + block - 1 - i], backwards);
    }
    total[begin / block] = forwards;
  }
}

// The totals of the whole blocks between the first block of windows and their last one, by first block: of windows that
// begin in the first cells of a block, and of the others, which end one block later.
template <class M>
void between_blocks(std::int64_t blocks, std::int64_t between, const BlockScratch& scratch) {
  using T = typename M::Element;
  const T* HWY_RESTRICT total = static_cast<const T*>(scratch.total);
  T* HWY_RESTRICT some = static_cast<T*>(scratch.between);
  T* HWY_RESTRICT more = static_cast<T*>(scratch.longer);
  std::fill_n(some, blocks, M::neutral());
  for (std::int64_t k = 1; k <= between; ++k)
    for (std::int64_t b = 0; b + k < blocks; ++b) some[b] = M::merge(some[b], total[b + k]);
  for (std::int64_t b = 0; b < blocks; ++b)
    more[b] = b + between + 1 < blocks ? M::merge(some[b], total[b + between + 1]) : some[b];
}

#if HWY_TARGET != HWY_SCALAR && HWY_MAJOR >= 1
#define AREAL_HAS_SUMS_ACROSS 1
// The windows of `lanes` blocks from block b on: in the buffer, every other block comes first.
void put_blocks(const BlockWindows& of, std::int64_t b, std::int64_t lanes, const double* buffer, double* out) {
  const std::int64_t n = of.outputs;
  for (std::int64_t i = 0; i < lanes; ++i) {
    const double* const from = buffer + (i % 2) * 4 * lanes + i / 2 * 8;
    const std::int64_t at = 8 * (b + i) - of.first;
    if (at >= 0 && at + 8 <= n)
      std::copy_n(from, 8, out + at);
    else
      for (std::int64_t k = std::max<std::int64_t>(0, -at); k < std::min<std::int64_t>(8, n - at); ++k)
        out[at + k] = from[k];
  }
}

// Sums of windows of more than 8, a vector of blocks at a time: scratch.prefix and scratch.suffix hold the sums of all
// blocks' first cells, then of all second cells, and so on, in whole cache lines.
void sums_across(const BlockWindows& of, const double* HWY_RESTRICT row, const BlockScratch& scratch,
                 double* HWY_RESTRICT out) {
  const hn::ScalableTag<double> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t blocks = of.positions / 8, pitch = (blocks + 7) / 8 * 8 + 8, last = of.size - 1, n = of.outputs;
  double* HWY_RESTRICT prefix = static_cast<double*>(scratch.prefix);
  double* HWY_RESTRICT suffix = static_cast<double*>(scratch.suffix);
  double* HWY_RESTRICT total = static_cast<double*>(scratch.total);
  std::int64_t block = 0;
  for (; block + lanes <= blocks; block += lanes) {
    V a0, a1, a2, a3, b0, b1, b2, b3;  // lane i of a0 is cell 0 of a block, then cell 4
    hn::LoadInterleaved4(d, row + 8 * block, a0, a1, a2, a3);
    hn::LoadInterleaved4(d, row + 8 * block + 4 * lanes, b0, b1, b2, b3);
    const V x0 = hn::ConcatEven(d, b0, a0), x1 = hn::ConcatEven(d, b1, a1), x2 = hn::ConcatEven(d, b2, a2),
            x3 = hn::ConcatEven(d, b3, a3), x4 = hn::ConcatOdd(d, b0, a0), x5 = hn::ConcatOdd(d, b1, a1),
            x6 = hn::ConcatOdd(d, b2, a2), x7 = hn::ConcatOdd(d, b3, a3);
    V sum = x0;
    double* to = prefix + block;
    hn::StoreU(sum, d, to);
    const auto forwards = [&](V x) HWY_ATTR {
      sum = hn::Add(sum, x);
      to += pitch;
      hn::StoreU(sum, d, to);
    };
    forwards(x1), forwards(x2), forwards(x3), forwards(x4), forwards(x5), forwards(x6), forwards(x7);
    hn::StoreU(sum, d, total + block);
    sum = x7;
    to = suffix + 7 * pitch + block;
    hn::StoreU(sum, d, to);
    const auto backwards = [&](V x) HWY_ATTR {
      sum = hn::Add(x, sum);
      to -= pitch;
      hn::StoreU(sum, d, to);
    };
    backwards(x6), backwards(x5), backwards(x4), backwards(x3), backwards(x2), backwards(x1), backwards(x0);
  }
  for (; block < blocks; ++block) {
    const double* const cell = row + 8 * block;
    double forwards = cell[0], backwards = cell[7];
    prefix[block] = forwards, suffix[7 * pitch + block] = backwards;
    for (std::int64_t i = 1; i < 8; ++i) {
      prefix[i * pitch + block] = forwards = forwards + cell[i];
      suffix[(7 - i) * pitch + block] = backwards = cell[7 - i] + backwards;
    }
    total[block] = forwards;
  }
  const std::int64_t away = last / 8, rest = last % 8;
  between_blocks<Sum>(blocks, away - 1, scratch);
  const double* const some = static_cast<const double*>(scratch.between);
  const double* const more = static_cast<const double*>(scratch.longer);
  HWY_ALIGN double buffer[8 * hn::MaxLanes(d)];
  for (std::int64_t b = 0; 8 * b < of.first + n; b += lanes) {
    const V shorter = hn::LoadU(d, some + b), longer = hn::LoadU(d, more + b);
    const auto windows = [&](std::int64_t cell) HWY_ATTR {
      const bool turns = cell + rest >= 8;
      const std::int64_t end = turns ? cell + rest - 8 : cell + rest, ends = b + away + (turns ? 1 : 0);
      return hn::Add(hn::Add(hn::LoadU(d, suffix + cell * pitch + b), turns ? longer : shorter),
                     hn::LoadU(d, prefix + end * pitch + ends));
    };
    const V v0 = windows(0), v1 = windows(1), v2 = windows(2), v3 = windows(3), v4 = windows(4), v5 = windows(5),
            v6 = windows(6), v7 = windows(7);
    // Every other block, then those between.
    hn::StoreInterleaved4(hn::InterleaveLower(d, v0, v4), hn::InterleaveLower(d, v1, v5),
                          hn::InterleaveLower(d, v2, v6), hn::InterleaveLower(d, v3, v7), d, buffer);
    hn::StoreInterleaved4(hn::InterleaveUpper(d, v0, v4), hn::InterleaveUpper(d, v1, v5),
                          hn::InterleaveUpper(d, v2, v6), hn::InterleaveUpper(d, v3, v7), d, buffer + 4 * lanes);
    put_blocks(of, b, lanes, buffer, out);
  }
}

// Sums of windows of up to 8. Those that end in the next block add the cells of their first block from the last one on,
// and then the sum of the others. -0 changes nothing where it is added.
template <int size>
void near_sums(const BlockWindows& of, const double* HWY_RESTRICT row, double* HWY_RESTRICT out) {
  const hn::CappedTag<double, 8> d;
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  // Cells of a window's first block, if it ends in the next; else 0.
  const auto split = [&](std::int64_t i) {
    const std::int64_t cell = (of.first + i) % 8;
    return cell + size > 8 ? 8 - cell : 0;
  };
  // By output, of eight: whether cell k of its window is among those that it adds first, and among the others.
  const double yes = std::bit_cast<double>(~std::uint64_t{0});
  HWY_ALIGN double before[size][8], after[size][8], whole[8];
  for (std::int64_t i = 0; i < 8; ++i) {
    whole[i] = split(i) > 0 ? 0.0 : -0.0;  // of the blocks between
    for (int k = 0; k < size; ++k) before[k][i] = k < split(i) ? yes : 0, after[k][i] = k < split(i) ? 0 : yes;
  }
  std::int64_t begin = 0;
  for (; begin + 8 <= of.outputs; begin += 8)
    for (std::int64_t i = 0; i < 8; i += lanes) {
      const double* const cells = row + of.first + begin + i;
      const auto is = [&](const double* marks) HWY_ATTR { return hn::MaskFromVec(hn::Load(d, marks + i)); };
      auto first = hn::Set(d, -0.0), rest = first;
      for (int k = size - 2; k >= 0; --k)
        first = hn::IfThenElse(is(before[k]), hn::Add(hn::LoadU(d, cells + k), first), first);
      for (int k = 0; k < size; ++k) rest = hn::IfThenElse(is(after[k]), hn::Add(rest, hn::LoadU(d, cells + k)), rest);
      hn::StoreU(hn::Add(hn::Add(first, hn::Load(d, whole + i)), rest), d, out + begin + i);
    }
  for (; begin < of.outputs; ++begin) {
    const double* const cells = row + of.first + begin;
    double first = -0.0, rest = -0.0;
    for (std::int64_t k = split(begin) - 1; k >= 0; --k) first = cells[k] + first;
    for (std::int64_t k = split(begin); k < size; ++k) rest += cells[k];
    out[begin] = split(begin) > 0 ? first + 0.0 + rest : rest;
  }
}
#endif

template <class M, std::int64_t block>
void windows_of(const BlockWindows& of, const void* from, const BlockScratch& scratch, void* to) {
  using T = typename M::Element;
  const T* HWY_RESTRICT row = static_cast<const T*>(from);
  T* HWY_RESTRICT out = static_cast<T*>(to);
  const std::int64_t last = of.size - 1, n = of.outputs;
  if (last == 0) {
    std::copy_n(row + of.first, n, out);
    return;
  }
#ifdef AREAL_HAS_SUMS_ACROSS
  if constexpr (std::is_same_v<M, Sum> && block == 8) switch (of.size) {
      case 2:
        return near_sums<2>(of, row, out);
      case 3:
        return near_sums<3>(of, row, out);
      case 4:
        return near_sums<4>(of, row, out);
      case 5:
        return near_sums<5>(of, row, out);
      case 6:
        return near_sums<6>(of, row, out);
      case 7:
        return near_sums<7>(of, row, out);
      case 8:
        return near_sums<8>(of, row, out);
      default:
        return sums_across(of, row, scratch, out);
    }
#endif
  sums_of_blocks<M, block>(of, row, scratch);
  const T* HWY_RESTRICT prefix = static_cast<const T*>(scratch.prefix) + of.first + last;
  const T* HWY_RESTRICT suffix = static_cast<const T*>(scratch.suffix) + of.first;
  const std::int64_t blocks = of.positions / block, between = last / block - 1, rest = last % block;
  T* HWY_RESTRICT whole = static_cast<T*>(scratch.whole);
  if (between < 0) {  // a window spans one block or two
    std::fill_n(whole, n, M::neutral());
  } else {
    between_blocks<M>(blocks, between, scratch);
    const T* HWY_RESTRICT some = static_cast<const T*>(scratch.between);
    const T* HWY_RESTRICT more = static_cast<const T*>(scratch.longer);
    // Windows that begin in the first cells of a block end in the block before those of the others.
    for (std::int64_t i = 0; i < n;) {
      const std::int64_t b = (of.first + i) / block, cell = (of.first + i) % block;
      const std::int64_t end = std::min(n, i + block - cell), turn = std::clamp(i + block - rest - cell, i, end);
      for (; i < turn; ++i) whole[i] = some[b];
      for (; i < end; ++i) whole[i] = more[b];
    }
  }
  for (std::int64_t i = 0; i < n; ++i) out[i] = M::merge(M::merge(suffix[i], whole[i]), prefix[i]);
  if (of.size > block) return;
  for (std::int64_t i = 0; i < n; ++i) {  // inside one block
    if ((of.first + i) % block + last >= block) continue;
    const T* const cell = row + of.first + i;
    T value = cell[0];
    for (std::int64_t k = 1; k <= last; ++k) value = M::merge(value, cell[k]);
    out[i] = value;
  }
}

template <class M>
void windows_along(const BlockWindows& of, const void* row, const BlockScratch& scratch, void* out) {
  if (of.block == 8) return windows_of<M, 8>(of, row, scratch, out);
  windows_of<M, 64>(of, row, scratch, out);
}

template <class M>
void spread_row(const void* row, const std::int32_t* positions, std::int64_t n, void* to) {
  using T = typename M::Element;
  const T* const from = static_cast<const T*>(row);
  T* const out = static_cast<T*>(to);
  for (std::int64_t i = 0; i < n; ++i) out[i] = from[positions[i]];
}

template <class M>
inline constexpr BlockKernels block_set = {sizeof(typename M::Element), clear<M>,         merge_rows<M>,
                                           merge_three_rows<M>,         windows_along<M>, spread_row<M>};

template <template <class> class M>
const BlockKernels* extremes_of(Type type) {
  switch (type) {
    case Type::u8:
      return &block_set<M<std::uint8_t>>;
    case Type::s8:
      return &block_set<M<std::int8_t>>;
    case Type::u16:
      return &block_set<M<std::uint16_t>>;
    case Type::s16:
      return &block_set<M<std::int16_t>>;
    case Type::u32:
      return &block_set<M<std::uint32_t>>;
    case Type::s32:
      return &block_set<M<std::int32_t>>;
    case Type::u64:
      return &block_set<M<std::uint64_t>>;
    case Type::s64:
      return &block_set<M<std::int64_t>>;
    case Type::f64:
      return &block_set<M<double>>;
    default:
      return &block_set<M<float>>;
  }
}

}  // namespace

const BlockKernels* block_kernels_of(Merge merge, Type type) {
  switch (merge) {
    case Merge::sum:
      return &block_set<Sum>;
    case Merge::moments:
      return &block_set<MergedMoments>;
    case Merge::minimum:
      return extremes_of<Least>(type);
    default:
      return extremes_of<Most>(type);
  }
}

#undef AREAL_HAS_SUMS_ACROSS
}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
HWY_EXPORT(block_kernels_of);
const BlockKernels& block_kernels(Merge merge, Type extremes) {
  return *HWY_DYNAMIC_DISPATCH(block_kernels_of)(merge, extremes);
}
}  // namespace areal::cpu
#endif
