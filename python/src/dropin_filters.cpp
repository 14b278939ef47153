// cv2.boxFilter and cv2.sqrBoxFilter: a table, its windows, and OpenCV's rounding.
#include <algorithm>
#include <areal/array.hpp>
#include <areal/error.hpp>
#include <areal/window.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include "bindings.hpp"
#include "dropin.hpp"
#include "scratch_memory.hpp"

namespace areal::python::dropin {
namespace {

struct Filter {
  ConstView image;
  View out;
  Window window;
  bool normalized = true, of_squares = false;
  double cells() const { return static_cast<double>(window.width) * static_cast<double>(window.height); }
};

/// The largest magnitude that an integer pixel adds to a sum.
double largest(Type type, bool squared) {
  const double value = type == Type::u8 ? 255 : type == Type::u16 ? 65535 : type == Type::s16 ? 32768 : 2147483648.0;
  return squared ? value * value : value;
}

/// Does OpenCV add in 32-bit integers, which wrap (createBoxFilter and sqrBoxFilter, modules/imgproc)?
bool adds_in_32_bits(const Filter& f) {
  if (is_float(f.image.type)) return false;
  if (f.of_squares) return f.image.type == Type::u8;
  const double limit = f.image.type == Type::u8 ? 1 << 23 : f.image.type == Type::u16 ? 1 << 15 : 1 << 16;
  return !f.normalized || f.cells() <= limit;
}

PlanKey plan_key(const Filter& f, const Shape& shape) {
  const Type type = f.image.type;
  PlanKey key{shape, {type, Type::f64}, Border::none};
  if (f.of_squares) {  // the sums are not read: the cheapest
    key.types.table = type == Type::u8 || type == Type::u16 ? Type::u32 : type == Type::s16 ? Type::s32 : type;
    key.squares = type == Type::u8 ? Squares::u32 : is_float(type) ? Squares::f64 : Squares::u64;
  } else if (!is_float(type)) {
    const bool is_signed = is_signed_integer(type), narrow = adds_in_32_bits(f);
    key.types.table = narrow ? (is_signed ? Type::s32 : Type::u32) : (is_signed ? Type::s64 : Type::u64);
  }
  return key;
}

/// Rounds half to even to a 32-bit integer; INT_MIN for NaN and on overflow, as x86 and OpenCV's cvRound.
std::int32_t round_to_int(double value) {
  constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52: above it neighbours are 1 apart
  if (!(std::abs(value) <= 2147483648.0)) return std::numeric_limits<std::int32_t>::min();
  const double rounded = (value + magic) - magic;
  if (rounded > 2147483647.0) return std::numeric_limits<std::int32_t>::min();
  return static_cast<std::int32_t>(rounded);
}

/// OpenCV's saturate_cast of a double.
template <class T>
T saturated(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    using Limits = std::numeric_limits<T>;
    return static_cast<T>(
        std::clamp<std::int64_t>(round_to_int(value), Limits::min(), static_cast<std::int64_t>(Limits::max())));
  }
}

template <class T>
void put(char* row, std::int64_t i, T value) {
  std::memcpy(row + i * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

std::int32_t as_int(float sum) { return static_cast<std::int32_t>(sum); }
/// Modulo 2^32.
std::int32_t as_int(double sum) { return static_cast<std::int32_t>(static_cast<std::int64_t>(sum)); }

/// A 32-bit sum scaled in 32f and rounded half to even, without a branch, so that it vectorises.
std::int32_t scaled_in_32f(float sum, float scale) {
  constexpr float magic = 12582912.0F;  // 1.5 * 2^23; right up to 2^22, and means of sums in 32f are below 2^16
  return static_cast<std::int32_t>((sum * scale + magic) - magic);
}
std::int32_t scaled_in_32f(double sum, float scale) { return round_to_int(static_cast<float>(as_int(sum)) * scale); }

/// Saturates to 8 or 16 bits. Negative values become the largest of an unsigned type: OpenCV's vector code packs them
/// as unsigned (ColumnSum, modules/imgproc/src/box_filter.simd.hpp).
template <class T>
T packed(std::int32_t value) {
  constexpr std::int32_t most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
  value = value < most ? value : most;
  return static_cast<T>(value < least ? (std::is_signed_v<T> ? least : most) : value);
}

/// As many sums as fill vectors, none of them negative, to 8 bits; returns their number. What compilers make of the
/// loop below takes four times as long.
std::int64_t scale_to_8_bits(const float* sums, char* out, std::int64_t n, float scale) {
  std::int64_t i = 0;
#ifdef __SSE2__
  const __m128 factor = _mm_set1_ps(scale);
  const auto four = [&](std::int64_t at) { return _mm_cvtps_epi32(_mm_mul_ps(_mm_loadu_ps(sums + at), factor)); };
  for (; i + 16 <= n; i += 16) {
    const __m128i low = _mm_packs_epi32(four(i), four(i + 4)), high = _mm_packs_epi32(four(i + 8), four(i + 12));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm_packus_epi16(low, high));
  }
#else
  static_cast<void>(sums), static_cast<void>(out), static_cast<void>(n), static_cast<void>(scale);
#endif
  return i;
}

/// A row of 32-bit sums: whole vectors of 16 bytes of 16- or 32-bit elements scaled in 32f, then the rest in 64f, as
/// OpenCV does.
template <class T, class Sum, bool scaled>
void finish_narrow(const Sum* __restrict sums, char* __restrict out, std::int64_t n, double scale, bool is_signed) {
  constexpr std::int64_t lanes = sizeof(T) < 4 ? 8 : 4;
  const std::int64_t body = n - n % lanes;
  const auto narrow_scale = static_cast<float>(scale);
  std::int64_t begin = 0;
  if constexpr (std::is_same_v<T, std::uint8_t> && std::is_same_v<Sum, float> && scaled)
    if (!is_signed) begin = scale_to_8_bits(sums, out, body, narrow_scale);
  for (std::int64_t i = begin; i < body; ++i) {
    if constexpr (std::is_same_v<T, float>) {
      const auto sum = static_cast<float>(as_int(sums[i]));
      put(out, i, scaled ? sum * narrow_scale : sum);
    } else {
      const std::int32_t value = scaled ? scaled_in_32f(sums[i], narrow_scale) : as_int(sums[i]);
      if constexpr (sizeof(T) < 4)
        put(out, i, packed<T>(value));
      else
        put(out, i, value);
    }
  }
  for (std::int64_t i = body; i < n; ++i) put(out, i, saturated<T>(scaled ? as_int(sums[i]) * scale : as_int(sums[i])));
}

/// How sums become results.
struct Finish {
  double scale;
  bool narrow;     ///< added in 32 bits
  bool is_signed;  ///< may be negative

  template <class T, class Sum>
  void row(const Sum* __restrict sums, char* __restrict out, std::int64_t n) const {
    if constexpr (!std::is_same_v<T, double>) {
      if (narrow && scale != 1) return finish_narrow<T, Sum, true>(sums, out, n, scale, is_signed);
      if (narrow) return finish_narrow<T, Sum, false>(sums, out, n, scale, is_signed);
    }
    if (narrow)
      for (std::int64_t i = 0; i < n; ++i) put(out, i, saturated<T>(as_int(sums[i]) * scale));
    else
      for (std::int64_t i = 0; i < n; ++i) put(out, i, saturated<T>(static_cast<double>(sums[i]) * scale));
  }

  template <class Sum>
  void row(const Sum* sums, Type type, char* out, std::int64_t n) const {
    switch (type) {
      case Type::u8:
        return row<std::uint8_t>(sums, out, n);
      case Type::u16:
        return row<std::uint16_t>(sums, out, n);
      case Type::s16:
        return row<std::int16_t>(sums, out, n);
      case Type::s32:
        return row<std::int32_t>(sums, out, n);
      case Type::f32:
        return row<float>(sums, out, n);
      default:
        return row<double>(sums, out, n);
    }
  }
};

// Scratch memory and plans need the GIL; long computations release it.

/// The window's sums of one image of 1 to 4 channels, or means, into an array of floats.
void window_values(const Filter& f, const ConstView& image, const View& into, bool means) {
  const PlanKey key = plan_key(f, image.shape);
  const ScratchMemory sum_memory(bytes_of(image.shape, key.types.table));
  const ScratchMemory squares_memory(f.of_squares ? bytes_of(image.shape, type_of(key.squares)) : 0);
  const View sum(sum_memory.data(), key.types.table, image.shape);
  const View squares = f.of_squares ? View(squares_memory.data(), type_of(key.squares), image.shape) : View();
  const std::shared_ptr<PlannedSat> plan = kept_plan(key);
  PlannedSat::Lease(*plan).execute(SatArguments{image, sum, {}, squares});

  ConstView read = f.of_squares ? squares : sum;
  if (adds_in_32_bits(f)) read.type = Type::s32;
  const SatView view(read, Border::none);
  without_gil(bytes_of(image.shape, read.type) >= long_bytes, [&] {
    means ? window_means(view, f.window, into, execution()) : window_sums(view, f.window, into, execution());
  });
}

/// Copies one of several interleaved channels out of an image, or into one.
void copy_channel(const char* from, std::int64_t from_step, char* to, std::int64_t to_step, std::int64_t n,
                  std::size_t size) {
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_step, from + i * from_step, size);
}

/// The same for any number of channels; one by one if there are more than a table supports.
void values_of_all(const Filter& f, const View& into, bool means) {
  const Shape& shape = f.image.shape;
  if (shape.channels <= 4) return window_values(f, f.image, into, means);
  const Shape plane{shape.width, shape.height};
  const ScratchMemory pixels(bytes_of(plane, f.image.type)), values(bytes_of(plane, into.type));
  const View one(pixels.data(), f.image.type, plane), answer(values.data(), into.type, plane);
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    for (std::int64_t y = 0; y < shape.height; ++y)
      copy_channel(static_cast<const char*>(f.image.row(y, c)), f.image.column_pitch(), static_cast<char*>(one.row(y)),
                   one.column_pitch(), shape.width, size_of(one.type));
    window_values(f, one, answer, means);
    for (std::int64_t y = 0; y < shape.height; ++y)
      copy_channel(static_cast<const char*>(answer.row(y)), answer.column_pitch(), static_cast<char*>(into.row(y, c)),
                   into.column_pitch(), shape.width, size_of(into.type));
  }
}

