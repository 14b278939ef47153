// The prefix-sums and the table of Nakano 2013 on the simulated machine: reads, writes and launches equal exact
// formulas, with the lower-order terms, for any associative operator, number of threads and schedule.
#include <gtest/gtest.h>
#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <string>
#include "kernels/sat/nakano/umm-optimal.hpp"
#include "kernels/scan/nakano/naive.hpp"
#include "kernels/scan/nakano/sequential-parallel.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {
namespace {

using kernels::Matrix;

/// x -> a x + b, modulo 2^32: functions applied one after another, which do not commute.
struct Affine {
  std::uint32_t a = 0, b = 0;
  bool operator==(const Affine&) const = default;
};
struct Then {
  Affine operator()(Affine first, Affine second) const { return {second.a * first.a, second.a * first.b + second.b}; }
};
/// An operator with its own state: sums modulo a prime.
struct PlusModulo {
  std::uint64_t modulus;
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return (a + b) % modulus; }
};

struct Cost {
  std::int64_t reads = 0, writes = 0, launches = 0, steps = 0;
  Cost& operator+=(const Cost& o) {
    reads += o.reads, writes += o.writes, launches += o.launches, steps += o.steps;
    return *this;
  }
};
/// Steps of the machine: launches, and barriers of a block.
void expect_cost(const Counts& c, const Cost& cost, const std::string& what) {
  EXPECT_EQ(c.reads.elements, static_cast<std::uint64_t>(cost.reads)) << what;
  EXPECT_EQ(c.writes.elements, static_cast<std::uint64_t>(cost.writes)) << what;
  EXPECT_EQ(c.launches, static_cast<std::uint64_t>(cost.launches)) << what;
  EXPECT_EQ(c.barrier_steps(), static_cast<std::uint64_t>(cost.steps)) << what;
}

template <class T>
std::vector<T> random_elements(std::int64_t n) {
  std::mt19937 random(17);
  std::vector<T> all(static_cast<std::size_t>(n));
  for (T& one : all) {
    if constexpr (std::is_same_v<T, Affine>)
      one = {static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
    else
      one = static_cast<T>(random());
  }
  return all;
}

template <class T, class Op>
std::vector<T> one_after_another(std::vector<T> all, const Op& op) {
  for (std::size_t i = 1; i < all.size(); ++i) all[i] = op(all[i - 1], all[i]);
  return all;
}

enum class Scan { naive, optimal, optimal_elsewhere, sequential_parallel };

/// Runs one of the prefix-sums on n random elements, with 32 threads a block. Every array is its own region, so that
/// any access outside it is a fault; the workspace is poisoned.
template <class T, class Op = kernels::Plus>
Counts run(Scan scan, std::int64_t n, std::int64_t p = 0, std::int64_t k = 1, const Op& op = {},
           const Options& options = {}) {
  using C = kernels::LineConfig<T, T, Op, 32>;
  std::vector<T> in = random_elements<T>(n), out(in.size());
  const std::vector<T> expected = one_after_another(in, op);
  const std::int64_t cells = scan == Scan::naive                 ? kernels::naive_cells(n)
                             : scan == Scan::sequential_parallel ? kernels::level_cells(1, std::min(k, n))
                                                                 : kernels::level_cells(1, n);
  std::vector<T> workspace(static_cast<std::size_t>(cells));
  const Matrix from{reinterpret_cast<char*>(in.data()), 0, true}, to{reinterpret_cast<char*>(out.data()), 0, true};
  const bool in_place = scan == Scan::optimal || scan == Scan::sequential_parallel;
  Launcher launcher(options);
  if (n > 0) launcher.add({"the input", in.data(), in.size() * sizeof(T), true, in_place});
  if (n > 0) launcher.add({"the sums", out.data(), out.size() * sizeof(T), false});
  if (cells > 0) launcher.add({"the workspace", workspace.data(), workspace.size() * sizeof(T), false});
  if (scan == Scan::naive) kernels::naive_prefix_sums<C>(launcher, from, to, n, workspace.data(), p, op);
  if (scan == Scan::optimal)
    kernels::optimal_prefix_sums<C>(launcher, {from, from, 1, n, true}, workspace.data(), p, op);
  if (scan == Scan::optimal_elsewhere)
    kernels::optimal_prefix_sums<C>(launcher, {from, to, 1, n, false}, workspace.data(), p, op);
  if (scan == Scan::sequential_parallel)
    kernels::sequential_prefix_sums<C>(launcher, from, n, k, workspace.data(), p, op);
  EXPECT_TRUE((in_place ? in : out) == expected)
      << "scan " << static_cast<int>(scan) << " of " << n << ", p " << p << ", k " << k << ", seed " << options.seed;
  return launcher.total();
}

constexpr std::int64_t lengths[] = {0, 1, 2, 3, 5, 8, 31, 32, 33, 63, 64, 65, 66, 100, 128, 129, 131, 512, 1000, 1024};

std::string words(std::int64_t n, std::int64_t p) { return std::to_string(n) + ", p " + std::to_string(p); }

int log2_down(std::int64_t n) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n))) - 1; }
int log2_up(std::int64_t n) { return n <= 1 ? 0 : log2_down(n - 1) + 1; }

