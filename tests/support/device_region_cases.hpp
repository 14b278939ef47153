#pragma once
// Tests of queries of tables in device memory, for any machine: the image's own sums and counts, and the CPU's bits. A
// Bed puts memory of the test on its machine: in(vector or Padded), out(vector or Padded), back(), and `on`, the
// Execution.

#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/histogram_measures.hpp>
#include <areal/region.hpp>
#include <areal/region_histogram.hpp>
#include <areal/window.hpp>
#include <bit>
#include <cmath>
#include <cstring>
#include "region_oracle.hpp"

namespace areal::device_cases {

using oracle::Image;
using oracle::Padded;
using oracle::Table;

inline constexpr Border borders[] = {Border::zero, Border::none, Border::exclusive};
inline constexpr Distance measures[] = {
    Distance::l1,           Distance::l2,  Distance::chi_square,        Distance::hellinger,
    Distance::intersection, Distance::emd, Distance::kolmogorov_smirnov};

/// NaN of any payload equals itself, and nothing else.
inline bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}
template <class T>
std::size_t differences(const std::vector<T>& a, const std::vector<T>& b) {
  std::size_t wrong = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) wrong += !same(a[i], b[i]);
  return wrong;
}

template <class T>
using Answer = std::conditional_t<std::is_floating_point_v<T>, double,
                                  std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

/// Integers small enough that tables of floats are exact, too.
template <class T>
Image<T> small_image(std::int64_t width, std::int64_t height, std::uint64_t seed = 11) {
  return oracle::random_image<T>(width, height, std::is_unsigned_v<T> ? 0 : -40, 90, seed);
}

inline std::vector<Region> answerable(std::int64_t width, std::int64_t height, Border border, std::uint64_t seed) {
  std::vector<Region> all;
  for (const Region& r : oracle::regions_inside(width, height, seed))
    if (r.x >= 0 && r.y >= 0 && r.x + r.width <= width && r.y + r.height <= height &&
        (border != Border::exclusive || !oracle::touches_last(r, width, height)))
      all.push_back(r);
  return all;
}

template <class Out, class Bed>
std::vector<Out> sums(const TableView& table, Padded& memory, const std::vector<Region>& regions,
                      Outside outside = Outside::error, std::int64_t* first_invalid = nullptr) {
  Bed bed;
  std::vector<Out> out(regions.size(), Out{77});
  std::vector<std::int64_t> flag{77};
  region_sums({bed.in(memory), table.border}, bed.in(regions), bed.out(out),
              {outside, bed.on, first_invalid ? bed.out(flag) : Span<std::int64_t>()});
  bed.back();
  if (first_invalid) *first_invalid = flag[0];
  return out;
}

/// The number of sums that differ from the image's.
template <class T, class Bed>
std::size_t wrong_sums(Table<T>& table, const Image<T>& image, const std::vector<Region>& regions) {
  const auto got = sums<Answer<T>, Bed>(table.view(), table.memory(), regions);
  const auto reals = sums<double, Bed>(table.view(), table.memory(), regions);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Region& r = regions[i];
    const auto want = static_cast<Answer<T>>(oracle::sum<T>(image, r.x, r.y, r.width, r.height, oracle::identity));
    wrong += got[i] != want || reals[i] != static_cast<double>(want);
  }
  return wrong;
}

template <class T, class Bed>
void a_flipped_element_is_caught() {
  const auto image = small_image<T>(9, 7);
  Table<T> table(image, Border::zero);
  ASSERT_EQ((wrong_sums<T, Bed>(table, image, {{2, 1, 4, 3}})), 0u);
  table.memory().set(static_cast<T>(table.memory().template get<T>(6, 4) + 1), 6, 4);
  EXPECT_EQ((wrong_sums<T, Bed>(table, image, {{2, 1, 4, 3}})), 1u);
}

template <class T, class Bed>
void sums_of_every_border_and_shape() {
  for (const Border border : borders)
    for (const auto& [width, height] :
         std::vector<std::pair<int, int>>{{0, 0}, {0, 3}, {1, 1}, {1, 9}, {13, 1}, {67, 23}}) {
      SCOPED_TRACE(testing::Message() << name_of(border) << " " << width << "x" << height << " seed 5");
      const auto image = small_image<T>(width, height);
      Table<T> table(image, border);
      EXPECT_EQ((wrong_sums<T, Bed>(table, image, answerable(width, height, border, 5))), 0u);
    }
}

template <class Bed>
void wrapped_tables_are_exact() {
  const auto image = oracle::random_image<std::uint32_t>(30, 30, 4e8, 4.7e8, 21);
  const auto negative = oracle::random_image<std::int32_t>(30, 30, -2.3e8, -2e8, 22);
  Table<std::uint32_t> table(image, Border::zero);
  Table<std::int32_t> negative_table(negative, Border::none);
  std::vector<Region> regions;
  for (std::int64_t y = 0; y <= 27; y += 3)
    for (std::int64_t x = 0; x <= 27; ++x) regions.push_back({x, y, 3, 3});
  EXPECT_EQ((wrong_sums<std::uint32_t, Bed>(table, image, regions)), 0u);
  EXPECT_EQ((wrong_sums<std::int32_t, Bed>(negative_table, negative, regions)), 0u);
}

