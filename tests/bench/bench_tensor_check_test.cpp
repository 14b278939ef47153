// What `areal bench sequence` and `bench cluster` check tensors by finds any planted error, and passes right ones:
// whole tensors, and pieces of their bins.
#include <gtest/gtest.h>
#include <random>
#include <vector>
#include "bench/tensor_check.hpp"

namespace areal::bench {
namespace {

constexpr Size size{37, 70};
constexpr std::int64_t bins = 8;

struct Planted {
  std::vector<std::uint8_t> image;
  std::vector<std::uint32_t> tensor;

  Planted() : image(37 * 70), tensor(8 * 37 * 70) {
    std::mt19937_64 random(5);
    for (std::uint8_t& value : image) value = static_cast<std::uint8_t>(random() >> 40);
    for (std::int64_t b = 0; b < bins; ++b)
      for (std::int64_t y = 0; y < size.height; ++y)
        for (std::int64_t x = 0; x < size.width; ++x)
          for (std::int64_t v = 0; v <= y; ++v)
            for (std::int64_t u = 0; u <= x; ++u)
              at(b, x, y) += image[static_cast<std::size_t>(v * size.width + u)] / 32 == b;
  }
  std::uint32_t& at(std::int64_t b, std::int64_t x, std::int64_t y) {
    return tensor[static_cast<std::size_t>((b * size.height + y) * size.width + x)];
  }
  ConstView bins_from(std::int64_t first, std::int64_t count) const {
    return ConstView(tensor.data() + first * size.width * size.height, Type::u32,
                     {size.width, size.height, count, 1, Layout::planar});
  }
};

TEST(TensorChecks, RightOnesPass) {
  const Planted planted;
  const TensorCheck check(planted.image.data(), size, bins);
  for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{0, 8}, {0, 3}, {3, 5}, {7, 1}}) {
    EXPECT_EQ(check.entries(planted.bins_from(first, count), first), "");
    EXPECT_EQ(check.last_entries(planted.bins_from(first, count), first), "");
    EXPECT_EQ(check.whole(planted.bins_from(first, count), first), "");
  }
  // Bins in the wrong place are found by each.
  EXPECT_NE(check.entries(planted.bins_from(3, 2), 4), "");
  EXPECT_NE(check.last_entries(planted.bins_from(3, 2), 4), "");
  EXPECT_NE(check.whole(planted.bins_from(3, 2), 4), "");
}

TEST(TensorChecks, AnyWrongEntryIsFound) {
  Planted planted;
  const TensorCheck check(planted.image.data(), size, bins);
  std::mt19937_64 random(6);
  for (int i = 0; i < 200; ++i) {
    const std::size_t at = random() % planted.tensor.size();
    planted.tensor[at] += 1;
    EXPECT_NE(check.whole(planted.bins_from(0, bins)), "") << at;
    planted.tensor[at] -= 1;
  }
  planted.at(5, 36, 69) ^= 1;
  EXPECT_EQ(check.last_entries(planted.bins_from(0, bins)).find("bin 5 at 36,69 is "), 0U);
  planted.at(5, 36, 69) ^= 1;
  EXPECT_EQ(check.whole(planted.bins_from(0, bins)), "");
  // A whole row or bin that is wrong meets the seeded entries.
  for (std::int64_t b = 0; b < bins; ++b)
    for (std::int64_t x = 0; x < size.width; ++x) planted.at(b, x, 69) += 1;
  EXPECT_NE(check.entries(planted.bins_from(0, bins)), "");
}

TEST(TensorChecks, CountsOfARegion) {
  const Planted planted;
  std::vector<std::uint64_t> expected(8);
  for (int y = 3; y < 3 + 40; ++y)
    for (int x = 5; x < 5 + 9; ++x) ++expected[planted.image[static_cast<std::size_t>(y * 37 + x)] / 32];
  EXPECT_EQ(counts_of(planted.image.data(), size, bins, {5, 3, 9, 40}), expected);
}

}  // namespace
}  // namespace areal::bench