TEST(Nakano, NaivePrefixSums) {
  for (const std::int64_t n : lengths)
    for (const std::int64_t p : {0, 1, 64, 96}) {
      Cost cost{0, 0, 0, 0};
      for (int t = 0; t < log2_up(n); ++t) {
        const std::int64_t far = std::int64_t{1} << t;
        cost += {2 * (n - far), n - far, 1, 1};
        // The elements that both buffers must hold.
        if (n > 32) cost += {t == 0 ? 1 : t == 1 ? 2 : far / 2, t == 0 ? 1 : t == 1 ? 2 : far / 2, 0, 0};
      }
      if (n >= 1 && n <= 32) {
        cost.reads += 1, cost.writes += 1, cost.launches = 1;
        cost.steps = 1 + 2 * std::max(0, log2_up(n) - 1);
      }
      expect_cost(run<std::uint64_t>(Scan::naive, n, p), cost, words(n, p));
    }
  // n = 2^m: the paper's 3(nm - n + 1) requests, and 2(n/2 + 1) of copies.
  const Counts c = run<std::uint32_t>(Scan::naive, 1024);
  EXPECT_EQ(c.reads.elements + c.writes.elements, 3u * (1024 * 10 - 1024 + 1) + 2 * (512 + 1));
  EXPECT_EQ(c.reads.strided + c.writes.strided, 0u);
}

/// Of one line; `threads` of a block.
Cost cost_of_optimal(std::int64_t length, int threads, bool in_place) {
  Cost cost;
  if (length < (in_place ? 2 : 1)) return cost;
  cost.launches = 1;
  cost.steps = length == 1 ? 2 : 2 * log2_down(length);
  for (std::int64_t fine = length; fine > 1; fine /= 2) {
    const std::int64_t coarse = fine / 2, added = (fine - 1) / 2;
    cost.reads += 2 * coarse + coarse + added;
    cost.writes += coarse + coarse + added;
    if (coarse > threads) cost.launches += 2;
  }
  if (!in_place) cost.reads += 1, cost.writes += 1;
  return cost;
}

TEST(Nakano, OptimalPrefixSums) {
  for (const std::int64_t n : lengths)
    for (const std::int64_t p : {0, 1, 64, 96}) {
      expect_cost(run<std::uint64_t>(Scan::optimal, n, p), cost_of_optimal(n, 32, true), words(n, p));
      expect_cost(run<std::uint64_t>(Scan::optimal_elsewhere, n, p), cost_of_optimal(n, 32, false), words(n, p));
    }
  // n = 2^m: the paper's 7(n - 1) - 2m requests, 2m steps; 2(m - 6) + 1 launches with blocks of 32 threads.
  const Counts c = run<std::uint32_t>(Scan::optimal, 1024);
  EXPECT_EQ(c.reads.elements + c.writes.elements, 7u * 1023 - 2 * 10);
  EXPECT_EQ(c.barrier_steps(), 20u);
  EXPECT_EQ(c.launches, 9u);
  EXPECT_EQ(kernels::level_cells(1, 1024), 1023);
}

