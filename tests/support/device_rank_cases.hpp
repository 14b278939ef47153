#pragma once
// Tests of rank stores built and read on a device, for any machine: their bytes and answers against those of the CPU,
// which histogram_rank_test and region_quantile_test compare with sorted pixels. See device_answers.hpp for a Bed.

#include <areal/histogram_store.hpp>
#include <areal/region_quantile.hpp>
#include <bit>
#include <cmath>
#include <limits>
#include "device_count_cases.hpp"
#include "device_store_bytes.hpp"

namespace areal::device_cases {

inline StoreOptions rank_options(int bits = 0) {
  StoreOptions options;
  options.store = Store::rank;
  options.bits = bits;
  return options;
}

inline const std::vector<double> rank_quantiles{0.5, 0, 1, 0.25, 0.1, 0.999};
inline const std::vector<double> rank_percents{50, 0, 100, 25, 99.9};
inline const std::vector<double> rank_values{0,
                                             -0.0,
                                             3,
                                             3.5,
                                             -2.5,
                                             90,
                                             300,
                                             40000,
                                             -1e300,
                                             1e300,
                                             std::numeric_limits<double>::infinity(),
                                             -std::numeric_limits<double>::infinity(),
                                             std::numeric_limits<double>::quiet_NaN()};

/// The first answer that differs by a bit, as a sentence.
template <class T>
std::string first_difference(const char* what, const std::vector<T>& got, const std::vector<T>& want) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (std::bit_cast<std::uint64_t>(got[i]) != std::bit_cast<std::uint64_t>(want[i]))
      return std::string(what) + " " + std::to_string(i) + " is " + std::to_string(got[i]) + ", not " +
             std::to_string(want[i]);
  return {};
}

/// Compares the answers of two stores of an image about the same regions.
template <class Bed>
std::string rank_answers_fault(const StoreView& store, const StoreView& expected, const std::vector<Region>& regions,
                               std::int64_t channels, const std::vector<QuantileMethod>& methods) {
  const Execution on_cpu{.backend = Backend::cpu};
  const std::size_t each = regions.size() * static_cast<std::size_t>(channels);
  for (const QuantileMethod method : methods) {
    Bed bed;
    std::vector<double> answers(each * rank_quantiles.size(), 77);
    region_quantiles(store, bed.in(regions), rank_quantiles, bed.out(answers), method, {.execution = bed.on});
    bed.back();
    if (const auto fault = first_difference(
            "quantile", answers, region_quantiles(expected, regions, rank_quantiles, method, {.execution = on_cpu}));
        !fault.empty())
      return fault + ", " + std::string(name_of(method));
  }
  Bed bed;
  const auto there = bed.in(regions);
  std::vector<double> percentiles(each * rank_percents.size(), 77);
  std::vector<std::uint64_t> below(each * rank_values.size(), 77);
  region_percentiles(store, there, rank_percents, bed.out(percentiles), {.execution = bed.on});
  region_counts_below(store, there, rank_values, bed.out(below), {.execution = bed.on});
  bed.back();
  if (const auto fault = first_difference("percentile", percentiles,
                                          region_percentiles(expected, regions, rank_percents, {.execution = on_cpu}));
      !fault.empty())
    return fault;
  return first_difference("count", below, region_counts_below(expected, regions, rank_values, {.execution = on_cpu}));
}

/// What is wrong with a store of the image and with its answers, a sentence; empty if nothing is.
template <class Bed>
std::string rank_fault(Padded& image, std::size_t regions, int bits = 0,
                       const std::vector<QuantileMethod>& methods = {QuantileMethod::linear}) {
  const Shape& shape = image.view().shape;
  Bed bed;
  const HistogramStore store = histogram_store(bed.in(image), rank_options(bits), bed.on);
  const HistogramStore expected = histogram_store(ConstView(image.view()), rank_options(bits));
  bed.back();
  const auto got = bytes_of_store(store), want = bytes_of_store(expected);
  if (got.size() != want.size()) return "it has " + std::to_string(got.size()) + " bytes";
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != want[i]) return "byte " + std::to_string(i) + " of " + std::to_string(got.size()) + " differs";
  for (std::int64_t n = 0; n < shape.batch; ++n) {
    const std::vector<Region> all = regions_of(shape.width, shape.height, regions, 160 + static_cast<std::uint64_t>(n));
    if (const auto fault = rank_answers_fault<Bed>(store.view(n), expected.view(n), all, shape.channels, methods);
        !fault.empty())
      return fault;
  }
  if (!image.guards_stand()) return "the image's guards fell";
  return {};
}

