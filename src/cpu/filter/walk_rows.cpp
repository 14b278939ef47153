#include "cpu/filter/walk_rows.hpp"
#include <algorithm>
#include <cmath>
#include <type_traits>
#include "cpu/query/modular.hpp"
#include "formulas/rounding.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/filter/walk_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "cpu/query/window_output-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace {

// ---- Sums of columns

template <class In, class Sum, Power power>
Sum summed(In pixel) {
  if constexpr (power == Power::pixel) {
    return static_cast<Sum>(static_cast<std::make_signed_t<Sum>>(pixel));
  } else {
    // Two's complement: the low bits of a square do not depend on how a negative pixel is extended.
    using Square = std::conditional_t<sizeof(In) == 4, std::uint64_t, std::uint32_t>;
    const auto one = static_cast<Square>(static_cast<std::make_signed_t<Square>>(pixel));
    const Square square = one * one;
    if constexpr (power == Power::square) return static_cast<Sum>(square);
    if constexpr (power == Power::low_of_square) return static_cast<Sum>(square & 0xffffffffu);
    return static_cast<Sum>(static_cast<std::uint64_t>(square) >> 32);
  }
}

template <class In, class Sum, Power power>
void add_row(void* columns, const char* row, std::int64_t n, std::uint64_t times) {
  constexpr std::int64_t size = sizeof(In);
  Sum* HWY_RESTRICT sums = static_cast<Sum*>(columns);
  const auto factor = static_cast<Sum>(times);
  if (factor == 1)
    for (std::int64_t i = 0; i < n; ++i) sums[i] += summed<In, Sum, power>(load<In>(row + i * size));
  else
    for (std::int64_t i = 0; i < n; ++i) sums[i] += factor * summed<In, Sum, power>(load<In>(row + i * size));
}

template <class In, class Sum, Power power>
void step_rows(void* columns, const char* entering, const char* leaving, std::int64_t n) {
  constexpr std::int64_t size = sizeof(In);
  Sum* HWY_RESTRICT sums = static_cast<Sum*>(columns);
  for (std::int64_t i = 0; i < n; ++i)
    sums[i] +=
        summed<In, Sum, power>(load<In>(entering + i * size)) - summed<In, Sum, power>(load<In>(leaving + i * size));
}

// ---- Prefix sums along a row

#if HWY_TARGET <= HWY_SSE4  // others have no cheap permutations
// A vector at a time: the sums of 2, 4, 8, .. neighbours, then those of the vectors before.
template <int known>
void prefix_vectors(const std::uint32_t* HWY_RESTRICT columns, std::uint32_t* HWY_RESTRICT prefix, std::int64_t n) {
  std::int64_t i = 0;
  std::fill_n(prefix, known, 0u);
  const hn::ScalableTag<std::uint32_t> d;
  constexpr int most = static_cast<int>(hn::MaxLanes(d));
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  HWY_ALIGN std::int32_t from[5][most];
  HWY_ALIGN std::uint32_t keep[4][most];
  for (int l = 0; l < most; ++l) {
    for (int k = 0; k < 4; ++k) {
      const int before = l - known * (1 << k);
      from[k][l] = before < 0 ? 0 : before;
      keep[k][l] = before < 0 ? 0u : ~0u;
    }
    from[4][l] = most - known + l % known;
  }
  const auto from_1 = hn::SetTableIndices(d, from[0]), from_2 = hn::SetTableIndices(d, from[1]),
             from_4 = hn::SetTableIndices(d, from[2]), from_8 = hn::SetTableIndices(d, from[3]),
             last = hn::SetTableIndices(d, from[4]);
  const auto keep_1 = hn::Load(d, keep[0]), keep_2 = hn::Load(d, keep[1]), keep_4 = hn::Load(d, keep[2]),
             keep_8 = hn::Load(d, keep[3]);
  auto carry = hn::Zero(d);
  for (; i + lanes <= n; i += lanes) {
    auto sum = hn::LoadU(d, columns + i);
    if constexpr (known < most) sum = hn::Add(sum, hn::And(keep_1, hn::TableLookupLanes(sum, from_1)));
    if constexpr (2 * known < most) sum = hn::Add(sum, hn::And(keep_2, hn::TableLookupLanes(sum, from_2)));
    if constexpr (4 * known < most) sum = hn::Add(sum, hn::And(keep_4, hn::TableLookupLanes(sum, from_4)));
    if constexpr (8 * known < most) sum = hn::Add(sum, hn::And(keep_8, hn::TableLookupLanes(sum, from_8)));
    sum = hn::Add(sum, carry);
    hn::StoreU(sum, d, prefix + known + i);
    carry = hn::TableLookupLanes(sum, last);
  }
  for (; i < n; ++i) prefix[i + known] = prefix[i] + columns[i];
}
#endif