/// The CPU refuses some of these and clips others.
inline std::vector<Region> wild_regions(std::int64_t width, std::int64_t height, std::uint64_t seed) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::vector<Region> all = oracle::regions_inside(width, height, seed);
  all.resize(77);
  for (const Region& r : {Region{-3, -2, 5, 5}, Region{width - 2, 1, 9, 2}, Region{1, 0, most, 1},
                          Region{0, 1, 1, most}, Region{most, most, most, most}, Region{-most - 1, -most - 1, most, 4},
                          Region{2, 2, -1, 3}, Region{2, 2, 3, -most - 1}, Region{-most, 0, -most, 0}}) {
    all.push_back(r);
    all.push_back({1, 1, 2, 2});
  }
  return all;
}

/// Refused exactly where the CPU throws; the others equal the CPU's.
template <class Bed>
void outside_is_refused_or_clipped() {
  const auto image = small_image<std::int32_t>(17, 11);
  for (const Border border : borders)
    for (const Outside outside : {Outside::error, Outside::clip}) {
      SCOPED_TRACE(testing::Message() << name_of(border) << (outside == Outside::clip ? " clip" : " error")
                                      << " seed 9");
      Table<std::int32_t> table(image, border);
      const std::vector<Region> regions = wild_regions(17, 11, 9);
      std::int64_t first_invalid = 77, first = -1;
      const auto got = sums<std::int64_t, Bed>(table.view(), table.memory(), regions, outside, &first_invalid);
      const auto reals = sums<double, Bed>(table.view(), table.memory(), regions, outside, &first_invalid);
      for (std::size_t i = 0; i < regions.size(); ++i) {
        std::int64_t want = 0;
        bool answers = true;
        try {
          region_sums(table.view(), std::span(&regions[i], 1), std::span(&want, 1), {.outside = outside});
        } catch (const InvalidArgument&) {
          answers = false;
          if (first < 0) first = static_cast<std::int64_t>(i);
        }
        EXPECT_EQ(got[i], want) << i;
        EXPECT_TRUE(answers ? reals[i] == static_cast<double>(want) : std::isnan(reals[i])) << i;
      }
      EXPECT_GE(first, 0);
      EXPECT_EQ(first_invalid, first);
    }
}

template <class Bed>
void none_refused_and_no_regions() {
  const auto image = small_image<std::uint32_t>(7, 5);
  Table<std::uint32_t> table(image, Border::zero);
  std::int64_t first_invalid = 77;
  sums<std::uint64_t, Bed>(table.view(), table.memory(), {{0, 0, 7, 5}}, Outside::error, &first_invalid);
  EXPECT_EQ(first_invalid, -1);
  first_invalid = 77;
  sums<std::uint64_t, Bed>(table.view(), table.memory(), {}, Outside::error, &first_invalid);
  EXPECT_EQ(first_invalid, -1);
  // Far apart, so that several blocks report.
  std::vector<Region> regions(3000, Region{1, 1, 2, 2});
  regions[2900] = regions[1733] = regions[2048] = {6, 0, 2, 2};
  sums<std::uint64_t, Bed>(table.view(), table.memory(), regions, Outside::error, &first_invalid);
  EXPECT_EQ(first_invalid, 1733);
}

/// Means, variances and standard deviations of pixels P from tables of S and Q, with and without a table of counts.
template <class P, class S, class Q, class Bed>
void statistics_of_regions(double lo, double hi) {
  const auto image = oracle::random_image<P>(25, 19, lo, hi, 31);
  const auto valid = oracle::random_image<std::uint32_t>(25, 19, 0, 1, 8);
  const auto square = [](P p) { return static_cast<oracle::Wide<Q>>(p) * static_cast<oracle::Wide<Q>>(p); };
  for (const Border border : borders) {
    SCOPED_TRACE(testing::Message() << name_of(border) << " seeds 31, 8, 32");
    Table<S> sum(image, border);
    Table<Q> squares(image, border, square);
    Table<std::uint32_t> count(valid, Border::none);
    const std::vector<Region> regions = answerable(25, 19, border, 32);
    for (const bool counted : {false, true}) {
      Bed bed;
      SatView there({bed.in(sum.memory()), border}, TableView(bed.in(squares.memory()), border)),
          here(sum.view(), squares.view());
      if (counted) there.count = TableView(bed.in(count.memory()), Border::none), here.count = count.view();
      const auto on_device = bed.in(regions);
      std::vector<double> mean(regions.size()), variance(mean), deviation(mean), want(mean);
      const QueryOptions options{.execution = bed.on};
      region_means(there, on_device, bed.out(mean), options);
      region_variances(there, on_device, bed.out(variance), options);
      region_standard_deviations(there, on_device, bed.out(deviation), options);
      bed.back();
      region_means(here, regions, want);
      EXPECT_EQ(differences(mean, want), 0u);
      region_variances(here, regions, want);
      EXPECT_EQ(differences(variance, want), 0u);
      region_standard_deviations(here, regions, want);
      EXPECT_EQ(differences(deviation, want), 0u);
      if (counted) continue;
      for (std::size_t i = 0; i < regions.size(); ++i) {  // by definition
        const Region& r = regions[i];
        const auto pixels = static_cast<long double>(r.width * r.height);
        if (pixels == 0) {
          EXPECT_TRUE(std::isnan(mean[i]) && std::isnan(variance[i])) << i;
          continue;
        }
        long double average = 0, spread = 0;
        for (std::int64_t y = r.y; y < r.y + r.height; ++y)
          for (std::int64_t x = r.x; x < r.x + r.width; ++x)
            average += static_cast<long double>(image.at(x, y)) / pixels;
        for (std::int64_t y = r.y; y < r.y + r.height; ++y)
          for (std::int64_t x = r.x; x < r.x + r.width; ++x)
            spread += (static_cast<long double>(image.at(x, y)) - average) *
                      (static_cast<long double>(image.at(x, y)) - average);
        const double tolerance = (std::is_floating_point_v<S> ? 1e-7 : 1e-12) * (hi * hi + 1);
        EXPECT_NEAR(mean[i], static_cast<double>(average), tolerance) << i;
        EXPECT_NEAR(variance[i], static_cast<double>(spread / pixels), tolerance) << i;
      }
    }
  }
}

