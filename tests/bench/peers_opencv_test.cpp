// The same tables as OpenCV's cv::integral, on images with smooth parts, edges and noise like photographs.
#include <gtest/gtest.h>
#ifndef AREAL_HAVE_OPENCV
TEST(PeersOpenCv, IsNotInstalled) { GTEST_SKIP() << "OpenCV's core and imgproc were not found when this was built"; }
#else
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <random>
#include "conformance/sat_case.hpp"

namespace areal::conformance {
namespace {

int cv_depth(Type type) {
  switch (type) {
    case Type::u8:
      return CV_8U;
    case Type::u16:
      return CV_16U;
    case Type::s16:
      return CV_16S;
    case Type::s32:
      return CV_32S;
    case Type::f32:
      return CV_32F;
    default:
      return CV_64F;
  }
}
View view_of(cv::Mat& mat, Type type) {
  return View(mat.data, type, Shape{mat.cols, mat.rows, mat.channels()}, static_cast<std::int64_t>(mat.step));
}

/// A gradient, a rectangle and noise; a part of a larger matrix, so that rows have a pitch.
cv::Mat picture(Type type, int width, int height, int channels) {
  cv::Mat all(height + 4, width + 9, CV_MAKETYPE(cv_depth(type), channels));
  cv::Mat part = all(cv::Rect(5, 2, width, height));
  std::mt19937 random(20180423);
  Values values(type, Shape{width, height, channels});
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x) {
        const bool house = x > width / 3 && x < width / 2 && y > height / 2;
        const double grain = static_cast<double>(random() % 17) - 8;
        const double level = std::clamp(
            (house ? 40.0 + 9 * static_cast<double>(c) : 230.0 - 120.0 * static_cast<double>(y) / height) + grain, 0.0,
            255.0);
        if (is_float(type))
          values.real[values.at(x, y, c)] = static_cast<float>(level / 255.0);
        else
          values.integer[values.at(x, y, c)] = static_cast<std::uint64_t>(level) * (type == Type::u8 ? 1 : 100);
      }
  write(values, view_of(part, type));
  return part;
}

constexpr std::pair<int, int> sizes[] = {{640, 480}, {1, 1}, {1, 50}, {50, 1}, {127, 65}, {1025, 33}};

/// areal's table against OpenCV's, element by element. Integer type pairs and sums that cannot round: no difference.
/// Floats: at most twice the oracle's bound, one for each side.
std::string compare(const Expected& oracle, const Values& ours, const Values& theirs) {
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const bool real = is_float(ours.type);
    const bool same =
        real ? std::fabs(ours.real[i] - theirs.real[i]) <= 2 * oracle.bound[i] : ours.integer[i] == theirs.integer[i];
    if (!same)
      return "element (" + place_of(ours.shape, i) + ") is " + std::to_string(ours.number(i)) + ", and OpenCV's " +
             std::to_string(theirs.number(i));
  }
  return {};
}

TEST(PeersOpenCv, SumSquaresAndTilted) {
  for (const char* name : {"8u32s", "8u32f", "8u64f", "16u64f", "16s64f", "32f32f", "32f64f", "64f64f"})
    for (const auto& [width, height] : sizes)
      for (const int channels : {1, 3}) {
        const TypePair types = type_pair(name);
        cv::Mat image = picture(types.input, width, height, channels), sum, squares, tilted;
        cv::integral(image, sum, squares, tilted, cv_depth(types.table), CV_64F);
        ASSERT_EQ(sum.depth(), cv_depth(types.table));
        SatCase c;
        c.image = {width, height, channels};
        c.types = types;
        c.options.squares = Type::f64;
        c.options.tilted = true;
        c.options.tables = Layout::interleaved;
        const SatTable tables =
            sat(view_of(image, types.input), options_of(types, c.options), {.backend = Backend::cpu});
        const Values pixels = values_of(view_of(image, types.input));
        const Terms terms = terms_of(pixels);
        const std::string at = std::string(name) + " " + std::to_string(width) + "x" + std::to_string(height) + "x" +
                               std::to_string(channels);
        EXPECT_EQ(compare(sums_of(terms, types.table, Border::zero), values_of(tables.sum()),
                          values_of(view_of(sum, types.table))),
                  "")
            << at;
        EXPECT_EQ(compare(sums_of(terms_of(pixels, true), Type::f64, Border::zero), values_of(tables.squares()),
                          values_of(view_of(squares, Type::f64))),
                  "")
            << at;
        // The tilted oracle's time grows with the height squared, so exact sums are compared directly.
        Expected bound;
        if (is_float(types.table) && (is_float(types.input) || types.table == Type::f32)) {
          if (width * height > 100 * 100) continue;
          bound = tilted_of(terms, types.table);
        } else {
          bound.bound.assign(static_cast<std::size_t>((width + 1) * (height + 1) * channels), 0);
        }
        EXPECT_EQ(compare(bound, values_of(tables.tilted()), values_of(view_of(tilted, types.table))), "") << at;
      }
}

TEST(PeersOpenCv, EveryRowOfTheCatalogue) {
  cv::Mat image = picture(Type::u8, 640, 480, 1), sum;
  cv::integral(image, sum, CV_32S);
  for (const std::string& id : cpu_sat_ids()) {
    const SatTable tables = sat(view_of(image, Type::u8), {.types = type_pair("8u32s"), .algorithm = id});
    EXPECT_EQ(values_of(tables.sum()).integer, values_of(view_of(sum, Type::s32)).integer) << id;
  }
}

TEST(PeersOpenCv, TheComparisonCanFail) {
  cv::Mat image = picture(Type::u8, 64, 48, 1), sum;
  cv::integral(image, sum, CV_32S);
  const SatTable tables = sat(view_of(image, Type::u8), {.types = type_pair("8u32s")});
  const Values ours = values_of(tables.sum());
  EXPECT_EQ(compare({}, ours, values_of(view_of(sum, Type::s32))), "");
  sum.at<int>(20, 30) ^= 1;
  EXPECT_NE(compare({}, ours, values_of(view_of(sum, Type::s32))), "");
}

}  // namespace
}  // namespace areal::conformance
#endif
