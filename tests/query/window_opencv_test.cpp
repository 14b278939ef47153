// Windows compared with OpenCV's boxFilter and sqrBoxFilter: every pair of depths, every border, any anchor.
#include <gtest/gtest.h>
#ifdef AREAL_HAVE_CV
#include <areal/interop/opencv.hpp>
#include <areal/window.hpp>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include "region_oracle.hpp"

namespace {

using areal::Border;
using areal::Edge;
using areal::Rounding;
using areal::Type;
using areal::Window;
using areal::interop::view_of;
using oracle::Image;

constexpr std::uint64_t seed = 2013;

// The table of an image with interleaved channels, by its definition.
template <class T, class P, class F>
class ChannelsTable {
 public:
  ChannelsTable(const std::vector<Image<P>>& channels, F f)
      : memory_(areal::type_of<T>, areal::Shape{channels[0].width + 1, channels[0].height + 1,
                                                static_cast<std::int64_t>(channels.size())}) {
    for (std::size_t c = 0; c < channels.size(); ++c)
      oracle::fill_table<T>(memory_, static_cast<std::int64_t>(c), channels[c], Border::zero, f);
  }
  areal::TableView view() const { return {memory_.view(), Border::zero}; }

 private:
  oracle::Padded memory_;
};

struct Filter {
  Window window;
  int border;
  bool normalised;
};

std::vector<Filter> filters(std::int64_t width, std::int64_t height) {
  std::vector<Filter> all;
  for (const auto& [edge, border] : {std::pair{Edge::zero, cv::BORDER_CONSTANT},
                                     {Edge::replicate, cv::BORDER_REPLICATE},
                                     {Edge::symmetric, cv::BORDER_REFLECT},
                                     {Edge::reflect, cv::BORDER_REFLECT_101}})
    for (const auto& [w, h] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {1, 1}, {2, 1}, {3, 3}, {4, 6}, {16, 16}, {17, 16}, {31, 7}, {2 * width + 3, 5}, {5, 3 * height + 2}})
      for (const bool normalised : {true, false}) {
        all.push_back({{w, h, -1, -1, edge}, border, normalised});
        all.push_back({{w, h, w - 1, 0, edge}, border, normalised});
        all.push_back({{w, h, w / 3, h - 1, edge}, border, normalised});
      }
  return all;
}

double at(const cv::Mat& mat, int y, int i) {
  switch (mat.depth()) {
    case CV_8U:
      return mat.ptr<std::uint8_t>(y)[i];
    case CV_16U:
      return mat.ptr<std::uint16_t>(y)[i];
    case CV_16S:
      return mat.ptr<std::int16_t>(y)[i];
    case CV_32S:
      return mat.ptr<std::int32_t>(y)[i];
    case CV_32F:
      return static_cast<double>(mat.ptr<float>(y)[i]);
    default:
      return mat.ptr<double>(y)[i];
  }
}

bool is_fixed_point(const Filter& f, int source, int output) {
  const std::int64_t n = f.window.width * f.window.height;
  return f.normalised && source == CV_8U && output == CV_8U && n >= 2 && n <= 256;
}

// Elements that differ from OpenCV's. Sums of integers, its fixed-point means and doubles of integers must be the
// `same`. It computes other means of integers in float in most columns, so they may differ from ours next to a tie, or
// by the rounding of floats. `exact` has ours as 64f; `slack` is what sums of floats may differ by.
std::size_t differences(const cv::Mat& got, const cv::Mat& want, const cv::Mat& exact, bool same, bool sums,
                        double slack) {
  std::size_t wrong = 0;
  for (int y = 0; y < got.rows; ++y)
    for (int i = 0; i < got.cols * got.channels(); ++i) {
      const double a = at(got, y, i), b = at(want, y, i), real = at(exact, y, i);
      // Its vectors take negative sums for huge ones, and the last columns of a row do not; reals beyond 32 bits become
      // -2^31 before they are held to the output's range.
      const bool is_unsigned = got.depth() == CV_8U || got.depth() == CV_16U,
                 is_float = got.depth() == CV_32F || got.depth() == CV_64F;
      if (is_unsigned && real < 0) {
        wrong += a != 0;
        continue;
      }
      if (!is_float && std::fabs(real) >= 0x1p31) {
        wrong += a == 0 || (a < 0) != (real < 0);
        continue;
      }
      const double rounding = (same || sums ? 0 : std::fabs(real) * 4 * 0x1p-24) + slack;
      if (got.depth() == CV_64F && (same || sums) && slack == 0)
        wrong += a != b;
      else if (is_float)
        wrong += !(std::fabs(a - b) <= std::fabs(real) * (got.depth() == CV_32F ? 0x1p-23 : 0x1p-51) +
                                           (got.depth() == CV_32F ? rounding : slack));
      else if (same || sums)
        wrong += a != b && !(slack > 0 && std::fabs(a - b) <= std::ceil(slack));
      else
        wrong +=
            a != b && !(std::fabs(a - b) <= std::max(1.0, std::ceil(2 * rounding)) &&
                        std::fabs(std::fabs(real - std::floor(real)) - 0.5) <= rounding + (rounding >= 0.5 ? 1 : 0));
    }
  return wrong;
}