/// The pixel's value is its bin; values of `bins` and more are in none.
template <class T>
Padded tensor_of(const Image<std::uint8_t>& image, std::int64_t bins, Border border, double weight = 1) {
  Shape shape = oracle::table_shape(image.width, image.height, border);
  shape.channels = bins;
  shape.layout = Layout::planar;
  Padded tensor(type_of<T>, shape);
  for (std::int64_t b = 0; b < bins; ++b)
    oracle::fill_table<T>(tensor, b, image, border, [&](int p) { return p == b ? weight : 0; });
  return tensor;
}
inline std::vector<double> counted(const Image<std::uint8_t>& image, std::int64_t bins, const Region& r,
                                   double weight = 1) {
  std::vector<double> counts(static_cast<std::size_t>(bins));
  for (std::int64_t y = r.y; y < r.y + r.height; ++y)
    for (std::int64_t x = r.x; x < r.x + r.width; ++x)
      if (image.at(x, y) < bins) counts[image.at(x, y)] += weight;
  return counts;
}

template <class Out, class T, class Bed>
void histograms_of(std::int64_t bins, Border border, double weight = 1) {
  SCOPED_TRACE(testing::Message() << bins << " bins, " << name_of(border) << ", seeds 2, 3");
  const auto image = oracle::random_image<std::uint8_t>(23, 14, 0, static_cast<double>(bins), 2);
  Padded tensor = tensor_of<T>(image, bins, border, weight);
  std::vector<Region> regions = answerable(23, 14, border, 3);
  regions.resize(std::min<std::size_t>(regions.size(), 60));
  Bed bed;
  std::vector<Out> got(regions.size() * static_cast<std::size_t>(bins), Out{77});
  region_histograms({bed.in(tensor), border}, bed.in(regions), bed.out(got), {.execution = bed.on});
  bed.back();
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const auto want = counted(image, bins, regions[i], weight);
    for (std::size_t b = 0; b < want.size(); ++b)
      EXPECT_EQ(static_cast<double>(got[i * want.size() + b]), want[b]) << "region " << i << " bin " << b;
  }
}
template <class Bed>
void histograms_of_every_counter_and_border() {
  for (const Border border : borders) {
    histograms_of<std::uint64_t, std::uint16_t, Bed>(7, border);
    histograms_of<std::uint64_t, std::uint32_t, Bed>(7, border);
    histograms_of<std::uint64_t, std::uint64_t, Bed>(7, border);
    histograms_of<double, std::uint16_t, Bed>(7, border);
    histograms_of<double, std::uint32_t, Bed>(7, border);
    histograms_of<double, float, Bed>(7, border, 0.5);
    histograms_of<double, double, Bed>(7, border, 0.25);
  }
  for (const std::int64_t bins : {1, 2, 3, 16, 17, 31, 32, 33, 100})
    histograms_of<std::uint64_t, std::uint32_t, Bed>(bins, Border::none);
}

template <class Bed>
void counts_of_16_bits_are_exact_modulo_65536() {
  const auto image = oracle::random_image<std::uint8_t>(300, 460, 0, 1, 6);
  Padded tensor = tensor_of<std::uint16_t>(image, 2, Border::none);
  const std::vector<Region> regions{{17, 29, 250, 255}, {0, 0, 300, 460}, {300, 0, 1, 1}};
  Bed bed;
  std::vector<std::uint64_t> got(6, 77);
  std::vector<double> reals(6, 77);
  std::vector<std::int64_t> first_invalid{77};
  const auto on_device = bed.in(regions);
  const TensorView view{bed.in(tensor), Border::none};
  region_histograms(view, on_device, bed.out(got), {Outside::error, bed.on, bed.out(first_invalid)});
  region_histograms(view, on_device, bed.out(reals), {Outside::error, bed.on, bed.out(first_invalid)});
  bed.back();
  EXPECT_EQ(first_invalid[0], 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto want = counted(image, 2, regions[i]);
    for (std::size_t b = 0; b < 2; ++b) EXPECT_EQ(got[i * 2 + b], static_cast<std::uint64_t>(want[b]) % 65536);
  }
  EXPECT_EQ(got[4] + got[5], 0u);
  EXPECT_TRUE(std::isnan(reals[4]) && std::isnan(reals[5]));
}

