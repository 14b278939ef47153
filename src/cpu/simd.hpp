#pragma once
// What the SIMD room says of the CPU it runs on.

#include <string>
#include <string_view>
#include <vector>

namespace areal::cpu {

/// Highway targets compiled in that this CPU runs, best first.
std::vector<std::string> simd_targets();

/// For tests, while nothing else runs: every kernel uses that target, one of `simd_targets()`, until called with "".
/// False where there is no such target.
bool only_simd_target(std::string_view name);

}  // namespace areal::cpu