template <class Bed>
void a_wrong_pixel_of_a_rank_store_is_caught() {
  Padded image = random_pixels(Type::u16, {40, 30}, 0, 60000, 161);
  ASSERT_EQ(rank_fault<Bed>(image, 12), "") << "seeds 160, 161";
  const HistogramStore expected = histogram_store(ConstView(image.view()), rank_options());
  const std::vector<Region> pixel{{39, 29, 1, 1}};
  auto* const last = static_cast<char*>(image.view().row(29)) + 39 * 2;
  *last = static_cast<char>(*last ^ 1);
  Bed bed;
  const HistogramStore store = histogram_store(bed.in(image), rank_options(), bed.on);
  bed.back();
  EXPECT_NE(bytes_of_store(store), bytes_of_store(expected));
  EXPECT_NE(rank_answers_fault<Bed>(store, expected, pixel, 1, {QuantileMethod::linear}), "");
}

/// Sides around words, lines of 224 positions, panels of 4^j columns and tiles of 2048 and 16384 keys, of which the
/// last panels of the largest images have several; batches, pitches.
template <class Bed>
void rank_stores_of_every_side(bool all) {
  int turn = 0;
  for (const std::int64_t width : {0, 1, 3, 4, 5, 14, 16, 17, 63, 64, 65})
    for (const std::int64_t height : {0, 1, 2, 31, 32, 33, 56, 128, 223, 225, 449}) {
      ++turn;
      if (!all && turn % 7 != 0) continue;
      Padded image = random_pixels(Type::u8, {width, height, 1, 1 + turn % 2}, 0, 255, 162,
                                   turn % 2 == 0 ? oracle::aligned : oracle::misaligned);
      ASSERT_EQ(rank_fault<Bed>(image, all ? 12 : 8), "") << width << "x" << height << ", seeds 160 to 162";
    }
  for (const auto& [width, height] : {std::pair{257, 64}, {130, 150}, {256, 64}, {65, 600}, {3, 16385}, {20000, 2}}) {
    if (!all && width * height > 20000) continue;
    Padded image = random_pixels(Type::u8, {width, height}, 0, 255, 163);
    ASSERT_EQ(rank_fault<Bed>(image, 8), "") << width << "x" << height << ", seeds 160, 163";
  }
}

/// Every type; NaN, infinities and both zeros among the floats; channels of both layouts; every number of planes in a
/// pass.
template <class Bed>
void rank_stores_of_every_type(bool all) {
  for (const Type type :
       {Type::u8, Type::s8, Type::u16, Type::s16, Type::f16, Type::u32, Type::s32, Type::f32, Type::f64}) {
    const bool has_sign = is_signed_integer(type) || is_float(type);
    const int most = size_of(type) == 1 ? 100 : 300;
    for (const Shape& shape : {Shape{37, 41, 2, 2}, Shape{19, 23, 3, 1, Layout::planar}, Shape{70, 300}}) {
      if (!all && shape.channels == 1 && type != Type::s16) continue;  // wide panels
      if (!all && shape.channels == 2 && size_of(type) > 2) continue;
      Padded image = random_pixels(type, shape, has_sign ? -most : 0, most, 164,
                                   shape.channels == 2 ? oracle::misaligned : oracle::aligned);
      ASSERT_EQ(rank_fault<Bed>(image, 8), "") << name_of(type) << " " << shape.width << ", seeds 160, 164";
    }
  }
  for (const int bits : {1, 2, 3, 5, 10, 12}) {
    if (!all && bits != 3) continue;
    Padded image = random_pixels(Type::u16, {70, 300}, 0, (1 << bits) - 1, 165);
    ASSERT_EQ(rank_fault<Bed>(image, 8, bits), "") << bits << " bits, seeds 160, 165";
  }
  for (const int value : {0, 65535}) {
    if (!all && value == 0) continue;
    Padded image = random_pixels(Type::u16, {70, 300}, value, value, 166);
    ASSERT_EQ(rank_fault<Bed>(image, 8), "") << value << ", seeds 160, 166";
  }
}

template <class Bed>
void rank_stores_answer_every_method() {
  std::vector<QuantileMethod> methods;
  for (int i = 0; i <= static_cast<int>(QuantileMethod::nearest); ++i)
    methods.push_back(static_cast<QuantileMethod>(i));
  for (const Type type : {Type::s16, Type::f32}) {
    Padded image = random_pixels(type, {30, 25}, -3000, 3000, 167);
    ASSERT_EQ(rank_fault<Bed>(image, 12, 0, methods), "") << name_of(type) << ", seeds 160, 167";
  }
}