template <class Sum, int known>
void prefix_of(const Sum* HWY_RESTRICT columns, Sum* HWY_RESTRICT prefix, std::int64_t n) {
#if HWY_TARGET <= HWY_SSE4
  if constexpr (sizeof(Sum) == 4) return prefix_vectors<known>(columns, prefix, n);
#endif
  Sum sum[known] = {};
  for (int c = 0; c < known; ++c) prefix[c] = 0;
  for (std::int64_t i = 0; i < n; i += known)
    for (int c = 0; c < known; ++c) prefix[i + known + c] = sum[c] += columns[i + c];
}

template <class Sum>
void prefix_row(const void* columns, void* prefix, std::int64_t n, std::int64_t channels) {
  const Sum* const from = static_cast<const Sum*>(columns);
  Sum* const to = static_cast<Sum*>(prefix);
  switch (channels) {
    case 1:
      return prefix_of<Sum, 1>(from, to, n);
    case 2:
      return prefix_of<Sum, 2>(from, to, n);
    case 3:
      return prefix_of<Sum, 3>(from, to, n);
    case 4:
      return prefix_of<Sum, 4>(from, to, n);
    default:
      std::fill_n(to, channels, Sum{0});
      for (std::int64_t i = 0; i < n; ++i) to[i + channels] = to[i] + from[i];
  }
}

// Prefix sums beyond the image follow from those inside: a copy of the image adds its total, a reversed copy subtracts
// what is left of it.
template <class Sum>
void boundary_row(const Boundary& of, const void* prefix_sums, void* out) {
  const Sum* HWY_RESTRICT prefix = static_cast<const Sum*>(prefix_sums);
  Sum* HWY_RESTRICT to = static_cast<Sum*>(out);
  const std::int64_t width = of.axis.extent, channels = of.channels, end = of.first + of.n;
  const auto at = [&](std::int64_t x, std::int64_t c) { return prefix[x * channels + c]; };
  Edge edge = of.axis.edge;
  if (edge == Edge::reflect && width == 1) edge = Edge::replicate;
  const bool turns = edge == Edge::reflect || edge == Edge::symmetric, repeats = turns || edge == Edge::wrap;
  const std::int64_t shared = edge == Edge::reflect ? 1 : 0;  // pixels that a copy and its mirror image share
  const std::int64_t period = edge == Edge::wrap ? width : 2 * (width - shared);
  for (std::int64_t v = of.first; v < end;) {
    std::int64_t copies = 0, x = v;  // column v is column x of a period, after so many periods
    if (repeats && (v < 0 || v > width)) {
      copies = v >= 0 ? v / period : -((period - 1 - v) / period);
      x = v - copies * period;
    }
    if (x >= 0 && x <= width) {
      const std::int64_t run = std::min(end - v, (copies != 0 ? std::min(width, period - 1) : width) - x + 1);
      if (copies == 0) {
        std::copy_n(prefix + x * channels, run * channels, to);
      } else {
        for (std::int64_t c = 0; c < channels; ++c) {
          const Sum of_period = turns ? at(width, c) + at(width - shared, c) - at(shared, c) : at(width, c);
          const Sum base = static_cast<Sum>(copies) * of_period;
          for (std::int64_t i = 0; i < run; ++i) to[i * channels + c] = base + at(x + i, c);
        }
      }
      v += run, to += run * channels;
    } else if (repeats) {  // in a mirror image, which the prefix sums run through backwards
      const std::int64_t run = std::min(end - v, period - x), mirrored = 2 * width - shared - x;
      for (std::int64_t c = 0; c < channels; ++c) {
        const Sum total = at(width, c) + at(width - shared, c);
        const Sum base = static_cast<Sum>(copies) * (total - at(shared, c)) + total;
        for (std::int64_t i = 0; i < run; ++i) to[i * channels + c] = base - at(mirrored - i, c);
      }
      v += run, to += run * channels;
    } else {
      const bool left = v < 0;
      const std::int64_t run = left ? std::min<std::int64_t>(end, 0) - v : end - v;
      for (std::int64_t c = 0; c < channels; ++c) {
        const Sum start = left ? Sum{0} : at(width, c);
        Sum slope = edge == Edge::constant ? static_cast<Sum>(of.beyond) : Sum{0};
        if (edge == Edge::replicate) slope = left ? at(1, c) : at(width, c) - at(width - 1, c);
        const auto outside = static_cast<Sum>(left ? v : v - width);
        for (std::int64_t i = 0; i < run; ++i) to[i * channels + c] = start + (outside + static_cast<Sum>(i)) * slope;
      }
      v += run, to += run * channels;
    }
  }
}

