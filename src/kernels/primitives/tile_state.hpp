#pragma once
// Communication between the blocks of a launch. A word carries a value and the epoch of its launch, so that nothing
// must be cleared between launches, and data is fetched without waiting for a flag first. Tickets follow the order in
// which blocks start: a block that waits only for smaller tickets never waits for one that cannot run.

#include <cstdint>
#include <type_traits>
#include <utility>
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// The extent of a tile's sums: the tile's own elements, or all from the image's edge on.
enum class TileStatus : std::uint8_t { partial, inclusive };

/// A value and the launch that it belongs to, moved by one access. An epoch is a launch's even number (Ticket) plus the
/// status.
template <class T>
struct alignas(2 * sizeof(T)) TileState {
  using Epoch = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  T value;
  Epoch epoch;
};

template <class Epoch>
AREAL_DEVICE Epoch epoch_with(Epoch launch, TileStatus status) {
  return static_cast<Epoch>(launch + static_cast<Epoch>(status));
}
template <class T>
AREAL_DEVICE T value_of(const TileState<T>& word) {
  return word.value;
}
template <class T>
AREAL_DEVICE auto epoch_of(const TileState<T>& word) {
  return word.epoch;
}

/// A word of more than 16 bytes is two halves, each with an epoch.
template <class M, class Word>
AREAL_DEVICE void store_word(const M& m, Word* to, const std::type_identity_t<Word>& word, Site site = AREAL_HERE) {
  if constexpr (sizeof(Word) <= 16) {
    m.store_relaxed(to, word, site);
  } else {
    m.store_relaxed(&to->first, word.first, site);
    m.store_relaxed(&to->second, word.second, site);
  }
}
template <class M, class Word>
AREAL_DEVICE Word load_word(const M& m, const Word* from, Site site = AREAL_HERE) {
  if constexpr (sizeof(Word) <= 16) {
    return m.load_relaxed(from, site);
  } else {
    Word word;
    word.first = m.load_relaxed(&from->first, site);
    word.second = m.load_relaxed(&from->second, site);
    return word;
  }
}

/// Quotient and remainder; 32-bit if both operands are.
AREAL_DEVICE std::uint64_t divide(std::uint64_t a, std::uint64_t b, std::uint64_t& rest) {
  const std::uint64_t quotient =
      (a | b) >> 32 == 0 ? static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b) : a / b;
  rest = a - quotient * b;
  return quotient;
}

/// A block's turn within its launch, from 0, and an even number that no other launch on this workspace has had; the odd
/// one after it is that launch's too.
struct Ticket {
  std::uint64_t turn, launch;
};

/// The counter is never reset: its value gives the launch as well.
template <class M>
AREAL_DEVICE Ticket take_ticket(const M& m, std::uint64_t* counter, Site site = AREAL_HERE) {
  Ticket ticket;
  const std::uint64_t count = m.atomic_add(counter, std::uint64_t{1}, site);
  ticket.launch = divide(count, static_cast<std::uint64_t>(m.blocks()), ticket.turn) * 2 + 2;
  return ticket;
}

/// Waits for words that other blocks publish: loads them until all are there.
template <class M, class AreThere, class Load>
AREAL_DEVICE void poll(const M& m, AreThere are_there, Load load) {
  while (!are_there()) {
    m.pause();
    load();
  }
}

/// The sum of the words at(first), at(first + step), .. before at(count). N at a time are loaded before the first wait;
/// the first N are loaded on construction.
template <int N, class M, class At>
class Gather {
  using Word = std::remove_cv_t<std::remove_pointer_t<decltype(std::declval<At>()(0))>>;
  using T = decltype(value_of(std::declval<Word>()));
  using Epoch = typename Word::Epoch;

 public:
  AREAL_DEVICE Gather(const M& m, Epoch epoch, int first, int step, int count, At at)
      : m_(m), at_(at), epoch_(epoch), first_(first), step_(step), count_(count) {
    prefetch();
  }
  AREAL_DEVICE T sum() {
    T sum = 0;
    while (first_ < count_) {
      AREAL_UNROLL
      for (int i = 0; i < N; ++i)
        if (first_ + i * step_ < count_) {
          poll(
              m_, [&] { return epoch_of(word_[i]) == epoch_; },
              [&] { word_[i] = load_word(m_, at_(first_ + i * step_)); });
          sum += value_of(word_[i]);
        }
      first_ += N * step_;
      prefetch();
    }
    return sum;
  }

 private:
  AREAL_DEVICE void prefetch() {
    AREAL_UNROLL
    for (int i = 0; i < N; ++i)
      if (first_ + i * step_ < count_) word_[i] = load_word(m_, at_(first_ + i * step_));
  }

  const M& m_;
  At at_;
  Epoch epoch_;
  int first_, step_, count_;
  Word word_[N];
};

template <int N, class M, class Epoch, class At>
AREAL_DEVICE Gather<N, M, At> gather(const M& m, Epoch epoch, int first, int step, int count, At at) {
  return {m, epoch, first, step, count, at};
}

}  // namespace areal::kernels
