#include "pieces/strips/non_finite.hpp"

#include <algorithm>
#include <areal/type.hpp>
#include <cstring>
#include <limits>

namespace areal::pieces {
namespace {

constexpr std::int64_t kinds = 3;  // NaN, +infinity, -infinity

/// The bits of a type of floats: the exponent is all ones in NaN and infinities, the mantissa zero in infinities.
template <class T>
struct Bits {
  using Word = T;
  static constexpr T exponent = sizeof(T) == 2 ? T{0x7c00} : sizeof(T) == 4 ? T(0x7f800000) : T(0x7ff0000000000000);
  static constexpr T sign = T(T{1} << (8 * sizeof(T) - 1));
};

template <class T>
bool has_any(const T* row, std::size_t n) noexcept {
  bool any = false;
  for (std::size_t i = 0; i < n; ++i) any |= (row[i] & Bits<T>::exponent) == Bits<T>::exponent;
  return any;
}

/// Marks the pixels of one channel, `step` elements apart, that are not finite, and makes them 0.
template <class T>
void take_out(T* row, std::int64_t width, std::int64_t step, std::uint8_t* marks) noexcept {
  for (std::int64_t x = 0; x < width; ++x, row += step, marks += kinds) {
    if ((*row & Bits<T>::exponent) != Bits<T>::exponent) continue;
    const bool is_nan = (*row & ~(Bits<T>::exponent | Bits<T>::sign)) != 0;
    marks[is_nan ? 0 : (*row & Bits<T>::sign) == 0 ? 1 : 2] = 1;
    *row = 0;
  }
}

template <class F>
void with_words(Type type, F&& f) {
  if (type == Type::f16) return f(std::uint16_t{});
  if (type == Type::f32) return f(std::uint32_t{});
  f(std::uint64_t{});
}

}  // namespace

NonFinite::NonFinite(const Shape& image, Type type, std::vector<Region> regions)
    : image_(image), type_(type), regions_(std::move(regions)) {}

void NonFinite::restart() {
  planes_.clear();
  counts_.clear();
}

void NonFinite::begin(std::int64_t rows_before) {
  const Shape marks{image_.width, image_.height, kinds};
  const std::int64_t at_once = std::clamp<std::int64_t>(rows_before, 1, 64);
  const std::vector<std::uint8_t> none(static_cast<std::size_t>(image_.width * kinds * at_once));
  for (std::int64_t c = 0; c < image_.channels; ++c) {
    planes_.emplace_back(marks, Type::u8, regions_, StripSumsOptions{},
                         StripOptions{.execution = {.backend = Backend::cpu}});
    planes_.back().begin();
    for (std::int64_t y = 0; y < rows_before; y += at_once) {
      const Shape rows{image_.width, std::min(at_once, rows_before - y), kinds};
      planes_.back().push(0, y, ConstView(none.data(), Type::u8, rows));
    }
  }
}

void NonFinite::take(std::int64_t y, const View& rows) {
  const std::int64_t width = rows.shape.width, height = rows.shape.height, channels = image_.channels;
  if (rows.shape.empty()) return;
  const bool planar = rows.shape.layout == Layout::planar;
  const std::int64_t planes = planar ? channels : 1, step = planar ? 1 : channels;
  with_words(type_, [&]<class T>(T) {
    bool any = false;
    for (std::int64_t p = 0; p < planes; ++p)
      for (std::int64_t i = 0; i < height; ++i)
        any |= has_any(static_cast<const T*>(rows.row(i, p)), static_cast<std::size_t>(width * step));
    if (any && planes_.empty()) begin(y);
    if (planes_.empty()) return;
    marks_.resize(static_cast<std::size_t>(width * height * kinds));
    for (std::int64_t c = 0; c < channels; ++c) {
      std::fill(marks_.begin(), marks_.end(), std::uint8_t{0});
      for (std::int64_t i = 0; any && i < height; ++i)
        take_out(static_cast<T*>(rows.row(i, c)), width, step, marks_.data() + i * width * kinds);
      planes_[static_cast<std::size_t>(c)].push(0, y, ConstView(marks_.data(), Type::u8, Shape{width, height, kinds}));
    }
  });
}

void NonFinite::finish() {
  for (StripSums& plane : planes_) {
    plane.finish();
    counts_.push_back(plane.sums<std::uint64_t>());
  }
  planes_.clear();
}

NonFinite::Counts NonFinite::counts(std::size_t answer) const noexcept {
  if (counts_.empty()) return {};
  const auto channels = static_cast<std::size_t>(image_.channels);
  const std::uint64_t* const of = counts_[answer % channels].data() + answer / channels * kinds;
  return {of[0], of[1], of[2]};
}

double NonFinite::sum(std::size_t answer, double finite) const noexcept {
  const Counts has = counts(answer);
  if (has.nan > 0 || (has.above > 0 && has.below > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (has.above > 0) return std::numeric_limits<double>::infinity();
  return has.below > 0 ? -std::numeric_limits<double>::infinity() : finite;
}

double NonFinite::squares(std::size_t answer, double finite) const noexcept {
  const Counts has = counts(answer);
  if (has.nan > 0) return std::numeric_limits<double>::quiet_NaN();
  return has.above + has.below > 0 ? std::numeric_limits<double>::infinity() : finite;
}

bool NonFinite::in(std::size_t answer) const noexcept {
  const Counts has = counts(answer);
  return has.nan + has.above + has.below > 0;
}

}  // namespace areal::pieces
