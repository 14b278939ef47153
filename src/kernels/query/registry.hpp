#pragma once
// All that tables on a device are asked, for one launcher.

#include <variant>
#include "kernels/query/boxes.hpp"
#include "kernels/query/convert.hpp"
#include "kernels/query/distance_map.hpp"
#include "kernels/query/distances.hpp"
#include "kernels/query/histograms.hpp"
#include "kernels/query/reduce.hpp"
#include "kernels/query/rotated.hpp"
#include "kernels/query/statistics.hpp"
#include "kernels/query/sums.hpp"
#include "kernels/query/windows.hpp"

namespace areal::kernels {

template <class Launcher>
void answer(Launcher& launcher, const RegionRequest& request) {
  std::visit([&](const auto& known) { answer(launcher, known); }, request);
}

}  // namespace areal::kernels
