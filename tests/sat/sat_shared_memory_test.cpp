// Shared memory of our kernels' blocks compared with devices' limits: 99 KiB from sm_86 on, 64 KiB at sm_75.
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/type_pair.hpp>
#include <cstddef>
#include <string>
#include "kernels/sat/registry.hpp"
#include "policy/sat_choice.hpp"

namespace areal::kernels {
namespace {

constexpr std::size_t KiB = 1024;

template <class In, class T>
std::size_t bytes_of(std::string_view id) {
  if (id == "lookback") return sizeof(typename Lookback<NoMachine, LookbackConfig<In, T, GatherByRows>>::Shared);
  if (id == "lookback-diagonal")
    return sizeof(typename Lookback<NoMachine, LookbackConfig<In, T, GatherAlongDiagonals>>::Shared);
  if (id == "all-partials")
    return sizeof(typename Lookback<NoMachine, LookbackConfig<In, T, GatherAllPartials>>::Shared);
  return sizeof(typename Thin<NoMachine, ThinConfig<In, T>>::Shared);
}

template <class In, class T>
void expect_fit(const std::string& types) {
  for (const char* id : {"lookback", "lookback-diagonal", "all-partials", "thin"})
    EXPECT_LE((bytes_of<In, T>(id)), 99 * KiB) << types << ", " << id;
  const auto ids = policy::ranked_sats({{1920, 1080}, type_pair(types)});
  EXPECT_TRUE(std::any_of(ids.begin(), ids.end(), [](std::string_view id) {
    return id != "bands" && id != "relay" && bytes_of<In, T>(id) <= 64 * KiB;
  })) << types;
}

TEST(SatSharedMemory, EveryLaneHasAKernelForEveryDevice) {
#define AREAL_EXPECT(name, in, out) expect_fit<in, Sum<out>>(#name);
  AREAL_TYPE_PAIRS(AREAL_EXPECT)
#undef AREAL_EXPECT
}

}  // namespace
}  // namespace areal::kernels