template <class Sum, bool is_signed>
std::uint64_t widened(Sum sum) {
  if constexpr (is_signed)
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::make_signed_t<Sum>>(sum)));
  else
    return sum;
}

template <class Sum, bool is_signed>
void window_reals(const void* left, const void* right, std::int64_t n, double* HWY_RESTRICT out) {
  const Sum* HWY_RESTRICT from = static_cast<const Sum*>(left);
  const Sum* HWY_RESTRICT to = static_cast<const Sum*>(right);
  for (std::int64_t i = 0; i < n; ++i) {
    const Sum sum = to[i] - from[i];
    if constexpr (sizeof(Sum) == 8)
      out[i] = real_of<is_signed>(sum);
    else if constexpr (is_signed)
      out[i] = static_cast<double>(static_cast<std::int32_t>(sum));
    else
      out[i] = static_cast<double>(sum);
  }
}

template <class Sum, bool is_signed>
void window_integers(const void* left, const void* right, std::int64_t n, std::uint64_t* HWY_RESTRICT out) {
  const Sum* HWY_RESTRICT from = static_cast<const Sum*>(left);
  const Sum* HWY_RESTRICT to = static_cast<const Sum*>(right);
  for (std::int64_t i = 0; i < n; ++i) out[i] = widened<Sum, is_signed>(to[i] - from[i]);
}

template <class In, class Sum, Power power>
inline constexpr TermKernels term_set = {sizeof(Sum),
                                         add_row<In, Sum, power>,
                                         step_rows<In, Sum, power>,
                                         prefix_row<Sum>,
                                         boundary_row<Sum>,
                                         window_reals<Sum, std::is_signed_v<In> && power == Power::pixel>,
                                         window_integers<Sum, std::is_signed_v<In> && power == Power::pixel>};

template <class In>
const TermKernels* term_of(Power power, bool wide) {
  if (power == Power::pixel)
    return wide ? &term_set<In, std::uint64_t, Power::pixel> : &term_set<In, std::uint32_t, Power::pixel>;
  if (power == Power::low_of_square) return &term_set<In, std::uint64_t, Power::low_of_square>;
  if (power == Power::high_of_square) return &term_set<In, std::uint64_t, Power::high_of_square>;
  if constexpr (sizeof(In) < 4)
    if (!wide) return &term_set<In, std::uint32_t, Power::square>;
  return &term_set<In, std::uint64_t, Power::square>;
}

const TermKernels* term(Type in, Power power, bool wide) {
  switch (in) {
    case Type::u8:
      return term_of<std::uint8_t>(power, wide);
    case Type::s8:
      return term_of<std::int8_t>(power, wide);
    case Type::u16:
      return term_of<std::uint16_t>(power, wide);
    case Type::s16:
      return term_of<std::int16_t>(power, wide);
    case Type::u32:
      return term_of<std::uint32_t>(power, wide);
    case Type::s32:
      return term_of<std::int32_t>(power, wide);
    default:
      return nullptr;
  }
}

// ---- Outputs from sums

void square_roots(double* values, std::int64_t n) {
  const hn::ScalableTag<double> d;  // std::sqrt may set errno, and is therefore not vectorised
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Sqrt(hn::LoadU(d, values + i)), d, values + i);
  for (; i < n; ++i) values[i] = std::sqrt(values[i]);
}

