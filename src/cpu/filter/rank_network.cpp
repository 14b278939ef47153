#include "cpu/filter/rank_network.hpp"
#include <algorithm>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/filter/rank_network.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef AREAL_CPU_FILTER_RANK_NETWORK_ONCE
#define AREAL_CPU_FILTER_RANK_NETWORK_ONCE
namespace areal::cpu {

/// A comparator of two wires, of whose results one may not matter.
struct Comparator {
  std::uint8_t low = 0, high = 0;
  bool needs_least = false, needs_most = false;
};

struct Network {
  std::array<Comparator, 64> comparator{};
  std::size_t count = 0;
};

/// Batcher's merge exchange sort of `wires` elements, less what does not reach the results [first, last].
constexpr Network selection(int wires, int first, int last) {
  std::array<Comparator, 128> all{};
  std::size_t n = 0;
  int top = 1;
  while (2 * top < wires) top *= 2;
  for (int p = top; p > 0; p /= 2) {
    int q = top, r = 0, d = p;
    while (true) {
      for (int i = 0; i < wires - d; ++i)
        if ((i & p) == r) all[n++] = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i + d)};
      if (q == p) break;
      d = q - p, q /= 2, r = p;
    }
  }
  std::array<bool, 32> matters{};
  for (int i = first; i <= last; ++i) matters[static_cast<std::size_t>(i)] = true;
  Network network;
  for (std::size_t i = n; i-- > 0;) {
    Comparator& one = all[i];
    one.needs_least = matters[one.low], one.needs_most = matters[one.high];
    if (one.needs_least || one.needs_most) matters[one.low] = matters[one.high] = true, ++network.count;
  }
  std::size_t to = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (all[i].needs_least || all[i].needs_most) network.comparator[to++] = all[i];
  return network;
}

template <int wires, int first, int last>
inline constexpr Network selected = selection(wires, first, last);

}  // namespace areal::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <int wires, int first, int last, std::size_t i, class V>
HWY_INLINE void compare(V* wire) {
  constexpr Comparator one = selected<wires, first, last>.comparator[i];
  const V a = wire[one.low], b = wire[one.high];
  if constexpr (one.needs_least) wire[one.low] = hn::Min(a, b);
  if constexpr (one.needs_most) wire[one.high] = hn::Max(a, b);
}

template <int wires, int first, int last, class V, std::size_t... i>
HWY_INLINE void compare_all(V* wire, std::index_sequence<i...>) {
  (compare<wires, first, last, i>(wire), ...);
}

/// Elements [first, last] of `wires` in their order.
template <int wires, int first, int last, class V>
HWY_INLINE void select(V* wire) {
  compare_all<wires, first, last>(wire, std::make_index_sequence<selected<wires, first, last>.count>());
}

template <class Key>
void medians_of_3(const std::array<const Key*, 5>& of, const std::array<Key*, 5>& to, std::int64_t n,
                  std::int64_t apart, Key* out) {
  const std::array<const Key*, 5> rows = of;  // copies, which bytes that are stored cannot change
  const std::array<Key*, 5> sorted = to;
  const hn::ScalableTag<Key> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < n + 2 * apart; i += lanes) {
    V wire[3] = {hn::LoadU(d, rows[0] + i), hn::LoadU(d, rows[1] + i), hn::LoadU(d, rows[2] + i)};
    select<3, 0, 2>(wire);
    for (std::size_t j = 0; j < 3; ++j) hn::StoreU(wire[j], d, sorted[j] + i);
  }
  // The median is that of the most of the least, the median of the medians, and the least of the most.
  for (std::int64_t i = 0; i < n; i += lanes) {
    const auto at = [&](std::size_t j, std::int64_t k) HWY_ATTR { return hn::LoadU(d, sorted[j] + i + k * apart); };
    V middle[3] = {at(1, 0), at(1, 1), at(1, 2)};
    select<3, 1, 1>(middle);
    V last[3] = {hn::Max(hn::Max(at(0, 0), at(0, 1)), at(0, 2)), middle[1],
                 hn::Min(hn::Min(at(2, 0), at(2, 1)), at(2, 2))};
    select<3, 1, 1>(last);
    hn::StoreU(last[1], d, out + i);
  }
}

