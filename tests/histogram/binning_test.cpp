// Binning compared with numpy's answers, and with a linear search from the definition.
#include <gtest/gtest.h>
#include <areal/binning.hpp>
#include <areal/error.hpp>
#include <cmath>
#include <limits>
#include <random>

namespace areal {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Known {
  double value;
  int bin;  // -1: in no bin
};
struct KnownRange {
  std::int64_t bins;
  double lo, hi;
  std::vector<Known> values;
};

// Made once with numpy 2.4.6: for each x, numpy.histogram(numpy.array([x]), bins=bins, range=(lo, hi))[0].nonzero().
// Multiples of a tenth and a seventh as a loop makes them (0.1*3 and 0.3 both), their neighbours one unit in the last
// place away, ranges near the largest and the smallest doubles.
const std::vector<KnownRange>& known_ranges() {
  static const std::vector<KnownRange> ranges = {
      {10,
       0x0.0p+0,
       0x1.0000000000000p+0,
       {{0x0.0p+0, 0},
        {0x1.999999999999ap-4, 1},
        {0x1.999999999999ap-3, 2},
        {0x1.3333333333334p-2, 3},
        {0x1.999999999999ap-2, 4},
        {0x1.0000000000000p-1, 5},
        {0x1.3333333333334p-1, 6},
        {0x1.6666666666667p-1, 7},
        {0x1.999999999999ap-1, 8},
        {0x1.ccccccccccccdp-1, 9},
        {0x1.0000000000000p+0, 9},
        {0x1.199999999999ap+0, -1},
        {0x1.3333333333333p-2, 2},
        {0x1.3333333333333p-1, 5},
        {0x1.6666666666666p-1, 6},
        {0x1.3333333333334p-2, 3},
        {0x1.3333333333332p-2, 2},
        {-0x1.56e1fc2f8f359p-997, -1},
        {0x1.fffffffffffffp-1, 9},
        {0x1.0000000000001p+0, -1}}},
      {7,
       0x0.0p+0,
       0x1.0000000000000p+0,
       {{0x0.0p+0, 0},
        {0x1.2492492492492p-3, 1},
        {0x1.2492492492492p-2, 2},
        {0x1.b6db6db6db6dbp-2, 3},
        {0x1.2492492492492p-1, 4},
        {0x1.6db6db6db6db7p-1, 5},
        {0x1.b6db6db6db6dbp-1, 6},
        {0x1.0000000000000p+0, 6},
        {0x1.2492492492491p-3, 0},
        {0x1.2492492492491p-2, 1},
        {0x1.b6db6db6db6dap-2, 2},
        {0x1.2492492492491p-1, 3},
        {0x1.6db6db6db6db6p-1, 5},
        {0x1.b6db6db6db6dap-1, 5},
        {0x1.fffffffffffffp-1, 6}}},
      {32,
       0x0.0p+0,
       0x1.0000000000000p+8,
       {{0x0.0p+0, 0},
        {0x1.c000000000000p+2, 0},
        {0x1.fffffbce4217dp+2, 0},
        {0x1.0000000000000p+3, 1},
        {0x1.fe00000000000p+7, 31},
        {0x1.fffffffffffffp+7, 31},
        {0x1.0000000000000p+8, 31},
        {0x1.0000000000001p+8, -1},
        {-0x0.0p+0, 0},
        {-0x0.0000000000001p-1022, -1}}},
      {3,
       -0x1.0000000000000p+0,
       0x1.0000000000000p+0,
       {{-0x1.0000000000000p+0, 0},
        {-0x1.5555555555555p-2, 1},
        {-0x1.5555555555556p-2, 1},
        {-0x1.5555555555554p-2, 1},
        {0x1.5555555555555p-2, 2},
        {0x1.5555555555556p-2, 2},
        {0x1.5555555555554p-2, 2},
        {0x1.0000000000000p+0, 2}}},
      {49,
       0x0.0p+0,
       0x1.399999999999ap+2,
       {{0x0.0p+0, 0},
        {0x1.3333333333334p-2, 3},
        {0x1.3333333333334p-1, 6},
        {0x1.ccccccccccccdp-1, 9},
        {0x1.3333333333334p+0, 12},
        {0x1.8000000000000p+0, 15},
        {0x1.ccccccccccccdp+0, 18},
        {0x1.0cccccccccccdp+1, 21},
        {0x1.3333333333334p+1, 24},
        {0x1.599999999999ap+1, 27},
        {0x1.8000000000000p+1, 30},
        {0x1.a666666666667p+1, 33},
        {0x1.ccccccccccccdp+1, 36},
        {0x1.f333333333334p+1, 39},
        {0x1.0cccccccccccdp+2, 42},
        {0x1.2000000000000p+2, 45},
        {0x1.3333333333334p+2, 48}}},
      {1000,
       -0x1.999999999999ap-4,
       0x1.3333333333333p-2,
       {{-0x1.999999999999ap-4, 0},
        {-0x1.119ce075f6fd2p-4, 83},
        {-0x1.13404ea4a8c16p-5, 166},
        {-0x1.a36e2eb1c4300p-12, 249},
        {0x1.0cb295e9e1b08p-5, 332},
        {0x1.0e5604189374cp-4, 415},
        {0x1.9652bd3c36114p-4, 498},
        {0x1.0f27bb2fec56ep-3, 581},
        {0x1.532617c1bda51p-3, 664},
        {0x1.972474538ef35p-3, 747},
        {0x1.db22d0e560419p-3, 830},
        {0x1.0f9096bb98c7ep-2, 913},
        {0x1.318fc504816f0p-2, 996},
        {0x1.3333333333333p-2, 999},
        {0x1.3333333333334p-2, -1}}},
      {5,
       0x1.7e43c8800759cp+996,
       0x1.1eb2d66005835p+997,
       {{0x1.7e43c8800759cp+996, 0},
        {0x1.a47dc2f33b492p+996, 1},
        {0x1.cab7bd666f388p+996, 2},
        {0x1.f0f1b7d9a327ep+996, 3},
        {0x1.0b95d9266b8bap+997, 4},
        {0x1.1eb2d66005835p+997, 4}}},
      {3,
       0x0.0p+0,
       0x0.0000000000007p-1022,
       {{0x0.0p+0, 0},
        {0x0.0000000000001p-1022, 0},
        {0x0.0000000000002p-1022, 1},
        {0x0.0000000000003p-1022, 1},
        {0x0.0000000000004p-1022, 2},
        {0x0.0000000000005p-1022, 2},
        {0x0.0000000000006p-1022, 2},
        {0x0.0000000000007p-1022, 2}}},
      {50,
       0x0.0p+0,
       0x0.0000000000063p-1022,
       {{0x0.0p+0, 0},
        {0x0.0000000000009p-1022, 4},
        {0x0.0000000000012p-1022, 9},
        {0x0.000000000001bp-1022, 13},
        {0x0.0000000000024p-1022, 18},
        {0x0.000000000002dp-1022, 22},
        {0x0.0000000000036p-1022, 27},
        {0x0.000000000003fp-1022, 31},
        {0x0.0000000000048p-1022, 36},
        {0x0.0000000000051p-1022, 40},
        {0x0.000000000005ap-1022, 45},
        {0x0.0000000000063p-1022, 49}}},
  };
  return ranges;
}

TEST(Binning, UniformIsNumpys) {
  for (const KnownRange& range : known_ranges()) {
    const Binning binning = Binning::uniform(range.bins, range.lo, range.hi);
    for (const Known& known : range.values)
      EXPECT_EQ(binning.bin_of(known.value), known.bin)
          << std::hexfloat << known.value << " in " << range.bins << " bins of " << range.lo << " to " << range.hi;
  }
}

TEST(Binning, ATenthTimesThreeIsNotThreeTenths) {
  const Binning binning = Binning::uniform(10, 0, 1);
  EXPECT_EQ(binning.bin_of(0.1 * 3), 3);
  EXPECT_EQ(binning.bin_of(0.3), 2);
  EXPECT_EQ(binning.bin_edges()[3], 0.1 * 3);
}

TEST(Binning, EdgesAreNumpys) {
  // numpy.histogram([x], bins=[-1.0, 0.1*3, 0.5, 2.0])
  const Binning binning = Binning::edges({-1.0, 0.1 * 3, 0.5, 2.0});
  const Known known[] = {{-1.0, 0}, {0.3, 0}, {0.1 * 3, 1}, {0.4999, 1}, {0.5, 2}, {2.0, 2}, {2.0000000000000004, -1},
                         {-1.1, -1}};
  for (const Known& k : known) EXPECT_EQ(binning.bin_of(k.value), k.bin) << k.value;
  EXPECT_EQ(binning.bins(), 3);
  EXPECT_EQ(binning.bin_of(nan), -1);
  EXPECT_EQ(binning.bin_of(infinity), -1);
}

TEST(Binning, EqualsALinearSearch) {
  std::mt19937_64 random(20261);
  SCOPED_TRACE("seed 20261");
  for (int round = 0; round < 60; ++round) {
    const std::int64_t bins = 1 + static_cast<std::int64_t>(random() % (round < 50 ? 40 : 5000));
    const double lo = std::uniform_real_distribution<>(-10, 10)(random);
    const double hi = lo + std::exp(std::uniform_real_distribution<>(-12, 12)(random));
    const Binning equal = Binning::uniform(bins, lo, hi);
    const std::vector<double> edges = equal.bin_edges();
    ASSERT_EQ(static_cast<std::int64_t>(edges.size()), bins + 1);
    const Binning explicit_edges = Binning::edges(edges);
    for (int i = 0; i < 200; ++i) {
      double x = edges[random() % edges.size()];
      if (i % 4 == 1) x = std::nextafter(x, -infinity);
      if (i % 4 == 2) x = std::nextafter(x, infinity);
      if (i % 4 == 3) x = std::uniform_real_distribution<>(lo - 0.1 * (hi - lo), hi + 0.1 * (hi - lo))(random);
      std::int64_t expected = -1;
      for (std::int64_t b = 0; b < bins; ++b) {
        const bool below = x < edges[static_cast<std::size_t>(b) + 1] || (b == bins - 1 && x == hi);
        if (x >= edges[static_cast<std::size_t>(b)] && below) expected = b;
      }
      ASSERT_EQ(equal.bin_of(x), expected) << x;
      ASSERT_EQ(explicit_edges.bin_of(x), expected) << x;
      const std::int64_t clamped = x < lo ? 0 : x > hi ? bins - 1 : expected;
      ASSERT_EQ(equal.clamped().bin_of(x), clamped) << x;
      ASSERT_EQ(explicit_edges.clamped().bin_of(x), clamped) << x;
    }
  }
}

TEST(Binning, ClampedTakesInfinitiesAndNotNan) {
  const Binning binning = Binning::uniform(4, 0, 1).clamped();
  EXPECT_TRUE(binning.is_clamped());
  EXPECT_EQ(binning.bin_of(-infinity), 0);
  EXPECT_EQ(binning.bin_of(infinity), 3);
  EXPECT_EQ(binning.bin_of(nan), -1);
  EXPECT_THROW(Binning::labels(3).clamped(), InvalidArgument);
}

TEST(Binning, LookupLabelsAndJoint) {
  const Binning lookup = Binning::lookup({2, -1, 0});
  EXPECT_EQ(lookup.bins(), 3);
  EXPECT_EQ(lookup.bin_of(0), 2);
  EXPECT_EQ(lookup.bin_of(1), -1);
  EXPECT_EQ(lookup.bin_of(2), 0);
  for (const double x : {3.0, -1.0, 0.5, nan, infinity}) EXPECT_EQ(lookup.bin_of(x), -1) << x;

  const Binning labels = Binning::labels(5, 3);
  EXPECT_EQ(labels.bins(), 5);
  EXPECT_EQ(labels.bin_of(4), 4);
  for (const double x : {3.0, 5.0, -1.0, 1.5, nan}) EXPECT_EQ(labels.bin_of(x), -1) << x;
  EXPECT_EQ(labels.bin_edges(), (std::vector<double>{0, 1, 2, 3, 4, 5}));

  const Binning joint = Binning::joint({Binning::uniform(4, 0, 256), labels});
  EXPECT_EQ(joint.bins(), 20);
  EXPECT_EQ(joint.channels(), 2);
  EXPECT_THROW(joint.bin_of(0), InvalidArgument);
}

TEST(Binning, OfType) {
  EXPECT_EQ(Binning::of_type(Type::u8, 32).hi(), 256);
  EXPECT_EQ(Binning::of_type(Type::u8, 32).bin_of(255), 31);
  EXPECT_EQ(Binning::of_type(Type::s8, 2).bin_of(-1), 0);
  EXPECT_EQ(Binning::of_type(Type::s8, 2).bin_of(0), 1);
  EXPECT_EQ(Binning::of_type(Type::u16, 4).hi(), 65536);
  EXPECT_EQ(Binning::of_type(Type::u32, 2).bin_of(2147483648.0), 1);
  EXPECT_EQ(Binning::of_type(Type::s64, 2).bin_of(-1), 0);
  EXPECT_EQ(Binning::of_type(Type::f32, 10).hi(), 1);
}

template <class F>
void expect_refused(F&& make, const std::string& part) {
  try {
    make();
    FAIL() << "not refused: " << part;
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Binning, RefusesWhatCannotBe) {
  expect_refused([] { Binning::uniform(0, 0, 1); }, "bins 0");
  expect_refused([] { Binning::uniform(-3, 0, 1); }, "bins -3");
  expect_refused([] { Binning::uniform(65536, 0, 1); }, "65535");
  expect_refused([] { Binning::uniform(4, 1, 1); }, "range 1 to 1");
  expect_refused([] { Binning::uniform(4, 2, 1); }, "rise");
  expect_refused([] { Binning::uniform(4, nan, 1); }, "finite");
  expect_refused([] { Binning::uniform(4, 0, infinity); }, "finite");
  expect_refused([] { Binning::uniform(4, -1.7e308, 1.7e308); }, "finite");
  // numpy: "Too many bins for data range"
  expect_refused([] { Binning::uniform(100, 1, 1 + 1e-15); }, "too many");
  expect_refused([] { Binning::edges({}); }, "two or more");
  expect_refused([] { Binning::edges({1}); }, "two or more");
  expect_refused([] { Binning::edges({0, 1, 1}); }, "edge 2 is 1");
  expect_refused([] { Binning::edges({0, 2, 1}); }, "rise");
  expect_refused([] { Binning::edges({0, nan, 1}); }, "NaN");
  expect_refused([] { Binning::lookup({}); }, "no bin");
  expect_refused([] { Binning::lookup({-1, -1}); }, "no bin");
  expect_refused([] { Binning::lookup({0, -2}); }, "entry 1 is -2");
  expect_refused([] { Binning::lookup({65535}); }, "65535");
  expect_refused([] { Binning::labels(0); }, "bins 0");
  expect_refused([] { Binning::joint({Binning::labels(3)}); }, "2 or 3");
  expect_refused([] { Binning::joint({Binning::labels(300), Binning::labels(300)}); }, "bins 90000");
  const Binning pair = Binning::joint({Binning::labels(3), Binning::labels(3)});
  expect_refused([&] { Binning::joint({pair, Binning::labels(3)}); }, "joint bins of joint bins");
}

// Every slice of a binning has of every value what the whole has.
std::string difference_of_slices(const Binning& whole, const std::vector<double>& values) {
  for (std::int64_t first = 0; first < whole.bins(); ++first)
    for (std::int64_t count = 1; first + count <= whole.bins(); count = count * 2 + 1) {
      const Binning slice = whole.slice(first, count);
      if (slice.bins() != count) return "bins of " + std::to_string(first) + " " + std::to_string(count);
      for (const double value : values) {
        const std::int64_t bin = whole.bin_of(value);
        const std::int64_t expected = bin >= first && bin < first + count ? bin - first : -1;
        if (slice.bin_of(value) != expected)
          return std::to_string(value) + " in " + std::to_string(first) + " " + std::to_string(count);
      }
    }
  return {};
}

TEST(Binning, SlicesHaveTheBinsOfTheWhole) {
  std::mt19937_64 random(20261122);
  for (const Binning& whole :
       {Binning::uniform(13, -3.7, 11.1), Binning::uniform(13, -3.7, 11.1).clamped(), Binning::uniform(30, 0, 256),
        Binning::edges({-infinity, -1, 0, 0.1, 7}), Binning::edges({-2, 1e-300, 3, 1e300}).clamped()}) {
    std::vector<double> values{nan, infinity, -infinity, 0};
    for (const double edge : whole.bin_edges())
      for (const double next : {-infinity, infinity}) {
        values.push_back(edge);
        values.push_back(std::nextafter(edge, next));
      }
    for (int i = 0; i < 200; ++i) values.push_back(std::uniform_real_distribution<double>(-5, 12)(random));
    EXPECT_EQ(difference_of_slices(whole, values), "") << "seed 20261122";
  }
  std::vector<double> whole_numbers;
  for (int v = -3; v < 70000; v = v < 300 ? v + 1 : v * 2) whole_numbers.push_back(v);
  EXPECT_EQ(difference_of_slices(Binning::labels(40), whole_numbers), "");
  EXPECT_EQ(difference_of_slices(Binning::lookup({3, 1, -1, 0, 3, 2, 2, 7}), whole_numbers), "");
  // The check can fail: a closed last bin takes the edge of the next one.
  const Binning closed = Binning::edges({0, 1, 2});
  EXPECT_NE(Binning::edges({0, 1}).bin_of(1), closed.slice(0, 1).bin_of(1));
}

TEST(Binning, SlicesOfJointBinsAndOfIgnoredLabels) {
  const Binning joint = Binning::joint({Binning::uniform(6, 0, 60), Binning::labels(4)});
  const Binning slice = joint.slice(8, 12);
  EXPECT_EQ(slice.bins(), 12);
  EXPECT_EQ(slice.parts()[0].bin_of(25), 0);
  EXPECT_EQ(slice.parts()[0].bin_of(50), -1);
  expect_refused([&] { joint.slice(8, 3); }, "multiples of 4");
  EXPECT_EQ(Binning::labels(9, 2).slice(3, 4).bins(), 4);
  expect_refused([] { Binning::labels(9, 2).slice(0, 4); }, "the ignored one");
  expect_refused([] { Binning::labels(9).slice(6, 4); }, "there are 9");
  expect_refused([] { Binning::labels(9).slice(-1, 4); }, "from -1");
  expect_refused([] { Binning::labels(9).slice(3, 0); }, "slice of 0");
}

}  // namespace
}  // namespace areal
