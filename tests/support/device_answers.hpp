#pragma once
// Tests of queries of tables in device memory, for any machine, share how they ask and compare. A Bed puts memory of
// the test on its machine: in(vector or Padded), out(vector or Padded), back(), and `on`, the Execution.

#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/histogram_measures.hpp>
#include <areal/region.hpp>
#include <areal/region_histogram.hpp>
#include <areal/window.hpp>
#include <bit>
#include <cmath>
#include <cstring>
#include "region_oracle.hpp"

namespace areal::device_cases {

using oracle::Image;
using oracle::Padded;
using oracle::Table;

inline constexpr Border borders[] = {Border::zero, Border::none, Border::exclusive};
inline constexpr Distance measures[] = {
    Distance::l1,           Distance::l2,  Distance::chi_square,        Distance::hellinger,
    Distance::intersection, Distance::emd, Distance::kolmogorov_smirnov};

/// NaN of any payload equals itself, and nothing else.
inline bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}
template <class T>
std::size_t differences(const std::vector<T>& a, const std::vector<T>& b) {
  std::size_t wrong = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) wrong += !same(a[i], b[i]);
  return wrong;
}

template <class T>
using Answer = std::conditional_t<std::is_floating_point_v<T>, double,
                                  std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

/// Integers small enough that tables of floats are exact, too.
template <class T>
Image<T> small_image(std::int64_t width, std::int64_t height, std::uint64_t seed = 11) {
  return oracle::random_image<T>(width, height, std::is_unsigned_v<T> ? 0 : -40, 90, seed);
}

inline std::vector<Region> answerable(std::int64_t width, std::int64_t height, Border border, std::uint64_t seed) {
  std::vector<Region> all;
  for (const Region& r : oracle::regions_inside(width, height, seed))
    if (r.x >= 0 && r.y >= 0 && r.x + r.width <= width && r.y + r.height <= height &&
        (border != Border::exclusive || !oracle::touches_last(r, width, height)))
      all.push_back(r);
  return all;
}

/// Elements of two outputs that differ, and changed guards.
template <class T>
std::size_t output_differences(const Padded& got, const Padded& want) {
  std::size_t wrong = got.guards_stand() ? 0 : 1;
  for (std::int64_t y = 0; y < want.view().shape.height; ++y)
    for (std::int64_t x = 0; x < want.view().shape.width; ++x)
      wrong += !same(static_cast<double>(got.get<T>(x, y)), static_cast<double>(want.get<T>(x, y)));
  return wrong;
}

}  // namespace areal::device_cases
