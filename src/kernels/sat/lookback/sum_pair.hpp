#pragma once
// Two sums that are added, and published between blocks, as one value: one access and one epoch for both if they fit 16
// bytes, else two accesses whose epochs must agree.

#include <cstdint>
#include <type_traits>
#include <utility>
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/tile_state.hpp"
#include "kernels/primitives/warp/warp.hpp"

namespace areal::kernels {

/// Both, and 32 bits of padding if needed, so that there is no gap.
template <class A, class B, int more = static_cast<int>(sizeof(A)) - static_cast<int>(sizeof(B))>
struct WithWord {
  A first;
  B second;
  std::uint32_t word = 0, rest = 0;
};
template <class A, class B>
struct WithWord<A, B, -4> {
  A first;
  std::uint32_t word = 0;
  B second;
};
template <class A, class B>
struct WithWord<A, B, 4> {
  A first;
  B second;
  std::uint32_t word = 0;
};
template <class A, class B>
struct WithoutWord {
  A first;
  B second;
};

template <class A, class B>
struct alignas(2 * (sizeof(A) > sizeof(B) ? sizeof(A) : sizeof(B))) SumPair
    : std::conditional_t<sizeof(A) == sizeof(B), WithoutWord<A, B>, WithWord<A, B>> {
  SumPair() = default;
  AREAL_DEVICE SumPair(int all) : SumPair(static_cast<A>(all), static_cast<B>(all)) {}
  AREAL_DEVICE SumPair(A a, B b) {
    this->first = a;
    this->second = b;
  }
  template <class C, class D>
  AREAL_DEVICE explicit SumPair(const SumPair<C, D>& other)
      : SumPair(static_cast<A>(other.first), static_cast<B>(other.second)) {}

  AREAL_DEVICE SumPair& operator+=(const SumPair& other) {
    this->first += other.first;
    this->second += other.second;
    return *this;
  }
  friend AREAL_DEVICE SumPair operator+(SumPair a, const SumPair& b) { return a += b; }
};

/// A pair's sum (0) or sum of squares (1); any other value is the sum itself.
template <int which, class S>
AREAL_DEVICE auto& one_of(S& sums) {
  if constexpr (std::is_arithmetic_v<std::remove_const_t<S>>)
    return sums;
  else if constexpr (which == 0)
    return sums.first;
  else
    return sums.second;
}
template <int which, class S>
using PartOf = std::remove_reference_t<decltype(one_of<which>(std::declval<S&>()))>;

template <class A, class B>
requires(sizeof(A) + sizeof(B) <= 12) struct alignas(16) TileState<SumPair<A, B>> : WithWord<A, B> {
  using Epoch = std::uint32_t;
  TileState() = default;
  AREAL_DEVICE TileState(const SumPair<A, B>& value, Epoch epoch) {
    this->first = value.first;
    this->second = value.second;
    this->word = epoch;
  }
};

template <class A, class B>
requires(sizeof(A) + sizeof(B) > 12) struct TileState<SumPair<A, B>> {
  using Epoch = std::uint64_t;
  static_assert(std::is_same_v<Epoch, typename TileState<A>::Epoch> &&
                std::is_same_v<Epoch, typename TileState<B>::Epoch>);
  TileState() = default;
  AREAL_DEVICE TileState(const SumPair<A, B>& value, Epoch epoch)
      : first{value.first, epoch}, second{value.second, epoch} {}
  TileState<A> first;
  TileState<B> second;
};

template <class A, class B>
AREAL_DEVICE SumPair<A, B> value_of(const TileState<SumPair<A, B>>& word) {
  if constexpr (sizeof(word) == 16)
    return {word.first, word.second};
  else
    return {word.first.value, word.second.value};
}
/// No launch's epoch, if one half is older than the other.
template <class A, class B>
AREAL_DEVICE auto epoch_of(const TileState<SumPair<A, B>>& word) {
  if constexpr (sizeof(word) == 16)
    return word.word;
  else
    return word.first.epoch == word.second.epoch ? word.first.epoch : 0;
}

template <class M, class A, class B>
AREAL_DEVICE SumPair<A, B> warp_sum(const M& m, const SumPair<A, B>& value, Site site = AREAL_HERE) {
  return {warp_sum(m, value.first, site), warp_sum(m, value.second, site)};
}

}  // namespace areal::kernels
