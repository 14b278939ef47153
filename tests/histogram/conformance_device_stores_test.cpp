// Every store on every backend: random images, rules, masks, weights and regions. Whoever answers has the counts of a
// loop over the pixels, or the values of a sort; who refuses does so by name.
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/areal.hpp>
#include <areal/info.hpp>
#include <cmath>
#include <map>
#include "histogram_oracle.hpp"

namespace areal::conformance {
namespace {

using oracle::Guarded;
using oracle::Rule;

constexpr std::uint64_t first_seed = 20261127;
constexpr int cases = 300, simulated_cases = 40, simulated_sorts = 12;
int cases_of(Backend backend) { return backend == Backend::simt ? simulated_cases : cases; }
int sorts_of(Backend backend) { return backend == Backend::simt ? simulated_sorts : cases; }

std::vector<Backend> all_backends() {
  std::vector<Backend> found;
  for (const BackendInfo& row : backends())
    if (row.available) found.push_back(row.backend);
  return found;
}

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}
  std::int64_t whole(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  bool chance(int percent) { return whole(0, 99) < percent; }
  template <class T>
  T pick(std::initializer_list<T> of) {
    return of.begin()[whole(0, static_cast<std::int64_t>(of.size()) - 1)];
  }
  std::mt19937_64& random() { return random_; }

 private:
  std::mt19937_64 random_;
};

/// Near the lines of compact stores and the panels of rank stores.
std::int64_t side(Maker& make) {
  return make.chance(20) ? make.pick<std::int64_t>({0, 1, 2})
                         : make.pick<std::int64_t>({15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 97, 129});
}

Rule rule_for(Maker& make, Type type, std::int64_t channels) {
  const bool clamp = make.chance(30);
  if (channels == 2)
    return oracle::joint({oracle::uniform(make.whole(1, 6), 0, 256), oracle::uniform(make.whole(1, 5), 9, 200)});
  switch (make.whole(0, is_float(type) ? 1 : 2)) {
    case 0:
      return oracle::uniform(make.pick<std::int64_t>({1, 2, 15, 16, 17, 32, 100, 255, 256, 257}), 0,
                             make.pick<double>({100, 256, 310}), clamp);
    case 1:
      return oracle::edges({0, 0.5, 3, 100, 100.5, 255}, clamp);
    default:
      return oracle::labels(make.pick<std::int64_t>({1, 7, 256, 300}), make.whole(0, 9));
  }
}

std::vector<Region> regions_for(Maker& make, const Shape& image) {
  std::vector<Region> regions{{0, 0, image.width, image.height}, {image.width, image.height, 0, 0}};
  for (int i = 0; i < 12; ++i) {
    const std::int64_t x = make.whole(0, image.width), y = make.whole(0, image.height);
    regions.push_back({x, y, make.whole(0, image.width - x), make.whole(0, image.height - y)});
  }
  return regions;
}

struct Case {
  Type type;
  Shape shape;
  Rule rule;
  bool weighted, masked;
  int block;
  std::vector<Region> regions;

