#pragma once
// Tests of histograms of regions straight from an image in device memory, for any machine, against counting pixel by
// pixel. See device_answers.hpp for a Bed.

#include <areal/region_histogram.hpp>
#include <array>
#include <optional>
#include "device_answers.hpp"
#include "histogram_oracle.hpp"
#include "random_regions.hpp"

namespace areal::device_cases {

using oracle::Rule;

/// Integers in [lo, hi]; of floats also halves, NaN and infinities.
inline Padded random_pixels(Type type, const Shape& shape, int lo, int hi, std::uint64_t seed,
                            oracle::Gaps gaps = oracle::misaligned, bool specials = true) {
  Padded image(type, shape, gaps);
  std::mt19937_64 random(seed);
  oracle::fill_random(image.view(), random, lo, hi, specials);
  return image;
}

/// Sums over a region that lies inside.
inline std::vector<double> counted_pixels(const Rule& rule, const ConstView& image, const ConstView* weights,
                                          const Region& r) {
  std::vector<double> sums(static_cast<std::size_t>(rule.binning.bins()));
  for (std::int64_t y = r.y; y < r.y + r.height; ++y)
    for (std::int64_t x = r.x; x < r.x + r.width; ++x) {
      const std::int64_t bin = oracle::bin_at(rule, image, x, y, 0);
      if (bin >= 0) sums[static_cast<std::size_t>(bin)] += weights ? oracle::value_at(*weights, x, y) : 1;
    }
  return sums;
}

/// What is expected of each region: nothing of an invalid one.
using Expected = std::vector<std::optional<std::vector<double>>>;
inline Expected expected_of(const Rule& rule, const ConstView& image, const ConstView* weights,
                            const std::vector<Region>& regions, Outside outside = Outside::error) {
  Expected all;
  const std::int64_t width = image.shape.width, height = image.shape.height;
  for (Region r : regions) {
    const auto end = [](std::int64_t first, std::int64_t size) {
      return static_cast<long double>(first) + static_cast<long double>(size);
    };
    const bool inside = r.x >= 0 && r.y >= 0 && r.width >= 0 && r.height >= 0 && end(r.x, r.width) <= width &&
                        end(r.y, r.height) <= height;
    if (r.width < 0 || r.height < 0 || (!inside && outside == Outside::error)) {
      all.emplace_back();
      continue;
    }
    if (!inside) {
      const auto cut = [](std::int64_t& first, std::int64_t& size, std::int64_t extent, long double last) {
        const auto low = std::clamp<long double>(first, 0, extent), high = std::clamp<long double>(last, 0, extent);
        first = static_cast<std::int64_t>(low), size = static_cast<std::int64_t>(std::max(high - low, 0.0L));
      };
      cut(r.x, r.width, width, end(r.x, r.width));
      cut(r.y, r.height, height, end(r.y, r.height));
    }
    all.emplace_back(counted_pixels(rule, image, weights, r));
  }
  return all;
}

/// The entries that differ from those expected: 0 or NaN for invalid regions.
template <class Out>
std::size_t differences(const std::vector<Out>& got, const Expected& want, std::size_t bins) {
  std::size_t wrong = got.size() == want.size() * bins ? 0 : 1;
  for (std::size_t i = 0; i < want.size(); ++i)
    for (std::size_t b = 0; b < bins; ++b) {
      const auto value = static_cast<double>(got[i * bins + b]);
      if (want[i])
        wrong += value != (*want[i])[b];
      else
        wrong += std::is_floating_point_v<Out> ? !std::isnan(value) : value != 0;
    }
  return wrong;
}
inline std::int64_t first_missing(const Expected& want) {
  for (std::size_t i = 0; i < want.size(); ++i)
    if (!want[i]) return static_cast<std::int64_t>(i);
  return -1;
}

/// Counts, and with `weights` sums of weights, with everything in device memory.
template <class Bed>
std::size_t wrong_counts(const Rule& rule, Padded& image, Padded* weights, const std::vector<Region>& regions,
                         Outside outside = Outside::error) {
  const auto bins = static_cast<std::size_t>(rule.binning.bins());
  Bed bed;
  std::vector<std::uint64_t> counts(regions.size() * bins, 77);
  std::vector<double> sums(weights ? counts.size() : 0, 77);
  std::vector<std::int64_t> first{77}, first_of_sums{77};
  const ConstView there = bed.in(image);
  const auto on_device = bed.in(regions);
  region_histograms(there, rule.binning, on_device, bed.out(counts), {outside, bed.on, bed.out(first)});
  if (weights)
    region_histograms(there, rule.binning, bed.in(*weights), on_device, bed.out(sums),
                      {outside, bed.on, bed.out(first_of_sums)});
  bed.back();
  const Expected want = expected_of(rule, image.view(), nullptr, regions, outside);
  std::size_t wrong = differences(counts, want, bins) + (first[0] != first_missing(want)) + !image.guards_stand();
  if (weights) {
    const ConstView weight = weights->view();
    wrong += differences(sums, expected_of(rule, image.view(), &weight, regions, outside), bins) +
             (first_of_sums[0] != first_missing(want));
  }
  return wrong;
}

inline std::vector<Region> regions_of(std::int64_t width, std::int64_t height, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return random_regions(random, count, width, height);
}

template <class Bed>
void a_wrong_pixel_is_caught() {
  const Rule rule = oracle::uniform(8, 0, 256);
  Padded image = random_pixels(Type::u8, {61, 47}, 0, 255, 1), weights = random_pixels(Type::u16, {61, 47}, 1, 99, 2);
  const std::vector<Region> regions{{3, 2, 50, 40}, {0, 0, 9, 9}};
  ASSERT_EQ(wrong_counts<Bed>(rule, image, &weights, regions), 0u);
  Rule wrong = rule;
  int visited = 0;
  wrong.bin = [&](const double* v) { return ++visited == 50 * 40 ? -1 : rule.bin(v); };  // the region's last pixel
  EXPECT_EQ(wrong_counts<Bed>(wrong, image, nullptr, regions), 1u);
  visited = 0;
  EXPECT_EQ(wrong_counts<Bed>(wrong, image, &weights, {regions[0]}), 1u);
}

/// Every rule for each type that it reads, in memory of any alignment and pitch.
template <class Bed>
void counts_of_every_type_and_rule() {
  constexpr std::int64_t width = 131, height = 67;
  const Shape shape{width, height};
  const std::vector<Region> regions = regions_of(width, height, 16, 3);
  std::vector<std::int32_t> table(256, -1);
  for (std::size_t v = 0; v < 200; ++v) table[v] = static_cast<std::int32_t>(v * v % 37);
  const std::vector<Rule> numbers{oracle::uniform(32, 0, 256), oracle::uniform(10, -20, 90),
                                  oracle::uniform(10, -20, 90, true), oracle::edges({-100, -3, 0.5, 1, 7, 90})},
      integers{oracle::labels(40, 7)}, small{oracle::lookup(table)};
  const auto each = [&](Type type, const std::vector<Rule>& rules) {
    const bool is_signed =
        is_float(type) || type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
    for (const oracle::Gaps gaps : {oracle::misaligned, oracle::aligned, oracle::Gaps{24, 8}}) {
      Padded image = random_pixels(type, shape, is_signed ? -120 : 0, type == Type::s8 ? 127 : 255, 4, gaps);
      Padded weights = random_pixels(type == Type::u8    ? Type::u8
                                     : type == Type::u16 ? Type::u16
                                     : type == Type::f32 ? Type::f32
                                                         : Type::f64,
                                     shape, 0, 9, 5, gaps, false);
      for (const Rule& rule : rules)
        EXPECT_EQ(wrong_counts<Bed>(rule, image, &weights, regions), 0u)
            << name_of(type) << " " << rule.name << ", gaps " << gaps.gap << ", seeds 3 to 5";
    }
  };
  for (const Type type : {Type::u8, Type::s8, Type::u16, Type::s16}) {
    each(type, numbers);
    each(type, integers);
    each(type, small);
  }
  for (const Type type : {Type::u32, Type::s32, Type::u64, Type::s64}) {
    each(type, {numbers[1], numbers[3]});
    each(type, integers);
  }
  for (const Type type : {Type::f16, Type::f32, Type::f64}) each(type, {numbers[1], numbers[2], numbers[3]});
}

template <class Bed>
void counts_of_joint_channels() {
  const Rule two = oracle::joint({oracle::uniform(5, 0, 256), oracle::edges({10, 20, 200})}),
             three =
                 oracle::joint({oracle::uniform(4, 0, 256), oracle::uniform(3, 0, 200, true), oracle::labels(5, 2)}),
             floats = oracle::joint({oracle::uniform(5, -9, 9), oracle::uniform(7, -3, 9, true)});
  for (const Layout layout : {Layout::planar, Layout::interleaved})
    for (const oracle::Gaps gaps : {oracle::misaligned, oracle::aligned})
      for (const auto& [rule, type] :
           {std::pair{&two, Type::u8}, {&three, Type::u8}, {&three, Type::u16}, {&floats, Type::f32}}) {
        const Shape shape{53, 31, rule->binning.channels(), 1, layout};
        Padded image = random_pixels(type, shape, rule == &three ? 0 : -5, rule == &floats ? 12 : 9, 6, gaps);
        Padded weights = random_pixels(Type::u8, {53, 31}, 0, 9, 7, gaps);
        EXPECT_EQ(wrong_counts<Bed>(*rule, image, &weights, regions_of(53, 31, 20, 8)), 0u)
            << rule->name << " of " << name_of(type) << ", planar " << (layout == Layout::planar) << ", seeds 6 to 8";
      }
}

/// Around the sizes at which regions are cut, and with rows long enough to be.
template <class Bed>
void counts_of_every_shape() {
  const Rule rule = oracle::uniform(16, 0, 256);
  for (const auto& [width, height] : std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0},
                                                                                        {0, 5},
                                                                                        {1, 1},
                                                                                        {1, 300},
                                                                                        {300, 1},
                                                                                        {7, 1171},
                                                                                        {8192, 1},
                                                                                        {8193, 2},
                                                                                        {91, 90},
                                                                                        {91, 91},
                                                                                        {4096, 5},
                                                                                        {4097, 5},
                                                                                        {20011, 3},
                                                                                        {311, 197}})
    for (const oracle::Gaps gaps : {oracle::misaligned, oracle::aligned}) {
      Padded image = random_pixels(Type::u8, {width, height}, 0, 255, 9, gaps);
      EXPECT_EQ(wrong_counts<Bed>(rule, image, nullptr, regions_of(width, height, 17, 10)), 0u)
          << width << "x" << height << ", gap " << gaps.gap << ", seeds 9, 10";
    }
}

