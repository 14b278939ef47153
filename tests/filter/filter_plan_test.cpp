// Plans of filters: what they refuse, what they say, and what their outputs do not depend on.
#include <areal/array.hpp>
#include <areal/catalog.hpp>
#include <cstring>
#include <functional>
#include <numeric>
#include "cpu/simd.hpp"
#include "filter_cases.hpp"
#include "refusal.hpp"

namespace {

using namespace filter_cases;
using areal::Backend;
using areal::Execution;
using areal::FilterPlan;
using areal::Missing;
using areal::refusal;
using areal::Rounding;
using areal::Window;

const Execution on_cpu{.backend = Backend::cpu};

std::string refused(const Filter& filter, Type in, Type out, const FilterOptions& options,
                    const Shape& shape = {9, 7}) {
  return refusal([&] { FilterPlan(shape, in, out, filter, options, on_cpu); });
}

TEST(FilterPlan, RefusesInOneSentence) {
  const FilterOptions usual{.window = {3, 3}};
  const auto with = [&](const auto& change) {
    FilterOptions options = usual;
    change(options);
    return options;
  };
  const Filter mean = filter::Mean{};
  EXPECT_EQ(refused(mean, Type::u8, Type::u8, usual), "nothing was refused");
  EXPECT_EQ(refused(mean, Type::u8, Type::u8, with([](auto& o) { o.window.width = 0; })),
            "window: width 0, it may be 1 to 2^62");
  EXPECT_EQ(refused(mean, Type::u8, Type::u8, with([](auto& o) { o.window.anchor_y = 3; })),
            "window: anchor 3 for a height of 3: it may be -1 (the centre) or a cell of the window");
  EXPECT_EQ(
      refused(mean, Type::u8, Type::u64, usual),
      "out type 64u: it may be 8u, 8s, 16u, 16s, 32s, 32f or 64f; minimum, maximum and percentiles have the image's");
  EXPECT_EQ(refused(mean, Type::s64, Type::f64, usual),
            "image type 64s: it may be 8u, 8s, 16u, 16s, 32u, 32s, 16f, 32f or 64f; minimum, maximum and percentiles "
            "take every type");
  EXPECT_EQ(refused(filter::Minimum{}, Type::u8, Type::f32, usual), "out type 32f: minimum and maximum of 8u are 8u");
  EXPECT_EQ(refused(filter::Variance{-1}, Type::u8, Type::f32, usual), "ddof -1: it may be 0 or more");
  EXPECT_EQ(refused(mean, Type::u8, Type::u8, with([](auto& o) { o.min_count = -1; })),
            "min_count -1: it may be 0 or more");
  EXPECT_EQ(refused(mean, Type::u8, Type::u8, with([](auto& o) { o.nan = Missing::omit; })),
            "nan omit: 8u pixels are never NaN");
  EXPECT_EQ(
      refused(mean, Type::u8, Type::u8, with([](auto& o) { o.window.edge = Edge::constant, o.window.value = 256; })),
      "window: value 256 for pixels of 8u: it may be a whole number that this type holds");
  EXPECT_EQ(refused(mean, Type::u8, Type::u8, with([](auto& o) { o.algorithm = "tiles"; })),
            "algorithm tiles is not one of auto, walk, blocks, van-herk, guided-walk, convolution, extended-boxes, "
            "network, column-counts, classes, sliding-counts, table");
  EXPECT_EQ(refused(mean, Type::u8, Type::u8, with([](auto& o) { o.algorithm = "van-herk"; })),
            "algorithm van-herk: it takes minimum and maximum; for other filters choose auto");
  EXPECT_EQ(refused(mean, Type::u8, Type::u8, with([](auto& o) { o.algorithm = "blocks"; })),
            "algorithm blocks: it takes floats, minimum and maximum; for other filters choose auto");
  EXPECT_EQ(refused(mean, Type::f32, Type::f32, with([](auto& o) { o.algorithm = "walk"; })),
            "algorithm walk: it takes sums of integers; for other filters choose auto");
  EXPECT_EQ(refused(mean, Type::f32, Type::f32, with([](auto& o) {
                      o.window = {5000, 3}, o.window.edge = Edge::reflect;
                    })),
            "window: 5000x3 reaches more than 1024 pixels beyond the edge of a float image of 9x7, which only edges "
            "shrink and valid allow");
  EXPECT_EQ(refused(mean, Type::u32, Type::f64, with([](auto& o) {
                      o.window = {1 << 16, 1 << 16}, o.window.edge = Edge::wrap;
                    })),
            "window: sums of 65536x65536 pixels of 32u do not fit 63 bits");
  filter::Threshold threshold;
  threshold.r = 0;
  EXPECT_EQ(refused(threshold, Type::u8, Type::u8, usual), "r 0: it may be any finite number above 0");
  EXPECT_EQ(refused(filter::Threshold{}, Type::f32, Type::u8, usual),
            "r: thresholds of sauvola need it for pixels of 32f, half the range of their values");
  EXPECT_EQ(refused(mean, Type::u8, Type::u8, usual, {-1, 3}).substr(0, 5), "image");
}

TEST(FilterPlan, RefusesViewsInOneSentence) {
  const FilterPlan plan({9, 7}, Type::u8, Type::u8, filter::Mean{}, {.window = {3, 3}}, on_cpu);
  areal::Workspace workspace(plan);
  areal::Array image({9, 7}, Type::u8), out({9, 7}, Type::u8), wide({10, 7}, Type::u8), floats({9, 7}, Type::f32);
  const auto said = [&](const FilterArguments& arguments) {
    return refusal([&] { plan.execute(arguments, workspace); });
  };
  EXPECT_EQ(said({image.view(), out.view()}), "nothing was refused");
  EXPECT_EQ(said({wide.view(), out.view()}), "image shape 10x7: this plan takes 9x7");
  EXPECT_EQ(said({image.view(), wide.view()}), "out shape 10x7: this plan takes 9x7");
  EXPECT_EQ(said({image.view(), floats.view()}), "out type 32f: this plan takes 8u");
  EXPECT_EQ(said({image.view(), image.view()}), "out: it overlaps the image");
  EXPECT_EQ(said({image.view(), out.view(), out.view()}), "mask was given, but the plan was not made for it");
  const FilterPlan masked({9, 7}, Type::u8, Type::u8, filter::Mean{}, {.window = {3, 3}, .mask = true}, on_cpu);
  areal::Workspace another(masked);
  EXPECT_EQ(refusal([&] {
              masked.execute({image.view(), out.view(), out.view()}, another);
            }),
            "out: it overlaps the mask");
  EXPECT_EQ(refusal([&] {
              plan.execute({image.view(), out.view()}, another);
            }),
            "workspace: it was made for another plan; a workspace serves its plan and the plan's copies");
}

TEST(FilterPlan, SaysWhatItIs) {
  const FilterOptions options{.window = {3, 5, -1, -1, Edge::valid}};
  const FilterPlan plan({9, 7}, Type::u8, Type::f32, filter::Mean{}, options, on_cpu);
  EXPECT_EQ(plan.algorithm(), "walk");
  EXPECT_EQ(plan.backend(), Backend::cpu);
  EXPECT_EQ(plan.out_shape(), (Shape{7, 3}));
  EXPECT_EQ(plan.image_shape(), (Shape{9, 7}));
  EXPECT_EQ(plan.in(), Type::u8);
  EXPECT_EQ(plan.out(), Type::f32);
  EXPECT_FALSE(plan.reason().empty());
  EXPECT_EQ(FilterPlan({9, 7}, Type::f32, Type::f32, filter::Mean{}, options, on_cpu).algorithm(), "blocks");
  EXPECT_EQ(FilterPlan({9, 7}, Type::u8, Type::u8, filter::Maximum{}, options, on_cpu).algorithm(), "van-herk");
  for (const char* id : {"walk", "blocks", "van-herk", "network", "column-counts", "classes"}) {
    const areal::Algorithm* const row = areal::find_algorithm("filter", id);
    ASSERT_NE(row, nullptr);
    EXPECT_TRUE(row->cpu);
    EXPECT_TRUE(areal::type_pairs_of(*row).empty());
  }
}

TEST(FilterPlan, AutomaticChoosesABackend) {
  const FilterPlan plan({9, 7}, Type::u8, Type::u8, filter::Mean{}, {.window = {3, 3}});
  EXPECT_NE(plan.backend(), Backend::automatic);
  EXPECT_NE(plan.reason().find("backend"), std::string::npos) << plan.reason();
  areal::Array image({9, 7}, Type::u8), out({9, 7}, Type::u8), want({9, 7}, Type::u8);
  std::iota(image.as<std::uint8_t>(), image.as<std::uint8_t>() + 63, std::uint8_t{0});
  areal::Workspace workspace(plan);
  plan.execute({image.view(), out.view()}, workspace);
  apply(filter::Mean{}, image.view(), want.view(), {.window = {3, 3}}, on_cpu);
  EXPECT_EQ(std::memcmp(out.data(), want.data(), 63), 0);
}

TEST(FilterPlan, EmptyImages) {
  for (const Shape& shape : {Shape{0, 0}, Shape{0, 5}, Shape{5, 0}, Shape{5, 5, 0}, Shape{5, 5, 1, 0}})
    for (const Type type : {Type::u8, Type::f32})
      for (const Edge edge : oracle::edges) {
        FilterOptions options{.window = {3, 3}};
        options.window.edge = edge;
        const areal::ConstView image(nullptr, type, shape);
        Shape out = areal::window_shape(shape.width, shape.height, options.window);
        out.channels = shape.channels, out.batch = shape.batch;
        std::vector<float> memory(static_cast<std::size_t>(out.width * out.height + 1));
        EXPECT_NO_THROW(apply(filter::Mean{}, image, areal::View(memory.data(), type, out), options, on_cpu));
      }
}

// One case of every kernel.
std::vector<Case> cases_of_kernels() {
  std::vector<Case> all;
  std::uint64_t seed = 9000;
  filter::Threshold wolf;
  wolf.method = filter::Local::wolf;
  const auto add = [&](const Filter& filter, Type in, Type out, std::int64_t w, std::int64_t h, Edge edge, bool mask) {
    Case c;
    c.filter = filter;
    c.in = in, c.out = out;
    c.shape = {211, 157};
    c.options.window = {w, h};
    c.options.window.edge = edge;
    c.options.mask = mask;
    c.seed = ++seed;
    c.most = 120;
    all.push_back(c);
  };
  for (const Edge edge : {Edge::shrink, Edge::symmetric}) {
    add(filter::Mean{}, Type::u8, Type::u8, 15, 15, edge, false);
    add(filter::Mean{}, Type::u8, Type::u8, 31, 22, edge, false);
    add(filter::Mean{}, Type::u8, Type::u8, 7, 9, edge, true);
    add(filter::Mean{}, Type::u16, Type::u16, 12, 11, edge, false);
    add(filter::Sum{}, Type::s32, Type::f64, 5, 9, edge, false);
    add(filter::StandardDeviation{}, Type::u8, Type::f32, 9, 9, edge, false);
    add(filter::Variance{}, Type::u32, Type::f64, 9, 9, edge, false);
    add(wolf, Type::u8, Type::u8, 9, 9, edge, false);
    add(wolf, Type::f32, Type::f64, 9, 9, edge, true);
    add(filter::Mean{}, Type::f32, Type::f32, 15, 21, edge, false);
    add(filter::StandardDeviation{}, Type::f64, Type::f64, 11, 7, edge, true);
    add(filter::Minimum{}, Type::u8, Type::u8, 15, 5, edge, false);
    add(filter::Maximum{}, Type::f16, Type::f16, 5, 15, edge, true);
  }
  return all;
}

std::vector<unsigned char> bytes_of(const Case& c) {
  Memory memory(c);
  run(c, memory);
  return memory.out.bytes();
}

TEST(FilterPlan, BitsDoNotDependOnThreads) {
  for (Case c : cases_of_kernels()) {
    SCOPED_TRACE(c.words());
    c.execution = {.backend = Backend::cpu, .threads = 1};
    const auto want = bytes_of(c);
    for (const int threads : {2, 0}) {
      c.execution.threads = threads;
      EXPECT_EQ(bytes_of(c), want) << threads;
    }
  }
}

TEST(FilterPlan, BitsDoNotDependOnSimdTargets) {
  std::vector<std::vector<unsigned char>> want;
  const std::vector<Case> cases = cases_of_kernels();
  for (const Case& c : cases) want.push_back(bytes_of(c));
  for (const std::string& target : areal::cpu::simd_targets()) {
    ASSERT_TRUE(areal::cpu::only_simd_target(target));
    for (std::size_t i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE(target + ": " + cases[i].words());
      EXPECT_EQ(bytes_of(cases[i]), want[i]);
    }
  }
  areal::cpu::only_simd_target("");
}

// A batch and its images, one after another.
TEST(FilterPlan, BitsDoNotDependOnBatches) {
  for (const Type type : {Type::u8, Type::f32}) {
    Case c;
    c.filter = filter::Mean{};
    c.in = c.out = type;
    c.shape = {45, 33, 1, 3};
    c.options.window = {7, 5};
    const Memory together(c);
    run(c, together);
    for (std::int64_t n = 0; n < 3; ++n) {
      Case one = c;
      one.shape.batch = 1;
      const Memory alone(one);
      FilterArguments arguments{areal::plane(together.arguments.image, 0, n), alone.arguments.out};
      apply(c.filter, arguments, c.options, on_cpu);
      for (std::int64_t y = 0; y < 33; ++y)
        EXPECT_EQ(std::memcmp(alone.out.view().row(y), together.out.view().row(y, 0, n), 45 * areal::size_of(type)), 0);
    }
  }
}

// Every workspace content gives the same result.
TEST(FilterPlan, WorkspaceOfTheCallers) {
  for (const Case& c : cases_of_kernels()) {
    const FilterPlan plan(c.shape, c.in, c.out, c.filter, c.options, on_cpu);
    std::vector<std::byte> memory(plan.workspace_bytes() + 1);
    const auto want = bytes_of(c);
    for (const int fill : {0, 0xff}) {
      std::memset(memory.data(), fill, memory.size());
      areal::Workspace workspace(plan, areal::Span<std::byte>(memory.data() + 1, plan.workspace_bytes()),
                                 areal::Stream::host());
      const Memory views(c);
      plan.execute(views.arguments, workspace);
      EXPECT_EQ(const_cast<Memory&>(views).out.bytes(), want) << c.words();
    }
  }
}

TEST(FilterPlan, PropertiesOfWindows) {
  // A constant image gives itself, and no variance.
  for (const Edge edge : {Edge::shrink, Edge::replicate, Edge::wrap}) {
    FilterOptions options{.window = {7, 9}};
    options.window.edge = edge;
    std::vector<std::uint8_t> flat(31 * 23, 201), means(flat.size());
    std::vector<double> variances(flat.size(), 1);
    apply(filter::Mean{}, areal::ConstView(flat.data(), 31, 23), areal::View(means.data(), 31, 23), options, on_cpu);
    EXPECT_EQ(means, flat);
    apply(filter::Variance{}, areal::ConstView(flat.data(), 31, 23), areal::View(variances.data(), 31, 23), options,
          on_cpu);
    EXPECT_EQ(variances, std::vector<double>(flat.size(), 0));
  }
  // An impulse gives the window.
  std::vector<std::uint16_t> impulse(40 * 30, 0);
  impulse[12 * 40 + 20] = 1000;
  std::vector<std::int32_t> sums(impulse.size());
  apply(filter::Sum{}, areal::ConstView(impulse.data(), 40, 30), areal::View(sums.data(), 40, 30),
        {.window = {5, 3, 1, 2}}, on_cpu);
  for (std::int64_t y = 0; y < 30; ++y)
    for (std::int64_t x = 0; x < 40; ++x) {
      const bool holds = x >= 20 - 3 && x <= 20 + 1 && y >= 12 && y <= 12 + 2;
      ASSERT_EQ(sums[static_cast<std::size_t>(y * 40 + x)], holds ? 1000 : 0) << x << "," << y;
    }
}

// A sum along one axis, then along the other, is the window's.
TEST(FilterPlan, SumsAndExtremesAreSeparable) {
  std::mt19937_64 random(77);
  std::vector<std::int32_t> image(50 * 40), rows(image.size()), both(image.size()), once(image.size());
  for (std::int32_t& pixel : image) pixel = static_cast<std::int32_t>(random() % 1000);
  const auto view = [](std::vector<std::int32_t>& of) { return areal::View(of.data(), 50, 40); };
  for (const Filter& filter : {Filter{filter::Sum{}}, Filter{filter::Minimum{}}, Filter{filter::Maximum{}}}) {
    apply(filter, view(image), view(rows), {.window = {7, 1}}, on_cpu);
    apply(filter, view(rows), view(both), {.window = {1, 9}}, on_cpu);
    apply(filter, view(image), view(once), {.window = {7, 9}}, on_cpu);
    EXPECT_EQ(both, once);
  }
}

// The definition of Rounding::opencv in window.hpp.
TEST(FilterPlan, RoundsAsOpenCv) {
  std::mt19937_64 random(5);
  std::vector<std::uint8_t> image(60 * 50);
  for (std::uint8_t& pixel : image) pixel = static_cast<std::uint8_t>(random());
  for (const auto& [w, h] : {std::pair{3, 3}, {2, 2}, {15, 15}, {16, 16}, {17, 17}}) {
    FilterOptions options{.window = {w, h}};
    options.window.edge = Edge::reflect;
    options.window.rounding = Rounding::opencv;
    std::vector<std::uint8_t> means(image.size());
    std::vector<std::int32_t> sums(image.size());
    apply(filter::Mean{}, areal::ConstView(image.data(), 60, 50), areal::View(means.data(), 60, 50), options, on_cpu);
    apply(filter::Sum{}, areal::ConstView(image.data(), 60, 50), areal::View(sums.data(), 60, 50), options, on_cpu);
    const std::int64_t n = w * h, fixed = (1 << 23) / n;
    const bool below_half = 2 * ((1 << 23) % n) < n;
    for (std::size_t i = 0; i < image.size(); ++i) {
      std::int64_t want = (sums[i] + n / 2 + (below_half ? 1 : 0)) * (fixed + (below_half ? 0 : 1)) >> 23;
      if (n > 256) want = static_cast<std::int64_t>(oracle::divided(sums[i], n));
      ASSERT_EQ(means[i], std::min<std::int64_t>(255, want)) << n;
    }
  }
}

// Both kernels at the limits of 16-bit sums, and the rounding of every quotient there.
TEST(FilterPlan, MeansAtTheLimitsOf16Bits) {
  std::mt19937_64 random(6);
  std::vector<std::uint8_t> image(300 * 3), means(image.size());
  for (std::int64_t n = 1; n <= 260; ++n)
    for (const int kind : {0, 1, 2}) {
      for (std::uint8_t& pixel : image)
        pixel = kind == 0 ? 255 : static_cast<std::uint8_t>(kind == 1 ? random() : 127 + random() % 2);
      FilterOptions options{.window = {n, 1}};
      options.window.edge = Edge::wrap;
      apply(filter::Mean{}, areal::ConstView(image.data(), 300, 3), areal::View(means.data(), 300, 3), options, on_cpu);
      for (std::int64_t y = 0; y < 3; ++y) {
        const std::uint8_t* const row = image.data() + y * 300;
        for (std::int64_t x = 0; x < 300; ++x) {
          std::int64_t sum = 0;
          for (std::int64_t i = 0; i < n; ++i) sum += row[(x - n / 2 + i + 600) % 300];
          ASSERT_EQ(means[static_cast<std::size_t>(y * 300 + x)], static_cast<int>(oracle::divided(sum, n))) << n;
        }
      }
    }
}

// Windows of one size on both sides of the limits of the kernels' sums, in panels with neighbours, and in channels.
TEST(FilterPlan, MeansOfBytesAtTheLimitsOfPanels) {
  std::uint64_t seed = 9900;
  for (const Edge edge : {Edge::shrink, Edge::reflect, Edge::constant, Edge::valid})
    for (const std::int64_t channels : {1, 3})
      for (const auto& [w, h] : {std::pair{5, 51}, {2, 129}, {17, 17}, {257, 2}, {258, 1}, {1, 258}}) {
        Case c;
        c.filter = filter::Mean{};
        c.shape = {channels == 1 ? 2500 : 800, h > 100 ? 7 : 4, channels};
        if (edge == Edge::valid) c.shape.height = h + 2;
        c.options.window = {w, h};
        c.options.window.edge = edge;
        c.options.window.value = 255;
        c.least = 200;
        c.seed = ++seed;
        expect_right(c);
      }
}

// Every method's decision is that of its threshold in double, on noise, flat pages, and pages of two neighbouring
// levels.
TEST(FilterPlan, DecisionsAreThoseOfTheThresholds) {
  using filter::Local;
  constexpr std::int64_t width = 300, height = 90;
  std::mt19937_64 random(8);
  std::vector<std::uint8_t> image(width * height), black_or_white(image.size());
  std::vector<double> limits(image.size());
  for (const Local method : {Local::mean, Local::bradley, Local::niblack, Local::sauvola, Local::wolf, Local::nick})
    for (const int kind : {0, 1, 2, 3})
      for (const double k : {0.5, -0.25, 0.0}) {
        for (std::uint8_t& pixel : image)
          pixel = static_cast<std::uint8_t>(kind == 0   ? random()
                                            : kind == 1 ? 0
                                            : kind == 2 ? 200
                                                        : 100 + random() % 2);
        filter::Threshold threshold;
        threshold.method = method, threshold.k = k, threshold.high = 9, threshold.inverted = kind == 3;
        const FilterOptions options{.window = {9, 7}};
        const areal::ConstView from(image.data(), width, height);
        apply(threshold, from, areal::View(black_or_white.data(), width, height), options, on_cpu);
        apply(threshold, from, areal::View(limits.data(), width, height), options, on_cpu);
        for (std::size_t i = 0; i < image.size(); ++i)
          ASSERT_EQ(black_or_white[i], (image[i] > limits[i]) != threshold.inverted ? 9 : 0)
              << static_cast<int>(method) << " " << kind << " " << k << " at " << i;
      }
}

}  // namespace
