// Quantiles, percentiles and counts below a value: from a rank store, from none and from the image, compared with
// sorted pixels.
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/areal.hpp>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include "histogram_oracle.hpp"
#include "random_regions.hpp"

namespace areal {
namespace {

using oracle::Guarded;

constexpr double infinity = std::numeric_limits<double>::infinity();
const Execution on_cpu{.backend = Backend::cpu, .threads = 2};

std::string refusal(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::vector<double> sorted(const ConstView& image, const Region& r, std::int64_t c = 0, std::int64_t n = 0) {
  std::vector<double> values;
  for (std::int64_t y = r.y; y < r.y + r.height; ++y)
    for (std::int64_t x = r.x; x < r.x + r.width; ++x)
      if (const double value = oracle::value_at(image, x, y, c, n); !std::isnan(value)) values.push_back(value + 0.0);
  std::sort(values.begin(), values.end());
  return values;
}

/// The definition of Hyndman and Fan, with places from 1 on: a value between places j and j + 1 of n.
double by_definition(QuantileMethod method, double q, const std::vector<double>& values) {
  if (values.empty()) return std::nan("");
  const auto n = static_cast<long double>(values.size());
  const auto place = [&](long double j) {
    return values[static_cast<std::size_t>(std::clamp<long double>(j, 1, n)) - 1];
  };
  const auto continuous = [&](long double m) {
    const long double at = n * static_cast<long double>(q) + m, j = std::floor(at);
    const double g = static_cast<double>(at - j), a = place(j), b = place(j + 1);
    return a == b || g == 0 ? a : a * (1 - g) + b * g;
  };
  const long double p = static_cast<long double>(q), at = n * p, whole = 1 + (n - 1) * p;
  switch (method) {
    case QuantileMethod::inverted_cdf:
      return place(std::ceil(at));
    case QuantileMethod::averaged_inverted_cdf: {
      const double a = place(std::ceil(at)), b = place(std::floor(at) + 1);
      return a == b ? a : (a + b) / 2;
    }
    case QuantileMethod::closest_observation: {
      const long double half = at - 0.5L, j = std::floor(half);
      return place(half == j && std::fmod(j, 2) == 0 ? j : j + 1);
    }
    case QuantileMethod::interpolated_inverted_cdf:
      return continuous(0);
    case QuantileMethod::hazen:
      return continuous(0.5L);
    case QuantileMethod::weibull:
      return continuous(p);
    case QuantileMethod::linear:
      return continuous(1 - p);
    case QuantileMethod::median_unbiased:
      return continuous((p + 1) / 3);
    case QuantileMethod::normal_unbiased:
      return continuous(p / 4 + 3 / 8.0L);
    case QuantileMethod::lower:
      return place(std::floor(whole));
    case QuantileMethod::higher:
      return place(std::ceil(whole));
    case QuantileMethod::midpoint: {
      const double a = place(std::floor(whole)), b = place(std::ceil(whole));
      return a == b ? a : (a + b) / 2;
    }
    case QuantileMethod::nearest: {
      const long double j = std::floor(whole), rest = whole - j;
      // From 0 on, the even place of two.
      return place(rest > 0.5L || (rest == 0.5L && std::fmod(j, 2) == 0) ? j + 1 : j);
    }
  }
  return 0;
}

std::vector<QuantileMethod> all_methods() {
  std::vector<QuantileMethod> methods;
  for (int i = 0; i <= static_cast<int>(QuantileMethod::nearest); ++i)
    methods.push_back(static_cast<QuantileMethod>(i));
  return methods;
}

bool alike(double a, double b, double tolerance = 0) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  constexpr double of_denormals = 1e-290;  // below, rounding is coarser
  return a == b || std::abs(a - b) <= tolerance * std::max({std::abs(a), std::abs(b), of_denormals});
}
bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

const std::vector<double> some_q{0.5, 0, 1, 0.25, 0.1, 0.999};
const std::vector<double> some_percents{50, 0, 100, 25, 99.9};
const std::vector<double> some_values{0, -0.0, 3, 3.5, -2.5, -1e300, 1e300, infinity, -infinity, std::nan("")};

/// The first answer of a store, or of the image, that is not the sorted pixels'.
template <class Source>
std::string difference(const Source& source, const ConstView& image, std::int64_t n, const std::vector<Region>& regions,
                       int threads = 2) {
  const QueryOptions options{.execution = {.threads = threads}};
  const auto channels = static_cast<std::size_t>(image.shape.channels);
  const auto linear = region_quantiles(source, regions, some_q, QuantileMethod::linear, options);
  const auto lower = region_quantiles(source, regions, some_q, QuantileMethod::lower, options);
  const auto percentiles = region_percentiles(source, regions, some_percents, options);
  const auto below = region_counts_below(source, regions, some_values, options);
  for (std::size_t i = 0; i < regions.size(); ++i)
    for (std::size_t c = 0; c < channels; ++c) {
      const auto expected = sorted(image, regions[i], static_cast<std::int64_t>(c), n);
      const auto where = [&](const char* what) {
        return std::string(what) + " of region " + std::to_string(i) + ", channel " + std::to_string(c);
      };
      for (std::size_t k = 0; k < some_q.size(); ++k) {
        const std::size_t at = (i * channels + c) * some_q.size() + k;
        if (!alike(linear[at], by_definition(QuantileMethod::linear, some_q[k], expected), 1e-12))
          return where("linear quantile");
        if (!alike(lower[at], by_definition(QuantileMethod::lower, some_q[k], expected)))
          return where("lower quantile");
      }
      for (std::size_t k = 0; k < some_percents.size(); ++k) {
        double value = std::nan("");
        if (!expected.empty())
          value = expected[std::min(
              expected.size() - 1,
              static_cast<std::size_t>(std::floor(static_cast<double>(expected.size()) * some_percents[k] / 100)))];
        const double got = percentiles[(i * channels + c) * some_percents.size() + k];
        if (!alike(got, value) || (got == 0 && std::signbit(got))) return where("percentile");
      }
      for (std::size_t k = 0; k < some_values.size(); ++k) {
        const auto count =
            std::count_if(expected.begin(), expected.end(), [&](double v) { return v < some_values[k]; });
        if (below[(i * channels + c) * some_values.size() + k] != static_cast<std::uint64_t>(count))
          return where("count below");
      }
    }
  return {};
}

TEST(RegionQuantile, TheCheckCatchesOneWrongPixel) {
  std::mt19937_64 random(1);
  const Guarded image({40, 30}, Type::u16, 0, 0), wrong({40, 30}, Type::u16, 0, 0);
  oracle::fill_random(image.view, random, 0, 60000);
  for (std::int64_t y = 0; y < 30; ++y) std::memcpy(wrong.view.row(y), image.view.row(y), 80);
  auto* const pixel = static_cast<std::uint16_t*>(wrong.view.row(17)) + 23;
  *pixel = static_cast<std::uint16_t>(*pixel ^ 1);
  const std::vector<Region> regions = {{23, 17, 1, 1}, {0, 0, 40, 30}};
  const HistogramStore rank = histogram_store(image.view, {.store = Store::rank}, on_cpu);
  EXPECT_EQ(difference(rank, image.view, 0, regions), "");
  EXPECT_NE(difference(rank, wrong.view, 0, regions), "");
  EXPECT_EQ(difference(ConstView(image.view), image.view, 0, regions), "");
  EXPECT_NE(difference(ConstView(image.view), wrong.view, 0, regions), "");
}

TEST(RegionQuantile, EveryTypeAndLayoutFromEachStore) {
  for (const Type type :
       {Type::u8, Type::s8, Type::u16, Type::s16, Type::f16, Type::u32, Type::s32, Type::f32, Type::f64})
    for (const Shape& shape : {Shape{67, 43, 1, 1}, Shape{19, 230, 3, 2}, Shape{30, 20, 2, 2, Layout::planar},
                               Shape{1, 90}, Shape{90, 1}, Shape{0, 5}, Shape{5, 0}, Shape{0, 0}}) {
      const auto seed = static_cast<std::uint64_t>(shape.width * 1000 + static_cast<int>(type));
      SCOPED_TRACE(std::string(name_of(type)) + " seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      const Guarded image(shape, type, 1, 3);
      const bool is_signed = is_signed_integer(type) || is_float(type);
      oracle::fill_random(image.view, random, is_signed ? -100 : 0, size_of(type) == 1 ? 100 : 300);
      const auto regions = random_regions(random, 28, shape.width, shape.height);
      const HistogramStore rank = histogram_store(image.view, {.store = Store::rank}, on_cpu);
      const HistogramStore none = histogram_store(image.view, {.store = Store::none}, on_cpu);
      EXPECT_EQ(rank.store(), Store::rank);
      EXPECT_EQ(none.bytes(), 0u);
      for (std::int64_t n = 0; n < shape.batch; ++n) {
        EXPECT_EQ(difference(rank.view(n), image.view, n, regions), "");
        EXPECT_EQ(difference(none.view(n), image.view, n, regions, 1), "");
        for (const QuantileMethod method : {QuantileMethod::linear, QuantileMethod::hazen, QuantileMethod::midpoint})
          EXPECT_TRUE(same_bits(region_quantiles(rank.view(n), regions, some_q, method, {.execution = {.threads = 1}}),
                                region_quantiles(none.view(n), regions, some_q, method)));
      }
      if (shape.batch == 1) {
        EXPECT_EQ(difference(ConstView(image.view), image.view, 0, regions), "");
      }
      EXPECT_EQ(image.touched(), -1);
    }
}

TEST(RegionQuantile, MethodsFollowTheirDefinitions) {
  std::mt19937_64 random(2);
  const Guarded image({50, 50}, Type::s16, 0, 0);
  oracle::fill_random(image.view, random, -3000, 3000);
  std::vector<Region> regions;
  for (std::int64_t n = 1; n <= 12; ++n) regions.push_back({n, n, n, 1});
  regions.push_back({3, 4, 31, 17});
  std::vector<double> q{0, 1};
  for (int k = 0; k <= 16; ++k) q.push_back(k / 16.0);  // exact places, and halves between them
  for (int k = 0; k < 20; ++k) q.push_back(static_cast<double>(random() % 10000) / 10000);
  const HistogramStore rank = histogram_store(image.view, {.store = Store::rank}, on_cpu);
  for (const QuantileMethod method : all_methods()) {
    const auto from_rank = region_quantiles(rank, regions, q, method);
    EXPECT_TRUE(same_bits(from_rank, region_quantiles(image.view, regions, q, method)));
    for (std::size_t i = 0; i < regions.size(); ++i) {
      const auto values = sorted(image.view, regions[i]);
      for (std::size_t k = 0; k < q.size(); ++k) {
        // A place that rounding moves across a pixel is python/tests' business, which have NumPy's arithmetic.
        const long double n = static_cast<long double>(values.size()) * 48 * static_cast<long double>(q[k]);
        if (k >= 19 && std::abs(n - std::round(n)) < 1e-6L) continue;
        EXPECT_TRUE(alike(from_rank[i * q.size() + k], by_definition(method, q[k], values), 1e-9))
            << name_of(method) << " " << q[k] << " of " << values.size() << ": " << from_rank[i * q.size() + k] << " "
            << by_definition(method, q[k], values) << " seed 2";
      }
    }
  }
}

template <class T>
void check_values(std::vector<T> pixels, std::int64_t width) {
  const auto height = static_cast<std::int64_t>(pixels.size()) / width;
  const ConstView image(pixels.data(), width, height);
  std::vector<Region> regions;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) regions.push_back({x, y, width - x, height - y});
  const HistogramStore rank = histogram_store(image, {.store = Store::rank}, on_cpu);
  EXPECT_EQ(difference(rank, image, 0, regions), "") << name_of(image.type);
  EXPECT_EQ(difference(image, image, 0, regions), "") << name_of(image.type);
}

TEST(RegionQuantile, LimitsOfTheTypes) {
  const auto limits = []<class T>(T) {
    using L = std::numeric_limits<T>;
    return std::vector<T>{L::lowest(), L::max(), T(0), T(1), L::max(), L::lowest(), T(5), T(0), T(3)};
  };
  check_values(limits(std::uint8_t{}), 3);
  check_values(limits(std::int8_t{}), 3);
  check_values(limits(std::uint16_t{}), 3);
  check_values(limits(std::int16_t{}), 3);
  check_values(limits(std::uint32_t{}), 3);
  check_values(limits(std::int32_t{}), 3);
  check_values(limits(float{}), 3);
  const auto reals = []<class T>(T) {
    using L = std::numeric_limits<T>;
    const T nan = L::quiet_NaN();
    return std::vector<T>{nan,
                          -nan,
                          -T(0),
                          T(0),
                          L::infinity(),
                          -L::infinity(),
                          L::denorm_min(),
                          -L::denorm_min(),
                          L::min(),
                          nan,
                          L::signaling_NaN(),
                          T(1),
                          -T(1),
                          L::infinity(),
                          L::infinity(),
                          -T(0)};
  };
  check_values(reals(float{}), 4);
  check_values(reals(double{}), 4);
  check_values(std::vector<float>(12, std::nanf("")), 4);
  check_values(std::vector<float>(12, -0.0f), 4);
}

// Infinities stay pixels: no difference of them is formed.
TEST(RegionQuantile, InfinitiesAreAnswers) {
  const std::vector<float> pixels{1, static_cast<float>(infinity), static_cast<float>(infinity),
                                  static_cast<float>(infinity)};
  const ConstView image(pixels.data(), 4, 1);
  const std::vector<double> q{0, 0.5, 1};
  EXPECT_EQ(region_quantiles(image, std::vector<Region>{{0, 0, 4, 1}}, q),
            (std::vector<double>{1, infinity, infinity}));
}

TEST(RegionQuantile, ManyRegionsAreAlikeFromBoth) {
  std::mt19937_64 random(3);
  const Guarded image({333, 222}, Type::f32, 0, 0);
  oracle::fill_random(image.view, random, -1000, 1000);
  const auto regions = random_regions(random, std::getenv("AREAL_TEST_SHORT") ? 300 : 3000, 333, 222);
  const HistogramStore rank = histogram_store(image.view, {.store = Store::rank}, on_cpu);
  EXPECT_TRUE(same_bits(region_quantiles(rank, regions, some_q), region_quantiles(image.view, regions, some_q)));
}

TEST(RegionQuantile, Bits) {
  std::mt19937_64 random(4);
  const Guarded image({130, 70}, Type::u16, 1, 1);
  oracle::fill_random(image.view, random, 0, 4095);
  const auto regions = random_regions(random, 28, 130, 70);
  const HistogramStore all = histogram_store(image.view, {.store = Store::rank}, on_cpu);
  const HistogramStore some = histogram_store(image.view, {.store = Store::rank, .bits = 12}, on_cpu);
  EXPECT_EQ(some.bytes() * 4, all.bytes() * 3);
  EXPECT_EQ(difference(some, image.view, 0, regions), "");
  static_cast<std::uint16_t*>(image.view.row(69))[129] = 4096;
  EXPECT_EQ(refusal([&] { histogram_store(image.view, {.store = Store::rank, .bits = 12}, on_cpu); }),
            "bits 12: the image has a pixel of 4096");
  EXPECT_EQ(difference(histogram_store(image.view, {.store = Store::rank, .bits = 13}, on_cpu), image.view, 0, regions),
            "");
  const Guarded flat({9, 9}, Type::u8, 0, 0);
  oracle::fill_random(flat.view, random, 0, 1);
  EXPECT_EQ(difference(histogram_store(flat.view, {.store = Store::rank, .bits = 1}, on_cpu), flat.view, 0,
                       random_regions(random, 28, 9, 9)),
            "");
}

TEST(RegionQuantile, InvalidRegionsAreReported) {
  const Guarded image({50, 40}, Type::u8, 0, 0);
  for (std::int64_t y = 0; y < 40; ++y) std::memset(image.view.row(y), 7, 50);
  const std::vector<Region> regions = {{1, 2, 3, 4}, {40, 30, 20, 20}, {0, 0, -1, 3}, {2, 2, 9, 9}, {5, 5, 0, 0}};
  const std::vector<double> half{0.5}, eight{8};
  for (const Store store : {Store::rank, Store::none}) {
    SCOPED_TRACE(name_of(store));
    const HistogramStore made = histogram_store(image.view, {.store = store}, on_cpu);
    for (const int threads : {1, 2}) {
      const std::string why = refusal(
          [&] { region_quantiles(made, regions, half, QuantileMethod::linear, {.execution = {.threads = threads}}); });
      EXPECT_NE(why.find("region 1"), std::string::npos) << why;
    }
    std::int64_t first = -7;
    QueryOptions options{.first_invalid = Span<std::int64_t>(&first, 1)};
    const auto medians = region_quantiles(made, regions, half, QuantileMethod::linear, options);
    EXPECT_EQ(first, 1);
    EXPECT_TRUE(medians[0] == 7 && std::isnan(medians[1]) && std::isnan(medians[2]) && medians[3] == 7 &&
                std::isnan(medians[4]));
    EXPECT_EQ(region_counts_below(made, regions, eight, options), (std::vector<std::uint64_t>{12, 0, 0, 81, 0}));
    options.outside = Outside::clip;
    EXPECT_EQ(region_counts_below(made, regions, eight, options), (std::vector<std::uint64_t>{12, 100, 0, 81, 0}));
    EXPECT_EQ(first, 2);
    EXPECT_TRUE(region_quantiles(made, Span<const Region>(), half).empty());
    EXPECT_TRUE(region_quantiles(made, std::vector<Region>{{0, 0, 1, 1}}, Span<const double>()).empty());
  }
}

// Frames: built anew in the same memory.
TEST(RegionQuantile, IsBuiltAnewInItsMemory) {
  std::mt19937_64 random(5);
  const StorePlan plan({80, 70}, Type::f32, {.store = Store::rank}, on_cpu);
  HistogramStore made;
  const void* first = nullptr;
  for (int frame = 0; frame < 3; ++frame) {
    const Guarded image({80, 70}, Type::f32, 0, 4 * frame);
    oracle::fill_random(image.view, random, 0, 255, frame != 1);  // the second one without NaN
    plan.build({image.view}, made);
    EXPECT_EQ(difference(made, image.view, 0, random_regions(random, 18, 80, 70)), "") << "seed 5";
    if (frame > 0) {
      EXPECT_EQ(made.data().data(), first);
    }
    first = made.data().data();
  }
  EXPECT_EQ(made.bytes(), plan.bytes());
  EXPECT_EQ(made.data().size(), plan.bytes());
}

TEST(RegionQuantile, RefusesInOneSentence) {
  const Guarded image({30, 20}, Type::u8, 0, 0), batch({30, 20, 1, 2}, Type::u8, 0, 0);
  const auto plan = [&](StoreOptions options, Type type = Type::u8, Shape shape = {30, 20},
                        Execution execution = on_cpu) {
    return refusal([&] { StorePlan(shape, type, options, execution); });
  };
  EXPECT_EQ(plan({.store = Store::compact}), "store compact: it counts bins; give a binning, or choose none or rank");
  EXPECT_EQ(plan({.store = Store::tensor}), "store tensor: it counts bins; give a binning, or choose none or rank");
  EXPECT_EQ(plan({.weighted = true}), "a store without a binning: it takes no weights and no mask");
  EXPECT_EQ(plan({.masked = true}), "a store without a binning: it takes no weights and no mask");
  EXPECT_EQ(plan({.block = 32}), "block 32: it is the store compact's, which needs a binning");
  EXPECT_EQ(plan({.regions = -2}), "regions -2: it may be -1 (unknown), 0 or more");
  EXPECT_EQ(plan({.area = -2}), "area -2: it may be -1 (unknown), 0 or more");
  EXPECT_EQ(plan({.bits = 9}), "bits 9: of 8u they may be 1 to 8, or 0 for all of them");
  EXPECT_EQ(plan({.bits = 9}, Type::s16), "bits 9: only of unsigned integers, not of 16s");
  EXPECT_EQ(plan({.bits = 9}, Type::f32), "bits 9: only of unsigned integers, not of 32f");
  EXPECT_EQ(plan({}, Type::u64), "image of 64u: quantiles are doubles, which do not hold all integers of 64 bits");
  EXPECT_EQ(plan({}, Type::s64), "image of 64s: quantiles are doubles, which do not hold all integers of 64 bits");
  EXPECT_EQ(plan({.store = Store::rank}, Type::u8, {65536, 65536}),
            "store rank of 65536x65536: it takes images of less than 2^32 pixels; choose none");
  EXPECT_EQ(plan({.store = Store::none}, Type::u8, {65536, 65536}), "");
  EXPECT_EQ(refusal([&] {
              StorePlan({30, 20}, Type::u8, Binning::labels(3), {.store = Store::rank}, on_cpu);
            }),
            "store rank: it orders values and takes no bins; make it without a binning");
  EXPECT_EQ(refusal([&] {
              StorePlan({30, 20}, Type::u8, Binning::labels(3), {.bits = 4}, on_cpu);
            }),
            "bits 4: they are the store rank's, which takes no bins");

  const StorePlan small({30, 20}, Type::u8, {.store = Store::rank, .memory_limit = 1000}, on_cpu);
  EXPECT_NE(refusal([&] { small.build({image.view}); })
                .find("a rank store of 30x20 and 8 bits takes " + std::to_string(small.bytes()) +
                      " bytes, more than the 1000 bytes of memory_limit"),
            std::string::npos);
  EXPECT_EQ(refusal([&] { small.binning(); }), "store rank: it was planned without a binning");
  EXPECT_NE(refusal([&] { small.build({image.view.in({MemoryPlace::cuda, 0})}); }), "");
  EXPECT_NE(refusal([&] { small.build({.image = image.view, .weights = image.view}); }), "");

  const std::vector<Region> one{{0, 0, 3, 3}};
  const std::vector<double> half{0.5};
  const HistogramStore rank = histogram_store(image.view, {.store = Store::rank}, on_cpu);
  EXPECT_EQ(rank.view().bins(), 0);
  EXPECT_EQ(refusal([&] { rank.binning(); }), "store rank: it was made without a binning");
  EXPECT_EQ(refusal([&] { region_histograms(rank, one); }),
            "store rank: it was made without a binning and has no histograms, only values");
  const HistogramStore none = histogram_store(image.view, {.store = Store::none}, on_cpu);
  EXPECT_EQ(refusal([&] { region_histograms(none, one); }),
            "store none: it was made without a binning and has no histograms, only values");
  for (const Store store : {Store::compact, Store::tensor}) {
    const HistogramStore counts = histogram_store(image.view, Binning::labels(3), {.store = store}, on_cpu);
    EXPECT_EQ(refusal([&] { region_quantiles(counts, one, half); }),
              "store " + std::string(name_of(store)) +
                  ": it counts bins and does not have the values; make a store without a binning, or take the image");
  }
  for (const double q : {-0.1, 1.1, std::nan(""), infinity})
    EXPECT_NE(refusal([&] { region_quantiles(rank, one, std::vector<double>{q}); }).find(": it may be 0 to 1"),
              std::string::npos);
  for (const double percent : {-0.1, 100.1, std::nan("")})
    EXPECT_NE(
        refusal([&] { region_percentiles(rank, one, std::vector<double>{percent}); }).find(": it may be 0 to 100"),
        std::string::npos);
  std::vector<double> few(2);
  EXPECT_EQ(refusal([&] { region_quantiles(rank, one, half, few); }),
            "out has 2 elements; 1 regions, 1 channels and 1 answers each need 1");
  EXPECT_EQ(refusal([&] { region_quantiles(batch.view, one, half); }),
            "image: a batch of 2; one image at a time, or a store");
}

TEST(RegionQuantile, AutomaticSaysWhatAndWhy) {
  const auto choice = [](StoreOptions options, const Shape& shape = {1000, 1000}) {
    const StorePlan plan(shape, Type::u16, options, on_cpu);
    EXPECT_EQ(plan.reason().rfind("store " + std::string(name_of(plan.store())) + ": ", 0), 0u) << plan.reason();
    return plan.reason();
  };
  EXPECT_EQ(choice({}), "store rank: the regions are not known in advance");
  EXPECT_EQ(choice({.regions = 100, .area = 1900000}), "store none: 100 regions cover 1.9 images; rank pays from 37");
  EXPECT_EQ(choice({.area = 60000000}), "store rank: the regions cover 60 images; it pays from 37");
  EXPECT_EQ(choice({.regions = 51}), "store rank: 51 regions cover up to 51 images; it pays from 37");
  EXPECT_EQ(choice({.store = Store::rank}), "store rank: requested");
  EXPECT_EQ(choice({.memory_limit = 1000}).substr(0, 31), "store none: a rank store takes ");
}

TEST(RegionQuantile, NamesOfMethods) {
  for (const QuantileMethod method : all_methods()) EXPECT_EQ(quantile_method_named(name_of(method)), method);
  EXPECT_EQ(name_of(QuantileMethod::averaged_inverted_cdf), "averaged_inverted_cdf");
  EXPECT_FALSE(quantile_method_named("median"));
}

}  // namespace
}  // namespace areal
