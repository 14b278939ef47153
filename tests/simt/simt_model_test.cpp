// areal/research/model.hpp: its results for algorithms on the simulated machine; simt_catalogue_test checks the
// formulas.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/research/model.hpp>
#include <memory>
#include <vector>

namespace areal {
namespace {

AlgorithmRequest of(std::string_view id, std::int64_t height, std::int64_t width) {
  AlgorithmRequest request;
  request.algorithm = id, request.height = height, request.width = width, request.bins = 3;
  if (id == "relay") request.types = {Type::u8, Type::u32};
  return request;
}

double sum_of(const GlobalCounts& c) { return static_cast<double>(c.elements); }

TEST(AlgorithmModel, EveryAlgorithmOfTheCatalogue) {
  for (const Algorithm& row : algorithms()) {
    if (!row.simt || (row.family != "sat" && row.family != "histogram")) continue;
    SCOPED_TRACE(row.id);
    const HierarchicalMachine machine{2048, 32, 100, 4};
    const bool bands = row.id == "bands";  // whose clusters take long
    const std::int64_t height = bands ? 4 : 64;
    const AlgorithmModel model = algorithm_model(of(row.id, height, 96), machine);
    EXPECT_EQ(model.row, &row);
    EXPECT_EQ(model.elements, height * 96 * (row.family == "sat" ? 1 : 3));
    const double c = static_cast<double>(model.coalesced), s = static_cast<double>(model.strided);
    EXPECT_EQ(c + static_cast<double>(model.strided_elements),
              sum_of(model.counts.reads) + sum_of(model.counts.writes) + sum_of(model.counts.atomics));
    EXPECT_LE(model.strided, model.strided_elements);
    EXPECT_LE(model.strided, model.groups);
    EXPECT_EQ(model.strided == 0, model.strided_elements == 0);
    EXPECT_EQ(model.barrier_steps + 1, static_cast<std::int64_t>(model.counts.launches));
    EXPECT_DOUBLE_EQ(model.cost.counted.value(), c / 32 + s + static_cast<double>(model.barrier_steps + 1) * 99);
    EXPECT_EQ(model.reads.counted, sum_of(model.counts.reads));
    EXPECT_EQ(model.writes.counted, sum_of(model.counts.writes));
    const bool meets = bands || row.id == "relay";
    EXPECT_EQ(model.no_time, meets ? "some warps of a block synchronise, which the HMM does not know" : "") << row.id;
    if (meets) continue;
    // No machine is faster than its memory, nor waits for shared memory longer than the requests and their latency.
    EXPECT_GE(model.umm.counted.value(), model.cost_of_groups);
    EXPECT_GE(model.hmm.counted.value(), model.umm.counted.value());
    EXPECT_LE(model.hmm.counted.value(), model.umm.counted.value() + model.dmm.counted.value());
    const Counts& all = model.counts;
    const std::uint64_t stages = all.shared_reads.requests + all.shared_writes.requests + all.shared_atomics.requests +
                                 all.shared_reads.conflicts + all.shared_writes.conflicts +
                                 all.shared_atomics.conflicts;
    if (row.source != "areal") {
      EXPECT_EQ(model.dmm.counted, static_cast<double>(stages));  // cells are words
    } else {
      EXPECT_GE(model.dmm.counted.value(), static_cast<double>(all.shared_reads.requests));
    }
    // Only Kasagi 2014 and Nakano 2013 have formulas of costs.
    const bool kasagi = row.source.starts_with("Kasagi"), nakano = row.source.starts_with("Nakano");
    EXPECT_EQ(model.cost.expected.has_value(), kasagi);
    EXPECT_EQ(model.dmm.expected.has_value(), kasagi);
    EXPECT_EQ(model.umm.expected.has_value(), kasagi || nakano);
    EXPECT_EQ(model.hmm.expected.has_value(), kasagi);
    EXPECT_EQ(model.umm.formula.empty(), !(kasagi || nakano));
    EXPECT_EQ(model.no_formula.empty(), kasagi);
  }
}

// The groups of strided requests equal those of all requests, except for the runs: lanes 2 cells apart have 2.
TEST(AlgorithmModel, StridedIsChargedByGroups) {
  const AlgorithmModel columns = algorithm_model(of("2r2w", 64, 64));
  EXPECT_EQ(columns.strided_elements, 64u * 64 * 2 - 64);
  EXPECT_EQ(columns.strided, columns.strided_elements);  // a group each
  EXPECT_EQ(columns.groups, columns.strided + columns.coalesced / 32);
  const AlgorithmModel pairs = algorithm_model(of("umm-optimal", 128, 128));
  EXPECT_EQ(pairs.strided_elements, 116928u);
  EXPECT_EQ(pairs.strided, 10516u);
  EXPECT_LT(*pairs.cost.counted, pairs.cost_of_groups);  // runs that begin within a group touch one more
}

TEST(AlgorithmModel, EveryScanOfTheCatalogue) {
  for (const Algorithm& row : algorithms()) {
    if (!row.simt || row.family != "scan") continue;
    SCOPED_TRACE(row.id);
    AlgorithmRequest request = of(row.id, 1, 16384);
    request.family = "scan";
    if (row.id == "sequential-parallel") request.threads = 512, request.group = 4096;
    const AlgorithmModel model = algorithm_model(request, {2048, 32, 100, 4});
    EXPECT_EQ(model.row, &row);
    EXPECT_EQ(model.elements, 16384);
    EXPECT_EQ(model.group, row.id == "sequential-parallel" ? 4096 : 0);
    EXPECT_EQ(model.barrier_steps + 1, static_cast<std::int64_t>(model.counts.launches));
    EXPECT_EQ(model.steps.difference(), 0);
    EXPECT_NEAR(model.reads.difference(), 0, 0.004 * 16384);
    EXPECT_NEAR(model.writes.difference(), 0, 0.004 * 16384);
    EXPECT_EQ(model.no_time, "");
    EXPECT_GE(model.umm.counted.value(), model.cost_of_groups);
    const bool nakano = row.source.starts_with("Nakano");
    EXPECT_EQ(model.umm.expected.has_value(), nakano);
    EXPECT_FALSE(model.no_formula.empty());
  }
}

TEST(AlgorithmModel, WidthIsOfGroupsAndNotOfTiles) {
  const AlgorithmModel wide = algorithm_model(of("4r4w", 64, 64)),
                       narrow = algorithm_model(of("4r4w", 64, 64), {2048, 8, 32, 16});
  EXPECT_EQ(narrow.reads.counted, wide.reads.counted);
  EXPECT_EQ(narrow.groups, 4 * wide.groups);
  EXPECT_DOUBLE_EQ(narrow.cost.counted.value(), static_cast<double>(wide.coalesced) / 8 + 4 * 31);
  EXPECT_GT(*narrow.hmm.counted, *wide.hmm.counted);
  EXPECT_LT(*algorithm_model(of("4r4w", 64, 64), {2048, 32, 31, 16}).hmm.counted, *wide.hmm.counted);
  EXPECT_GT(*algorithm_model(of("4r4w", 64, 64), {2048, 32, 32, 1}).hmm.counted, *wide.hmm.counted);
}

// A triangle of one tile has no carries, which saves a launch; without triangles their six are saved.
TEST(AlgorithmModel, TheHybridsBarrierSteps) {
  struct Expected {
    std::int64_t height, width;
    double r;
    std::int64_t k, steps;
  };
  // h/T + w/T + 4 - 2 k of tiles, rounded up.
  for (const Expected& e :
       {Expected{1024, 128, 0.09, 3, 34}, Expected{1024, 128, 0.05, 2, 36}, Expected{256, 256, 0.25, 4, 12},
        Expected{160, 192, 0.4, 3, 9}, Expected{160, 192, 0.66, 4, 7}, Expected{97, 1000, 0.01, 1, 37},
        Expected{97, 1000, 0.09, 3, 34}, Expected{130, 65, 0.4, 2, 8}, Expected{65, 70, 0.9, 2, 6},
        Expected{330, 300, 0.55, 7, 11}, Expected{33, 64, 0.4, 1, 5}, Expected{64, 64, 0.01, 0, 2},
        Expected{32, 640, 0.5, 0, 19}}) {
    AlgorithmRequest request = of("hybrid-1r1w", e.height, e.width);
    request.r = e.r;
    const AlgorithmModel model = algorithm_model(request);
    SCOPED_TRACE(testing::Message() << e.height << " x " << e.width << ", r " << e.r);
    const double tiles = static_cast<double>((e.height + 31) / 32 * ((e.width + 31) / 32));
    EXPECT_DOUBLE_EQ(model.r * tiles, static_cast<double>(e.k * (e.k + 1)));
    EXPECT_EQ(model.depth, 0);
    EXPECT_EQ(model.steps.counted, static_cast<double>(e.steps));
    EXPECT_EQ(model.side, static_cast<double>(e.k));
    EXPECT_EQ(model.steps.difference(), 0);
  }
}

TEST(AlgorithmModel, TilesTrianglesAndRecursion) {
  const AlgorithmModel deep = algorithm_model(of("2r1w", 64, 36 * 32));
  EXPECT_EQ(deep.depth, 1);
  EXPECT_EQ(deep.steps.expected, 4);
  EXPECT_EQ(deep.steps.counted, 4);
  AlgorithmRequest request = of("hybrid-1r1w", 160, 192);
  request.r = 0.4;
  const AlgorithmModel hybrid = algorithm_model(request);
  EXPECT_DOUBLE_EQ(hybrid.r, 12.0 / 30);
  EXPECT_EQ(hybrid.tile, 32);
  request = of("cw-tis", 64, 64);
  request.tile = 16;
  EXPECT_EQ(algorithm_model(request).steps.counted, 8);
  EXPECT_EQ(algorithm_model(request).tile, 16);
  EXPECT_EQ(algorithm_model(of("2r2w", 64, 64)).tile, 0);
  EXPECT_EQ(algorithm_model(of("thin", 33, 70)).steps.expected, 2);  // 16, 16 and one line
  EXPECT_EQ(algorithm_model(of("thin", 70, 33)).steps.counted, 2);
}

// Wherever its memory is: no result may depend on an address.
TEST(AlgorithmModel, IsTheSameEveryRun) {
  for (const char* id : {"1r1w", "2r1w", "cw-tis", "lee-choe", "lookback", "all-partials", "reduce-then-scan"}) {
    SCOPED_TRACE(id);
    const AlgorithmModel first = algorithm_model(of(id, 96, 96));
    std::vector<std::unique_ptr<char[]>> between;  // moves what is allocated next
    for (int run = 0; run < 8; ++run) {
      between.push_back(std::make_unique<char[]>(static_cast<std::size_t>(1 + 64 * run)));
      const AlgorithmModel again = algorithm_model(of(id, 96, 96));
      EXPECT_EQ(again.groups, first.groups);
      EXPECT_EQ(again.strided, first.strided);
      EXPECT_EQ(again.cost.counted, first.cost.counted);
      EXPECT_EQ(again.umm.counted, first.umm.counted);
      EXPECT_EQ(again.hmm.counted, first.hmm.counted);
    }
  }
}

TEST(AlgorithmModel, OursWaitForOneAnother) {
  // Along 16 lines of `thin`, pieces wait for those before them; a higher latency shows in every one.
  const AlgorithmModel near = algorithm_model(of("all-partials", 256, 1024), {2048, 32, 10, 16}),
                       far = algorithm_model(of("all-partials", 256, 1024), {2048, 32, 1000, 16});
  EXPECT_EQ(near.no_time, "");
  EXPECT_GT(*far.hmm.counted, *near.hmm.counted + 10 * 990);
  EXPECT_EQ(far.no_formula, "no paper has a formula of what it costs on these machines");
}

TEST(AlgorithmModel, SaysWhyThereIsNoTime) {
  const AlgorithmModel small = algorithm_model(of("scanrow-brlt", 64, 64), {512, 32, 32, 16});
  EXPECT_EQ(small.no_time, "a block has 1024 threads, a DMM 512");
  EXPECT_GT(*small.cost.counted, 0);
  EXPECT_GT(*small.dmm.counted, 0);
  EXPECT_FALSE(small.umm.counted || small.hmm.counted);
  EXPECT_EQ(small.no_formula, "Chen 2018 has no formula of what it costs on these machines");
}

TEST(AlgorithmModel, Refuses) {
  const auto sentence = [](const AlgorithmRequest& request, const HierarchicalMachine& machine = {}) -> std::string {
    try {
      algorithm_model(request, machine);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(sentence(of("tiles", 8, 8)).find("algorithm tiles: none that simt runs; it may be 2r2w, 4r4w"), 0u);
  EXPECT_EQ(sentence(of("2r2w", 0, 8)), "height 0: may be 1 to 1048576");
  EXPECT_EQ(sentence(of("2r2w", 1025, 1024)), "1024 x 1025 elements: may be 1048576 elements together");
  EXPECT_EQ(sentence(of("cw-b", 1024, 1024)), "1024 x 1024 pixels of 3 bins: may be 1048576 elements together");
  EXPECT_EQ(sentence(of("2r2w", 8, 8), {64, 3, 32, 1}), "w 3: may be a divisor of 32");
  EXPECT_EQ(sentence(of("2r2w", 8, 8), {64, 64, 32, 1}), "w 64: may be 1 to 32");
  EXPECT_EQ(sentence(of("2r2w", 8, 8), {50, 32, 32, 1}), "p 50: may be a multiple of w, 32");
  EXPECT_EQ(sentence(of("2r2w", 8, 8), {64, 32, 0, 1}), "l 0: may be 1 to 1048576");
  EXPECT_EQ(sentence(of("2r2w", 8, 8), {64, 32, 1, 0}), "d 0: may be 1 to 1024");
  EXPECT_EQ(sentence(of("naive", 8, 8)), "height 8: a line's is 1");
  AlgorithmRequest request = of("2r2w", 8, 8);
  request.types = {Type::f64, Type::u8};
  EXPECT_NE(sentence(request), "none");
  request = of("naive", 1, 8), request.family = "sat";
  EXPECT_EQ(sentence(request).find("algorithm naive: none of sat that simt runs; it may be 2r2w, 4r4w"), 0u);
  request.family = "lines";
  EXPECT_EQ(sentence(request), "family lines: may be sat, histogram or scan");
  request.family = "scan", request.group = -1;
  EXPECT_EQ(sentence(request), "group -1: it may be 0 (chosen) or more");
}

}  // namespace
}  // namespace areal
