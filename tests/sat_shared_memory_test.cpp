// Shared memory that a block of our kernels takes, beside what devices have: 99 KiB from sm_86 on, 64 KiB at sm_75.
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/lane.hpp>
#include <cstddef>
#include <string>
#include "kernels/sat/choice.hpp"
#include "kernels/sat/entries.hpp"

namespace areal::kernels {
namespace {

constexpr std::size_t KiB = 1024;

template <class In, class T>
std::size_t bytes_of(std::string_view id) {
  if (id == "held") return sizeof(typename Held<NoMachine, HeldConfig<In, T, HeldOrder::rows>>::Shared);
  if (id == "held-diagonal") return sizeof(typename Held<NoMachine, HeldConfig<In, T, HeldOrder::diagonals>>::Shared);
  if (id == "held-direct") return sizeof(typename Held<NoMachine, HeldConfig<In, T, HeldOrder::direct>>::Shared);
  return sizeof(typename Ribbon<NoMachine, RibbonConfig<In, T>>::Shared);
}

template <class In, class T>
void expect_fit(const std::string& lane) {
  for (const char* id : {"held", "held-diagonal", "held-direct", "ribbon"})
    EXPECT_LE((bytes_of<In, T>(id)), 99 * KiB) << lane << ", " << id;
  EXPECT_TRUE(std::any_of(std::begin(smaller_sats), std::end(smaller_sats), [](std::string_view id) {
    return bytes_of<In, T>(id) <= 64 * KiB;
  })) << lane;
}

TEST(SatSharedMemory, EveryLaneHasAKernelForEveryDevice) {
#define AREAL_EXPECT(name, in, out) expect_fit<in, Sum<out>>(#name);
  AREAL_LANES(AREAL_EXPECT)
#undef AREAL_EXPECT
}

}  // namespace
}  // namespace areal::kernels
