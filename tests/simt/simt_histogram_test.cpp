// The integral histogram's kernels on the simulated machine, which checks every access, against the per-pixel oracle:
// shapes, borders, types, binnings, counters, weights, batches, numbers of bins; on a poisoned workspace, into guarded
// tensors at any address.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include "api/core/pixel_rule.hpp"
#include "api/histogram/histogram_request.hpp"
#include "histogram_inputs.hpp"
#include "simt/launcher.hpp"
#include "simt/plan.hpp"

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
  int misalign = 0, gap = 0;
  int lo = 0, hi = 255;  // pixels
};

HistogramOptions options_of(const Case& c) {
  HistogramOptions options;
  options.border = c.border;
  options.counter = c.counter;
  options.weighted = c.weights.has_value();
  return options;
}
kernels::HistogramRequest request_of(const Case& c, const Rule& rule) {
  return histogram_request(c.image, pixel_bins(rule.binning, c.type, 1), options_of(c), {}, "reduce-then-scan");
}
const Execution on_simt{.backend = Backend::simt};

// Runs the plan, twice if requested, on one poisoned workspace at an odd address, into poisoned tensors.
Guarded run(const Case& c, const Rule& rule, const Inputs& in, bool twice = false) {
  const HistogramPlan plan(c.image, c.type, rule.binning, options_of(c), on_simt);
  EXPECT_EQ(plan.algorithm(), "reduce-then-scan");
  std::vector<unsigned char> workspace(plan.workspace_bytes() + 128, 0xc3);
  unsigned char* const start = workspace.data() + 61;
  Workspace ready(plan, {reinterpret_cast<std::byte*>(start), plan.workspace_bytes()}, Stream::host());
  Guarded tensor(plan.tensor_shape(), c.counter, c.misalign, c.gap);
  plan.execute({in.image.view, tensor.view, in.weights.view}, ready);
  EXPECT_EQ(tensor.touched(), -1);
  if (twice) {
    Guarded second(plan.tensor_shape(), c.counter, c.misalign, c.gap);
    plan.execute({in.image.view, second.view, in.weights.view}, ready);
    EXPECT_TRUE(tensor.same(second));
  }
  for (std::size_t i = 0; i < workspace.size(); ++i)
    if (i < 61 || i >= 61 + plan.workspace_bytes()) {
      EXPECT_EQ(workspace[i], 0xc3) << "workspace byte " << i;
    }
  return tensor;
}

std::string words(const Case& c, const Rule& rule) {
  std::ostringstream text;
  text << c.image.width << "x" << c.image.height << " channels " << c.image.channels << " batch " << c.image.batch
       << " " << name_of(c.type) << " " << rule.name << " border " << name_of(c.border) << " counter "
       << name_of(c.counter) << (c.weights ? " weighted" : "") << " misalign " << c.misalign << " gap " << c.gap;
  return text.str();
}

// As the oracle's, of 16u, too.
std::string difference(const ConstView& got, const std::vector<double>& expected) {
  return got.type == Type::u16 ? oracle::difference_as<std::uint16_t>(got, expected, 0)
                               : oracle::difference(got, expected);
}

void check(const Case& c, const Rule& rule, bool twice = false, std::uint64_t seed = 7) {
  SCOPED_TRACE(words(c, rule) + " seed " + std::to_string(seed));
  const Inputs in = inputs_of(c, seed);
  const ConstView weights = in.weights.view;
  // Weights are halves below 10, so these sums are exact in 32f, too.
  const auto expected = oracle::tensor(rule, in.image.view, c.weights ? &weights : nullptr, c.border);
  EXPECT_EQ(difference(run(c, rule, in, twice).view, expected), "");
}

constexpr Border borders[] = {Border::none, Border::zero, Border::exclusive};

TEST(SimtHistogram, AFlippedElementIsFound) {
  const Rule rule = oracle::uniform(3, 0, 256);
  const Case c{{130, 9}};
  const Inputs in = inputs_of(c, 1);
  const Guarded got = run(c, rule, in);
  const auto expected = oracle::tensor(rule, in.image.view, nullptr, c.border);
  ASSERT_EQ(difference(got.view, expected), "");
  auto* const p = static_cast<unsigned char*>(got.view.row(8, 2)) + 129 * 4;
  *p ^= 1;
  EXPECT_NE(difference(got.view, expected), "");
}

