// Queries of a tensor compared with histograms counted from the image; a plain loop makes the tensor here.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/region_histogram.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include "region_oracle.hpp"

namespace {

using areal::Border;
using areal::Distance;
using areal::InvalidArgument;
using areal::Outside;
using areal::Region;
using areal::Type;
using oracle::Image;
using oracle::Padded;
using Values = std::vector<double>;

constexpr Border borders[] = {Border::zero, Border::none, Border::exclusive};
constexpr Distance distances[] = {
    Distance::l1,           Distance::l2,  Distance::chi_square,        Distance::hellinger,
    Distance::intersection, Distance::emd, Distance::kolmogorov_smirnov};

// The pixel's value is its bin; values of `bins` and more are in none.
template <class T>
Padded tensor_of(const Image<std::uint8_t>& image, int bins, Border border, double weight = 1) {
  areal::Shape shape = oracle::table_shape(image.width, image.height, border);
  shape.channels = bins;
  shape.layout = areal::Layout::planar;
  Padded tensor(areal::type_of<T>, shape);
  for (int b = 0; b < bins; ++b)
    oracle::fill_table<T>(tensor, b, image, border, [&](int p) { return p == b ? weight : 0; });
  return tensor;
}

Values counted(const Image<std::uint8_t>& image, int bins, const Region& r) {
  Values counts(static_cast<std::size_t>(bins));
  for (std::int64_t y = r.y; y < r.y + r.height; ++y)
    for (std::int64_t x = r.x; x < r.x + r.width; ++x)
      if (image.at(x, y) < bins) ++counts[image.at(x, y)];
  return counts;
}

template <class Out>
int differences(const areal::TensorView& tensor, const Image<std::uint8_t>& image, const std::vector<Region>& regions,
                double weight = 1, int threads = 1) {
  const auto bins = static_cast<std::size_t>(tensor.bins());
  std::vector<Out> got(regions.size() * bins, Out{77});
  areal::region_histograms(tensor, regions, areal::Span<Out>(got), {.execution = {.threads = threads}});
  int wrong = 0;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Values want = counted(image, static_cast<int>(bins), regions[i]);
    for (std::size_t b = 0; b < bins; ++b) wrong += static_cast<double>(got[i * bins + b]) != want[b] * weight;
  }
  return wrong;
}

TEST(RegionHistograms, OneFlippedElementIsCaught) {
  const auto image = oracle::random_image<std::uint8_t>(12, 9, 0, 5, 1);
  Padded tensor = tensor_of<std::uint32_t>(image, 5, Border::none);
  const std::vector<Region> regions{{2, 1, 5, 4}};
  ASSERT_EQ(differences<std::uint64_t>({tensor.view(), Border::none}, image, regions), 0);
  tensor.set(tensor.get<std::uint32_t>(6, 4, 3) + 1, 6, 4, 3);
  EXPECT_EQ(differences<std::uint64_t>({tensor.view(), Border::none}, image, regions), 1);
}

TEST(RegionHistograms, EveryBorderAndCounter) {
  for (const Border border : borders)
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{1, 1}, {1, 6}, {23, 14}}) {
      SCOPED_TRACE(testing::Message() << areal::name_of(border) << " " << width << "x" << height << " seed 2");
      const auto image = oracle::random_image<std::uint8_t>(width, height, 0, 7, 2);
      auto regions = oracle::regions_inside(width, height, 2);
      if (border == Border::exclusive)
        std::erase_if(regions, [&, w = width, h = height](const Region& r) { return oracle::touches_last(r, w, h); });
      const Padded u32 = tensor_of<std::uint32_t>(image, 7, border), u64 = tensor_of<std::uint64_t>(image, 7, border);
      const Padded f32 = tensor_of<float>(image, 7, border, 0.5), f64 = tensor_of<double>(image, 7, border, 0.25);
      for (const int threads : {1, 2}) {
        EXPECT_EQ(differences<std::uint64_t>({u32.view(), border}, image, regions, 1, threads), 0);
        EXPECT_EQ(differences<std::uint64_t>({u64.view(), border}, image, regions, 1, threads), 0);
        EXPECT_EQ(differences<double>({u32.view(), border}, image, regions, 1, threads), 0);
        EXPECT_EQ(differences<double>({u64.view(), border}, image, regions, 1, threads), 0);
        EXPECT_EQ(differences<double>({f32.view(), border}, image, regions, 0.5, threads), 0);
        EXPECT_EQ(differences<double>({f64.view(), border}, image, regions, 0.25, threads), 0);
      }
    }
}

