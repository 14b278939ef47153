#pragma once
// How far the histograms of regions are from each other.

#include <areal/histogram_measures.hpp>
#include <array>
#include "view/answer.hpp"

namespace areal::view {

/// The distances of a comparison, in the order of the page's menu.
inline constexpr std::array<Distance, 7> measures{Distance::hellinger,         Distance::l1,  Distance::l2,
                                                  Distance::chi_square,        Distance::emd, Distance::intersection,
                                                  Distance::kolmogorov_smirnov};

/// Of the shares of two histograms with the same bins; pixels outside the range do not count.
std::array<double, measures.size()> distances_between(const Answer& a, const Answer& b);

}  // namespace areal::view