void variances(const Finish& finish, const WindowTerms& terms, std::int64_t n, double* HWY_RESTRICT values) {
  const double ddof = finish.ddof, none = std::numeric_limits<double>::quiet_NaN();
  for (std::int64_t i = 0; i < n; ++i) {
    const double count = terms.count[i], value = terms.numerator[i] / (count * (count - ddof));
    values[i] = count > ddof ? value : none;
  }
}

void means(const Finish& finish, const WindowTerms& terms, std::int64_t n, double* HWY_RESTRICT values) {
  if (finish.rounding == Rounding::opencv && finish.out == Type::f64 && !is_float(finish.in)) {
    for (std::int64_t i = 0; i < n; ++i) values[i] = terms.sum[i] * (1 / terms.count[i]);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) values[i] = terms.sum[i] / terms.count[i];
  if (finish.rounding != Rounding::opencv || finish.out != Type::u8 || size_of(finish.in) != 1) return;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto count = static_cast<std::uint64_t>(terms.count[i]);
    if (!formulas::FixedPointMean::serves(count)) continue;
    const auto sum = static_cast<std::uint64_t>(terms.sum[i] > 0 ? terms.sum[i] : 0);
    values[i] = formulas::FixedPointMean(static_cast<std::uint32_t>(count))(sum);
  }
}

template <filter::Local method>
void thresholds_by(const Finish& finish, const WindowTerms& terms, std::int64_t n, double* HWY_RESTRICT values) {
  formulas::LocalThreshold local = finish.local;
  local.method = method;  // known to the compiler
  if constexpr (method == filter::Local::mean || method == filter::Local::bradley) {
    for (std::int64_t i = 0; i < n; ++i) values[i] = local.threshold(terms.sum[i] / terms.count[i], 0);
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      const double count = terms.count[i], mean = terms.sum[i] / count;
      if constexpr (method == filter::Local::nick)
        values[i] = local.radicand(count, mean, 0, terms.squares[i]);
      else
        values[i] = terms.numerator[i] / (count * count);
    }
    square_roots(values, n);
    for (std::int64_t i = 0; i < n; ++i) values[i] = local.threshold(terms.sum[i] / terms.count[i], values[i]);
  }
}

void thresholds(const Finish& finish, const WindowTerms& terms, std::int64_t n, double* values) {
  using filter::Local;
  switch (finish.local.method) {
    case Local::mean:
      return thresholds_by<Local::mean>(finish, terms, n, values);
    case Local::bradley:
      return thresholds_by<Local::bradley>(finish, terms, n, values);
    case Local::niblack:
      return thresholds_by<Local::niblack>(finish, terms, n, values);
    case Local::sauvola:
      return thresholds_by<Local::sauvola>(finish, terms, n, values);
    case Local::wolf:
      return thresholds_by<Local::wolf>(finish, terms, n, values);
    default:
      return thresholds_by<Local::nick>(finish, terms, n, values);
  }
}

void finish_windows(const Finish& finish, const WindowTerms& terms, std::int64_t n, double* HWY_RESTRICT values) {
  switch (finish.statistic) {
    case Statistic::sum:
      std::copy_n(terms.sum, n, values);
      break;
    case Statistic::mean:
      means(finish, terms, n, values);
      break;
    case Statistic::count:
      std::copy_n(terms.count, n, values);
      break;
    case Statistic::variance:
    case Statistic::standard_deviation:
      variances(finish, terms, n, values);
      if (finish.statistic == Statistic::standard_deviation) square_roots(values, n);
      break;
    default:
      thresholds(finish, terms, n, values);
      if (finish.decides)
        for (std::int64_t i = 0; i < n; ++i) values[i] = terms.pixels[i] > values[i] ? finish.above : finish.below;
  }
  const double least = finish.min_count, fill = finish.fill;
  for (std::int64_t i = 0; i < n; ++i) values[i] = terms.count[i] < least ? fill : values[i];
}

