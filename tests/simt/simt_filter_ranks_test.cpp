// Percentiles and extremes on the simulated machine: the CPU's bits at any edge, type, address and layout, marks around
// the output, and the reads that the kernels' contracts promise.
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/filter.hpp>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>
#include "kernels/filter/counts/window-counts.hpp"
#include "kernels/filter/extremes/van-herk.hpp"
#include "kernels/filter/network/network.hpp"
#include "kernels/filter/request.hpp"
#include "kernels/primitives/view_bytes.hpp"
#include "simt/plan.hpp"

namespace areal {
namespace {

constexpr Edge edges[] = {Edge::valid,   Edge::shrink,    Edge::zero, Edge::replicate,
                          Edge::reflect, Edge::symmetric, Edge::wrap, Edge::constant};
constexpr Type types[] = {Type::u8,  Type::s8,  Type::u16, Type::s16, Type::u32, Type::s32,
                          Type::u64, Type::s64, Type::f16, Type::f32, Type::f64};

struct Case {
  Shape image;
  Window window;
  Filter filter = filter::Percentile{};
  Type type = Type::u8;
  std::string algorithm = "network";
  std::int64_t gap = 0, offset = 0, out_gap = 0, out_offset = 0;  // bytes
  Layout out_layout = Layout::interleaved;
  std::int64_t min_count = 1;
  double nan_share = 0;
  bool few = false;  // values, so that many are equal
  std::uint64_t seed = 1;
};

std::string words(const Case& c) {
  const auto is = [](std::int64_t n) { return std::to_string(n) + " "; };
  const auto* rank = std::get_if<filter::Percentile>(&c.filter);
  return c.algorithm + " " + is(c.image.width) + is(c.image.height) + is(c.image.channels) + is(c.image.batch) +
         (c.image.layout == Layout::planar ? "planar " : "") + "window " + is(c.window.width) + is(c.window.height) +
         is(c.window.anchor_x) + is(c.window.anchor_y) + "edge " + is(static_cast<int>(c.window.edge)) + "filter " +
         is(static_cast<std::int64_t>(c.filter.index())) + std::to_string(rank == nullptr ? 0 : rank->percent) + " " +
         std::string(name_of(c.type)) + " gaps " + is(c.gap) + is(c.out_gap) + "offsets " + is(c.offset) +
         is(c.out_offset) + "seed " + is(static_cast<std::int64_t>(c.seed));
}

/// An image in memory with gaps and ends.
struct Memory {
  std::vector<char> bytes;
  View view;