TEST(RegionHistograms, OutsideClippedAndWrong) {
  const auto image = oracle::random_image<std::uint8_t>(12, 9, 0, 3, 3);
  const Padded memory = tensor_of<std::uint32_t>(image, 4, Border::none),
               floats = tensor_of<float>(image, 4, Border::none);
  const areal::TensorView tensor{memory.view(), Border::none};
  const Region beyond{-2, 5, 6, 9};
  std::vector<std::uint64_t> out(4);
  EXPECT_THROW(areal::region_histograms(tensor, std::span(&beyond, 1), std::span<std::uint64_t>(out)), InvalidArgument);
  areal::region_histograms(tensor, std::span(&beyond, 1), std::span<std::uint64_t>(out), {.outside = Outside::clip});
  const Values want = counted(image, 4, {0, 5, 4, 4});
  EXPECT_EQ(Values(out.begin(), out.end()), want);
  const Region all{0, 0, 12, 9};
  EXPECT_THROW(
      areal::region_histograms({floats.view(), Border::none}, std::span(&all, 1), std::span<std::uint64_t>(out)),
      InvalidArgument);
  std::vector<std::uint64_t> small(3);
  EXPECT_THROW(areal::region_histograms(tensor, std::span(&all, 1), std::span<std::uint64_t>(small)), InvalidArgument);
  areal::TensorView interleaved = tensor;
  interleaved.view.shape.layout = areal::Layout::interleaved;
  EXPECT_THROW(areal::region_histograms(interleaved, std::span(&all, 1), std::span<std::uint64_t>(out)),
               InvalidArgument);
  areal::TensorView overlapping = tensor;
  overlapping.view.plane_pitch = 8;
  EXPECT_THROW(areal::region_histograms(overlapping, std::span(&all, 1), std::span<std::uint64_t>(out)),
               InvalidArgument);
}

TEST(RegionHistograms, WrappedCountersAreExact) {
  const auto image = oracle::random_image<std::uint8_t>(12, 9, 0, 3, 4);
  Padded tensor = tensor_of<std::uint32_t>(image, 4, Border::zero);
  for (int b = 0; b < 4; ++b)
    for (std::int64_t y = 0; y < 10; ++y)
      for (std::int64_t x = 0; x < 13; ++x)  // as if there were much more above and to the left
        tensor.set(tensor.get<std::uint32_t>(x, y, b) + 4294967290u, x, y, b);
  EXPECT_EQ(differences<std::uint64_t>({tensor.view(), Border::zero}, image, oracle::regions_inside(12, 9, 4)), 0);
}

TEST(RegionHistograms, CountersOf16BitsAreExactModulo65536) {
  const auto image = oracle::random_image<std::uint8_t>(300, 460, 0, 1, 6);  // some 69000 pixels of either value
  const Padded tensor = tensor_of<std::uint16_t>(image, 2, Border::none);
  const Region small{17, 29, 250, 255}, all{0, 0, 300, 460};
  EXPECT_EQ(differences<std::uint64_t>({tensor.view(), Border::none}, image, {small}), 0);
  EXPECT_EQ(differences<double>({tensor.view(), Border::none}, image, {small}), 0);
  std::vector<std::uint64_t> got(2);
  areal::region_histograms({tensor.view(), Border::none}, std::span(&all, 1), std::span<std::uint64_t>(got));
  const Values want = counted(image, 2, all);
  for (std::size_t b = 0; b < 2; ++b) EXPECT_EQ(got[b], static_cast<std::uint64_t>(want[b]) % 65536);
}

TEST(Histogram, NormaliseAndEntropy) {
  Values out(4);
  areal::normalise(Values{1, 1, 2, 4}, out);
  EXPECT_EQ(out, (Values{0.125, 0.125, 0.25, 0.5}));
  EXPECT_EQ(areal::entropy(Values{1, 1, 2, 4}), 1.75);
  areal::normalise(Values{0, 0, 0, 0}, out);
  EXPECT_EQ(out, (Values{0, 0, 0, 0}));
  EXPECT_EQ(areal::entropy(Values{0, 0}), 0);
  EXPECT_EQ(areal::entropy(Values{0, 9}), 0);
  EXPECT_EQ(areal::entropy(Values{}), 0);
  EXPECT_DOUBLE_EQ(areal::entropy(Values(256, 3)), 8);
  Values small(3);
  EXPECT_THROW(areal::normalise(Values{1, 2}, small), InvalidArgument);
}