/// The largest magnitude of a window's sum of integers.
double largest_sum(const Filter& f) { return largest(f.image.type, f.of_squares) * f.cells(); }

/// Does the library's own rounding give OpenCV's result: floats within their bounds, or the same 8 bits? From 8 to
/// 8 bits OpenCV divides in fixed point up to 256 pixels, and then in 32f: off by at most 3e-5, when the mean of an odd
/// number n is 1 / 2n from a tie, or more.
bool is_direct(const Filter& f) {
  if (f.out.type == Type::f32)
    return is_float(f.image.type) || !adds_in_32_bits(f) || largest_sum(f) < 2147483648.0;  // which does not wrap
  if (f.image.type != Type::u8 || f.out.type != Type::u8 || f.of_squares || f.cells() > 16384) return false;
  return !f.normalized || f.cells() <= 256 || (f.window.width % 2 != 0 && f.window.height % 2 != 0);
}

void run_at_once(const Filter& f) {
  const Shape& shape = f.image.shape;
  if (is_direct(f)) return values_of_all(f, f.out, f.normalized);
  const double most = is_float(f.image.type) ? 0 : largest_sum(f);
  const std::int64_t n = shape.width * shape.channels;
  if (adds_in_32_bits(f) && most > 9007199254740992.0)
    throw InvalidArgument("ksize " + std::to_string(f.window.width) + "x" + std::to_string(f.window.height) +
                          ": sums of so many pixels exceed 2^53");
  const Finish finish{f.normalized ? 1 / f.cells() : 1, adds_in_32_bits(f), is_signed_integer(f.image.type)};
  // 32f holds integers up to 2^24
  const Type type = is_float(f.image.type) || most > 16777216 ? Type::f64 : Type::f32;
  const ScratchMemory memory(bytes_of(shape, type));
  const View sums(memory.data(), type, shape);
  values_of_all(f, sums, false);
  Interrupt interrupt;
  {
    const nb::gil_scoped_release released;
    for (std::int64_t y = 0; y < shape.height && interrupt.may_continue_polling(); ++y) {
      char* const out = static_cast<char*>(f.out.row(y));
      if (type == Type::f32)
        finish.row(static_cast<const float*>(sums.row(y)), f.out.type, out, n);
      else
        finish.row(static_cast<const double*>(sums.row(y)), f.out.type, out, n);
    }
  }
  if (interrupt.raised()) throw nb::python_error();
}