/// N histograms: random ones, empty ones, with entries below zero, of one bin.
inline std::vector<double> random_histograms(std::size_t n, std::size_t bins, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> all(n * bins);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = i / bins % 7 == 3 ? 0 : random() % 3 == 0 ? 0 : static_cast<double>(random() % 1000) / 8 - 3;
  return all;
}

/// The statistics of each histogram equal the CPU's.
template <class Bed>
void reducers_are_the_cpus() {
  for (const std::size_t bins : {1u, 2u, 31u, 256u}) {
    SCOPED_TRACE(testing::Message() << bins << " bins, seed 12");
    const std::size_t n = 301;
    const auto histograms = random_histograms(n, bins, 12);
    std::vector<double> edges(bins + 1), target = random_histograms(1, bins, 13), none(bins);
    for (std::size_t b = 0; b <= bins; ++b) edges[b] = static_cast<double>(b * b) / 3 - 1;
    target[0] = 5;
    const auto each = [&](std::size_t i) { return std::span(histograms).subspan(i * bins, bins); };
    const auto b = static_cast<std::int64_t>(bins);
    Bed bed;
    const auto all = bed.in(histograms), edges_there = bed.in(edges), target_there = bed.in(target),
               none_there = bed.in(none);
    std::vector<double> shares(n * bins), entropy(n), tenth(n), median(n), whole(n), mean(n), share(bins);
    std::vector<std::int64_t> mode(n);
    std::vector<std::vector<double>> distance(std::size(measures), std::vector<double>(n)), to_none(distance);
    normalise(all, b, bed.out(shares), bed.on);
    entropies(all, b, bed.out(entropy), bed.on);
    percentiles(all, b, edges_there, 10, bed.out(tenth), bed.on);
    percentiles(all, b, edges_there, 100, bed.out(whole), bed.on);
    medians(all, b, edges_there, bed.out(median), bed.on);
    modes(all, b, bed.out(mode), bed.on);
    means(all, b, edges_there, bed.out(mean), bed.on);
    for (std::size_t d = 0; d < std::size(measures); ++d) {
      distances(measures[d], all, target_there, bed.out(distance[d]), bed.on);
      distances(measures[d], all, none_there, bed.out(to_none[d]), bed.on);
    }
    bed.back();
    for (std::size_t i = 0; i < n; ++i) {
      SCOPED_TRACE(i);
      areal::normalise(each(i), share);
      EXPECT_EQ(differences(std::vector(shares.begin() + static_cast<std::ptrdiff_t>(i * bins),
                                        shares.begin() + static_cast<std::ptrdiff_t>((i + 1) * bins)),
                            share),
                0u);
      EXPECT_NEAR(entropy[i], areal::entropy(each(i)), 1e-12);
      EXPECT_TRUE(same(tenth[i], percentile(each(i), edges, 10)));
      EXPECT_TRUE(same(whole[i], percentile(each(i), edges, 100)));
      EXPECT_TRUE(same(median[i], areal::median(each(i), edges)));
      EXPECT_EQ(mode[i], areal::mode(each(i)));
      EXPECT_TRUE(same(mean[i], areal::mean(each(i), edges)));
      for (std::size_t d = 0; d < std::size(measures); ++d) {
        EXPECT_TRUE(same(distance[d][i], areal::distance(measures[d], each(i), target))) << name_of(measures[d]);
        EXPECT_TRUE(same(to_none[d][i], areal::distance(measures[d], each(i), none))) << name_of(measures[d]);
      }
    }
  }
}

/// And some of them by hand.
template <class Bed>
void reducers_by_hand() {
  const std::vector<double> histograms{1, 1, 2, 4, /**/ 0, 0, 0, 0, /**/ 1, 0, 1, 0}, edges{0, 10, 20, 40, 80},
      target{0, 0, 2, 2};
  Bed bed;
  const auto all = bed.in(histograms), edges_there = bed.in(edges);
  std::vector<double> entropy(3), median(3), mean(3), l1(3);
  std::vector<std::int64_t> mode(3);
  entropies(all, 4, bed.out(entropy), bed.on);
  medians(all, 4, edges_there, bed.out(median), bed.on);
  means(all, 4, edges_there, bed.out(mean), bed.on);
  modes(all, 4, bed.out(mode), bed.on);
  distances(Distance::l1, all, bed.in(target), bed.out(l1), bed.on);
  bed.back();
  EXPECT_EQ(entropy, (std::vector<double>{1.75, 0, 1}));
  EXPECT_EQ(mode, (std::vector<std::int64_t>{3, -1, 0}));
  EXPECT_EQ(l1, (std::vector<double>{0.5, 2, 1}));
  EXPECT_EQ(median[0], 40);
  EXPECT_EQ(median[2], 10);
  EXPECT_EQ(mean[0], (5 + 15 + 60 + 240) / 8.0);
  EXPECT_EQ(mean[2], 17.5);
  EXPECT_TRUE(std::isnan(median[1]) && std::isnan(mean[1]));
}

/// Elements of two outputs that differ, and changed guards.
template <class T>
std::size_t output_differences(const Padded& got, const Padded& want) {
  std::size_t wrong = got.guards_stand() ? 0 : 1;
  for (std::int64_t y = 0; y < want.view().shape.height; ++y)
    for (std::int64_t x = 0; x < want.view().shape.width; ++x)
      wrong += !same(static_cast<double>(got.get<T>(x, y)), static_cast<double>(want.get<T>(x, y)));
  return wrong;
}

