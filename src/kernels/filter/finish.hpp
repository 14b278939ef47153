#pragma once
// Outputs of any statistic and type from a window's sums, exact integers or doubles: doubles in the CPU's order, then
// one rounding to the output's type.

#include <areal/filter.hpp>
#include <areal/type.hpp>
#include <cmath>
#include <cstdint>
#include <variant>
#include "formulas/local_threshold.hpp"
#include "formulas/rounding.hpp"
#include "formulas/variance.hpp"
#include "kernels/filter/request.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

enum class FilterStatistic : std::uint8_t { sum, mean, count, variance, standard_deviation, threshold, none };

struct FilterFinish {
  FilterStatistic statistic = FilterStatistic::none;
  double ddof = 0;
  formulas::LocalThreshold local = {};
  bool decides = false;  ///< outputs are `above` where the pixel is above its threshold, else `below`
  double above = 0, below = 0;
  Type out = Type::u8;
  bool wide = false;               ///< n S2 may exceed 64 bits
  bool quick = false;              ///< decisions are tried in 32f first
  double min_count = 1, fill = 0;  ///< outputs of windows with fewer pixels
  int centre_x = 0, centre_y = 0;
  bool pixel_aligned = false, out_aligned = false;

  FilterFinish() = default;
  explicit FilterFinish(const FilterRequest& request)
      : out(request.out),
        wide(static_cast<double>(request.columns.size) * static_cast<double>(request.rows.size) > 0x1p16),
        min_count(static_cast<double>(request.min_count)),
        fill(request.fill),
        centre_x(static_cast<int>(request.centre_x)),
        centre_y(static_cast<int>(request.centre_y)) {
    std::visit([&](const auto& one) { set(one); }, request.filter);
    if (const auto* one = std::get_if<filter::Threshold>(&request.filter)) {
      statistic = FilterStatistic::threshold;
      local = formulas::LocalThreshold(*one, request.in);
      decides = !is_float(request.out);
      above = one->inverted ? 0 : one->high, below = one->inverted ? one->high : 0;
      const auto moderate = [](double x) { return x > -1e6 && x < 1e6; };
      quick = decides && !wide && size_of(request.in) <= 2 && moderate(local.k) && moderate(local.offset) &&
              (local.method != filter::Local::sauvola || local.r > 1e-3) && moderate(local.r);
    }
  }
  bool needs_squares() const {
    return statistic == FilterStatistic::variance || statistic == FilterStatistic::standard_deviation ||
           (statistic == FilterStatistic::threshold && local.needs_squares());
  }

  /// A threshold in 32f, from the same sums, and a bound of its distance from the one in 64f. Each operation errs by at
  /// most 2^-24 of its result, and no chain of them has more than 16; the bound is 32 times 2^-24 of all terms' sizes.
  struct QuickThreshold {
    float value, bound;
  };
  AREAL_DEVICE QuickThreshold quick_threshold(std::uint64_t magnitude, bool negative, std::uint64_t squares,
                                              std::uint64_t n) const {
    using filter::Local;
    const float per_pixel = 1.0f / static_cast<float>(n), size = static_cast<float>(magnitude) * per_pixel;
    const float mean = negative ? -size : size, k = static_cast<float>(local.k), off = static_cast<float>(local.offset);
    const float strength = k < 0 ? -k : k, shift = off < 0 ? -off : off;
    float value = mean, terms = size;
    if (local.method == Local::bradley) {
      value = mean * (1 - k), terms = size * (1 + strength);
    } else if (local.method != Local::mean) {
      float root = 0;
      if (local.method == Local::nick) {
        root = std::sqrt((static_cast<float>(squares) - size * size) * per_pixel);  // n >= 2: at most a factor of 3
      } else {
        root = std::sqrt(static_cast<float>(n * squares - magnitude * magnitude)) * per_pixel;
      }
      if (local.method == Local::sauvola) {
        const float share = root / static_cast<float>(local.r);
        value = mean * (1 + k * (share - 1)), terms = size * (1 + strength * (share + 1));
      } else {
        value = mean + k * root, terms = size + 3 * strength * root;
      }
    }
    return {value - off, (terms + shift) * 0x1p-19f};
  }

