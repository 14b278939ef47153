#pragma once
// Tests of scatter_corners on any machine, the CPU included: its definition, element by element. See
// device_answers.hpp for a Bed.

#include <areal/scatter.hpp>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include "device_region_cases.hpp"

namespace areal::device_cases {

/// The arithmetic of sums: modulo 2^64, or in double.
template <class T>
using Taken = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

/// G(X, Y) of one plane, region after region.
template <class T>
T scattered(const std::vector<Region>& regions, const std::vector<Answer<T>>& values, std::size_t planes,
            std::size_t plane, std::int64_t x, std::int64_t y) {
  Taken<T> sum = 0;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Region& r = regions[i];
    if (r.width == 0 || r.height == 0) continue;
    const bool left = x == r.x, right = x == r.x + r.width, top = y == r.y, bottom = y == r.y + r.height;
    const auto value = static_cast<Taken<T>>(values[i * planes + plane]);
    if ((left && top) || (right && bottom)) sum += value;
    if ((right && top) || (left && bottom)) sum -= value;
  }
  return static_cast<T>(sum);
}

/// Bit for bit, but for NaN.
template <class T>
bool is_same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) && std::isnan(b)) return true;
  using Bytes = std::array<std::byte, sizeof(T)>;
  return std::bit_cast<Bytes>(a) == std::bit_cast<Bytes>(b);
}

/// Elements that are not their definition's, and changed guards.
template <class T>
std::size_t wrong_elements(const Padded& got, Border border, const std::vector<Region>& regions,
                           const std::vector<Answer<T>>& values) {
  const Shape& shape = got.view().shape;
  const std::int64_t shift = border == Border::none ? 1 : 0;
  const auto planes = static_cast<std::size_t>(shape.channels * shape.batch);
  std::size_t wrong = got.guards_stand() ? 0 : 1;
  for (std::size_t p = 0; p < planes; ++p)
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x) {
        const auto plane = static_cast<std::int64_t>(p);
        const T element = got.get<T>(x, y, plane % shape.channels, plane / shape.channels),
                want = scattered<T>(regions, values, planes, p, x + shift, y + shift);
        wrong += is_same(element, want) ? 0 : 1;
      }
  return wrong;
}

template <class T>
std::vector<Answer<T>> random_values(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Answer<T>> values(n);
  for (auto& value : values) {
    if constexpr (std::is_integral_v<T>)
      value = static_cast<Answer<T>>(random());
    else  // sums depend on their order
      value = std::ldexp(std::uniform_real_distribution<double>(-1, 1)(random), static_cast<int>(random() % 60));
  }
  return values;
}

/// Regions inside, many of which share corners.
inline std::vector<Region> overlapping(std::int64_t width, std::int64_t height, std::size_t n, std::uint64_t seed) {
  auto all = oracle::regions_inside(width, height, seed);
  std::mt19937_64 random(seed + 1);
  const auto some = all.size();
  while (all.size() < n) {
    Region r = all[random() % some];
    if (random() % 2) r.width = width - r.x;
    if (random() % 2) r.height = height - r.y;
    all.push_back(r);
  }
  std::shuffle(all.begin(), all.end(), random);
  all.resize(n);
  std::erase_if(
      all, [&](const Region& r) { return r.x < 0 || r.y < 0 || r.x + r.width > width || r.y + r.height > height; });
  return all;
}

template <class T, class Bed>
void expect_scattered(std::int64_t width, std::int64_t height, const Shape& planes, Border border, std::size_t n,
                      std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << name_of(type_of<T>) << " " << width << "x" << height << " " << planes.channels
                                  << (planes.layout == Layout::planar ? " planar" : " interleaved")
                                  << " channels, batch " << planes.batch << " " << name_of(border) << " regions " << n
                                  << " seed " << seed);
  Shape shape = oracle::table_shape(width, height, border);
  shape.channels = planes.channels, shape.batch = planes.batch, shape.layout = planes.layout;
  auto regions = overlapping(width, height, n, seed);
  auto values = random_values<T>(regions.size() * static_cast<std::size_t>(planes.channels * planes.batch), seed);
  Padded out(type_of<T>, shape);
  Bed bed;
  scatter_corners(bed.in(regions), bed.in(values), bed.out(out), border, {.execution = bed.on});
  bed.back();
  EXPECT_EQ(wrong_elements<T>(out, border, regions, values), 0u);
}

template <class T, class Bed>
void scatters_of_every_border_and_layout() {
  for (const Border border : borders) {
    for (const Shape& planes :
         {Shape{0, 0, 1, 1}, Shape{0, 0, 3, 2, Layout::interleaved}, Shape{0, 0, 2, 2, Layout::planar}})
      expect_scattered<T, Bed>(37, 21, planes, border, 300, 5);
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{1, 1}, {1, 9}, {14, 1}, {0, 3}, {3, 0}})
      expect_scattered<T, Bed>(width, height, {}, border, 120, 6);
    expect_scattered<T, Bed>(20, 10, {}, border, 0, 7);
  }
}

/// More elements than two digits number, and more corners than a block takes at once.
template <class T, class Bed>
void scatters_of_many() {
  expect_scattered<T, Bed>(2000, 35, {}, Border::zero, 70, 8);
  expect_scattered<T, Bed>(13, 11, {}, Border::none, 17000, 9);
}