// Every filter of images of pixels P into every one of `depths`. Table: of T. `slack`: by which float sums may differ.
template <class P, class T, class F>
void expect_opencvs(double lo, double hi, const std::vector<int>& depths, bool squared, F f, double slack = 0) {
  for (const int channels : {1, 3})
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{37, 23}, {1, 4}, {5, 1}}) {
      std::vector<Image<P>> images;
      for (int c = 0; c < channels; ++c)
        images.push_back(oracle::random_image<P>(width, height, lo, hi, seed + static_cast<std::uint64_t>(c)));
      cv::Mat source(height, width, CV_MAKETYPE(cv::DataType<P>::depth, channels));
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          for (int c = 0; c < channels; ++c)
            source.ptr<P>(y)[x * channels + c] = images[static_cast<std::size_t>(c)].at(x, y);
      const ChannelsTable<T, P, F> table(images, f);
      for (const Filter& filter : filters(width, height)) {
        // It makes these windows 1 wide or high, so that no border is seen.
        if (squared && filter.normalised && filter.border != cv::BORDER_CONSTANT && (width == 1 || height == 1))
          continue;
        const Window& w = filter.window;
        const cv::Size size(static_cast<int>(w.width), static_cast<int>(w.height));
        const cv::Point anchor(static_cast<int>(w.anchor_x), static_cast<int>(w.anchor_y));
        const auto ours = [&](cv::Mat& to, Rounding rounding) {
          Window window = w;
          window.rounding = rounding;
          (filter.normalised ? areal::window_means : areal::window_sums)(table.view(), window, view_of(to), {});
        };
        cv::Mat exact(height, width, CV_MAKETYPE(CV_64F, channels));
        ours(exact, Rounding::nearest);
        for (const int depth : depths) {
          SCOPED_TRACE(testing::Message() << width << "x" << height << "x" << channels << " depth " << source.depth()
                                          << " to " << depth << (squared ? " squared" : "") << " window " << w.width
                                          << "x" << w.height << " at " << w.anchor_x << "," << w.anchor_y << " border "
                                          << filter.border << (filter.normalised ? "" : " sums") << " seed " << seed);
          cv::Mat want, got(height, width, CV_MAKETYPE(depth, channels));
          if (squared)
            cv::sqrBoxFilter(source, want, depth, size, anchor, filter.normalised, filter.border);
          else
            cv::boxFilter(source, want, depth, size, anchor, filter.normalised, filter.border);
          const bool fixed_point = !squared && is_fixed_point(filter, source.depth(), depth);
          const bool doubles = depth == CV_64F && std::is_integral_v<P>;
          ours(got, fixed_point || doubles ? Rounding::opencv : Rounding::nearest);
          ASSERT_EQ(differences(got, want, exact, fixed_point || doubles, !filter.normalised, slack), 0u);
        }
      }
    }
}

constexpr auto pixel = oracle::identity;
template <class T>
constexpr auto square = [](auto p) { return static_cast<oracle::Wide<T>>(p) * static_cast<oracle::Wide<T>>(p); };

const std::vector<int> all{CV_8U, CV_16U, CV_16S, CV_32S, CV_32F, CV_64F};
const std::vector<int> of_floats{CV_8U, CV_16U, CV_16S, CV_32F, CV_64F};  // those that it has