/// Around the numbers of bins at which cells, copies and memory change.
template <class Bed>
void counts_of_every_number_of_bins() {
  for (const std::int64_t bins : {1, 2, 15, 31, 32, 33, 100, 127, 255, 256}) {
    Padded bytes = random_pixels(Type::u8, {97, 101}, 0, 255, 11),
           words = random_pixels(Type::u16, {97, 101}, 0, 65535, 12, oracle::aligned);
    EXPECT_EQ(wrong_counts<Bed>(oracle::uniform(bins, 0, 256), bytes, &bytes, regions_of(97, 101, 14, 13)), 0u)
        << bins << " bins, seeds 11, 13";
    EXPECT_EQ(wrong_counts<Bed>(oracle::uniform(bins, 0, 65536), words, nullptr, regions_of(97, 101, 14, 13)), 0u)
        << bins << " bins, seeds 12, 13";
  }
  for (const std::int64_t bins : {257, 513, 2000, 4111, 4112, 8223, 8224, 20000}) {
    Padded words = random_pixels(Type::u16, {97, 101}, 0, static_cast<int>(bins), 14, oracle::aligned),
           longs = random_pixels(Type::s32, {97, 101}, -1, static_cast<int>(bins), 15),
           weights = random_pixels(Type::f32, {97, 101}, 0, 9, 16, oracle::misaligned, false);
    EXPECT_EQ(
        wrong_counts<Bed>(oracle::labels(bins, 5), words, bins < 9000 ? &weights : nullptr, regions_of(97, 101, 8, 17)),
        0u)
        << bins << " labels, seeds 14, 16, 17";
    EXPECT_EQ(wrong_counts<Bed>(oracle::labels(bins, 5), longs, nullptr, regions_of(97, 101, 8, 17)), 0u)
        << bins << " labels, seeds 15, 17";
  }
  std::vector<std::int32_t> table(256);
  for (std::size_t v = 0; v < table.size(); ++v) table[v] = static_cast<std::int32_t>(v * 7);  // 1786 bins of bytes
  Padded bytes = random_pixels(Type::u8, {97, 101}, 0, 255, 11);
  EXPECT_EQ(wrong_counts<Bed>(oracle::lookup(table), bytes, nullptr, regions_of(97, 101, 14, 13)), 0u);
}

