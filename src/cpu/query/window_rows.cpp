#include "cpu/query/window_rows.hpp"
#include <cmath>
#include <limits>
#include "cpu/query/modular.hpp"
#include "formulas/rounding.hpp"
#include "formulas/variance.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/query/window_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "cpu/query/window_output-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace {

// d[i] = bottom[i] - top[i], in the table's own width, of elements `step` bytes apart; a null top is zeros.
template <class T>
void subtract_rows(const char* top, const char* bottom, std::int64_t n, std::int64_t step,
                   typename Modular<T>::Difference* HWY_RESTRICT d) {
  constexpr std::int64_t size = sizeof(T);
  if (step != size)  // interleaved channels
    for (std::int64_t i = 0; i < n; ++i)
      d[i] = element<T>(bottom + i * step) - (top ? element<T>(top + i * step) : typename Modular<T>::Difference{0});
  else if (top)
    for (std::int64_t i = 0; i < n; ++i) d[i] = element<T>(bottom + i * size) - element<T>(top + i * size);
  else
    for (std::int64_t i = 0; i < n; ++i) d[i] = element<T>(bottom + i * size);
}

// The prefix sums along a row of the image rows [piece.begin, piece.end) added together: width + 1 values.
template <class T>
void prefix_row(const WindowedTable& windows, const formulas::Piece& piece, typename Modular<T>::Difference* d) {
  const TableView& table = windows.table;
  const auto row = [&](std::int64_t y) { return static_cast<const char*>(table.view.row(y)); };
  const std::int64_t together = windows.channels_together, width = table.image_width() * together;
  const std::int64_t step = together > 1 ? static_cast<std::int64_t>(sizeof(T)) : table.view.column_pitch();
  if (table.border == Border::zero)
    return subtract_rows<T>(row(piece.begin), row(piece.end), width + together, step, d);
  std::fill_n(d, together, typename Modular<T>::Difference{0});
  subtract_rows<T>(piece.begin ? row(piece.begin - 1) : nullptr, row(piece.end - 1), width, step, d + together);
}

template <class Wide>
Wide& wide(WideSum& sum) {
  if constexpr (std::is_same_v<Wide, double>)
    return sum.real;
  else
    return sum.integer;
}

// Columns of the output.
struct Columns {
  std::int64_t begin, end;
};

// Adds the prefix row's windows, multiplied by `times`, to the columns' sums, or sets them.
template <class T, bool add>
void slide(const WindowedTable& windows, const typename Modular<T>::Difference* d, std::uint64_t times,
           const Columns& columns, WideSum* HWY_RESTRICT sums) {
  using Wide = typename Modular<T>::Wide;
  const formulas::WindowAxis& axis = windows.columns;
  const std::int64_t together = windows.channels_together;
  const Wide factor = static_cast<Wide>(times);
  const std::int64_t inner_columns = axis.inner_end() - axis.inner_begin();
  const std::int64_t inner_begin = std::clamp(axis.inner_begin(), columns.begin, columns.end),
                     inner_end = std::clamp(axis.inner_end(), inner_begin, columns.end);
  const auto rim = [&](std::int64_t x) {
    const formulas::Pieces& pieces =
        windows.rim[static_cast<std::size_t>(x < axis.inner_begin() ? x : x - inner_columns)];
    for (std::int64_t c = 0; c < together; ++c) {
      Wide sum = 0;
      for (int i = 0; i < pieces.count; ++i) {
        const formulas::Piece& piece = pieces.piece[i];
        sum += static_cast<Wide>(piece.times) *
               Modular<T>::widen(d[piece.end * together + c] - d[piece.begin * together + c]);
      }
      WideSum& to = sums[x * together + c];
      wide<Wide>(to) = (add ? wide<Wide>(to) : Wide{0}) + factor * sum;
    }
  };
  for (std::int64_t x = columns.begin; x < inner_begin; ++x) rim(x);
  if (inner_begin < inner_end) {
    const auto* left = d + (inner_begin - axis.before) * together;
    const auto* right = left + axis.size * together;
    WideSum* inner = sums + inner_begin * together;
    const std::int64_t n = (inner_end - inner_begin) * together;
    if (times == 1)  // nearly all rows; integers of 64 bits have no vector multiplication on most machines
      for (std::int64_t i = 0; i < n; ++i)
        wide<Wide>(inner[i]) = (add ? wide<Wide>(inner[i]) : Wide{0}) + Modular<T>::widen(right[i] - left[i]);
    else
      for (std::int64_t i = 0; i < n; ++i)
        wide<Wide>(inner[i]) = (add ? wide<Wide>(inner[i]) : Wide{0}) + factor * Modular<T>::widen(right[i] - left[i]);
  }
  for (std::int64_t x = inner_end; x < columns.end; ++x) rim(x);
}

