// Rank stores on the simulated machine, which checks every access; and the launches, reads and writes that the contract
// of the kernels promises.
#include <areal/array.hpp>
#include <areal/error.hpp>
#include "cpu/histogram/rank.hpp"
#include "device_rank_cases.hpp"
#include "guarded_store.hpp"
#include "host_bed.hpp"
#include "kernels/histogram/request.hpp"
#include "kernels/query/request.hpp"
#include "simt/plan.hpp"

namespace areal {
namespace {

using namespace device_cases;
using formulas::Rank;

using Bed = HostBed<Backend::simt>;
const Execution on_simt{.backend = Backend::simt}, on_cpu{.backend = Backend::cpu};

TEST(SimtRank, AWrongPixelIsCaught) { a_wrong_pixel_of_a_rank_store_is_caught<Bed>(); }
TEST(SimtRank, EverySide) { rank_stores_of_every_side<Bed>(false); }
TEST(SimtRank, EveryType) { rank_stores_of_every_type<Bed>(false); }
TEST(SimtRank, EveryMethod) { rank_stores_answer_every_method<Bed>(); }
TEST(SimtRank, OutsideIsRefusedOrClipped) { rank_regions_outside_are_refused_or_clipped<Bed>(); }
TEST(SimtRank, IsBuiltAnew) { a_rank_store_is_built_anew<Bed>(); }
TEST(SimtRank, Automatic) { automatic_takes_a_rank_store<Bed>(); }

/// Backends of the host's memory read each other's stores.
TEST(SimtRank, ReadsStoresOfTheCpu) {
  Padded image = random_pixels(Type::f32, {60, 50}, -50, 50, 180);
  const std::vector<Region> regions = regions_of(60, 50, 10, 181);
  const ConstView view = image.view();
  const HistogramStore here = histogram_store(view, rank_options(), on_cpu),
                       there = histogram_store(view, rank_options(), on_simt);
  const auto want = region_quantiles(here, regions, rank_quantiles);
  for (const auto& [store, on] : {std::pair{&here, on_simt}, {&there, on_cpu}, {&there, on_simt}})
    EXPECT_EQ(first_difference(
                  "quantile",
                  region_quantiles(*store, regions, rank_quantiles, QuantileMethod::linear, {.execution = on}), want),
              "")
        << "seeds 180, 181";
  EXPECT_THROW(region_quantiles(histogram_store(view, {.store = Store::none}, on_cpu), regions, rank_quantiles,
                                QuantileMethod::linear, {.execution = on_simt}),
               Unavailable);
}

std::vector<LaunchCounts> build(const Rank& layout, const ConstView& image) {
  kernels::RankRequest request;
  request.type = image.type, request.layout = layout;
  oracle::GuardedStore<Rank> store;
  store.layout = layout;
  store.allocate();
  const auto plan = simt::make_plan<kernels::RankBuild>(request);
  std::vector<std::byte> workspace(plan->workspace_bytes(), std::byte{0xa5});
  std::vector<LaunchCounts> all;
  EXPECT_TRUE(plan->execute({image, store.data()}, workspace.data(), Stream::host(),
                            [&](const LaunchCounts& launch) { all.push_back(launch); }));
  EXPECT_TRUE(store.guards_hold());
  oracle::GuardedStore<Rank> expected;
  expected.layout = layout;
  expected.allocate();
  cpu::build_rank(layout, image, expected.data(), 1);
  EXPECT_TRUE(store.bytes() == expected.bytes());
  return all;
}

/// A launch for each level whose panels fit a tile: it reads each pixel once and writes each byte of the level once.
TEST(SimtRank, PanelsThatFitATile) {
  Array image({60, 100}, Type::u8);
  std::mt19937_64 random(182);
  for (std::int64_t i = 0; i < 6000; ++i) image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(random());
  const Rank r = Rank::of(60, 100, 1, 8);
  const auto all = build(r, image.view());
  ASSERT_EQ(all.size(), 4u);
  for (int level = 0; level < 4; ++level) {
    const LaunchCounts& launch = all[static_cast<std::size_t>(level)];
    const auto lines =
        static_cast<std::uint64_t>((level < 3 ? r.first_line[level + 1] : r.lines) - r.first_line[level]);
    const auto panels = static_cast<std::uint64_t>(r.panels_at(level));
    EXPECT_EQ(launch.blocks, r.panels_at(level));
    EXPECT_EQ(launch.counts.reads.elements, 6000u) << level;
    EXPECT_EQ(launch.counts.writes.elements, 8 * (8 * lines + panels)) << level;
    EXPECT_EQ(launch.counts.atomics.elements, 0u);
    // One to fill the tile, two a plane.
    EXPECT_EQ(launch.counts.block_barriers, panels * 17) << level;
  }
}

/// Wider panels: each pass reads the keys twice, writes zeros into its lines, adds the bits, and writes the keys once,
/// except the last one.
TEST(SimtRank, WiderPanels) {
  Array image({256, 300}, Type::u16);
  std::mt19937_64 random(183);
  for (std::int64_t i = 0; i < 256 * 300; ++i) image.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(random());
  const Rank r = Rank::of(256, 300, 1, 10);
  const auto all = build(r, image.view());
  // Panels of 1, 4 and 16 columns fit; those of 64 and 256 take three passes for 10 planes.
  ASSERT_EQ(all.size(), 3u + 2 * 3 * 3);
  for (std::size_t level = 0; level < 2; ++level)
    for (std::size_t pass = 0; pass < 3; ++pass) {
      const LaunchCounts* const launch = &all[3 + 9 * level + 3 * pass];
      const std::uint64_t keys = 256 * 300, panels = level == 0 ? 4 : 1, tiles = level == 0 ? 12 : 10;
      const std::uint64_t planes = pass < 2 ? 4 : 2,
                          lines = panels * static_cast<std::uint64_t>(r.panel_lines(level == 0 ? 64 : 256));
      EXPECT_EQ(launch[0].blocks, static_cast<std::int64_t>(tiles));
      EXPECT_EQ(launch[0].counts.reads.elements, keys);
      EXPECT_EQ(launch[0].counts.writes.elements, tiles * 16 + planes * lines * 8);
      EXPECT_EQ(launch[1].blocks, static_cast<std::int64_t>(panels));
      EXPECT_EQ(launch[1].counts.reads.elements, 2 * tiles * 16);
      EXPECT_EQ(launch[1].counts.writes.elements, (tiles + panels) * 16);
      EXPECT_EQ(launch[2].blocks, static_cast<std::int64_t>(tiles));
      EXPECT_EQ(launch[2].counts.reads.elements, keys + tiles * 3 * 16);
      // Each run of a tile, up to 8, shares at most its first and its last word with others.
      EXPECT_LE(launch[2].counts.atomics.elements, tiles * 2 * (planes == 4 ? 15 : 3));
      const std::uint64_t words = planes * (keys / 32 + keys / 224 + 2 * panels);
      EXPECT_LE(launch[2].counts.writes.elements, words + (pass < 2 ? keys : 0)) << level << " " << pass;
      EXPECT_GE(launch[2].counts.writes.elements,
                words - planes * tiles * 16 - planes * 2 * panels + (pass < 2 ? keys : 0))
          << level << " " << pass;
      EXPECT_EQ(launch[2].counts.block_barriers, tiles * (1 + 2 * planes));
    }
}

/// For each plane, two lines of 32 bytes and a number of zeros for each panel that still has keys.
TEST(SimtRank, ARegionReadsItsPanels) {
  Padded image = random_pixels(Type::u8, {256, 40}, 7, 7, 184);  // one value: no panel ever loses its keys
  const HistogramStore store = histogram_store(ConstView(image.view()), rank_options(), on_cpu);
  const Rank layout = Rank::of(256, 40, 1, 8);
  const std::vector<double> median{0.5}, values{9};
  for (const Region& region : {Region{0, 0, 256, 40}, Region{64, 3, 64, 20}, Region{5, 1, 130, 39}}) {
    formulas::RankPanel panels[Rank::most_panels];
    const auto count = static_cast<std::uint64_t>(layout.cover(region.x, region.x + region.width, panels));
    std::vector<double> answers(1);
    kernels::RankValuesRequest request;
    request.layout = layout, request.store = store.data().data();
    request.regions = {&region, 1, Outside::error, nullptr};
    request.count = 1, request.given = median.data(), request.out = answers.data();
    const auto all = simt::execute<kernels::Query>({}, request, nullptr);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(answers[0], 7);
    EXPECT_EQ(all[0].counts.reads.elements, 32 * 4 + 8 * count * (8 + 8 + 1)) << region.x;
    EXPECT_EQ(all[0].counts.writes.elements, 1u);
  }
}

}  // namespace
}  // namespace areal