TEST(Histogram, PercentilesByHand) {
  const Values edges{0, 10, 20, 40}, histogram{2, 0, 2};
  EXPECT_EQ(areal::percentile(histogram, edges, 0), 0);
  EXPECT_EQ(areal::percentile(histogram, edges, 25), 5);
  EXPECT_EQ(areal::percentile(histogram, edges, 50), 10);
  EXPECT_EQ(areal::percentile(histogram, edges, 75), 30);
  EXPECT_EQ(areal::percentile(histogram, edges, 100), 40);
  EXPECT_EQ(areal::percentile(Values{0, 4, 0}, edges, 0), 10);
  EXPECT_EQ(areal::percentile(Values{0, 4, 0}, edges, 100), 20);
  EXPECT_EQ(areal::median(Values{0, 4, 0}, edges), 15);
  EXPECT_TRUE(std::isnan(areal::median(Values{0, 0, 0}, edges)));
  for (const double percent : {-1.0, 100.5, std::nan("")})
    EXPECT_THROW(areal::percentile(histogram, edges, percent), InvalidArgument);
  EXPECT_THROW(areal::median(histogram, Values{0, 1, 2}), InvalidArgument);
  // Shares that do not add up to the total exactly must not fall off the end.
  const Values thirds(11, 0.1), unit{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  EXPECT_DOUBLE_EQ(areal::percentile(thirds, unit, 100), 11);
}

TEST(Histogram, ModeAndMean) {
  EXPECT_EQ(areal::mode(Values{1, 5, 5, 2}), 1);
  EXPECT_EQ(areal::mode(Values{0, 0}), -1);
  EXPECT_EQ(areal::mode(Values{}), -1);
  EXPECT_EQ(areal::mean(Values{1, 3}, Values{0, 2, 6}), 3.25);
  EXPECT_TRUE(std::isnan(areal::mean(Values{0, 0}, Values{0, 2, 6})));
  EXPECT_THROW(areal::mean(Values{1, 3}, Values{0, 2}), InvalidArgument);
}

// The formulas as the header prints them.
double by_definition(Distance measure, Values a, Values b) {
  const auto share = [](Values& h) {
    double total = 0;
    for (const double v : h) total += v;
    for (double& v : h) v = total > 0 ? v / total : 0;
    return total > 0;
  };
  const bool has_a = share(a), has_b = share(b);
  if (!has_a && !has_b) return 0;
  if (!has_a || !has_b) {
    const Values largest{2, std::sqrt(2.0), 2, 1, 1, static_cast<double>(a.size()) - 1, 1};
    return largest[static_cast<std::size_t>(measure)];
  }
  double sum = 0, cumulative_a = 0, cumulative_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double p = a[i], q = b[i];
    cumulative_a += p;
    cumulative_b += q;
    const double gap = std::abs(cumulative_a - cumulative_b);
    switch (measure) {
      case Distance::l1:
        sum += std::abs(p - q);
        break;
      case Distance::l2:
        sum += (p - q) * (p - q);
        break;
      case Distance::chi_square:
        sum += p + q > 0 ? (p - q) * (p - q) / (p + q) : 0;
        break;
      case Distance::hellinger:
        sum += std::sqrt(p * q);
        break;
      case Distance::intersection:
        sum += std::min(p, q);
        break;
      case Distance::emd:
        sum += gap;
        break;
      case Distance::kolmogorov_smirnov:
        sum = std::max(sum, gap);
        break;
    }
  }
  if (measure == Distance::l2) return std::sqrt(sum);
  if (measure == Distance::hellinger) return std::sqrt(std::max(0.0, 1 - sum));
  if (measure == Distance::intersection) return 1 - sum;
  return sum;
}

