#pragma once
// Tests of compact stores built and read on a device, for any machine: their bytes against the CPU's store, which
// compact_test compares with counting, and their answers against counting pixel by pixel. See device_answers.hpp for a
// Bed.

#include <areal/histogram_store.hpp>
#include <utility>
#include "device_count_cases.hpp"
#include "device_store_bytes.hpp"

namespace areal::device_cases {

inline StoreOptions compact_options(int block = 0, bool masked = false) {
  StoreOptions options;
  options.store = Store::compact;
  options.block = block;
  options.masked = masked;
  return options;
}

/// What is wrong with a store of the image and with its answers, a sentence; empty if nothing is.
template <class Bed>
std::string compact_fault(const Rule& rule, Padded& image, std::size_t regions, int block = 0, Padded* mask = nullptr,
                          bool checks_counts = true) {
  const Shape& shape = image.view().shape;
  const StoreOptions options = compact_options(block, mask != nullptr);
  Bed bed;
  StoreArguments there{.image = bed.in(image)};
  StoreArguments here{.image = image.view()};
  if (mask) there.mask = bed.in(*mask), here.mask = mask->view();
  const HistogramStore store = histogram_store(there, rule.binning, options, bed.on);
  const HistogramStore expected = histogram_store(here, rule.binning, options, {.backend = Backend::cpu});
  bed.back();
  if (store.bytes() != expected.bytes()) return "it has " + std::to_string(store.bytes()) + " bytes";
  const auto got = bytes_of_store(store), want = bytes_of_store(expected);
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != want[i]) return "byte " + std::to_string(i) + " of " + std::to_string(got.size()) + " differs";
  const auto bins = static_cast<std::size_t>(rule.binning.bins());
  std::vector<std::uint64_t> counts;  // a bed copies into what it was given each time
  std::vector<double> reals;
  for (std::int64_t n = 0; n < shape.batch; ++n) {
    const std::vector<Region> all = regions_of(shape.width, shape.height, regions, 60 + static_cast<std::uint64_t>(n));
    counts.assign(all.size() * bins, 77), reals.assign(counts.size(), 77);
    const auto on_device = bed.in(all);
    region_histograms(store.view(n), on_device, bed.out(counts), {.execution = bed.on});
    region_histograms(store.view(n), on_device, bed.out(reals), {.execution = bed.on});
    bed.back();
    const auto want_counts = region_histograms(expected.view(n), all, {.execution = {.backend = Backend::cpu}});
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] != want_counts[i] || reals[i] != static_cast<double>(want_counts[i]))
        return "region " + std::to_string(i / bins) + " of image " + std::to_string(n) + " has " +
               std::to_string(counts[i]) + " in bin " + std::to_string(i % bins) + ", not " +
               std::to_string(want_counts[i]);
    if (n == 0 && !mask && checks_counts &&
        differences(counts, expected_of(rule, image.view(), nullptr, all), bins) != 0)
      return "counting finds other histograms";
  }
  if (!image.guards_stand()) return "the image's guards fell";
  return {};
}

template <class Bed>
void a_wrong_pixel_of_a_store_is_caught() {
  Padded image = random_pixels(Type::u8, {150, 140}, 0, 255, 61);
  Rule rule = oracle::uniform(32, 0, 256);
  ASSERT_EQ(compact_fault<Bed>(rule, image, 12), "");
  Rule wrong = rule;
  int visited = 0;
  wrong.bin = [&](const double* v) { return ++visited == 77 ? -1 : rule.bin(v); };  // of the whole image, region 0
  EXPECT_EQ(compact_fault<Bed>(wrong, image, 12), "counting finds other histograms");
  // A pixel that the CPU's store has not.
  const HistogramStore expected = histogram_store(ConstView(image.view()), rule.binning, compact_options());
  auto& last = *(static_cast<std::uint8_t*>(image.view().row(139)) + 149);
  last = static_cast<std::uint8_t>(last ^ 128);
  Bed bed;
  const HistogramStore store = histogram_store(bed.in(image), rule.binning, compact_options(), bed.on);
  bed.back();
  EXPECT_NE(bytes_of_store(store), bytes_of_store(expected));
}

/// Sides around squares, blocks and tiles, their halves and multiples; batches, pitches, every block.
template <class Bed>
void compact_stores_of_every_side() {
  const std::int64_t sides[] = {0, 1, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 97, 127, 128, 129, 191, 193, 257};
  const Rule rule = oracle::uniform(5, 10, 200);
  int turn = 0;
  for (const std::int64_t width : sides)
    for (const std::int64_t height : sides) {
      // Every side meets 129 and a fifth of the others.
      ++turn;
      if (width != 129 && height != 129 && turn % 5 != 0) continue;
      const int block = turn % 3 == 0 ? 32 : turn % 3 == 1 ? 64 : 128;
      Padded image = random_pixels(Type::u8, {width, height, 1, 1 + turn % 2}, 0, 255, 62,
                                   turn % 2 == 0 ? oracle::aligned : oracle::misaligned);
      ASSERT_EQ(compact_fault<Bed>(rule, image, 18, block), "")
          << width << "x" << height << ", block " << block << ", seeds 60 to 62";
    }
}

