// Compact stores on the simulated machine, which checks every access; and the launches, reads and writes that the
// contract of the kernels promises.
#include <areal/array.hpp>
#include <areal/error.hpp>
#include "api/core/device_rule.hpp"
#include "api/core/pixel_rule.hpp"
#include "cpu/histogram/compact.hpp"
#include "device_compact_cases.hpp"
#include "host_bed.hpp"
#include "kernels/histogram/request.hpp"
#include "kernels/query/request.hpp"
#include "simt/plan.hpp"

namespace areal {
namespace {

using namespace device_cases;
using formulas::Compact;

using Bed = HostBed<Backend::simt>;
const Execution on_simt{.backend = Backend::simt}, on_cpu{.backend = Backend::cpu};

TEST(SimtCompact, AWrongPixelIsCaught) { a_wrong_pixel_of_a_store_is_caught<Bed>(); }
TEST(SimtCompact, EverySide) { compact_stores_of_every_side<Bed>(); }
TEST(SimtCompact, ByBands) { compact_stores_by_bands<Bed>(); }
TEST(SimtCompact, EveryNumberOfBins) { compact_stores_of_every_number_of_bins<Bed>(4200); }
TEST(SimtCompact, EveryTypeAndRule) { compact_stores_of_every_type_and_rule<Bed>(); }
TEST(SimtCompact, Masks) { compact_stores_with_masks<Bed>(); }
TEST(SimtCompact, OutsideIsRefusedOrClipped) { compact_regions_outside_are_refused_or_clipped<Bed>(); }
TEST(SimtCompact, IsBuiltAnew) { a_compact_store_is_built_anew<Bed>(); }

/// A store of the CPU, and requests to read it.
struct Stored {
  Compact layout;
  struct alignas(64) Line {
    std::byte at[64];
  };
  std::vector<Line> memory;
  std::byte* data() { return memory.front().at; }