TEST(Nakano, SequentialParallelPrefixSums) {
  for (const std::int64_t n : lengths)
    for (const std::int64_t k : {1, 2, 7, 64, 100, 4096}) {
      if (k == 1 && n > 100) continue;
      Cost cost;
      for (std::int64_t at = 0; at < n; at += k) {
        if (at > 0) cost += {2, 1, 1, 1};
        cost += cost_of_optimal(std::min(k, n - at), 32, true);
      }
      for (const std::int64_t p : {0, 32})
        expect_cost(run<std::uint64_t>(Scan::sequential_parallel, n, p, k), cost,
                    words(n, p) + " by " + std::to_string(k));
    }
  // n = 2^m, k = 2^j: the paper's n/k (7(k - 1) - 2j) + 3(n/k - 1) requests.
  const Counts c = run<std::uint32_t>(Scan::sequential_parallel, 1024, 0, 128);
  EXPECT_EQ(c.reads.elements + c.writes.elements, 8u * (7 * 127 - 14) + 3 * 7);
}

TEST(Nakano, AnyAssociativeOperator) {
  for (const Scan scan : {Scan::naive, Scan::optimal, Scan::optimal_elsewhere, Scan::sequential_parallel})
    for (const std::int64_t n : lengths) {
      run<Affine, Then>(scan, n, 64, 48);
      run<std::uint64_t, PlusModulo>(scan, n, 64, 48, {4294967291u});
    }
}

TEST(Nakano, ManyLines) {
  using C = kernels::LineConfig<std::uint32_t, std::uint32_t, kernels::Plus, 32>;
  for (const std::int64_t count : {1, 2, 5, 33, 70})
    for (const std::int64_t length : {1, 2, 3, 7, 64, 65, 66, 150, 260})
      for (const std::int64_t p : {0, 64}) {
        std::vector<std::uint32_t> in = random_elements<std::uint32_t>(count * length), sums(in.size()), expected = in;
        for (std::int64_t i = 0; i < count * length; ++i)
          if (i % length != 0) expected[i] += expected[i - 1];
        std::vector<std::uint32_t> levels(static_cast<std::size_t>(kernels::level_cells(count, length)));
        Launcher launcher;
        launcher.add({"the lines", in.data(), in.size() * 4, true, false});
        launcher.add({"the sums", sums.data(), sums.size() * 4, false});
        if (!levels.empty()) launcher.add({"the levels", levels.data(), levels.size() * 4, false});
        kernels::optimal_prefix_sums<C>(launcher,
                                        {{reinterpret_cast<char*>(in.data()), length * 4, true},
                                         {reinterpret_cast<char*>(sums.data()), length * 4, true},
                                         count,
                                         length,
                                         false},
                                        levels.data(), p);
        EXPECT_EQ(sums, expected) << count << " lines of " << words(length, p);
        const Cost one = cost_of_optimal(length, 32, false);
        const Counts c = launcher.total();
        EXPECT_EQ(c.reads.elements, static_cast<std::uint64_t>(count * one.reads)) << count << " of " << length;
        EXPECT_EQ(c.writes.elements, static_cast<std::uint64_t>(count * one.writes)) << count << " of " << length;
        EXPECT_EQ(c.launches, static_cast<std::uint64_t>(one.launches)) << count << " of " << length;
      }
}

struct Table {
  std::vector<std::uint64_t> sums;
  Counts counts;
};

/// The table of random 16-bit pixels in 64 bits, border none; if `aligned` is false, at an address that is a multiple
/// of no element's size. The workspace is poisoned.
template <int w = 32, int threads = 256>
Counts run_table(std::int64_t height, std::int64_t width, const Options& options = {}, bool aligned = true) {
  using Algorithm = kernels::UmmOptimal<w, threads>;
  const std::vector<std::uint16_t> image = random_elements<std::uint16_t>(height * width);
  const std::size_t n = image.size(), off = aligned ? 0 : 1;
  std::vector<char> in(n * 2 + off), out(n * 8 + off);
  std::memcpy(in.data() + off, image.data(), n * 2);
  const kernels::TableRequest request{
      "", kernels::TableKind::pixels, {Type::u16, Type::u64}, {width, height}, Border::none, {}, 0.25};
  std::vector<char> workspace(Algorithm::template workspace_bytes<std::uint64_t>(request));
  Launcher launcher(options);
  launcher.add({"the image", in.data(), in.size(), true, false});
  launcher.add({"the table", out.data(), out.size(), false});
  launcher.add({"the workspace", workspace.data(), workspace.size(), false});
  Algorithm::template sums<std::uint16_t, std::uint64_t>(
      launcher, request, {{in.data() + off, width * 2, aligned}, {out.data() + off, width * 8, aligned}, width, height},
      workspace.data());

  std::vector<std::uint64_t> table(n), expected(image.begin(), image.end());
  std::memcpy(table.data(), out.data() + off, n * 8);
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 1; x < width; ++x) expected[y * width + x] += expected[y * width + x - 1];
  for (std::int64_t i = width; i < height * width; ++i) expected[i] += expected[i - width];
  EXPECT_EQ(table, expected) << height << "x" << width << ", seed " << options.seed;
  return launcher.total();
}