/// Up to 32 bins and blocks of 32, straight from bytes whose rows are vectors and by way of labels: both directions
/// longer than the stages in flight, more lattice rows than a block's, batches.
template <class Bed>
void compact_stores_by_bands() {
  const std::pair<std::int64_t, std::int64_t> shapes[] = {{16, 1},   {16, 16},  {32, 15},   {48, 33},   {160, 47},
                                                          {144, 80}, {272, 48}, {1680, 20}, {16, 4200}, {256, 272}};
  std::int64_t turn = 0;
  for (const auto& [width, height] : shapes)
    for (const auto& [lo, hi] : {std::pair{0, 256}, {10, 200}})
      for (const bool is_full : {false, true}) {
        const std::int64_t bins = is_full ? 32 : 1 + turn++ * 7 % 31;
        Padded image = random_pixels(Type::u8, {width, height, 1, height > 300 || width > 300 ? 1 : 1 + turn % 3}, 0,
                                     255, 74, oracle::aligned);
        ASSERT_EQ(compact_fault<Bed>(oracle::uniform(bins, lo, hi), image, 8), "")
            << width << "x" << height << ", " << bins << " bins from " << lo << ", seeds 60 to 62, 74";
      }
}

/// `most_bins`: of a small image, many groups of bins.
template <class Bed>
void compact_stores_of_every_number_of_bins(std::int64_t most_bins) {
  for (const std::int64_t bins : {1, 15, 16, 17, 31, 32, 33, 48, 64, 65, 127, 128, 129, 144, 255, 256}) {
    Padded image = random_pixels(Type::u8, {140, 133}, 0, 255, 63);
    ASSERT_EQ(compact_fault<Bed>(oracle::uniform(bins, 0, 256), image, 16), "") << bins << " bins, seeds 60, 63";
    // Some pixels lie in no bin.
    ASSERT_EQ(compact_fault<Bed>(oracle::uniform(bins, 20, 220), image, 16), "") << bins << " bins, seeds 60, 63";
  }
  for (const std::int64_t bins : {257, 1000}) {
    Padded image = random_pixels(Type::u16, {140, 133}, 0, static_cast<int>(bins) + 3, 64);
    ASSERT_EQ(compact_fault<Bed>(oracle::labels(bins, 7), image, 16), "") << bins << " bins, seeds 60, 64";
  }
  Padded few = random_pixels(Type::u16, {41, 39}, static_cast<int>(most_bins) - 40, static_cast<int>(most_bins), 65);
  ASSERT_EQ(compact_fault<Bed>(oracle::labels(most_bins, 7), few, 4), "") << most_bins << " bins, seeds 60, 65";
  // Every bin with every block.
  for (const std::int64_t bins : {20, 60, 130, 300})
    for (const int block : {32, 64, 128}) {
      Padded image = random_pixels(Type::u16, {131, 259}, 0, 310, 66, oracle::aligned);
      ASSERT_EQ(compact_fault<Bed>(oracle::labels(bins, 7), image, 16, block), "")
          << bins << " bins, block " << block << ", seeds 60, 66";
    }
}

/// All rules, types, channels and layouts; NaN, infinities and both zeros among the floats; any alignment.
template <class Bed>
void compact_stores_of_every_type_and_rule() {
  struct Case {
    Rule rule;
    Type type;
    std::int64_t channels;
    int lo, hi;
  };
  std::vector<std::int32_t> table(256), wide(256);
  for (std::size_t v = 0; v < 256; ++v) {
    table[v] = v % 7 == 0 ? -1 : static_cast<std::int32_t>(v * v % 9);
    wide[v] = static_cast<std::int32_t>(v * 3);  // bytes with 766 bins
  }
  const std::vector<Case> cases = {
      {oracle::uniform(15, 3, 250), Type::s8, 1, -128, 127},
      {oracle::uniform(17, 30, 120, true), Type::u8, 1, 0, 255},
      {oracle::lookup(table), Type::u8, 1, 0, 255},
      {oracle::lookup(wide), Type::u8, 1, 0, 255},
      {oracle::edges({-3, 0, 0.5, 9, 200}), Type::f32, 1, -5, 220},
      {oracle::edges({-3, 0, 0.5, 9, 200}, true), Type::f64, 1, -5, 220},
      {oracle::uniform(32, -1000, 1000), Type::f16, 1, -900, 900},
      {oracle::uniform(33, -1000, 1000), Type::s16, 1, -1000, 1000},
      {oracle::uniform(64, 0, 65536), Type::u16, 1, 0, 65535},
      {oracle::uniform(65, 0, 100000), Type::u32, 1, 0, 100000},
      {oracle::uniform(128, -100, 100), Type::s32, 1, -120, 120},
      {oracle::labels(129, 7), Type::s64, 1, -2, 140},
      {oracle::labels(30, -1), Type::u64, 1, 0, 31},
      {oracle::joint({oracle::uniform(5, 0, 256), oracle::uniform(6, 10, 200)}), Type::u8, 2, 0, 255},
      {oracle::joint({oracle::uniform(4, 0, 256), oracle::uniform(8, 0, 256), oracle::uniform(8, 0, 256)}), Type::u8, 3,
       0, 255},
      {oracle::joint({oracle::uniform(3, 0, 9), oracle::edges({0, 2, 5}), oracle::uniform(2, 0, 9)}), Type::f32, 3, -1,
       10}};
  for (const Case& one : cases)
    for (const Layout layout : {Layout::interleaved, Layout::planar})
      for (const oracle::Gaps gaps : {oracle::misaligned, oracle::aligned}) {
        if (layout == Layout::planar && one.channels == 1) continue;
        Padded image = random_pixels(one.type, {70, 133, one.channels, 1, layout}, one.lo, one.hi, 67, gaps);
        ASSERT_EQ(compact_fault<Bed>(one.rule, image, 14), "")
            << one.rule.name << " of " << name_of(one.type) << ", gap " << gaps.gap << ", seeds 60, 67";
      }
}

