// Plans with the parameters of single algorithms.
#include <areal/research/histogram.hpp>
#include <areal/research/sat.hpp>
#include "api/histogram/histogram_plan.hpp"
#include "api/sat/sat_plan.hpp"
#include "formulas/tile_threads.hpp"

namespace areal::research {

SatPlan sat_plan(const Shape& image, Type input, const SatOptions& options, const SatParameters& parameters,
                 const Execution& execution) {
  return SatPlan(plan_sat(image, input, options, execution, parameters));
}

HistogramPlan histogram_plan(const Shape& image, Type type, const Binning& binning, const HistogramOptions& options,
                             const HistogramParameters& parameters, const Execution& execution) {
  return HistogramPlan(plan_histogram(image, type, binning, options, execution, parameters));
}

std::span<const int> tile_threads(int tile) noexcept { return formulas::tile_threads(tile); }
int default_tile_threads(int tile) noexcept { return formulas::default_tile_threads(tile); }

}  // namespace areal::research
