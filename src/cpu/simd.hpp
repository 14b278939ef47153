#pragma once
// The SIMD targets of this CPU.

#include <string>
#include <string_view>
#include <vector>

namespace areal::cpu {

/// The compiled Highway targets that this CPU supports, best first.
std::vector<std::string> simd_targets();

/// For tests, while nothing else runs: restricts every kernel to that target, one of `simd_targets()`, until called
/// with "". False if there is no such target.
bool only_simd_target(std::string_view name);

}  // namespace areal::cpu
