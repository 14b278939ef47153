#pragma once
// Tests of histograms of regions, and of what reduces them, from tensors in device memory. See device_answers.hpp for a
// Bed.

#include "device_answers.hpp"

namespace areal::device_cases {

/// The pixel's value is its bin; values of `bins` and more are in none.
template <class T>
Padded tensor_of(const Image<std::uint8_t>& image, std::int64_t bins, Border border, double weight = 1,
                 oracle::Gaps gaps = oracle::misaligned) {
  Shape shape = oracle::table_shape(image.width, image.height, border);
  shape.channels = bins;
  shape.layout = Layout::planar;
  Padded tensor(type_of<T>, shape, gaps);
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
  std::vector<Region> regions = answerable(23, 14, border, 3);
  regions.resize(std::min<std::size_t>(regions.size(), 60));
  for (const oracle::Gaps gaps : {oracle::misaligned, oracle::aligned}) {
    Padded tensor = tensor_of<T>(image, bins, border, weight, gaps);
    Bed bed;
    std::vector<Out> got(regions.size() * static_cast<std::size_t>(bins), Out{77});
    region_histograms({bed.in(tensor), border}, bed.in(regions), bed.out(got), {.execution = bed.on});
    bed.back();
    for (std::size_t i = 0; i < regions.size(); ++i) {
      const auto want = counted(image, bins, regions[i], weight);
      for (std::size_t b = 0; b < want.size(); ++b)
        EXPECT_EQ(static_cast<double>(got[i * want.size() + b]), want[b])
            << "region " << i << " bin " << b << " gaps " << gaps.gap;
    }
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

}  // namespace areal::device_cases
