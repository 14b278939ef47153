// Gaussians, compared with the sum over all pixels of their window in long double.
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/filter.hpp>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>
#include "real_cases.hpp"
#include "refusal.hpp"

namespace {

using namespace real_cases;
using areal::refusal;
using Weights = std::vector<Real>;  // from -reach to reach

// Samples of the Gaussian as far as truncate sigmas.
Weights samples(double sigma, double truncate) {
  const auto reach = static_cast<std::int64_t>(truncate * sigma + 0.5);
  Weights weights;
  Real sum = 0;
  for (std::int64_t k = -reach; k <= reach; ++k) {
    const Real x = static_cast<Real>(k), s = sigma;
    weights.push_back(sigma == 0 ? 1 : std::exp(-x * x / (2 * s * s)));
    sum += weights.back();
  }
  for (Real& weight : weights) weight /= sum;
  return weights;
}

// The longest box with weights of 1 whose variance is at most sigma^2 / passes, with ends that add the rest, convolved
// with itself.
Weights boxes(double sigma, int passes) {
  const Real wanted = static_cast<Real>(sigma) * sigma / passes;
  std::int64_t inside = 0;
  const auto variance = [](std::int64_t n) { return static_cast<Real>(n) * (n + 1) / 3; };
  while (variance(inside + 1) <= wanted) ++inside;
  Weights box(static_cast<std::size_t>(2 * inside + 3), 1);
  // Bisection of the ends' weight.
  Real low = 0, high = 1;
  for (int step = 0; step < 200; ++step) {
    const Real end = (low + high) / 2, far = static_cast<Real>((inside + 1) * (inside + 1));
    const Real is = (variance(inside) * static_cast<Real>(2 * inside + 1) + 2 * end * far) /
                    (static_cast<Real>(2 * inside + 1) + 2 * end);
    (is < wanted ? low : high) = end;
  }
  box.front() = box.back() = low;
  Real sum = 0;
  for (const Real weight : box) sum += weight;
  for (Real& weight : box) weight /= sum;
  Weights all{1};
  for (int pass = 0; pass < passes; ++pass) {
    Weights next(all.size() + box.size() - 1, 0);
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t k = 0; k < box.size(); ++k) next[i + k] += all[i] * box[k];
    all = next;
  }
  return all;
}

Weights weights_of(const filter::Gaussian& gaussian, double sigma, const std::string& algorithm) {
  if (sigma == 0 || algorithm == "convolution" || (gaussian.passes == 0 && sigma <= 8))
    return samples(sigma, gaussian.truncate);
  return boxes(sigma, gaussian.passes == 0 ? 5 : gaussian.passes);
}

struct Case : RealCase {
  struct Memory : RealMemory {
    explicit Memory(const Case& c) : RealMemory(c, c.out_shape()) {}
  };
  filter::Gaussian gaussian;

  Case() : RealCase(Type::f32, -100, 120) {}
  FilterPlan plan() const { return {shape, in, out, gaussian, options, execution}; }
  std::string words() const {
    std::ostringstream text;
    text << "sigma " << gaussian.sigma_x << "," << gaussian.sigma_y << " truncate " << gaussian.truncate << " passes "
         << gaussian.passes << " " << options.algorithm << types_and_shape();
    return text.str();
  }
  Weights across() const { return weights_of(gaussian, gaussian.sigma_x, options.algorithm); }
  Weights down() const { return weights_of(gaussian, gaussian.sigma_y, options.algorithm); }
  Shape out_shape() const {
    Shape made = shape;
    made.layout = out_layout;
    if (options.window.edge == Edge::valid) {
      made.width = std::max<std::int64_t>(0, shape.width - static_cast<std::int64_t>(across().size()) + 1);
      made.height = std::max<std::int64_t>(0, shape.height - static_cast<std::int64_t>(down().size()) + 1);
    }
    return made;
  }
};

using Memory = Case::Memory;

