// CancelScope: long calls of every kind end with Cancelled, plans can be used again, short calls are never asked.
#include <gtest/gtest.h>
#include <areal/areal.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace areal {
namespace {

constexpr std::int64_t width = 1500, height = 1100;

struct Work {
  const char* name;
  std::function<void()> once;
};

/// Calls that take some milliseconds each, over data that outlives them.
std::vector<Work> all_work() {
  static const std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width * height), 3);
  static const ConstView image(pixels.data(), width, height);
  static const SatTable table = sat(image, {.squares = Squares::automatic});
  static const HistogramTensor tensor = integral_histogram(image, Binning::uniform(4, 0, 256));
  static const std::vector<Region> regions(200000, Region{5, 6, 1000, 900});
  static const std::vector<Box> boxes(100000, Box{0, 0, 0, 10, 10, 2});
  static const SatTable volume = sat(ConstView(pixels.data(), Type::u8, {100, 100, 1, 100}), {.volume = true});
  static const std::vector<double> target(4, 1), histograms(400000, 1);
  static Array out({width, height}, Type::f64), map({width - 8, height - 8}, Type::f64);
  static const SatPlan plan(image.shape, Type::u8), tilted(image.shape, Type::u8, {.tilted = true});
  static Workspace workspace(plan), workspace_of_tilted(tilted);
  static SatTable into = plan.allocate(), into_tilted = tilted.allocate();
  return {{"tables", [] { plan.execute(image, into, workspace); }},
          {"tilted tables", [] { tilted.execute(image, into_tilted, workspace_of_tilted); }},
          {"tensors", [] { integral_histogram(image, Binning::uniform(4, 0, 256)); }},
          {"sums", [] { region_sums(table, regions); }},
          {"variances", [] { region_variances(table, regions); }},
          {"boxes", [] { box_sums(SatView(TableView(volume.sum(), volume.border())), boxes); }},
          {"windows", [] { window_means(table, {.width = 31, .height = 31}, out.view()); }},
          {"histograms", [] { region_histograms(tensor, regions); }},
          {"streamed histograms",
           [] { region_histograms(image, Binning::uniform(300, 0, 256), Span<const Region>(regions.data(), 2000)); }},
          {"measures", [] { entropies(histograms, 4); }},
          {"maps of distances", [] { distance_map(tensor, 9, 9, target, Distance::hellinger, map.view()); }},
          {"maps of distances of pixels", [] {
             distance_map(image, Binning::uniform(static_cast<std::int64_t>(target.size()), 0, 256), 9, 9, target,
                          Distance::hellinger, map.view());
           }}};
}

TEST(CancelScope, EndsLongWorkOfEveryKind) {
  for (const Work& work : all_work()) {
    SCOPED_TRACE(work.name);
    int asked = 0;
    {
      const CancelScope scope([&] { return ++asked < 2; });
      EXPECT_THROW(for (int i = 0; i < 20000; ++i) work.once(), Cancelled);
      EXPECT_EQ(asked, 2);
      EXPECT_THROW(work.once(), Cancelled) << "once cancelled, what follows is, too";
    }
    EXPECT_NO_THROW(work.once());
    EXPECT_EQ(asked, 2);
  }
}

TEST(CancelScope, LetsAnswersBeWhatTheyAre) {
  const std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width * height), 3);
  const CancelScope scope([] { return true; });
  const SatTable table = sat(ConstView(pixels.data(), width, height));
  EXPECT_EQ(region_sum(table, {0, 0, width, height}), 3.0 * width * height);
}

TEST(CancelScope, NeverAsksAboutShortWork) {
  const std::vector<std::uint8_t> pixels(64 * 64, 3);
  bool asked = false;
  const auto start = std::chrono::steady_clock::now();
  const CancelScope scope([&] { return std::exchange(asked, true); });
  try {
    EXPECT_EQ(region_sum(sat(ConstView(pixels.data(), 64, 64)), {0, 0, 64, 64}), 3.0 * 64 * 64);
  } catch (const Cancelled&) {
  }
  // It takes microseconds; a machine may hold it up.
  const bool in_time = std::chrono::steady_clock::now() - start < std::chrono::milliseconds(50);
  EXPECT_FALSE(asked && in_time);
}

}  // namespace
}  // namespace areal