  Stored(const Rule& rule, const ConstView& image, int block, bool has_wide_anchors = false) {
    const cpu::PixelBins bins = pixel_bins(rule.binning, image.type, image.shape.channels);
    layout =
        Compact::of(image.shape.width, image.shape.height, bins.bins, image.shape.batch, cpu::has_no_bin(bins), block);
    if (has_wide_anchors) layout.anchor_bytes = 8;
    memory.resize(static_cast<std::size_t>(layout.bytes() / 64 + 1));
    cpu::build_compact(layout, bins, image, {}, data(), 1);
  }
  std::vector<LaunchCounts> answer(const std::vector<Region>& regions, std::vector<std::uint64_t>& counts,
                                   std::int64_t most = formulas::compact_most) {
    counts.assign(regions.size() * static_cast<std::size_t>(layout.bins), 77);
    kernels::CompactCountsRequest request;
    request.layout = layout;
    request.store = data();
    request.regions = {regions.data(), static_cast<std::int64_t>(regions.size()), Outside::error, nullptr};
    request.out = counts.data();
    request.most = most;
    return simt::execute<kernels::Query>({}, request, nullptr);
  }
};

/// Pairs of strips that count 10 bits: small images have many further pairs.
TEST(SimtCompact, FurtherPairsAreExact) {
  for (const auto& [bins, block, most] :
       {std::array<int, 3>{2, 32, 1023}, {60, 32, 520}, {100, 32, 1023}, {200, 64, 2048}, {300, 32, 1023}})
    for (const bool has_wide_anchors : {false, true}) {
      const Rule rule = oracle::labels(bins, 1);
      Padded image = random_pixels(Type::u16, {420, 300}, 0, bins, 90);
      Stored stored(rule, image.view(), block, has_wide_anchors);
      const auto regions = regions_of(420, 300, 40, 91);
      std::vector<std::uint64_t> counts;
      stored.answer(regions, counts, most);
      EXPECT_EQ(differences(counts, expected_of(rule, image.view(), nullptr, regions), static_cast<std::size_t>(bins)),
                0u)
          << bins << " bins, wide anchors " << has_wide_anchors << ", seeds 90, 91";
    }
}

/// Anchors cancel modulo their width.
TEST(SimtCompact, AnchorsCancel) {
  const Rule rule = oracle::uniform(20, 0, 256);
  Padded image = random_pixels(Type::u8, {200, 170}, 0, 255, 92);
  const auto regions = regions_of(200, 170, 40, 93);
  for (const bool has_wide_anchors : {false, true}) {
    Stored stored(rule, image.view(), 32, has_wide_anchors);
    for (std::int64_t i = 0; i < stored.layout.anchors(); ++i)
      if (has_wide_anchors)
        reinterpret_cast<std::uint64_t*>(stored.data())[i] += 0xfffffffffffffff0;
      else
        reinterpret_cast<std::uint32_t*>(stored.data())[i] += 0xfffffff0;
    std::vector<std::uint64_t> counts;
    stored.answer(regions, counts);
    EXPECT_EQ(differences(counts, expected_of(rule, image.view(), nullptr, regions), 20), 0u) << "seeds 92, 93";
  }
}

/// Builds the store of an image anew in that memory, and returns the launches.
std::vector<LaunchCounts> build_again(Stored& made, const Rule& rule, const ConstView& image,
                                      const simt::Options& options = {}) {
  std::fill_n(made.data(), made.layout.bytes(), std::byte{0xa5});
  const cpu::PixelBins bins = pixel_bins(rule.binning, image.type, image.shape.channels);
  const DeviceRule there = device_rule(bins);
  kernels::CompactRequest request;
  request.type = image.type, request.layout = made.layout, request.rule = there.rule, request.tables = there.tables;
  request.scale = bin_scale(bins);
  std::copy(std::begin(there.table_at), std::end(there.table_at), std::begin(request.table_at));
  const auto plan = simt::make_plan<kernels::CompactBuild>(request, options);
  std::vector<std::byte> workspace(plan->workspace_bytes(), std::byte{0xa5});
  plan->prepare(workspace.data(), Stream::host());
  std::vector<LaunchCounts> all;
  plan->execute({image, {}, made.data()}, workspace.data(), Stream::host(),
                [&](const LaunchCounts& launch) { all.push_back(launch); });
  return all;
}
bool equal(Stored& a, Stored& b) {
  return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.layout.bytes())) == 0;
}

/// Anchors of 64 bits, which need 2^32 pixels, have the CPU's bytes.
TEST(SimtCompact, BuildsWideAnchors) {
  for (const int bins : {20, 40}) {
    const Rule rule = oracle::uniform(bins, 0, 256);
    Padded image = random_pixels(Type::u8, {300, 200}, 0, 255, 94);
    Stored expected(rule, image.view(), 32, true);
    Stored made = expected;
    build_again(made, rule, image.view());
    EXPECT_TRUE(equal(made, expected)) << bins << " bins, seed 94";
  }
}

/// Devices without products of bits build the same store.
TEST(SimtCompact, OnOlderDevices) {
  simt::Options older;
  older.async_copies = false;
  for (const int bins : {7, 32})
    for (const auto& [type, launches] : {std::pair{Type::u8, 3u}, {Type::u16, 4u}}) {
      const Rule rule = oracle::uniform(bins, 0, 256);
      Padded image = random_pixels(type, {290, 170, 1, 2}, 0, 300, 97, oracle::aligned);
      Stored expected(rule, image.view(), 32);
      Stored made = expected;
      EXPECT_EQ(build_again(made, rule, image.view(), older).size(), launches);
      EXPECT_TRUE(equal(made, expected)) << bins << " bins of " << name_of(type) << ", seed 97";
    }
}

Array random_bytes() {
  Array image({384, 256}, Type::u8);
  std::mt19937_64 random(95);
  for (std::int64_t i = 0; i < 384 * 256; ++i) image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(random());
  return image;
}

