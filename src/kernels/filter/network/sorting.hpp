#pragma once
// Sorting networks over words in registers. What nothing reads of their results, the compiler leaves out.

#include <cstddef>
#include <cstdint>
#include <utility>
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// A word is a key, or two keys of 16 bits.
template <class M, class Word, bool pairs>
struct WordOrder {
  M m;

  AREAL_DEVICE Word least(Word a, Word b) const {
    if constexpr (pairs) return m.min2(a, b);
    return a < b ? a : b;
  }
  AREAL_DEVICE Word most(Word a, Word b) const {
    if constexpr (pairs) return m.max2(a, b);
    return a < b ? b : a;
  }
  AREAL_DEVICE void sort(Word& a, Word& b) const {
    const Word low = least(a, b);
    b = most(a, b), a = low;
  }
  AREAL_DEVICE void sort(Word (&w)[2]) const { sort(w[0], w[1]); }
  AREAL_DEVICE void sort(Word (&w)[4]) const {
    sort(w[0], w[1]), sort(w[2], w[3]), sort(w[0], w[2]), sort(w[1], w[3]), sort(w[1], w[2]);
  }
  /// Another key among n sorted ones.
  template <int n>
  AREAL_DEVICE void insert(const Word (&sorted)[n], Word key, Word (&to)[n + 1]) const {
    to[0] = least(sorted[0], key), to[n] = most(sorted[n - 1], key);
    AREAL_UNROLL
    for (int i = 1; i < n; ++i) to[i] = most(sorted[i - 1], least(sorted[i], key));
  }
  AREAL_DEVICE Word median(Word a, Word b, Word c) const { return most(least(a, b), least(most(a, b), c)); }
  AREAL_DEVICE Word median(Word a, Word b, Word c, Word d, Word e) const {
    return median(e, most(least(a, b), least(c, d)), least(most(a, b), most(c, d)));
  }
};

struct Comparator {
  std::uint8_t low = 0, high = 0;
};
/// Batcher's merge exchange sort of that many elements.
template <int wires>
struct MergeExchange {
  static constexpr std::size_t most = 160;
  Comparator comparator[most] = {};
  std::size_t count = 0;

  constexpr MergeExchange() {
    int top = 1;
    while (2 * top < wires) top *= 2;
    for (int p = top; p > 0; p /= 2) {
      int q = top, r = 0, d = p;
      while (true) {
        for (int i = 0; i < wires - d; ++i)
          if ((i & p) == r) comparator[count++] = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i + d)};
        if (q == p) break;
        d = q - p, q /= 2, r = p;
      }
    }
  }
};
template <int wires>
inline constexpr MergeExchange<wires> merge_exchange{};

template <class Order, class Word, int wires, std::size_t... i>
AREAL_DEVICE void sort_by(const Order& order, Word (&w)[wires], std::index_sequence<i...>) {
  (order.sort(w[std::integral_constant<int, merge_exchange<wires>.comparator[i].low>::value],
              w[std::integral_constant<int, merge_exchange<wires>.comparator[i].high>::value]),
   ...);
}
template <class Order, class Word, int wires>
AREAL_DEVICE void sort_all(const Order& order, Word (&w)[wires]) {
  sort_by(order, w, std::make_index_sequence<merge_exchange<wires>.count>());
}

/// w[at], where registers have no addresses. Uses up w.
template <class Word, int n>
AREAL_DEVICE Word pick(Word (&w)[n], unsigned at) {
  AREAL_UNROLL
  for (int step = 1; step < n; step *= 2) {
    const bool odd = (at & static_cast<unsigned>(step)) != 0;
    AREAL_UNROLL
    for (int i = 0; i + step < n; i += 2 * step) w[i] = odd ? w[i + step] : w[i];
  }
  return w[0];
}

}  // namespace areal::kernels
