#pragma once
// From a pixel to its bin, as Binning::bin_of defines it: the same comparisons of the same doubles.

#include <areal/type.hpp>
#include <cstdint>
#include <type_traits>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/pixel_rule.hpp"

namespace areal::kernels {

/// The last i with edge i <= x for x within the edges.
template <class M>
AREAL_DEVICE int bin_between(const M& m, const double* edges, int bins, double x) {
  int first = 0, count = bins;  // the answer lies in [first, first + count)
  while (count > 1) {
    const int half = count / 2;
    if (x >= m.load(edges + first + half)) first += half;
    count -= half;
  }
  return first;
}

/// As numpy.histogram does for equal bins: a guess, corrected by the edges.
template <class M>
AREAL_DEVICE int bin_in_equal(const M& m, const ChannelRule& rule, const double* edges, double x) {
  auto i = static_cast<int>((x - rule.lo) / (rule.hi - rule.lo) * static_cast<double>(rule.bins));
  if (i == rule.bins) --i;
  if (x < m.load(edges + i)) --i;
  if (i != rule.bins - 1 && x >= m.load(edges + i + 1)) ++i;
  return i;
}

/// The bin of one channel's value, or -1. In: the unsigned integer of 8- and 16-bit pixels, else the pixel's type.
template <class In, class M>
AREAL_DEVICE int bin_of_value(const M& m, const ChannelRule& rule, In value) {
  if constexpr (sizeof(In) <= 2) {
    const std::uint16_t bin = m.load(reinterpret_cast<const std::uint16_t*>(rule.data) + value);
    return bin == 0xffff ? -1 : bin;
  } else {
    if constexpr (std::is_integral_v<In>)
      if (rule.kind == ChannelRule::Kind::labels) {
        const bool counts = static_cast<std::uint64_t>(value) < static_cast<std::uint64_t>(rule.bins) &&
                            static_cast<std::int64_t>(value) != rule.ignored;
        return counts ? static_cast<int>(value) : -1;
      }
    const auto x = static_cast<double>(value);
    if (!(x >= rule.lo && x <= rule.hi)) {
      if (!rule.clamped || x != x) return -1;
      return x < rule.lo ? 0 : rule.bins - 1;
    }
    const auto* const edges = reinterpret_cast<const double*>(rule.data);
    return rule.kind == ChannelRule::Kind::equal ? bin_in_equal(m, rule, edges, x)
                                                 : bin_between(m, edges, rule.bins, x);
  }
}

/// The bin of the pixel whose first channel lies there, or -1.
template <class In, class M>
AREAL_DEVICE int bin_of_pixel(const M& m, const PixelRule& rule, const char* from, std::int64_t channel_pitch,
                              bool aligned) {
  int bin = bin_of_value<In>(m, rule.channel[0], load_element<M, In>(m, from, aligned));
  AREAL_UNROLL
  for (int c = 1; c < PixelRule::most_channels; ++c)
    if (c < rule.channels && bin >= 0) {
      const int next = bin_of_value<In>(m, rule.channel[c], load_element<M, In>(m, from + c * channel_pitch, aligned));
      bin = next < 0 ? -1 : bin * rule.channel[c].bins + next;
    }
  return bin;
}

/// Calls f with a value of the type In of bin_of_value for pixels of that type.
template <class F>
void with_pixel(Type type, F&& f) {
  switch (type) {
    case Type::u32:
      return f(std::uint32_t{});
    case Type::s32:
      return f(std::int32_t{});
    case Type::u64:
      return f(std::uint64_t{});
    case Type::s64:
      return f(std::int64_t{});
    case Type::f32:
      return f(float{});
    case Type::f64:
      return f(double{});
    default:
      return size_of(type) == 1 ? f(std::uint8_t{}) : f(std::uint16_t{});
  }
}

}  // namespace areal::kernels