  /// From |S1|, S2 and n.
  AREAL_DEVICE double numerator(std::uint64_t sum, std::uint64_t squares, std::uint64_t n) const {
    if (!wide) return static_cast<double>(n * squares - sum * sum);
    return static_cast<double>(static_cast<formulas::Wide128>(n) * squares - static_cast<formulas::Wide128>(sum) * sum);
  }
  template <class Pixel>
  AREAL_DEVICE double operator()(std::uint64_t sum, bool is_signed, std::uint64_t squares, std::uint64_t n,
                                 const Pixel& pixel) const {
    const bool negative = is_signed && static_cast<std::int64_t>(sum) < 0;
    if (quick && n > 1) {
      const auto at = static_cast<float>(pixel());
      const QuickThreshold found = quick_threshold(negative ? 0 - sum : sum, negative, squares, n);
      const float distance = at - found.value;
      if (distance > found.bound) return above;
      if (-distance > found.bound) return below;
    }
    const double real = is_signed ? static_cast<double>(static_cast<std::int64_t>(sum)) : static_cast<double>(sum);
    const auto top = [&] { return numerator(negative ? 0 - sum : sum, squares, n); };
    return value_of(real, static_cast<double>(squares), static_cast<double>(n), top, pixel);
  }

  /// From sums in double. top() is n S2 - S1^2, at least 0.
  template <class Top, class Pixel>
  AREAL_DEVICE double of_reals(double sum, double squares, double count, const Top& top, const Pixel& pixel) const {
    if (count < min_count) return fill;
    return value_of(sum, squares, count, top, pixel);
  }

 private:
  template <class Top, class Pixel>
  AREAL_DEVICE double value_of(double sum, double squares, double count, const Top& top, const Pixel& pixel) const {
    if (statistic == FilterStatistic::sum) return sum;
    if (statistic == FilterStatistic::count) return count;
    const double mean = sum / count;
    if (statistic == FilterStatistic::mean) return mean;
    double root = 0;
    if (needs_root()) {
      if (statistic != FilterStatistic::threshold) {
        if (!(count > ddof)) return formulas::not_a_number();
        const double variance = top() / (count * (count - ddof));
        return statistic == FilterStatistic::variance ? variance : std::sqrt(variance);
      }
      root = std::sqrt(local.radicand(count, mean, top() / (count * count), squares));
    }
    const double threshold = local.threshold(mean, root);
    return !decides ? threshold : pixel() > threshold ? above : below;
  }
  AREAL_BOTH bool needs_root() const {
    return statistic != FilterStatistic::threshold ||
           !(local.method == filter::Local::mean || local.method == filter::Local::bradley);
  }
  void set(const filter::Sum&) { statistic = FilterStatistic::sum; }
  void set(const filter::Mean&) { statistic = FilterStatistic::mean; }
  void set(const filter::Count&) { statistic = FilterStatistic::count; }
  void set(const filter::Variance& one) { statistic = FilterStatistic::variance, ddof = one.ddof; }
  void set(const filter::StandardDeviation& one) { statistic = FilterStatistic::standard_deviation, ddof = one.ddof; }
  template <class Other>
  void set(const Other&) {}
};

/// Rounds to the output's type, half to even, and saturates.
template <class M>
AREAL_DEVICE void store_rounded(const M& m, char* to, Type type, double value, bool aligned) {
  switch (type) {
    case Type::f64:
      return store_element(m, to, value, aligned);
    case Type::f32:
      return store_element(m, to, static_cast<float>(value), aligned);
    case Type::s32:
      return store_element(m, to, formulas::rounded<std::int32_t>(value), aligned);
    case Type::u16:
      return store_element(m, to, formulas::rounded<std::uint16_t>(value), aligned);
    case Type::s16:
      return store_element(m, to, formulas::rounded<std::int16_t>(value), aligned);
    case Type::s8:
      return store_element(m, to, formulas::rounded<std::int8_t>(value), aligned);
    default:
      return store_element(m, to, formulas::rounded<std::uint8_t>(value), aligned);
  }
}

}  // namespace areal::kernels