// LocalThreshold::threshold of vectors.
template <filter::Local method, class D, class V>
V threshold_of(D d, const formulas::LocalThreshold& local, V mean, V root) {
  using filter::Local;
  const auto set = [&](double value) HWY_ATTR { return hn::Set(d, value); };
  const auto k = set(local.k), one = set(1);
  V value = mean;
  if constexpr (method == Local::bradley) value = hn::Mul(mean, set(1 - local.k));
  if constexpr (method == Local::niblack || method == Local::nick) value = hn::Add(mean, hn::Mul(k, root));
  if constexpr (method == Local::sauvola)
    value = hn::Mul(mean, hn::Add(one, hn::Mul(k, hn::Sub(hn::Div(root, set(local.r)), one))));
  if constexpr (method == Local::wolf) {
    const auto share = local.most_deviation > 0 ? hn::Div(root, set(local.most_deviation)) : hn::Zero(d);
    value = hn::Add(mean, hn::Mul(hn::Mul(k, hn::Sub(share, one)), hn::Sub(mean, set(local.least_pixel))));
  }
  return hn::Sub(value, set(local.offset));
}

template <Statistic statistic, filter::Local method>
void inner_of(const Finish& finish, const InnerSums& sums, std::int64_t n, double* HWY_RESTRICT values) {
  using filter::Local;
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::uint32_t, decltype(d)> du;
  const hn::RebindToSigned<decltype(du)> di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto count = hn::Set(d, sums.count), pairs = hn::Set(d, sums.count * (sums.count - finish.ddof));
  const auto above = hn::Set(d, finish.above), below = hn::Set(d, finish.below), zero = hn::Zero(d);
  const auto window = [&](const std::uint32_t* left, const std::uint32_t* right, std::int64_t i) HWY_ATTR {
    return hn::PromoteTo(d, hn::BitCast(di, hn::Sub(hn::LoadU(du, right + i), hn::LoadU(du, left + i))));
  };
  constexpr bool thresholds = statistic == Statistic::threshold;
  constexpr bool deviates = statistic == Statistic::variance || statistic == Statistic::standard_deviation ||
                            (thresholds && method != Local::mean && method != Local::bradley);
  for (std::int64_t i = 0; i < n; i += lanes) {
    const auto sum = window(sums.left, sums.right, i);
    auto value = sum, root = zero;
    if constexpr (deviates) {
      const auto squares = window(sums.squares_left, sums.squares_right, i);
      if constexpr (thresholds && method == Local::nick) {
        const auto mean = hn::Div(sum, count);
        root = hn::Sqrt(hn::Max(hn::Div(hn::Sub(squares, hn::Mul(mean, mean)), count), zero));
      } else {
        root = hn::Div(hn::Sub(hn::Mul(count, squares), hn::Mul(sum, sum)), pairs);
        if constexpr (statistic != Statistic::variance) root = hn::Sqrt(root);
      }
    }
    if constexpr (statistic == Statistic::mean) value = hn::Div(sum, count);
    if constexpr (statistic == Statistic::variance || statistic == Statistic::standard_deviation) value = root;
    if constexpr (thresholds) {
      value = threshold_of<method>(d, finish.local, hn::Div(sum, count), root);
      if (finish.decides) value = hn::IfThenElse(hn::Gt(hn::LoadU(d, sums.pixels + i), value), above, below);
    }
    hn::StoreU(value, d, values + i);
  }
}

void finish_inner(const Finish& finish, const InnerSums& sums, std::int64_t n, double* values) {
  using filter::Local;
  constexpr Local any = Local::mean;
  switch (finish.statistic) {
    case Statistic::sum:
      return inner_of<Statistic::sum, any>(finish, sums, n, values);
    case Statistic::mean:
      return inner_of<Statistic::mean, any>(finish, sums, n, values);
    case Statistic::variance:
      return inner_of<Statistic::variance, any>(finish, sums, n, values);
    case Statistic::standard_deviation:
      return inner_of<Statistic::standard_deviation, any>(finish, sums, n, values);
    default:
      break;
  }
  switch (finish.local.method) {
    case Local::mean:
      return inner_of<Statistic::threshold, Local::mean>(finish, sums, n, values);
    case Local::bradley:
      return inner_of<Statistic::threshold, Local::bradley>(finish, sums, n, values);
    case Local::niblack:
      return inner_of<Statistic::threshold, Local::niblack>(finish, sums, n, values);
    case Local::sauvola:
      return inner_of<Statistic::threshold, Local::sauvola>(finish, sums, n, values);
    case Local::wolf:
      return inner_of<Statistic::threshold, Local::wolf>(finish, sums, n, values);
    default:
      return inner_of<Statistic::threshold, Local::nick>(finish, sums, n, values);
  }
}

