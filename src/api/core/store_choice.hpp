#pragma once

#include <areal/histogram_store.hpp>
#include <span>

namespace areal {

/// For one image after another: true if counting the pixels of these regions, which lie inside the image, is expected
/// to be less work than the compact store of the plan.
bool counting_is_less(const StorePlan& compact, std::span<const Region> regions);

}  // namespace areal