TEST(Distances, ByHand) {
  const Values a{1, 0, 1, 0}, b{0, 0, 2, 2};  // shares 1/2 0 1/2 0 and 0 0 1/2 1/2
  EXPECT_DOUBLE_EQ(areal::distance(Distance::l1, a, b), 1);
  EXPECT_DOUBLE_EQ(areal::distance(Distance::l2, a, b), std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(areal::distance(Distance::chi_square, a, b), 1);
  EXPECT_DOUBLE_EQ(areal::distance(Distance::hellinger, a, b), std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(areal::distance(Distance::intersection, a, b), 0.5);
  EXPECT_DOUBLE_EQ(areal::distance(Distance::emd, a, b), 1.5);
  EXPECT_DOUBLE_EQ(areal::distance(Distance::kolmogorov_smirnov, a, b), 0.5);
  const Values first{3, 0, 0, 0}, last{0, 0, 0, 7};  // nothing in common: the largest
  const Values largest{2, std::sqrt(2.0), 2, 1, 1, 3, 1};
  for (const Distance d : distances)
    EXPECT_DOUBLE_EQ(areal::distance(d, first, last), largest[static_cast<std::size_t>(d)]);
}

TEST(Distances, AgreeWithTheirFormulasAndAreSymmetric) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE(testing::Message() << "seed 6, pair " << i);
    Values a(1 + random() % 40), b(a.size());
    for (double& v : a) v = static_cast<double>(random() % 3 ? random() % 100 : 0);
    for (double& v : b) v = static_cast<double>(random() % 3 ? random() % 100 : 0);
    for (const Distance d : distances) {
      // The printed Hellinger formula loses half the digits near 0.
      EXPECT_NEAR(areal::distance(d, a, b), by_definition(d, a, b), d == Distance::hellinger ? 1e-7 : 1e-13);
      EXPECT_NEAR(areal::distance(d, a, b), areal::distance(d, b, a), 1e-15);
      EXPECT_EQ(areal::distance(d, a, a), 0);
      Values scaled = a;
      for (double& v : scaled) v *= 4;
      EXPECT_EQ(areal::distance(d, a, scaled), 0);
    }
  }
  EXPECT_THROW(areal::distance(Distance::l1, Values{1, 2}, Values{1}), InvalidArgument);
}

TEST(Distances, OfEmptyHistograms) {
  const Values empty(5), some{0, 1, 2, 0, 0};
  for (const Distance d : distances) {
    EXPECT_EQ(areal::distance(d, empty, empty), 0);
    EXPECT_EQ(areal::distance(d, empty, some), by_definition(d, empty, some));
    EXPECT_EQ(areal::distance(d, some, empty), by_definition(d, empty, some));
  }
}

TEST(Distances, NamesGoBothWays) {
  for (const Distance d : distances) EXPECT_EQ(areal::distance_named(areal::name_of(d)), d);
  EXPECT_EQ(areal::distance_named("chi-square"), Distance::chi_square);
  EXPECT_FALSE(areal::distance_named("manhattan"));
}

template <class T>
int map_differences(const Image<std::uint8_t>& image, int bins, Border border, std::int64_t width, std::int64_t height,
                    const Values& target, Distance measure, Type type, double weight = 1, bool flip = false) {
  const Padded tensor = tensor_of<T>(image, bins, border, weight);
  Padded out(
      type, {std::max<std::int64_t>(0, image.width - width + 1), std::max<std::int64_t>(0, image.height - height + 1)});
  areal::distance_map({tensor.view(), border}, width, height, target, measure, out.view(), {.threads = 2});
  int wrong = out.guards_stand() ? 0 : 1;
  if (weight == 1) {  // straight from the pixels: the same bits
    const areal::ConstView pixels(image.pixels.data(), Type::u8, {image.width, image.height});
    Padded direct(type, out.view().shape);
    areal::distance_map(pixels, areal::Binning::labels(bins), width, height, target, measure, direct.view(),
                        {.threads = 2});
    wrong += !direct.guards_stand();
    for (std::int64_t y = 0; y < out.view().shape.height; ++y)
      for (std::int64_t x = 0; x < out.view().shape.width; ++x)
        wrong += type == Type::f32 ? direct.get<float>(x, y) != out.get<float>(x, y)
                                   : direct.get<double>(x, y) != out.get<double>(x, y);
  }
  if (flip) out.set(out.get<double>(1, 1) + 1e-3, 1, 1);
  for (std::int64_t y = 0; y < out.view().shape.height; ++y)
    for (std::int64_t x = 0; x < out.view().shape.width; ++x) {
      const double want = by_definition(measure, counted(image, bins, {x, y, width, height}), target);
      const double got = type == Type::f32 ? out.get<float>(x, y) : out.get<double>(x, y);
      const double allowed =
          (type == Type::f32 ? std::max(1.0, want) * 0x1p-24 : 1e-12) + (measure == Distance::hellinger ? 3e-8 : 0);
      wrong += !(std::fabs(got - want) <= allowed);
    }
  return wrong;
}

