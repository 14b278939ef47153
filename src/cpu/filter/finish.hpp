#pragma once
// What a filter's outputs need.

#include <limits>
#include <type_traits>
#include <variant>
#include "cpu/filter/request.hpp"
#include "cpu/filter/walk_rows.hpp"

namespace areal::cpu {

/// Whether outputs compare with numbers of the whole image.
inline bool is_wolf(const Filter& filter) {
  const auto* const threshold = std::get_if<filter::Threshold>(&filter);
  return threshold != nullptr && threshold->method == filter::Local::wolf;
}

/// For a filter other than minimum and maximum.
inline Finish finish_of(const FilterRequest& request) {
  Finish finish;
  finish.in = request.in, finish.out = request.out;
  finish.rounding = request.rounding;
  finish.min_count = static_cast<double>(request.min_count);
  finish.fill = request.fill;
  std::visit(
      [&](const auto& one) {
        using One = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<One, filter::Mean>) finish.statistic = Statistic::mean;
        if constexpr (std::is_same_v<One, filter::Count>) finish.statistic = Statistic::count;
        if constexpr (std::is_same_v<One, filter::Variance>)
          finish.statistic = Statistic::variance, finish.ddof = one.ddof;
        if constexpr (std::is_same_v<One, filter::StandardDeviation>)
          finish.statistic = Statistic::standard_deviation, finish.ddof = one.ddof;
        if constexpr (std::is_same_v<One, filter::Threshold>) {
          finish.statistic = Statistic::threshold;
          finish.local = formulas::LocalThreshold(one, request.in);
          finish.decides = !is_float(request.out);
          finish.above = one.inverted ? 0 : one.high;
          finish.below = one.inverted ? one.high : 0;
        }
      },
      request.filter);
  return finish;
}

}  // namespace areal::cpu
