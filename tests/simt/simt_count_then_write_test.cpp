// count-then-write on the simulated machine, which checks every access, against the per-pixel oracle: shapes on both
// sides of lanes, quads of rows, segments, bands and chunks; what it refuses; and
// its kernels without one of their barriers or waits.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <cmath>
#include <set>
#include "api/core/pixel_rule.hpp"
#include "api/histogram/histogram_request.hpp"
#include "histogram_oracle.hpp"
#include "histogram_plan_options.hpp"
#include "kernels/histogram/count_then_write/count-then-write.hpp"
#include "kernels/histogram/run.hpp"
#include "policy/histogram_choice.hpp"
#include "simt/launcher.hpp"
#include "simt/plan.hpp"

namespace areal {
namespace {

using kernels::CountThenWritePlan;
using oracle::Guarded;
using oracle::Rule;

struct Case {
  Shape image;
  Type type = Type::u8;
  Border border = Border::none;
  Type counter = Type::u32;
  bool weighted = false;
  int misalign = 0;  // of the image
  int astray = 0;    // bytes by which the tensor is off alignment
};

std::string words(const Case& c, const Rule& rule) {
  std::ostringstream text;
  text << c.image.width << "x" << c.image.height << " channels " << c.image.channels << " batch " << c.image.batch
       << " " << name_of(c.type) << " " << rule.name << " border " << name_of(c.border) << " counter "
       << name_of(c.counter) << " misalign " << c.misalign << " astray " << c.astray;
  return text.str();
}

/// Rows of the tensor are padded to 16 bytes; the padding is part of the guard.
Guarded tensor_of(const Shape& shape, Type counter, int astray = 0) {
  Shape padded = shape;
  padded.width = (shape.width + 7) / 8 * 8;
  Guarded tensor(padded, counter, astray, 0);
  tensor.view.shape = shape;
  return tensor;
}
Guarded image_of(const Case& c, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Guarded image(c.image, c.type, c.misalign, c.misalign % 3);
  oracle::fill_random(image.view, random, 0, 255);
  return image;
}
std::string difference(const ConstView& got, const std::vector<double>& expected) {
  return got.type == Type::u16 ? oracle::difference_as<std::uint16_t>(got, expected, 0)
                               : oracle::difference(got, expected);
}

/// Twice on one poisoned workspace at an odd address, each time into a poisoned tensor.
Guarded run(const Case& c, const Rule& rule, const Guarded& image, const Guarded& weights = {}) {
  HistogramPlanOptions options;
  options.algorithm = "count-then-write", options.backend = Backend::simt;
  options.border = c.border, options.counter = c.counter, options.weighted = c.weighted;
  std::vector<std::string> kernels;
  options.on_launch = [&](const LaunchCounts& launch) { kernels.push_back(launch.kernel); };
  const HistogramPlan plan = plan_of(c.image, c.type, rule.binning, options);
  EXPECT_EQ(plan.algorithm(), "count-then-write");
  std::vector<unsigned char> workspace(plan.workspace_bytes() + 128, 0xc3);
  unsigned char* const start = workspace.data() + 61;
  Workspace ready(plan, {reinterpret_cast<std::byte*>(start), plan.workspace_bytes()}, Stream::host());
  Guarded tensor = tensor_of(plan.tensor_shape(), c.counter, c.astray);
  for (int i = 0; i < 2; ++i) {
    Guarded next = tensor_of(plan.tensor_shape(), c.counter, c.astray);
    kernels.clear();
    plan.execute({image.view, next.view, weights.view}, ready);
    EXPECT_EQ(next.touched(), -1);
    if (i > 0) {
      EXPECT_TRUE(next.same(tensor));
    }
    tensor = std::move(next);
    EXPECT_EQ(kernels.size(), 2u);
    for (const std::string& kernel : kernels) EXPECT_NE(kernel.find("CountThenWrite"), std::string::npos) << kernel;
  }
  for (std::size_t i = 0; i < workspace.size(); ++i)
    if (i < 61 || i >= 61 + plan.workspace_bytes()) {
      EXPECT_EQ(workspace[i], 0xc3) << "workspace byte " << i;
    }
  return tensor;
}

void check(const Case& c, const Rule& rule, std::uint64_t seed = 7) {
  SCOPED_TRACE(words(c, rule) + " seed " + std::to_string(seed));
  const Guarded image = image_of(c, seed);
  Guarded weights;
  if (c.weighted) {
    std::mt19937_64 random(seed + 1);
    weights = Guarded({c.image.width, c.image.height, 1, c.image.batch}, Type::f32, 0, 0);
    oracle::fill_random(weights.view, random, 0, 9, false);
  }
  const ConstView view = weights.view;
  auto expected = oracle::tensor(rule, image.view, c.weighted ? &view : nullptr, c.border);
  if (c.counter == Type::u16)
    for (double& count : expected) count = std::fmod(count, 65536);
  EXPECT_EQ(difference(run(c, rule, image, weights).view, expected), "");
}

TEST(SimtCountThenWrite, AFlippedElementIsFound) {
  const Rule rule = oracle::uniform(3, 0, 256);
  const Case c{{130, 9}};
  const Guarded image = image_of(c, 1), got = run(c, rule, image);
  const auto expected = oracle::tensor(rule, image.view, nullptr, c.border);
  ASSERT_EQ(difference(got.view, expected), "");
  *(static_cast<unsigned char*>(got.view.row(8, 2)) + 129 * 4) ^= 1;
  EXPECT_NE(difference(got.view, expected), "");
}

// Rows: a quad, a step of 8, a band of 16, one off, several bands. Columns: a lane's 4, a segment's 128, and blocks of
// each number of warps.
TEST(SimtCountThenWrite, Shapes) {
  const std::int64_t shapes[][2] = {{1, 1},    {1, 67},   {67, 1},   {2, 3},    {3, 4},    {4, 5},    {5, 8},
                                    {7, 131},  {31, 37},  {127, 15}, {128, 16}, {129, 17}, {131, 65}, {256, 7},
                                    {257, 33}, {260, 9},  {640, 20}, {641, 3},  {1024, 9}, {1030, 5}, {1281, 18},
                                    {1920, 9}, {1921, 2}, {2047, 4}, {2048, 17}};
  const Rule rule = oracle::uniform(3, 0, 240);
  int turn = 0;
  for (const auto& shape : shapes) {
    ++turn;
    check({.image = {shape[0], shape[1]},
           .counter = turn % 3 == 0 ? Type::u16 : Type::u32,
           .misalign = turn % 2 ? 0 : turn % 7},
          rule);
  }
}

// More bands than are loaded at once, and the last one cut. LargeBands has bands of more than 32 rows.
TEST(SimtCountThenWrite, Bands) {
  check({{5, 32 * 19 + 3}}, oracle::uniform(1, 0, 200));
  check({{130, 16 * 3}}, oracle::uniform(2, 0, 256));
}

// From 128 bins on, bands follow each other.
TEST(SimtCountThenWrite, BandsOfManyBins) {
  check({{5, 130}}, oracle::uniform(128, 0, 256));
  check({{2049, 2}}, oracle::uniform(128, 0, 256));
}

// Rows that take several blocks.
TEST(SimtCountThenWrite, Chunks) {
  const Rule rule = oracle::uniform(2, 0, 200);
  for (const auto& [width, height] : {std::pair{2049, 9}, {2052, 40}, {3840, 3}, {4100, 5}, {6200, 17}})
    check({.image = {width, height}, .counter = width % 100 == 0 ? Type::u16 : Type::u32, .misalign = width % 4}, rule);
}

// Groups of bins; 128 bins are one where each pixel has one.
TEST(SimtCountThenWrite, NumbersOfBins) {
  for (const std::int64_t bins : {1, 2, 31, 32, 33, 126, 127, 128, 129, 254, 255, 256})
    check({{bins > 100 ? 13 : 131, 9}}, oracle::uniform(bins, 0, 256));
  check({{131, 19}}, oracle::uniform(128, 30, 200));  // pixels of no bin
  check({{131, 19}}, oracle::labels(128, 5));
  check({{131, 19}}, oracle::labels(300, 250));
  check({{131, 19}, Type::s8}, oracle::uniform(9, -20, 99));
  check({{131, 19}}, oracle::lookup({3, 3, -1, 0, 1, 17, -1, 4}));
  check({{131, 19}}, oracle::edges({3, 9, 10, 77, 200}));
  const auto group = [](const Rule& rule) {
    return CountThenWritePlan<std::uint32_t>(
               histogram_request({8, 8}, pixel_bins(rule.binning, Type::u8, 1), {}, {}, "count-then-write"))
        .args.group;
  };
  EXPECT_EQ(group(oracle::uniform(128, 0, 256)), 128);
  EXPECT_EQ(group(oracle::uniform(128, 30, 200)), 127);
  EXPECT_EQ(group(oracle::uniform(256, 0, 256)), 127);
}

TEST(SimtCountThenWrite, Batches) {
  for (const std::int64_t batch : {2, 5}) {
    check({{12, 10, 1, batch}}, oracle::uniform(5, 0, 256));
    check({.image = {133, 19, 1, batch}, .counter = Type::u16, .misalign = 3}, oracle::uniform(9, 0, 256));
  }
}

TEST(SimtCountThenWrite, CountsOf16BitsWrap) {
  check({.image = {520, 260}, .counter = Type::u16}, oracle::uniform(1, 0, 200));
}

/// What a plan or its execute says.
std::string refusal(const Case& c, const Rule& rule) {
  try {
    run(c, rule, image_of(c, 1), c.weighted ? Guarded(c.image, Type::f32, 0, 0) : Guarded());
    return "";
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

TEST(SimtCountThenWrite, RefusesTheRest) {
  const Rule rule = oracle::uniform(3, 0, 256);
  const Shape image{140, 70};
  const std::string it = "algorithm count-then-write: it takes ";
  for (const Border border : {Border::zero, Border::exclusive})
    EXPECT_EQ(refusal({.image = image, .border = border}, rule), it + "no border (border none)");
  EXPECT_EQ(refusal({.image = image, .counter = Type::u64}, rule), it + "counters of 16u and 32u, this one is 64u");
  EXPECT_EQ(refusal({.image = image, .counter = Type::f32, .weighted = true}, rule),
            it + "counters of 16u and 32u, this one is 32f");
  for (const Type type : {Type::u16, Type::f32})
    EXPECT_EQ(refusal({.image = image, .type = type}, rule), it + "8-bit pixels of one channel");
  EXPECT_EQ(refusal({.image = {40, 20, 2}}, oracle::joint({rule, rule})), it + "8-bit pixels of one channel");
  for (const int astray : {1, 2, 4, 8})
    EXPECT_EQ(refusal({.image = image, .astray = astray}, rule),
              it + "tensors whose rows begin at multiples of 16 bytes");
  EXPECT_EQ(refusal({.image = image, .counter = Type::u16, .astray = 4}, rule),
            it + "tensors whose rows begin at multiples of 8 bytes");
  EXPECT_EQ(refusal({.image = image, .counter = Type::u16, .astray = 8}, rule), "");
  EXPECT_EQ(refusal({.image = {0, 5}}, rule), it + "images of 1 to 65535 rows and columns, this one is 0x5");
}

TEST(SimtCountThenWrite, IsWhatAutoTakesWhereItWasMeasured) {
  const policy::HistogramQuestion measured{.image = {1920, 1080}, .bins = 32};
  const auto with = [&](auto change) {
    policy::HistogramQuestion asked = measured;
    change(asked);
    return policy::ranked_histograms(asked).front();
  };
  using Asked = policy::HistogramQuestion;
  EXPECT_EQ(policy::ranked_histograms(measured).front(), "count-then-write");
  EXPECT_EQ(with([](Asked& q) { q.image = {640, 480, 1, 32}, q.counter = Type::u16; }), "count-then-write");
  EXPECT_EQ(with([](Asked& q) { q.counter = Type::u16; }), "reduce-then-scan");
  for (const auto& [bins, best] : {std::pair{15, "reduce-then-scan"},
                                   {16, "count-then-write"},
                                   {256, "count-then-write"},
                                   {257, "reduce-then-scan"}})
    EXPECT_EQ(with([b = bins](Asked& q) { q.bins = b; }), best) << bins;
  for (const auto& [bins, best] : {std::pair{31, "reduce-then-scan"},
                                   {32, "count-then-write"},
                                   {128, "count-then-write"},
                                   {129, "reduce-then-scan"}})
    EXPECT_EQ(with([b = bins](Asked& q) { q.image.width = 1024, q.counter = Type::u16, q.bins = b; }), best) << bins;
  EXPECT_EQ(with([](Asked& q) { q.image.width = 3840; }), "count-then-write");
  EXPECT_EQ(with([](Asked& q) { q.image.width = 1921; }), "reduce-then-scan");
  EXPECT_EQ(with([](Asked& q) { q.image.width = 3844; }), "reduce-then-scan");
  EXPECT_EQ(with([](Asked& q) { q.image.channels = 3; }), "reduce-then-scan");
  EXPECT_EQ(with([](Asked& q) { q.counter = Type::u64; }), "reduce-then-scan");
  EXPECT_EQ(with([](Asked& q) { q.pixels = Type::u16; }), "reduce-then-scan");
  EXPECT_EQ(with([](Asked& q) { q.border = Border::zero; }), "reduce-then-scan");
  EXPECT_EQ(with([](Asked& q) { q.counter = Type::f32, q.weighted = true; }), "reduce-then-scan");
  HistogramPlanOptions options;
  options.backend = Backend::simt;
  EXPECT_EQ(plan_of({64, 48}, Type::u8, Binning::uniform(32, 0, 256), options).algorithm(), "count-then-write");
  EXPECT_EQ(plan_of({63, 48}, Type::u8, Binning::uniform(32, 0, 256), options).algorithm(), "reduce-then-scan");
}

// ---------------------------------------------------------------- schedules, and planted faults

/// An image, its tensor and a workspace that the machine has never seen written but for the rule's table.
struct Prepared {
  explicit Prepared(const Shape& shape, std::int64_t bins)
      : image(shape, Type::u8, 0, 0),
        request(histogram_request(shape, pixel_bins(Binning::uniform(bins, 0, 256), Type::u8, 1), {}, {},
                                  "count-then-write")),
        tensor(tensor_of({shape.width, shape.height, bins, shape.batch, Layout::planar}, Type::u32)),
        workspace(CountThenWritePlan<std::uint32_t>(request).workspace_bytes) {
    std::mt19937_64 random(5);
    oracle::fill_random(image.view, random, 0, 255);
    expected = oracle::tensor(oracle::uniform(bins, 0, 256), image.view, nullptr, Border::none);
  }
  HistogramArguments arguments() const { return {image.view, tensor.view}; }
  void add_to(simt::Launcher& launcher) {
    kernels::Histogram::prepare(launcher, request, workspace.data(), workspace.size());
    std::vector<kernels::MemoryRange> ranges;
    kernels::Histogram::memory(request, arguments(), workspace.data(), workspace.size(),
                               [&](const kernels::MemoryRange& range) { ranges.push_back(range); });
    launcher.register_memory(std::move(ranges));
  }

  Guarded image;
  kernels::HistogramRequest request;
  Guarded tensor;
  std::vector<char> workspace;
  std::vector<double> expected;
};

simt::Options options_of(std::uint64_t seed) {
  simt::Options options;
  options.seed = seed;
  options.residents = 1 + static_cast<int>(seed % 4);
  options.start = seed % 2 ? simt::StartOrder::random : simt::StartOrder::descending;
  return options;
}

TEST(SimtCountThenWrite, Schedules) {
  for (const Shape& shape : {Shape{270, 40}, Shape{2060, 17}})
    for (std::uint64_t seed = 1; seed < 4; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Prepared p(shape, 3);
      simt::Options options = options_of(seed);
      options.async_copies = seed != 3;  // as before sm_80
      simt::Launcher launcher(options);
      p.add_to(launcher);
      kernels::count_then_write<std::uint32_t>(launcher, p.request, p.arguments(), p.workspace.data());
      EXPECT_EQ(difference(p.tensor.view, p.expected), "");
    }
}

/// The height of bands that the plan chooses on a device that holds `counting` blocks of the first launch, and
/// `writing` of the second.
int rows_of(const Shape& shape, std::int64_t bins, std::int64_t counting, std::int64_t writing) {
  CountThenWritePlan<std::uint32_t> plan(
      histogram_request(shape, pixel_bins(Binning::uniform(bins, 0, 256), Type::u8, 1), {}, {}, ""));
  plan.cut(counting, writing);
  EXPECT_EQ(plan.args.bands, CountThenWritePlan<std::uint32_t>::up(shape.height, plan.args.rows));
  return plan.args.rows;
}

// A device that holds one block. One bin of all pixels: a column's count is the height of the band.
TEST(SimtCountThenWrite, LargeBands) {
  for (const auto& [shape, bins, rows] : {std::tuple{Shape{131, 65}, 2, 72},
                                          {Shape{5, 128}, 2, 128},
                                          {Shape{260, 261}, 2, 88},
                                          {Shape{6, 128, 1, 2}, 1, 128},
                                          {Shape{2100, 131, 1, 2}, 2, 72},
                                          {Shape{2050, 128}, 1, 128}}) {
    SCOPED_TRACE(shape.height);
    simt::Options options = options_of(3);
    options.together = 1;
    EXPECT_EQ(rows_of(shape, bins, 1, 1), rows);
    Prepared p(shape, bins);
    simt::Launcher launcher(options);
    p.add_to(launcher);
    kernels::count_then_write<std::uint32_t>(launcher, p.request, p.arguments(), p.workspace.data());
    EXPECT_EQ(difference(p.tensor.view, p.expected), "");
  }
}

// 132 multiprocessors, each with 6 blocks of the first launch, 4 if rows have several chunks; of the second with 2 of
// 15 warps, or 6 of 5.
TEST(SimtCountThenWrite, BandsGiveTheDeviceWork) {
  EXPECT_EQ(rows_of({1920, 1080}, 32, 792, 264), 64);    // 255 and 544 blocks
  EXPECT_EQ(rows_of({1920, 1080}, 16, 792, 264), 32);    // of 64 rows 272 of the second
  EXPECT_EQ(rows_of({1920, 1080}, 256, 792, 264), 120);  // three groups of bins
  EXPECT_EQ(rows_of({640, 480}, 32, 792, 792), 32);
  EXPECT_EQ(rows_of({640, 480, 1, 32}, 32, 792, 792), 120);
  EXPECT_EQ(rows_of({3840, 2160}, 32, 528, 264), 128);
  EXPECT_EQ(rows_of({64, 5}, 32, 792, 792), 8);
  EXPECT_EQ(rows_of({640, 480}, 32, 0, 0), 120);       // a device that does not tell
  EXPECT_EQ(rows_of({128, 2048}, 32, 792, 1056), 32);  // 64 bands
  EXPECT_EQ(rows_of({128, 2049}, 32, 792, 1056), 64);
}

/// A machine that leaves out one barrier, or the wait for copies.
template <int left_out, bool waits>
struct Careless : simt::Machine {
  explicit Careless(const simt::Machine& machine) : Machine(machine) {}
  void sync(simt::Site site = AREAL_HERE) const {
    if (++met != left_out) Machine::sync(site);
  }
  template <int N>
  void wait_copies(simt::Site site = AREAL_HERE) const {
    if constexpr (waits) Machine::wait_copies<N>(site);
  }
  mutable int met = 0;
};
template <template <class, class> class K, int left_out, bool waits>
struct Planted {
  template <class M, class C>
  struct Kernel {
    using Own = K<Careless<left_out, waits>, C>;
    using Args = typename Own::Args;
    using Shared = typename Own::Shared;
    static constexpr int threads = Own::threads;
    M m;
    Args a;
    void operator()() { Own{Careless<left_out, waits>(m), a}(); }
  };
};

/// Launches the first or the second kernel with that fault; or leaves it out.
template <int launch_, int left_out, bool waits = true>
struct PlantedLauncher {
  simt::Launcher& launcher;
  int launches = 0;
  template <template <class, class> class K, class C, class Args>
  void launch(std::int64_t blocks, const Args& args, bool) {
    if (++launches != launch_) return launcher.launch<K, C>(blocks, args);
    if constexpr (left_out >= 0) launcher.launch<Planted<K, left_out, waits>::template Kernel, C>(blocks, args);
  }
  template <template <class, class> class K, class C>
  std::int64_t most_together() const {
    return launcher.most_together<K, C>();
  }
};

/// The faults of 4 seeds.
template <class Launcher>
std::multiset<simt::FaultKind> faults_of(const Shape& shape) {
  std::multiset<simt::FaultKind> found;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Prepared p(shape, 2);
    simt::Launcher launcher(options_of(seed));
    p.add_to(launcher);
    try {
      Launcher planted{launcher};
      kernels::count_then_write<std::uint32_t>(planted, p.request, p.arguments(), p.workspace.data());
    } catch (const simt::Fault& fault) {
      found.insert(fault.kind);
    }
  }
  return found;
}

TEST(SimtCountThenWrite, PlantedFaultsAreFound) {
  using simt::FaultKind;
  const Shape narrow{300, 20}, wide{2060, 20};
  const auto always = [](const std::multiset<FaultKind>& found, FaultKind kind) { return found.count(kind) == 4; };
  EXPECT_TRUE((faults_of<PlantedLauncher<1, 0>>(narrow).empty()));
  EXPECT_TRUE((faults_of<PlantedLauncher<2, 0>>(wide).empty()));
  // The first launch is left out: nobody wrote the workspace.
  EXPECT_TRUE(always(faults_of<PlantedLauncher<1, -1>>(narrow), FaultKind::uninitialised));
  EXPECT_TRUE(always(faults_of<PlantedLauncher<1, -1>>(wide), FaultKind::uninitialised));
  // Barriers: after the numbers of values and the cleared cells; after counting.
  EXPECT_EQ((faults_of<PlantedLauncher<1, 1>>(narrow).size()), 4u);
  EXPECT_EQ((faults_of<PlantedLauncher<1, 2>>(narrow).size()), 4u);
  EXPECT_EQ((faults_of<PlantedLauncher<1, 3>>(wide).size()), 4u);
  EXPECT_EQ((faults_of<PlantedLauncher<1, 4>>(wide).size()), 4u);
  // Of the second launch: after the anchors, and of each step.
  EXPECT_EQ((faults_of<PlantedLauncher<2, 1>>(narrow).size()), 4u);
  EXPECT_EQ((faults_of<PlantedLauncher<2, 2>>(narrow).size()), 4u);
  EXPECT_EQ((faults_of<PlantedLauncher<2, 1>>(wide).size()), 4u);
  EXPECT_EQ((faults_of<PlantedLauncher<2, 2>>(wide).size()), 4u);
  // Numbers that have not landed.
  EXPECT_EQ((faults_of<PlantedLauncher<2, 0, false>>(narrow).size()), 4u);
}

// The tensor is written once and never read.
TEST(SimtCountThenWrite, WritesEachElementOnce) {
  for (const Shape& shape : {Shape{256, 40}, Shape{2304, 9}}) {
    Prepared p(shape, 4);
    const auto* const first = static_cast<const char*>(p.tensor.view.data);
    std::vector<int> writes(static_cast<std::size_t>(shape.width * shape.height * 4 * 4));
    int reads = 0;
    simt::Options options;
    options.trace = [&](const simt::Event& event) {
      const auto* const at = static_cast<const char*>(event.address);
      if (at < first || at >= first + writes.size()) return;
      if (event.op != simt::Op::store) ++reads;
      for (unsigned i = 0; i < event.bytes; ++i) ++writes[static_cast<std::size_t>(at - first) + i];
    };
    simt::Launcher launcher(options);
    p.add_to(launcher);
    kernels::count_then_write<std::uint32_t>(launcher, p.request, p.arguments(), p.workspace.data());
    EXPECT_EQ(reads, 0);
    EXPECT_EQ(writes, std::vector<int>(writes.size(), 1));
  }
}

}  // namespace
}  // namespace areal