TEST(DistanceMap, OneFlippedElementIsCaught) {
  const auto image = oracle::random_image<std::uint8_t>(23, 14, 0, 6, 7);
  const Values target{1, 2, 3, 0, 0, 5};
  EXPECT_EQ(map_differences<std::uint32_t>(image, 6, Border::none, 4, 3, target, Distance::l1, Type::f64), 0);
  EXPECT_EQ(map_differences<std::uint32_t>(image, 6, Border::none, 4, 3, target, Distance::l1, Type::f64, 1, true), 1);
}

TEST(DistanceMap, EveryMeasureBorderCounterAndWindow) {
  const auto image = oracle::random_image<std::uint8_t>(41, 17, 0, 6, 8);
  for (const Distance d : distances)
    for (const Border border : {Border::zero, Border::none})
      for (const auto& [w, h] : std::vector<std::pair<int, int>>{{1, 1}, {5, 3}, {41, 17}, {41, 1}, {42, 3}}) {
        SCOPED_TRACE(testing::Message() << areal::name_of(d) << " " << areal::name_of(border) << " " << w << "x" << h);
        // Bin 6 is in no histogram, so some 1x1 windows are empty.
        const Values target{1, 2, 3, 0, 0, 5};
        EXPECT_EQ(map_differences<std::uint32_t>(image, 6, border, w, h, target, d, Type::f64), 0);
        EXPECT_EQ(map_differences<std::uint64_t>(image, 6, border, w, h, target, d, Type::f32), 0);
        EXPECT_EQ(map_differences<std::uint16_t>(image, 6, border, w, h, target, d, Type::f64), 0);
        EXPECT_EQ(map_differences<float>(image, 6, border, w, h, target, d, Type::f64, 0.5), 0);
        EXPECT_EQ(map_differences<double>(image, 6, border, w, h, Values(6), d, Type::f64, 0.25), 0);
      }
}

TEST(DistanceMap, ManyBinsAndLongRowsGoInPieces) {
  const auto image = oracle::random_image<std::uint8_t>(1500, 3, 0, 255, 9);
  Values target(256, 1);
  target[7] = 100;
  for (const Distance d : {Distance::l2, Distance::emd})
    EXPECT_EQ(map_differences<std::uint32_t>(image, 256, Border::none, 9, 2, target, d, Type::f64), 0);
  EXPECT_EQ(map_differences<std::uint32_t>(image, 2, Border::none, 9, 2, {1, 1}, Distance::l1, Type::f64), 0);
}

TEST(DistanceMap, IsZeroWhereTheTargetWasTaken) {
  const auto image = oracle::random_image<std::uint8_t>(60, 40, 0, 15, 10);
  const Padded tensor = tensor_of<std::uint32_t>(image, 16, Border::none);
  const Values target = counted(image, 16, {31, 22, 12, 9});
  for (const Distance d : distances) {
    Padded out(Type::f64, {49, 32});
    areal::distance_map({tensor.view(), Border::none}, 12, 9, target, d, out.view());
    EXPECT_EQ(out.get<double>(31, 22), 0);
    EXPECT_GT(out.get<double>(3, 2), 0);
  }
}

/// Counts the elements in which the map of the pixels differs from the tensor's map, which has tests of its own.
int pixel_differences(const areal::Array& image, const areal::Binning& binning, std::int64_t width, std::int64_t height,
                      Distance measure, int threads) {
  const areal::HistogramTensor tensor = areal::integral_histogram(image.view(), binning, {.border = Border::zero});
  Values target(static_cast<std::size_t>(binning.bins()));
  for (std::size_t i = 0; i < target.size(); ++i) target[i] = static_cast<double>(i % 3);
  const areal::Shape shape{std::max<std::int64_t>(0, image.shape().width - width + 1),
                           std::max<std::int64_t>(0, image.shape().height - height + 1)};
  areal::Array wanted(shape, Type::f64), got(shape, Type::f64);
  areal::distance_map(tensor, width, height, target, measure, wanted.view());
  areal::distance_map(image.view(), binning, width, height, target, measure, got.view(), {.threads = threads});
  int wrong = 0;
  for (std::int64_t i = 0; i < shape.width * shape.height; ++i)
    wrong += !(wanted.as<double>()[i] == got.as<double>()[i]);
  return wrong;
}

areal::Array pixels_of(Type type, const areal::Shape& shape, unsigned seed) {
  areal::Array image(shape, type);
  std::mt19937 random(seed);
  const std::int64_t n = shape.width * shape.height * shape.channels;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto value = static_cast<std::uint16_t>(random());
    if (type == Type::u8) image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(value);
    if (type == Type::u16) image.as<std::uint16_t>()[i] = value;
    if (type == Type::f32)
      image.as<float>()[i] = value % 7 == 0 ? std::numeric_limits<float>::quiet_NaN() : value / 65536.f;
  }
  return image;
}

