// areal filter equalize, otsu, entropy, modal, bilateral, median and percentile of pictures and arrays, and windows of
// a size per pixel.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include "command_runner.hpp"

namespace areal::test {
namespace {

constexpr int width = 61, height = 43;

class CommandFilterLevels : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write_file(work / "a.npy", npy("|u1", "43, 61", pixels(width, height)));
  }
  using Of = std::function<double(const std::vector<int>& sorted, int centre)>;
  /// How many pixels of out.npy differ from `of` the pixels of 5x3 windows.
  template <class T>
  int wrong(const Of& of) const {
    const std::string bytes = contents(work / "out.npy");
    EXPECT_EQ(bytes.size(), 128 + sizeof(T) * width * height);
    int count = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        std::vector<int> window;
        for (int v = std::max(0, y - 1); v < std::min(height, y + 2); ++v)
          for (int u = std::max(0, x - 2); u < std::min(width, x + 3); ++u) window.push_back(pixel(u, v));
        std::sort(window.begin(), window.end());
        T value{};
        std::memcpy(&value, &bytes[128 + sizeof(T) * static_cast<std::size_t>(width * y + x)], sizeof value);
        count += std::abs(static_cast<double>(value) - of(window, pixel(x, y))) > 1e-12;
      }
    return count;
  }
  void filter(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"filter", name, "a.npy", "--size", "5x3", "-o", "out.npy"};
    words.insert(words.end(), more.begin(), more.end());
    answer(words);
  }
};

double entropy_of(const std::vector<int>& window) {
  std::map<int, double> counts;
  for (const int p : window) ++counts[p];
  double sum = 0;
  for (const auto& [p, count] : counts) {
    const double share = count / static_cast<double>(window.size());
    sum -= share * std::log2(share);
  }
  return sum;
}

TEST_F(CommandFilterLevels, AreThoseOfTheDefinition) {
  filter("equalize");
  const auto equalized = [](const std::vector<int>& window, int centre) {
    const auto up_to = std::upper_bound(window.begin(), window.end(), centre) - window.begin();
    return std::floor(255.0 * static_cast<double>(up_to) / static_cast<double>(window.size()));
  };
  EXPECT_EQ(wrong<std::uint8_t>(equalized), 0);
  EXPECT_GT(wrong<std::uint8_t>([](const auto& window, int) { return window[0]; }), 1000);  // the check can fail
  filter("modal");
  EXPECT_EQ(wrong<std::uint8_t>([](const std::vector<int>& window, int) {
              const auto count = [&](int p) { return std::count(window.begin(), window.end(), p); };
              int best = window[0];
              for (const int p : window)
                if (count(p) > count(best)) best = p;
              return best;
            }),
            0);
  filter("entropy");
  EXPECT_EQ(wrong<double>([](const auto& window, int) { return entropy_of(window); }), 0);
  filter("otsu");
  EXPECT_EQ(wrong<std::uint8_t>([](const std::vector<int>& window, int) {
              double most = 0;
              int best = 0;
              for (int t = 0; t < 255; ++t) {
                double low = 0, low_sum = 0, high = 0, high_sum = 0;
                for (const int p : window) (p <= t ? low : high) += 1, (p <= t ? low_sum : high_sum) += p;
                const double apart = low * high_sum - high * low_sum;
                const double between = low * high == 0 ? 0 : apart * apart / (low * high);
                if (between > most * (1 + 1e-14)) most = between, best = t;
              }
              return best;
            }),
            0);
  filter("bilateral", {"--sigma-range", "20"});
  EXPECT_EQ(wrong<std::uint8_t>([](const std::vector<int>& window, int centre) {
              double sum = 0, weights = 0;
              for (const int p : window) {
                const double weight = std::exp(-(p - centre) * (p - centre) / 800.0);
                sum += weight * p, weights += weight;
              }
              return std::nearbyint(sum / weights);
            }),
            0);
  filter("median");
  EXPECT_EQ(wrong<std::uint8_t>([](const auto& window, int) { return window[window.size() / 2]; }), 0);
  filter("percentile", {"--q", "20"});
  EXPECT_EQ(wrong<std::uint8_t>([](const auto& window, int) { return window[window.size() / 5]; }), 0);
}

