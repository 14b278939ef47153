// What `areal bench sequence` and `bench cluster` check tensors by finds any planted error, and passes right ones:
// whole tensors, and pieces of their bins.
#include <gtest/gtest.h>
#include <random>
#include <vector>
#include "bench/harness/frame_file.hpp"
#include "bench/harness/tensor_check.hpp"

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
    EXPECT_EQ(check.whole(planted.bins_from(first, count), first), "");
  }
  // Bins in the wrong place are found by each.
  EXPECT_NE(check.entries(planted.bins_from(3, 2), 4), "");
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
  EXPECT_EQ(check.entries(planted.bins_from(0, bins)).find("bin 5 at 36,69 is "), 0U);
  planted.at(5, 36, 69) ^= 1;
  EXPECT_EQ(check.whole(planted.bins_from(0, bins)), "");
  // A whole row or bin that is wrong meets the seeded entries.
  for (std::int64_t b = 0; b < bins; ++b)
    for (std::int64_t x = 0; x < size.width; ++x) planted.at(b, x, 69) += 1;
  EXPECT_NE(check.entries(planted.bins_from(0, bins)), "");
}

TEST(TensorChecks, Boxes) {
  Planted planted;
  TensorCheck check(planted.image.data(), size, bins);
  check.begin_at({0, 20, 33});
  struct Box {
    std::int64_t first, x, y, count, width, height;
  };
  for (const Box& box :
       {Box{0, 0, 0, 8, 37, 20}, {2, 0, 20, 3, 37, 13}, {5, 10, 33, 3, 20, 37}, {0, 36, 0, 1, 1, 70}}) {
    const auto view = [&] {
      return ConstView(&planted.at(box.first, box.x, box.y), Type::u32,
                       {box.width, box.height, box.count, 1, Layout::planar}, 37 * 4, 37 * 70 * 4);
    };
    EXPECT_EQ(check.entries(view(), box.first, box.x, box.y), "");
    EXPECT_EQ(check.whole(view(), box.first, box.x, box.y), "");
    for (const auto& [x, y] : {std::pair(box.x, box.y), {box.x + box.width - 1, box.y + box.height - 1}}) {
      planted.at(box.first, x, y) += 1;
      EXPECT_NE(check.whole(view(), box.first, box.x, box.y), "");
      planted.at(box.first, x, y) -= 1;
    }
    EXPECT_NE(check.whole(view(), box.first, box.x == 0 ? 1 : 0, box.y), "");  // in the wrong place
  }
  EXPECT_NE(check.whole(ConstView(&planted.at(0, 0, 5), Type::u32, {37, 4, 1, 1, Layout::planar}), 0, 0, 5),
            "");  // was not announced

  std::vector<TensorEntry> claims;
  for (const auto& [x, y] : {std::pair<std::int64_t, std::int64_t>{36, 69}, {3, 2}, {0, 0}, {20, 40}})
    for (std::int64_t b = 0; b < bins; ++b) claims.push_back({x, y, b, planted.at(b, x, y)});
  EXPECT_EQ(check_entries(planted.image.data(), size, bins, claims), "");
  for (TensorEntry& claim : claims) {
    claim.value += 1;
    EXPECT_NE(check_entries(planted.image.data(), size, bins, claims), "");
    claim.value -= 1;
  }
}

TEST(TensorChecks, SumsOfATable) {
  const Planted planted;
  std::vector<TableEntry> claims;
  for (const auto& [x, y] : {std::pair<std::int64_t, std::int64_t>{36, 69}, {3, 2}, {0, 0}, {20, 40}}) {
    std::uint64_t sum = 0;
    for (std::int64_t v = 0; v <= y; ++v)
      for (std::int64_t u = 0; u <= x; ++u) sum += planted.image[static_cast<std::size_t>(v * size.width + u)];
    claims.push_back({x, y, sum});
  }
  EXPECT_EQ(check_sums(planted.image.data(), size, claims), "");
  for (TableEntry& claim : claims) {
    claim.value -= 1;
    EXPECT_NE(check_sums(planted.image.data(), size, claims), "");
    claim.value += 1;
  }
}

TEST(TensorChecks, CountsOfARegion) {
  const Planted planted;
  std::vector<std::uint64_t> expected(8);
  for (int y = 3; y < 3 + 40; ++y)
    for (int x = 5; x < 5 + 9; ++x) ++expected[planted.image[static_cast<std::size_t>(y * 37 + x)] / 32];
  EXPECT_EQ(counts_of(planted.image.data(), size, bins, {5, 3, 9, 40}), expected);
}

// A tensor by the definition, from a frame's bytes in the file.
Array tensor_of(const FrameFile& file, std::int64_t number, std::int64_t of_bins) {
  const Size& of = file.size();
  std::vector<std::uint8_t> frame(static_cast<std::size_t>(of.width * of.height));
  file.read(number, frame.data());
  Array tensor({of.width, of.height, of_bins, 1, Layout::planar}, Type::u32);
  for (std::int64_t b = 0; b < of_bins; ++b)
    for (std::int64_t y = 0; y < of.height; ++y)
      for (std::int64_t x = 0; x < of.width; ++x) {
        std::uint32_t count = 0;
        for (std::int64_t v = 0; v <= y; ++v)
          for (std::int64_t u = 0; u <= x; ++u)
            count += frame[static_cast<std::size_t>(v * of.width + u)] * of_bins / 256 == b;
        tensor.as<std::uint32_t>()[(b * of.height + y) * of.width + x] = count;
      }
  return tensor;
}

TEST(FrameChecked, InOrderWithTheFirstAndTheLastWhole) {
  const FrameFile file({23, 11}, 5);
  constexpr std::int64_t of_bins = 3, frames = 7;  // the sixth is the first again
  FrameChecks right(file, of_bins, frames);
  for (std::int64_t i = 0; i < frames; ++i) EXPECT_EQ(right.check(i, tensor_of(file, i, of_bins).view()), "") << i;
  EXPECT_EQ(right.frames(), frames);
  EXPECT_NE(file.made(0), file.made(1));

  FrameChecks late(file, of_bins, frames);
  EXPECT_EQ(late.check(1, tensor_of(file, 1, of_bins).view()), "frame 1 came where frame 0 was due");
  for (const std::int64_t wrong : {0, 3, 6}) {
    FrameChecks checks(file, of_bins, frames);
    for (std::int64_t i = 0; i < frames; ++i) {
      Array tensor = tensor_of(file, i, of_bins);
      // Any entry of the first and the last frame, the last entry of one of the others.
      if (i == wrong) tensor.as<std::uint32_t>()[i == 3 ? 2 * 23 * 11 - 1 : 100] += 1;
      EXPECT_EQ(checks.check(i, tensor.view()).empty(), i != wrong) << i;
    }
  }
  // Another frame's tensor in its place.
  FrameChecks other(file, of_bins, frames);
  EXPECT_EQ(other.check(0, tensor_of(file, 0, of_bins).view()), "");
  EXPECT_NE(other.check(1, tensor_of(file, 2, of_bins).view()), "");
}

}  // namespace
}  // namespace areal::bench
