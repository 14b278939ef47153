#include "cpu/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
const char* target() { return hwy::TargetName(HWY_TARGET); }
}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
HWY_EXPORT(target);  // keeps the list of compiled targets in step with the kernels

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  const auto compiled = static_cast<std::int64_t>(HWY_TARGETS) & hwy::SupportedTargets();
  // A lower bit is a better target.
  for (int bit = 0; bit < 63; ++bit)
    if (compiled >> bit & 1) names.emplace_back(hwy::TargetName(std::int64_t{1} << bit));
  return names;
}

bool only_simd_target(std::string_view name) {
  hwy::SetSupportedTargetsForTest(0);  // removes the restriction
  std::int64_t only = 0;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
    if (name == hwy::TargetName(target)) only = target;
  hwy::SetSupportedTargetsForTest(only);
#if HWY_MAJOR >= 1
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
#else
  hwy::GetChosenTarget().Update();
#endif
  return only != 0 || name.empty();
}
}  // namespace areal::cpu
#endif
