#pragma once
// The queries of tables on a device, for one launcher.

#include <variant>
#include "kernels/query/boxes.hpp"
#include "kernels/query/compact_counts.hpp"
#include "kernels/query/convert.hpp"
#include "kernels/query/counts.hpp"
#include "kernels/query/distance_map.hpp"
#include "kernels/query/distances.hpp"
#include "kernels/query/fragments.hpp"
#include "kernels/query/histograms.hpp"
#include "kernels/query/rank_values.hpp"
#include "kernels/query/reduce.hpp"
#include "kernels/query/rotated.hpp"
#include "kernels/query/run.hpp"
#include "kernels/query/scatter.hpp"
#include "kernels/query/statistics.hpp"
#include "kernels/query/sums.hpp"
#include "kernels/query/window_query.hpp"

namespace areal::kernels {

template <class Launcher, TypeGroup>
QueryKernels<Launcher> Queries::find(const Key&) {
  return {[](Launcher& launcher, const RegionRequest& request) {
    std::visit([&](const auto& known) { run_query(launcher, known); }, request);
  }};
}

}  // namespace areal::kernels
