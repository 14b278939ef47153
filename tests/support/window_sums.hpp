#pragma once
// The sums of windows of a picture of 610 x 430 `pixel`s, added up here.

#include <cstring>
#include <string>
#include "command_runner.hpp"

namespace areal::test {

/// An .npy of 64f: windows of 5 x 4 cells, zeros beyond the edge.
inline void expect_sums_of_windows(const std::string& bytes) {
  ASSERT_EQ(bytes.size(), 128u + 8 * 610 * 430);
  const auto expected = [](int x, int y) {
    double sum = 0;
    for (int v = y - 2; v < y + 2; ++v)
      for (int u = x - 2; u < x + 3; ++u)
        if (u >= 0 && v >= 0 && u < 610 && v < 430) sum += pixel(u, v);
    return sum;
  };
  int wrong = 0, off_by_a_row = 0;
  for (int y = 0; y < 430; ++y)
    for (int x = 0; x < 610; ++x) {
      double value = 0;
      std::memcpy(&value, &bytes[128 + 8 * static_cast<std::size_t>(610 * y + x)], 8);
      wrong += value != expected(x, y);
      off_by_a_row += value != expected(x, y + 1);
    }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(off_by_a_row, 200000);  // the check can fail
}

}  // namespace areal::test