template <class P>
long double window_sum(const Image<P>& image, const Window& w, std::int64_t x, std::int64_t y) {
  const std::int64_t before_x = w.edge == Edge::valid ? 0 : w.anchor_x < 0 ? w.width / 2 : w.anchor_x;
  const std::int64_t before_y = w.edge == Edge::valid ? 0 : w.anchor_y < 0 ? w.height / 2 : w.anchor_y;
  long double sum = 0;
  for (std::int64_t r = y - before_y; r < y - before_y + w.height; ++r)
    for (std::int64_t c = x - before_x; c < x - before_x + w.width; ++c) {
      const std::int64_t px = oracle::shown(c, image.width, w.edge), py = oracle::shown(r, image.height, w.edge);
      if (px >= 0 && py >= 0)
        sum += image.at(px, py);
      else if (w.edge == Edge::constant)
        sum += w.value;
    }
  return sum;
}

/// All four statistics of windows of pixels P, from tables of S and Q, into Out.
template <class P, class S, class Q, class Out, class Bed>
void windows_of(double lo, double hi) {
  const auto square = [](P p) { return static_cast<oracle::Wide<Q>>(p) * static_cast<oracle::Wide<Q>>(p); };
  for (const auto& [width, height] : std::vector<std::pair<int, int>>{{41, 11}, {1, 5}, {6, 1}})
    for (const Border border : {Border::zero, Border::none})
      for (const Edge edge : {Edge::valid, Edge::shrink, Edge::zero, Edge::replicate, Edge::reflect, Edge::symmetric,
                              Edge::wrap, Edge::constant})
        for (const Window& w : {Window{1, 1, -1, -1, edge, 3}, Window{3, 2, -1, -1, edge, 3},
                                Window{7, 5, 6, 0, edge, 3}, Window{30, 40, 0, 39, edge, 3}}) {
          SCOPED_TRACE(testing::Message() << width << "x" << height << " " << name_of(border) << " window " << w.width
                                          << "x" << w.height << " edge " << static_cast<int>(edge) << " seed 41");
          const auto image = oracle::random_image<P>(width, height, lo, hi, 41);
          Table<S> sum(image, border);
          Table<Q> squares(image, border, square);
          const Shape shape = window_shape(width, height, w);
          Bed bed;
          const SatView there({bed.in(sum.memory()), border}, TableView(bed.in(squares.memory()), border)),
              here(sum.view(), squares.view());
          Padded sums(type_of<Out>, shape), means(type_of<Out>, shape), variances(type_of<Out>, shape),
              deviations(type_of<Out>, shape), want(type_of<Out>, shape);
          window_sums(there, w, bed.out(sums), bed.on);
          window_means(there, w, bed.out(means), bed.on);
          window_variances(there, w, bed.out(variances), bed.on);
          window_standard_deviations(there, w, bed.out(deviations), bed.on);
          bed.back();
          window_sums(here, w, want.view());
          EXPECT_EQ(output_differences<Out>(sums, want), 0u);
          window_means(here, w, want.view());
          EXPECT_EQ(output_differences<Out>(means, want), 0u);
          window_variances(here, w, want.view());
          EXPECT_EQ(output_differences<Out>(variances, want), 0u);
          window_standard_deviations(here, w, want.view());
          EXPECT_EQ(output_differences<Out>(deviations, want), 0u);
          for (std::int64_t y = 0; y < shape.height; ++y)
            for (std::int64_t x = 0; x < shape.width; ++x) {
              const double definition = static_cast<double>(window_sum(image, w, x, y));
              EXPECT_NEAR(sums.get<Out>(x, y), definition, 1e-6 * (std::fabs(definition) + 1)) << x << "," << y;
            }
        }
}

/// Sums and means rounded to 8, 16 or 32 bits, which cut some of them; window_rounding_test holds the CPU's to the
/// pixels.
template <class P, class S, class Out, class Bed>
void windows_rounded(double lo, double hi) {
  const auto image = oracle::random_image<P>(45, 13, lo, hi, 43);
  Table<S> table(image, Border::zero);
  for (const Window& w : {Window{1, 1}, Window{2, 1}, Window{4, 4, -1, -1, Edge::wrap}, Window{50, 7},
                          Window{5, 3, 0, 2, Edge::symmetric, 0, Rounding::opencv},
                          Window{4, 4, -1, -1, Edge::shrink, 0, Rounding::opencv},
                          Window{17, 16, -1, -1, Edge::replicate, 0, Rounding::opencv}}) {
    SCOPED_TRACE(testing::Message() << "window " << w.width << "x" << w.height << " rounding "
                                    << static_cast<int>(w.rounding) << " seed 43");
    Padded sums(type_of<Out>, {45, 13}), means(type_of<Out>, {45, 13}), want(type_of<Out>, {45, 13});
    Bed bed;
    const TableView view{bed.in(table.memory()), Border::zero};
    window_sums(view, w, bed.out(sums), bed.on);
    window_means(view, w, bed.out(means), bed.on);
    bed.back();
    window_sums(table.view(), w, want.view());
    EXPECT_EQ(output_differences<Out>(sums, want), 0u);
    window_means(table.view(), w, want.view());
    EXPECT_EQ(output_differences<Out>(means, want), 0u);
  }
}

