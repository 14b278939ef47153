// Tables, tensors and sums by strips on the simulated machine.
#include "strip_cases.hpp"

namespace areal::strip_cases {
namespace {

const Execution simt{.backend = Backend::simt};

TEST(SimtStrips, Tables) { expect_sat_cases(simt, true); }

TEST(SimtStrips, Tensors) {
  for (const Border border : {Border::zero, Border::none, Border::exclusive})
    EXPECT_EQ(tensor_fault({53, 40}, 4, border, {.execution = simt, .height = 13}, border == Border::zero ? 3 : 0), "");
}

TEST(SimtStrips, Sums) {
  for (const Type type : {Type::u8, Type::s16, Type::f32})
    EXPECT_EQ(sums_fault({61, 50}, type, Fill::wild, true, {.execution = simt, .height = 13}), "");
  EXPECT_EQ(sums_fault({31, 30, 3, 1}, Type::u8, Fill::wild, true, {.execution = simt, .height = 13}), "");
}

}  // namespace
}  // namespace areal::strip_cases
