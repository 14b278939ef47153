// The fused integral histogram's plans, with what `auto` chooses by size and threads forced: stores past the caches,
// bins found before the tiles, any number of groups. Against plain loops.
#include "cpu/histogram/fused.hpp"
#include <gtest/gtest.h>
#include <areal/areal.hpp>
#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <vector>
#include "api/core/pixel_rule.hpp"
#include "cpu/threads.hpp"
#include "extent.hpp"

namespace areal::cpu {
namespace {

struct Case {
  std::int64_t width = 1, height = 1, batch = 1, bins = 1;
  Border border = Border::none;
  bool stream = false, weighted = false;
  int threads = 0;
};

// What run_fused writes for random pixels, less what plain loops say; "" if nothing. Weights are small integers, whose
// sums are exact.
template <class T>
std::string fault_of(const Case& c, std::uint64_t seed, bool spoil = false) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(c.width * c.height * c.batch)), weights(pixels.size());
  for (std::uint8_t& p : pixels) p = static_cast<std::uint8_t>(random());
  for (std::uint8_t& w : weights) w = static_cast<std::uint8_t>(random() % 16);
  const Shape image{c.width, c.height, 1, c.batch};
  const Binning binning = Binning::uniform(static_cast<int>(c.bins), 0, 256);
  FusedHistogram plan = plan_fused({.image = image,
                                    .bins = c.bins,
                                    .counter = type_of<T>,
                                    .border = c.border,
                                    .weighted = c.weighted,
                                    .threads = c.threads});
  EXPECT_FALSE(plan.stream) << "by itself, so small a tensor stays in the caches";
  plan.stream = c.stream;
  const std::int64_t grown = c.border == Border::zero ? 1 : 0, shift = c.border == Border::none ? 0 : 1;
  Shape shape{c.width + grown, c.height + grown, c.bins, c.batch, Layout::planar};
  std::vector<T> tensor(static_cast<std::size_t>(shape.width * shape.height * c.bins * c.batch), T(77));
  std::vector<char> workspace(plan.workspace_bytes, '\x5a');
  std::atomic<std::int64_t> finished{0};
  run_fused(plan, pixel_bins(binning, Type::u8, 1), ConstView(static_cast<const void*>(pixels.data()), Type::u8, image),
            c.weighted ? ConstView(static_cast<const void*>(weights.data()), Type::u8, image) : ConstView(),
            View(static_cast<void*>(tensor.data()), type_of<T>, shape), {}, workspace.data(), [&] { ++finished; });
  if (plan.rows > 0) {
    EXPECT_EQ(finished, plan.tiles());
  }
  if (spoil) tensor[tensor.size() / 2] += 1;
  std::size_t at = 0;
  for (std::int64_t n = 0; n < c.batch; ++n)
    for (std::int64_t bin = 0; bin < c.bins; ++bin) {
      std::vector<double> above(static_cast<std::size_t>(shape.width), 0);
      for (std::int64_t y = 0; y < shape.height; ++y) {
        double row = 0;
        for (std::int64_t x = 0; x < shape.width; ++x, ++at) {
          if (x >= shift && y >= shift) {
            const auto i = static_cast<std::size_t>((n * c.height + y - shift) * c.width + x - shift);
            if (pixels[i] * c.bins / 256 == bin) row += c.weighted ? weights[i] : 1;
            above[static_cast<std::size_t>(x)] += row;
          }
          if (static_cast<double>(tensor[at]) != above[static_cast<std::size_t>(x)])
            return "image " + std::to_string(n) + ", bin " + std::to_string(bin) + ", " + std::to_string(x) + ", " +
                   std::to_string(y) + " of " + std::to_string(c.width) + "x" + std::to_string(c.height) + "x" +
                   std::to_string(c.bins) + (c.stream ? ", streamed" : "") + ", threads " + std::to_string(c.threads) +
                   ", seed " + std::to_string(seed);
        }
      }
    }
  return "";
}

TEST(Fused, TheCheckCanFail) {
  const Case c{.width = 90, .height = 70, .bins = 5};
  EXPECT_EQ(fault_of<std::uint32_t>(c, 1), "");
  EXPECT_NE(fault_of<std::uint32_t>(c, 1, true), "");
}

TEST(Fused, EveryWayToStoreAndToBin) {
  std::uint64_t seed = 10;
  int number = 0;
  for (const auto& [w, h, batch, bins] : std::vector<std::array<std::int64_t, 4>>{
           {1, 1, 1, 1}, {15, 3, 1, 2}, {65, 64, 2, 3}, {513, 65, 1, 32}, {1100, 130, 1, 7}, {70, 130, 2, 256}})
    for (const bool stream : {false, true})
      for (const Border border : {Border::none, Border::zero, Border::exclusive})
        for (const int threads : {1, 2, 5, 16}) {
          if (test::extent() == test::Extent::few && number++ % 3 != 0) continue;  // each with each in turn
          Case c{w, h, batch, bins, border, stream, false, threads};
          ASSERT_EQ(fault_of<std::uint32_t>(c, ++seed), "");
          if (threads == 5) {
            ASSERT_EQ(fault_of<std::uint64_t>(c, ++seed), "");
          }
          c.weighted = true;
          if (threads == 2) {
            ASSERT_EQ(fault_of<float>(c, ++seed), "");
          }
          if (threads == 2) {
            ASSERT_EQ(fault_of<double>(c, ++seed), "");
          }
        }
}

TEST(Fused, FindsBinsOnceWhereGroupsShareThemAndStreamsLargeTensorsOnSeveralThreads) {
  const auto plan = [](std::int64_t bins, int threads, bool weighted = false) {
    return plan_fused({.image = {1920, 1080}, .bins = bins, .weighted = weighted, .threads = threads});
  };
  EXPECT_GT(plan(32, 16).rel_pitch, 0);
  EXPECT_EQ(plan(32, 1).rel_pitch, 0);
  EXPECT_EQ(plan(256, 16).rel_pitch, 0) << "255 says none";
  EXPECT_EQ(plan(32, 16, true).rel_pitch, 0);
  EXPECT_EQ(plan(32, 2).stream, slots(2) > 1);
  EXPECT_FALSE(plan(32, 1).stream);
  EXPECT_FALSE(plan(8, 2).stream) << "it may stay in the caches";
}

}  // namespace
}  // namespace areal::cpu