bool share_memory(const ConstView& a, const ConstView& b) {
  const auto begin = [](const ConstView& v) { return reinterpret_cast<std::uintptr_t>(v.data); };
  const auto end = [&](const ConstView& v) {
    return begin(v) + static_cast<std::uintptr_t>(v.shape.height * v.row_pitch);
  };
  return begin(a) < end(b) && begin(b) < end(a);
}

/// Rows [first, last) of a view.
template <class V>
V rows_of(const V& view, std::int64_t first, std::int64_t last) {
  V part = view;
  part.data = view.row(first);
  part.shape.height = last - first;
  part.batch_pitch = part.shape.height * part.row_pitch;
  return part;
}

/// Larger tables are computed in strips of an eighth of that many bytes, to bound scratch memory. A strip has
/// additional rows above and below for its windows and their reflections; their results are dropped.
void run(const Filter& f, std::uint64_t most_at_once) {
  const std::int64_t height = f.image.shape.height, halo = f.window.height + 1;
  const std::uint64_t bytes = bytes_of(f.image.shape, plan_key(f, f.image.shape).types.table);
  if (bytes <= most_at_once || share_memory(f.image, f.out)) return run_at_once(f);
  const auto rows = static_cast<std::int64_t>(most_at_once / 8 / (bytes / static_cast<std::uint64_t>(height)));
  const std::int64_t strip = std::max(rows, 8 * halo);
  if (height <= 2 * strip) return run_at_once(f);
  for (std::int64_t begin = 0; begin < height; begin += strip) {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();  // strips are short, and nobody asks within them
    const std::int64_t end = std::min(begin + strip, height);
    const std::int64_t first = std::max<std::int64_t>(0, begin - halo), last = std::min(end + halo, height);
    Filter part = f;
    part.image = rows_of(f.image, first, last);
    Shape shape = f.out.shape;
    shape.height = last - first;
    const ScratchMemory memory(bytes_of(shape, f.out.type));
    part.out = View(memory.data(), f.out.type, shape);
    run_at_once(part);
    for (std::int64_t y = begin; y < end; ++y)
      std::memcpy(f.out.row(y), part.out.row(y - first), static_cast<std::size_t>(part.out.row_pitch));
  }
}

