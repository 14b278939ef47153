#include "view/compare.hpp"

#include <vector>

namespace areal::view {

std::array<double, measures.size()> distances_between(const Answer& a, const Answer& b) {
  const auto shares_of = [](const Answer& answer) {
    std::vector<double> shares(answer.histogram.begin(), answer.histogram.end());
    normalise(shares, shares);
    return shares;
  };
  const std::vector<double> p = shares_of(a), q = shares_of(b);
  std::array<double, measures.size()> distances{};
  for (std::size_t i = 0; i < measures.size(); ++i) distances[i] = distance(measures[i], p, q);
  return distances;
}

}  // namespace areal::view
