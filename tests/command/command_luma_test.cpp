// A picture has the same luma in every file format: PNG, TIFF and .npy.
#include <cmath>
#include <cstring>
#include <random>
#include "command_runner.hpp"
#include "picture_files.hpp"

namespace areal::test {
namespace {

constexpr int side = 256;

// Colours side by side: every triple of the values' ends and middles, then random ones.
template <class T>
std::vector<T> colours(double largest, std::uint64_t seed) {
  std::vector<T> all;
  const std::vector<double> ends{0, 1, 2, largest / 2, 0.98 * largest, largest - 1, largest};
  for (const double r : ends)
    for (const double g : ends)
      for (const double b : ends)
        for (const double value : {r, g, b}) all.push_back(static_cast<T>(value));
  std::mt19937_64 random(seed);
  while (all.size() < 3 * side * side)
    all.push_back(static_cast<T>(std::uniform_real_distribution<double>(0, largest + 0.999)(random)));
  return all;
}

class Luma : public CommandTest {
 protected:
  // The luma itself, as 64f: sums of windows of one pixel.
  std::vector<double> luma_of(const std::string& file) {
    answer({"window", file, "--size", "1x1", "--sum", "-o", "luma.npy"});
    const std::string bytes = contents(work / "luma.npy");
    std::vector<double> values(side * side);
    if (bytes.size() < values.size() * 8) {
      ADD_FAILURE() << file << ": " << bytes.size() << " bytes";
      return values;
    }
    std::memcpy(values.data(), bytes.data() + bytes.size() - values.size() * 8, values.size() * 8);
    return values;
  }
  template <class T>
  void write_npy(const std::string& descr, const std::vector<T>& rgb) {
    write_file(work / "a.npy", npy(descr, "256, 256, 3", rgb));
  }
};

// The picture's and the array's luma are alike, and by the formula in whole numbers, halves rounded up.
void expect_alike(const std::vector<double>& picture, const std::vector<double>& array,
                  const std::vector<std::uint64_t>& want) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(picture[i], static_cast<double>(want[i])) << i;
    ASSERT_EQ(array[i], static_cast<double>(want[i])) << i;
  }
}
template <class T>
std::vector<std::uint64_t> whole_luma(const std::vector<T>& rgb) {
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < rgb.size(); i += 3)
    all.push_back(
        (std::uint64_t{rgb[i]} * 299 + std::uint64_t{rgb[i + 1]} * 587 + std::uint64_t{rgb[i + 2]} * 114 + 500) / 1000);
  return all;
}

TEST_F(Luma, Of8Bits) {
  auto rgb = colours<std::uint8_t>(255, 91);
  rgb[0] = rgb[1] = 0, rgb[2] = 250;  // 28.5
  const std::string bytes(rgb.begin(), rgb.end());
  write_file(work / "a.png", png(side, side, 8, 2, bytes, 3 * side));
  write_npy("|u1", rgb);
  const auto picture = luma_of("a.png");
  EXPECT_EQ(picture[0], 29);
  expect_alike(picture, luma_of("a.npy"), whole_luma(rgb));
  // And so are the tables, byte by byte.
  answer({"sat", "a.png", "-o", "png.npy"});
  answer({"sat", "a.npy", "-o", "npy.npy"});
  EXPECT_EQ(contents(work / "png.npy"), contents(work / "npy.npy"));
}

TEST_F(Luma, Of16Bits) {
  const auto rgb = colours<std::uint16_t>(65535, 92);
  std::string bytes;
  for (const std::uint16_t value : rgb) bytes += big(value, 2);
  write_file(work / "a.png", png(side, side, 16, 2, bytes, 6 * side));
  write_npy("<u2", rgb);
  expect_alike(luma_of("a.png"), luma_of("a.npy"), whole_luma(rgb));
}

TEST_F(Luma, OfFloats) {
  const auto rgb = colours<float>(1, 93);
  const std::string bytes(reinterpret_cast<const char*>(rgb.data()), rgb.size() * 4);
  write_file(
      work / "a.tif",
      tiff({.width = side, .height = side, .bits = 32, .samples = 3, .photometric = 2, .sample_format = 3}, bytes));
  write_npy("<f4", rgb);
  const auto picture = luma_of("a.tif"), array = luma_of("a.npy");
  EXPECT_EQ(picture, array);
  for (std::size_t i = 0; i < array.size(); ++i) {
    const double want = 0.299 * rgb[3 * i] + 0.587 * rgb[3 * i + 1] + 0.114 * rgb[3 * i + 2];
    ASSERT_NEAR(array[i], want, 1e-7 * want) << i;  // 32f
  }
}

// No picture here has 64-bit colours; arrays do.
TEST_F(Luma, OfWideIntegersIsExact) {
  std::vector<std::uint32_t> rgb(3 * side * side, 4294967295u);
  write_npy("<u4", rgb);
  EXPECT_EQ(luma_of("a.npy"), std::vector<double>(side * side, 4294967295.0));
}

}  // namespace
}  // namespace areal::test
