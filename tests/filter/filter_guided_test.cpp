// Guided filters, compared with their definition in long double: the line of every window, then the mean of those of
// all windows that hold a pixel.
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/array.hpp>
#include <areal/error.hpp>
#include <areal/filter.hpp>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>
#include "real_cases.hpp"
#include "refusal.hpp"

namespace {

using namespace real_cases;
using areal::refusal;
using areal::Window;

bool is_short() { return std::getenv("AREAL_TEST_SHORT") != nullptr; }
/// All, or a quarter of them where tests are short.
template <class T>
std::vector<T> some(std::vector<T> all) {
  std::vector<T> few;
  for (std::size_t i = 0; i < all.size(); i += is_short() ? 4 : 1) few.push_back(std::move(all[i]));
  return few;
}

struct Case : RealCase {
  struct Memory;
  double eps = 30;
  Layout guide_layout = Layout::interleaved;

  Case() : RealCase(Type::u8, 0, 255) {}
  Type guide_type() const { return options.guide_type.value_or(in); }
  FilterPlan plan() const { return {shape, in, out, filter::Guided{eps}, options, execution}; }
  std::string words() const {
    std::ostringstream text;
    const Window& w = options.window;
    text << "guide " << options.guide << " of " << name_of(guide_type()) << " window " << w.width << "x" << w.height
         << " anchor " << w.anchor_x << "," << w.anchor_y << " eps " << eps << types_and_shape();
    return text.str();
  }
};

struct Case::Memory : RealMemory {
  oracle::Padded guide;

