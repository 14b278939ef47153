// cv2.boxFilter and cv2.sqrBoxFilter: a table, its windows, and OpenCV's rounding.
#include <algorithm>
#include <areal/array.hpp>
#include <areal/error.hpp>
#include <areal/window.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include "bindings.hpp"
#include "dropin.hpp"
#include "kept_memory.hpp"

namespace areal::python::dropin {
namespace {

struct Filter {
  ConstView image;
  View out;
  Window window;
  bool normalized = true, of_squares = false;
  double cells() const { return static_cast<double>(window.width) * static_cast<double>(window.height); }
};

/// The largest magnitude that a pixel of integers adds to a sum.
double largest(Type type, bool squared) {
  const double value = type == Type::u8 ? 255 : type == Type::u16 ? 65535 : type == Type::s16 ? 32768 : 2147483648.0;
  return squared ? value * value : value;
}

/// Whether OpenCV adds in 32-bit integers, which wrap (createBoxFilter and sqrBoxFilter, modules/imgproc).
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

/// To a 32-bit integer as x86 converts, half to even; INT_MIN for what does not fit and for NaN, as OpenCV's cvRound.
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

/// 32-bit sums as OpenCV's vector code finishes them: scaled in 32f; negative ones become the largest value of an
/// unsigned type, as it packs them without their sign (ColumnSum, modules/imgproc/src/box_filter.simd.hpp).
template <class T>
T packed(std::int32_t sum, bool scaled, float scale) {
  if constexpr (std::is_same_v<T, float>) {
    return scaled ? static_cast<float>(sum) * scale : static_cast<float>(sum);
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return scaled ? round_to_int(static_cast<float>(sum) * scale) : sum;
  } else {
    constexpr float magic = 12582912.0F;  // 1.5 * 2^23
    constexpr std::int32_t most = std::numeric_limits<T>::max();
    std::int32_t value = sum;
    if (scaled) {
      float real = static_cast<float>(sum) * scale;
      real = real < 100000.0F ? real : 100000.0F;  // beyond what any such T holds, and in reach of the magic
      real = real > -100000.0F ? real : -100000.0F;
      value = static_cast<std::int32_t>((real + magic) - magic);
    }
    value = value < most ? value : most;
    if constexpr (std::is_signed_v<T>)
      value = value > std::numeric_limits<T>::min() ? value : std::numeric_limits<T>::min();
    else
      value = value < 0 ? most : value;
    return static_cast<T>(value);
  }
}

/// A row of 32-bit sums: whole vectors of 16 bytes of 16- or 32-bit elements, then the rest in doubles, as OpenCV.
template <class T, class Sum, bool scaled>
void finish_narrow(const Sum* sums, char* out, std::int64_t n, double scale) {
  constexpr std::int64_t lanes = sizeof(T) < 4 ? 8 : 4;
  const std::int64_t body = n - n % lanes;
  const auto narrow_scale = static_cast<float>(scale);
  for (std::int64_t i = 0; i < body; ++i) put(out, i, packed<T>(as_int(sums[i]), scaled, narrow_scale));
  for (std::int64_t i = body; i < n; ++i) put(out, i, saturated<T>(scaled ? as_int(sums[i]) * scale : as_int(sums[i])));
}

template <class T, class Sum>
void finish(const Sum* sums, char* out, std::int64_t n, double scale, bool narrow) {
  if constexpr (!std::is_same_v<T, double>) {
    if (narrow && scale != 1) return finish_narrow<T, Sum, true>(sums, out, n, scale);
    if (narrow) return finish_narrow<T, Sum, false>(sums, out, n, scale);
  }
  if (narrow)
    for (std::int64_t i = 0; i < n; ++i) put(out, i, saturated<T>(as_int(sums[i]) * scale));
  else
    for (std::int64_t i = 0; i < n; ++i) put(out, i, saturated<T>(static_cast<double>(sums[i]) * scale));
}

template <class Sum>
void finish_row(const Sum* sums, Type type, char* out, std::int64_t n, double scale, bool narrow) {
  switch (type) {
    case Type::u8:
      return finish<std::uint8_t>(sums, out, n, scale, narrow);
    case Type::u16:
      return finish<std::uint16_t>(sums, out, n, scale, narrow);
    case Type::s16:
      return finish<std::int16_t>(sums, out, n, scale, narrow);
    case Type::s32:
      return finish<std::int32_t>(sums, out, n, scale, narrow);
    case Type::f32:
      return finish<float>(sums, out, n, scale, narrow);
    default:
      return finish<double>(sums, out, n, scale, narrow);
  }
}

/// OpenCV's division of sums of 2 to 256 pixels of 8 bits by their number, in fixed point (ColumnSum<ushort, uchar>).
void divide_in_fixed_point(const float* sums, char* out, std::int64_t count, std::uint32_t n) {
  const double exact = static_cast<double>(1 << 23) / n;
  std::uint32_t factor = static_cast<std::uint32_t>(exact), delta = n / 2;
  if (exact - factor < 0.5)
    ++delta;
  else
    ++factor;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t quotient = (static_cast<std::uint32_t>(as_int(sums[i])) + delta) * factor >> 23;
    put(out, i, static_cast<std::uint8_t>(quotient < 255 ? quotient : 255));
  }
}

/// The window's sums of one image of 1 to 4 channels, or means, into an array of floats.
void window_values(const Filter& f, const ConstView& image, const View& into, bool means) {
  const PlanKey key = plan_key(f, image.shape);
  const KeptMemory sum_memory(bytes_of(image.shape, key.types.table));
  const KeptMemory squares_memory(f.of_squares ? bytes_of(image.shape, type_of(key.squares)) : 0);
  const View sum(sum_memory.data(), key.types.table, image.shape);
  const View squares = f.of_squares ? View(squares_memory.data(), type_of(key.squares), image.shape) : View();
  kept_plan(key)->execute({image, sum, {}, squares});

  ConstView read = f.of_squares ? squares : sum;
  if (adds_in_32_bits(f)) read.type = Type::s32;
  const SatView view(read, Border::none);
  means ? window_means(view, f.window, into, execution()) : window_sums(view, f.window, into, execution());
}

/// Copies one of several interleaved channels out of an image, or into one.
void copy_channel(const char* from, std::int64_t from_step, char* to, std::int64_t to_step, std::int64_t n,
                  std::size_t size) {
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_step, from + i * from_step, size);
}