std::string differences(const Case& c, const Memory& memory) {
  Differences found(memory.out);
  const Edge edge = c.options.window.edge;
  const Weights across = c.across(), down = c.down();
  const auto nx = static_cast<std::int64_t>(across.size()), ny = static_cast<std::int64_t>(down.size());
  const Shape& s = memory.out.view().shape;
  const double value = edge == Edge::constant ? c.options.window.value : 0;
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t channel = 0; channel < s.channels; ++channel)
      for (std::int64_t y = 0; y < s.height; ++y)
        for (std::int64_t x = 0; x < s.width; ++x) {
          const std::int64_t left = x - (edge == Edge::valid ? 0 : nx / 2),
                             top = y - (edge == Edge::valid ? 0 : ny / 2);
          Real sum = 0, inside = 0, magnitude = 0;
          for (std::int64_t r = 0; r < ny; ++r)
            for (std::int64_t k = 0; k < nx; ++k) {
              const std::int64_t px = oracle::shown(left + k, c.shape.width, edge),
                                 py = oracle::shown(top + r, c.shape.height, edge);
              if ((px < 0 || py < 0) && edge == Edge::shrink) continue;
              const Real weight = across[static_cast<std::size_t>(k)] * down[static_cast<std::size_t>(r)];
              const Real pixel = px < 0 || py < 0 ? value : oracle::element(memory.arguments.image, px, py, channel, n);
              sum += weight * pixel, inside += weight, magnitude += weight * std::fabs(pixel);
            }
          const double want = static_cast<double>(edge == Edge::shrink ? sum / inside : sum);
          const double tolerance = 1e-12 * static_cast<double>(magnitude / inside) +
                                   (c.out == Type::f32 ? 0x1p-24 * (1 + 1e-9) * std::fabs(want) : 0);
          found.see(x, y, channel, n, want, tolerance);
        }
  return found.words();
}

Case of(std::int64_t width, std::int64_t height, const filter::Gaussian& gaussian, Edge edge) {
  Case c;
  c.shape = {width, height};
  c.gaussian = gaussian;
  c.options.window.edge = edge;
  c.options.window.value = 70;
  return c;
}

TEST(FilterGaussian, TheOracleCatchesOneChangedPixel) {
  for (const int passes : {0, 3}) {
    const Case c = of(33, 21, {2, 1.5, 4, passes}, Edge::symmetric);
    Memory memory(c);
    run(c, memory);
    EXPECT_EQ(differences(c, memory), "");
    memory.image.set(memory.image.get<float>(7, 9) + 3, 7, 9);
    EXPECT_NE(differences(c, memory), "");
  }
}

TEST(FilterGaussian, EveryEdge) {
  std::uint64_t seed = 100;
  for (const Edge edge : oracle::edges)
    for (const filter::Gaussian& gaussian : {filter::Gaussian{0, 0},
                                             {1, 1},
                                             {0.4, 2.3},
                                             {3, 0},
                                             {1.7, 0.6, 2.5},
                                             {2, 2, 4, 3},
                                             {0.5, 1.1, 4, 5},
                                             {0, 3, 4, 1}})
      for (const auto& [width, height] : {std::pair{23, 19}, {1, 23}, {23, 1}, {2, 3}, {1, 1}}) {
        Case c = of(width, height, gaussian, edge);
        c.out = seed % 2 == 0 ? Type::f64 : Type::f32;
        c.seed = ++seed;
        expect_right(c);
      }
}

// Both algorithms on their side of sigma 8, on an axis each, and windows that reach many times the image.
TEST(FilterGaussian, WideOnes) {
  std::uint64_t seed = 300;
  for (const Edge edge : oracle::edges)
    for (const filter::Gaussian& gaussian :
         {filter::Gaussian{8, 8}, {8.5, 2}, {1, 12}, {9, 11, 4, 3}, {30, 0}, {0, 130}}) {
      const bool long_row = gaussian.sigma_y == 0, long_column = gaussian.sigma_x == 0;
      Case c = of(long_row ? 300 : long_column ? 2 : 23, long_column ? 150 : long_row ? 2 : 21, gaussian, edge);
      c.seed = ++seed;
      expect_right(c);
    }
  for (const char* algorithm : {"convolution", "extended-boxes"}) {
    Case c = of(40, 30, {10, 3}, Edge::reflect);
    c.options.algorithm = algorithm;
    c.seed = ++seed;
    expect_right(c);
  }
}