  Memory(const Shape& shape, Type type, std::int64_t gap, std::int64_t offset, char mark) {
    const bool planar = shape.layout == Layout::planar;
    const auto size = static_cast<std::int64_t>(size_of(type));
    const std::int64_t row = shape.width * (planar ? 1 : shape.channels) * size + gap, plane = row * shape.height + gap;
    view = View(nullptr, type, shape, row, planar ? plane : 0, plane * (planar ? shape.channels : 1));
    bytes.assign(kernels::bytes_of_view(view) + 96, mark);
    const auto first = (reinterpret_cast<std::uintptr_t>(bytes.data()) + 47) / 16 * 16;
    view.data = reinterpret_cast<void*>(first + static_cast<std::uintptr_t>(offset));
  }
  void fill(const Case& c) {
    std::mt19937_64 random(c.seed);
    for (char& byte : bytes) byte = static_cast<char>(c.few ? random() % 3 : random());
    const auto size = size_of(c.type);
    const Shape& s = view.shape;
    for (std::int64_t n = 0; n < s.batch; ++n)
      for (std::int64_t channel = 0; channel < s.channels; ++channel)
        for (std::int64_t y = 0; y < s.height; ++y)
          for (std::int64_t x = 0; x < s.width; ++x) {
            char* const at = static_cast<char*>(view.row(y, channel, n)) + x * view.column_pitch();
            if (!is_float(c.type)) continue;
            // Random bits of floats are NaN too often, or never.
            const std::uint64_t turn = random() % 8;
            const bool is_nan = static_cast<double>(random() % 1000) < 1000 * c.nan_share;
            double value = turn == 0 ? -0.0 : turn == 1 ? 0.0 : static_cast<double>(random() % 2001) / 10 - 100;
            if (turn == 2) value = random() % 2 == 0 ? std::numeric_limits<double>::infinity() : -1e-42;
            if (is_nan) value = random() % 2 == 0 ? std::numeric_limits<double>::quiet_NaN() : -std::nan("7");
            const auto put = [&](auto element) { std::memcpy(at, &element, size); };
            if (c.type == Type::f16) put(to_half(static_cast<float>(value)));
            if (c.type == Type::f32) put(static_cast<float>(value));
            if (c.type == Type::f64) put(value);
          }
  }
};

FilterOptions options_of(const Case& c) {
  FilterOptions options;
  options.window = c.window, options.min_count = c.min_count, options.fill = 7;
  return options;
}

formulas::WindowAxis axis(std::int64_t extent, std::int64_t size, std::int64_t anchor, Edge edge) {
  if (edge == Edge::valid) return {extent, size, 0, std::max<std::int64_t>(0, extent - size + 1), edge};
  return {extent, size, anchor < 0 ? size / 2 : anchor, extent, edge};
}
kernels::FilterRequest request_of(const Case& c) {
  kernels::FilterRequest r;
  r.filter = c.filter, r.image = c.image, r.in = r.out = c.type;
  r.columns = axis(c.image.width, c.window.width, c.window.anchor_x, c.window.edge);
  r.rows = axis(c.image.height, c.window.height, c.window.anchor_y, c.window.edge);
  r.value = c.window.value, r.min_count = c.min_count, r.fill = 7, r.id = c.algorithm;
  return r;
}

struct Ran {
  std::string fault;  ///< the first difference from the CPU; empty if there is none
  std::vector<LaunchCounts> launches;
};
Ran run(const Case& c, bool change_one = false) {
  Shape out = c.image;
  const kernels::FilterRequest request = request_of(c);
  out.width = request.columns.outputs, out.height = request.rows.outputs, out.layout = c.out_layout;
  Memory image(c.image, c.type, c.gap, c.offset, 0), is(out, c.type, c.out_gap, c.out_offset, 0x5a), expected = is;
  image.fill(c);
  const auto place = static_cast<const char*>(is.view.data) - is.bytes.data();
  expected.view.data = expected.bytes.data() + place;
  Ran ran;
  simt::Options options;
  options.seed = c.seed, options.residents = 1 + static_cast<int>(c.seed % 4);
  ran.launches = simt::execute<kernels::FilterSubject>(request, {image.view, is.view}, nullptr, options);
  if (change_one) *static_cast<char*>(image.view.data) = 0;
  apply(c.filter, image.view, expected.view, options_of(c), {.backend = Backend::cpu, .threads = 1});
  const auto at = std::ranges::mismatch(is.bytes, expected.bytes).in1 - is.bytes.begin();
  if (at < std::ssize(is.bytes))
    ran.fault = words(c) + ": byte " + std::to_string(at - place) + " of the output is " +
                std::to_string(is.bytes[static_cast<std::size_t>(at)]) + ", the CPU's is " +
                std::to_string(expected.bytes[static_cast<std::size_t>(at)]);
  return ran;
}
std::string fault(const Case& c) { return run(c).fault; }

class Random {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) {}
  std::int64_t any(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  /// Any edge, anchor, address and layout for a case's window.
  void arrange(Case& c) {
    c.window.edge = edges[any(0, 7)], c.window.value = static_cast<double>(any(0, 100));
    if (c.window.edge == Edge::valid) {
      if (any(0, 3) > 0) c.image.width += c.window.width - 1, c.image.height += c.window.height - 1;
    } else if (any(0, 1) == 1) {
      c.window.anchor_x = any(0, c.window.width - 1), c.window.anchor_y = any(0, c.window.height - 1);
    }
    const auto size = static_cast<std::int64_t>(size_of(c.type));
    if (any(0, 1) == 1) {
      c.gap = any(0, 20), c.out_gap = any(0, 20), c.offset = any(0, 15), c.out_offset = any(0, 15);
    } else {
      c.gap = c.out_gap = (16 - c.image.width * size % 16) % 16;
    }
    c.out_layout = any(0, 1) == 1 ? Layout::planar : Layout::interleaved;
    c.few = any(0, 2) == 0;
    if (is_float(c.type) && any(0, 1) == 1) c.nan_share = 0.02;
    if (any(0, 5) == 0) c.min_count = any(2, 2 * c.window.width * c.window.height);
    c.seed = static_cast<std::uint64_t>(any(1, 1 << 30));
  }

 private:
  std::mt19937_64 random_;
};

TEST(SimtFilterRanks, TheTestCanFail) {
  Case c{{40, 9}, {3, 3}};
  EXPECT_EQ(fault(c), "");
  c.filter = filter::Percentile{0};  // the changed pixel is the least of its windows
  EXPECT_NE(run(c, true).fault, "");
}

TEST(SimtFilterRanks, MediansOfEveryTypeAndEdge) {
  Random random(20261201);
  for (const Type type : types)
    for (const Edge edge : edges)
      for (const std::int64_t k : {3, 5}) {
        Case c{{type == Type::u8 ? 560 : 190, 11}, {k, k}};
        c.type = type;
        random.arrange(c);
        c.window.edge = edge;
        if (edge == Edge::valid) c.window.anchor_x = c.window.anchor_y = -1;
        EXPECT_EQ(fault(c), "");
      }
}

TEST(SimtFilterRanks, EveryPercentile) {
  Random random(20261202);
  for (const std::int64_t k : {3, 5})
    for (int i = 0; i <= k * k; ++i) {
      Case c{{random.any(1, 30), random.any(1, 8), random.any(1, 2)}, {k, k}};
      c.filter = filter::Percentile{i == k * k ? 100 : 100. * i / static_cast<double>(k * k) + 0.01};
      c.type = types[random.any(0, 10)];
      random.arrange(c);
      EXPECT_EQ(fault(c), "");
    }
}

TEST(SimtFilterRanks, RandomCases) {
  Random random(20261203);
  for (int turn = 0; turn < 120; ++turn) {
    const std::int64_t k = random.any(0, 1) == 0 ? 3 : 5;
    Case c{{random.any(1, turn % 4 == 0 ? 1100 : 90), random.any(1, 24), random.any(0, 3) == 0 ? 3 : 1,
            random.any(0, 3) == 0 ? 2 : 1, random.any(0, 1) == 1 ? Layout::planar : Layout::interleaved},
           {k, k}};
    c.type = types[random.any(0, 10)];
    random.arrange(c);
    EXPECT_EQ(fault(c), "");
  }
}

TEST(SimtFilterRanks, ImagesOfOneRowOrColumnOrOfNone) {
  for (const Edge edge : edges)
    for (const Shape& shape : {Shape{1, 1}, {1, 40}, {40, 1}, {0, 5}, {5, 0}, {17, 3}, {600, 2}})
      for (const std::int64_t k : {3, 5}) {
        Case c{shape, {k, k}};
        c.window.edge = edge;
        EXPECT_EQ(fault(c), "");
      }
}

// Rows of images and outputs begin at every address.
TEST(SimtFilterRanks, EveryAddress) {
  for (std::int64_t i = 0; i < 16; ++i)
    for (const Type type : {Type::u8, Type::u16, Type::f32, Type::f64}) {
      Case c{{100 + i, 4}, {i % 2 == 0 ? 3 : 5, i % 2 == 0 ? 3 : 5}};
      c.type = type, c.offset = i, c.out_offset = 15 - i, c.gap = i % 5, c.out_gap = i % 7;
      c.window.edge = edges[i % 8];
      EXPECT_EQ(fault(c), "");
    }
}

TEST(SimtFilterRanks, MediansReadEachRowOfASegmentOnce) {
  Case c{{512 + 16, 32}, {3, 3}};
  c.window.edge = Edge::zero;
  const Ran ran = run(c);
  ASSERT_EQ(ran.fault, "");
  ASSERT_EQ(ran.launches.size(), 1u);
  const Counts& counts = ran.launches[0].counts;
  using Kernel = kernels::RankNetwork<kernels::NoMachine, kernels::NetworkOf<std::uint8_t, 3>>;
  int each = kernels::segment_rows(32, 3, 1, simt::Options().together * Kernel::warps);
  each += each % 2;
  std::uint64_t rows = 0;
  for (int y = 0; y < 32; y += each) rows += std::min(y + each + 1, 32) - std::max(y - 1, 0);
  // Lanes from column 8 on, each with four words; eight columns at either side, of which one has two inside its
  // windows.
  EXPECT_EQ(counts.reads.bytes, rows * 64 * 16 + 2 * (7 * 3 + 2) * (32 * 3 - 2));
  EXPECT_EQ(counts.writes.bytes, 528u * 32u);
  EXPECT_EQ(counts.shared_reads.requests + counts.shared_writes.requests, 0u);
  EXPECT_EQ(counts.block_barriers, 0u);
}

// ---------------------------------------------------------------- window-counts

TEST(SimtFilterCounts, TheTestCanFail) {
  Case c{{40, 9}, {7, 7}};
  c.algorithm = "window-counts";
  EXPECT_EQ(fault(c), "");
  c.filter = filter::Percentile{0};
  EXPECT_NE(run(c, true).fault, "");
}

TEST(SimtFilterCounts, RandomCases) {
  Random random(20261207);
  for (int turn = 0; turn < 120; ++turn) {
    Case c{
        {random.any(1, turn % 4 == 0 ? 300 : 50), random.any(1, turn % 4 == 0 ? 20 : 60), random.any(0, 3) == 0 ? 3 : 1,
         random.any(0, 3) == 0 ? 2 : 1, random.any(0, 1) == 1 ? Layout::planar : Layout::interleaved},
        {random.any(1, turn % 5 == 0 ? 60 : 9), random.any(1, turn % 5 == 0 ? 60 : 9)}};
    c.type = random.any(0, 1) == 0 ? Type::u8 : Type::s8, c.algorithm = "window-counts";
    if (turn % 2 == 0) c.filter = filter::Percentile{static_cast<double>(random.any(0, 100))};
    random.arrange(c);
    EXPECT_EQ(fault(c), "");
  }
}

// Counts of 16 bits hold all pixels of a window.
TEST(SimtFilterCounts, LargeWindows) {
  for (const Edge edge : {Edge::shrink, Edge::wrap, Edge::constant}) {
    Case c{{8, 2}, {edge == Edge::wrap ? 255 : 256, 255}};
    c.algorithm = "window-counts", c.few = true;
    c.window.edge = edge;
    EXPECT_EQ(fault(c), "");
  }
  Case c{{70, 300}, {65, 299}};
  c.algorithm = "window-counts", c.few = true;
  c.window.edge = Edge::valid;
  EXPECT_EQ(fault(c), "");
}

TEST(SimtFilterCounts, ImagesOfOneRowOrColumnOrOfNone) {
  for (const Edge edge : edges)
    for (const Shape& shape : {Shape{1, 1}, {1, 40}, {40, 1}, {0, 5}, {5, 0}, {17, 3}, {150, 2}}) {
      Case c{shape, {9, 7}};
      c.algorithm = "window-counts", c.window.edge = edge;
      EXPECT_EQ(fault(c), "");
    }
}

TEST(SimtFilterCounts, NoBankConflictsAndExactReads) {
  Case c{{64 + 14, 40}, {15, 15}};
  c.algorithm = "window-counts", c.window.edge = Edge::valid;
  const Ran ran = run(c);
  ASSERT_EQ(ran.fault, "");
  ASSERT_EQ(ran.launches.size(), 1u);
  const Counts& counts = ran.launches[0].counts;
  const int each = kernels::segment_rows(26, 2 + 0.4 * 15, 1, simt::Options().together);
  std::uint64_t rows = 0;
  for (int y = 0; y < 26; y += each) rows += 2 * static_cast<std::uint64_t>(std::min(each, 26 - y)) + 13;
  EXPECT_EQ(counts.reads.bytes, rows * 64 * 15);
  EXPECT_EQ(counts.writes.bytes, 64u * 26u);
  EXPECT_EQ(counts.shared_reads.conflicts, 0u);
  EXPECT_EQ(counts.shared_writes.conflicts, 0u);
}

// ---------------------------------------------------------------- van-herk

Case extreme_of(bool least, const Shape& image, const Window& window, Type type) {
  Case c{image, window};
  c.filter = least ? Filter(filter::Minimum{}) : Filter(filter::Maximum{});
  c.type = type, c.algorithm = "van-herk";
  return c;
}

TEST(SimtFilterExtremes, TheTestCanFail) {
  const Case c = extreme_of(true, {40, 9}, {3, 3}, Type::u8);
  EXPECT_EQ(fault(c), "");
  EXPECT_NE(run(c, true).fault, "");
}

TEST(SimtFilterExtremes, EveryTypeAndEdge) {
  Random random(20261204);
  for (const Type type : types)
    for (const Edge edge : edges)
      for (const Window window : {Window{3, 3}, {15, 7}, {1, 40}, {22, 2}}) {
        Case c = extreme_of(random.any(0, 1) == 0, {random.any(1, 200), random.any(1, 50)}, window, type);
        random.arrange(c);
        c.window.edge = edge;
        if (edge == Edge::valid) c.window.anchor_x = c.window.anchor_y = -1;
        EXPECT_EQ(fault(c), "");
      }
}

TEST(SimtFilterExtremes, RandomCases) {
  Random random(20261205);
  for (int turn = 0; turn < 150; ++turn) {
    const Shape image{random.any(1, turn % 4 == 0 ? 1100 : 90), random.any(1, turn % 3 == 0 ? 90 : 24),
                      random.any(0, 3) == 0 ? 3 : 1, random.any(0, 3) == 0 ? 2 : 1,
                      random.any(0, 1) == 1 ? Layout::planar : Layout::interleaved};
    const Window window{random.any(1, random.any(0, 1) == 0 ? 17 : 70), random.any(1, random.any(0, 1) == 0 ? 9 : 70)};
    Case c = extreme_of(random.any(0, 1) == 0, image, window, types[random.any(0, 10)]);
    random.arrange(c);
    EXPECT_EQ(fault(c), "");
  }
}

// Spans of a block, and windows larger than the image.
TEST(SimtFilterExtremes, WideWindows) {
  Random random(20261206);
  for (const Type type : {Type::u8, Type::u16, Type::f32, Type::f64})
    for (const Edge edge : {Edge::shrink, Edge::reflect, Edge::zero, Edge::wrap})
      for (const std::int64_t width : {1000, 30}) {
        const std::int64_t size = type == Type::u8 ? 300 : type == Type::u16 ? 260 : 130;
        Case c = extreme_of(random.any(0, 1) == 0, {width, 6}, {size, 3}, type);
        random.arrange(c);
        c.window.edge = edge;
        EXPECT_EQ(fault(c), "");
      }
}

TEST(SimtFilterExtremes, ImagesOfOneRowOrColumnOrOfNone) {
  for (const Edge edge : edges)
    for (const Shape& shape : {Shape{1, 1}, {1, 40}, {40, 1}, {0, 5}, {5, 0}, {17, 3}, {600, 2}})
      for (const Window window : {Window{5, 7}, {1, 1}, {40, 50}}) {
        Case c = extreme_of(true, shape, window, Type::s16);
        c.window.edge = edge;
        EXPECT_EQ(fault(c), "");
      }
}

TEST(SimtFilterExtremes, EveryAddress) {
  for (std::int64_t i = 0; i < 16; ++i)
    for (const Type type : {Type::u8, Type::s16, Type::f32, Type::f64}) {
      Case c = extreme_of(i % 2 == 0, {100 + i, 4}, {5 + i, 3}, type);
      c.offset = i, c.out_offset = 15 - i, c.gap = i % 5, c.out_gap = i % 7;
      c.window.edge = edges[i % 8];
      EXPECT_EQ(fault(c), "");
    }
}

TEST(SimtFilterExtremes, EachRowOfASegmentIsReadOnce) {
  Case c = extreme_of(false, {480, 40}, {15, 15}, Type::u8);
  c.window.edge = Edge::shrink;
  const Ran ran = run(c);
  ASSERT_EQ(ran.fault, "");
  ASSERT_EQ(ran.launches.size(), 1u);
  const Counts& counts = ran.launches[0].counts;
  using Kernel = kernels::Extremes<kernels::NoMachine, kernels::ExtremesOf<std::uint8_t, 1>>;
  const int each = kernels::segment_rows(40, 2 + 0.4 * 15, 1, simt::Options().together * Kernel::spans);
  std::uint64_t rows = 0;
  for (int y = 0; y < 40; y += each) rows += std::min(std::min(y + each, 40) + 7, 40) - std::max(y - 7, 0);
  EXPECT_EQ(counts.reads.bytes, rows * 480);
  EXPECT_EQ(counts.writes.bytes, 480u * 40u);
  EXPECT_EQ(counts.writes.strided, 0u);
  EXPECT_EQ(counts.shared_reads.conflicts, 0u);
  EXPECT_EQ(counts.shared_writes.conflicts, 0u);
  EXPECT_EQ(counts.block_barriers, 0u);
}

}  // namespace
}  // namespace areal
