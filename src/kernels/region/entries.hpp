#pragma once
// All that tables on a device are asked, for one launcher.

#include <variant>
#include "kernels/region/boxes.hpp"
#include "kernels/region/convert.hpp"
#include "kernels/region/distance_map.hpp"
#include "kernels/region/distances.hpp"
#include "kernels/region/histograms.hpp"
#include "kernels/region/reduce.hpp"
#include "kernels/region/rotated.hpp"
#include "kernels/region/statistics.hpp"
#include "kernels/region/sums.hpp"
#include "kernels/region/windows.hpp"

namespace areal::kernels {

template <class Launcher>
void answer(Launcher& launcher, const RegionRequest& request) {
  std::visit([&](const auto& known) { answer(launcher, known); }, request);
}

}  // namespace areal::kernels