template <class Bed>
void windows_rounded_to_every_type() {
  windows_rounded<std::uint8_t, std::uint32_t, std::uint8_t, Bed>(0, 255);
  windows_rounded<std::int16_t, std::int32_t, std::uint16_t, Bed>(-3000, 9000);
  windows_rounded<std::int16_t, std::int32_t, std::uint8_t, Bed>(-30, 90);
  windows_rounded<std::int16_t, std::int64_t, std::uint8_t, Bed>(-30, 90);
  windows_rounded<float, double, std::uint8_t, Bed>(-9, 99);
  windows_rounded<std::int8_t, std::int32_t, std::int8_t, Bed>(-128, 127);
  windows_rounded<std::int32_t, std::int64_t, std::int16_t, Bed>(-40000, 40000);
  windows_rounded<std::int32_t, std::int64_t, std::int32_t, Bed>(-2e9, 2e9);
  windows_rounded<float, double, std::int32_t, Bed>(-2e9, 2e9);
  windows_rounded<std::uint8_t, std::uint32_t, double, Bed>(0, 255);
  windows_rounded<float, double, double, Bed>(-9, 99);
}

/// Regions and windows of every plane of tables with several, with the CPU's bits.
template <class P, class S, class Q, class Out, class Bed>
void planes_of(const Shape& planes, Layout out_layout) {
  const auto square = [](P p) { return static_cast<oracle::Wide<Q>>(p) * static_cast<oracle::Wide<Q>>(p); };
  constexpr std::int64_t width = 37, height = 11;
  for (const Border border : {Border::zero, Border::none}) {
    SCOPED_TRACE(testing::Message() << planes.channels << " channels, batch " << planes.batch << ", layout "
                                    << static_cast<int>(planes.layout) << " " << name_of(border) << ", seeds 50, 60");
    oracle::Planes<S, P> sum(width, height, planes.channels, planes.batch, planes.layout, border, 0, 99, 50,
                             oracle::identity);
    oracle::Planes<Q, P> squares(width, height, planes.channels, planes.batch, Layout::planar, border, 0, 99, 50,
                                 square);
    oracle::Planes<std::uint32_t, std::uint8_t> count(width, height, 1, planes.batch, planes.layout, Border::none, 0, 1,
                                                      90, oracle::identity);
    std::vector<Region> regions = answerable(width, height, border, 60);
    regions.resize(57);
    const std::size_t n = regions.size() * static_cast<std::size_t>(planes.channels * planes.batch);
    const SatView here(sum.view(), squares.view()), counted_here(sum.view(), squares.view(), count.view());
    {
      Bed bed;
      const SatView there({bed.in(sum.memory()), border}, TableView(bed.in(squares.memory()), border)),
          counted(there.sum, there.squares, TableView(bed.in(count.memory()), Border::none));
      const auto on_device = bed.in(regions);
      std::vector<double> sums(n), means(n), variances(n), deviations(n);
      const QueryOptions on{.execution = bed.on};
      region_sums(there, on_device, bed.out(sums), on);
      region_means(counted, on_device, bed.out(means), on);
      region_variances(there, on_device, bed.out(variances), on);
      region_standard_deviations(counted, on_device, bed.out(deviations), on);
      bed.back();
      EXPECT_EQ(differences(sums, region_sums(here, regions)), 0u);
      EXPECT_EQ(differences(means, region_means(counted_here, regions)), 0u);
      EXPECT_EQ(differences(variances, region_variances(here, regions)), 0u);
      EXPECT_EQ(differences(deviations, region_standard_deviations(counted_here, regions)), 0u);
      // Regions and answers of the host.
      EXPECT_EQ(differences(sums, region_sums(there, regions, on)), 0u);
      EXPECT_EQ(differences(deviations, region_standard_deviations(counted, regions, on)), 0u);
    }
    {  // Those that cannot be answered, in every plane.
      std::vector<Region> beyond = regions;
      beyond[31] = beyond[40] = {width, 0, 1, 1};
      Bed bed;
      const TableView there{bed.in(sum.memory()), border};
      std::vector<double> sums(n, 77);
      std::vector<std::int64_t> first{77};
      region_sums(there, bed.in(beyond), bed.out(sums), {Outside::error, bed.on, bed.out(first)});
      bed.back();
      std::int64_t first_here = 77;
      const auto want = region_sums(here, beyond, {.first_invalid = Span<std::int64_t>(&first_here, 1)});
      EXPECT_EQ(differences(sums, want), 0u);
      EXPECT_EQ(first[0], 31);
      EXPECT_EQ(first_here, 31);
      const std::size_t count_of_planes = n / regions.size();
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t region = i / count_of_planes;
        EXPECT_EQ(std::isnan(sums[i]), region == 31 || region == 40) << i;
      }
    }
    for (const Window& w : {Window{5, 4, -1, -1, Edge::reflect}, Window{40, 3, -1, -1, Edge::constant, 9}}) {
      const Shape shape{width, height, planes.channels, planes.batch, out_layout};
      Padded sums(type_of<Out>, shape), means(type_of<Out>, shape), deviations(type_of<Out>, shape),
          returned(type_of<Out>, shape), want(type_of<Out>, shape);
      Bed bed;
      const SatView there({bed.in(sum.memory()), border}, TableView(bed.in(squares.memory()), border));
      window_sums(there, w, bed.out(sums), bed.on);
      window_means(there, w, bed.out(means), bed.on);
      window_standard_deviations(there, w, bed.out(deviations), bed.on);
      bed.back();
      window_means(there, w, returned.view(), bed.on);  // of the host
      const auto wrong = [&](const Padded& got) {
        std::size_t count_wrong = got.guards_stand() ? 0 : 1;
        for (std::int64_t p = 0; p < planes.channels * planes.batch; ++p)
          for (std::int64_t y = 0; y < height; ++y)
            for (std::int64_t x = 0; x < width; ++x) {
              const std::int64_t c = p % planes.channels, image = p / planes.channels;
              count_wrong += !same(static_cast<double>(got.get<Out>(x, y, c, image)),
                                   static_cast<double>(want.get<Out>(x, y, c, image)));
            }
        return count_wrong;
      };
      window_sums(here, w, want.view());
      EXPECT_EQ(wrong(sums), 0u);
      window_means(here, w, want.view());
      EXPECT_EQ(wrong(means), 0u);
      EXPECT_EQ(wrong(returned), 0u);
      window_standard_deviations(here, w, want.view());
      EXPECT_EQ(wrong(deviations), 0u);
    }
  }
}
template <class Bed>
void several_planes() {
  planes_of<std::uint8_t, std::uint32_t, std::uint64_t, double, Bed>({0, 0, 3, 2, Layout::interleaved}, Layout::planar);
  planes_of<std::uint8_t, std::int64_t, double, std::uint8_t, Bed>({0, 0, 3, 1, Layout::planar}, Layout::interleaved);
  planes_of<float, float, double, float, Bed>({0, 0, 1, 5, Layout::planar}, Layout::interleaved);
  planes_of<float, double, double, std::uint16_t, Bed>({0, 0, 4, 3, Layout::interleaved}, Layout::interleaved);
}

