// The floor of border zero must write all entries of such a table, and read each pixel once: its arithmetic on the
// host, beside plain loops.
#include <gtest/gtest.h>
#include <random>
#include <vector>
#include "bench/device/bordered.hpp"

namespace areal::bench {
namespace {

TEST(Floors, EntriesOfBorderZeroFollowThePixels) {
  struct Images {
    std::int64_t width, height, batch;
  };
  for (const auto& [width, height, batch] :
       {Images{1, 1, 1}, {1, 7, 3}, {7, 1, 2}, {4, 4, 1}, {13, 5, 3}, {64, 33, 2}, {3, 300, 1}}) {
    std::vector<std::int64_t> expected;
    for (std::int64_t n = 0; n < batch; ++n)
      for (std::int64_t y = 0; y <= height; ++y)
        for (std::int64_t x = 0; x <= width; ++x)
          expected.push_back(x == 0 || y == 0 ? -1 : (n * height + y - 1) * width + x - 1);
    const Bordered map(width, height);
    // From every entry on, as a thread would begin there.
    for (std::size_t first = 0; first < expected.size(); ++first) {
      Bordered::Walk walk = map.from(static_cast<std::int64_t>(first));
      for (std::size_t i = first; i < expected.size() && i < first + 9; ++i)
        ASSERT_EQ(map.next(walk), expected[i])
            << width << "x" << height << "x" << batch << ", entry " << i << " walked to from " << first;
    }
  }
}

TEST(Floors, QuotientsAreExact) {
  constexpr unsigned seed = 20261121;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t by = 2 + (random() >> (33 + random() % 30));  // up to 2^31
    const std::uint64_t most = ~std::uint64_t{0} / by;
    const std::uint64_t of = i % 2 == 0 ? random() % most : random() % (most / by + 1) * by - (random() % 2);
    if (of > most) continue;  // 0 - 1
    ASSERT_EQ(Divider(by).quotient(of), of / by) << of << " by " << by << ", seed " << seed;
  }
}

}  // namespace
}  // namespace areal::bench