/// Every pixel is read once, every byte of the store written once, the strips in whole sectors.
TEST(SimtCompact, BuildsInThreeLaunches) {
  const Array image = random_bytes();
  for (const auto& [bins, groups] : {std::pair{64, 1}, {128, 1}, {256, 2}}) {
    const Rule rule = oracle::uniform(bins, 0, 256);
    Stored made(rule, image.view(), 0);
    const auto all = build_again(made, rule, image.view());
    ASSERT_EQ(all.size(), 3u);
    const Compact& c = made.layout;
    const auto tiles = static_cast<std::uint64_t>(6 * groups), k = static_cast<std::uint64_t>(c.padded_bins());
    EXPECT_EQ(all[0].blocks, 6 * groups);
    EXPECT_EQ(all[0].counts.reads.elements, static_cast<std::uint64_t>(384 * 256 * groups));
    // Labels in words, counts in pairs, the cells.
    EXPECT_EQ(all[0].counts.writes.elements, 384u * 256 / 4 + 6 * 2 * 128 * k / 2 + 6 * 9 * k);
    EXPECT_EQ(all[0].counts.shared_atomics.elements, tiles * 2 * 512 * (bins > 64 ? 4 : 2));
    const auto strips = static_cast<std::uint64_t>(c.row_strips() + c.column_strips());
    EXPECT_EQ(all[2].counts.writes.elements, static_cast<std::uint64_t>(c.anchors()) + strips / 2) << bins;
    EXPECT_LE(all[2].counts.writes.sectors, static_cast<std::uint64_t>(c.labels_at()) / 32) << bins;
    // The time does not depend on the pixels: no two lanes meet in a bank.
    EXPECT_EQ(all[0].counts.shared_reads.conflicts + all[0].counts.shared_writes.conflicts, 0u) << bins;
  }
}

/// Up to 32 bins: every pixel is read twice, every byte of the store and a total for each 16 columns written once.
TEST(SimtCompact, BuildsByBandsInTwoLaunches) {
  const Array image = random_bytes();
  for (const int bins : {16, 32})
    for (const bool from_bytes : {false, true}) {
      const Rule rule = oracle::uniform(bins, from_bytes ? 0 : 1, 256);
      Stored made(rule, image.view(), 0);
      auto all = build_again(made, rule, image.view());
      ASSERT_EQ(all.size(), from_bytes ? 2u : 3u);
      if (!from_bytes) all.erase(all.begin());
      const Compact& c = made.layout;
      const auto k = static_cast<std::uint64_t>(c.padded_bins()), totals = 24 * 9 * k;
      const auto strips = static_cast<std::uint64_t>(c.row_strips() + c.column_strips());
      EXPECT_EQ(all[0].blocks, 16 + 24);
      EXPECT_EQ(all[0].counts.reads.elements, 2u * 384 * 256 / 4);
      EXPECT_EQ(all[0].counts.writes.elements, (from_bytes ? 384u * 256 / 4 : 0) + strips / 2 + totals);
      EXPECT_EQ(all[1].blocks, 9);
      EXPECT_EQ(all[1].counts.reads.elements, totals);
      EXPECT_EQ(all[1].counts.writes.elements, static_cast<std::uint64_t>(c.anchors()));
      // No two lanes meet in a bank.
      EXPECT_EQ(all[0].counts.shared_reads.conflicts + all[0].counts.shared_writes.conflicts, 0u) << bins;
      EXPECT_EQ(all[1].counts.shared_reads.conflicts + all[1].counts.shared_writes.conflicts, 0u) << bins;
    }
}