TEST(DistanceMap, OfPixelsHasTheBitsOfTheTensors) {
  constexpr unsigned seed = 20261127;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  using areal::Binning;
  const areal::Array bytes = pixels_of(Type::u8, {1500, 130}, seed), words = pixels_of(Type::u16, {97, 211}, seed),
                     floats = pixels_of(Type::f32, {70, 65}, seed), colours = pixels_of(Type::u8, {61, 50, 2}, seed);
  for (const auto& [w, h] :
       std::vector<std::pair<int, int>>{{1, 1}, {9, 7}, {64, 40}, {60, 1}, {1, 50}, {61, 50}, {62, 3}}) {
    SCOPED_TRACE(testing::Message() << w << "x" << h);
    for (const int threads : {1, 3}) {
      // Strips of 1,024 and of 64 windows, and bands of 32 rows and more.
      EXPECT_EQ(pixel_differences(bytes, Binning::uniform(32, 0, 256), w, h, Distance::hellinger, threads), 0);
      EXPECT_EQ(pixel_differences(words, Binning::uniform(300, 0, 40000), w, h, Distance::emd, threads), 0);
      EXPECT_EQ(pixel_differences(floats, Binning::edges({0.1, 0.2, 0.7, 0.9}), w, h, Distance::l1, threads), 0);
      EXPECT_EQ(pixel_differences(colours, Binning::joint({Binning::uniform(4, 0, 256), Binning::uniform(3, 0, 200)}),
                                  w, h, Distance::chi_square, threads),
                0);
    }
  }
  EXPECT_EQ(pixel_differences(bytes, Binning::uniform(5, 0, 256), 1400, 100, Distance::l2, 2), 0);
}

TEST(DistanceMap, OfPixelsRefusesWhatItCannotDo) {
  const areal::Array image = pixels_of(Type::u8, {12, 9}, 1);
  areal::Array out(areal::Shape{9, 7}, Type::f64);
  const auto map = [&](const areal::ConstView& view, const areal::Binning& binning, std::int64_t width,
                       const areal::Execution& execution = {}) {
    areal::distance_map(view, binning, width, 3, Values{1, 1}, Distance::l1, out.view(), execution);
  };
  const areal::Binning two = areal::Binning::uniform(2, 0, 256);
  EXPECT_NO_THROW(map(image.view(), two, 4));
  EXPECT_THROW(map(image.view(), two, 3), InvalidArgument);
  EXPECT_THROW(map(image.view(), two, 0), InvalidArgument);
  EXPECT_THROW(map(image.view(), areal::Binning::uniform(3, 0, 256), 4), InvalidArgument);
  EXPECT_THROW(map(image.view(), two, 4, {.backend = areal::Backend::simt}), areal::Unavailable);
  areal::ConstView several = image.view();
  several.shape.height = 4, several.shape.batch = 2;
  EXPECT_THROW(map(several, two, 4), InvalidArgument);
}

TEST(DistanceMap, WhatCannotBeIsRefused) {
  const auto image = oracle::random_image<std::uint8_t>(12, 9, 0, 3, 11);
  const Padded memory = tensor_of<std::uint32_t>(image, 4, Border::none),
               last = tensor_of<std::uint32_t>(image, 4, Border::exclusive);
  const areal::TensorView tensor{memory.view(), Border::none};
  Padded out(Type::f64, {9, 7}), integers(Type::u32, {9, 7});
  const Values target{1, 1, 1, 1};
  EXPECT_NO_THROW(areal::distance_map(tensor, 4, 3, target, Distance::l1, out.view()));
  EXPECT_THROW(areal::distance_map(tensor, 0, 3, target, Distance::l1, out.view()), InvalidArgument);
  EXPECT_THROW(areal::distance_map(tensor, 3, 3, target, Distance::l1, out.view()), InvalidArgument);
  EXPECT_THROW(areal::distance_map(tensor, 4, 3, Values{1, 1}, Distance::l1, out.view()), InvalidArgument);
  EXPECT_THROW(areal::distance_map(tensor, 4, 3, target, Distance::l1, integers.view()), InvalidArgument);
  EXPECT_THROW(areal::distance_map({last.view(), Border::exclusive}, 4, 3, target, Distance::l1, out.view()),
               InvalidArgument);
}

}  // namespace