/// Regions beyond the image are refused, reported or clipped; more numbers than a launch has; host memory.
template <class Bed>
void rank_regions_outside_are_refused_or_clipped() {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  Padded image = random_pixels(Type::u8, {60, 40}, 0, 255, 168);
  std::vector<Region> regions = regions_of(60, 40, 14, 169);
  const auto inside = static_cast<std::int64_t>(regions.size());
  for (const Region& r : {Region{-3, -2, 5, 5}, Region{58, 1, 9, 2}, Region{1, 0, most, 1}, Region{0, 0, -1, 3}})
    regions.push_back(r);
  std::vector<double> quantiles;
  for (int i = 0; i < 70; ++i) quantiles.push_back(i / 69.0);
  const HistogramStore expected = histogram_store(ConstView(image.view()), rank_options());
  for (const Outside outside : {Outside::error, Outside::clip}) {
    Bed bed;
    const HistogramStore store = histogram_store(bed.in(image), rank_options(), bed.on);
    std::vector<double> answers(regions.size() * quantiles.size(), 77), want(answers.size(), 77);
    std::vector<std::uint64_t> below(regions.size() * 2, 77), want_below(below.size(), 77);
    std::vector<std::int64_t> first{77}, want_first{77};
    const std::vector<double> values{100, 1e9};
    const auto there = bed.in(regions);
    region_quantiles(store, there, quantiles, bed.out(answers), QuantileMethod::linear,
                     {outside, bed.on, bed.out(first)});
    region_counts_below(store, there, values, bed.out(below), {outside, bed.on, bed.out(first)});
    bed.back();
    region_quantiles(expected, regions, quantiles, want, QuantileMethod::linear, {outside, {}, want_first});
    region_counts_below(expected, regions, values, want_below, {outside, {}, want_first});
    EXPECT_EQ(first_difference("quantile", answers, want), "") << "seeds 168, 169";
    EXPECT_EQ(first_difference("count", below, want_below), "") << "seeds 168, 169";
    EXPECT_EQ(first, want_first);
    EXPECT_EQ(first[0], outside == Outside::error ? inside : inside + 3);
    if (outside == Outside::error) {
      EXPECT_THROW(region_quantiles(store, regions, quantiles), InvalidArgument);
    }
    EXPECT_TRUE(region_quantiles(store, std::vector<Region>(), quantiles).empty());
    const std::vector<Region> some(regions.begin(), regions.begin() + inside);
    EXPECT_EQ(first_difference("quantile", region_quantiles(store, some, quantiles),
                               region_quantiles(expected, some, quantiles)),
              "");
  }
}

/// One store serves frame after frame; a pixel beyond the bits is refused; an image answers without a store.
template <class Bed>
void a_rank_store_is_built_anew() {
  Bed bed;
  const StorePlan plan({100, 70}, Type::u16, rank_options(9), bed.on);
  EXPECT_EQ(plan.store(), Store::rank);
  HistogramStore store;
  for (std::uint64_t frame = 0; frame < 3; ++frame) {
    Padded image = random_pixels(Type::u16, {100, 70}, 0, 511, 170 + frame);
    plan.build({bed.in(image)}, store);
    bed.back();
    EXPECT_EQ(store.bytes(), plan.bytes());
    const HistogramStore expected = histogram_store(ConstView(image.view()), rank_options(9));
    EXPECT_EQ(bytes_of_store(store), bytes_of_store(expected)) << "seed " << 170 + frame;
  }
  Padded image = random_pixels(Type::u16, {100, 70}, 0, 511, 173);
  *reinterpret_cast<std::uint16_t*>(static_cast<char*>(image.view().row(69)) + 99 * 2) = 512;
  const ConstView there = bed.in(image);
  try {
    plan.build({there}, store);
    FAIL() << "it takes a pixel of 512";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "bits 9: the image has a pixel of 512");
  }
  const std::vector<Region> regions = regions_of(100, 70, 12, 174);
  EXPECT_EQ(
      first_difference("quantile",
                       region_quantiles(there, regions, rank_quantiles, QuantileMethod::linear, {.execution = bed.on}),
                       region_quantiles(ConstView(image.view()), regions, rank_quantiles)),
      "")
      << "seeds 173, 174";
}

template <class Bed>
void automatic_takes_a_rank_store() {
  Bed bed;
  const StorePlan plan({100, 70}, Type::u16, StoreOptions{.regions = 1, .area = 9}, bed.on);
  EXPECT_EQ(plan.reason(), "store rank: on a GPU it alone answers quantiles");
  EXPECT_THROW(StorePlan({100, 70}, Type::u16, StoreOptions{.store = Store::none}, bed.on), Unavailable);
  EXPECT_THROW(StorePlan({std::int64_t{1} << 30, 1, 2, 1}, Type::u8, rank_options(), bed.on), Unavailable);
}

}  // namespace areal::device_cases
