#pragma once
// A histogram's plan with its workspace in memory of a lane.

#include <areal/histogram.hpp>
#include "cluster/planned.hpp"

namespace areal::cluster {

using PlannedHistogram = Planned<HistogramPlan>;

}  // namespace areal::cluster