template <class Bed>
void a_flipped_value_is_caught() {
  auto regions = overlapping(30, 20, 50, 3);
  regions[7] = {3, 4, 5, 6};
  auto values = random_values<std::uint32_t>(50, 3), flipped = values;
  flipped[7] += 1;
  Padded out(Type::u32, {31, 21});
  Bed bed;
  scatter_corners(bed.in(regions), bed.in(flipped), bed.out(out), Border::zero, {.execution = bed.on});
  bed.back();
  EXPECT_EQ(wrong_elements<std::uint32_t>(out, Border::zero, regions, flipped), 0u);
  EXPECT_EQ(wrong_elements<std::uint32_t>(out, Border::zero, regions, values), 4u);
}

/// Invalid regions scatter nothing, and the call reports the first of them; clipped regions scatter to the part inside.
template <class Bed>
void regions_outside_scatter_nothing_or_their_parts() {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const Outside outside : {Outside::error, Outside::clip}) {
    auto regions = overlapping(30, 20, 400, 4), want = regions;
    const auto put = [&](std::size_t i, const Region& r, const Region& inside) {
      regions[i] = r, want[i] = outside == Outside::clip ? inside : Region{};
    };
    put(351, {-3, 2, 10, 5}, {0, 2, 7, 5});
    put(352, {25, 15, most, most}, {25, 15, 5, 5});
    put(353, {31, 0, 4, 4}, {});
    put(390, {4, 4, -1, 2}, {});
    const auto values = random_values<double>(regions.size(), 4);
    std::vector<std::int64_t> first(1, 77);
    Padded out(Type::f64, {31, 21});
    Bed bed;
    scatter_corners(bed.in(regions), bed.in(values), bed.out(out), Border::zero,
                    {.outside = outside, .execution = bed.on, .first_invalid = bed.out(first)});
    bed.back();
    EXPECT_EQ(first[0], outside == Outside::clip ? 390 : 351);
    EXPECT_EQ(wrong_elements<double>(out, Border::zero, want, values), 0u);
  }
}

/// Regions and values of the host are copied; those that it sees to lie outside throw before anything is written.
template <class Bed>
void the_host_scatters() {
  auto regions = overlapping(30, 20, 60, 2);
  const auto values = random_values<float>(60, 2);
  Padded out(Type::f32, {30, 20});
  Bed bed;
  const View there = bed.out(out);
  Execution waits = bed.on;
  scatter_corners(regions, values, there, Border::exclusive, {.execution = waits});
  bed.back();
  EXPECT_EQ(wrong_elements<float>(out, Border::exclusive, regions, values), 0u);
  const auto before = regions;
  regions[59] = {0, 0, 31, 1};
  try {
    scatter_corners(regions, values, there, Border::exclusive, {.execution = waits});
    ADD_FAILURE() << "threw nothing";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(std::string(error.what()).find("region 59 "), 0u) << error.what();
  }
  bed.back();
  EXPECT_EQ(wrong_elements<float>(out, Border::exclusive, before, values), 0u);
}

/// Every run has the same bits.
template <class Bed>
void every_scatter_has_the_same_bits() {
  auto regions = overlapping(40, 30, 3000, 12);
  const auto values = random_values<float>(3000, 12);
  std::vector<unsigned char> bytes;
  for (int run = 0; run < 3; ++run) {
    Padded out(Type::f32, {41, 31});
    Bed bed;
    scatter_corners(bed.in(regions), bed.in(values), bed.out(out), Border::zero, {.execution = bed.on});
    bed.back();
    if (run == 0) bytes = out.bytes();
    EXPECT_EQ(out.bytes(), bytes);
  }
}

/// On a device: memory to work in that the caller brings.
template <class Bed>
void a_scatter_works_in_the_callers_memory() {
  auto regions = overlapping(30, 20, 700, 14);
  const auto values = random_values<double>(700, 14);
  std::vector<std::byte> memory(scatter_workspace_bytes(700));
  Padded out(Type::f64, {31, 21});
  Bed bed;
  const Span<std::byte> all = bed.out(memory);
  scatter_corners(bed.in(regions), bed.in(values), bed.out(out), Border::zero, {.execution = bed.on}, all);
  bed.back();
  EXPECT_EQ(wrong_elements<double>(out, Border::zero, regions, values), 0u);
  const Span<std::byte> few(all.data(), all.size() - 1, all.memory());
  EXPECT_THROW(scatter_corners(bed.in(regions), bed.in(values), bed.out(out), Border::zero, {.execution = bed.on}, few),
               InvalidArgument);
}

template <class Bed>
void scatters() {
  a_flipped_value_is_caught<Bed>();
  scatters_of_every_border_and_layout<std::uint32_t, Bed>();
  scatters_of_every_border_and_layout<std::int32_t, Bed>();
  scatters_of_every_border_and_layout<std::uint64_t, Bed>();
  scatters_of_every_border_and_layout<std::int64_t, Bed>();
  scatters_of_every_border_and_layout<float, Bed>();
  scatters_of_every_border_and_layout<double, Bed>();
}

}  // namespace areal::device_cases
