// Tables, tensors and sums by strips on the simulated machine.
#include "strip_cases.hpp"

namespace areal::strip_cases {
namespace {

const std::vector<Worker> simt{{.backend = Backend::simt}};

TEST(SimtStrips, Tables) { expect_sat_cases(simt, true); }

TEST(SimtStrips, ImagesOfFewRowsOrColumnsOrOfNone) {
  for (const Shape& shape : {Shape{0, 4}, {5, 0}, {1, 9}}) {
    for (const Border border : {Border::zero, Border::none, Border::exclusive})
      EXPECT_EQ(sat_fault(SatCase(shape, "8u32u", border).with_squares(), {.workers = simt, .height = 2}, Way::read),
                "")
          << shape.width << "x" << shape.height << ", " << name_of(border);
    EXPECT_EQ(tensor_fault(shape, 2, Border::zero, {.workers = simt, .height = 2}), "");
    EXPECT_EQ(sums_fault(shape, Type::u8, Fill::wild, false, {.workers = simt, .height = 2}), "");
  }
}

TEST(SimtStrips, Tensors) {
  for (const Border border : {Border::zero, Border::none, Border::exclusive})
    EXPECT_EQ(tensor_fault({53, 40}, 4, border, {.workers = simt, .height = 13}, border == Border::zero ? 3 : 0), "");
}

TEST(SimtStrips, Sums) {
  for (const Type type : {Type::u8, Type::s16, Type::f32})
    EXPECT_EQ(sums_fault({61, 50}, type, Fill::wild, true, {.workers = simt, .height = 13}), "");
  EXPECT_EQ(sums_fault({31, 30, 3, 1}, Type::u8, Fill::wild, true, {.workers = simt, .height = 13}), "");
}

}  // namespace
}  // namespace areal::strip_cases