struct Size {
  std::int64_t h, w;
};
constexpr Size sizes[] = {{64, 64}, {1, 1}, {2, 1}, {1, 2}, {64, 1}, {1, 64}, {96, 32}, {70, 45}, {33, 97}, {130, 131}};

template <int w, int threads>
void table() {
  for (const Size& s : sizes) {
    const Cost row = cost_of_optimal(s.w, threads, false), column = cost_of_optimal(s.h, threads, true);
    const std::int64_t n = s.h * s.w;
    expect_cost(run_table<w, threads>(s.h, s.w),
                {s.h * row.reads + s.w * column.reads + 2 * n, s.h * row.writes + s.w * column.writes + 2 * n,
                 row.launches + column.launches + 2, row.steps + column.steps + 2},
                std::to_string(s.h) + "x" + std::to_string(s.w) + ", w " + std::to_string(w));
  }
}
TEST(Nakano, Table) {
  table<32, 256>();
  table<16, 32>();
  table<4, 32>();
  // For powers of two, as the contract says; each step of the paper is one of the machine.
  for (const Size& s : {Size{64, 64}, Size{32, 128}, Size{128, 16}}) {
    const Counts c = run_table(s.h, s.w);
    const std::int64_t n = s.h * s.w, logs = s.h * log2_down(s.w) + s.w * log2_down(s.h);
    expect_cost(c, {10 * n - 3 * s.h - 4 * s.w - logs, 8 * n - 2 * s.h - 3 * s.w - logs, 4, 2 * log2_down(n) + 2},
                std::to_string(s.h) + "x" + std::to_string(s.w));
  }
  // Lines beyond a block: 513 elements have levels of at most 256, 514 one of 257.
  EXPECT_EQ(run_table(3, 513).launches, 4u);
  EXPECT_EQ(run_table(3, 514).launches, 6u);
  EXPECT_EQ(run_table(1024, 3).launches, 6u);
  run_table(45, 70, {}, false);
}

TEST(Nakano, TransposesAreCoalesced) {
  using C = kernels::PlainConfig<std::uint64_t, std::uint64_t>;
  std::vector<std::uint64_t> in = random_elements<std::uint64_t>(96 * 64);
  std::vector<std::uint64_t> out(in.size());
  Launcher launcher;
  launcher.add({"the matrix", in.data(), in.size() * 8, true, false});
  launcher.add({"the transposed", out.data(), out.size() * 8, false});
  kernels::transpose_diagonally<C>(launcher, {reinterpret_cast<char*>(in.data()), 64 * 8, true},
                                   {reinterpret_cast<char*>(out.data()), 96 * 8, true}, 96, 64);
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i % 64 * 96 + i / 64], in[i]) << i;
  const Counts c = launcher.total();
  EXPECT_EQ(c.reads.elements, in.size());
  EXPECT_EQ(c.reads.strided + c.writes.strided, 0u);
  EXPECT_EQ(c.reads.requests, in.size() / 32);
  EXPECT_EQ(c.writes.requests, in.size() / 32);
  EXPECT_EQ(c.shuffles + c.shared_reads.elements, 0u);
}

TEST(Nakano, AnyScheduleGivesTheSameSums) {
  std::uint64_t seed = 2;
  for (const StartOrder start : {StartOrder::ascending, StartOrder::descending, StartOrder::random})
    for (const int residents : {1, 3, 64}) {
      Options options;
      options.seed = seed++, options.residents = residents, options.start = start;
      run_table<32, 32>(70, 145, options);
      for (const Scan scan : {Scan::naive, Scan::optimal, Scan::optimal_elsewhere, Scan::sequential_parallel})
        for (const std::int64_t n : {30, 300, 700}) run<Affine, Then>(scan, n, 96, 100, {}, options);
    }
}

}  // namespace
}  // namespace areal::simt