  explicit Case(Maker& make)
      : type(make.pick({Type::u8, Type::u8, Type::u16, Type::s16, Type::s32, Type::f16, Type::f32, Type::f64})),
        shape{side(make), side(make), make.chance(20) ? 2 : 1, make.chance(20) ? 2 : 1,
              make.chance(50) ? Layout::planar : Layout::interleaved},
        rule(rule_for(make, type, shape.channels)),
        weighted(make.chance(15)),
        masked(!weighted && make.chance(25)),
        block(make.pick({0, 0, 32, 64, 128})),
        regions(regions_for(make, shape)) {}
};

/// Images x regions x bins.
std::vector<double> counted(const Case& c, const ConstView& image, const ConstView& more) {
  const std::int64_t bins = c.rule.binning.bins();
  std::vector<double> all;
  for (std::int64_t n = 0; n < c.shape.batch; ++n)
    for (const Region& r : c.regions) {
      std::vector<double> sums(static_cast<std::size_t>(bins));
      for (std::int64_t y = r.y; y < r.y + r.height; ++y)
        for (std::int64_t x = r.x; x < r.x + r.width; ++x) {
          const std::int64_t bin = oracle::bin_at(c.rule, image, x, y, n);
          const double value = c.weighted || c.masked ? oracle::value_at(more, x, y, 0, n) : 1;
          if (bin >= 0) sums[static_cast<std::size_t>(bin)] += c.masked ? value != 0 : value;
        }
      all.insert(all.end(), sums.begin(), sums.end());
    }
  return all;
}

/// What a store answers, or the sentence with which it refuses.
struct Said {
  std::vector<double> numbers;
  std::string refusal;
};

Said ask(const Case& c, const ConstView& image, const ConstView& more, Store store, Backend backend) {
  Said said;
  const Execution execution{.backend = backend, .threads = 2};
  try {
    const StoreOptions options{.store = store, .weighted = c.weighted, .masked = c.masked, .block = c.block};
    StoreArguments arguments{image};
    if (c.weighted) arguments.weights = more;
    if (c.masked) arguments.mask = more;
    const HistogramStore made = histogram_store(arguments, c.rule.binning, options, execution);
    for (std::int64_t n = 0; n < c.shape.batch; ++n) {
      const auto numbers = region_histograms<double>(made.view(n), c.regions, {.execution = {.backend = backend}});
      said.numbers.insert(said.numbers.end(), numbers.begin(), numbers.end());
      if (c.weighted) continue;
      const auto counts = region_histograms(made.view(n), c.regions, {.execution = {.backend = backend}});
      if (!std::equal(counts.begin(), counts.end(), numbers.begin(), numbers.end(),
                      [](std::uint64_t a, double b) { return static_cast<double>(a) == b; }))
        said.refusal = "64u and double differ";
    }
  } catch (const Error& error) {
    said.refusal = error.what();
  }
  return said;
}

/// Whether a store may refuse the case: see the contract of StorePlan.
bool may_refuse(const Case& c, Store store, Backend backend) {
  if (c.weighted) return store == Store::compact;
  if (c.masked) return store == Store::tensor || (store == Store::none && backend != Backend::cpu);
  return false;
}

class EveryStore : public testing::TestWithParam<Backend> {};

TEST_P(EveryStore, HaveTheCountsOfALoop) {
  std::map<Store, int> answers;
  for (int i = 0; i < cases_of(GetParam()); ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    Maker make(seed);
    const Case c(make);
    const Guarded image(c.shape, c.type, 1, 3);
    oracle::fill_random(image.view, make.random(), 0, 310);
    const Guarded more({c.shape.width, c.shape.height, 1, c.shape.batch}, Type::u8, 2, 5);
    oracle::fill_random(more.view, make.random(), 0, 3);
    const std::vector<double> expected = counted(c, image.view, more.view);
    for (const Store store : {Store::none, Store::compact, Store::tensor}) {
      SCOPED_TRACE(testing::Message() << name_of(store) << ", seed " << seed << ": " << c.shape.width << "x"
                                      << c.shape.height << "x" << c.shape.channels << "x" << c.shape.batch << " "
                                      << name_of(c.type) << ", " << c.rule.name);
      const Said said = ask(c, image.view, more.view, store, GetParam());
      if (!said.refusal.empty()) {
        EXPECT_TRUE(may_refuse(c, store, GetParam())) << said.refusal;
        continue;
      }
      ++answers[store];
      EXPECT_TRUE(said.numbers == expected);
    }
  }
  for (const Store store : {Store::none, Store::compact, Store::tensor})
    EXPECT_GT(answers[store], cases_of(GetParam()) / 2) << name_of(store);
}

TEST_P(EveryStore, FindAWrongPixel) {
  Maker make(first_seed);
  Case c(make);
  c.type = Type::u8, c.shape = {65, 33}, c.rule = oracle::uniform(16, 0, 256), c.weighted = c.masked = false;
  c.regions = {{0, 0, 65, 33}};
  const Guarded image(c.shape, c.type, 1, 3);
  oracle::fill_random(image.view, make.random(), 0, 255);
  std::vector<double> expected = counted(c, image.view, image.view);
  const auto bin = static_cast<std::size_t>(oracle::bin_at(c.rule, image.view, 64, 32, 0));
  for (const Store store : {Store::none, Store::compact, Store::tensor})
    EXPECT_TRUE(ask(c, image.view, image.view, store, GetParam()).numbers == expected);
  --expected[bin];
  for (const Store store : {Store::none, Store::compact, Store::tensor})
    EXPECT_FALSE(ask(c, image.view, image.view, store, GetParam()).numbers == expected);
}

/// The lower quantile of each region and channel by a sort; NaN of no values.
std::vector<double> sorted_quantiles(const Case& c, const ConstView& image, const std::vector<double>& q) {
  std::vector<double> all;
  for (std::int64_t n = 0; n < c.shape.batch; ++n)
    for (const Region& r : c.regions)
      for (std::int64_t channel = 0; channel < c.shape.channels; ++channel) {
        std::vector<double> values;
        for (std::int64_t y = r.y; y < r.y + r.height; ++y)
          for (std::int64_t x = r.x; x < r.x + r.width; ++x)
            if (const double value = oracle::value_at(image, x, y, channel, n); !std::isnan(value))
              values.push_back(value);
        std::sort(values.begin(), values.end());
        for (const double one : q) {
          const auto rank =
              static_cast<std::size_t>(values.empty() ? 0 : std::floor(one * static_cast<double>(values.size() - 1)));
          all.push_back(values.empty() ? std::nan("") : values[rank]);
        }
      }
  return all;
}

TEST_P(EveryStore, HaveTheQuantilesOfASort) {
  const std::vector<double> q{0, 0.25, 0.5, 1};
  int answers = 0;
  for (int i = 0; i < sorts_of(GetParam()); ++i) {
    const std::uint64_t seed = first_seed + 1000 + static_cast<std::uint64_t>(i);
    Maker make(seed);
    const Case c(make);
    const Guarded image(c.shape, c.type, 1, 3);
    oracle::fill_random(image.view, make.random(), 0, 310);
    const std::vector<double> expected = sorted_quantiles(c, image.view, q);
    for (const Store store : {Store::none, Store::rank}) {
      if (store == Store::none && GetParam() != Backend::cpu) continue;
      SCOPED_TRACE(testing::Message() << name_of(store) << ", seed " << seed << ": " << c.shape.width << "x"
                                      << c.shape.height << "x" << c.shape.channels << "x" << c.shape.batch << " "
                                      << name_of(c.type));
      const Execution execution{.backend = GetParam(), .threads = 2};
      const HistogramStore made = histogram_store(image.view, {.store = store}, execution);
      std::vector<double> got;
      for (std::int64_t n = 0; n < c.shape.batch; ++n) {
        const auto of =
            region_quantiles(made.view(n), c.regions, q, QuantileMethod::lower, {.execution = {.backend = GetParam()}});
        got.insert(got.end(), of.begin(), of.end());
      }
      EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.begin(), expected.end(),
                             [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }));
      ++answers;
    }
  }
  EXPECT_GE(answers, sorts_of(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Histograms, EveryStore, testing::ValuesIn(all_backends()),
                         [](const auto& one) { return std::string(name_of(one.param)); });

}  // namespace
}  // namespace areal::conformance