  explicit Memory(const Case& c)
      : RealMemory(c, {c.shape.width, c.shape.height, c.shape.channels, c.shape.batch, c.out_layout}),
        guide(
            c.guide_type(),
            {c.shape.width, c.shape.height, std::max<std::int64_t>(1, c.options.guide), c.shape.batch, c.guide_layout},
            9, 1) {
    oracle::fill_randomly(guide, c.least, c.most, random);
    if (c.options.guide > 0) arguments.guide = guide.view();
  }
};
using Memory = Case::Memory;

// By Cramer's rule; of 1 or 3 unknowns.
std::vector<Real> solved(const std::vector<std::vector<Real>>& m, const std::vector<Real>& r) {
  if (r.size() == 1) return {r[0] / m[0][0]};
  const auto determinant = [](const std::vector<std::vector<Real>>& a) {
    return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
           a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
  };
  std::vector<Real> x;
  for (std::size_t column = 0; column < 3; ++column) {
    auto replaced = m;
    for (std::size_t row = 0; row < 3; ++row) replaced[row][column] = r[row];
    x.push_back(determinant(replaced) / determinant(m));
  }
  return x;
}

// The outputs that differ, and the first of them; empty if none does.
std::string differences(const Case& c, const Memory& memory) {
  Differences found(memory.out);
  const Window& w = c.options.window;
  const std::int64_t ax = w.anchor_x < 0 ? w.width / 2 : w.anchor_x, ay = w.anchor_y < 0 ? w.height / 2 : w.anchor_y;
  const auto channels = static_cast<std::size_t>(std::max<std::int64_t>(1, c.options.guide));
  for (std::int64_t n = 0; n < c.shape.batch; ++n)
    for (std::int64_t channel = 0; channel < c.shape.channels; ++channel) {
      const auto pixel = [&](std::int64_t x, std::int64_t y) -> Real {
        return oracle::element(memory.arguments.image, x, y, channel, n);
      };
      const auto guide = [&](std::int64_t x, std::int64_t y, std::size_t k) -> Real {
        return c.options.guide == 0 ? pixel(x, y)
                                    : oracle::element(memory.arguments.guide, x, y, static_cast<std::int64_t>(k), n);
      };
      struct Seen {
        Real p;
        std::array<Real, 3> guide;
      };
      const Real value = w.edge == Edge::constant ? w.value : 0;
      // a of every channel, then b.
      std::vector<std::vector<Real>> lines;
      for (std::int64_t y = 0; y < c.shape.height; ++y)
        for (std::int64_t x = 0; x < c.shape.width; ++x) {
          std::vector<Seen> seen;
          for (std::int64_t r = y - ay; r < y - ay + w.height; ++r)
            for (std::int64_t s = x - ax; s < x - ax + w.width; ++s) {
              const std::int64_t px = oracle::shown(s, c.shape.width, w.edge),
                                 py = oracle::shown(r, c.shape.height, w.edge);
              if (px >= 0 && py >= 0) {
                Seen one{pixel(px, py), {}};
                for (std::size_t k = 0; k < channels; ++k) one.guide[k] = guide(px, py, k);
                seen.push_back(one);
              } else if (w.edge != Edge::shrink) {
                seen.push_back({value, {value, value, value}});
              }
            }
          const Real count = static_cast<Real>(seen.size());
          Real p = 0;
          std::array<Real, 3> mean{};
          for (const Seen& one : seen) {
            p += one.p / count;
            for (std::size_t k = 0; k < channels; ++k) mean[k] += one.guide[k] / count;
          }
          std::vector<std::vector<Real>> matrix(channels, std::vector<Real>(channels, 0));
          std::vector<Real> right(channels, 0);
          for (const Seen& one : seen)
            for (std::size_t k = 0; k < channels; ++k) {
              right[k] += (one.guide[k] - mean[k]) * (one.p - p) / count;
              for (std::size_t l = 0; l < channels; ++l)
                matrix[k][l] += (one.guide[k] - mean[k]) * (one.guide[l] - mean[l]) / count;
            }
          for (std::size_t k = 0; k < channels; ++k) matrix[k][k] += c.eps;
          std::vector<Real> line = solved(matrix, right);
          Real b = p;
          for (std::size_t k = 0; k < channels; ++k) b -= line[k] * mean[k];
          line.push_back(b);
          lines.push_back(line);
        }
      for (std::int64_t y = 0; y < c.shape.height; ++y)
        for (std::int64_t x = 0; x < c.shape.width; ++x) {
          Real sum = 0;
          std::int64_t count = 0;
          // The windows that hold the pixel.
          for (std::int64_t r = y + ay - w.height + 1; r <= y + ay; ++r)
            for (std::int64_t s = x + ax - w.width + 1; s <= x + ax; ++s) {
              const std::int64_t px = oracle::shown(s, c.shape.width, w.edge),
                                 py = oracle::shown(r, c.shape.height, w.edge);
              if (px < 0 || py < 0) {
                if (w.edge == Edge::shrink) continue;
                sum += value;
              } else {
                const auto& line = lines[static_cast<std::size_t>(py * c.shape.width + px)];
                for (std::size_t k = 0; k < channels; ++k) sum += line[k] * guide(x, y, k);
                sum += line[channels];
              }
              ++count;
            }
          const double want = static_cast<double>(sum / static_cast<Real>(count));
          const double tolerance = 1e-9 * (1 + std::fabs(want)) + (c.out == Type::f32 ? 0x1p-23 * std::fabs(want) : 0);
          found.see(x, y, channel, n, want, tolerance);
        }
    }
  return found.words();
}

Case of(std::int64_t width, std::int64_t height, const Window& window, std::int64_t guide = 0) {
  Case c;
  c.shape = {width, height};
  c.options.window = window;
  c.options.guide = guide;
  return c;
}

constexpr Edge taken[] = {Edge::shrink,    Edge::zero, Edge::replicate, Edge::reflect,
                          Edge::symmetric, Edge::wrap, Edge::constant};

TEST(FilterGuided, TheOracleCatchesOneChangedPixel) {
  Case c = of(33, 21, {5, 3}, 1);
  Memory memory(c);
  run(c, memory);
  EXPECT_EQ(differences(c, memory), "");
  memory.guide.set<std::uint8_t>(static_cast<std::uint8_t>(memory.guide.get<std::uint8_t>(7, 9) ^ 128), 7, 9);
  EXPECT_NE(differences(c, memory), "");
  memory.guide.set<std::uint8_t>(static_cast<std::uint8_t>(memory.guide.get<std::uint8_t>(7, 9) ^ 128), 7, 9);
  memory.out.bytes()[3] ^= 1;
  EXPECT_NE(differences(c, memory), "");
}

TEST(FilterGuided, WindowsAtEveryEdge) {
  std::uint64_t seed = 100;
  for (const std::int64_t guide : {0, 1, 3})
    for (const Edge edge : taken)
      for (const auto& [w, h] : {std::pair{1, 1}, {3, 3}, {8, 9}, {2, 4}, {17, 5}, {1, 7}, {25, 12}, {40, 37}})
        for (const auto& [width, height] : {std::pair{31, 29}, {1, 23}, {23, 1}, {2, 3}, {1, 1}, {47, 13}}) {
          if (std::int64_t{w} * h * width * height > (is_short() ? 20'000 : guide == 3 ? 100'000 : 400'000)) continue;
          Window window{w, h};
          window.edge = edge;
          window.value = 90;
          Case c = of(width, height, window, guide);
          c.seed = ++seed;
          expect_right(c);
        }
}

TEST(FilterGuided, Anchors) {
  std::uint64_t seed = 300;
  for (const Edge edge : taken)
    for (const std::int64_t guide : {0, 1})
      for (const auto& [x, y] : {std::pair{0, 0}, {5, 12}, {0, 12}, {3, 1}}) {
        Window window{6, 13, x, y};
        window.edge = edge;
        window.value = 3;
        Case c = of(37, 41, window, guide);
        c.seed = ++seed;
        expect_right(c);
      }
}

TEST(FilterGuided, EveryTypeAndOutput) {
  std::uint64_t seed = 400;
  for (const Type in : {Type::u8, Type::u16, Type::f32})
    for (const Type guide_type : {Type::u8, Type::u16, Type::f32})
      for (const Type out : {in, Type::f32})
        for (const std::int64_t guide : {0, 1, 3}) {
          if (guide == 0 && guide_type != in) continue;
          Case c = of(29, 23, {7, 5}, guide);
          c.in = in, c.out = out;
          if (guide > 0) c.options.guide_type = guide_type;
          const bool bytes = in == Type::u8 || (guide > 0 && guide_type == Type::u8);
          c.most = bytes ? 255 : in == Type::u16 && guide_type == Type::u16 ? 65535 : 100;
          c.least = in == Type::f32 && guide_type == Type::f32 ? -100 : 0;
          c.seed = ++seed;
          expect_right(c);
        }
}

TEST(FilterGuided, ChannelsLayoutsAndBatches) {
  std::uint64_t seed = 500;
  for (const Layout in : {Layout::interleaved, Layout::planar})
    for (const Layout out : {Layout::interleaved, Layout::planar})
      for (const Layout guide_layout : {Layout::interleaved, Layout::planar})
        for (const std::int64_t guide : {0, 1, 3})
          for (const std::int64_t channels : {1, 3, 5}) {
            Case c = of(19, 13, {5, 4}, guide);
            c.shape.channels = channels, c.shape.batch = 2, c.shape.layout = in;
            c.guide_layout = guide_layout, c.out_layout = out;
            c.out = channels == 3 ? Type::u8 : Type::f32;
            c.seed = ++seed;
            expect_right(c);
          }
}

// Several panels, with reflections in narrow ones, and rings that turn.
TEST(FilterGuided, WideAndTallImages) {
  std::uint64_t seed = 600;
  for (const Edge edge : taken)
    for (const Type type : {Type::u8, Type::f32})
      for (const auto& [width, height, w, h] : {std::array<std::int64_t, 4>{1537, 3, 5, 3},
                                                {2100, 2, 33, 2},
                                                {2049, 1, 3, 1},
                                                {3, 211, 3, 17},
                                                {2, 97, 1, 8}}) {
        Window window{w, h};
        window.edge = edge;
        window.value = 200;
        Case c = of(width, height, window, width == 3 ? 1 : 0);
        c.in = type;
        c.seed = ++seed;
        expect_right(c);
      }
}

// Pixels at the limits of 8 and 16 bits, in windows whose sums need more than 32 bits, and of blocks of 64.
TEST(FilterGuided, LimitsOfTypes) {
  std::uint64_t seed = 700;
  for (const auto& [width, height, w, h] :
       {std::array<std::int64_t, 4>{3, 2, 300, 260}, {90, 3, 513, 1}, {3, 60, 1, 700}, {2, 3, 257, 258}})
    for (const Type type : {Type::u8, Type::u16})
      for (const std::int64_t guide : {0, 1}) {
        Window window{w, h};
        window.edge = Edge::symmetric;
        Case c = of(width, height, window, guide);
        c.in = type;
        c.most = type == Type::u8 ? 255 : 65535;
        c.least = c.most - 2;
        c.eps = 0.01;
        c.seed = ++seed;
        expect_right(c);
      }
}

TEST(FilterGuided, Properties) {
  // A constant image gives itself.
  for (const Edge edge : taken) {
    FilterOptions options{.window = {7, 9}};
    options.window.edge = edge;
    options.window.value = 201;
    if (edge == Edge::zero) continue;
    std::vector<std::uint8_t> flat(31 * 23, 201);
    std::vector<float> out(flat.size());
    apply(filter::Guided{1e-3}, areal::ConstView(flat.data(), 31, 23), areal::View(out.data(), 31, 23), options);
    EXPECT_EQ(out, std::vector<float>(flat.size(), 201));
  }
  // The guide's own image, with a small eps, gives itself; with a large one, the mean of means.
  std::mt19937_64 random(9);
  std::vector<float> image(40 * 30), out(image.size()), means(image.size()), twice(image.size());
  for (float& pixel : image) pixel = static_cast<float>(random() % 1000) / 1000;
  const auto view = [](std::vector<float>& of) { return areal::View(of.data(), 40, 30); };
  const FilterOptions options{.window = {5, 5, -1, -1, Edge::symmetric}};
  apply(filter::Guided{1e-12}, view(image), view(out), options);
  for (std::size_t i = 0; i < image.size(); ++i) EXPECT_NEAR(out[i], image[i], 1e-6);
  apply(filter::Guided{1e12}, view(image), view(out), options);
  apply(filter::Mean{}, view(image), view(means), options);
  apply(filter::Mean{}, view(means), view(twice), options);
  for (std::size_t i = 0; i < image.size(); ++i) EXPECT_NEAR(out[i], twice[i], 1e-6);
  // p = 2 I + 3 is a line everywhere.
  std::vector<float> line(image.size());
  for (std::size_t i = 0; i < image.size(); ++i) line[i] = 2 * image[i] + 3;
  FilterOptions guided = options;
  guided.guide = 1;
  apply(filter::Guided{1e-12}, {.image = view(line), .out = view(out), .guide = view(image)}, guided);
  for (std::size_t i = 0; i < image.size(); ++i) EXPECT_NEAR(out[i], line[i], 1e-5);
}

// A NaN, an infinity and an outlier change exactly the pixels that share a window with them.
TEST(FilterGuided, OutliersStayLocal) {
  for (const float outlier : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e20f})
    for (const std::int64_t guide : {0, 1, 3})
      for (const bool in_guide : {false, true}) {
        if (in_guide && guide == 0) continue;
        Case c = of(60, 40, {7, 5}, guide);
        c.in = Type::f32;
        Memory before(c), after(c);
        run(c, before);
        (in_guide ? after.guide : after.image).set(outlier, 30, 20);
        run(c, after);
        for (std::int64_t y = 0; y < 40; ++y)
          for (std::int64_t x = 0; x < 60; ++x) {
            const bool shares = std::abs(x - 30) <= 6 && std::abs(y - 20) <= 4;
            const float was = before.out.get<float>(x, y), is = after.out.get<float>(x, y);
            if (!shares) {
              ASSERT_EQ(was, is) << x << "," << y;
            } else if (!(outlier == 1e20f)) {
              ASSERT_TRUE(std::isnan(is)) << x << "," << y << " " << is;
            }
          }
      }
}

// Small variances far from zero.
TEST(FilterGuided, VariancesDoNotCancel) {
  for (const std::int64_t guide : {0, 1}) {
    Case c = of(40, 30, {9, 9}, guide);
    c.in = Type::f32;
    c.eps = 1e-6;
    Memory memory(c);
    std::mt19937_64 random(3);
    for (std::int64_t y = 0; y < 30; ++y)
      for (std::int64_t x = 0; x < 40; ++x)
        for (oracle::Padded* one : {&memory.image, &memory.guide})
          one->set(1000 + 0.01f * static_cast<float>(random() % 100) / 100, x, y);
    run(c, memory);
    // The float's own spacing at 1000 is 6e-5.
    EXPECT_EQ(differences(c, memory), "");
  }
}

std::vector<Case> cases_of_kernels() {
  std::vector<Case> all;
  std::uint64_t seed = 900;
  for (const std::int64_t guide : {0, 1, 3})
    for (const Type type : {Type::u8, Type::u16, Type::f32})
      for (const Edge edge : {Edge::shrink, Edge::symmetric, Edge::wrap}) {
        Window window{15, 11};
        window.edge = edge;
        Case c = of(type == Type::u16 ? 1700 : 211, type == Type::u16 ? 60 : 157, window, guide);
        c.in = type;
        c.seed = ++seed;
        all.push_back(c);
      }
  return all;
}

TEST(FilterGuided, BitsDoNotDependOnThreadsOrTargets) { expect_same_bits(some(cases_of_kernels()), 1); }

TEST(FilterGuided, WorkspaceOfTheCallers) { expect_right_in_callers_workspace(some(cases_of_kernels())); }

TEST(FilterGuided, RefusesInOneSentence) {
  const auto refused = [](filter::Guided guided, Type in, Type out, const FilterOptions& options,
                          Execution execution = {.backend = Backend::cpu}) {
    return refusal([&] { FilterPlan({9, 7}, in, out, guided, options, execution); });
  };
  const FilterOptions usual{.window = {3, 3}};
  const auto with = [&](const auto& change) {
    FilterOptions options = usual;
    change(options);
    return options;
  };
  EXPECT_EQ(refused({1}, Type::u8, Type::u8, usual), "nothing was refused");
  const std::string on_device =
      refused({1}, Type::u8, Type::u8, with([](auto& o) { o.guide = 3; }), {.backend = Backend::simt});
  EXPECT_TRUE(on_device == "algorithm guided-walk: it takes guides of 1 channel; those of 3 run on the CPU" ||
              on_device.ends_with("this build has no simulated machine"))
      << on_device;
  EXPECT_EQ(refused({0}, Type::u8, Type::u8, usual), "eps 0: it may be any finite number above 0");
  EXPECT_EQ(refused({1, 2}, Type::u8, Type::u8, usual), "scale 2: guided filters are not subsampled, it may be 1");
  EXPECT_EQ(refused({1}, Type::s16, Type::s16, usual), "image type 16s: guided filters take 8u, 16u or 32f");
  EXPECT_EQ(refused({1}, Type::u8, Type::u16, usual), "out type 16u: guided filters of 8u give 8u or 32f");
  EXPECT_EQ(refused({1}, Type::u8, Type::u8, with([](auto& o) { o.window.edge = Edge::valid; })),
            "window: guided filters take every edge but valid");
  EXPECT_EQ(refused({1}, Type::u8, Type::u8, with([](auto& o) { o.mask = true; })), "mask: guided filters have none");
  EXPECT_EQ(refused({1}, Type::f32, Type::f32, with([](auto& o) { o.nan = areal::Missing::omit; })),
            "nan omit: guided filters propagate NaN");
  EXPECT_EQ(refused({1}, Type::u8, Type::u8, with([](auto& o) { o.min_count = 2; })),
            "min_count: every pixel of guided filters is valid");
  EXPECT_EQ(refused({1}, Type::u8, Type::u8, with([](auto& o) { o.guide = 2; })),
            "guide of 2 channels: it may have 1 or 3, or 0 for no guide");
  EXPECT_EQ(refused({1}, Type::u8, Type::u8, with([](auto& o) { o.guide = 1, o.guide_type = Type::f64; })),
            "guide type 64f: it may be 8u, 16u or 32f");
  EXPECT_EQ(refused({1}, Type::u16, Type::u16, with([](auto& o) {
                      o.window = {2000, 2000};
                    })),
            "window: 2000x2000: guided filters of 16 bits take up to 2^21 pixels");
  EXPECT_EQ(refused({1}, Type::u8, Type::u8, with([](auto& o) { o.algorithm = "walk"; })),
            "algorithm walk: it takes sums of integers; for other filters choose auto");
  EXPECT_EQ(refusal([&] {
              FilterPlan({9, 7}, Type::u8, Type::u8, filter::Mean{}, with([](auto& o) { o.guide = 1; }));
            }),
            "guide: only guided filters have one");
  areal::Array image({9, 7}, Type::u8), out({9, 7}, Type::u8), wide({10, 7}, Type::u8);
  const FilterPlan alone({9, 7}, Type::u8, Type::u8, filter::Guided{1}, usual, {.backend = Backend::cpu});
  const FilterPlan guided({9, 7}, Type::u8, Type::u8, filter::Guided{1}, with([](auto& o) { o.guide = 1; }),
                          {.backend = Backend::cpu});
  areal::Workspace one(alone), two(guided);
  EXPECT_EQ(alone.algorithm(), "guided-walk");
  EXPECT_EQ(refusal([&] { alone.execute({.image = image.view(), .out = out.view(), .guide = image.view()}, one); }),
            "guide was given, but the plan was not made for it");
  EXPECT_EQ(refusal([&] { guided.execute({.image = image.view(), .out = out.view(), .guide = wide.view()}, two); }),
            "guide shape 10x7: this plan takes 9x7");
  EXPECT_EQ(refusal([&] { guided.execute({.image = image.view(), .out = out.view(), .guide = out.view()}, two); }),
            "out: it overlaps the guide");
}

TEST(FilterGuided, EmptyImages) {
  for (const Shape& shape : {Shape{0, 0}, Shape{0, 5}, Shape{5, 0}, Shape{5, 5, 0}, Shape{5, 5, 1, 0}})
    for (const Edge edge : taken) {
      FilterOptions options{.window = {3, 3}};
      options.window.edge = edge;
      std::vector<float> memory(25);
      EXPECT_NO_THROW(apply(filter::Guided{1}, areal::ConstView(nullptr, Type::u8, shape),
                            areal::View(memory.data(), Type::f32, shape), options));
    }
}

}  // namespace
