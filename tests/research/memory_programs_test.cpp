// The programs of the DMM and the UMM: their results, for operators that commute and for others, for sizes that are
// powers of two and for others; and their exact numbers of requests.

#include <gtest/gtest.h>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include "memory_machines/sat.hpp"

namespace areal::memory {

// x -> a x + b modulo 2^64, one after the other: associative, and it does not commute.
struct Affine {
  std::uint64_t a = 1, b = 0;
  friend bool operator==(const Affine&, const Affine&) = default;
};
struct After {
  Affine operator()(const Affine& first, const Affine& second) const {
    return {first.a * second.a, second.a * first.b + second.b};
  }
};

struct Matrix {
  std::uint64_t m[2][2]{};
  friend bool operator==(const Matrix&, const Matrix&) = default;
};
struct Product {
  Matrix operator()(const Matrix& x, const Matrix& y) const {
    Matrix z;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) z.m[i][j] = x.m[i][0] * y.m[0][j] + x.m[i][1] * y.m[1][j];
    return z;
  }
};

struct Larger {
  using commutative = void;
  int operator()(int a, int b) const { return a > b ? a : b; }
};

static_assert(is_commutative<std::plus<std::uint64_t>> && is_commutative<Larger>);
static_assert(!is_commutative<std::plus<std::string>> && !is_commutative<After> && !is_commutative<Product>);

namespace {

constexpr unsigned seed = 20132;

// Element by element, as the definitions say.
template <class T, class Op>
std::vector<T> prefixes(const std::vector<T>& input, const Op& op) {
  std::vector<T> out;
  for (const T& x : input) out.push_back(out.empty() ? x : op(out.back(), x));
  return out;
}
template <class T, class Op>
std::vector<T> table(const std::vector<T>& input, std::int64_t height, std::int64_t width, const Op& op) {
  std::vector<T> out(input.size());
  for (std::int64_t y = 0; y < height; ++y) {
    T row{};
    for (std::int64_t x = 0; x < width; ++x) {
      const auto at = static_cast<std::size_t>(y * width + x);
      row = x == 0 ? input[at] : op(row, input[at]);
      out[at] = y == 0 ? row : op(out[at - static_cast<std::size_t>(width)], row);
    }
  }
  return out;
}

template <class T, class Op>
void check_all(const Shape& shape, const std::vector<T>& values, std::int64_t height, std::int64_t width,
               const Op& op) {
  const std::span<const T> input(values);
  const auto n = static_cast<std::int64_t>(values.size());
  const std::vector<T> wanted = prefixes(values, op);
  EXPECT_EQ(contiguous(shape, input).values, values);
  EXPECT_EQ(ordered_sum(shape, input, op).values, std::vector<T>{wanted.back()});
  if constexpr (is_commutative<Op>) {
    EXPECT_EQ(sum(shape, input, op).values, std::vector<T>{wanted.back()});
  }
  EXPECT_EQ(naive_prefix_sums(shape, input, op).values, wanted);
  EXPECT_EQ(prefix_sums(shape, input, op).values, wanted);
  for (const std::int64_t k : {std::int64_t{1}, std::int64_t{3}, std::int64_t{8}, (n + 1) / 2, n, n + 5})
    EXPECT_EQ(sequential_prefix_sums(shape, input, k, op).values, wanted) << "k " << k;
  const std::vector<T> sums = table(values, height, width, op);
  EXPECT_EQ(sat(shape, input, height, width, Columns::transposed, op).values, sums);
  EXPECT_EQ(sat(shape, input, height, width, Columns::direct, op).values, sums);
}

std::string told(const Shape& shape, std::int64_t height, std::int64_t width) {
  return std::string(shape.kind == Kind::dmm ? "dmm" : "umm") + " p " + std::to_string(shape.threads) + " w " +
         std::to_string(shape.width) + " l " + std::to_string(shape.latency) + ", " + std::to_string(height) + " x " +
         std::to_string(width) + ", seed " + std::to_string(seed);
}

TEST(MemoryPrograms, ComputeWhatTheyShould) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random);
  };
  for (int round = 0; round < 150; ++round) {
    const std::int64_t w = round % 2 ? pick(1, 9) : std::int64_t{1} << pick(0, 4);
    const std::int64_t height = round % 5 == 0 ? 1 : pick(1, 20), width = round % 7 == 0 ? 1 : pick(1, 20);
    const Shape shape{round % 3 ? Kind::umm : Kind::dmm, w * pick(1, 12), w, pick(1, 9)};
    SCOPED_TRACE(told(shape, height, width));
    const auto n = static_cast<std::size_t>(height * width);
    std::vector<std::uint64_t> numbers(n);
    std::vector<Affine> maps(n);
    std::vector<Matrix> matrices(n);
    std::vector<int> small(n);
    for (std::size_t i = 0; i < n; ++i) {
      numbers[i] = random();
      maps[i] = {random(), random()};
      matrices[i] = {{{random(), random()}, {random(), random()}}};
      small[i] = static_cast<int>(pick(-1000, 1000));
    }
    check_all(shape, numbers, height, width, std::plus<std::uint64_t>());
    check_all(shape, maps, height, width, After());
    check_all(shape, matrices, height, width, Product());
    check_all(shape, small, height, width, Larger());
    if (::testing::Test::HasFailure()) break;
  }
}

TEST(MemoryPrograms, StringsKeepTheirOrder) {
  for (const auto kind : {Kind::dmm, Kind::umm})
    for (const std::int64_t side : {1, 2, 5, 8}) {
      std::vector<std::string> letters;
      for (std::int64_t i = 0; i < side * side; ++i) letters.emplace_back(1, static_cast<char>('A' + i % 58));
      check_all({kind, 8, 4, 3}, letters, side, side, std::plus<std::string>());
    }
}