/// A query of a region loads the region's four numbers, 4 anchors, 2 strips for each edge that does not lie on the
/// lattice, and the labels of the pixels between the corners and their anchors.
TEST(SimtCompact, ARegionReadsItsCorners) {
  Padded image = random_pixels(Type::u8, {300, 200}, 0, 255, 96);
  Stored stored(oracle::uniform(32, 0, 256), image.view(), 32);
  std::vector<std::uint64_t> counts;
  const std::uint64_t numbers = 32 * 4;  // every lane reads the region
  auto all = stored.answer({{32, 64, 128, 96}}, counts);
  ASSERT_EQ(all.size(), 1u);
  // On lattice lines: neither strips nor pixels remain.
  EXPECT_EQ(all[0].counts.reads.elements, numbers + 4 * 32);
  EXPECT_EQ(all[0].counts.writes.elements, 32u);
  all = stored.answer({{35, 70, 131, 99}}, counts);  // the corners lie 3, 6 and 6, 9 pixels beside the lattice
  EXPECT_EQ(all[0].counts.reads.elements, numbers + 4 * 32 + 8 * 32 + 3 * 6 + 6 * 6 + 3 * 9 + 6 * 9);
  all = stored.answer({{35, 70, 5, 4}}, counts);  // counted itself
  EXPECT_EQ(all[0].counts.reads.elements, numbers + 5 * 4);
}

TEST(SimtStores, AutomaticChoosesByTheArea) {
  Array image({40, 30, 1, 2}, Type::u8), mask({40, 30, 1, 2}, Type::u8);
  std::memset(image.data(), 7, image.bytes()), std::memset(mask.data(), 1, mask.bytes());
  const Binning binning = Binning::uniform(8, 0, 256);
  const auto plan = [&](const StoreOptions& options, const Shape& shape = {40, 30}) {
    return StorePlan(shape, Type::u8, binning, options, on_simt);
  };
  EXPECT_EQ(plan({}).reason(), "store compact: the regions are not known in advance");
  EXPECT_EQ(plan({.regions = 3}, {4096, 4096}).reason(),
            "store none: 3 regions cover up to 3 images; compact pays from 3.9");
  EXPECT_EQ(plan({.regions = 4}, {4096, 4096}).reason(),
            "store compact: 4 regions cover up to 4 images; it pays from 3.9");
  EXPECT_EQ(
      plan({.regions = 1000, .area = 40'000'000}, {512, 512})
          .reason()
          .find("store tensor: 1000 regions cover 153 images; so small a tensor is made and read in the least time"),
      0U);
  EXPECT_EQ(plan({.regions = 1, .masked = true}).reason(), "store compact: on a GPU it alone takes a mask");
  EXPECT_EQ(plan({.memory_limit = 99}).reason(),
            "store none: a compact store takes 6912 bytes, more than 0.9 of the 99 to spare; regions are counted from "
            "the image");
  EXPECT_EQ(plan({.weighted = true}).store(), Store::tensor);
  EXPECT_EQ(plan({.regions = 99, .weighted = true}).store(), Store::none);
  EXPECT_EQ(plan({}, {std::int64_t{1} << 23, 1}).reason(),
            "store none: store compact of 8388608x1: the backend simt takes images of at most 4194304 rows and "
            "columns; regions are counted from the image");
  EXPECT_THROW(plan({.store = Store::compact}, {1, std::int64_t{1} << 23}), Unavailable);
  EXPECT_THROW(plan({.store = Store::compact, .memory_limit = 99}).build({image.view()}), Error);

  // Backends of the host's memory read each other's stores.
  const StoreArguments arguments{.image = image.view(), .mask = mask.view()};
  const HistogramStore made = histogram_store(arguments, binning, {}, on_simt),
                       other = histogram_store(arguments, binning, {.store = Store::compact}, on_cpu);
  EXPECT_EQ(made.store(), Store::compact);
  const std::vector<Region> regions{{3, 4, 30, 20}};
  const auto want = region_histograms(other.view(1), regions);
  for (const HistogramStore* const store : {&made, &other})
    for (const Execution& on : {on_simt, on_cpu})
      EXPECT_EQ(region_histograms(store->view(1), regions, {.execution = on}), want);
}

}  // namespace
}  // namespace areal