// 0, 1, primes, a tile of 128x64 exactly, one off, and several: wider than high, and higher than wide.
TEST(SimtHistogram, Shapes) {
  const std::int64_t shapes[][2] = {{0, 0},   {0, 5},   {5, 0},    {1, 1},    {1, 67},   {67, 1},   {2, 3},
                                    {7, 131}, {31, 37}, {127, 63}, {128, 64}, {129, 65}, {256, 64}, {128, 192},
                                    {1, 700}, {700, 1}, {397, 61}, {61, 397}, {520, 70}, {140, 270}};
  const Rule rule = oracle::uniform(3, 0, 240);
  int turn = 0;
  for (const auto& shape : shapes)
    for (const Border border : borders) {
      ++turn;
      const Type counters[] = {Type::u32, Type::u64, Type::u16};
      check({.image = {shape[0], shape[1]},
             .border = border,
             .counter = counters[turn / 2 % 3],
             .misalign = turn % 2 ? 0 : turn % 61,
             .gap = turn % 3 ? 0 : turn % 13},
            rule, shape[0] * shape[1] < 5000);
    }
}

TEST(SimtHistogram, BordersAndCountersOfSeveralTiles) {
  const Rule rule = oracle::uniform(2, 0, 256);
  for (const Border border : borders)
    for (const Type counter : {Type::u16, Type::u32, Type::u64})
      check({.image = {270, 131}, .border = border, .counter = counter}, rule);
}

// The first sum and each row: at vectors, at elements, at any byte.
TEST(SimtHistogram, Alignments) {
  const Rule rule = oracle::uniform(2, 0, 256);
  for (const Type counter : {Type::u16, Type::u32, Type::u64})
    for (const int misalign : {0, 1, 2, 4, 8, 12, 16})
      for (const int gap : {0, 16, 3})
        check({.image = {130, 6},
               .border = borders[(misalign + gap) % 3],
               .counter = counter,
               .misalign = misalign,
               .gap = gap},
              rule);
}

TEST(SimtHistogram, NumbersOfBins) {
  int turn = 0;
  for (const std::int64_t bins : {1, 2, 3, 16, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 4096}) {
    ++turn;
    check({.image = {bins > 100 ? 13 : 131, bins > 100 ? 7 : 5},
           .type = Type::u16,
           .border = borders[turn % 3],
           .hi = 4096},
          oracle::uniform(bins, 0, 4096));
  }
  check({.image = {270, 70}, .hi = 255}, oracle::uniform(33, 0, 256));
}

TEST(SimtHistogram, Types) {
  const Type types[] = {Type::u8,  Type::s8,  Type::u16, Type::s16, Type::u32, Type::s32,
                        Type::u64, Type::s64, Type::f16, Type::f32, Type::f64};
  for (const Type type : types) {
    const bool is_signed = is_float(type) || is_signed_integer(type);
    const Case odd{.image = {71, 6},
                   .type = type,
                   .border = Border::zero,
                   .misalign = 5,
                   .gap = 3,
                   .lo = is_signed ? -100 : 0,
                   .hi = 120};
    Case whole = odd;  // a whole tile, and more: loaded as vectors
    whole.image = {132, 64}, whole.misalign = 0, whole.gap = 0;
    for (const Case& c : {odd, whole}) {
      check(c, oracle::uniform(13, -20.5, 99.25));
      check(c, oracle::edges({-7, 0, 0.5, 1, 64, 100}));
      if (c.image.width > 100) continue;
      check(c, oracle::uniform(10, 0, 1));
      check(c, oracle::uniform(7, -3, 100, true));
      check(c, oracle::edges({-7, 0, 0.5, 1, 64, 100}, true));
      if (!is_float(type)) check(c, oracle::labels(50, 7));
      if (size_of(type) <= 2 && !is_float(type)) check(c, oracle::lookup({3, 3, -1, 0, 1, 17, -1, 4}));
    }
  }
}

TEST(SimtHistogram, LabelsOf64BitsAreNotRounded) {
  const std::int64_t pixels[] = {5, (std::int64_t{1} << 32) + 5, (std::int64_t{1} << 56) + 1, -1, 6};
  const HistogramTensor tensor = integral_histogram({pixels, 5, 1}, Binning::labels(8, 6), {}, on_simt);
  const auto* t = static_cast<const std::uint32_t*>(tensor.tensor().data);
  EXPECT_EQ(t[5 * 5 + 4], 1u);
  EXPECT_EQ(t[6 * 5 + 4], 0u);
  EXPECT_EQ(t[1 * 5 + 4], 0u);
}