// Adds the cells beyond the image.
template <class T>
void add_beyond(const WindowedTable& windows, std::int64_t y, const Columns& of, WideSum* sums) {
  using Wide = typename Modular<T>::Wide;
  const formulas::WindowAxis &columns = windows.columns, &rows = windows.rows;
  Wide value;
  if constexpr (std::is_same_v<Wide, double>)
    value = windows.beyond.real;
  else
    value = windows.beyond.integer;
  const std::int64_t together = windows.channels_together;
  const std::uint64_t down = rows.inside(y);
  const auto all = static_cast<std::uint64_t>(columns.size) * static_cast<std::uint64_t>(rows.size);
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t x = std::max(begin, of.begin); x < std::min(end, of.end); ++x)
      if (const std::uint64_t cells = all - columns.inside(x) * down)
        for (std::int64_t i = x * together; i < (x + 1) * together; ++i)
          wide<Wide>(sums[i]) += static_cast<Wide>(cells) * value;
  };
  const bool inner_row = down == static_cast<std::uint64_t>(rows.size);
  add(0, inner_row ? columns.inner_begin() : columns.outputs);
  if (inner_row) add(columns.inner_end(), columns.outputs);
}

template <class T>
void row_of_sums(const WindowedTable& windows, std::int64_t y, void* difference, WideSum* sums) {
  auto* d = static_cast<typename Modular<T>::Difference*>(difference);
  const formulas::Pieces pieces = windows.rows.pieces(y);
  const Columns all{0, windows.columns.outputs};
  for (int i = 0; i < pieces.count; ++i) {
    prefix_row<T>(windows, pieces.piece[i], d);
    if (i == 0)
      slide<T, false>(windows, d, pieces.piece[i].times, all, sums);
    else
      slide<T, true>(windows, d, pieces.piece[i].times, all, sums);
  }
  if (windows.columns.edge == Edge::constant) add_beyond<T>(windows, y, all, sums);
}

template <class T>
void to_reals(const WideSum* sums, std::int64_t n, double* HWY_RESTRICT out) {
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_integral_v<T>)
      out[i] = real_of<std::is_signed_v<T>>(sums[i].integer);
    else
      out[i] = sums[i].real;
  }
}

template <class T>
std::uint64_t to_magnitudes(const WideSum* sums, std::int64_t n, std::uint64_t* HWY_RESTRICT out) {
  std::uint64_t largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t sum = sums[i].integer;
    out[i] = std::is_signed_v<T> && static_cast<std::int64_t>(sum) < 0 ? 0 - sum : sum;
    largest = largest < out[i] ? out[i] : largest;
  }
  return largest;
}

void divide(double* values, const double* HWY_RESTRICT pixels, double factor, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) values[i] /= pixels[i] * factor;
}

void multiply_by_reciprocals(double* values, const double* HWY_RESTRICT pixels, double factor, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) values[i] *= 1 / (pixels[i] * factor);
}

void variances(double* HWY_RESTRICT sums, const double* HWY_RESTRICT squares, const double* HWY_RESTRICT pixels,
               double factor, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double count = pixels[i] * factor, mean = sums[i] / count;
    const double value = squares[i] / count - mean * mean;
    sums[i] = value < 0 ? 0 : value;  // NaN stays
  }
}

void small_variances(const std::uint64_t* sums, const std::uint64_t* squares, const std::uint64_t* pixels,
                     std::uint64_t factor, std::int64_t n, double* HWY_RESTRICT out) {
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t count = pixels[i] * factor;
    const auto numerator = static_cast<std::int64_t>(count * squares[i] - sums[i] * sums[i]);
    const double real = real_of<false>(static_cast<std::uint64_t>(numerator < 0 ? 0 : numerator));
    const double divisor = real_of<false>(count);
    out[i] = real / (divisor * divisor);
  }
}

void square_roots(double* values, std::int64_t n) {
  const hn::ScalableTag<double> d;  // std::sqrt may set errno, and is therefore not vectorised
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Sqrt(hn::LoadU(d, values + i)), d, values + i);
  for (; i < n; ++i) values[i] = std::sqrt(values[i]);
}

// Columns of windows that lie inside, in a row that is one piece: only a chunk of reals, which stays in the cache, lies
// between the prefix sums and the output.
template <class T>
void store_inner(const typename Modular<T>::Difference* left, std::int64_t shift, std::int64_t n, double pixels,
                 Rounding rounding, Type type, char* out, double* values) {
  if constexpr (std::is_integral_v<T>) {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(out);
    const auto count = static_cast<std::uint32_t>(std::min(pixels, 0x1p13));
    const bool fixed_point = rounding == Rounding::opencv && formulas::FixedPointMean::serves(count);
    if (type == Type::u8 && fixed_point)
      return fixed_point_bytes<T>(left, left + shift, formulas::FixedPointMean(count), n, bytes);
    if constexpr (sizeof(T) == 4)
      if (type == Type::u8 && count <= most_pixels_of_nearest_bytes)
        return nearest_bytes<T>(left, left + shift, count, n, bytes);
  }
  constexpr std::int64_t chunk = 512;
  const auto size = static_cast<std::int64_t>(size_of(type));
  for (std::int64_t i = 0; i < n; i += chunk) {
    const std::int64_t some = std::min(chunk, n - i);
    quotients<T>(left + i, left + i + shift, pixels, rounding == Rounding::opencv && type == Type::f64, some, values);
    store(values, some, type, out + i * size);
  }
}

