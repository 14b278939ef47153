#include "track_score.hpp"

#include <algorithm>
#include <cmath>

namespace areal::command {

double overlap(const TrackedBox& a, const TrackedBox& b) {
  const double width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
  const double height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  const double both = std::max(0.0, width) * std::max(0.0, height);
  const double either = a.width * a.height + b.width * b.height - both;
  return either > 0 ? both / either : 0;
}

TrackScore score(const std::vector<BoxPair>& pairs, std::int64_t missing) {
  constexpr int steps = 20;    // thresholds of the success curve between 0 and 1
  constexpr double near = 20;  // pixels
  double overlaps = 0;
  std::int64_t above = 0, precise = 0;
  for (const auto& [found, truth] : pairs) {
    const double shared = overlap(found, truth);
    overlaps += shared;
    for (int i = 0; i <= steps; ++i) above += shared > static_cast<double>(i) / steps;
    const double dx = found.x + found.width / 2 - (truth.x + truth.width / 2);
    const double dy = found.y + found.height / 2 - (truth.y + truth.height / 2);
    precise += std::hypot(dx, dy) <= near;
  }
  const double n = static_cast<double>(pairs.size()) + static_cast<double>(missing);
  return {overlaps / n, static_cast<double>(above) / ((steps + 1) * n), static_cast<double>(precise) / n};
}

}  // namespace areal::command
