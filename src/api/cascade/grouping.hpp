#pragma once
// Windows that agree on an object, as one box: OpenCV's groupRectangles.

#include <areal/cascade.hpp>
#include <cstdint>
#include <vector>

namespace areal {

/// The means of groups of more than `least` windows, in the order of their first window.
std::vector<Detection> grouped(const std::vector<Detection>& windows, std::int64_t least);

}  // namespace areal