// Several panels, with reflections in narrow ones.
TEST(FilterGaussian, WideAndTallImages) {
  std::uint64_t seed = 500;
  for (const Edge edge : oracle::edges)
    for (const auto& [width, height, passes] :
         {std::array<int, 3>{1537, 3, 0}, {2049, 2, 4}, {1540, 1, 5}, {3, 200, 3}, {2, 311, 0}}) {
      Case c = of(width, height, {2.2, 1.9, 4, passes}, edge);
      if (edge == Edge::valid && height < 20) c.gaussian.sigma_y = 0;
      if (edge == Edge::valid && width < 20) c.gaussian.sigma_x = 0;
      c.seed = ++seed;
      expect_right(c);
    }
}

TEST(FilterGaussian, EveryTypeAndOutput) {
  std::uint64_t seed = 600;
  for (const Type in :
       {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32, Type::f16, Type::f32, Type::f64})
    for (const Type out : {Type::u8, Type::s8, Type::u16, Type::s16, Type::s32, Type::f32, Type::f64})
      for (const int passes : {0, 2}) {
        Case c = of(27, 19, {1.3, 2, 4, passes}, Edge::constant);
        c.in = in, c.out = out;
        const bool is_signed = areal::is_float(in) || areal::is_signed_integer(in);
        const int bits = static_cast<int>(8 * areal::size_of(in));
        c.least = areal::is_float(in) ? -300 : is_signed ? -std::ldexp(1, bits - 1) : 0;
        c.most = areal::is_float(in) ? 300 : std::ldexp(1, is_signed ? bits - 1 : bits) - 1;
        c.seed = ++seed;
        expect_right(c);
      }
}

TEST(FilterGaussian, ChannelsLayoutsAndBatches) {
  std::uint64_t seed = 700;
  for (const Layout in : {Layout::interleaved, Layout::planar})
    for (const Layout out : {Layout::interleaved, Layout::planar})
      for (const std::int64_t channels : {1, 3, 5})
        for (const int passes : {0, 3}) {
          Case c = of(19, 13, {1.5, 1, 4, passes}, Edge::symmetric);
          c.shape.channels = channels, c.shape.batch = 2, c.shape.layout = in;
          c.out_layout = out;
          c.in = c.out = Type::u8;
          c.least = 0, c.most = 255;
          c.seed = ++seed;
          expect_right(c);
        }
}

// Elements of interleaved pixels, in several panels, at every edge.
TEST(FilterGaussian, InterleavedElements) {
  std::uint64_t seed = 760;
  for (const Edge edge : {Edge::shrink, Edge::zero, Edge::replicate, Edge::reflect, Edge::wrap, Edge::constant})
    for (const std::int64_t channels : {2, 3, 16, 17}) {
      Case c = of(channels == 3 ? 700 : 21, 5, {1.5, 1, 4, 0}, edge);
      c.shape.channels = channels, c.shape.layout = c.out_layout = Layout::interleaved;
      c.in = c.out = Type::u8;
      c.least = 0, c.most = 255;
      c.seed = ++seed;
      expect_right(c);
    }
}