// Converts sums to the output's type.
template <class T>
void store_sums(const WindowedTable& windows, std::int64_t y, const Columns& columns, const WindowBuffers& buffers,
                const WindowOutput& to) {
  const std::int64_t begin = columns.begin * windows.channels_together,
                     n = columns.end * windows.channels_together - begin;
  to_reals<T>(buffers.sums + begin, n, buffers.values);
  char* const out = to.row + begin * static_cast<std::int64_t>(size_of(to.type));
  if (to.divisors) {
    const std::uint64_t rows = windows.rows.pixels(y);
    if (to.rounding == Rounding::opencv && to.type == Type::f64)
      multiply_by_reciprocals(buffers.values, to.divisors + begin, static_cast<double>(rows), n);
    else
      divide(buffers.values, to.divisors + begin, static_cast<double>(rows), n);
    if (std::is_integral_v<T> && to.rounding == Rounding::opencv && to.type == Type::u8)
      for (std::int64_t i = 0; i < n; ++i) {
        const std::uint64_t pixels = rows * static_cast<std::uint64_t>(to.divisors[begin + i]);
        if (formulas::FixedPointMean::serves(pixels))
          buffers.values[i] = fixed_point_mean<T>(buffers.sums[begin + i].integer,
                                                  formulas::FixedPointMean(static_cast<std::uint32_t>(pixels)));
      }
  }
  store(buffers.values, n, to.type, out);
}

template <class T>
void store_row(const WindowedTable& windows, std::int64_t y, const WindowBuffers& buffers, const WindowOutput& to) {
  const formulas::WindowAxis& columns = windows.columns;
  const formulas::Pieces pieces = windows.rows.pieces(y);
  const bool one_piece = pieces.count == 1 && pieces.piece[0].times == 1, beyond = columns.edge == Edge::constant;
  if (!one_piece || (beyond && windows.rows.inside(y) != static_cast<std::uint64_t>(windows.rows.size))) {
    row_of_sums<T>(windows, y, buffers.difference, buffers.sums);
    return store_sums<T>(windows, y, {0, columns.outputs}, buffers, to);
  }
  auto* d = static_cast<typename Modular<T>::Difference*>(buffers.difference);
  prefix_row<T>(windows, pieces.piece[0], d);
  const std::int64_t inner_begin = columns.inner_begin(), inner_end = std::max(inner_begin, columns.inner_end());
  for (const Columns& rim : {Columns{0, inner_begin}, Columns{inner_end, columns.outputs}}) {
    slide<T, false>(windows, d, 1, rim, buffers.sums);
    if (beyond) add_beyond<T>(windows, y, rim, buffers.sums);
    store_sums<T>(windows, y, rim, buffers, to);
  }
  if (inner_begin == inner_end) return;
  const std::int64_t together = windows.channels_together;
  const double pixels =
      to.divisors ? static_cast<double>(windows.rows.pixels(y)) * static_cast<double>(columns.size) : 1;
  store_inner<T>(d + (inner_begin - columns.before) * together, columns.size * together,
                 (inner_end - inner_begin) * together, pixels, to.rounding, to.type,
                 to.row + inner_begin * together * static_cast<std::int64_t>(size_of(to.type)), buffers.values);
}

template <class T>
inline constexpr WindowKernels kernels_for = {row_of_sums<T>, to_reals<T>, to_magnitudes<T>, store_row<T>};
inline constexpr ArithmeticKernels arithmetic_set = {divide,       variances, small_variances,
                                                     square_roots, store,     interleave};

}  // namespace

const WindowKernels* kernels(Type table) {
  switch (table) {
    case Type::u32:
      return &kernels_for<std::uint32_t>;
    case Type::s32:
      return &kernels_for<std::int32_t>;
    case Type::u64:
      return &kernels_for<std::uint64_t>;
    case Type::s64:
      return &kernels_for<std::int64_t>;
    case Type::f32:
      return &kernels_for<float>;
    default:
      return &kernels_for<double>;
  }
}
const ArithmeticKernels* arithmetic() { return &arithmetic_set; }

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
HWY_EXPORT(kernels);
HWY_EXPORT(arithmetic);
const WindowKernels& window_kernels(Type table) { return *HWY_DYNAMIC_DISPATCH(kernels)(table); }
const ArithmeticKernels& arithmetic_kernels() { return *HWY_DYNAMIC_DISPATCH(arithmetic)(); }
}  // namespace areal::cpu
#endif