TEST(SimtHistogram, JointChannels) {
  for (const Layout layout : {Layout::interleaved, Layout::planar})
    for (const Type type : {Type::u8, Type::s16, Type::f32}) {
      const Rule a = oracle::uniform(4, 0, 200), b = oracle::uniform(3, 10, 256, true),
                 d = oracle::edges({0, 9, 100, 256});
      check({.image = {140, 5, 2, 2, layout}, .type = type, .misalign = 1, .gap = 6}, oracle::joint({a, b}));
      check({.image = {33, 70, 3, 1, layout}, .type = type, .border = Border::zero}, oracle::joint({a, b, d}));
      if (type == Type::u8) check({.image = {128, 64, 2, 1, layout}, .type = type}, oracle::joint({a, b}));
    }
}

TEST(SimtHistogram, Batches) {
  const Rule rule = oracle::uniform(5, 0, 256);
  for (const std::int64_t batch : {0, 1, 2, 5}) {
    check({.image = {12, 10, 1, batch}, .gap = 8}, rule, true);
    check({.image = {130, 66, 1, batch}, .border = Border::zero, .gap = 8}, rule);
  }
  check({.image = {132, 20, 1, 3}, .counter = Type::f64, .weights = Type::f32}, rule);
}

TEST(SimtHistogram, Weights) {
  for (const Type weights : {Type::u8, Type::u16, Type::f32, Type::f64})
    for (const Type counter : {Type::f32, Type::f64})
      for (const Border border : borders) {
        const Rule rule = oracle::uniform(border == Border::zero ? 33 : 3, 0, 256);
        const bool few = border != Border::zero;
        check({.image = {few ? 140 : 30, few ? 67 : 9},
               .border = border,
               .counter = counter,
               .weights = weights,
               .misalign = border == Border::none ? 0 : 3},
              rule, !few);
      }
  check({.image = {300, 140}, .counter = Type::f32, .weights = Type::f32}, oracle::uniform(2, 0, 256));
}

TEST(SimtHistogram, NanWeightsSpreadRightAndDownInTheirBinOnly) {
  const std::uint8_t pixels[] = {0, 1, 0, 1};
  const float weights[] = {1, NAN, 2, 3};
  HistogramOptions options;
  options.counter = Type::f32;
  const HistogramTensor tensor =
      integral_histogram({pixels, 2, 2}, Binning::labels(2), options, on_simt, {weights, 2, 2});
  const auto* t = static_cast<const float*>(tensor.tensor().data);
  EXPECT_EQ(t[0], 1);
  EXPECT_EQ(t[3], 3);
  EXPECT_EQ(t[4], 0);
  EXPECT_TRUE(std::isnan(t[5]));
  EXPECT_EQ(t[6], 0);
  EXPECT_TRUE(std::isnan(t[7]));
}

// Weights that round: close to the sum of doubles, and the same bits wherever the tensor lies.
TEST(SimtHistogram, FloatsAreTheSameAtAnyAddress) {
  for (const Type counter : {Type::f32, Type::f64}) {
    Case c{.image = {300, 130}, .border = Border::zero, .counter = counter, .weights = Type::f64};
    const Rule rule = oracle::uniform(2, 0, 256);
    Inputs in = inputs_of(c, 11);
    std::mt19937_64 random(12);
    for (std::int64_t y = 0; y < c.image.height; ++y)
      for (std::int64_t x = 0; x < c.image.width; ++x) {
        const double weight = std::uniform_real_distribution<>(-1, 1)(random) * 1e-3 + 0.1;
        std::memcpy(static_cast<char*>(in.weights.view.row(y)) + x * 8, &weight, 8);
      }
    const Guarded reference = run(c, rule, in);
    const ConstView weights = in.weights.view;
    // Not deeper than a row's 128 columns, its tiles, a tile's 64 rows, its tiles, and the scans of a warp.
    const double unit = counter == Type::f32 ? 0x1p-24 : 0x1p-53;
    const double bound = unit * (128 + 3 + 64 + 3 + 20) * (0.101 * 300 * 130);
    EXPECT_EQ(oracle::difference(reference.view, oracle::tensor(rule, in.image.view, &weights, c.border), bound), "");
    c.misalign = 1, c.gap = 5;
    const Guarded other = run(c, rule, in);
    for (std::int64_t bin = 0; bin < 2; ++bin)
      for (std::int64_t y = 0; y <= c.image.height; ++y)
        ASSERT_EQ(std::memcmp(reference.view.row(y, bin), other.view.row(y, bin), 301 * size_of(counter)), 0);
  }
}

