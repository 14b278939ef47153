#pragma once
// Programs for the DMM and the UMM (Nakano 2013, sections 3 to 7), with any associative operator: op(left, right).
//
// Each takes the machine and the input, and returns its result and its time. Thread i mod p does the work of index i in
// parallel, chunk after chunk of p indices. A barrier separates each parallel loop from the next, and any write from
// reads by other threads that must come first. n, p and w need not be powers of two.
//
// The bounds are of the time, for n, p and w that are powers of two; log is to base 2. All follow from two facts.
// Between two barriers pass at most E + R (l - 1) units, where E is the number of entries and R the most requests of
// one warp. And w neighbouring cells from a multiple of w on are one entry; every second cell of 2w is two, or three on
// groups if they begin later.

#include <functional>
#include <type_traits>
#include "memory_machines/machine.hpp"

namespace areal::memory {

template <class T>
struct Outcome {
  std::vector<T> values;
  Time time;
};

/// True if op(a, b) == op(b, a). Specialise it for your own operators.
template <class Op>
inline constexpr bool is_commutative = requires {
  typename Op::commutative;
};
template <class T>
inline constexpr bool is_commutative<std::plus<T>> = std::is_arithmetic_v<T>;

namespace detail {

// Registers of the threads that a loop over `count` indices uses.
template <class T>
std::vector<T> registers(const Shape& shape, std::int64_t count) {
  return std::vector<T>(static_cast<std::size_t>(std::min(shape.threads, count)));
}
template <class T>
auto into(std::vector<T>& registers) {
  return [&registers](std::int64_t i, const T& value) { registers[static_cast<std::size_t>(i)] = value; };
}
template <class T>
const T& of(const std::vector<T>& registers, std::int64_t i) {
  return registers[static_cast<std::size_t>(i)];
}

}  // namespace detail

/// Reads n elements (section 3). Each element is read once. n/w + nl/p + l.
template <class T>
Outcome<T> contiguous(const Shape& shape, std::span<const T> input) {
  const auto n = static_cast<std::int64_t>(input.size());
  Machine<T> machine(shape, n);
  machine.place(0, input);
  std::vector<T> values(input.size());
  for (std::int64_t base = 0; base < n; base += shape.threads) {
    machine.read(
        std::min(shape.threads, n - base), [&](std::int64_t i) { return base + i; },
        [&](std::int64_t i, const T& value) { values[static_cast<std::size_t>(base + i)] = value; });
    machine.barrier();
  }
  return {std::move(values), machine.time()};
}

/// The sum (section 4): adds halves, a[i] + a[i + half], so the operator has to commute. 3 (n/w + nl/p + l log n).
template <class T, class Op>
Outcome<T> sum(const Shape& shape, std::span<const T> input, const Op& op) {
  static_assert(is_commutative<Op>, "sum() puts far elements side by side; ordered_sum() keeps the order");
  const auto n = static_cast<std::int64_t>(input.size());
  Machine<T> machine(shape, n);
  machine.place(0, input);
  auto x = detail::registers<T>(shape, n), y = x;
  for (std::int64_t length = n; length > 1;) {
    const std::int64_t half = (length + 1) / 2, pairs = length - half;
    for (std::int64_t base = 0; base < pairs; base += shape.threads) {
      const std::int64_t count = std::min(shape.threads, pairs - base);
      machine.read(
          count, [&](std::int64_t i) { return base + i; }, detail::into(x));
      machine.read(
          count, [&](std::int64_t i) { return base + i + half; }, detail::into(y));
      machine.write(
          count, [&](std::int64_t i) { return base + i; },
          [&](std::int64_t i) { return op(detail::of(x, i), detail::of(y, i)); });
    }
    machine.barrier();
    length = half;
  }
  return {machine.look(0, std::min<std::int64_t>(n, 1)), machine.time()};
}

/// The sum, for operators that do not commute: adds neighbours, a[i] = a[2i] + a[2i + 1], in place. Chunks ascend, and
/// a barrier separates the reads of each chunk from its writes. 5 (n/w + nl/p + l log n).
template <class T, class Op>
Outcome<T> ordered_sum(const Shape& shape, std::span<const T> input, const Op& op) {
  const auto n = static_cast<std::int64_t>(input.size());
  Machine<T> machine(shape, n);
  machine.place(0, input);
  auto x = detail::registers<T>(shape, n), y = x;
  for (std::int64_t length = n; length > 1;) {
    const std::int64_t half = (length + 1) / 2;
    const auto paired = [&](std::int64_t i) { return 2 * i + 1 < length; };
    for (std::int64_t base = 0; base < half; base += shape.threads) {
      const std::int64_t count = std::min(shape.threads, half - base);
      machine.read(
          count, [&](std::int64_t i) { return 2 * (base + i); }, detail::into(x));
      machine.read(
          count, [&](std::int64_t i) { return paired(base + i) ? 2 * (base + i) + 1 : no_request; }, detail::into(y));
      machine.barrier();
      machine.write(
          count, [&](std::int64_t i) { return base + i; },
          [&](std::int64_t i) { return paired(base + i) ? op(detail::of(x, i), detail::of(y, i)) : detail::of(x, i); });
    }
    machine.barrier();
    length = half;
  }
  return {machine.look(0, std::min<std::int64_t>(n, 1)), machine.time()};
}

/// The naive prefix-sums (section 6), in place. Chunks descend, and a barrier separates the reads of each chunk from
/// its writes: if p < n, an ascending chunk would overwrite the next one's input. 4 (n log n / w + nl log n / p + l log
/// n).
template <class T, class Op>
Outcome<T> naive_prefix_sums(const Shape& shape, std::span<const T> input, const Op& op) {
  const auto n = static_cast<std::int64_t>(input.size());
  Machine<T> machine(shape, n);
  machine.place(0, input);
  auto x = detail::registers<T>(shape, n), y = x;
  for (std::int64_t far = 1; far < n; far *= 2) {
    const std::int64_t last = (n - 1) / shape.threads * shape.threads;
    for (std::int64_t base = last; base + shape.threads > far; base -= shape.threads) {
      const std::int64_t count = std::min(shape.threads, n - base);
      const auto here = [&](std::int64_t i) { return base + i >= far ? base + i : no_request; };
      machine.read(
          count, [&](std::int64_t i) { return base + i >= far ? base + i - far : no_request; }, detail::into(x));
      machine.read(count, here, detail::into(y));
      machine.barrier();
      machine.write(count, here, [&](std::int64_t i) { return op(detail::of(x, i), detail::of(y, i)); });
    }
    machine.barrier();
  }
  return {machine.look(0, n), machine.time()};
}

}  // namespace areal::memory
