#pragma once
// The choice of `auto` among the algorithms of filters.

#include <areal/filter.hpp>
#include <areal/type.hpp>
#include <string_view>
#include <variant>
#include <vector>

namespace areal::policy {

inline bool is_extreme(const Filter& filter) {
  return std::holds_alternative<filter::Minimum>(filter) || std::holds_alternative<filter::Maximum>(filter);
}

/// `walk` subtracts the row that leaves a window, which only integers allow, and only in sums.
inline bool walk_takes(const Filter& filter, Type in) { return !is_float(in) && !is_extreme(filter); }

/// Best first.
inline std::vector<std::string_view> ranked_filters(const Filter& filter, Type in) {
  if (walk_takes(filter, in)) return {"walk"};
  if (is_extreme(filter)) return {"van-herk", "blocks"};
  return {"blocks"};
}

}  // namespace areal::policy