// Counts that wrapped: the corners of a region still give its own, modulo 2^16.
TEST(SimtHistogram, CountsOf16BitsWrap) {
  const Case c{.image = {520, 260}, .counter = Type::u16, .hi = 1};
  const Rule rule = oracle::labels(1, 1);
  const Inputs in = inputs_of(c, 5);
  const Guarded got = run(c, rule, in);
  const auto expected = oracle::tensor(rule, in.image.view, nullptr, c.border);
  ASSERT_GT(expected.back(), 65536);
  const auto at = [&](std::int64_t x, std::int64_t y) {
    return oracle::element<std::uint16_t>(static_cast<const char*>(got.view.row(y)) + x * 2);
  };
  const auto wanted = [&](std::int64_t x, std::int64_t y) { return expected[static_cast<std::size_t>(y * 520 + x)]; };
  const auto count = static_cast<std::uint16_t>(at(519, 259) - at(500, 259) - at(519, 200) + at(500, 200));
  EXPECT_EQ(count, wanted(519, 259) - wanted(500, 259) - wanted(519, 200) + wanted(500, 200));
}

// The same bits and no fault for any order of lanes and blocks.
TEST(SimtHistogram, Schedules) {
  for (const Type counter : {Type::u32, Type::f32}) {
    Case c{.image = {150, 70}, .counter = counter};
    if (counter == Type::f32) c.weights = Type::f32;
    const Rule rule = oracle::uniform(6, 0, 256);
    const Inputs in = inputs_of(c, 3);
    const Guarded reference = run(c, rule, in);
    const kernels::HistogramRequest request = request_of(c, rule);
    const auto plan = simt::make_plan<kernels::Histogram>(request);
    for (std::uint64_t seed = 2; seed < 6; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      std::vector<char> workspace(plan->workspace_bytes());
      plan->prepare(workspace.data(), Stream::host());
      Guarded tensor({150, 70, 6, 1, Layout::planar}, counter, 0, 0);
      simt::Options options;
      options.seed = seed;
      options.residents = static_cast<int>(seed);
      options.start = seed % 2 ? simt::StartOrder::random : simt::StartOrder::descending;
      options.async_copies = seed != 5;  // as before sm_80
      simt::execute<kernels::Histogram>(request, {in.image.view, tensor.view, in.weights.view}, workspace.data(),
                                        options);
      EXPECT_TRUE(tensor.same(reference));
    }
  }
}

// The tensor is written once and never read.
TEST(SimtHistogram, WritesEachElementOnce) {
  for (const auto& [counter, border] : {std::pair{Type::u32, Border::none}, std::pair{Type::u64, Border::zero}}) {
    const Case c{.image = {256, 128}, .border = border, .counter = counter};
    const Rule rule = oracle::uniform(4, 0, 256);
    const Inputs in = inputs_of(c, 3);
    const HistogramPlan shapes(c.image, c.type, rule.binning, options_of(c), on_simt);
    const kernels::HistogramRequest request = request_of(c, rule);
    const auto plan = simt::make_plan<kernels::Histogram>(request);
    std::vector<char> workspace(plan->workspace_bytes());
    plan->prepare(workspace.data(), Stream::host());
    const Guarded tensor(shapes.tensor_shape(), counter, 0, 0);
    const auto* const first = static_cast<const char*>(tensor.view.data);
    std::vector<int> writes(shapes.tensor_bytes());
    int reads = 0;
    simt::Options options;
    options.trace = [&](const simt::Event& event) {
      const auto* const at = static_cast<const char*>(event.address);
      if (at < first || at >= first + writes.size()) return;
      if (event.op != simt::Op::store) ++reads;
      for (unsigned i = 0; i < event.bytes; ++i) ++writes[static_cast<std::size_t>(at - first) + i];
    };
    simt::execute<kernels::Histogram>(request, {in.image.view, tensor.view}, workspace.data(), options);
    EXPECT_EQ(reads, 0);
    EXPECT_EQ(writes, std::vector<int>(writes.size(), 1));
  }
}

TEST(SimtHistogram, SaysWhatIsWrong) {
  EXPECT_THROW(
      HistogramPlan({8, 8}, Type::u8, Binning::uniform(4, 0, 256), {}, {.backend = Backend::simt, .device = 1}),
      Unavailable);
}

}  // namespace
}  // namespace areal
