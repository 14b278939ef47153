// Boxes of a volume and rotated rectangles compared with the pixels themselves.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/region.hpp>
#include <limits>
#include "corners_oracle.hpp"

namespace {

using areal::Border;
using areal::InvalidArgument;
using areal::Outside;
using areal::Region;
using oracle::Image;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

// Integers small enough that float tables are exact, too.
template <class T>
Image<T> small_image(std::int64_t width, std::int64_t height) {
  return oracle::random_image<T>(width, height, std::is_unsigned_v<T> ? 0 : -40, 90, 11);
}

template <class T>
void expect_boxes(Border border) {
  const std::int64_t width = 9, height = 7, depth = 5;
  const auto volume = oracle::random_volume<T>(width, height, depth, std::is_unsigned_v<T> ? 0 : -40, 90, 11);
  const oracle::Padded table = oracle::volume_table<T>(volume, border);
  const std::vector<areal::Box> boxes = oracle::boxes_inside(width, height, depth, 12);
  const auto want = [&](const areal::Box& b) { return static_cast<double>(oracle::box_sum<T>(volume, b)); };
  std::vector<double> out(boxes.size());
  areal::box_sums({table.view(), border}, boxes, out);
  for (std::size_t i = 0; i < boxes.size(); ++i) EXPECT_EQ(out[i], want(boxes[i])) << i << " seeds 11, 12";
  const areal::Box beyond{-1, 5, 3, 4, 4, 4}, overflow{0, 0, 1, 1, 1, most};
  double clipped = 0;
  EXPECT_THROW(areal::box_sums({table.view(), border}, std::span(&beyond, 1), std::span(&clipped, 1)), InvalidArgument);
  EXPECT_THROW(areal::box_sums({table.view(), border}, std::span(&overflow, 1), std::span(&clipped, 1)),
               InvalidArgument);
  areal::box_sums({table.view(), border}, std::span(&beyond, 1), std::span(&clipped, 1), {.outside = Outside::clip});
  EXPECT_EQ(clipped, want(beyond));
}

TEST(BoxSums, AgreeWithTheVolume) {
  for (const Border border : {Border::zero, Border::none}) {
    expect_boxes<std::uint32_t>(border);
    expect_boxes<std::int32_t>(border);
    expect_boxes<std::int64_t>(border);
    expect_boxes<float>(border);
    expect_boxes<double>(border);
  }
  const areal::ConstView volume(nullptr, areal::Type::u32, {0, 0});
  const std::vector<areal::Box> boxes;
  std::vector<double> none;
  EXPECT_THROW(areal::box_sums({volume, Border::exclusive}, boxes, none), InvalidArgument);
}

template <class T>
void expect_tilted() {
  const std::int64_t width = 15, height = 17;
  const auto image = small_image<T>(width, height);
  oracle::Padded table = oracle::tilted_table<T>(image);
  int answered = 0;
  for (std::int64_t y = 0; y <= height; ++y)
    for (std::int64_t x = 0; x <= width; ++x)
      for (std::int64_t w = 0; w <= width; ++w)
        for (std::int64_t h = 0; h <= width; ++h) {
          const Region r{x, y, w, h};
          double sum = -1;
          if (!oracle::rotated_inside(r, width, height)) {
            if ((x + y + w + h) % 7 == 0) {
              EXPECT_THROW(areal::tilted_sums(table.view(), std::span(&r, 1), std::span(&sum, 1)), InvalidArgument);
            }
            continue;
          }
          areal::tilted_sums(table.view(), std::span(&r, 1), std::span(&sum, 1));
          ASSERT_EQ(sum, oracle::rotated_sum<T>(image, r)) << x << " " << y << " " << w << " " << h;
          ++answered;
        }
  EXPECT_GT(answered, 1000);
  const Region whole{7, 2, 5, 6};
  double sum = 0;
  table.set(static_cast<T>(table.template get<T>(6, 13) + 1), 6, 13);
  areal::tilted_sums(table.view(), std::span(&whole, 1), std::span(&sum, 1));
  EXPECT_NE(sum, oracle::rotated_sum<T>(image, whole)) << "a flipped element was not seen";
}

TEST(TiltedSums, AgreeWithTheRotatedRectanglesPixels) {
  expect_tilted<std::uint32_t>();
  expect_tilted<std::int32_t>();
  expect_tilted<double>();
}

TEST(TiltedSums, OutsideIsAnError) {
  const auto table = oracle::tilted_table<std::uint32_t>(small_image<std::uint32_t>(15, 17));
  double sum = 0;
  for (const Region& r : {Region{3, -1, 1, 1}, Region{3, 3, -1, 1}, Region{3, 3, 1, most}, Region{3, most, 1, 1},
                          Region{most, 3, 1, 1}, Region{3, 3, most, most}, Region{-most - 1, 3, 1, 1}})
    EXPECT_THROW(areal::tilted_sums(table.view(), std::span(&r, 1), std::span(&sum, 1)), InvalidArgument);
}

}  // namespace