TEST(WindowsAsOpenCv, BoxFilterOf8u) { expect_opencvs<std::uint8_t, std::uint32_t>(0, 255, all, false, pixel); }
TEST(WindowsAsOpenCv, BoxFilterOf16u) { expect_opencvs<std::uint16_t, std::uint64_t>(0, 65535, all, false, pixel); }
TEST(WindowsAsOpenCv, BoxFilterOf16s) { expect_opencvs<std::int16_t, std::int64_t>(-32768, 32767, all, false, pixel); }
TEST(WindowsAsOpenCv, BoxFilterOf32s) {
  expect_opencvs<std::int32_t, std::int64_t>(-4e6, 4e6, all, false, pixel);  // its sums have 32 bits
}
TEST(WindowsAsOpenCv, BoxFilterOf32f) { expect_opencvs<float, double>(-900, 900, of_floats, false, pixel, 1e-7); }
TEST(WindowsAsOpenCv, BoxFilterOf64f) { expect_opencvs<double, double>(-900, 900, of_floats, false, pixel, 1e-7); }
TEST(WindowsAsOpenCv, SqrBoxFilterOf8u) {
  expect_opencvs<std::uint8_t, std::uint32_t>(0, 255, all, true, square<std::uint32_t>);
}
TEST(WindowsAsOpenCv, SqrBoxFilterOf16Bits) {
  expect_opencvs<std::uint16_t, std::uint64_t>(0, 65535, of_floats, true, square<std::uint64_t>);
  expect_opencvs<std::int16_t, std::uint64_t>(-32768, 32767, of_floats, true, square<std::uint64_t>);
}
TEST(WindowsAsOpenCv, SqrBoxFilterOfFloats) {
  expect_opencvs<float, double>(-900, 900, of_floats, true, square<double>, 1e-3);
  expect_opencvs<double, double>(-900, 900, of_floats, true, square<double>, 1e-3);
}

// Bright, dark and random rows under every number of pixels that it has fixed-point means of, with nothing allowed for.
// Vectors of OpenCV end with each row: in columns beyond the last vector its mean of 2 white pixels wraps around to 0.
TEST(WindowsAsOpenCv, MeansOf2To256PixelsHaveItsBits) {
  constexpr int width = 640, height = 3;
  std::mt19937_64 random(seed);
  Image<std::uint8_t> image{width, height, {}};
  for (int i = 0; i < width * height; ++i)
    image.pixels.push_back(static_cast<std::uint8_t>(i < width       ? 255 - (random() % 64 == 0)
                                                     : i < 2 * width ? random() % 32 == 0
                                                                     : random()));
  cv::Mat source(height, width, CV_8U, image.pixels.data()), got(height, width, CV_8U), want;
  const ChannelsTable<std::uint32_t, std::uint8_t, decltype(pixel)> table({image}, pixel);
  const auto wrong = [&](int n, Rounding rounding) {
    areal::window_means(table.view(), {n, 1, -1, -1, Edge::reflect, 0, rounding}, view_of(got));
    cv::boxFilter(source, want, CV_8U, {n, 1});
    return cv::countNonZero(got != want);
  };
  for (int n = 2; n <= 256; ++n) ASSERT_EQ(wrong(n, Rounding::opencv), 0) << n << " seed " << seed;
  EXPECT_GT(wrong(2, Rounding::nearest), 0) << "OpenCV's mean of 2 black pixels is 1";
  EXPECT_EQ(wrong(255, Rounding::nearest), 0);
}

TEST(WindowsAsOpenCv, ADifferenceIsCaught) {
  cv::Mat a(2, 9, CV_8U, cv::Scalar(7)), b = a.clone(), exact(2, 9, CV_64F, cv::Scalar(7.2));
  ASSERT_EQ(differences(a, b, exact, false, false, 0), 0u);
  b.at<std::uint8_t>(1, 8) = 8;
  EXPECT_EQ(differences(a, b, exact, false, false, 0), 1u);
  exact.at<double>(1, 8) = 7.5;  // a tie
  EXPECT_EQ(differences(a, b, exact, false, false, 0), 0u);
  EXPECT_EQ(differences(a, b, exact, true, false, 0), 1u);
  EXPECT_EQ(differences(a, b, exact, false, true, 0), 1u);
  cv::Mat c(1, 1, CV_64F, cv::Scalar(1)), d(1, 1, CV_64F, cv::Scalar(1 + 0x1p-40)), one = c.clone();
  EXPECT_EQ(differences(c, d, one, false, false, 0), 1u);
  EXPECT_EQ(differences(c, d, one, false, false, 1e-9), 0u);
  d.at<double>(0, 0) = 1 + 0x1p-52;
  EXPECT_EQ(differences(c, d, one, false, false, 0), 0u);
  EXPECT_EQ(differences(c, d, one, true, false, 0), 1u);
}

}  // namespace
#else
TEST(WindowsAsOpenCv, IsNotHere) { GTEST_SKIP() << "built without OpenCV's headers and libraries"; }
#endif