TEST(FilterGaussian, Properties) {
  for (const int passes : {0, 3, 5}) {
    const filter::Gaussian gaussian{2.5, 2.5, 4, passes};
    // A constant image gives itself.
    for (const Edge edge : {Edge::shrink, Edge::replicate, Edge::wrap, Edge::constant}) {
      FilterOptions options;
      options.window.edge = edge, options.window.value = 201;
      std::vector<std::uint8_t> flat(31 * 23, 201), out(flat.size());
      apply(gaussian, areal::ConstView(flat.data(), 31, 23), areal::View(out.data(), 31, 23), options);
      EXPECT_EQ(out, flat);
    }
    // An impulse gives the weights: of sum 1, symmetric, with the variance sigma^2.
    std::vector<double> impulse(61 * 61, 0), out(impulse.size());
    impulse[30 * 61 + 30] = 1;
    FilterOptions options;
    options.window.edge = Edge::zero;
    apply(gaussian, areal::ConstView(impulse.data(), 61, 61), areal::View(out.data(), 61, 61), options);
    double sum = 0, variance = 0;
    for (int y = 0; y < 61; ++y)
      for (int x = 0; x < 61; ++x) {
        const double weight = out[static_cast<std::size_t>(y * 61 + x)];
        EXPECT_NEAR(weight, out[static_cast<std::size_t>(x * 61 + y)], 1e-16);
        EXPECT_NEAR(weight, out[static_cast<std::size_t>(y * 61 + 60 - x)], 1e-16);
        sum += weight, variance += weight * (x - 30) * (x - 30);
      }
    EXPECT_NEAR(sum, 1, 1e-13);
    EXPECT_NEAR(variance, 6.25, passes == 0 ? 0.01 : 1e-11);
  }
}

// The documented difference of extended boxes from the Gaussian: half of the weights' absolute differences.
TEST(FilterGaussian, BoxesAreNearTheGaussian) {
  for (const double sigma : {2.0, 3.3, 5.0, 8.5, 20.0, 47.0})
    for (const auto& [passes, most] : {std::pair{3, 0.040}, {5, 0.022}}) {
      const auto half = static_cast<std::int64_t>(6 * sigma);
      const std::int64_t n = 2 * half + 1;
      std::vector<double> impulse(static_cast<std::size_t>(n), 0), out(impulse.size());
      impulse[static_cast<std::size_t>(half)] = 1;
      FilterOptions options;
      options.window.edge = Edge::zero;
      options.algorithm = "extended-boxes";
      apply(filter::Gaussian{sigma, 0, 4, passes}, areal::ConstView(impulse.data(), n, 1),
            areal::View(out.data(), n, 1), options);
      const Weights ideal = samples(sigma, 6);
      const auto ideal_at = [&](std::int64_t i) -> double {
        const std::int64_t at = i - half + static_cast<std::int64_t>(ideal.size()) / 2;
        return at < 0 || at >= static_cast<std::int64_t>(ideal.size())
                   ? 0
                   : static_cast<double>(ideal[static_cast<std::size_t>(at)]);
      };
      double apart = 0;
      for (std::int64_t y = 0; y < n; ++y)
        for (std::int64_t x = 0; x < n; ++x)
          apart += std::fabs(out[static_cast<std::size_t>(x)] * out[static_cast<std::size_t>(y)] -
                             ideal_at(x) * ideal_at(y));
      EXPECT_LE(apart / 2, most) << sigma << " " << passes;
      EXPECT_GE(apart / 2, most / 2) << sigma << " " << passes;
    }
}

// A NaN, an infinity and an outlier change exactly the windows that hold them.
TEST(FilterGaussian, OutliersStayLocal) {
  for (const float outlier : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e20f})
    for (const int passes : {0, 2}) {
      Case c = of(60, 60, {1.5, 1, 4, passes}, Edge::shrink);
      Memory before(c), after(c);
      run(c, before);
      after.image.set(outlier, 30, 20);
      run(c, after);
      const auto reach_x = static_cast<std::int64_t>(c.across().size()) / 2,
                 reach_y = static_cast<std::int64_t>(c.down().size()) / 2;
      for (std::int64_t y = 0; y < 60; ++y)
        for (std::int64_t x = 0; x < 60; ++x) {
          const bool holds = std::abs(x - 30) <= reach_x && std::abs(y - 20) <= reach_y;
          const float was = before.out.get<float>(x, y), is = after.out.get<float>(x, y);
          if (!holds) {
            ASSERT_EQ(was, is) << x << "," << y;
          } else if (outlier != 1e20f) {
            ASSERT_FALSE(std::isfinite(is)) << x << "," << y;
          }
        }
    }
}