template <class T, class Out, class Bed>
void distance_maps_of(Border border, double weight = 1) {
  const auto image = oracle::random_image<std::uint8_t>(43, 13, 0, 6, 8);
  Padded tensor = tensor_of<T>(image, 6, border, weight);
  for (const auto& [w, h] : std::vector<std::pair<int, int>>{{1, 1}, {5, 3}, {43, 13}, {44, 3}})
    for (const std::vector<double>& target : {std::vector<double>{1, 2, 3, 0, 0, 5}, std::vector<double>(6)})
      for (const Distance d : measures) {
        SCOPED_TRACE(testing::Message() << name_of(d) << " " << name_of(border) << " " << w << "x" << h << " seed 8");
        const Shape shape{std::max(0, 43 - w + 1), std::max(0, 13 - h + 1)};
        Padded got(type_of<Out>, shape), want(type_of<Out>, shape);
        Bed bed;
        distance_map({bed.in(tensor), border}, w, h, bed.in(target), d, bed.out(got), bed.on);
        bed.back();
        distance_map({tensor.view(), border}, w, h, target, d, want.view());
        EXPECT_EQ(output_differences<Out>(got, want), 0u);
        if (d != Distance::l1 || target[0] == 0) continue;
        for (std::int64_t y = 0; y < shape.height; ++y)
          for (std::int64_t x = 0; x < shape.width; ++x) {  // by definition
            const auto seen = counted(image, 6, {x, y, w, h});
            double total = 0, l1 = 0;
            for (const double count : seen) total += count;
            for (std::size_t b = 0; b < 6; ++b) l1 += std::fabs(seen[b] / total - target[b] / 11);
            EXPECT_NEAR(got.get<Out>(x, y), total == 0 ? 2 : l1, 1e-6);
          }
      }
}