// Thresholds of some bytes in double.
template <filter::Local method>
void decide_exactly(const Finish& finish, const InnerSums& sums, const std::uint8_t* pixels, std::int64_t n,
                    std::uint8_t* out) {
  constexpr std::int64_t most = 64;
  double centres[most + 8], values[most + 8];
  for (std::int64_t i = 0; i < n; i += most) {
    const std::int64_t some = std::min(most, n - i);
    std::fill_n(std::copy_n(pixels + i, some, centres), 8, 0.0);
    const InnerSums part{sums.left + i,          sums.right + i, sums.squares_left + i,
                         sums.squares_right + i, sums.count,     centres};
    inner_of<Statistic::threshold, method>(finish, part, some, values);
    for (std::int64_t k = 0; k < some; ++k) out[i + k] = formulas::rounded<std::uint8_t>(values[k]);
  }
}

// Thresholds of bytes in single precision, whose errors are a few times 2^-24 of the magnitudes that are added up.
// Where the pixel is closer to its threshold than 2^-19 of these, double decides.
template <filter::Local method>
void decide_by(const Finish& finish, const InnerSums& sums, const std::uint8_t* pixels, std::int64_t n,
               std::uint8_t* HWY_RESTRICT out) {
  std::int64_t i = 0;
  const auto from = [&](std::int64_t at) {
    return InnerSums{sums.left + at,          sums.right + at, sums.squares_left + at,
                     sums.squares_right + at, sums.count,      nullptr};
  };
#if HWY_TARGET != HWY_SCALAR  // which has no halves of vectors
  using filter::Local;
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Half<decltype(d)> half;
  const hn::Half<decltype(di)> half_i;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const hn::ScalableTag<double> wide;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto set = [&](double value) HWY_ATTR { return hn::Set(d, static_cast<float>(value)); };
  const formulas::LocalThreshold& local = finish.local;
  const auto reciprocal = set(1 / sums.count), per_pair = set(1 / (sums.count * sums.count)), one = set(1);
  const auto k = set(local.k), size_of_k = set(std::fabs(local.k)), offset = set(local.offset),
             size_of_offset = set(std::fabs(local.offset)), bound = set(0x1p-19);
  const auto per_r = set(1 / local.r), per_most = set(local.most_deviation > 0 ? 1 / local.most_deviation : 0),
             least = set(local.least_pixel), size_of_least = set(std::fabs(local.least_pixel));
  const auto above = set(formulas::rounded<std::uint8_t>(finish.above)),
             below = set(formulas::rounded<std::uint8_t>(finish.below));
  const auto count = hn::Set(wide, sums.count);
  const auto window = [&](const std::uint32_t* left, const std::uint32_t* right, std::int64_t at) HWY_ATTR {
    return hn::BitCast(di, hn::Sub(hn::LoadU(du, right + at), hn::LoadU(du, left + at)));
  };
  const auto numerator = [&](auto sum, auto squares) HWY_ATTR {
    const auto s = hn::PromoteTo(wide, sum), q = hn::PromoteTo(wide, squares);
    return hn::DemoteTo(half, hn::Sub(hn::Mul(count, q), hn::Mul(s, s)));
  };
  for (; i + lanes <= n; i += lanes) {
    const auto sum = window(sums.left, sums.right, i), squares = window(sums.squares_left, sums.squares_right, i);
    const auto mean = hn::Mul(hn::ConvertTo(d, sum), reciprocal);
    const auto low = numerator(hn::LowerHalf(half_i, sum), hn::LowerHalf(half_i, squares)),
               high = numerator(hn::UpperHalf(half_i, sum), hn::UpperHalf(half_i, squares));
    const auto root = hn::Sqrt(hn::Mul(hn::Combine(d, high, low), per_pair));
    auto threshold = mean, size = hn::Abs(mean);
    if constexpr (method == Local::niblack) {
      threshold = hn::Add(mean, hn::Mul(k, root));
      size = hn::Add(size, hn::Mul(size_of_k, root));
    } else if constexpr (method == Local::sauvola) {
      const auto share = hn::Mul(root, per_r);
      threshold = hn::Mul(mean, hn::Add(one, hn::Mul(k, hn::Sub(share, one))));
      size = hn::Mul(size, hn::Add(one, hn::Mul(size_of_k, hn::Add(share, one))));
    } else {
      const auto share = hn::Mul(root, per_most);
      threshold = hn::Add(mean, hn::Mul(hn::Mul(k, hn::Sub(share, one)), hn::Sub(mean, least)));
      size = hn::Add(size, hn::Mul(hn::Mul(size_of_k, hn::Add(share, one)), hn::Add(size, size_of_least)));
    }
    const auto pixel = hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(bytes, pixels + i)));
    const auto apart = hn::Sub(pixel, hn::Sub(threshold, offset));
    const auto is_sure = hn::Gt(hn::Abs(apart), hn::Mul(bound, hn::Add(size, size_of_offset)));
    if (HWY_UNLIKELY(!hn::AllTrue(d, is_sure))) {
      decide_exactly<method>(finish, from(i), pixels + i, lanes, out + i);
      continue;
    }
    const auto value = hn::IfThenElse(hn::Gt(apart, hn::Zero(d)), above, below);
    hn::StoreU(hn::DemoteTo(bytes, hn::ConvertTo(di, value)), bytes, out + i);
  }