TEST_F(CommandFilterLevels, PicturesAndFormats) {
  answer({"filter", "entropy", "a.npy", "--size", "5x3", "-o", "out.tif"});
  answer({"filter", "otsu", "a.npy", "--size", "5x3", "-o", "out.png"});
  expect_failure({"filter", "entropy", "a.npy", "--size", "5x3", "-o", "bad.png"}, 2,
                 "entropies do not fit this format");
  expect_failure({"filter", "entropy", "a.npy", "--size", "5x3", "-o", "bad.npy", "--type", "8u"}, 2,
                 "entropies are 32f or 64f");
  answer({"filter", "bilateral", "a.npy", "--size", "5x3", "--sigma-range", "9", "-o", "out.png"});
  answer({"filter", "bilateral", "a.npy", "--size", "5x3", "--sigma-range", "9", "-o", "out.tif", "--type", "32f"});
  expect_failure({"filter", "bilateral", "a.npy", "--size", "5x3", "-o", "bad.png"}, 2, "--sigma-range is required");
  expect_failure({"filter", "modal", "a.npy", "--size", "5x3", "-o", "bad.png", "--sigma-range", "9"}, 2,
                 "--sigma-range 9: is for bilateral");
  expect_failure({"filter", "modal", "a.npy", "--size", "5x3", "-o", "bad.npy", "--q", "3"}, 2, "--q 3: is for");
  write_file(work / "f.npy", npy("<f4", "43, 61", std::vector<float>(width * height, 1)));
  expect_failure({"filter", "modal", "f.npy", "--size", "5x3", "-o", "bad.npy"}, 2, "take 8u and 16u");
}

TEST_F(CommandFilterLevels, SizesPerPixel) {
  // Rows and columns 5x3 for all pixels, as one channel of 3 for both, and as two.
  std::vector<std::uint16_t> two;
  for (int i = 0; i < width * height; ++i) two.insert(two.end(), {3, 5});
  write_file(work / "two.npy", npy("<u2", "43, 61, 2", two));
  write_file(work / "one.npy", npy("|u1", "43, 61", std::vector<std::uint8_t>(width * height, 3)));
  for (const char* const name : {"mean", "std", "niblack"}) {
    filter(name);
    const std::string expected = contents(work / "out.npy");
    answer({"filter", name, "a.npy", "--sizes", "two.npy", "-o", "sized.npy"});
    EXPECT_EQ(contents(work / "sized.npy"), expected) << name;
    answer({"filter", name, "a.npy", "--size", "3", "-o", "out.npy"});
    answer({"filter", name, "a.npy", "--sizes", "one.npy", "-o", "sized.npy"});
    EXPECT_EQ(contents(work / "sized.npy"), contents(work / "out.npy")) << name;
    EXPECT_NE(contents(work / "sized.npy"), expected) << name;  // the check can fail
  }
  expect_failure({"filter", "mean", "a.npy", "--sizes", "two.npy", "--size", "3", "-o", "bad.npy"}, 2,
                 "--size 3: --sizes has those of all pixels");
  expect_failure({"filter", "median", "a.npy", "--sizes", "two.npy", "-o", "bad.npy"}, 2,
                 "windows of a size per pixel are for sums");
  expect_failure({"filter", "mean", "a.npy", "--sizes", "two.npy", "--edge", "reflect", "-o", "bad.npy"}, 2,
                 "take edge shrink");
  write_file(work / "small.npy", npy("<u2", "43, 60", std::vector<std::uint16_t>(43 * 60, 3)));
  expect_failure({"filter", "mean", "a.npy", "--sizes", "small.npy", "-o", "bad.npy"}, 2, "sizes");
}

}  // namespace
}  // namespace areal::test
