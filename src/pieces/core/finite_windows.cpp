#include "pieces/core/finite_windows.hpp"
#include <algorithm>
#include <areal/sat.hpp>
#include <cstring>
#include <limits>
#include "api/core/copy_rows.hpp"
#include "pieces/core/non_finite_pixels.hpp"

namespace areal::pieces {
namespace {

constexpr std::int64_t kinds = non_finite_kinds;

template <class V>
auto* pixel_of(const V& rows, std::int64_t x, std::int64_t y, std::int64_t channel) {
  using Byte = std::conditional_t<std::is_same_v<V, ConstView>, const char, char>;
  return static_cast<Byte*>(rows.row(y, channel)) + x * rows.column_pitch();
}

/// NaN, infinity and minus infinity, as outputs of windows have them.
template <class T>
struct Special {
  using Limits = std::numeric_limits<T>;
  static constexpr T nan = Limits::has_quiet_NaN ? Limits::quiet_NaN() : T{};
  static constexpr T above = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static constexpr T below = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
};

/// Of the types that windows have.
template <class F>
void with_output(Type type, const F& f) {
  switch (type) {
    case Type::u8:
      return f(std::uint8_t{});
    case Type::s8:
      return f(std::int8_t{});
    case Type::u16:
      return f(std::uint16_t{});
    case Type::s16:
      return f(std::int16_t{});
    case Type::s32:
      return f(std::int32_t{});
    case Type::f32:
      return f(float{});
    default:
      return f(double{});
  }
}

}  // namespace

FiniteWindows::FiniteWindows(const ConstView& image, const ConstView& mask, bool ignore_nan, const Window& window,
                             const Execution& execution)
    : pixels_(image.shape, image.type) {
  const Shape& shape = image.shape;
  const View pixels = pixels_.view();
  copy_rows(image, pixels);
  Array marks({shape.width, shape.height, kinds, shape.channels}, Type::u8);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t c = 0; c < shape.channels; ++c) {
      auto* const row = static_cast<std::uint8_t*>(marks.view().row(y, 0, c));
      std::fill_n(row, shape.width * kinds, std::uint8_t{0});
      take_out_non_finite(pixels, y, c, row);
    }
    for (std::int64_t x = 0; (mask.data != nullptr || ignore_nan) && x < shape.width; ++x) {
      const auto marks_in = [&](std::int64_t c) {
        return static_cast<std::uint8_t*>(marks.view().row(y, 0, c)) + x * kinds;
      };
      bool left_out = mask.data != nullptr && static_cast<const std::uint8_t*>(mask.row(y))[x] == 0;
      for (std::int64_t c = 0; ignore_nan && c < shape.channels; ++c) left_out |= marks_in(c)[0] != 0;
      for (std::int64_t c = 0; left_out && c < shape.channels; ++c) {
        std::fill_n(marks_in(c), kinds, std::uint8_t{0});
        std::memcpy(pixel_of(pixels, x, y, c), pixel_of(image, x, y, c), size_of(image.type));
      }
    }
  }
  Window same = window;
  if (same.edge == Edge::constant) same.edge = Edge::zero;
  Shape counted = window_shape(shape.width, shape.height, same);
  counted.channels = kinds, counted.batch = shape.channels;
  counts_ = Array(counted, Type::f64);
  const SatTable table = sat(marks.view(), {}, execution);
  window_sums(SatView(TableView(table.sum(), table.border())), same, counts_.view(), execution);
}

void FiniteWindows::mark(const View& values, bool spread) const {
  with_output(values.type, [&]<class T>(T) {
    for (std::int64_t c = 0; c < values.shape.channels; ++c)
      for (std::int64_t y = 0; y < values.shape.height; ++y) {
        const auto* has = static_cast<const double*>(counts_.view().row(y, 0, c));
        for (std::int64_t x = 0; x < values.shape.width; ++x, has += kinds) {
          const NonFiniteSum sum = non_finite_sum(has);
          if (sum == NonFiniteSum::none) continue;
          const T value = spread || sum == NonFiniteSum::nan ? Special<T>::nan
                          : sum == NonFiniteSum::above       ? Special<T>::above
                                                             : Special<T>::below;
          std::memcpy(pixel_of(values, x, y, c), &value, sizeof(value));
        }
      }
  });
}

}  // namespace areal::pieces
