#pragma once
// The names of statistics and edges, and the windows of a table.

#include <areal/table.hpp>
#include <areal/window.hpp>
#include <string_view>

namespace areal::python {

enum class Statistic { sum, mean, variance, deviation };

/// Throws InvalidArgument with the choices.
Statistic statistic_of(std::string_view name);
Edge edge_of(std::string_view name);

/// One of window_sums, window_means, window_variances and window_standard_deviations.
void windows_of(const SatView& table, const Window& window, Statistic statistic, const View& out,
                const Execution& execution);

}  // namespace areal::python