std::vector<Case> cases_of_kernels() {
  std::vector<Case> all;
  std::uint64_t seed = 900;
  for (const filter::Gaussian& gaussian : {filter::Gaussian{1, 2}, {3, 2.5, 4, 3}, {9, 1}, {2, 10}})
    for (const Type type : {Type::u8, Type::f32})
      for (const Edge edge : {Edge::shrink, Edge::symmetric, Edge::wrap}) {
        Case c = of(type == Type::u8 ? 1700 : 111, type == Type::u8 ? 40 : 157, gaussian, edge);
        c.in = type, c.out = type == Type::u8 ? Type::f64 : Type::f32;
        c.least = 0;
        c.seed = ++seed;
        all.push_back(c);
      }
  return all;
}

TEST(FilterGaussian, BitsDoNotDependOnThreadsOrTargets) {
  expect_same_bits(cases_of_kernels(), std::getenv("AREAL_TEST_SHORT") != nullptr ? 4 : 1);
}

TEST(FilterGaussian, WorkspaceOfTheCallers) { expect_right_in_callers_workspace(cases_of_kernels()); }

TEST(FilterGaussian, SaysWhatItIsAndRefusesInOneSentence) {
  const auto refused = [](filter::Gaussian gaussian, const FilterOptions& options = {}, Type in = Type::u8) {
    return refusal([&] { FilterPlan({9, 7}, in, in, gaussian, options, {.backend = Backend::cpu}); });
  };
  const auto with = [&](const auto& change) {
    FilterOptions options;
    change(options);
    return options;
  };
  EXPECT_EQ(refused({1, 1}), "nothing was refused");
  EXPECT_EQ(refused({-1, 1}), "sigma -1: it may be 0 to 1000");
  EXPECT_EQ(refused({1, 2000}), "sigma 2000: it may be 0 to 1000");
  EXPECT_EQ(refused({1, 1, 0}), "truncate 0: it may be any finite number above 0");
  EXPECT_EQ(refused({1, 1, 4, 11}), "passes 11: they may be 0 to 10");
  EXPECT_EQ(refused({1, 8, 1000}), "sigma and truncate: weights of 8000 pixels to each side, of at most 4096");
  EXPECT_EQ(refused({1, 1}, with([](auto& o) {
                      o.window = {3, 3};
                    })),
            "window: 3x3: a Gaussian's follows from sigma, leave it at 1x1");
  EXPECT_EQ(refused({1, 1}, with([](auto& o) { o.mask = true; })), "mask: Gaussian filters have none");
  EXPECT_EQ(refused({1, 1}, with([](auto& o) { o.fill = 3; })), "fill: every pixel of Gaussian filters is valid");
  EXPECT_EQ(refused({1, 1}, with([](auto& o) { o.algorithm = "blocks"; })),
            "algorithm blocks: it takes floats, minimum and maximum; for other filters choose auto");
  const auto plan = [](filter::Gaussian gaussian, Edge edge = Edge::symmetric) {
    FilterOptions options;
    options.window.edge = edge;
    return FilterPlan({90, 70}, Type::u8, Type::f32, gaussian, options, {.backend = Backend::cpu});
  };
  EXPECT_EQ(plan({8, 8}).algorithm(), "convolution");
  EXPECT_EQ(plan({8, 9}).algorithm(), "extended-boxes");
  EXPECT_EQ(plan({1, 1, 4, 3}).algorithm(), "extended-boxes");
  EXPECT_EQ(plan({2, 1}, Edge::valid).out_shape(), (Shape{74, 62}));
}

TEST(FilterGaussian, EmptyImages) {
  for (const Shape& shape : {Shape{0, 0}, Shape{0, 5}, Shape{5, 0}, Shape{5, 5, 0}, Shape{5, 5, 1, 0}})
    for (const Edge edge : oracle::edges)
      for (const int passes : {0, 3}) {
        FilterOptions options;
        options.window.edge = edge;
        std::vector<float> memory(25);
        Shape out = shape;
        if (edge == Edge::valid) out.width = out.height = 0;
        EXPECT_NO_THROW(apply(filter::Gaussian{1, 1, 4, passes}, areal::ConstView(nullptr, Type::u8, shape),
                              areal::View(memory.data(), Type::f32, out), options));
      }
}

}  // namespace