/// Around the numbers of regions at which a block adds up less itself; with invalid ones far apart.
template <class Bed>
void counts_of_many_regions() {
  const Rule rule = oracle::uniform(5, 0, 256);
  Padded image = random_pixels(Type::u8, {40, 30}, 0, 255, 18), weights = random_pixels(Type::u8, {40, 30}, 0, 9, 19);
  for (const std::size_t n : {0, 1, 255, 256, 257, 1024, 1025}) {
    std::vector<Region> regions = regions_of(40, 30, n, 20);
    EXPECT_EQ(wrong_counts<Bed>(rule, image, n < 300 ? &weights : nullptr, regions), 0u) << n << ", seeds 18 to 20";
    if (n < 200) continue;
    regions[n - 1] = regions[n / 2] = {39, 0, 2, 1};
    regions[n / 3] = {0, 0, -1, 1};
    EXPECT_EQ(wrong_counts<Bed>(rule, image, n < 300 ? &weights : nullptr, regions), 0u) << n << ", some invalid";
  }
}

/// More than 256 groups of regions.
template <class Bed>
void counts_of_very_many_regions() {
  const Rule rule = oracle::uniform(5, 0, 256);
  Padded image = random_pixels(Type::u8, {40, 30}, 0, 255, 18);
  std::vector<Region> regions(65'800, Region{3, 4, 1, 2});
  regions[65'799] = {0, 0, 40, 30}, regions[65'536] = {1, 1, 5, 5};
  EXPECT_EQ(wrong_counts<Bed>(rule, image, nullptr, regions), 0u);
}

template <class Bed>
void counts_outside_are_refused_or_clipped() {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::vector<Region> regions = regions_of(60, 40, 20, 21);
  for (const Region& r : {Region{-3, -2, 5, 5}, Region{58, 1, 9, 2}, Region{1, 0, most, 1}, Region{0, 1, 1, most},
                          Region{most, most, most, most}, Region{-most - 1, -most - 1, most, 4}, Region{2, 2, -1, 3},
                          Region{2, 2, 3, -most - 1}, Region{-most, 0, -most, 0}}) {
    regions.push_back(r);
    regions.push_back({1, 1, 2, 2});
  }
  const Rule rule = oracle::uniform(7, 0, 256), many = oracle::labels(9000, 3);
  Padded image = random_pixels(Type::u8, {60, 40}, 0, 255, 22), words = random_pixels(Type::u16, {60, 40}, 0, 9001, 22),
         weights = random_pixels(Type::f64, {60, 40}, 0, 9, 23, oracle::misaligned, false);
  for (const Outside outside : {Outside::error, Outside::clip}) {
    EXPECT_EQ(wrong_counts<Bed>(rule, image, &weights, regions, outside), 0u) << "seeds 21 to 23";
    EXPECT_EQ(wrong_counts<Bed>(many, words, nullptr, regions, outside), 0u) << "seeds 21, 22";
  }
}

/// Weights that are no whole numbers: the same bits in every run, close to the exact sum.
template <class Bed>
void weights_have_the_same_bits_in_every_run(Type type, int bins) {
  const int end = type == Type::u8 ? 256 : 65536;
  Padded image = random_pixels(type, {90, 70}, 0, end - 1, 24), weights = random_pixels(Type::f64, {90, 70}, 0, 9, 25);
  std::mt19937_64 random(26);
  for (std::int64_t y = 0; y < 70; ++y)
    for (std::int64_t x = 0; x < 90; ++x) weights.set(std::uniform_real_distribution<>(-1, 1)(random), x, y);
  const std::vector<Region> regions = regions_of(90, 70, 30, 27);
  const Rule rule = oracle::uniform(bins, 0, end);
  const auto n = static_cast<std::size_t>(bins);
  std::vector<double> first;
  for (int run = 0; run < 3; ++run) {
    Bed bed;
    std::vector<double> sums(regions.size() * n, 77);
    region_histograms(bed.in(image), rule.binning, bed.in(weights), bed.in(regions), bed.out(sums),
                      {.execution = bed.on});
    bed.back();
    if (run == 0) first = sums;
    EXPECT_EQ(differences(sums, first), 0u);
  }
  const ConstView weight = weights.view();
  const Expected want = expected_of(rule, image.view(), &weight, regions);
  for (std::size_t i = 0; i < regions.size(); ++i)
    for (std::size_t b = 0; b < n; ++b)
      EXPECT_NEAR(first[i * n + b], (*want[i])[b], 1e-10) << name_of(type) << " " << bins << " bins, seeds 24 to 27";
}
/// Also of 16 bits, whose counts find their bins without a table.
template <class Bed>
void weights_have_the_same_bits_in_every_run() {
  weights_have_the_same_bits_in_every_run<Bed>(Type::u8, 13);
  for (const int bins : {1, 8, 13, 256}) weights_have_the_same_bits_in_every_run<Bed>(Type::u16, bins);
}

/// Regions and answers of the host, of an image on the machine; and the exceptions.
template <class Bed>
void the_host_asks_for_counts() {
  Padded image = random_pixels(Type::u8, {50, 40}, 0, 255, 28), floats = random_pixels(Type::f32, {50, 40}, 0, 9, 29),
         batch(Type::u8, {50, 40, 1, 2});
  Bed bed;
  const Rule rule = oracle::uniform(6, 0, 256), edges = oracle::edges({0, 1, 5, 9});
  const std::vector<Region> regions = regions_of(50, 40, 40, 30);
  const QueryOptions on{.execution = bed.on};
  EXPECT_EQ(differences(region_histograms(bed.in(image), rule.binning, regions, on),
                        expected_of(rule, image.view(), nullptr, regions), 6),
            0u);
  EXPECT_EQ(differences(region_histograms(bed.in(floats), edges.binning, regions, on),
                        expected_of(edges, floats.view(), nullptr, regions), 3),
            0u);
  const auto refused = [&](const ConstView& view, const Binning& binning, const std::vector<Region>& some,
                           const char* word) {
    try {
      region_histograms(view, binning, some, on);
      ADD_FAILURE() << "not refused: " << word;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  refused(bed.in(image), rule.binning, {{0, 0, 1, 1}, {49, 0, 2, 1}}, "region 1");
  refused(bed.in(batch), rule.binning, regions, "batch of 2");
  refused(bed.in(floats), Binning::labels(4), regions, "labels");
  refused(bed.in(image), Binning::joint({rule.binning, rule.binning}), regions, "reads 2");
  std::vector<std::uint64_t> small(5);
  EXPECT_THROW(region_histograms(bed.in(image), rule.binning, bed.in(regions), bed.out(small), on), InvalidArgument);
}

/// A plan's executes: frames, fewer regions, memory that the caller supplies, arguments of the host.
template <class Bed>
void a_plan_counts_frames() {
  const Shape shape{70, 50};
  for (const Type type : {Type::u8, Type::u16, Type::f32}) {
    const Rule rule = oracle::uniform(9, 3, 200);
    Bed bed;
    const RegionHistogramPlan plan(shape, type, rule.binning, 1100, {}, bed.on);
    EXPECT_EQ(plan.algorithm(), "none");
    Workspace workspace(plan);
    for (const std::size_t n : {1100, 40, 0, 1025}) {
      Padded frame = random_pixels(type, shape, 0, 255, 31 + n, n == 40 ? oracle::aligned : oracle::misaligned);
      std::vector<Region> regions = regions_of(70, 50, n, 32);
      if (n > 0) regions[n / 2] = {69, 0, 2, 2};
      std::vector<std::uint64_t> counts(n * 9, 77), of_host(n * 9, 77);
      std::vector<std::int64_t> first{77}, first_of_host{77};
      Bed one;
      const ConstView there = one.in(frame);
      const auto regions_there = one.in(regions);
      const auto counts_there = one.out(counts);
      const auto first_there = one.out(first);
      one.back();  // its stream is not the plan's
      plan.execute(there, regions_there, counts_there, workspace, first_there);
      workspace.wait();
      one.back();
      const Expected want = expected_of(rule, frame.view(), nullptr, regions);
      EXPECT_EQ(differences(counts, want, 9), 0u)
          << name_of(type) << ", " << n << " regions, seeds " << 31 + n << ", 32";
      EXPECT_EQ(first[0], first_missing(want));
      plan.execute(frame.view(), regions, of_host, workspace, first_of_host);
      workspace.wait();
      EXPECT_EQ(differences(of_host, want, 9), 0u) << name_of(type);
      EXPECT_EQ(first_of_host[0], first[0]);
      if (n > 0) {
        EXPECT_THROW(plan.execute(frame.view(), regions, of_host, workspace), InvalidArgument);
      }
    }
    Padded frame = random_pixels(type, shape, 0, 255, 33);
    std::vector<std::uint64_t> counts(1101 * 9);
    EXPECT_THROW(plan.execute(frame.view(), std::vector<Region>(1101), counts, workspace), InvalidArgument);
    Padded other = random_pixels(type, {70, 51}, 0, 255, 33);
    EXPECT_THROW(plan.execute(other.view(), std::vector<Region>(1), std::span(counts).first(9), workspace),
                 InvalidArgument);
    std::vector<double> sums(9);
    EXPECT_THROW(plan.execute(frame.view(), frame.view(), std::vector<Region>(1), sums, workspace), InvalidArgument);
    Workspace of_another(RegionHistogramPlan(shape, type, rule.binning, 1, {}, bed.on));
    EXPECT_THROW(plan.execute(frame.view(), std::vector<Region>(1), std::span(counts).first(9), of_another),
                 InvalidArgument);
  }
  const Rule rule = oracle::uniform(9, 3, 200);
  Bed bed;
  const RegionHistogramPlan plan(shape, Type::s16, rule.binning, 50, {Outside::clip, true}, bed.on);
  Workspace workspace(plan);
  Padded frame = random_pixels(Type::s16, shape, -9, 255, 34), weights = random_pixels(Type::u16, shape, 0, 99, 35);
  const std::vector<Region> regions{{-5, -5, 50, 40}, {0, 0, 70, 50}, {60, 40, 20, 20}};
  std::vector<double> sums(27, 77);
  plan.execute(bed.in(frame), bed.in(weights), bed.in(regions), bed.out(sums), workspace);
  workspace.wait();
  bed.back();
  const ConstView weight = weights.view();
  EXPECT_EQ(differences(sums, expected_of(rule, frame.view(), &weight, regions, Outside::clip), 9), 0u);
}

}  // namespace areal::device_cases