#endif
  decide_exactly<method>(finish, from(i), pixels + i, n - i, out + i);
}

void decide_bytes(const Finish& finish, const InnerSums& sums, const std::uint8_t* pixels, std::int64_t n,
                  std::uint8_t* out) {
  using filter::Local;
  if (finish.local.method == Local::niblack) return decide_by<Local::niblack>(finish, sums, pixels, n, out);
  if (finish.local.method == Local::sauvola) return decide_by<Local::sauvola>(finish, sums, pixels, n, out);
  decide_by<Local::wolf>(finish, sums, pixels, n, out);
}

double most_variance(const Finish& finish, const WindowTerms& terms, std::int64_t n) {
  double most = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double count = terms.count[i], value = terms.numerator[i] / (count * count);
    most = count >= finish.min_count && value > most ? value : most;
  }
  return most;
}

void exact_numerators(const WindowTerms& terms, std::int64_t n) {
  double* HWY_RESTRICT out = terms.numerator;
  for (std::int64_t i = 0; i < n; ++i) out[i] = terms.count[i] * terms.squares[i] - terms.sum[i] * terms.sum[i];
}

void integer_numerators(const std::uint64_t* counts, const std::uint64_t* sums, const std::uint64_t* squares,
                        std::int64_t n, double* HWY_RESTRICT out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = real_of<false>(counts[i] * squares[i] - sums[i] * sums[i]);
}

// each(T()) for the element type.
template <class Each>
void with_elements(Type type, const Each& each) {
  switch (type) {
    case Type::u8:
      return each(std::uint8_t{});
    case Type::s8:
      return each(std::int8_t{});
    case Type::u16:
      return each(std::uint16_t{});
    case Type::s16:
      return each(std::int16_t{});
    case Type::u32:
      return each(std::uint32_t{});
    case Type::s32:
      return each(std::int32_t{});
    case Type::f32:
      return each(float{});
    case Type::f64:
      return each(double{});
    default:
      return each(Half{});
  }
}

template <class In>
double real_at(const char* at) {
  if constexpr (std::is_same_v<In, Half>)
    return static_cast<double>(to_float(load<Half>(at)));
  else
    return static_cast<double>(load<In>(at));
}

/// run(step) with steps of 1 to 4 elements as constants, for which loops have vectors.
template <class In, class Run>
void with_step(std::int64_t step, const Run& run) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(In));
  if (step == size) return run(std::integral_constant<std::int64_t, size>());
  if (step == 2 * size) return run(std::integral_constant<std::int64_t, 2 * size>());
  if (step == 3 * size) return run(std::integral_constant<std::int64_t, 3 * size>());
  if (step == 4 * size) return run(std::integral_constant<std::int64_t, 4 * size>());
  run(step);
}

template <class In>
void reals_of(const char* from, std::int64_t step, std::int64_t n, double* HWY_RESTRICT out) {
  with_step<In>(step, [&](auto by) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = real_at<In>(from + i * by);
  });
}
void reals(const char* from, std::int64_t step, Type type, std::int64_t n, double* out) {
  with_elements(type, [&](auto element) { reals_of<decltype(element)>(from, step, n, out); });
}

