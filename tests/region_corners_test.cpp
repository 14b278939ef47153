// Boxes of a volume and rotated rectangles against the pixels themselves.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/region.hpp>
#include <cmath>
#include <limits>
#include "region_oracle.hpp"

namespace {

using areal::Border;
using areal::InvalidArgument;
using areal::Outside;
using areal::Region;
using oracle::Image;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

// Whole numbers small enough that float tables are exact, too.
template <class T>
Image<T> small_image(std::int64_t width, std::int64_t height) {
  return oracle::random_image<T>(width, height, std::is_unsigned_v<T> ? 0 : -40, 90, 11);
}

template <class T>
void expect_boxes(Border border) {
  const std::int64_t width = 9, height = 7, depth = 5, more = border == Border::zero ? 1 : 0;
  std::vector<Image<T>> slices;
  for (std::int64_t z = 0; z < depth; ++z) slices.push_back(small_image<T>(width, height));
  for (std::int64_t z = 0; z < depth; ++z)
    for (T& pixel : slices[z].pixels) pixel = static_cast<T>(pixel + static_cast<T>(z));
  oracle::Padded volume(areal::type_of<T>, {width + more, height + more, 1, depth + more});
  for (std::int64_t z = 0; z < depth + more; ++z)
    for (std::int64_t y = 0; y < height + more; ++y)
      for (std::int64_t x = 0; x < width + more; ++x) {
        oracle::Wide<T> sum = 0;
        for (std::int64_t s = 0; s < z + 1 - more; ++s)
          sum += oracle::sum<T>(slices[s], 0, 0, x + 1 - more, y + 1 - more, oracle::identity);
        volume.set(static_cast<T>(sum), x, y, 0, z);
      }
  std::vector<areal::Box> boxes{
      {0, 0, 0, width, height, depth}, {3, 2, 1, 4, 5, 3}, {8, 6, 4, 1, 1, 1}, {1, 1, 1, 0, 2, 2}};
  std::vector<double> out(boxes.size());
  areal::box_sums(volume.view(), border, boxes, out);
  const auto want = [&](const areal::Box& b) {
    oracle::Wide<T> sum = 0;
    for (std::int64_t z = std::max<std::int64_t>(0, b.z); z < std::min(depth, b.z + b.depth); ++z)
      sum += oracle::sum<T>(slices[z], b.x, b.y, b.width, b.height, oracle::identity);
    return static_cast<double>(static_cast<T>(sum));
  };
  for (std::size_t i = 0; i < boxes.size(); ++i) EXPECT_EQ(out[i], want(boxes[i])) << i;
  const areal::Box beyond{-1, 5, 3, 4, 4, 4}, overflow{0, 0, 1, 1, 1, most};
  double clipped = 0;
  EXPECT_THROW(areal::box_sums(volume.view(), border, std::span(&beyond, 1), std::span(&clipped, 1)), InvalidArgument);
  EXPECT_THROW(areal::box_sums(volume.view(), border, std::span(&overflow, 1), std::span(&clipped, 1)),
               InvalidArgument);
  areal::box_sums(volume.view(), border, std::span(&beyond, 1), std::span(&clipped, 1), Outside::clip);
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
  EXPECT_THROW(areal::box_sums(volume, Border::exclusive, {}, {}), InvalidArgument);
}

// OpenCV's definition, pixel by pixel.
template <class T>
oracle::Padded tilted_table(const Image<T>& image) {
  oracle::Padded table(areal::type_of<T>, {image.width + 1, image.height + 1});
  for (std::int64_t ty = 0; ty <= image.height; ++ty)
    for (std::int64_t tx = 0; tx <= image.width; ++tx) {
      oracle::Wide<T> sum = 0;
      for (std::int64_t y = 0; y < ty; ++y)
        for (std::int64_t x = 0; x < image.width; ++x)
          if (std::abs(x - tx + 1) <= ty - y - 1) sum += static_cast<oracle::Wide<T>>(image.at(x, y));
      table.set(static_cast<T>(sum), tx, ty);
    }
  return table;
}

// Walks the rotated rectangle: its 2 width height pixels lie in pairs, one above the other, `width` of them going
// down-right from (x - 1, y) and `height` going down-left.
template <class T>
double rotated_sum(const Image<T>& image, const Region& r) {
  oracle::Wide<T> sum = 0;
  for (std::int64_t i = 0; i < r.width; ++i)
    for (std::int64_t j = 0; j < r.height; ++j)
      for (const std::int64_t below : {0, 1})
        sum += static_cast<oracle::Wide<T>>(image.at(r.x - 1 + i - j, r.y + i + j + below));
  return static_cast<double>(static_cast<T>(sum));
}

template <class T>
void expect_tilted() {
  const std::int64_t width = 15, height = 17;
  const auto image = small_image<T>(width, height);
  oracle::Padded table = tilted_table(image);
  int answered = 0;
  for (std::int64_t y = 0; y <= height; ++y)
    for (std::int64_t x = 0; x <= width; ++x)
      for (std::int64_t w = 0; w <= width; ++w)
        for (std::int64_t h = 0; h <= width; ++h) {
          const Region r{x, y, w, h};
          double sum = -1;
          if (x - h < 0 || x + w > width || y + w + h > height) {
            if ((x + y + w + h) % 7 == 0) {
              EXPECT_THROW(areal::tilted_sums(table.view(), std::span(&r, 1), std::span(&sum, 1)), InvalidArgument);
            }
            continue;
          }
          areal::tilted_sums(table.view(), std::span(&r, 1), std::span(&sum, 1));
          ASSERT_EQ(sum, rotated_sum(image, r)) << x << " " << y << " " << w << " " << h;
          ++answered;
        }
  EXPECT_GT(answered, 1000);
  const Region whole{7, 2, 5, 6};
  double sum = 0;
  table.set(static_cast<T>(table.template get<T>(6, 13) + 1), 6, 13);
  areal::tilted_sums(table.view(), std::span(&whole, 1), std::span(&sum, 1));
  EXPECT_NE(sum, rotated_sum(image, whole)) << "a flipped element was not seen";
}

TEST(TiltedSums, AgreeWithTheRotatedRectanglesPixels) {
  expect_tilted<std::uint32_t>();
  expect_tilted<std::int32_t>();
  expect_tilted<double>();
}

TEST(TiltedSums, OutsideIsAnError) {
  const auto table = tilted_table(small_image<std::uint32_t>(15, 17));
  double sum = 0;
  for (const Region& r : {Region{3, -1, 1, 1}, Region{3, 3, -1, 1}, Region{3, 3, 1, most}, Region{3, most, 1, 1},
                          Region{most, 3, 1, 1}, Region{3, 3, most, most}, Region{-most - 1, 3, 1, 1}})
    EXPECT_THROW(areal::tilted_sums(table.view(), std::span(&r, 1), std::span(&sum, 1)), InvalidArgument);
}

}  // namespace
