// Integral histograms against a per-pixel oracle: shapes, borders, types, binnings, weights, batches, layouts, threads
// and SIMD targets, on poisoned and guarded memory at odd addresses.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/info.hpp>
#include "cpu/simd.hpp"
#include "histogram_inputs.hpp"
#include "histogram_plan_options.hpp"

namespace areal {
namespace {

using oracle::Guarded;
using oracle::Inputs;
using oracle::inputs_of;
using oracle::Rule;

struct Case {
  Shape image;
  Type type = Type::u8;
  Border border = Border::none;
  Type counter = Type::u32;
  std::optional<Type> weights = {};
  std::string algorithm = "fused";
  int threads = 1;
  int misalign = 0, gap = 0;
  int lo = 0, hi = 255;  // pixels
};

// Runs the plan (twice, unless the tensor is large) on one poisoned workspace, into poisoned tensors.
Guarded run(const Case& c, const Rule& rule, const Inputs& in) {
  HistogramPlanOptions options;
  options.border = c.border;
  options.counter = c.counter;
  options.weighted = c.weights.has_value();
  options.algorithm = c.algorithm;
  options.threads = c.threads;
  const HistogramPlan plan = plan_of(c.image, c.type, rule.binning, options);
  std::vector<unsigned char> workspace(plan.workspace_bytes() + 128, 0xc3);
  unsigned char* const start = workspace.data() + 61;
  Workspace ready(plan, {reinterpret_cast<std::byte*>(start), plan.workspace_bytes()}, Stream::host());
  Guarded first(plan.tensor_shape(), c.counter, c.misalign, c.gap);
  plan.execute({in.image.view, first.view, in.weights.view}, ready);
  EXPECT_EQ(first.touched(), -1);
  if (plan.tensor_bytes() < (1 << 20)) {
    Guarded second(plan.tensor_shape(), c.counter, c.misalign, c.gap);
    plan.execute({in.image.view, second.view, in.weights.view}, ready);
    EXPECT_TRUE(first.same(second));
  }
  for (std::size_t i = 0; i < workspace.size(); ++i)
    if (i < 61 || i >= 61 + plan.workspace_bytes()) {
      EXPECT_EQ(workspace[i], 0xc3) << "workspace byte " << i;
    }
  return first;
}

std::string words(const Case& c, const Rule& rule) {
  std::ostringstream text;
  text << c.algorithm << " " << c.image.width << "x" << c.image.height << " channels " << c.image.channels << " batch "
       << c.image.batch << " " << name_of(c.type) << " " << rule.name << " border " << name_of(c.border) << " counter "
       << name_of(c.counter) << " threads " << c.threads << " misalign " << c.misalign << " gap " << c.gap;
  return text.str();
}

// One case on every SIMD target of this CPU, or on the best one if the case is about reading pixels.
void check(const Case& c, const Rule& rule, std::uint64_t seed = 7, bool all_targets = true) {
  SCOPED_TRACE(words(c, rule) + " seed " + std::to_string(seed));
  const Inputs in = inputs_of(c, seed);
  const ConstView weights = in.weights.view;
  // Weights are halves below 10, so sums of fewer than 2^19 pixels are exact in 32f, too.
  const auto expected = oracle::tensor(rule, in.image.view, c.weights ? &weights : nullptr, c.border);
  for (const std::string& target : simd_targets()) {
    ASSERT_TRUE(cpu::only_simd_target(target));
    EXPECT_EQ(oracle::difference(run(c, rule, in).view, expected), "") << target;
    if (!all_targets || c.algorithm != "fused") break;
  }
  cpu::only_simd_target("");
}

constexpr Border borders[] = {Border::none, Border::zero, Border::exclusive};

TEST(HistogramOracle, CatchesOneFlippedElement) {
  const Rule rule = oracle::uniform(3, 0, 256);
  const Case c{{70, 9}};
  const Inputs in = inputs_of(c, 1);
  const Guarded got = run(c, rule, in);
  const auto expected = oracle::tensor(rule, in.image.view, nullptr, c.border);
  ASSERT_EQ(oracle::difference(got.view, expected), "");
  for (const std::int64_t x : {0, 63, 69}) {
    auto* const p = static_cast<unsigned char*>(got.view.row(8, 2)) + x * 4;
    *p ^= 1;
    EXPECT_NE(oracle::difference(got.view, expected), "") << x;
    *p ^= 1;
  }
  EXPECT_EQ(got.touched(), -1);
  *(static_cast<unsigned char*>(got.view.row(0, 0)) - 1) ^= 1;
  EXPECT_NE(got.touched(), -1);
}

TEST(HistogramOracle, IsACountOfPixels) {
  // The oracle itself, by counting every pixel above and to the left.
  const Rule rule = oracle::uniform(5, 0, 256);
  const Inputs in = inputs_of(Case{{13, 11}}, 3);
  const auto expected = oracle::tensor(rule, in.image.view, nullptr, Border::zero);
  for (std::int64_t bin = 0; bin < 5; ++bin)
    for (std::int64_t y = 0; y <= 11; ++y)
      for (std::int64_t x = 0; x <= 13; ++x) {
        double count = 0;
        for (std::int64_t v = 0; v < y; ++v)
          for (std::int64_t u = 0; u < x; ++u) count += oracle::bin_at(rule, in.image.view, u, v, 0) == bin;
        ASSERT_EQ(expected[static_cast<std::size_t>((bin * 12 + y) * 14 + x)], count);
      }
}

TEST(HistogramTensor, Shapes) {
  const std::int64_t shapes[][2] = {{0, 0},     {0, 5},   {5, 0},   {1, 1},    {1, 67},   {67, 1},  {2, 3},
                                    {15, 17},   {16, 2},  {31, 64}, {63, 63},  {64, 65},  {65, 64}, {127, 3},
                                    {128, 129}, {511, 5}, {512, 2}, {513, 66}, {1025, 3}, {3, 300}, {601, 71}};
  const Rule rule = oracle::uniform(5, 0, 256);
  int turn = 0;
  for (const auto& shape : shapes)
    for (const Border border : borders)
      for (const Type counter : {Type::u32, Type::u64}) {
        ++turn;
        check({.image = {shape[0], shape[1]},
               .border = border,
               .counter = counter,
               .threads = turn % 3 + 1,
               .misalign = turn % 2 ? 0 : turn % 61,
               .gap = turn % 3 ? turn % 13 : 0},
              rule);
      }
}

TEST(HistogramTensor, EveryAlignment) {
  const Rule rule = oracle::uniform(2, 0, 256);
  for (int misalign = 0; misalign < 64; ++misalign)
    for (const int width : {1, 17, 40, 96, 130})
      check({.image = {width, 4},
             .border = borders[misalign % 3],
             .counter = misalign & 1 ? Type::u64 : Type::u32,
             .misalign = misalign,
             .gap = misalign % 5},
            rule);
}

TEST(HistogramTensor, NumbersOfBins) {
  for (const std::int64_t bins : {1, 2, 31, 32, 33, 254, 255, 256, 257, 600, 4096}) {
    const bool many = bins > 100;
    check({.image = {many ? 21 : 530, many ? 9 : 67},
           .type = Type::u16,
           .border = Border::zero,
           .threads = 2,
           .hi = 4096},
          oracle::uniform(bins, 0, 4096));
  }
  check({.image = {3, 2}, .type = Type::u16, .hi = 65535}, oracle::uniform(65535, 0, 65536));
}

TEST(HistogramTensor, Weights) {
  const Rule rule = oracle::uniform(6, 0, 256);
  for (const Type weights : {Type::u8, Type::u16, Type::f32, Type::f64})
    for (const Type counter : {Type::f32, Type::f64})
      for (const Border border : borders) {
        check({.image = {130, 35}, .border = border, .counter = counter, .weights = weights, .misalign = 3}, rule);
        check({.image = {517, 33, 1, 2}, .border = border, .counter = counter, .weights = weights, .threads = 2}, rule);
      }
}

TEST(HistogramTensor, StreamsLargeTensors) {
  // More than the caches hold, so that the stores bypass them; a narrow row, an odd pitch, every border.
  check({.image = {1031, 203}, .border = Border::zero, .threads = 2, .misalign = 7}, oracle::uniform(32, 0, 256));
  check({.image = {1024, 101}, .counter = Type::u64, .threads = 2}, oracle::uniform(32, 0, 256));
  check({.image = {1031, 203}, .border = Border::exclusive, .counter = Type::f64, .weights = Type::f32, .threads = 2},
        oracle::uniform(16, 0, 256));
}

TEST(HistogramTypes, EveryTypeEqualsTheDefinition) {
  const Type types[] = {Type::u8,  Type::s8,  Type::u16, Type::s16, Type::u32, Type::s32,
                        Type::u64, Type::s64, Type::f16, Type::f32, Type::f64};
  const auto once = [](const Case& c, const Rule& rule) { check(c, rule, 7, false); };
  for (const Type type : types) {
    const bool is_signed = is_float(type) || is_signed_integer(type);
    const Case c{.image = {131, 20},
                 .type = type,
                 .border = Border::zero,
                 .misalign = 5,
                 .gap = 3,
                 .lo = is_signed ? -100 : 0,
                 .hi = 120};
    once(c, oracle::uniform(13, -20.5, 99.25));
    once(c, oracle::uniform(10, 0, 1));
    once(c, oracle::uniform(7, -3, 100, true));
    once(c, oracle::edges({-7, 0, 0.5, 1, 64, 100}));
    once(c, oracle::edges({-7, 0, 0.5, 1, 64, 100}, true));
    if (!is_float(type)) once(c, oracle::labels(50, 7));
    if (size_of(type) <= 2 && !is_float(type)) once(c, oracle::lookup({3, 3, -1, 0, 1, 17, -1, 4}));
  }
}

TEST(HistogramTypes, LabelsOf64BitsAreNotRounded) {
  const std::int64_t pixels[] = {5, (std::int64_t{1} << 32) + 5, (std::int64_t{1} << 56) + 1, -1, 6};
  const HistogramTensor tensor = integral_histogram({pixels, 5, 1}, Binning::labels(8, 6));
  const auto* t = static_cast<const std::uint32_t*>(tensor.tensor().data);
  EXPECT_EQ(t[5 * 5 + 4], 1u);
  EXPECT_EQ(t[6 * 5 + 4], 0u);
  EXPECT_EQ(t[1 * 5 + 4], 0u);
}

TEST(HistogramTypes, JointChannels) {
  for (const Layout layout : {Layout::interleaved, Layout::planar})
    for (const Type type : {Type::u8, Type::s16, Type::f32}) {
      const Rule a = oracle::uniform(4, 0, 200), b = oracle::uniform(3, 10, 256, true),
                 d = oracle::edges({0, 9, 100, 256});
      check({.image = {520, 9, 2, 2, layout}, .type = type, .threads = 2, .misalign = 1, .gap = 6},
            oracle::joint({a, b}));
      check({.image = {33, 70, 3, 1, layout}, .type = type, .border = Border::zero}, oracle::joint({a, b, d}));
    }
}

TEST(HistogramTypes, Batches) {
  const Rule rule = oracle::uniform(9, 0, 256);
  for (const std::int64_t batch : {0, 1, 2, 7}) {
    check({.image = {12, 10, 1, batch}, .threads = 2, .gap = 8}, rule);
    check({.image = {514, 66, 1, batch}, .border = Border::zero, .threads = 2, .gap = 8}, rule);
  }
}

TEST(HistogramPapers, SerialAndParallel) {
  for (const char* algorithm : {"serial", "parallel"})
    for (const auto& shape :
         {Shape{0, 0}, Shape{0, 3}, Shape{1, 1}, Shape{1, 9}, Shape{9, 1}, Shape{513, 20}, Shape{1030, 3}})
      for (const Border border : borders)
        for (const Type counter : {Type::u32, Type::u64}) {
          Case c{.image = shape,
                 .border = border,
                 .counter = counter,
                 .algorithm = algorithm,
                 .threads = 2,
                 .misalign = 3,
                 .gap = 5};
          check(c, oracle::uniform(6, 0, 256));
          c.type = Type::f32;
          check(c, oracle::edges({0, 10, 100}));
        }
}

// Weights that round: the same bits for all threads and targets, and close to the sum of doubles.
TEST(HistogramFloats, SameBitsForAllThreadsAndTargets) {
  for (const Type counter : {Type::f32, Type::f64}) {
    Case c{.image = {1100, 130}, .border = Border::zero, .counter = counter, .weights = Type::f64, .threads = 1};
    const Rule rule = oracle::uniform(5, 0, 256);
    Inputs in = inputs_of(c, 11);
    std::mt19937_64 random(12);
    for (std::int64_t y = 0; y < c.image.height; ++y)
      for (std::int64_t x = 0; x < c.image.width; ++x) {
        const double weight = std::uniform_real_distribution<>(-1, 1)(random) * 1e-3 + 0.1;
        std::memcpy(static_cast<char*>(in.weights.view.row(y)) + x * 8, &weight, 8);
      }
    const Guarded reference = run(c, rule, in);
    const ConstView weights = in.weights.view;
    // A sum is W/4 + H additions deep.
    const double unit = counter == Type::f32 ? 0x1p-24 : 0x1p-53;
    const double bound = unit * (1100.0 / 4 + 130 + 8) * (0.11 * 1100 * 130);
    EXPECT_EQ(oracle::difference(reference.view, oracle::tensor(rule, in.image.view, &weights, c.border), bound), "");
    for (const std::string& target : simd_targets()) {
      ASSERT_TRUE(cpu::only_simd_target(target));
      for (const int threads : {1, 2, 5}) {
        c.threads = threads;
        EXPECT_TRUE(run(c, rule, in).same(reference)) << target << " threads " << threads;
      }
    }
    cpu::only_simd_target("");
  }
}

TEST(HistogramFloats, NanWeightsSpreadRightAndDownInTheirBinOnly) {
  const std::uint8_t pixels[] = {0, 1, 0, 1};
  const float weights[] = {1, NAN, 2, 3};
  HistogramOptions options;
  options.counter = Type::f32;
  const HistogramTensor tensor = integral_histogram({pixels, 2, 2}, Binning::labels(2), options, {}, {weights, 2, 2});
  const auto* t = static_cast<const float*>(tensor.tensor().data);
  EXPECT_EQ(t[0], 1);
  EXPECT_EQ(t[3], 3);
  EXPECT_EQ(t[4], 0);
  EXPECT_TRUE(std::isnan(t[5]));
  EXPECT_EQ(t[6], 0);
  EXPECT_TRUE(std::isnan(t[7]));
}

}  // namespace
}  // namespace areal