template <class In>
void add_reals_of(const char* from, std::int64_t step, std::int64_t n, const double* plus, double* out) {
  with_step<In>(step, [&](auto by) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = plus[i] + real_at<In>(from + i * by);
  });
}
void add_reals(const char* from, std::int64_t step, Type type, std::int64_t n, const double* plus, double* out) {
  with_elements(type, [&](auto element) { add_reals_of<decltype(element)>(from, step, n, plus, out); });
}

template <class Out>
void means_of_reals_to(const double* HWY_RESTRICT sums, double count, std::int64_t n, char* HWY_RESTRICT out) {
  for (std::int64_t i = 0; i < n; ++i) {
    const auto value = static_cast<Out>(sums[i] / count);
    std::memcpy(out + i * static_cast<std::int64_t>(sizeof(Out)), &value, sizeof value);
  }
}
void means_of_reals(const double* sums, double count, std::int64_t n, Type type, char* out) {
  if (type == Type::f32) return means_of_reals_to<float>(sums, count, n, out);
  means_of_reals_to<double>(sums, count, n, out);
}

// RoundedMean, a vector at a time.
template <class Out>
void means_to(const std::uint32_t* HWY_RESTRICT left, const std::uint32_t* HWY_RESTRICT right,
              const formulas::RoundedMean& mean, std::int64_t n, char* HWY_RESTRICT to) {
  [[maybe_unused]] Out* HWY_RESTRICT out = reinterpret_cast<Out*>(to);
  std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR  // which has no unaligned stores
  if (mean.shift >= 0) {
    const hn::ScalableTag<std::uint32_t> d;
    const hn::RebindToSigned<decltype(d)> di;
    const hn::RepartitionToWide<decltype(d)> wide;
    const hn::Rebind<Out, decltype(d)> narrow;
    const auto half = hn::Set(d, mean.half()), factor = hn::Set(d, mean.factor), pixels = hn::Set(d, mean.pixels),
               one = hn::Set(d, 1);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto dividend = [&](std::int64_t at) HWY_ATTR {
      return hn::Add(hn::Sub(hn::LoadU(d, right + at), hn::LoadU(d, left + at)), half);
    };
    const auto quotient = [&](auto sum) HWY_ATTR {
      const auto even = hn::BitCast(d, hn::MulEven(sum, factor));
      const auto odd = hn::BitCast(d, hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, sum))), factor));
      return hn::ShiftRightSame(hn::OddEven(odd, hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, even)))),
                                mean.shift);
    };
    const auto put = [&](auto value, std::int64_t at)
                         HWY_ATTR { hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(di, value)), narrow, out + at); };
    if (!mean.has_ties())
      for (; i + lanes <= n; i += lanes) put(quotient(dividend(i)), i);
    else
      for (; i + lanes <= n; i += lanes) {
        const auto sum = dividend(i), up = quotient(sum);
        const auto is_tie = hn::Eq(hn::Mul(up, pixels), sum);
        put(hn::Sub(up, hn::IfThenElseZero(is_tie, hn::And(up, one))), i);
      }
  }
#endif
  for (; i < n; ++i) {
    const auto value = static_cast<Out>(mean(right[i] - left[i]));
    std::memcpy(to + i * static_cast<std::int64_t>(sizeof(Out)), &value, sizeof value);
  }
}

void rounded_means(const std::uint32_t* left, const std::uint32_t* right, const formulas::RoundedMean& mean,
                   std::int64_t n, Type type, char* out) {
  if (type == Type::u8) return means_to<std::uint8_t>(left, right, mean, n, out);
  means_to<std::uint16_t>(left, right, mean, n, out);
}

inline constexpr FinishKernels finish_set = {
    finish_windows, finish_inner, decide_bytes,   most_variance, exact_numerators, integer_numerators,
    reals,          add_reals,    means_of_reals, store,         rounded_means};

}  // namespace

const TermKernels* walk_term(Type in, Power power, bool wide) { return term(in, power, wide); }
const FinishKernels* walk_finish() { return &finish_set; }

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
HWY_EXPORT(walk_term);
HWY_EXPORT(walk_finish);
const TermKernels* term_kernels(Type in, Power power, bool wide) {
  return HWY_DYNAMIC_DISPATCH(walk_term)(in, power, wide);
}
const FinishKernels& finish_kernels() { return *HWY_DYNAMIC_DISPATCH(walk_finish)(); }
}  // namespace areal::cpu
#endif
