// What the catalogue says that the CPU's algorithms read, write and wait for, counted.
//
// serial, 2r2w-cpu, 4r1w-cpu and the recurrence of histograms are templates: here over types of which every load and
// store is counted. A pass ends where an element is written a second time.
//
// tiles and fused hand rows and tiles to vectorised kernels, which read and write each element once that they are
// handed. cpu_costs.cmake compiles the two drivers into this test, where stand-ins of the kernels, and of the loops
// over threads, count what they get.
#include <gtest/gtest.h>
#include <areal/catalog.hpp>
#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <vector>
#include "cpu/histogram/fused.hpp"
#include "cpu/histogram/recurrence_bin.hpp"
#include "cpu/histogram/tile.hpp"
#include "cpu/sat/cell.hpp"
#include "cpu/sat/raster_2r2w.hpp"
#include "cpu/sat/raster_4r1w.hpp"
#include "cpu/sat/serial.hpp"
#include "cpu/sat/tiles.hpp"
#include "cpu/threads.hpp"
#include "research/cost_formula.hpp"

namespace areal {
namespace {

/// Of one run: elements read and written, and how often a pass began anew.
struct Traced {
  std::int64_t reads = 0, writes = 0, barriers = 0;
  std::set<const void*> written;  // in this pass

  void write(const void* at) {
    ++writes;
    if (written.insert(at).second) return;
    ++barriers;
    written = {at};
  }
};
Traced traced;

/// An element of a table, of a tensor or of an image.
struct Element {
  std::uint32_t value = 0;
  Element() = default;
  explicit(false) Element(std::int64_t v) : value(static_cast<std::uint32_t>(v)) {}
  friend Element operator+(Element a, Element b) { return Element(a.value + b.value); }
  friend Element operator-(Element a, Element b) { return Element(a.value - b.value); }
  bool operator==(const Element&) const = default;
};
struct Pixel {
  std::uint32_t value = 0;
  explicit operator Element() const { return Element(value); }
};

}  // namespace

namespace cpu {

template <>
Element load<Element>(const void* row, std::int64_t x) {
  ++traced.reads;
  return static_cast<const Element*>(row)[x];
}
template <>
Pixel load<Pixel>(const void* row, std::int64_t x) {
  ++traced.reads;
  return static_cast<const Pixel*>(row)[x];
}
template <>
void store<Element>(void* row, std::int64_t x, Element value) {
  traced.write(static_cast<Element*>(row) + x);
  static_cast<Element*>(row)[x] = value;
}

template <>
struct CountRow<Element> {
  char* p = nullptr;
  Element operator[](std::int64_t i) const { return load<Element>(p, i); }
  void set(std::int64_t i, Element value) const { store<Element>(p, i, value); }
  void set_to_zero(std::int64_t n) const {
    for (std::int64_t i = 0; i < n; ++i) set(i, 0);
  }
};

/// What the stand-ins are handed, and how often all threads began on something together.
struct Handed {
  std::int64_t reads = 0, writes = 0, passes = 0;
};
Handed handed;

void wavefront(int, const TileGrid& grid, std::atomic<std::uint8_t>*, const Tile& body) {
  ++handed.passes;
  on_slot_0([&] {
    for (std::int64_t tile = 0; tile < grid.tiles(); ++tile) {
      const std::int64_t row = tile / grid.columns;
      body(row / grid.rows, row % grid.rows, tile % grid.columns);
    }
  });
}
void parallel_for(int, std::int64_t n, const std::function<void(std::int64_t)>& body) {
  ++handed.passes;
  for (std::int64_t i = 0; i < n; ++i) body(i);
}

/// Rows that are read once, the row above them once for max_rows of them or else for each, and rows that are written
/// once; and a carry of each row, out of the workspace and back.
template <class T>
void count_rows(const void* const*, const void*, void* const*, const void* const*, void*, int rows, std::int64_t n) {
  handed.reads += rows * n + (rows == max_rows ? 1 : rows) * n + rows;
  handed.writes += rows * n + rows;
}
ScanRows scan_rows(Type, Type, bool, bool) { return &count_rows<std::uint32_t>; }

/// The bins of a run of pixels, each of them read.
void group_of_run(const PixelBins&, const ConstView&, std::int64_t, std::int64_t, std::int64_t, int count, std::int64_t,
                  int, std::uint8_t*) {
  handed.reads += count;
}
void run_tile(const HistogramTile& tile) {
  const std::int64_t n = std::int64_t{tile.width} * tile.height;
  const std::int64_t row = std::int64_t{tile.width} * tile.bins, column = std::int64_t{tile.height} * tile.bins;
  handed.reads += (tile.read_above ? row : 0) + (tile.read_left ? column : 0);
  handed.writes += n * tile.bins + (tile.write_above ? row : 0) + (tile.write_left ? column : 0);
}

}  // namespace cpu

namespace {

using cpu::handed;

struct Size {
  std::int64_t h, w, b = 1;
};

std::string words(const Size& s) { return std::to_string(s.h) + "x" + std::to_string(s.w) + "x" + std::to_string(s.b); }

struct Costs {
  double reads = 0, writes = 0, barriers = 0;
};

/// What the row's formulas give for all elements.
Costs costs_of(std::string_view family, std::string_view id, const Size& s) {
  const Algorithm& row = *find_algorithm(family, id);
  CostNames names;
  names.h = static_cast<double>(s.h), names.w = static_cast<double>(s.w), names.b = static_cast<double>(s.b);
  const double n = names.h * names.w * names.b;
  return {n * CostFormula::value(row.reads_per_element, names), n * CostFormula::value(row.writes_per_element, names),
          CostFormula::value(row.barrier_steps, names)};
}

/// Beside the formulas stands the remainder.
void expect_traced(const Costs& row, double reads, double writes) {
  EXPECT_NEAR(static_cast<double>(traced.reads), row.reads + reads, 1e-6);
  EXPECT_NEAR(static_cast<double>(traced.writes), row.writes + writes, 1e-6);
}

constexpr Size sizes[] = {{1, 1}, {1, 9}, {9, 1}, {2, 2}, {7, 5}, {5, 600}, {33, 64}};

template <void (*algorithm)(const ConstView&, const View&)>
void trace_table(const Size& s) {
  traced = {};
  std::vector<Pixel> image(static_cast<std::size_t>(s.h * s.w), Pixel{1});
  std::vector<Element> table(image.size());
  algorithm(ConstView(static_cast<const void*>(image.data()), Type::u32, {s.w, s.h}),
            View(static_cast<void*>(table.data()), Type::u32, {s.w, s.h}));
  for (std::int64_t i = 0; i < s.h * s.w; ++i)
    ASSERT_EQ(table[static_cast<std::size_t>(i)], Element((i / s.w + 1) * (i % s.w + 1))) << words(s);
}

TEST(CatalogueOfTheCpu, TablesOfTheFirstPapers) {
  for (const Size& s : sizes) {
    SCOPED_TRACE(words(s));
    const auto h = static_cast<double>(s.h), w = static_cast<double>(s.w);
    // The first element of a row or a column has no neighbour.
    trace_table<&cpu::serial<Pixel, Element>>(s);
    expect_traced(costs_of("sat", "serial", s), -1, 0);
    EXPECT_EQ(static_cast<double>(traced.barriers), costs_of("sat", "serial", s).barriers);
    trace_table<&cpu::raster_4r1w<Pixel, Element>>(s);
    expect_traced(costs_of("sat", "4r1w-cpu", s), -2 * h - 2 * w + 1, 0);
    EXPECT_EQ(static_cast<double>(traced.barriers), costs_of("sat", "4r1w-cpu", s).barriers);
    trace_table<&cpu::raster_2r2w<Pixel, Element>>(s);
    expect_traced(costs_of("sat", "2r2w-cpu", s), -w - 2 * h, -h);
    // Where a line is one element the second pass does nothing.
    EXPECT_EQ(static_cast<double>(traced.barriers), s.w > 1 ? costs_of("sat", "2r2w-cpu", s).barriers : 0);
  }
}

TEST(CatalogueOfTheCpu, TheRecurrenceOfHistograms) {
  for (Size s : sizes) {
    s.b = 3;
    SCOPED_TRACE(words(s));
    traced = {};
    std::vector<Element> tensor(static_cast<std::size_t>(s.h * s.w * s.b));
    Shape shape{s.w, s.h};
    const Shape planes{s.w, s.h, s.b, 1, Layout::planar};
    const auto bins_of = [&](std::int64_t y, std::int64_t x, int count, std::int32_t* bins) {
      traced.reads += count;
      for (int i = 0; i < count; ++i) bins[i] = static_cast<std::int32_t>((y + x + i) % s.b);
    };
    std::int64_t loops = 0;
    const auto each_bin = [&](const auto& body) {
      ++loops;
      for (std::int64_t k = 0; k < s.b; ++k) body(k);
    };
    cpu::recur<Element>(bins_of, shape, View(static_cast<void*>(tensor.data()), Type::u32, planes), Border::none,
                        each_bin);
    std::int64_t last = 0;
    for (std::int64_t k = 1; k <= s.b; ++k) last += tensor[static_cast<std::size_t>(k * s.h * s.w - 1)].value;
    EXPECT_EQ(last, s.h * s.w);
    const auto h = static_cast<double>(s.h), w = static_cast<double>(s.w), b = static_cast<double>(s.b);
    for (const char* id : {"serial", "parallel"}) {
      expect_traced(costs_of("histogram", id, s), b * (-2 * h - 2 * w + 1), 0);
      EXPECT_EQ(static_cast<double>(traced.barriers), costs_of("histogram", id, s).barriers) << id;
      EXPECT_EQ(loops - 1, traced.barriers);
    }
  }
}

/// h and w on both sides of 4 rows at a time, of a tile's 64 rows, and of a tile's width.
constexpr Size tiled[] = {{1, 1},   {1, 40},  {3, 40},  {4, 40},   {5, 40},   {63, 40},  {64, 40},
                          {65, 40}, {68, 40}, {130, 9}, {64, 512}, {64, 513}, {65, 1030}};

/// By tasks, as one thread does; two and more read the pixels of integers twice (src/cpu/sat/tiles.hpp).
TEST(CatalogueOfTheCpu, Tiles) {
  for (const Size& s : tiled)
    for (const std::int64_t columns : {1, 2}) {
      SCOPED_TRACE(words(s) + ", " + std::to_string(columns) + " columns of tiles");
      handed = {};
      cpu::TilesRequest request;
      request.image = {s.w, s.h}, request.types = {Type::u32, Type::u32}, request.border = Border::none;
      request.threads = 1;
      cpu::TilesTuning tuning = cpu::tiles_tuning(request);
      tuning.width = (s.w + columns - 1) / columns;
      const cpu::Tiles tiles(request, tuning);
      std::vector<std::uint32_t> image(static_cast<std::size_t>(s.h * s.w)), table(image.size());
      std::vector<char> workspace(tiles.workspace_bytes());
      cpu::TilesArguments arguments;
      arguments.image = ConstView(image.data(), s.w, s.h), arguments.sum = View(table.data(), s.w, s.h);
      tiles.execute(arguments, workspace.data(), {});
      const Costs row = costs_of("sat", "tiles", s);
      // A tile's last row is copied to the workspace, w elements for each 64 rows, which no kernel does: they are added
      // here. What comes and goes is a carry for each row of a tile. That both are cleared before the first tiles is
      // counted nowhere.
      const auto h = static_cast<double>(s.h), w = static_cast<double>(s.w);
      const double carries = h * std::ceil(w / static_cast<double>(tuning.width)), copies = std::ceil(h / 64) * w;
      EXPECT_NEAR(static_cast<double>(handed.reads) + copies, row.reads + carries, 1e-6);
      EXPECT_NEAR(static_cast<double>(handed.writes) + copies, row.writes + carries, 1e-6);
      EXPECT_EQ(static_cast<double>(handed.passes) - 1, row.barriers);  // tiles wait for neighbours, none for all
    }
}

TEST(CatalogueOfTheCpu, Fused) {
  for (Size s : tiled)
    for (const std::int64_t bins : {1, 3, 255, 256, 510, 511}) {
      s.b = bins;
      if (s.h * s.w * bins > 4000000) continue;
      SCOPED_TRACE(words(s));
      for (const int threads : {1, 3}) {
        handed = {};
        cpu::FusedHistogram asked;
        asked.image = {s.w, s.h}, asked.bins = bins, asked.threads = threads;
        const cpu::FusedHistogram plan = cpu::plan_fused(asked);
        std::vector<std::uint32_t> image(static_cast<std::size_t>(s.h * s.w)),
            tensor(static_cast<std::size_t>(s.h * s.w * bins));
        std::vector<char> workspace(plan.workspace_bytes);
        cpu::run_fused(plan, {}, ConstView(image.data(), s.w, s.h), {},
                       View(static_cast<void*>(tensor.data()), Type::u32, {s.w, s.h, bins, 1, Layout::planar}), {},
                       workspace.data(), [] {});
        const Costs row = costs_of("histogram", "fused", s);
        // Several threads may split the bins further, so that there is work for them all; bins found before the tiles
        // are found once, in a pass of their own.
        const bool once = plan.rel_pitch > 0;
        const double pixels = static_cast<double>(s.h * s.w), groups = std::ceil(static_cast<double>(bins) / 255);
        EXPECT_GE(static_cast<double>(plan.groups), groups);
        const double more = once ? 0 : pixels * (static_cast<double>(plan.groups) - groups);
        EXPECT_TRUE(threads > 1 || more == 0);
        EXPECT_NEAR(static_cast<double>(handed.reads), row.reads + more, 1e-6 * row.reads);
        EXPECT_NEAR(static_cast<double>(handed.writes), row.writes, 1e-6 * row.writes);
        EXPECT_EQ(static_cast<double>(handed.passes) - 1, row.barriers + once);
        EXPECT_FALSE(once && threads == 1);
      }
    }
}

TEST(CatalogueOfTheCpu, EveryRowIsOneOfThese) {
  std::set<std::string> rows;
  for (const Algorithm& row : algorithms())
    if (row.cpu) rows.insert(std::string(row.family) + " " + std::string(row.id));
  EXPECT_EQ(rows, (std::set<std::string>{"sat serial", "sat 2r2w-cpu", "sat 4r1w-cpu", "sat tiles", "histogram serial",
                                         "histogram parallel", "histogram fused", "filter walk", "filter blocks",
                                         "filter van-herk", "filter guided-walk", "filter convolution",
                                         "filter extended-boxes", "filter network", "filter column-counts",
                                         "filter classes", "filter sliding-counts", "filter table"}));
}

}  // namespace
}  // namespace areal
