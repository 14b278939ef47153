// What the papers say that their tables cost on the memory machines (research/paper_costs.hpp), beside what is counted.
#include <gtest/gtest.h>
#include <areal/research/model.hpp>
#include <cmath>
#include <map>
#include <string>
#include "catalogue_remainders.hpp"

namespace areal::catalogue {
namespace {

AlgorithmRequest of(std::string_view id, const Shape3& s) {
  AlgorithmRequest request;
  request.algorithm = id, request.height = s.h, request.width = s.w, request.bins = s.b;
  return request;
}

std::string words(const Shape3& s) { return std::to_string(s.h) + "x" + std::to_string(s.w); }

// Table I of Kasagi 2014, from formulas alone: what tiles hand over is the difference, and first elements.
TEST(PaperCosts, OfKasagi) {
  for (const Shape3& s : {Shape3{64, 96, 1}, Shape3{96, 64, 1}, Shape3{128, 128, 1}, Shape3{64, 1152, 1}}) {
    const auto h = static_cast<double>(s.h), w = static_cast<double>(s.w), n = h * w, tiles = n / 1024;
    const double l = 100, steps = h / 32 + w / 32;
    struct Expected {
      double cost, of_steps;  // the formula's
      double cost_more;       // the difference
      double dmm, dmm_least, dmm_most;
      double chain;  // requests of a warp one after another, at most, of all launches
    };
    const auto handed = [&s](std::string_view id) {
      const Remainder more = remainder_of(id, s, 32);
      return (more.reads + more.writes) / 32;
    };
    const double deep = s.w > 33 * 32 ? 2 : 0;  // two launches a level
    const std::map<std::string_view, Expected> all{
        {"2r2w", {2 * n + 2 * n / 32, 1, -h, 0, 0, 0, 2 * h + 2 * w}},
        {"4r4w", {8 * n / 32, 3, -h / 32, 4 * n / 32, 0, 0, 2 * h + 2 * w + 128}},
        // All is strided but for some type pairs that are alone in their warp, or two at the border of two groups: see
        // below.
        {"4r1w", {5 * n, h + w - 2, -2 * h - 2 * w + 1, 0, 0, 0, 5 * (h + w)}},
        {"2r1w",
         {3 * n / 32 + 8 * n / 1024, 2 + deep, handed("2r1w") - 8 * n / 1024, 9 * n / 32, 0, 66 * tiles,
          64 + 8 * steps}},
        {"1r1w", {2 * n / 32, steps - 2, handed("1r1w"), 6 * n / 32, 0, 16 * tiles, 24 * steps}}};
    for (const auto& [id, expected] : all) {
      SCOPED_TRACE(std::string(id) + ", " + words(s));
      const AlgorithmModel model = algorithm_model(of(id, s), {2048, 32, 100, 16});
      const double cost = expected.cost + (expected.of_steps + 1) * (l - 1);
      EXPECT_DOUBLE_EQ(model.cost.expected.value(), cost);
      const double few = id == "4r1w" ? static_cast<double>(model.coalesced) : 0;
      EXPECT_LT(few, h + w);
      EXPECT_NEAR(model.cost.difference().value(), expected.cost_more - few * 31 / 32, 1e-6 * cost);
      EXPECT_DOUBLE_EQ(model.dmm.expected.value(), expected.dmm);
      EXPECT_GE(model.dmm.difference().value(), expected.dmm_least);
      EXPECT_LE(model.dmm.difference().value(), expected.dmm_most);
      EXPECT_EQ(model.umm.expected, cost);
      EXPECT_EQ(model.hmm.expected, cost);
      // The UMM is idle only while every warp waits.
      EXPECT_GE(model.umm.counted.value(), model.cost_of_groups);
      EXPECT_LE(model.umm.counted.value(), model.cost_of_groups + expected.chain * (l - 1));
      EXPECT_GE(model.hmm.counted.value(), model.umm.counted.value());
      EXPECT_EQ(model.no_formula, "");
    }
  }
}

// (1+r)R1W, with triangles of no tile, of one and of several: all is coalesced, and what is read, written and launched
// is counted tile by tile (kasagi_cost.hpp). Of tiles of 32 x 32 each shared access is a stage's 32nd, but for the
// walks along carries.
TEST(PaperCosts, OfKasagisHybrid) {
  for (const Shape3& s :
       {Shape3{64, 96, 1}, Shape3{96, 64, 1}, Shape3{128, 128, 1}, Shape3{70, 101, 1}, Shape3{32, 96, 1}})
    for (const double r : {0.01, 0.25, 0.6, 0.99}) {
      SCOPED_TRACE(words(s) + ", r " + std::to_string(r));
      AlgorithmRequest request = of("hybrid-1r1w", s);
      request.r = r;
      const AlgorithmModel model = algorithm_model(request, {2048, 32, 100, 16});
      const auto n = static_cast<double>(s.h * s.w), tiles = static_cast<double>(up(s.h, 32) * up(s.w, 32));
      const double l = 100;
      const kasagi::Cost cost = kasagi::cost_of_hybrid(s.h, s.w, 32, std::llround(model.side));
      EXPECT_EQ(model.strided, 0U);
      EXPECT_DOUBLE_EQ(model.cost.counted.value(), static_cast<double>(cost.reads + cost.writes) / 32 +
                                                       static_cast<double>(cost.launches) * (l - 1));
      EXPECT_EQ(model.shared, static_cast<std::uint64_t>(cost.shared_reads + cost.shared_writes));
      EXPECT_DOUBLE_EQ(model.cost.expected.value(),
                       (2 + model.r) * n / 32 + static_cast<double>(cost.launches) * (l - 1));
      EXPECT_DOUBLE_EQ(model.dmm.expected.value(), (6 + 3 * model.r) * n / 32);
      EXPECT_GE(model.dmm.counted.value(), static_cast<double>(model.shared) / 32);
      EXPECT_LE(model.dmm.counted.value(), static_cast<double>(model.shared) / 32 + 66 * tiles);
    }
}

/// The sentence of those that Nakano 2013 has a bound of.
std::string with_p(std::int64_t p) { return "Nakano 2013 has a bound on the UMM alone; its p is " + std::to_string(p); }

// Inside O(). p is the threads that are asked for, in whole blocks of 256, but no more than there is work for: n, or in
// optimal one for each sum of the way down, n / 2 + 1. The constants are those of the programs on the memory machines
// (memory_bounds_test): the kernels take no longer.
TEST(PaperCosts, OfNakanosSums) {
  struct Sums {
    std::string_view id;
    std::int64_t most_p;
    double constant;
  };
  const std::int64_t all = 16384;
  const auto n = static_cast<double>(all), log_n = std::log2(n);
  for (const Sums& sums :
       {Sums{"naive", all, 4}, Sums{"optimal", up(all / 2 + 1, 256) * 256, 14}, Sums{"sequential-parallel", all, 17}})
    for (const std::int64_t latency : {1, 32, 200})
      for (const std::int64_t threads : {256, 300, 1024, 0, 40000})
        for (const std::int64_t holds : {512, 32768}) {
          SCOPED_TRACE(std::string(sums.id) + ", " + std::to_string(threads) + " threads on " + std::to_string(holds) +
                       ", l " + std::to_string(latency));
          AlgorithmRequest request = of(sums.id, {1, all, 1});
          request.family = "scan", request.threads = threads;
          const std::int64_t p = std::min({threads == 0 ? all : up(threads, 256) * 256, sums.most_p, holds});
          if (holds == 512 && (latency > 1 || threads == 300)) continue;
          const AlgorithmModel model = algorithm_model(request, {holds / 2, 32, latency, 2});
          const auto l = static_cast<double>(latency), k = static_cast<double>(model.group);
          const double limit = n * l / static_cast<double>(p), access = n / 32 + limit;
          const double bound = sums.id == "naive" ? access * log_n + l * log_n
                               : k > 0            ? access + n * l * std::log2(k) / k
                                                  : access + l * log_n;
          EXPECT_DOUBLE_EQ(model.umm.expected.value(), bound);
          EXPECT_EQ(model.no_formula, with_p(p));
          // Theorem 3: no program with p threads is faster.
          EXPECT_GE(model.umm.counted.value(), std::max({n / 32, limit, l * log_n}));
          EXPECT_EQ(model.umm.counted, model.hmm.counted);  // nothing is shared
          if (holds == 512 && threads != 256) continue;     // blocks come one after another
          EXPECT_LE(model.umm.counted.value(), sums.constant * bound);
        }
}

// Of the table p is half of the elements, the sums of the first level, or what the machine holds. Where that is less,
// blocks come one after another, each waits for its own steps, and no constant is claimed. Else the levels begin
// anywhere in an address group, up to one more for each run, which shows where the latency does not hide it: so the
// times lie between these two times the bound.
TEST(PaperCosts, OfNakanosTable) {
  struct Machine {
    HierarchicalMachine machine;
    double least, most;
  };
  for (const Shape3& s : {Shape3{64, 64, 1}, Shape3{128, 128, 1}, Shape3{64, 256, 1}, Shape3{512, 64, 1}})
    for (const Machine& m :
         {Machine{{2048, 32, 200, 16}, 14, 15.6}, Machine{{2048, 32, 32, 16}, 15.5, 26.2},
          Machine{{1024, 32, 1, 16}, 32, 39.2}, Machine{{256, 32, 200, 4}, 0, 0}, Machine{{256, 32, 200, 1}, 0, 0}}) {
      SCOPED_TRACE(words(s) + ", l " + std::to_string(m.machine.latency));
      const AlgorithmModel model = algorithm_model(of("umm-optimal", s), m.machine);
      const auto n = static_cast<double>(s.h * s.w), l = static_cast<double>(m.machine.latency);
      const std::int64_t holds = m.machine.threads * m.machine.dmms, p = std::min(holds, s.h * s.w / 2);
      const double bound = n / 32 + n * l / static_cast<double>(p) + l * std::log2(n);
      EXPECT_DOUBLE_EQ(model.umm.expected.value(), bound);
      EXPECT_EQ(model.no_formula, with_p(p));
      EXPECT_GE(model.umm.counted.value(), m.least * bound);
      if (m.most > 0) {
        EXPECT_LE(model.umm.counted.value(), m.most * bound);
      }
      EXPECT_GE(model.umm.counted.value(), std::max({n / 32, n * l / static_cast<double>(p), l * std::log2(n)}));
      EXPECT_EQ(model.umm.counted, model.hmm.counted);
      EXPECT_EQ(model.dmm.counted, 0);
      EXPECT_FALSE(model.cost.expected || model.dmm.expected || model.hmm.expected);
    }
}

}  // namespace
}  // namespace areal::catalogue
