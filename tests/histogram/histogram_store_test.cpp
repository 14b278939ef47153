// Stores: the same bits from each, what they refuse, and what `automatic` chooses.
#include <gtest/gtest.h>
#include <areal/areal.hpp>
#include <array>
#include <cmath>
#include "histogram_oracle.hpp"
#include "random_regions.hpp"

namespace areal {
namespace {

using oracle::Guarded;
using oracle::Rule;

const Execution on_cpu{.backend = Backend::cpu, .threads = 2};
constexpr std::array stores{Store::none, Store::compact, Store::tensor};

std::string refusal(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Counts, or sums of weights, pixel by pixel.
std::vector<double> counted(const Rule& rule, const ConstView& image, std::int64_t n, const Region& r,
                            const ConstView* weights = nullptr, const ConstView* mask = nullptr) {
  std::vector<double> sums(static_cast<std::size_t>(rule.binning.bins()));
  for (std::int64_t y = r.y; y < r.y + r.height; ++y)
    for (std::int64_t x = r.x; x < r.x + r.width; ++x) {
      const std::int64_t bin = oracle::bin_at(rule, image, x, y, n);
      if (bin >= 0 && (mask == nullptr || oracle::value_at(*mask, x, y, 0, n) != 0))
        sums[static_cast<std::size_t>(bin)] += weights != nullptr ? oracle::value_at(*weights, x, y, 0, n) : 1;
    }
  return sums;
}

/// The first region and bin in which a store, as 64u or double, does not have the counts.
std::string difference(const Rule& rule, const ConstView& image, const HistogramStore& store,
                       const std::vector<Region>& regions, const ConstView* mask = nullptr) {
  const auto bins = static_cast<std::size_t>(rule.binning.bins());
  for (std::int64_t n = 0; n < image.shape.batch; ++n)
    for (const int threads : {1, 2}) {
      const QueryOptions options{.execution = {.threads = threads}};
      const auto counts = region_histograms(store.view(n), regions, options);
      const auto doubles = region_histograms<double>(store.view(n), regions, options);
      for (std::size_t i = 0; i < regions.size(); ++i) {
        const auto expected = counted(rule, image, n, regions[i], nullptr, mask);
        for (std::size_t k = 0; k < bins; ++k)
          if (static_cast<double>(counts[i * bins + k]) != expected[k] || doubles[i * bins + k] != expected[k])
            return std::string(name_of(store.store())) + ": image " + std::to_string(n) + ", region " +
                   std::to_string(i) + ", bin " + std::to_string(k);
      }
    }
  return {};
}

TEST(HistogramStore, AllHaveTheSameCounts) {
  std::mt19937_64 random(21);
  struct Case {
    Rule rule;
    Type type;
    Shape shape;
  };
  const Case cases[] = {
      {oracle::uniform(32, 0, 256), Type::u8, {131, 97, 1, 2}},
      {oracle::uniform(256, 0, 256), Type::u8, {70, 60, 1, 1}},
      {oracle::uniform(17, -100, 100, true), Type::f32, {70, 60, 1, 3}},
      {oracle::labels(300, 4), Type::u16, {60, 70, 1, 1}},
      {oracle::joint({oracle::uniform(4, 0, 256), oracle::uniform(5, 9, 200)}),
       Type::u8,
       {60, 70, 2, 2, Layout::planar}},
      {oracle::joint({oracle::uniform(4, 0, 256), oracle::uniform(5, 9, 200)}), Type::u8, {60, 70, 2, 2}},
      {oracle::uniform(8, 0, 256), Type::u8, {1, 90, 1, 1}},
      {oracle::uniform(8, 0, 256), Type::u8, {90, 1, 1, 1}},
      {oracle::uniform(8, 0, 256), Type::u8, {0, 5, 1, 1}},
      {oracle::uniform(8, 0, 256), Type::u8, {5, 0, 1, 1}}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.rule.name + " seed 21");
    const Guarded image(one.shape, one.type, 1, 3);
    oracle::fill_random(image.view, random, 0, 310);
    std::vector<Region> regions = {{0, 0, one.shape.width, one.shape.height}};
    if (!one.shape.empty()) regions = random_regions(random, 33, one.shape.width, one.shape.height);
    for (const Store store : stores) {
      const HistogramStore made = histogram_store(image.view, one.rule.binning, {.store = store}, on_cpu);
      EXPECT_EQ(made.store(), store);
      EXPECT_EQ(made.view(0).store(), store);
      EXPECT_EQ(difference(one.rule, image.view, made, regions), "");
    }
  }
}

TEST(HistogramStore, TheCheckCatchesOneWrongPixel) {
  std::mt19937_64 random(22);
  const Rule rule = oracle::uniform(8, 0, 256);
  const Guarded image({40, 30}, Type::u8, 0, 0);
  oracle::fill_random(image.view, random, 0, 255);
  Rule wrong = rule;
  wrong.bin = [&](const double* v) { return v[0] == oracle::value_at(image.view, 39, 29) ? -1 : rule.bin(v); };
  for (const Store store : stores) {
    const HistogramStore made = histogram_store(image.view, rule.binning, {.store = store}, on_cpu);
    EXPECT_EQ(difference(rule, image.view, made, {{0, 0, 40, 30}}), "");
    EXPECT_NE(difference(wrong, image.view, made, {{0, 0, 40, 30}}), "");
  }
}

// A million regions: the tensor and the compact store agree bit by bit.
TEST(HistogramStore, AMillionRegionsAreAlike) {
  std::mt19937_64 random(23);
  const Guarded image({333, 222}, Type::u8, 0, 0);
  oracle::fill_random(image.view, random, 0, 255);
  const auto regions = random_regions(random, std::getenv("AREAL_TEST_SHORT") ? 20000 : 1000000, 333, 222);
  const Binning binning = Binning::uniform(4, 0, 256);
  const auto tensor =
      region_histograms(histogram_store(image.view, binning, {.store = Store::tensor}, on_cpu), regions);
  EXPECT_TRUE(region_histograms(histogram_store(image.view, binning, {.store = Store::compact}, on_cpu), regions) ==
              tensor);
}

TEST(HistogramStore, MasksAndWeights) {
  std::mt19937_64 random(24);
  const Rule rule = oracle::uniform(20, 0, 256);
  const Guarded image({140, 60, 1, 2}, Type::u8, 1, 3), other({140, 60, 1, 2}, Type::u8, 2, 5);
  oracle::fill_random(image.view, random, 0, 255);
  oracle::fill_random(other.view, random, 0, 3);
  const ConstView more = other.view;
  const auto regions = random_regions(random, 28, 140, 60);
  for (const Store store : {Store::none, Store::compact}) {
    const HistogramStore made =
        histogram_store(StoreArguments{.image = image.view, .mask = more}, rule.binning, {.store = store}, on_cpu);
    EXPECT_EQ(difference(rule, image.view, made, regions, &more), "");
  }
  for (const Store store : {Store::none, Store::tensor}) {
    const HistogramStore made =
        histogram_store(StoreArguments{.image = image.view, .weights = more}, rule.binning, {.store = store}, on_cpu);
    for (const std::int64_t n : {0, 1}) {
      const auto sums = region_histograms<double>(made.view(n), regions);
      for (std::size_t i = 0; i < regions.size(); ++i) {
        const auto expected = counted(rule, image.view, n, regions[i], &more);
        for (std::size_t k = 0; k < 20; ++k) ASSERT_EQ(sums[i * 20 + k], expected[k]) << name_of(store);
      }
    }
    EXPECT_NE(refusal([&] { region_histograms(made.view(0), regions); }), "");
  }
}

TEST(HistogramStore, InvalidRegionsAreReported) {
  std::mt19937_64 random(25);
  const Rule rule = oracle::uniform(3, 0, 256);
  const Guarded image({50, 40}, Type::u8, 0, 0);
  oracle::fill_random(image.view, random, 0, 255);
  const Region regions[] = {{1, 2, 3, 4}, {40, 30, 20, 20}, {-5, -5, 10, 10}, {0, 0, -1, 3}, {2, 2, 9, 9}};
  for (const Store store : stores) {
    SCOPED_TRACE(name_of(store));
    const HistogramStore made = histogram_store(image.view, rule.binning, {.store = store}, on_cpu);
    const std::string why = refusal([&] { region_histograms(made, regions); });
    EXPECT_NE(why.find("region 1"), std::string::npos) << why;
    std::int64_t first = -7;
    const auto counts = region_histograms(made, regions, {.first_invalid = Span<std::int64_t>(&first, 1)});
    EXPECT_EQ(first, 1);
    for (std::size_t k = 0; k < 9; ++k) EXPECT_EQ(counts[3 + k], 0u);
    const auto doubles = region_histograms<double>(made, regions, {.first_invalid = Span<std::int64_t>(&first, 1)});
    EXPECT_TRUE(std::isnan(doubles[3]) && std::isnan(doubles[11]) && doubles[12] >= 0);
    // Clipped, only a negative extent is invalid.
    const auto clipped =
        region_histograms(made, regions, {.outside = Outside::clip, .first_invalid = Span<std::int64_t>(&first, 1)});
    EXPECT_EQ(first, 3);
    const Region parts[] = {{40, 30, 10, 10}, {0, 0, 5, 5}};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto expected = counted(rule, image.view, 0, parts[i]);
      for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(static_cast<double>(clipped[(i + 1) * 3 + k]), expected[k]);
    }
    std::vector<std::uint64_t> few(3);
    EXPECT_NE(refusal([&] { region_histograms(made, regions, few); }), "");
    EXPECT_TRUE(region_histograms(made, Span<const Region>()).empty());
  }
}

TEST(HistogramStore, TakesTheBytesThatThePlanNames) {
  const Guarded image({1920, 1080}, Type::u8, 0, 0);
  for (std::int64_t y = 0; y < 1080; ++y) std::memset(image.view.row(y), 7, 1920);
  const Binning binning = Binning::uniform(32, 0, 256);
  const std::uint64_t bytes[] = {0, 10'870'144, 265'420'800};
  for (std::size_t i = 0; i < 3; ++i) {
    const StorePlan plan({1920, 1080}, Type::u8, binning, {.store = stores[i]}, on_cpu);
    EXPECT_EQ(plan.bytes(), bytes[i]);
    EXPECT_EQ(plan.backend(), Backend::cpu);
    if (stores[i] == Store::tensor) continue;
    const HistogramStore made = plan.build({image.view});
    EXPECT_EQ(made.bytes(), bytes[i]);
    EXPECT_EQ(made.data().size(), bytes[i]);
    EXPECT_NE(refusal([&] { made.tensor(); }).find("it has no tensor"), std::string::npos);
    EXPECT_NE(refusal([&] { made.view(0).tensor(); }).find("it has no tensor"), std::string::npos);
  }
  const HistogramStore small =
      histogram_store(image.view, Binning::uniform(2, 0, 256), {.store = Store::tensor}, on_cpu);
  EXPECT_EQ(small.bytes(), 4u * 2 * 1920 * 1080);
  EXPECT_EQ(small.tensor().counter(), Type::u32);
  EXPECT_EQ(small.view(0).tensor().bins(), 2);
}

// Frames: built anew in the same memory.
TEST(HistogramStore, IsBuiltAnewInItsMemory) {
  std::mt19937_64 random(26);
  const Rule rule = oracle::uniform(6, 0, 256);
  const auto regions = random_regions(random, 18, 80, 70);
  for (const Store store : stores) {
    const StorePlan plan({80, 70}, Type::u8, rule.binning, {.store = store}, on_cpu);
    HistogramStore made;
    EXPECT_NE(refusal([&] { made.view(); }).find("moved from"), std::string::npos);
    const void* first = nullptr;
    for (int frame = 0; frame < 3; ++frame) {
      const Guarded image({80, 70}, Type::u8, 0, frame);
      oracle::fill_random(image.view, random, 0, 255);
      plan.build({image.view}, made);
      EXPECT_EQ(difference(rule, image.view, made, regions), "");
      if (frame > 0) {
        EXPECT_EQ(made.data().data(), first);
      }
      first = made.data().data();
    }
    const Guarded other({30, 20}, Type::u8, 0, 0);
    oracle::fill_random(other.view, random, 0, 255);
    StorePlan({30, 20}, Type::u8, rule.binning, {.store = Store::compact}, on_cpu).build({other.view}, made);
    EXPECT_EQ(difference(rule, other.view, made, {{1, 2, 20, 10}}), "");
    HistogramStore moved = std::move(made);
    EXPECT_EQ(difference(rule, other.view, moved, {{1, 2, 20, 10}}), "");
  }
}

TEST(HistogramStore, RefusesInOneSentence) {
  const Guarded image({30, 20, 1, 2}, Type::u8, 0, 0), floats({30, 20}, Type::f32, 0, 0);
  const Binning binning = Binning::uniform(4, 0, 256);
  const auto plan = [&](StoreOptions options, Execution execution = on_cpu) {
    return refusal([&] { StorePlan({30, 20}, Type::u8, binning, options, execution); });
  };
  EXPECT_EQ(plan({.store = Store::rank}), "store rank: it orders values and takes no bins; make it without a binning");
  EXPECT_EQ(plan({.store = Store::compact, .weighted = true}),
            "store compact: it counts pixels; for weights choose none or tensor");
  EXPECT_EQ(plan({.store = Store::tensor, .masked = true}), "store tensor: it takes no mask; choose none or compact");
  EXPECT_EQ(plan({.weighted = true, .masked = true}),
            "a mask together with weights: give the excluded pixels the weight 0");
  EXPECT_EQ(plan({.block = 16}), "block 16: it may be 32, 64, 128, or 0 for the one that suits the number of bins");
  EXPECT_EQ(plan({.regions = -2}), "regions -2: it may be -1 (unknown), 0 or more");
  EXPECT_EQ(plan({.area = -2}), "area -2: it may be -1 (unknown), 0 or more");
  EXPECT_EQ(plan({.store = Store::none, .masked = true}, {.backend = Backend::cuda}),
            "store none with a mask: the backend cuda takes none; choose compact or the backend cpu");
  EXPECT_NE(refusal([&] { StorePlan({30, 20}, Type::f32, Binning::labels(3)); }), "");
  EXPECT_NE(refusal([&] { StorePlan({30, 20, 2}, Type::u8, binning); }), "");
  EXPECT_NE(refusal([&] {
              StorePlan({std::int64_t{1} << 30, std::int64_t{1} << 30}, Type::u8, Binning::labels(65535),
                        {.store = Store::compact}, on_cpu);
            }).find("do not fit 63 bits"),
            std::string::npos);
  // The store none needs no such bytes.
  EXPECT_EQ(refusal([&] {
              StorePlan({std::int64_t{1} << 30, std::int64_t{1} << 30}, Type::u8, Binning::labels(65535),
                        {.store = Store::none}, on_cpu);
            }),
            "");

  const StorePlan made({30, 20}, Type::u8, binning, {.store = Store::compact, .memory_limit = 1000}, on_cpu);
  const Guarded one({30, 20}, Type::u8, 0, 0);
  const std::string limit = refusal([&] { made.build({one.view}); });
  EXPECT_NE(limit.find("bytes, more than the 1000 bytes of memory_limit"), std::string::npos) << limit;
  const StorePlan fits({30, 20}, Type::u8, binning, {.store = Store::compact}, on_cpu);
  EXPECT_NE(refusal([&] { fits.build({floats.view}); }), "");
  EXPECT_NE(refusal([&] { fits.build({image.view}); }), "");
  EXPECT_EQ(refusal([&] { fits.build({.image = one.view, .weights = one.view}); }),
            "weights were given, but the plan was not made for them");
  EXPECT_EQ(refusal([&] { fits.build({.image = one.view, .mask = one.view}); }),
            "a mask was given, but the plan was not made for one");
  EXPECT_NE(refusal([&] { fits.build({one.view.in({MemoryPlace::cuda, 0})}); }), "");
  const HistogramStore batch = histogram_store(image.view, binning, {.store = Store::compact}, on_cpu);
  EXPECT_EQ(refusal([&] { region_histograms(batch, Span<const Region>()); }),
            "store of a batch of 2: name the image, store.view(image)");
  EXPECT_NE(refusal([&] { batch.view(2); }), "");
  const HistogramStore none = histogram_store(image.view, binning, {.store = Store::none}, on_cpu);
  EXPECT_EQ(refusal([&] {
              region_histograms(none.view(0), Span<const Region>(), {.execution = {.backend = Backend::simt}});
            }),
            "store none: it was planned for the backend cpu, not for simt");
}

TEST(HistogramStore, Names) {
  for (const Store store : {Store::automatic, Store::none, Store::compact, Store::tensor, Store::rank})
    EXPECT_EQ(store_named(name_of(store)), store);
  EXPECT_FALSE(store_named("dense"));
}

TEST(HistogramStore, AutomaticSaysWhatAndWhy) {
  const auto choice = [](StoreOptions options, Type type = Type::u8, const Shape& shape = {1000, 1000}) {
    const StorePlan plan(shape, type, Binning::uniform(32, 0, 256), options, on_cpu);
    EXPECT_EQ(plan.reason().rfind("store " + std::string(name_of(plan.store())) + ": ", 0), 0u) << plan.reason();
    return plan.reason();
  };
  EXPECT_EQ(choice({}), "store compact: the regions are not known in advance");
  EXPECT_EQ(choice({.regions = 100, .area = 1900000}),
            "store none: 100 regions cover 1.9 images; compact pays from 9.7");
  EXPECT_EQ(choice({.area = 5000000}), "store none: the regions cover 5 images; compact pays from 61");
  EXPECT_EQ(choice({.regions = 100, .area = 40000000}), "store compact: 100 regions cover 40 images; it pays from 38");
  EXPECT_EQ(choice({.regions = 1}), "store none: 1 region covers up to 1 image; compact pays from 61");
  EXPECT_EQ(choice({.regions = 100}), "store compact: 100 regions cover up to 100 images; it pays from 61");
  EXPECT_EQ(choice({.regions = 1000, .area = 1000}),
            "store none: 1000 regions cover 0.001 images; compact pays from 0.016");
  EXPECT_EQ(choice({.regions = 1, .masked = true}), "store none: 1 region covers up to 1 image; compact pays from 2");
  EXPECT_EQ(choice({.regions = 3, .masked = true}), "store compact: 3 regions cover up to 3 images; it pays from 2");
  // All other pixels are streamed.
  EXPECT_EQ(choice({.regions = 100, .area = 40000000}, Type::u16),
            "store none: 100 regions cover 40 images; compact pays from 67");
  EXPECT_EQ(choice({.regions = 201}, Type::f32), "store compact: 201 regions cover up to 201 images; it pays from 107");
  EXPECT_EQ(
      choice({.regions = 90, .area = 90000000, .memory_limit = 1000000}),
      "store none: a compact store takes 5255168 bytes, more than 0.9 of the 1000000 to spare; regions are counted "
      "from the image");
  EXPECT_EQ(choice({.weighted = true}).substr(0, 63),
            "store tensor: it holds weights, and the regions are not known; ");
  EXPECT_EQ(choice({.regions = 9, .weighted = true}),
            "store none: the regions are known, and weights are added from the image");
  EXPECT_EQ(choice({.store = Store::compact}), "store compact: requested");
  EXPECT_EQ(choice({}, Type::u8, {0, 0}), "store compact: the regions are not known in advance");
  EXPECT_EQ(choice({.regions = 1}, Type::u16, {0, 0}),
            "store none: 1 region covers up to 0 images; compact is read no faster than they are counted");
}

}  // namespace
}  // namespace areal
