// A thread that flushes denormal numbers to zero and rounds upwards, as XLA's threads flush them, gets the same answers
// as any other, and leaves no other thread of areal in that state.
#include <gtest/gtest.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>
#include "conformance/backends.hpp"

namespace areal::conformance {
namespace {

constexpr unsigned flushing = 0x1F80 | 0x8000 | 0x0040 | 0x4000;  // all masked, flush, denormals are zero, upwards
constexpr std::int64_t width = 270, height = 150;

/// Whole multiples of the smallest denormal number, whose sums are exact.
std::vector<float> image() {
  std::vector<float> pixels(static_cast<std::size_t>(width * height));
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<float>(i % 7) * std::numeric_limits<float>::denorm_min();
  return pixels;
}

/// The bits of entries and sums: on a flushing thread the test must not compute with them.
std::vector<std::uint64_t> answers(const std::vector<float>& pixels, Backend backend, int threads) {
  const ConstView view(pixels.data(), Type::f32, Shape{width, height});
  std::vector<std::uint64_t> all;
  for (const Algorithm& row : algorithms()) {
    if (row.family != "sat" || row.id == "relay" || row.id == "bands" ||
        !(backend == Backend::cpu ? row.cpu : row.simt))
      continue;
    const SatOptions options{.border = Border::zero, .types = type_pair("32f32f"), .algorithm = std::string(row.id)};
    const SatTable table = sat(view, options, {.backend = backend, .threads = threads});
    for (std::int64_t y = 0; y < table.sum().shape.height; ++y) {
      const auto* entries = static_cast<const std::uint32_t*>(table.sum().row(y));
      all.insert(all.end(), entries, entries + table.sum().shape.width);
    }
    const std::vector<Region> regions{{1, 1, 1, 1}, {0, 0, width, height}, {200, 100, 8, 9}};
    for (const double sum : region_sums(table, regions)) all.push_back(std::bit_cast<std::uint64_t>(sum));
  }
  return all;
}

std::vector<std::uint64_t> on_flushing_thread(const std::vector<float>& pixels, Backend backend, int threads) {
  std::vector<std::uint64_t> all;
  std::thread([&] {
    _mm_setcsr(flushing);
    all = answers(pixels, backend, threads);
    EXPECT_EQ(_mm_getcsr() & 0xFFC0U, flushing & 0xFFC0U) << "areal left the caller's modes changed";
  }).join();
  return all;
}

TEST(FloatEnvironment, TheProcessorFlushesWithoutUs) {
  std::thread([] {
    _mm_setcsr(flushing);
    volatile float small = std::numeric_limits<float>::denorm_min();
    volatile const float sum = small + small;
    EXPECT_EQ(sum, 0.0F);
  }).join();
}

TEST(FloatEnvironment, TheCallersModesChangeNoAnswer) {
  const std::vector<float> pixels = image();
  for (const Backend backend : {Backend::cpu, Backend::simt}) {
    if (missing(backend)) continue;
    // Flushing threads first: TBB's workers begin with their caller's modes.
    for (const int threads : {2, 1, 0}) {
      const std::vector<std::uint64_t> flushed = on_flushing_thread(pixels, backend, threads);
      const std::vector<std::uint64_t> plain = answers(pixels, backend, threads);
      ASSERT_EQ(flushed.size(), plain.size());
      const auto [left, right] = std::mismatch(flushed.begin(), flushed.end(), plain.begin());
      EXPECT_TRUE(left == flushed.end()) << name_of(backend) << ", threads " << threads << ", answer "
                                         << left - flushed.begin() << ": " << *left << ", otherwise " << *right;
      const auto all = static_cast<float>(std::accumulate(pixels.begin(), pixels.end(), 0.0));
      EXPECT_GT(all, 0.0F);
      EXPECT_EQ(plain.at(static_cast<std::size_t>((width + 1) * (height + 1)) - 1), std::bit_cast<std::uint32_t>(all));
    }
  }
}

}  // namespace
}  // namespace areal::conformance
#endif