template <class Bed>
void compact_stores_with_masks() {
  for (const Rule& rule : {oracle::uniform(16, 0, 256), oracle::uniform(256, 0, 256)})
    for (const Type type : {Type::u8, Type::u16}) {
      Padded image = random_pixels(type, {131, 70, 1, 2}, 0, 255, 68),
             mask = random_pixels(Type::u8, {131, 70, 1, 2}, 0, 2, 69, oracle::Gaps{24, 8});
      ASSERT_EQ(compact_fault<Bed>(rule, image, 14, 0, &mask), "") << rule.name << ", seeds 60, 68, 69";
    }
}

/// Regions beyond the image are refused, reported or clipped; host memory is copied.
template <class Bed>
void compact_regions_outside_are_refused_or_clipped() {
  const Rule rule = oracle::uniform(12, 0, 256);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  Padded image = random_pixels(Type::u8, {60, 40}, 0, 255, 70);
  std::vector<Region> regions = regions_of(60, 40, 14, 71);
  for (const Region& r : {Region{-3, -2, 5, 5}, Region{58, 1, 9, 2}, Region{1, 0, most, 1}, Region{0, 0, -1, 3}})
    regions.push_back(r);
  for (const Outside outside : {Outside::error, Outside::clip}) {
    Bed bed;
    const HistogramStore store = histogram_store(bed.in(image), rule.binning, compact_options(), bed.on);
    std::vector<std::uint64_t> counts(regions.size() * 12, 77);
    std::vector<double> reals(regions.size() * 12, 77);
    std::vector<std::int64_t> first{77};
    region_histograms(store, bed.in(regions), bed.out(counts), {outside, bed.on, bed.out(first)});
    region_histograms(store, bed.in(regions), bed.out(reals), {outside, bed.on, bed.out(first)});
    bed.back();
    const Expected want = expected_of(rule, image.view(), nullptr, regions, outside);
    EXPECT_EQ(differences(counts, want, 12), 0u);
    EXPECT_EQ(differences(reals, want, 12), 0u);
    EXPECT_EQ(first[0], first_missing(want));
    if (outside == Outside::error) {
      EXPECT_THROW(region_histograms(store, regions), InvalidArgument);
    }
  }
  Bed bed;
  const HistogramStore store = histogram_store(bed.in(image), rule.binning, compact_options(), bed.on);
  bed.back();
  const std::vector<Region> inside = regions_of(60, 40, 14, 71);
  EXPECT_EQ(differences(region_histograms(store, inside), expected_of(rule, image.view(), nullptr, inside), 12), 0u);
  EXPECT_TRUE(region_histograms(store, std::vector<Region>()).empty());
}

/// One store serves frame after frame.
template <class Bed>
void a_compact_store_is_built_anew() {
  const Rule rule = oracle::uniform(9, 0, 256);
  Bed bed;
  const StorePlan plan({100, 70}, Type::s16, rule.binning, compact_options(), bed.on);
  HistogramStore store;
  for (std::uint64_t frame = 0; frame < 3; ++frame) {
    Padded image = random_pixels(Type::s16, {100, 70}, -9, 300, 72 + frame);
    const ConstView there = bed.in(image);
    plan.build({there}, store);
    bed.back();
    EXPECT_EQ(store.bytes(), plan.bytes());
    const HistogramStore expected = histogram_store(ConstView(image.view()), rule.binning, compact_options());
    EXPECT_EQ(bytes_of_store(store), bytes_of_store(expected)) << "seed " << 72 + frame;
  }
}

}  // namespace areal::device_cases
