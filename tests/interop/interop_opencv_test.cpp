// Views of matrices and matrices of views share memory: a write through one is visible through the other.
#if __has_include(<opencv2/core/mat.hpp>)
#include <areal/interop/opencv.hpp>
#define AREAL_HAVE_CV
#endif
#include <gtest/gtest.h>
#include <areal/areal.hpp>

namespace areal {
namespace {

#ifdef AREAL_HAVE_CV
using interop::mat_of;
using interop::view_of;

// Matrices over memory of our own, so that nothing of OpenCV's allocates.
TEST(OpenCv, AViewOfAMatrixIsItsMemory) {
  std::vector<std::int16_t> memory(8 * 20);
  cv::Mat mat(5, 4, CV_16SC3, memory.data(), 40);
  const View view = view_of(mat);
  EXPECT_EQ(view.data, memory.data());
  EXPECT_EQ(view.type, Type::s16);
  EXPECT_EQ(view.shape, (Shape{4, 5, 3}));
  EXPECT_EQ(view.row_pitch, 40);
  static_cast<std::int16_t*>(view.row(3, 1))[2 * 3] = 77;  // column 2, channel 1
  EXPECT_EQ(memory[3 * 20 + 2 * 3 + 1], 77);
  const cv::Mat& constant = mat;
  EXPECT_EQ(view_of(constant).data, memory.data());
  EXPECT_TRUE(view.memory.is_host());
}

TEST(OpenCv, EveryDepth) {
  const std::pair<int, Type> all[] = {{CV_8U, Type::u8},   {CV_8S, Type::s8},   {CV_16U, Type::u16},
                                      {CV_16S, Type::s16}, {CV_32S, Type::s32}, {CV_32F, Type::f32},
                                      {CV_64F, Type::f64}, {CV_16F, Type::f16}};
  std::vector<double> memory(6);
  for (const auto& [depth, type] : all) {
    cv::Mat mat(2, 3, depth, memory.data());
    EXPECT_EQ(view_of(mat).type, type);
    const cv::Mat back = mat_of(view_of(mat));
    EXPECT_EQ(back.depth(), depth);
    EXPECT_EQ(back.data, mat.data);
    EXPECT_EQ(back.rows, 2);
    EXPECT_EQ(back.cols, 3);
  }
}

TEST(OpenCv, ATableAsAMatrix) {
  const std::vector<std::uint8_t> pixels(12, 2);
  SatTable table = sat(ConstView(pixels.data(), 4, 3), {.types = type_pair("8u32s")});
  const cv::Mat mat = mat_of(table.sum());
  EXPECT_EQ(mat.type(), CV_32SC1);
  EXPECT_EQ(mat.at<int>(3, 4), 24);
  EXPECT_EQ(mat.at<int>(1, 3), 6);
  EXPECT_EQ(mat.at<int>(0, 4), 0);
}

TEST(OpenCv, WhatAMatrixIsNot) {
  std::vector<std::uint64_t> memory(64);
  EXPECT_THROW(mat_of(View(memory.data(), Type::u32, Shape{3, 2})), InvalidArgument);
  EXPECT_THROW(mat_of(View(memory.data(), Type::u8, Shape{3, 2, 1, 2})), InvalidArgument);
  EXPECT_THROW(mat_of(View(memory.data(), Type::u8, Shape{3, 2, 2, 1, Layout::planar})), InvalidArgument);
  EXPECT_THROW(mat_of(View(memory.data(), Type::u8, Shape{3, 2}).in({MemoryPlace::cuda, 0})), InvalidArgument);
  EXPECT_THROW(mat_of(View(memory.data(), Type::u8, Shape{std::int64_t{1} << 31, 2})), InvalidArgument);
}
#else
TEST(OpenCv, IsNotHere) { GTEST_SKIP() << "OpenCV's headers are not here"; }
#endif

}  // namespace
}  // namespace areal
