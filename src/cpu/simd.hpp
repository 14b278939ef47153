#pragma once
// What the SIMD room says of the CPU it runs on.

#include <string>
#include <vector>

namespace areal::cpu {

/// Highway targets compiled in that this CPU runs, best first.
std::vector<std::string> simd_targets();

}  // namespace areal::cpu
