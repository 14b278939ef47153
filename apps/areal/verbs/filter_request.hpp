#pragma once
// A filter with its parameters as text: those of `areal filter`, and of the page's layers.

#include <areal/filter.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace areal::command {

struct FilterRequest {
  std::string name, size, sizes, anchor, edge = "shrink", value, k, r, offset, high, ddof, q, mask, nan, min_count,
                                         fill, eps, guide, sigma, truncate, passes, sigma_range;
  bool inverted = false;
};

extern const std::vector<std::string> filter_names;

/// A local threshold.
bool is_threshold(const FilterRequest& request);
/// Both throw InvalidArgument for wrong use.
Filter filter_of(const FilterRequest& request);
FilterOptions options_of(const FilterRequest& request);

/// Sets an option that is no file by its name, such as "min-count"; false for another name. A flag is set by "true".
bool set_option(FilterRequest& request, std::string_view name, std::string value);

}  // namespace areal::command