Edge edge_named(const std::string& name) {
  if (name == "zero") return Edge::zero;
  if (name == "replicate") return Edge::replicate;
  if (name == "symmetric") return Edge::symmetric;
  if (name == "reflect") return Edge::reflect;
  throw InvalidArgument("edge " + name + ": may be zero, replicate, symmetric or reflect");
}

/// False if the pixels of a row are not adjacent: the caller copies the image.
bool filter(nb::handle image, nb::handle out, std::int64_t width, std::int64_t height, std::int64_t anchor_x,
            std::int64_t anchor_y, const std::string& edge, bool normalized, bool of_squares,
            std::uint64_t most_at_once) {
  const std::optional<ConstView> pixels = read_view(image, "src", false);
  if (!pixels) return false;
  const View into = write_view(out, "dst", false);
  if (into.shape != pixels->shape) throw InvalidArgument("dst: its extents are not the image's");
  run({*pixels,
       into,
       {width, height, anchor_x, anchor_y, edge_named(edge), 0, Rounding::opencv},
       normalized,
       of_squares},
      most_at_once);
  return true;
}

}  // namespace
}  // namespace areal::python::dropin

namespace areal::python {

void bind_dropin_filters(nb::module_& m) {
  m.def("dropin_filter", &dropin::filter, nb::arg("image"), nb::arg("out"), nb::arg("width"), nb::arg("height"),
        nb::arg("anchor_x"), nb::arg("anchor_y"), nb::arg("edge"), nb::arg("normalized"), nb::arg("of_squares"),
        nb::arg("most_at_once"));
}

}  // namespace areal::python
