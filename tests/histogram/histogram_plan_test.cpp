// HistogramPlan and its workspaces on the backends of this machine: many images in one workspace, pitched views,
// refused input, which backend `automatic` is; and the launches that a plan on simt reports.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/info.hpp>
#include "histogram_oracle.hpp"
#include "histogram_plan_options.hpp"

namespace areal {
namespace {

using oracle::Guarded;

std::vector<Backend> here() {
  std::vector<Backend> found;
  for (const BackendInfo& row : backends())
    if (row.available) found.push_back(row.backend);
  return found;
}
bool has_simt() {
  const auto found = here();
  return std::find(found.begin(), found.end(), Backend::simt) != found.end();
}

TEST(HistogramPlan, ManyImagesOnEveryBackend) {
  const oracle::Rule rule = oracle::uniform(7, 0, 256);
  const Shape shape{131, 67, 1, 2};
  bool caught = false;
  for (const Backend backend : here())
    for (const bool weighted : {false, true}) {
      SCOPED_TRACE(testing::Message() << name_of(backend) << (weighted ? ", weighted" : ""));
      HistogramPlanOptions options;
      options.backend = backend, options.border = Border::zero, options.weighted = weighted;
      if (weighted) options.counter = Type::f64;
      ReadyHistogram runner(plan_of(shape, Type::u8, rule.binning, options));
      EXPECT_EQ(runner.plan.image_shape(), shape);
      EXPECT_EQ(runner.plan.image_type(), Type::u8);
      // Seeds serve as pitches and types of weights, too.
      for (int seed = 0; seed < 3; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(static_cast<std::uint64_t>(seed));
        Guarded image(shape, Type::u8, seed, 3 * seed),
            tensor(runner.plan.tensor_shape(), options.counter, seed, 8 * seed);
        Guarded weights;
        oracle::fill_random(image.view, random, 0, 255);
        if (weighted) {
          weights = Guarded(shape, seed == 2 ? Type::u8 : Type::f32, seed, seed);
          oracle::fill_random(weights.view, random, 0, 9, false);
        }
        runner.execute({image.view, tensor.view, weights.view});
        const ConstView weight = weights.view;
        std::vector<double> expected = oracle::tensor(rule, image.view, weighted ? &weight : nullptr, Border::zero);
        EXPECT_EQ(oracle::difference(tensor.view, expected), "");
        EXPECT_EQ(tensor.touched(), -1);
        expected[expected.size() / 2 + 77] += 1;  // the check can fail
        caught = caught || !oracle::difference(tensor.view, expected).empty();
      }
    }
  EXPECT_TRUE(caught);
}

TEST(HistogramPlan, NothingToCount) {
  for (const Backend backend : here())
    for (const Shape& shape : {Shape{0, 5}, Shape{5, 0}, Shape{0, 0}}) {
      HistogramPlanOptions options;
      options.backend = backend, options.border = Border::zero;
      ReadyHistogram runner(plan_of(shape, Type::u8, Binning::uniform(3, 0, 256), options));
      Guarded tensor(runner.plan.tensor_shape(), Type::u32, 0, 4);
      runner.execute({ConstView(nullptr, Type::u8, shape), tensor.view});
      const std::vector<double> zeros(static_cast<std::size_t>((shape.width + 1) * (shape.height + 1) * 3));
      EXPECT_EQ(oracle::difference(tensor.view, zeros), "") << name_of(backend);
    }
}

TEST(HistogramPlan, ChecksItsViews) {
  const HistogramPlan plan = plan_of({5, 4}, Type::u8, Binning::uniform(2, 0, 256));
  std::vector<std::uint8_t> pixels(20);
  std::vector<std::uint32_t> counts(40);
  const ConstView image(pixels.data(), Type::u8, Shape{5, 4});
  EXPECT_NO_THROW(plan.check({image, View(counts.data(), Type::u32, plan.tensor_shape())}));
  EXPECT_THROW(plan.check({image, View(counts.data(), Type::u32, Shape{5, 4})}), InvalidArgument);
  EXPECT_THROW(ReadyHistogram(plan).execute({ConstView(pixels.data(), Type::u8, Shape{4, 5}),
                                             View(counts.data(), Type::u32, plan.tensor_shape())}),
               InvalidArgument);
}

TEST(AutomaticBackend, IsTheCpuForWhatItAloneDoes) {
  const Binning binning = Binning::uniform(4, 0, 256);
  const auto chosen = [&](const HistogramPlanOptions& options) {
    return plan_of({64, 48}, Type::u8, binning, options).backend();
  };
  HistogramPlanOptions options;
  options.backend = Backend::automatic, options.algorithm = "serial";
  EXPECT_EQ(chosen(options), Backend::cpu);
  options.algorithm = "auto", options.device = 4096;  // no machine has so many
  EXPECT_EQ(chosen(options), Backend::cpu);
  options.device = 0, options.progress = [](std::int64_t, std::int64_t) { return true; };
  EXPECT_EQ(chosen(options), Backend::cpu);
  options.progress = {};
  if (has_simt()) {
    options.backend = Backend::simt;  // named, so used as given
    EXPECT_EQ(chosen(options), Backend::simt);
  }
}

TEST(LaunchReport, TellsOfEachLaunchOfEachExecute) {
  if (!has_simt()) GTEST_SKIP() << "no simulated machine";
  std::vector<LaunchCounts> launches;
  HistogramPlanOptions options;
  options.backend = Backend::simt;
  options.on_launch = [&](const LaunchCounts& launch) { launches.push_back(launch); };
  const Shape shape{128, 64};  // one tile
  ReadyHistogram runner(plan_of(shape, Type::u8, Binning::uniform(4, 0, 256), options));
  EXPECT_TRUE(launches.empty());
  Array image(shape, Type::u8), tensor(runner.plan.tensor_shape(), Type::u32);
  for (int i = 1; i <= 2; ++i) {
    runner.execute({image.view(), tensor.view()});
    ASSERT_EQ(launches.size(), static_cast<std::size_t>(3 * i));
  }
  EXPECT_EQ(launches[0].kernel, "ReduceThenScanCount");
  EXPECT_EQ(launches[0].blocks, 1);
  EXPECT_EQ(launches[0].counts.reads.bytes, 128u * 64u + 256u * 2u);  // the pixels, and the rule's table
  EXPECT_EQ(launches[2].counts.writes.elements, 4u * 128u * 64u);
  Counts all;
  for (std::size_t i = 0; i < 3; ++i) all += launches[i].counts;
  EXPECT_EQ(all.launches, 3u);
  EXPECT_EQ(all.barrier_steps(), all.deepest_barriers + 3);
}

TEST(LaunchReport, IsOfDevicesAlone) {
  HistogramPlanOptions options;
  options.on_launch = [](const LaunchCounts&) {};
  for (const Backend backend : here()) {
    options.backend = backend;
    const auto plan = [&] { plan_of({8, 8}, Type::u8, Binning::uniform(2, 0, 256), options); };
    if (backend == Backend::cpu)
      EXPECT_THROW(plan(), InvalidArgument);
    else
      EXPECT_NO_THROW(plan());
  }
  // Automatic is a GPU if there is one, else the CPU.
  options.backend = Backend::automatic;
  const auto best = [&] { plan_of({8, 8}, Type::u8, Binning::uniform(2, 0, 256), options); };
  if (devices().empty())
    EXPECT_THROW(best(), InvalidArgument);
  else
    EXPECT_NO_THROW(best());
}

}  // namespace
}  // namespace areal