/// Regions and answers of the host, of tables that lie on the machine; and the exceptions.
template <class Bed>
void the_host_asks() {
  const auto image = small_image<std::int32_t>(37, 21);
  Table<std::int32_t> sum(image, Border::zero);
  Table<std::int64_t> squares(image, Border::zero, [](std::int32_t p) { return static_cast<std::uint64_t>(p * p); });
  const auto bins = oracle::random_image<std::uint8_t>(37, 21, 0, 5, 4);
  Padded tensor = tensor_of<std::uint32_t>(bins, 5, Border::none);
  const std::vector<Region> regions = answerable(37, 21, Border::zero, 14);
  const std::size_t n = regions.size();
  Bed bed;
  const SatView there({bed.in(sum.memory()), Border::zero}, TableView(bed.in(squares.memory()), Border::zero)),
      here(sum.view(), squares.view());
  const TensorView tensor_there{bed.in(tensor), Border::none}, tensor_here{tensor.view(), Border::none};
  const QueryOptions on{.execution = bed.on};
  EXPECT_EQ(region_sums<std::int64_t>(there, regions, on), region_sums<std::int64_t>(here, regions));
  EXPECT_EQ(differences(region_sums(there, regions, on), region_sums(here, regions)), 0u);
  EXPECT_EQ(differences(region_means(there, regions, on), region_means(here, regions)), 0u);
  EXPECT_EQ(differences(region_variances(there, regions, on), region_variances(here, regions)), 0u);
  EXPECT_EQ(differences(region_standard_deviations(there, regions, on), region_standard_deviations(here, regions)), 0u);
  EXPECT_EQ(region_histograms(tensor_there, regions, on), region_histograms(tensor_here, regions));
  const auto counts = region_histograms<double>(tensor_there, regions, on);
  EXPECT_EQ(differences(counts, region_histograms<double>(tensor_here, regions)), 0u);

  const std::vector<double> edges{0, 1, 2, 3, 4, 5}, target{1, 2, 0, 0, 4};
  const auto counts_there = bed.in(counts);
  std::vector<double> shares(n * 5), shares_here(n * 5);
  normalise(counts_there, 5, shares, bed.on);
  normalise(counts, 5, shares_here);
  EXPECT_EQ(differences(shares, shares_here), 0u);
  const auto bits = entropies(counts_there, 5, bed.on), bits_here = entropies(counts, 5);
  ASSERT_EQ(bits.size(), n);
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(bits[i], bits_here[i], 1e-12);
  EXPECT_EQ(differences(percentiles(counts_there, 5, edges, 20, bed.on), percentiles(counts, 5, edges, 20)), 0u);
  EXPECT_EQ(differences(medians(counts_there, 5, edges, bed.on), medians(counts, 5, edges)), 0u);
  EXPECT_EQ(differences(means(counts_there, 5, edges, bed.on), means(counts, 5, edges)), 0u);
  EXPECT_EQ(modes(counts_there, 5, bed.on), modes(counts, 5));
  EXPECT_EQ(
      differences(distances(Distance::emd, counts_there, target, bed.on), distances(Distance::emd, counts, target)),
      0u);

  const Window window{5, 4};
  Padded windows(Type::f32, {37, 21}), want_windows(Type::f32, {37, 21});
  for (const auto query : {window_sums, window_means, window_variances, window_standard_deviations}) {
    query(there, window, windows.view(), bed.on);
    query(here, window, want_windows.view(), {});
    EXPECT_EQ(output_differences<float>(windows, want_windows), 0u);
  }
  Padded map(Type::f64, {33, 18}), want_map(Type::f64, {33, 18});
  distance_map(tensor_there, 5, 4, target, Distance::hellinger, map.view(), bed.on);
  distance_map(tensor_here, 5, 4, target, Distance::hellinger, want_map.view());
  EXPECT_EQ(output_differences<double>(map, want_map), 0u);

  std::vector<Region> beyond(regions);
  beyond[7] = {30, 3, 8, 2};
  std::vector<double> out(n, 77);
  try {
    region_sums(there, beyond, out, on);
    FAIL() << "threw nothing";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(std::string(error.what()).find("region 7 (x 30"), 0u) << error.what();
  }
  EXPECT_NO_THROW(region_sums(there, beyond, out, {.outside = Outside::clip, .execution = bed.on}));
  EXPECT_EQ(out[7], region_sum(here, beyond[7], {.outside = Outside::clip}));
}

/// With first_invalid nothing throws, whatever the memory of regions, answers and of the number itself.
template <class Bed>
void the_first_invalid_is_reported_wherever_it_lies() {
  const auto image = small_image<std::int32_t>(17, 11);
  Table<std::int32_t> sum(image, Border::exclusive);
  Table<std::int64_t> squares(image, Border::zero, [](std::int32_t p) { return static_cast<std::uint64_t>(p * p); });
  std::vector<Region> regions(300, Region{1, 1, 2, 2});
  regions[201] = {16, 3, 2, 1}, regions[77] = {3, 3, 14, 2},
  regions[290] = {2, 2, -1, 2};  // [77] needs the last column
  const std::vector<Region> none_wrong(300, Region{1, 1, 2, 2});
  const std::vector<std::uint64_t> invalid{77, 201, 290};
  const auto want = region_variances({sum.view(), squares.view()}, none_wrong);
  const auto want_sums = region_sums<std::int64_t>(sum.view(), none_wrong);
  for (int where = 0; where < 8; ++where) {
    SCOPED_TRACE(where);
    Bed bed;
    const SatView there({bed.in(sum.memory()), Border::exclusive}, TableView(bed.in(squares.memory()), Border::zero));
    std::vector<double> variances(300, 77);
    std::vector<std::int64_t> sums(300, 77), first{77};
    const Span<const Region> asked = where & 1 ? bed.in(regions) : Span<const Region>(regions);
    const auto variances_there = where & 2 ? bed.out(variances) : Span<double>(variances);
    const auto sums_there = where & 2 ? bed.out(sums) : Span<std::int64_t>(sums);
    const QueryOptions options{.execution = bed.on,
                               .first_invalid = where & 4 ? bed.out(first) : Span<std::int64_t>(first)};
    region_variances(there, asked, variances_there, options);
    region_sums(there, asked, sums_there, options);
    bed.back();
    EXPECT_EQ(first[0], 77);
    for (std::size_t i = 0; i < 300; ++i) {
      const bool wrong = std::find(invalid.begin(), invalid.end(), i) != invalid.end();
      EXPECT_TRUE(wrong ? std::isnan(variances[i]) : same(variances[i], want[i])) << i;
      EXPECT_EQ(sums[i], wrong ? 0 : want_sums[i]) << i;
    }
  }
}

}  // namespace areal::device_cases