// If p < n and chunks ascend, the naive prefix-sums in place read what the chunk before wrote.
TEST(MemoryPrograms, NaivePrefixSumsHaveToDescend) {
  const std::int64_t n = 16, p = 4;
  Machine<int> machine({Kind::umm, p, 4, 2}, n);
  machine.place(0, std::vector<int>(16, 1));
  std::vector<int> x(4), y(4);
  for (std::int64_t far = 1; far < n; far *= 2)
    for (std::int64_t base = 0; base < n; base += p) {
      const auto here = [&](std::int64_t i) { return base + i >= far ? base + i : no_request; };
      machine.read(
          p, [&](std::int64_t i) { return base + i >= far ? base + i - far : no_request; }, detail::into(x));
      machine.read(p, here, detail::into(y));
      machine.barrier();
      machine.write(p, here, [&](std::int64_t i) { return detail::of(x, i) + detail::of(y, i); });
      machine.barrier();
    }
  EXPECT_NE(machine.look(15, 1)[0], 16);
  const std::vector<int> ones(16, 1);
  EXPECT_EQ(naive_prefix_sums<int>({Kind::umm, p, 4, 2}, ones, std::plus<int>()).values[15], 16);
}

// ---------------------------------------------------------------- exact numbers of requests

std::int64_t log2_of(std::int64_t n) { return n == 1 ? 0 : 1 + log2_of(n / 2); }

// Requests of the two loops over one row of n = 2^m: 3 for each of n - 1 sums, then 4 for each of n - 1, minus the two
// of each level's last column that lie beyond the row.
std::int64_t optimal_requests(std::int64_t n) { return 7 * (n - 1) - 2 * log2_of(n); }

// Time of one stretch in which each of `warps` makes `requests` of one entry.
std::int64_t stretch(std::int64_t requests, std::int64_t warps, std::int64_t l) {
  return (requests - 1) * std::max(warps, l) + warps + l - 1;
}

TEST(MemoryPrograms, RequestsAndTimesInClosedForm) {
  const std::plus<std::uint64_t> op;
  const bool is_short = std::getenv("AREAL_TEST_SHORT") != nullptr;  // set under sanitizers
  for (const auto kind : {Kind::dmm, Kind::umm})
    for (std::int64_t n = 4; n <= (is_short ? 256 : 4096); n *= 4)
      for (std::int64_t w = 1; w <= 16; w *= 4)
        for (std::int64_t p = w; p <= 2 * n; p *= 2)
          for (const std::int64_t l : {1, 3, 16, 200}) {
            const Shape shape{kind, p, w, l};
            const std::int64_t side = std::int64_t{1} << (log2_of(n) / 2), m = log2_of(n);
            SCOPED_TRACE(told(shape, side, side));
            const std::vector<std::uint64_t> values(static_cast<std::size_t>(n), 1);
            const std::span<const std::uint64_t> input(values);

            const Time read = contiguous(shape, input).time;
            EXPECT_EQ(read.requests, n);
            // Lemma 1, as derived: n/p rounds of p/w + l - 1.
            EXPECT_EQ(read.units, p <= n ? n / p * (p / w + l - 1) : (n + w - 1) / w + l - 1);

            const Time summed = sum(shape, input, op).time;
            std::int64_t units = 0;
            for (std::int64_t half = n / 2; half > 0; half /= 2)
              units += stretch(3 * std::max<std::int64_t>(1, half / p), (std::min(half, p) + w - 1) / w, l);
            EXPECT_EQ(summed.units, units);
            if (l > 1) continue;  // the counts do not depend on it
            EXPECT_EQ(summed.requests, 3 * (n - 1));
            EXPECT_EQ(ordered_sum(shape, input, op).time.requests, 3 * (n - 1));
            EXPECT_EQ(naive_prefix_sums(shape, input, op).time.requests, 3 * (n * m - (n - 1)));
            EXPECT_EQ(prefix_sums(shape, input, op).time.requests, optimal_requests(n));
            const std::int64_t k = n / 4;
            EXPECT_EQ(sequential_prefix_sums(shape, input, k, op).time.requests, 4 * optimal_requests(k) + 3 * 3);
            EXPECT_EQ(sat(shape, input, side, side, Columns::direct, op).time.requests,
                      2 * side * optimal_requests(side));
            const Time turned = sat(shape, input, side, side, Columns::transposed, op).time;
            EXPECT_EQ(turned.requests, 2 * side * optimal_requests(side) + 2 * 2 * n);
            if (::testing::Test::HasFailure()) return;
          }
}

// The transpose is free of conflicts on both machines: each request of a warp is one entry.
TEST(MemoryPrograms, TransposeTouchesOneGroupAndEveryBankOnce) {
  for (const auto kind : {Kind::dmm, Kind::umm})
    for (const std::int64_t w : {2, 4, 8, 32}) {
      const std::int64_t height = 2 * w, width = 3 * w, n = height * width;
      Machine<std::int64_t> machine({kind, 4 * w, w, 7}, 2 * n);
      std::vector<std::int64_t> input(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::int64_t>(i);
      machine.place(0, input);
      transpose(machine, 0, n, height, width);
      EXPECT_EQ(machine.time().entries, 2 * n / w) << w;
      const auto turned = machine.look(n, n);
      for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x)
          ASSERT_EQ(turned[static_cast<std::size_t>(x * height + y)], y * width + x);
    }
}

}  // namespace
}  // namespace areal::memory
