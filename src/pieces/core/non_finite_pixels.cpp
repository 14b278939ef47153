#include "pieces/core/non_finite_pixels.hpp"
#include <areal/type.hpp>

namespace areal::pieces {
namespace {

/// The bits of a type of floats: the exponent is all ones in NaN and infinities, the mantissa zero in infinities.
template <class T>
struct Bits {
  static constexpr T exponent = sizeof(T) == 2 ? T{0x7c00} : sizeof(T) == 4 ? T(0x7f800000) : T(0x7ff0000000000000);
  static constexpr T sign = T(T{1} << (8 * sizeof(T) - 1));
};

template <class T>
bool has_any(const T* row, std::int64_t n) noexcept {
  bool any = false;
  for (std::int64_t i = 0; i < n; ++i) any |= (row[i] & Bits<T>::exponent) == Bits<T>::exponent;
  return any;
}

/// Pixels `step` elements apart.
template <class T>
void take_out(T* row, std::int64_t width, std::int64_t step, std::uint8_t* marks) noexcept {
  for (std::int64_t x = 0; x < width; ++x, row += step, marks += non_finite_kinds) {
    if ((*row & Bits<T>::exponent) != Bits<T>::exponent) continue;
    const bool is_nan = (*row & ~(Bits<T>::exponent | Bits<T>::sign)) != 0;
    marks[is_nan ? 0 : (*row & Bits<T>::sign) == 0 ? 1 : 2] = 1;
    *row = 0;
  }
}

template <class F>
auto with_words(Type type, F&& f) {
  if (type == Type::f16) return f(std::uint16_t{});
  if (type == Type::f32) return f(std::uint32_t{});
  return f(std::uint64_t{});
}

}  // namespace

bool has_non_finite(const ConstView& rows) noexcept {
  const bool planar = rows.shape.layout == Layout::planar;
  const std::int64_t planes = planar ? rows.shape.channels : 1, step = planar ? 1 : rows.shape.channels;
  return with_words(rows.type, [&]<class T>(T) {
    bool any = false;
    for (std::int64_t p = 0; p < planes; ++p)
      for (std::int64_t y = 0; y < rows.shape.height; ++y)
        any |= has_any(static_cast<const T*>(rows.row(y, p)), rows.shape.width * step);
    return any;
  });
}

void take_out_non_finite(const View& rows, std::int64_t y, std::int64_t channel, std::uint8_t* marks) noexcept {
  const std::int64_t step = rows.shape.layout == Layout::planar ? 1 : rows.shape.channels;
  with_words(rows.type,
             [&]<class T>(T) { take_out(static_cast<T*>(rows.row(y, channel)), rows.shape.width, step, marks); });
}

}  // namespace areal::pieces
