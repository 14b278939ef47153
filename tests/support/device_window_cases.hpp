#pragma once
// Tests of dense windows and distance maps of tables in device memory. See device_answers.hpp for a Bed.

#include "api/core/window_axes.hpp"
#include "api/query/region_device.hpp"
#include "device_histogram_cases.hpp"

namespace areal::device_cases {

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

/// Images in which whole warps see windows that lie inside, below each other, and several tiles, of elements that lie
/// at multiples of their size: with the CPU's bits.
template <class P, class S, class Q, class Out, class Bed>
void windows_in_strips(double lo, double hi, int width, int height, const std::vector<Window>& windows) {
  const auto square = [](P p) { return static_cast<oracle::Wide<Q>>(p) * static_cast<oracle::Wide<Q>>(p); };
  const auto image = oracle::random_image<P>(width, height, lo, hi, 44);
  for (const Border border : {Border::zero, Border::none}) {
    Table<S> sum(image, border, oracle::identity, oracle::aligned);
    Table<Q> squares(image, border, square, oracle::aligned);
    for (const Window& w : windows) {
      SCOPED_TRACE(testing::Message() << width << "x" << height << " " << name_of(border) << " window " << w.width
                                      << "x" << w.height << " edge " << static_cast<int>(w.edge) << " rounding "
                                      << static_cast<int>(w.rounding) << " seed 44");
      const Shape shape = window_shape(width, height, w);
      const SatView here(sum.view(), squares.view());
      for (const auto query : {window_sums, window_means, window_variances, window_standard_deviations}) {
        if (w.rounding == Rounding::opencv && (query == window_variances || query == window_standard_deviations))
          continue;
        Padded got(type_of<Out>, shape, oracle::aligned), want(type_of<Out>, shape);
        Bed bed;
        const SatView there({bed.in(sum.memory()), border}, TableView(bed.in(squares.memory()), border));
        query(there, w, bed.out(got), bed.on);
        bed.back();
        query(here, w, want.view(), {});
        EXPECT_EQ(output_differences<Out>(got, want), 0u);
      }
    }
  }
}
/// Tables of sums and squares that differ in border and alignment.
template <class Bed>
void windows_of_unlike_tables() {
  const auto image = oracle::random_image<std::uint8_t>(100, 23, 0, 255, 46);
  const auto square = [](std::uint8_t p) { return std::uint64_t{p} * p; };
  for (const auto& [border, other] :
       std::vector<std::pair<Border, Border>>{{Border::zero, Border::none}, {Border::none, Border::zero}})
    for (const oracle::Gaps gaps : {oracle::aligned, oracle::misaligned}) {
      SCOPED_TRACE(testing::Message() << name_of(border) << " " << name_of(other) << " gaps " << gaps.gap
                                      << " seed 46");
      Table<std::uint32_t> sum(image, border, oracle::identity, oracle::aligned);
      Table<std::uint64_t> squares(image, other, square, gaps);
      const Window w{5, 4, -1, -1, Edge::valid};
      const Shape shape = window_shape(image.width, image.height, w);
      Padded got(Type::f64, shape, oracle::aligned), want(Type::f64, shape);
      Bed bed;
      window_variances({{bed.in(sum.memory()), border}, TableView(bed.in(squares.memory()), other)}, w, bed.out(got),
                       bed.on);
      bed.back();
      window_variances({sum.view(), squares.view()}, w, want.view());
      EXPECT_EQ(output_differences<double>(got, want), 0u);
    }
}
template <class Bed>
void windows_in_strips_of_several_types() {
  std::vector<Window> windows;
  for (const Edge edge : {Edge::valid, Edge::shrink, Edge::reflect, Edge::constant})
    windows.insert(windows.end(), {{3, 2, -1, -1, edge, 3}, {7, 5, 6, 0, edge, 3}, {30, 21, 0, 20, edge, 3}});
  windows_in_strips<std::uint8_t, std::uint32_t, std::uint64_t, double, Bed>(0, 255, 300, 45, windows);
  windows.resize(6);
  windows_in_strips<std::int16_t, std::int32_t, double, float, Bed>(-300, 300, 300, 45, windows);
  windows_in_strips<float, float, double, double, Bed>(0, 9, 300, 45, windows);
  windows_in_strips<float, double, double, float, Bed>(-9, 9, 300, 45, windows);
  for (Window& w : windows) w.rounding = Rounding::opencv;
  windows_in_strips<std::uint8_t, std::uint32_t, std::uint64_t, std::uint8_t, Bed>(0, 255, 300, 45, windows);
  windows_in_strips<std::int16_t, std::int32_t, double, std::uint8_t, Bed>(-30, 90, 300, 45, windows);
  windows_in_strips<std::uint8_t, std::uint32_t, std::uint64_t, double, Bed>(0, 255, 300, 45, windows);
  // Several tiles side by side, which overlap by a window's width up to that of four warps.
  windows.clear();
  for (const int width : {1, 32, 33, 128, 129, 300}) windows.push_back({width, 3, -1, -1, Edge::valid});
  windows_in_strips<std::uint8_t, std::uint32_t, std::uint64_t, float, Bed>(0, 255, 1300, 15, windows);
  windows_in_strips<float, double, double, double, Bed>(-9, 9, 1300, 15, windows);
  {  // so many rows that tiles are high
    const auto image = oracle::random_image<std::uint8_t>(40, 32 * 1024 + 5, 0, 255, 45);
    Table<std::uint32_t> table(image, Border::zero, oracle::identity, oracle::aligned);
    const Window w{9, 2, -1, -1, Edge::valid};
    const Shape shape = window_shape(image.width, image.height, w);
    Padded got(Type::f32, shape, oracle::aligned), want(Type::f32, shape);
    Bed bed;
    window_sums(TableView{bed.in(table.memory()), Border::zero}, w, bed.out(got), bed.on);
    bed.back();
    window_sums(table.view(), w, want.view());
    EXPECT_EQ(output_differences<float>(got, want), 0u) << "seed 45";
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

/// A request of windows of a table: the walk answers those inside, whatever the choice of `auto`.
inline kernels::WindowsRequest walk_of(const TableView& table, const Window& w, kernels::Statistic statistic,
                                       const View& out) {
  const auto [columns, rows] = window_axes(table.image_width(), table.image_height(), w);
  const bool real = is_float(table.view.type), constant = w.edge == Edge::constant;
  return {.statistic = statistic,
          .sum = table,
          .squares = {},
          .columns = columns,
          .rows = rows,
          .out = out,
          .beyond = {constant && !real ? static_cast<std::uint64_t>(w.value) : 0, constant && real ? w.value : 0},
          .rounding = w.rounding,
          .walks = true};
}

/// Windows inside of a table of any pitch, by the walk: the CPU's bits.
template <class P, class S, class Out, class Bed>
void windows_walked(double lo, double hi, int width, int height, const std::vector<Window>& windows,
                    oracle::Gaps gaps = oracle::aligned, oracle::Gaps out_gaps = oracle::aligned) {
  const auto image = oracle::random_image<P>(width, height, lo, hi, 47);
  for (const Border border : {Border::zero, Border::none}) {
    Table<S> table(image, border, oracle::identity, gaps);
    for (const Window& w : windows) {
      SCOPED_TRACE(testing::Message() << width << "x" << height << " " << name_of(border) << " window " << w.width
                                      << "x" << w.height << " edge " << static_cast<int>(w.edge) << " rounding "
                                      << static_cast<int>(w.rounding) << " gap " << gaps.gap << " start " << gaps.start
                                      << " seed 47");
      const Shape shape = window_shape(width, height, w);
      for (const kernels::Statistic statistic : {kernels::Statistic::sum, kernels::Statistic::mean}) {
        Padded got(type_of<Out>, shape, out_gaps), want(type_of<Out>, shape);
        Bed bed;
        const ConstView there = bed.in(table.memory());
        answer({bed.on.backend, 0, bed.on.stream.value_or(Stream::host())},
               walk_of({there, border}, w, statistic, bed.out(got)));
        bed.back();
        (statistic == kernels::Statistic::sum ? window_sums : window_means)(table.view(), w, want.view(), {});
        EXPECT_EQ(output_differences<Out>(got, want), 0u) << "statistic " << static_cast<int>(statistic);
      }
    }
  }
}
inline std::vector<Window> of_every_edge(std::int64_t width, std::int64_t height, Rounding rounding) {
  std::vector<Window> windows;
  for (const Edge edge : {Edge::valid, Edge::shrink, Edge::zero, Edge::replicate, Edge::reflect, Edge::symmetric,
                          Edge::wrap, Edge::constant})
    windows.push_back({width, height, -1, -1, edge, 3, rounding});
  return windows;
}
template <class Bed>
void windows_walked_of_every_edge_and_type() {
  using enum Rounding;
  windows_walked<std::uint8_t, std::uint32_t, std::uint8_t, Bed>(0, 255, 97, 37, of_every_edge(5, 4, nearest));
  windows_walked<std::uint8_t, std::uint32_t, float, Bed>(0, 255, 97, 37, of_every_edge(3, 7, nearest));
  windows_walked<std::uint8_t, std::uint32_t, std::uint8_t, Bed>(0, 255, 97, 37, of_every_edge(4, 4, opencv));
  const std::vector<Window> two{{6, 9, 2, 8, Edge::reflect}, {2, 3, -1, -1, Edge::valid, 0, opencv}};
  windows_walked<std::int16_t, std::int32_t, std::uint8_t, Bed>(-300, 300, 83, 29, two);
  windows_walked<std::int16_t, std::int32_t, std::int16_t, Bed>(-300, 300, 83, 29, two);
  windows_walked<std::uint8_t, std::uint32_t, std::uint16_t, Bed>(0, 255, 83, 29, two);
  windows_walked<std::int8_t, std::int32_t, std::int8_t, Bed>(-128, 127, 83, 29, two);
  windows_walked<std::int32_t, std::int64_t, std::int32_t, Bed>(-2e9, 2e9, 83, 29, two);
  windows_walked<std::int32_t, std::int64_t, std::uint8_t, Bed>(-2e3, 9e2, 83, 29, two);
  windows_walked<std::uint32_t, std::uint64_t, double, Bed>(0, 4e9, 83, 29, two);
  windows_walked<std::uint32_t, std::uint64_t, std::uint8_t, Bed>(0, 4e9, 83, 29, two);
  windows_walked<float, float, float, Bed>(-9, 9, 83, 29, two);
  windows_walked<float, float, std::uint8_t, Bed>(-9, 99, 83, 29, two);
  windows_walked<float, double, double, Bed>(-9, 9, 83, 29, two);
}
/// Several strips and segments, lines of every alignment, and windows of sizes around those of chunks and warps.
template <class Bed>
void windows_walked_of_every_shape() {
  std::vector<Window> windows;
  for (const auto& [width, height] : std::vector<std::pair<int, int>>{
           {1, 1}, {1, 9}, {3, 8}, {2, 7}, {31, 2}, {33, 1}, {64, 16}, {129, 17}, {500, 3}, {3, 33}})
    windows.push_back({width, height, -1, -1, Edge::valid});
  windows_walked<std::uint8_t, std::uint32_t, std::uint8_t, Bed>(0, 255, 1103, 61, windows);
  // Segments of more rows than a ring has lines.
  windows_walked<std::uint8_t, std::uint32_t, std::uint8_t, Bed>(
      0, 255, 37, 2903, {{3, 3, -1, -1, Edge::valid}, {2, 8, -1, -1, Edge::zero}, {5, 17, -1, -1, Edge::zero}});
  windows.resize(4);
  for (const std::int64_t gap : {0, 4, 8, 12})
    for (const std::int64_t start : {0, 4, 8, 12})
      windows_walked<std::uint8_t, std::uint32_t, float, Bed>(0, 255, 131, 27, windows, {gap, start}, {4, 4});
  for (const std::int64_t gap : {0, 8})
    for (const std::int64_t start : {0, 8})
      windows_walked<float, double, double, Bed>(-9, 9, 131, 27, windows, {gap, start}, {8, 8});
  for (const int width : {1, 2, 32, 33, 34, 35, 36, 37, 64, 545, 546})
    for (const int height : {1, 4, 5, 11, 23})
      windows_walked<std::uint8_t, std::uint32_t, std::uint8_t, Bed>(0, 255, width, height,
                                                                     {{2, 3, -1, -1, Edge::shrink}});
  {  // several planes
    const Window w{6, 5, -1, -1, Edge::shrink};
    const Shape shape{90, 41, 3, 2, Layout::planar};
    oracle::Planes<std::uint32_t, std::uint8_t> table(shape.width, shape.height, shape.channels, shape.batch,
                                                      shape.layout, Border::none, 0, 255, 49, oracle::identity,
                                                      oracle::aligned);
    Padded got(Type::f32, shape, oracle::aligned), want(Type::f32, shape);
    Bed bed;
    const ConstView there = bed.in(table.memory());
    answer({bed.on.backend, 0, bed.on.stream.value_or(Stream::host())},
           walk_of({there, Border::none}, w, kernels::Statistic::mean, bed.out(got)));
    bed.back();
    window_means(table.view(), w, want.view());
    std::size_t wrong = got.guards_stand() ? 0 : 1;
    for (std::int64_t n = 0; n < shape.batch; ++n)
      for (std::int64_t c = 0; c < shape.channels; ++c)
        for (std::int64_t y = 0; y < shape.height; ++y)
          for (std::int64_t x = 0; x < shape.width; ++x)
            wrong += !same(double{got.get<float>(x, y, c, n)}, double{want.get<float>(x, y, c, n)});
    EXPECT_EQ(wrong, 0u) << "seed 49";
  }
  // What the walk does not take: more rows than a ring has, and elements at odd addresses.
  windows_walked<std::uint8_t, std::uint32_t, float, Bed>(0, 255, 70, 150, {{3, 140, -1, -1, Edge::shrink}});
  windows_walked<std::uint8_t, std::uint32_t, float, Bed>(0, 255, 131, 27, windows, oracle::misaligned);
}

/// Images so large that the public functions choose the walk.
template <class Bed>
void windows_of_a_large_image() {
  const auto image = oracle::random_image<std::uint8_t>(1203, 901, 0, 255, 50);
  Table<std::uint32_t> table(image, Border::zero, oracle::identity, oracle::aligned);
  for (const Edge edge : {Edge::shrink, Edge::zero, Edge::reflect})
    for (const auto query : {window_sums, window_means}) {
      const Window w{31, 15, -1, -1, edge};
      Padded got(Type::f32, {1203, 901}, oracle::aligned), want(Type::f32, {1203, 901});
      Bed bed;
      query(TableView{bed.in(table.memory()), Border::zero}, w, bed.out(got), bed.on);
      bed.back();
      query(table.view(), w, want.view(), {});
      EXPECT_EQ(output_differences<float>(got, want), 0u) << "edge " << static_cast<int>(edge) << " seed 50";
    }
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

}  // namespace areal::device_cases
