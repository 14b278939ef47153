// Histograms of regions straight from the image, compared with counting; and what plans and calls refuse.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/info.hpp>
#include <areal/region_histogram.hpp>
#include <atomic>
#include <thread>
#include "api/core/pixel_rule.hpp"
#include "cpu/histogram/direct.hpp"
#include "cpu/histogram/streamed.hpp"
#include "histogram_oracle.hpp"
#include "histogram_plan_options.hpp"
#include "random_regions.hpp"

namespace areal {
namespace {

using oracle::Guarded;
using oracle::Rule;

// Sum over the region, pixel by pixel.
std::vector<double> counted(const Rule& rule, const ConstView& image, const ConstView* weights, const Region& r) {
  std::vector<double> sums(static_cast<std::size_t>(rule.binning.bins()));
  for (std::int64_t y = r.y; y < r.y + r.height; ++y)
    for (std::int64_t x = r.x; x < r.x + r.width; ++x) {
      const std::int64_t bin = oracle::bin_at(rule, image, x, y, 0);
      if (bin >= 0) sums[static_cast<std::size_t>(bin)] += weights ? oracle::value_at(*weights, x, y) : 1;
    }
  return sums;
}

// Counts, then weights, of all regions; the text of the first difference.
std::string difference(const Rule& rule, const ConstView& image, const ConstView& weights,
                       std::span<const Region> regions, int threads) {
  const auto bins = static_cast<std::size_t>(rule.binning.bins());
  std::vector<std::uint64_t> counts(regions.size() * bins, 0xa5a5);
  std::vector<double> sums(regions.size() * bins, 0.1);
  region_histograms(image, rule.binning, regions, counts, {.execution = {.threads = threads}});
  region_histograms(image, rule.binning, weights, regions, sums, {.execution = {.threads = threads}});
  // The call above takes the one that is less work.
  const cpu::PixelBins pixels = pixel_bins(rule.binning, image.type, image.shape.channels);
  std::vector<std::uint64_t> streamed(counts.size(), 0xa5a5), direct(counts);
  cpu::streamed_counts(pixels, image, regions, streamed, threads);
  if (cpu::has_direct_counts(image.type, image.shape)) {
    std::fill(direct.begin(), direct.end(), 0xa5a5);
    cpu::direct_counts(pixels, image, regions, direct, threads);
  }
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const auto expected = counted(rule, image, nullptr, regions[i]);
    const auto weighed = counted(rule, image, &weights, regions[i]);
    for (std::size_t b = 0; b < bins; ++b)
      if (static_cast<double>(counts[i * bins + b]) != expected[b] || sums[i * bins + b] != weighed[b] ||
          streamed[i * bins + b] != counts[i * bins + b] || direct[i * bins + b] != counts[i * bins + b])
        return "region " + std::to_string(i) + " bin " + std::to_string(b);
  }
  return {};
}

TEST(HistogramStreamed, EqualsCounting) {
  const Rule rules[] = {oracle::uniform(1, 0, 256), oracle::uniform(32, 0, 256), oracle::uniform(300, 10, 200),
                        oracle::labels(20, 3)};
  const std::int64_t shapes[][2] = {{1, 1},   {1, 40},  {40, 1},   {37, 23},  {511, 6},
                                    {512, 7}, {513, 8}, {1500, 9}, {16500, 3}};
  for (const auto& shape : shapes)
    for (const Rule& rule : rules)
      for (const int threads : {1, 2}) {
        SCOPED_TRACE(rule.name + " " + std::to_string(shape[0]) + "x" + std::to_string(shape[1]) + " seed 5");
        std::mt19937_64 random(5);
        const Guarded image({shape[0], shape[1]}, Type::u8, 3, 5), weights({shape[0], shape[1]}, Type::f32, 1, 2);
        oracle::fill_random(image.view, random, 0, 255);
        oracle::fill_random(weights.view, random, 0, 9, false);
        // Few regions are added up; many use prefix sums.
        for (const std::size_t count : {5, 6, 12, 60})
          EXPECT_EQ(
              difference(rule, image.view, weights.view, random_regions(random, count, shape[0], shape[1]), threads),
              "");
      }
}

// Threads share a region of more than a million pixels.
TEST(HistogramStreamed, LargeRegionsEqualCounting) {
  std::mt19937_64 random(7);
  const Guarded image({2000, 1700}, Type::u8, 3, 5);
  oracle::fill_random(image.view, random, 0, 255);
  const Region regions[] = {{0, 0, 2000, 1700}, {3, 5, 70, 90}, {1, 1, 1999, 1049}, {5, 3, 1990, 527}, {9, 0, 0, 1700}};
  for (const Rule& rule : {oracle::uniform(32, 0, 256), oracle::uniform(300, 10, 200)}) {
    const auto bins = static_cast<std::size_t>(rule.binning.bins());
    const cpu::PixelBins pixels = pixel_bins(rule.binning, Type::u8, 1);
    for (const int threads : {1, 2}) {
      std::vector<std::uint64_t> counts(std::size(regions) * bins, 0xa5a5);
      cpu::direct_counts(pixels, image.view, regions, counts, threads);
      for (std::size_t i = 0; i < std::size(regions); ++i) {
        const auto expected = counted(rule, image.view, nullptr, regions[i]);
        for (std::size_t b = 0; b < bins; ++b)
          ASSERT_EQ(static_cast<double>(counts[i * bins + b]), expected[b]) << rule.name << ", region " << i;
      }
    }
  }
}

TEST(HistogramStreamed, TheCheckCatchesOneWrongPixel) {
  std::mt19937_64 random(6);
  const Rule rule = oracle::uniform(8, 0, 256);
  const Guarded image({30, 20}, Type::u8, 0, 0), weights({30, 20}, Type::u8, 0, 0);
  oracle::fill_random(image.view, random, 0, 255);
  oracle::fill_random(weights.view, random, 1, 9, false);
  Rule wrong = rule;
  wrong.bin = [&](const double* v) { return v[0] == oracle::value_at(image.view, 29, 19) ? -1 : rule.bin(v); };
  const Region all[] = {{0, 0, 30, 20}};
  EXPECT_EQ(difference(rule, image.view, weights.view, all, 1), "");
  EXPECT_NE(difference(wrong, image.view, weights.view, all, 1), "");
}

TEST(HistogramStreamed, EqualsTheTensor) {
  std::mt19937_64 random(9);
  const Guarded image({700, 90, 2, 1, Layout::planar}, Type::s16, 1, 6);
  oracle::fill_random(image.view, random, -300, 300);
  const Binning binning = Binning::joint({Binning::uniform(5, -200, 250), Binning::edges({-9, 0, 1, 300}).clamped()});
  HistogramOptions options;
  options.border = Border::zero;
  const HistogramTensor tensor = integral_histogram(image.view, binning, options);
  const auto regions = random_regions(random, 500, 700, 90);
  std::vector<std::uint64_t> out(regions.size() * 15);
  region_histograms(image.view, binning, regions, out);
  const auto at = [&](std::int64_t bin, std::int64_t y, std::int64_t x) -> std::uint64_t {
    return static_cast<const std::uint32_t*>(tensor.tensor().data)[(bin * 91 + y) * 701 + x];
  };
  for (std::size_t i = 0; i < regions.size(); ++i)
    for (std::int64_t bin = 0; bin < 15; ++bin) {
      const Region& r = regions[i];
      const std::int64_t x = r.x + r.width, y = r.y + r.height;
      ASSERT_EQ(out[i * 15 + static_cast<std::size_t>(bin)],
                at(bin, y, x) - at(bin, r.y, x) - at(bin, y, r.x) + at(bin, r.y, r.x));
    }
}

TEST(HistogramStreamed, FloatsAreTheSameForAnyThreads) {
  std::mt19937_64 random(10);
  const Guarded image({2100, 40}, Type::u8, 0, 0), weights({2100, 40}, Type::f64, 0, 0);
  oracle::fill_random(image.view, random, 0, 255);
  for (std::int64_t i = 0; i < 2100 * 40; ++i) {
    const double weight = std::uniform_real_distribution<>(-1, 1)(random);
    std::memcpy(static_cast<char*>(weights.view.data) + 8 * i, &weight, 8);
  }
  const auto regions = random_regions(random, 80, 2100, 40);
  const Binning binning = Binning::uniform(7, 0, 256);
  std::vector<double> one(80 * 7), other(80 * 7);
  region_histograms(image.view, binning, weights.view, regions, one, {.execution = {.threads = 1}});
  for (const int threads : {2, 5, 0}) {
    region_histograms(image.view, binning, weights.view, regions, other, {.execution = {.threads = threads}});
    EXPECT_EQ(std::memcmp(one.data(), other.data(), one.size() * 8), 0) << threads;
  }
}

TEST(HistogramStreamed, TenThousandRegionsAndNone) {
  std::mt19937_64 random(12);
  const Guarded image({800, 300}, Type::u8, 0, 0);
  oracle::fill_random(image.view, random, 0, 255);
  const Rule rule = oracle::uniform(16, 0, 256);
  const auto regions = random_regions(random, 10000, 800, 300);
  std::vector<std::uint64_t> out(regions.size() * 16);
  region_histograms(image.view, rule.binning, regions, out);
  for (std::size_t i = 0; i < regions.size(); i += 997) {
    const auto expected = counted(rule, image.view, nullptr, regions[i]);
    for (std::size_t b = 0; b < 16; ++b) ASSERT_EQ(static_cast<double>(out[i * 16 + b]), expected[b]) << i;
  }
  region_histograms(image.view, rule.binning, {}, std::span<std::uint64_t>());
}

TEST(HistogramStreamed, ClipsOnRequest) {
  const std::uint8_t pixels[] = {0, 1, 1, 0, 1, 1};
  const Region regions[] = {{-5, -5, 7, 6}, {1, 1, INT64_MAX, INT64_MAX}, {9, 9, 4, 4}};
  std::uint64_t out[6];
  region_histograms({pixels, 3, 2}, Binning::labels(2), regions, out, {.outside = Outside::clip});
  const std::uint64_t expected[] = {1, 1, 0, 2, 0, 0};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(out[i], expected[i]) << i;
}

template <class Exception, class F>
void expect_refused(F&& call, const std::vector<std::string>& parts) {
  try {
    call();
    FAIL() << "not refused: " << parts[0];
  } catch (const Exception& error) {
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(HistogramStreamed, RefusesWhatCannotBe) {
  const std::vector<std::uint8_t> pixels(64 * 48);
  const ConstView image(pixels.data(), 64, 48);
  const Binning binning = Binning::uniform(4, 0, 256);
  std::uint64_t out[8];
  const auto ask = [&](const Region& region, Outside outside = Outside::error) {
    const Region two[] = {{0, 0, 1, 1}, region};
    region_histograms(image, binning, two, out, {.outside = outside});
  };
  expect_refused<InvalidArgument>([&] { ask({60, 0, 5, 1}); }, {"region 1", "x 60", "64x48"});
  expect_refused<InvalidArgument>([&] { ask({0, 0, -1, 1}); }, {"region 1", "negative"});
  expect_refused<InvalidArgument>([&] { ask({0, 0, 1, -1}, Outside::clip); }, {"region 1", "negative"});
  expect_refused<InvalidArgument>([&] { ask({INT64_MAX, 0, INT64_MAX, 1}); }, {"region 1", "outside"});
  const Region one[] = {{0, 0, 1, 1}};
  expect_refused<InvalidArgument>([&] { region_histograms(image, binning, one, std::span(out, 3)); },
                                  {"output of 3", "1 x 4"});
  expect_refused<InvalidArgument>(
      [&] {
        region_histograms(image, Binning::joint({binning, binning}), one, std::span(out, 4));
      },
      {"1 channels", "reads 2"});
  const std::vector<std::int16_t> weights(64 * 48);
  double sums[4];
  expect_refused<InvalidArgument>(
      [&] { region_histograms(image, binning, ConstView(weights.data(), 64, 48), one, sums); },
      {"weights type 16s", "8u, 16u, 32f or 64f"});
}

TEST(HistogramStreamed, PlansCountOnTheCpu) {
  std::mt19937_64 random(13);
  const Guarded image({60, 40}, Type::u16, 3, 5), weights({60, 40}, Type::u8, 1, 2);
  oracle::fill_random(image.view, random, 0, 255);
  oracle::fill_random(weights.view, random, 0, 9);
  const Rule rule = oracle::uniform(7, 0, 256);
  const auto regions = random_regions(random, 30, 60, 40);
  std::vector<std::uint64_t> counts(30 * 7);
  std::vector<double> sums(30 * 7);
  const RegionHistogramPlan plan({60, 40}, Type::u16, rule.binning, 30, {}, {.backend = Backend::cpu});
  const RegionHistogramPlan weighted({60, 40}, Type::u16, rule.binning, 50, {Outside::error, true}, {});
  EXPECT_EQ(weighted.backend(), Backend::cpu);
  EXPECT_EQ(plan.workspace_bytes(), 0u);
  Workspace workspace(plan), of_weighted(weighted);
  plan.execute(image.view, regions, counts, workspace);
  weighted.execute(image.view, weights.view, regions, sums, of_weighted);
  const ConstView weight = weights.view;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const auto expected = counted(rule, image.view, nullptr, regions[i]);
    const auto weighed = counted(rule, image.view, &weight, regions[i]);
    for (std::size_t b = 0; b < 7; ++b) {
      ASSERT_EQ(static_cast<double>(counts[i * 7 + b]), expected[b]) << "seed 13, region " << i;
      ASSERT_EQ(sums[i * 7 + b], weighed[b]) << "seed 13, region " << i;
    }
  }
  const Shape shape{60, 40};
  const auto planned = [&](const Shape& of, std::int64_t most, const Execution& execution) {
    RegionHistogramPlan(of, Type::u8, rule.binning, most, {}, execution);
  };
  expect_refused<InvalidArgument>([&] { planned(shape, -1, {}); }, {"regions: -1", "0 or more"});
  expect_refused<InvalidArgument>([&] { planned({60, 40, 1, 2}, 1, {}); }, {"batch of 2"});
  expect_refused<InvalidArgument>([&] { planned({60, 40, 3}, 1, {}); }, {"3 channels", "reads 1"});
  expect_refused<InvalidArgument>([&] { planned(shape, 1, {.threads = -1}); }, {"threads -1"});
  expect_refused<Unavailable>([&] { planned(shape, 1, {.backend = Backend::cuda, .device = 1000}); }, {"cuda"});
  const std::vector<std::uint8_t> bytes(60 * 40);
  expect_refused<Unavailable>(
      [&] {
        region_histograms(ConstView(bytes.data(), 60, 40), rule.binning, regions,
                          {.execution = {.backend = Backend::cuda, .device = 1000}});
      },
      {"cuda"});
  expect_refused<InvalidArgument>([&] { plan.execute(image.view, regions, std::span(counts).first(7), workspace); },
                                  {"output of 7", "30 x 7"});
  expect_refused<InvalidArgument>([&] { plan.execute(image.view, regions, counts, of_weighted); }, {"another plan"});
  expect_refused<InvalidArgument>([&] { plan.execute(image.view, weight, regions, sums, workspace); }, {"weights"});
  expect_refused<InvalidArgument>([&] { weighted.execute(image.view, regions, counts, of_weighted); }, {"weights"});
  const std::vector<Region> more(31);
  expect_refused<InvalidArgument>([&] { plan.execute(image.view, more, counts, workspace); }, {"regions: 31", "30"});
}

TEST(HistogramPlan, SaysItsBytesAndRefusesWhatDoesNotFit) {
  HistogramOptions options;
  options.border = Border::zero;
  const HistogramPlan plan({1 << 20, 1 << 20}, Type::u8, Binning::uniform(256, 0, 256), options);
  const std::uint64_t bytes = std::uint64_t{4} * 256 * ((1 << 20) + 1) * ((1 << 20) + 1);
  EXPECT_EQ(plan.tensor_bytes(), bytes);
  expect_refused<OutOfMemory>([&] { plan.require_fit(); }, {std::to_string(bytes), "free"});
  const std::vector<std::uint8_t> pixels(100 * 50);
  options.memory_limit = 4 * 256 * 101 * 51 - 1;
  const Binning binning = Binning::uniform(256, 0, 256);
  try {
    integral_histogram({pixels.data(), 100, 50}, binning, options);
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.bytes(), options.memory_limit + 1);
    EXPECT_NE(std::string(error.what()).find(std::to_string(options.memory_limit)), std::string::npos) << error.what();
  }
  ++options.memory_limit;
  EXPECT_EQ(bytes_of(integral_histogram({pixels.data(), 100, 50}, binning, options).tensor().shape, Type::u32),
            options.memory_limit);
}

TEST(HistogramPlan, TellsWhatItChose) {
  const Binning binning = Binning::uniform(4, 0, 256);
  EXPECT_EQ(plan_of({10, 10}, Type::u8, binning).algorithm(), "fused");
  EXPECT_NE(plan_of({10, 10}, Type::u8, binning).reason(), "");
  // A small part of the tensor: one row and one column of each bin.
  const HistogramPlan large = plan_of({1920, 1080}, Type::u8, Binning::uniform(32, 0, 256));
  EXPECT_LT(large.workspace_bytes() * 200, large.tensor_bytes());
}

TEST(HistogramPlan, RefusesWhatCannotBe) {
  const Binning binning = Binning::uniform(4, 0, 256);
  const auto plan = [&](const Shape& shape, Type type, const Binning& b,
                        const std::function<void(HistogramPlanOptions&)>& set) {
    HistogramPlanOptions options;
    set(options);
    plan_of(shape, type, b, options);
  };
  const auto none = [](HistogramPlanOptions&) {};
  const Shape image{8, 6};
  expect_refused<InvalidArgument>([&] { plan({-1, 6}, Type::u8, binning, none); }, {"image", "negative"});
  expect_refused<InvalidArgument>(
      [&] {
        plan({std::int64_t{1} << 31, std::int64_t{1} << 31}, Type::u8, binning, none);
      },
      {"63 bits"});
  expect_refused<InvalidArgument>([&] { plan({8, 6, 3}, Type::u8, binning, none); }, {"3 channels", "reads 1"});
  expect_refused<InvalidArgument>([&] { plan(image, Type::f32, Binning::labels(3), none); }, {"labels", "32f"});
  expect_refused<InvalidArgument>([&] { plan(image, Type::u32, Binning::lookup({0}), none); }, {"look-up", "32u"});
  expect_refused<InvalidArgument>([&] { plan(image, Type::u8, binning, [](auto& o) { o.counter = Type::u8; }); },
                                  {"counter 8u", "32u or 64u"});
  expect_refused<InvalidArgument>([&] { plan(image, Type::u8, binning, [](auto& o) { o.weighted = true; }); },
                                  {"counter 32u", "32f or 64f"});
  expect_refused<InvalidArgument>([&] { plan(image, Type::u8, binning, [](auto& o) { o.threads = -1; }); },
                                  {"threads -1"});
  expect_refused<InvalidArgument>([&] { plan(image, Type::u8, binning, [](auto& o) { o.algorithm = "quick"; }); },
                                  {"quick", "serial", "fused"});
  expect_refused<Unavailable>(
      [&] {
        plan(image, Type::u8, binning, [](HistogramPlanOptions& o) {
          o.backend = Backend::cuda;
          o.device = 1000;  // more than any machine has
        });
      },
      {"cuda"});
  expect_refused<Unavailable>([&] { plan(image, Type::u8, binning, [](auto& o) { o.counter = Type::u16; }); },
                              {"counter 16u", "cpu"});
  expect_refused<InvalidArgument>(
      [&] {
        plan(image, Type::u8, binning, [](HistogramPlanOptions& o) {
          o.backend = Backend::simt;
          o.algorithm = "fused";
        });
      },
      {"fused", "reduce-then-scan", "simt"});
  for (const char* id : {"serial", "parallel"}) {
    const auto named = [&](HistogramPlanOptions& o) { o.algorithm = id; };
    expect_refused<InvalidArgument>([&] { plan({8, 6, 1, 2}, Type::u8, binning, named); }, {id, "fused"});
    expect_refused<InvalidArgument>(
        [&] {
          plan(image, Type::u8, binning, [&](HistogramPlanOptions& o) {
            o.algorithm = id;
            o.weighted = true;
            o.counter = Type::f32;
          });
        },
        {id, "weights"});
  }
}

TEST(HistogramPlan, ExecuteRefusesWrongViews) {
  std::vector<std::uint8_t> pixels(8 * 6);
  std::vector<std::uint32_t> memory(4 * 8 * 6);
  const HistogramPlan plan = plan_of({8, 6}, Type::u8, Binning::uniform(4, 0, 256));
  const ConstView image(pixels.data(), 8, 6);
  const View tensor(memory.data(), Type::u32, plan.tensor_shape());
  Workspace workspace(plan);
  const auto run = [&](const ConstView& in, const View& out, const ConstView& weights = {}) {
    plan.execute({in, out, weights}, workspace);
  };
  run(image, tensor);
  expect_refused<InvalidArgument>([&] { run(ConstView(pixels.data(), 6, 8), tensor); }, {"image", "6x8", "8x6"});
  View other = tensor;
  other.type = Type::u64;
  expect_refused<InvalidArgument>([&] { run(image, other); }, {"tensor", "64u", "32u"});
  other = tensor;
  other.row_pitch = 28;
  expect_refused<InvalidArgument>([&] { run(image, other); }, {"tensor", "pitch 28"});
  other = tensor;
  other.row_pitch = -32;
  expect_refused<InvalidArgument>([&] { run(image, other); }, {"tensor", "negative"});
  expect_refused<InvalidArgument>([&] { run(image, View(nullptr, Type::u32, plan.tensor_shape())); },
                                  {"tensor", "null"});
  expect_refused<InvalidArgument>([&] { run(image, tensor, image); }, {"weights"});
  expect_refused<InvalidArgument>([&] { run(ConstView(memory.data(), Type::u8, {8, 6}), tensor); }, {"share memory"});
  const HistogramPlan large = plan_of({2000, 2}, Type::u8, Binning::uniform(4, 0, 256));
  expect_refused<InvalidArgument>([&] { Workspace(large, {}, Stream::host()); },
                                  {"workspace", std::to_string(large.workspace_bytes())});
}

TEST(HistogramPlan, ProgressCountsAndCancels) {
  const std::vector<std::uint8_t> pixels(1100 * 200);
  const ConstView image(pixels.data(), 1100, 200);
  for (const char* id : {"serial", "parallel", "fused"}) {
    HistogramOptions options;
    options.algorithm = id;
    std::int64_t last = 0, of = 0;
    bool in_order = true;
    options.progress = [&](std::int64_t done, std::int64_t total) {
      in_order = in_order && done == last + 1;
      last = done;
      of = total;
      return true;
    };
    integral_histogram(image, Binning::uniform(6, 0, 256), options);
    EXPECT_TRUE(in_order) << id;
    EXPECT_EQ(last, of) << id;
    EXPECT_GT(of, 1) << id;
    std::atomic<int> calls = 0;
    options.progress = [&](std::int64_t, std::int64_t) { return ++calls < 2; };
    EXPECT_THROW(integral_histogram(image, Binning::uniform(6, 0, 256), options), Cancelled) << id;
  }
}

// Two executes of one plan at once, each with its own workspace.
TEST(HistogramPlan, ExecutesAtOnce) {
  const Rule rule = oracle::uniform(5, 0, 256);
  std::mt19937_64 random(21);
  const Guarded image({600, 70}, Type::u8, 0, 0);
  oracle::fill_random(image.view, random, 0, 255);
  const HistogramPlan plan = plan_of({600, 70}, Type::u8, rule.binning);
  const auto expected = oracle::tensor(rule, image.view, nullptr, Border::none);
  std::vector<std::string> found(4);
  std::vector<std::thread> threads;
  for (auto& words : found)
    threads.emplace_back([&] {
      Array tensor(plan.tensor_shape(), Type::u32);
      Workspace workspace(plan);
      plan.execute({image.view, tensor.view()}, workspace);
      words = oracle::difference(tensor.view(), expected);
    });
  for (auto& thread : threads) thread.join();
  for (const auto& words : found) EXPECT_EQ(words, "");
}

}  // namespace
}  // namespace areal
