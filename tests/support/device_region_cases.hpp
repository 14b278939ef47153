#pragma once
// Tests of regions of tables in device memory, for any machine: the image's own sums, and the CPU's bits. See
// device_answers.hpp for a Bed.

#include "device_histogram_cases.hpp"

namespace areal::device_cases {

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
      for (const oracle::Gaps gaps : {oracle::misaligned, oracle::aligned}) {
        Table<T> table(image, border, oracle::identity, gaps);
        EXPECT_EQ((wrong_sums<T, Bed>(table, image, answerable(width, height, border, 5))), 0u) << gaps.gap;
      }
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

/// Regions and windows of every plane of tables with several, with the CPU's bits.
template <class P, class S, class Q, class Out, class Bed>
void planes_of(const Shape& planes, Layout out_layout, oracle::Gaps gaps) {
  const auto square = [](P p) { return static_cast<oracle::Wide<Q>>(p) * static_cast<oracle::Wide<Q>>(p); };
  constexpr std::int64_t width = 101, height = 11;
  for (const Border border : {Border::zero, Border::none}) {
    SCOPED_TRACE(testing::Message() << planes.channels << " channels, batch " << planes.batch << ", layout "
                                    << static_cast<int>(planes.layout) << " " << name_of(border) << ", seeds 50, 60");
    oracle::Planes<S, P> sum(width, height, planes.channels, planes.batch, planes.layout, border, 0, 99, 50,
                             oracle::identity, gaps);
    oracle::Planes<Q, P> squares(width, height, planes.channels, planes.batch, Layout::planar, border, 0, 99, 50,
                                 square, gaps);
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
      Padded sums(type_of<Out>, shape, gaps), means(type_of<Out>, shape, gaps), deviations(type_of<Out>, shape, gaps),
          returned(type_of<Out>, shape, gaps), want(type_of<Out>, shape);
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
  for (const oracle::Gaps gaps : {oracle::misaligned, oracle::aligned}) {
    planes_of<std::uint8_t, std::uint32_t, std::uint64_t, double, Bed>({0, 0, 3, 2, Layout::interleaved},
                                                                       Layout::planar, gaps);
    planes_of<std::uint8_t, std::int64_t, double, std::uint8_t, Bed>({0, 0, 3, 1, Layout::planar}, Layout::interleaved,
                                                                     gaps);
    planes_of<float, float, double, float, Bed>({0, 0, 1, 5, Layout::planar}, Layout::interleaved, gaps);
    planes_of<float, double, double, std::uint16_t, Bed>({0, 0, 4, 3, Layout::interleaved}, Layout::interleaved, gaps);
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

/// With first_invalid nothing throws, with regions, answers and the number in any memory.
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