template <class Key>
void medians_of_5(const std::array<const Key*, 5>& rows, const std::array<Key*, 5>& sorted, std::int64_t n,
                  std::int64_t apart, Key* out) {
  const hn::ScalableTag<Key> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < n + 4 * apart; i += lanes) {
    V wire[5] = {hn::LoadU(d, rows[0] + i), hn::LoadU(d, rows[1] + i), hn::LoadU(d, rows[2] + i),
                 hn::LoadU(d, rows[3] + i), hn::LoadU(d, rows[4] + i)};
    select<5, 0, 4>(wire);
    for (std::size_t j = 0; j < 5; ++j) hn::StoreU(wire[j], d, sorted[j] + i);
  }
  // With the j-th of each column sorted, too, element (j, k) is at least as large as (j + 1)(k + 1) - 1 others and at
  // most as large as (5 - j)(5 - k) - 1. So the median is one of the 13 with j + k = 3, 4 or 5; six of the others are
  // below it and six above. An element is at least as large as its two neighbours of the sum before, so that, sorted,
  // the i-th of sum 3 is at most the i-th of sum 4, and that at most the i-th of sum 5 or the one before. Counted
  // again, only the most of sum 3, the median of sum 4 and the least of sum 5 have no more than six on either side.
  for (std::int64_t i = 0; i < n; i += lanes) {
    V wire[5], middle[5];
    const auto row = [&](std::size_t j) HWY_ATTR {
      for (std::int64_t k = 0; k < 5; ++k) wire[k] = hn::LoadU(d, sorted[j] + i + k * apart);
    };
    row(0), select<5, 3, 4>(wire);
    V most = wire[3];
    middle[0] = wire[4];
    row(1), select<5, 2, 4>(wire);
    most = hn::Max(most, wire[2]), middle[1] = wire[3];
    V least = wire[4];
    row(2), select<5, 1, 3>(wire);
    most = hn::Max(most, wire[1]), middle[2] = wire[2], least = hn::Min(least, wire[3]);
    row(3), select<5, 0, 2>(wire);
    most = hn::Max(most, wire[0]), middle[3] = wire[1], least = hn::Min(least, wire[2]);
    row(4), select<5, 0, 1>(wire);
    middle[4] = wire[0], least = hn::Min(least, wire[1]);
    select<5, 2, 2>(middle);
    V last[3] = {most, middle[2], least};
    select<3, 1, 1>(last);
    hn::StoreU(last[1], d, out + i);
  }
}

template <class Key>
inline constexpr NetworkKernels<Key> network_set = {medians_of_3<Key>, medians_of_5<Key>};

}  // namespace
const NetworkKernels<std::uint8_t>* networks_8() { return &network_set<std::uint8_t>; }
const NetworkKernels<std::uint16_t>* networks_16() { return &network_set<std::uint16_t>; }
const NetworkKernels<std::uint32_t>* networks_32() { return &network_set<std::uint32_t>; }
}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
HWY_EXPORT(networks_8);
HWY_EXPORT(networks_16);
HWY_EXPORT(networks_32);

template <>
const NetworkKernels<std::uint8_t>& network_kernels() {
  return *HWY_DYNAMIC_DISPATCH(networks_8)();
}
template <>
const NetworkKernels<std::uint16_t>& network_kernels() {
  return *HWY_DYNAMIC_DISPATCH(networks_16)();
}
template <>
const NetworkKernels<std::uint32_t>& network_kernels() {
  return *HWY_DYNAMIC_DISPATCH(networks_32)();
}

}  // namespace areal::cpu
#endif
