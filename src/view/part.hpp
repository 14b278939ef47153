#pragma once
// What some pixels add up to: counts, sums, squares and extremes, exact for integers. Parts of a region add to the
// region's.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include "view/cells.hpp"
#include "view/element.hpp"

namespace areal::view {

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Neumaier's sum: the error does not grow with the number of terms.
struct Total {
  double sum = 0, lost = 0;
  void add(double value) noexcept {
    const double next = sum + value;
    lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
  }
  void add(const Total& other) noexcept {
    add(other.sum);
    lost += other.lost;
  }
  double value() const noexcept { return std::isfinite(lost) ? sum + lost : sum; }
};

inline std::string text_of(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// What the pixels of a channel are compared with.
template <class Value>
struct Reference {
  std::pair<double, double> range;
  Value pivot{};  // a pixel: deviations from it are small where the pixels are alike

  double away(Value value) const noexcept {
    if constexpr (std::is_floating_point_v<Value>)
      return static_cast<double>(value) - static_cast<double>(pivot);
    else
      return static_cast<double>(static_cast<__int128>(value) - static_cast<__int128>(pivot));
  }
};

/// The first finite pixel.
template <class T>
auto pivot_of(const ConstView& channel) noexcept {
  for (std::int64_t y = 0; y < channel.shape.height; ++y)
    for (std::int64_t x = 0; x < channel.shape.width; ++x)
      if (const auto value = element<T>(channel.row(y), x); std::isfinite(static_cast<double>(value))) return value;
  return decltype(value_of(T{})){};
}

/// What some pixels of element type T add up to.
template <class T>
struct Part {
  using Value = decltype(value_of(T{}));
  static constexpr bool is_float = std::is_floating_point_v<Value>;
  static constexpr bool has_squares = !is_float && sizeof(T) <= 2;  // exact in 128 bits for any number of pixels

  std::int64_t pixels = 0, nans = 0, under = 0, over = 0;
  Value least = std::numeric_limits<Value>::max(), most = std::numeric_limits<Value>::lowest();
  __int128 sum = 0;               // of integers
  unsigned __int128 squares = 0;  // of integers of up to 16 bits
  Total total;                    // of floats
  // Of floats and larger integers: the mean less the pivot, and the sum of squared deviations from the mean.
  double mean = 0, deviations = 0;

  void add(const void* row, std::int64_t from, std::int64_t to, const Reference<Value>& reference) noexcept {
    Part run;
    run.pixels = to - from;
    if constexpr (is_float) run.least = std::numeric_limits<Value>::infinity(), run.most = -run.least;
    using Sum = std::conditional_t<is_float, double, std::conditional_t<sizeof(T) == 8, __int128, std::int64_t>>;
    Sum added = 0;
    std::uint64_t squared = 0;
    for (std::int64_t x = from; x < to; ++x) {
      const Value value = element<T>(row, x);
      const auto real = static_cast<double>(value);
      added += static_cast<Sum>(+value);
      if constexpr (has_squares) {
        const std::int64_t wide = +value;  // by int: clang-tidy takes signed char for text
        squared +=
            static_cast<std::uint64_t>(wide < 0 ? -wide : wide) * static_cast<std::uint64_t>(wide < 0 ? -wide : wide);
      }
      run.least = value < run.least ? value : run.least;
      run.most = value > run.most ? value : run.most;
      run.under += real < reference.range.first ? 1 : 0;
      run.over += real > reference.range.second ? 1 : 0;
      if constexpr (is_float) run.nans += std::isnan(value) ? 1 : 0;
    }
    if constexpr (is_float)
      run.total.sum = added;
    else
      run.sum = added;
    if constexpr (has_squares) {
      run.squares = squared;
    } else {
      double away = 0;
      for (std::int64_t x = from; x < to; ++x) away += reference.away(element<T>(row, x));
      run.mean = away / static_cast<double>(run.pixels);
      for (std::int64_t x = from; x < to; ++x) {
        const double deviation = reference.away(element<T>(row, x)) - run.mean;
        run.deviations += deviation * deviation;
      }
    }
    add(run);
  }

  void add(const Part& other) noexcept {
    if (other.pixels == 0) return;
    if constexpr (!has_squares) {  // Chan, Golub and LeVeque 1979
      const double mine = static_cast<double>(pixels), its = static_cast<double>(other.pixels);
      const double apart = pixels == 0 ? 0 : other.mean - mean;
      deviations += other.deviations + apart * apart * (mine * its / (mine + its));
      mean = pixels == 0 ? other.mean : mean + apart * (its / (mine + its));
    }
    if constexpr (is_float)
      least = pixels == 0 ? other.least : std::min(least, other.least),
      most = pixels == 0 ? other.most : std::max(most, other.most);
    else
      least = std::min(least, other.least), most = std::max(most, other.most);
    pixels += other.pixels, nans += other.nans, under += other.under, over += other.over;
    sum += other.sum, squares += other.squares;
    total.add(other.total);
  }

  Moments moments() const {
    Moments m;
    m.pixels = pixels, m.nans = nans, m.under = under, m.over = over;
    if constexpr (is_float)
      m.sum = text_of(total.value());
    else
      m.sum = digits_of(sum);
    if (pixels == 0 || nans > 0) {
      m.mean = m.deviation = not_a_number;
      m.least = m.most = not_a_number;
      if (pixels == 0) m.sum = "0";
      return m;
    }
    const auto count = static_cast<long double>(pixels);
    if constexpr (is_float) {
      m.mean = total.value() / static_cast<double>(pixels);
      m.least = static_cast<double>(least), m.most = static_cast<double>(most);
    } else {
      m.mean = static_cast<double>(static_cast<long double>(sum) / count);
      if constexpr (std::is_signed_v<Value>)
        m.least = static_cast<std::int64_t>(least), m.most = static_cast<std::int64_t>(most);
      else
        m.least = static_cast<std::uint64_t>(least), m.most = static_cast<std::uint64_t>(most);
    }
    if constexpr (has_squares) {
      const auto size = static_cast<unsigned __int128>(sum < 0 ? -sum : sum);
      const auto spread = static_cast<unsigned __int128>(pixels) * squares - size * size;
      m.deviation = static_cast<double>(std::sqrt(static_cast<long double>(spread)) / count);
    } else {
      m.deviation = std::sqrt(deviations / static_cast<double>(pixels));
    }
    return m;
  }
};

}  // namespace areal::view
