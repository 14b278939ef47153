#include "cpu/query/window_rows.hpp"
#include <cmath>
#include <limits>
#include "cpu/query/modular.hpp"
#include "formulas/variance.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/query/window_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

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

// The prefix sums along a row of the image rows [piece.begin, piece.end) taken together: width + 1 of them.
template <class T>
void prefix_row(const TableView& table, const formulas::Piece& piece, typename Modular<T>::Difference* d) {
  const auto row = [&](std::int64_t y) { return static_cast<const char*>(table.view.row(y)); };
  const std::int64_t width = table.image_width(), step = table.view.column_pitch();
  if (table.border == Border::zero) return subtract_rows<T>(row(piece.begin), row(piece.end), width + 1, step, d);
  d[0] = 0;
  subtract_rows<T>(piece.begin ? row(piece.begin - 1) : nullptr, row(piece.end - 1), width, step, d + 1);
}

template <class Wide>
Wide& wide(WideSum& sum) {
  if constexpr (std::is_same_v<Wide, double>)
    return sum.real;
  else
    return sum.integer;
}

// Adds `times` the prefix row's windows to sums[x], or sets them.
template <class T, bool add>
void slide(const typename Modular<T>::Difference* d, const formulas::WindowAxis& axis, std::uint64_t times,
           WideSum* HWY_RESTRICT sums) {
  using Wide = typename Modular<T>::Wide;
  const Wide factor = static_cast<Wide>(times);
  const std::int64_t inner_begin = axis.inner_begin(), inner_end = axis.inner_end();
  const auto rim = [&](std::int64_t x) {
    const formulas::Pieces pieces = axis.pieces(x);
    Wide sum = 0;
    for (int i = 0; i < pieces.count; ++i) {
      const formulas::Piece& piece = pieces.piece[i];
      sum += static_cast<Wide>(piece.times) * Modular<T>::widen(d[piece.end] - d[piece.begin]);
    }
    wide<Wide>(sums[x]) = (add ? wide<Wide>(sums[x]) : Wide{0}) + factor * sum;
  };
  for (std::int64_t x = 0; x < inner_begin; ++x) rim(x);
  if (inner_begin < inner_end) {
    const auto* left = d + inner_begin - axis.before;
    const auto* right = left + axis.size;
    WideSum* inner = sums + inner_begin;
    if (times == 1)  // nearly all rows; integers of 64 bits have no vector multiplication on most machines
      for (std::int64_t x = 0; x < inner_end - inner_begin; ++x)
        wide<Wide>(inner[x]) = (add ? wide<Wide>(inner[x]) : Wide{0}) + Modular<T>::widen(right[x] - left[x]);
    else
      for (std::int64_t x = 0; x < inner_end - inner_begin; ++x)
        wide<Wide>(inner[x]) = (add ? wide<Wide>(inner[x]) : Wide{0}) + factor * Modular<T>::widen(right[x] - left[x]);
  }
  for (std::int64_t x = inner_end; x < axis.outputs; ++x) rim(x);
}

// Adds what the cells beyond the image hold.
template <class T>
void add_beyond(const WindowedTable& windows, std::int64_t y, WideSum* sums) {
  using Wide = typename Modular<T>::Wide;
  const formulas::WindowAxis &columns = windows.columns, &rows = windows.rows;
  Wide value;
  if constexpr (std::is_same_v<Wide, double>)
    value = windows.beyond.real;
  else
    value = windows.beyond.integer;
  const std::uint64_t down = rows.inside(y);
  const auto all = static_cast<std::uint64_t>(columns.size) * static_cast<std::uint64_t>(rows.size);
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t x = begin; x < end; ++x)
      if (const std::uint64_t cells = all - columns.inside(x) * down)
        wide<Wide>(sums[x]) += static_cast<Wide>(cells) * value;
  };
  const bool inner_row = down == static_cast<std::uint64_t>(rows.size);
  add(0, inner_row ? columns.inner_begin() : columns.outputs);
  if (inner_row) add(columns.inner_end(), columns.outputs);
}

template <class T>
void row_of_sums(const WindowedTable& windows, std::int64_t y, void* difference, WideSum* sums) {
  auto* d = static_cast<typename Modular<T>::Difference*>(difference);
  const formulas::Pieces pieces = windows.rows.pieces(y);
  for (int i = 0; i < pieces.count; ++i) {
    prefix_row<T>(windows.table, pieces.piece[i], d);
    if (i == 0)
      slide<T, false>(d, windows.columns, pieces.piece[i].times, sums);
    else
      slide<T, true>(d, windows.columns, pieces.piece[i].times, sums);
  }
  if (windows.columns.edge == Edge::constant) add_beyond<T>(windows, y, sums);
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
  for (std::int64_t i = 0; i < n; ++i) values[i] = std::sqrt(values[i]);
}

template <class T>
T output_of(double value) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(value);
  else
    return static_cast<T>(
        static_cast<std::int32_t>(formulas::saturated(value, static_cast<double>(std::numeric_limits<T>::max()))));
}

template <class T>
void store_as(const double* values, std::int64_t n, char* HWY_RESTRICT out, std::int64_t step) {
  const auto put = [](double value, char* to) {
    const T element = output_of<T>(value);
    std::memcpy(to, &element, sizeof element);
  };
  if (step == static_cast<std::int64_t>(sizeof(T)))  // known to the compiler, which then has vectors for it
    for (std::int64_t i = 0; i < n; ++i) put(values[i], out + i * static_cast<std::int64_t>(sizeof(T)));
  else
    for (std::int64_t i = 0; i < n; ++i) put(values[i], out + i * step);
}

void store(const double* values, std::int64_t n, Type type, void* out, std::int64_t step) {
  char* const to = static_cast<char*>(out);
  switch (type) {
    case Type::u8:
      return store_as<std::uint8_t>(values, n, to, step);
    case Type::u16:
      return store_as<std::uint16_t>(values, n, to, step);
    case Type::f32:
      return store_as<float>(values, n, to, step);
    default:
      return store_as<double>(values, n, to, step);
  }
}

template <class T>
inline constexpr WindowKernels kernels_for = {row_of_sums<T>, to_reals<T>, to_magnitudes<T>};
inline constexpr ArithmeticKernels arithmetic_set = {divide, variances, small_variances, square_roots, store};

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