/// The same of any number of channels, one after another where a table does not take as many.
void values_of_all(const Filter& f, const View& into, bool means) {
  const Shape& shape = f.image.shape;
  if (shape.channels <= 4) return window_values(f, f.image, into, means);
  const Shape plane{shape.width, shape.height};
  const KeptMemory pixels(bytes_of(plane, f.image.type)), values(bytes_of(plane, into.type));
  const View one(pixels.data(), f.image.type, plane), answer(values.data(), into.type, plane);
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    for (std::int64_t y = 0; y < shape.height; ++y)
      copy_channel(static_cast<const char*>(f.image.row(y, c)), f.image.column_pitch(), static_cast<char*>(one.row(y)),
                   one.column_pitch(), shape.width, size_of(one.type));
    window_values(f, one, answer, means);
    for (std::int64_t y = 0; y < shape.height; ++y)
      copy_channel(static_cast<const char*>(answer.row(y)), answer.column_pitch(), static_cast<char*>(into.row(y, c)),
                   into.column_pitch(), shape.width, size_of(into.type));
  }
}

void run(const Filter& f) {
  const Shape& shape = f.image.shape;
  if (is_float(f.image.type) && f.out.type == Type::f32) return values_of_all(f, f.out, f.normalized);

  // 32f holds sums below 2^24
  const Type type =
      is_float(f.image.type) || largest(f.image.type, f.of_squares) * f.cells() > 16777216 ? Type::f64 : Type::f32;
  const KeptMemory memory(bytes_of(shape, type));
  const View sums(memory.data(), type, shape);
  values_of_all(f, sums, false);

  const bool narrow = adds_in_32_bits(f);
  const double scale = f.normalized ? 1 / f.cells() : 1;
  const bool in_fixed_point = f.image.type == Type::u8 && f.out.type == Type::u8 && !f.of_squares && f.normalized &&
                              f.cells() > 1 && f.cells() <= 256;
  const std::int64_t n = shape.width * shape.channels;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    char* const out = static_cast<char*>(f.out.row(y));
    if (in_fixed_point)
      divide_in_fixed_point(static_cast<const float*>(sums.row(y)), out, n, static_cast<std::uint32_t>(f.cells()));
    else if (type == Type::f32)
      finish_row(static_cast<const float*>(sums.row(y)), f.out.type, out, n, scale, narrow);
    else
      finish_row(static_cast<const double*>(sums.row(y)), f.out.type, out, n, scale, narrow);
  }
}

Edge edge_named(const std::string& name) {
  if (name == "zero") return Edge::zero;
  if (name == "replicate") return Edge::replicate;
  if (name == "symmetric") return Edge::symmetric;
  if (name == "reflect") return Edge::reflect;
  throw InvalidArgument("edge " + name + ": may be zero, replicate, symmetric or reflect");
}

/// False where the image does not lie in rows of adjacent pixels: the caller copies it.
bool filter(const AnyArray& image, const nb::ndarray<>& out, std::int64_t width, std::int64_t height,
            std::int64_t anchor_x, std::int64_t anchor_y, const std::string& edge, bool normalized, bool of_squares) {
  const std::optional<ConstView> pixels = read_view(image, false);
  if (!pixels) return false;
  const std::optional<View> into = write_view(out, false);
  if (!into) throw InvalidArgument("dst: its elements do not lie in rows of neighbours");
  if (into->shape != pixels->shape) throw InvalidArgument("dst: its extents are not the image's");
  Filter f{*pixels, *into, {}, normalized, of_squares};
  f.window = {width, height, anchor_x, anchor_y, edge_named(edge)};
  const nb::gil_scoped_release released;
  run(f);
  return true;
}

}  // namespace
}  // namespace areal::python::dropin

namespace areal::python {

void bind_dropin_filters(nb::module_& m) {
  m.def("dropin_filter", &dropin::filter, nb::arg("image"), nb::arg("out").noconvert(), nb::arg("width"),
        nb::arg("height"), nb::arg("anchor_x"), nb::arg("anchor_y"), nb::arg("edge"), nb::arg("normalized"),
        nb::arg("of_squares"));
}

}  // namespace areal::python
