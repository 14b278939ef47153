// walk on the simulated machine: every window against its pixels added one by one, memory around the images, and the
// reads and writes that the kernel's contract promises.
#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>
#include "kernels/filter/request.hpp"
#include "kernels/filter/walk/direct.hpp"
#include "kernels/filter/walk/tile_bands.hpp"
#include "kernels/filter/walk/walk.hpp"
#include "kernels/primitives/view_bytes.hpp"
#include "simt/plan.hpp"

namespace areal {
namespace {

using Bytes = std::vector<std::uint8_t>;

simt::Options without_products() {
  simt::Options options;
  options.products = false;
  return options;
}

struct Case {
  Shape image;
  Window window;
  std::int64_t in_gap = 0, out_gap = 0;        // bytes between rows, more than these need
  std::int64_t in_offset = 0, out_offset = 0;  // bytes from an aligned address
  Layout out_layout = Layout::interleaved;
  simt::Options options = without_products();  // Walk and BandMeans; tests of TileBandMeans set them
};

std::string words(const Case& c) {
  const auto is = [](std::int64_t n) { return std::to_string(n); };
  return is(c.image.width) + "x" + is(c.image.height) + " " + is(c.image.channels) + " channels " +
         (c.image.layout == Layout::planar ? "planar" : "interleaved") + " batch " + is(c.image.batch) + ", window " +
         is(c.window.width) + "x" + is(c.window.height) + " at " + is(c.window.anchor_x) + "," + is(c.window.anchor_y) +
         ", edge " + is(static_cast<int>(c.window.edge)) + ", gaps " + is(c.in_gap) + " " + is(c.out_gap) +
         ", offsets " + is(c.in_offset) + " " + is(c.out_offset) + ", seed " +
         is(static_cast<std::int64_t>(c.options.seed));
}

formulas::WindowAxis axis(std::int64_t extent, std::int64_t size, std::int64_t anchor, Edge edge) {
  if (edge == Edge::valid) return {extent, size, 0, std::max<std::int64_t>(0, extent - size + 1), edge};
  return {extent, size, anchor < 0 ? size / 2 : anchor, extent, edge};
}

kernels::FilterRequest request_of(const Case& c) {
  kernels::FilterRequest request;
  request.filter = filter::Mean{};
  request.image = c.image;
  request.columns = axis(c.image.width, c.window.width, c.window.anchor_x, c.window.edge);
  request.rows = axis(c.image.height, c.window.height, c.window.anchor_y, c.window.edge);
  request.value = c.window.value, request.rounding = c.window.rounding;
  return request;
}

/// An image in memory with gaps and ends whose bytes must keep their marks.
struct Image {
  static constexpr std::uint8_t mark = 0xa5;
  Bytes memory;
  View view;

  Image(const Shape& shape, std::int64_t gap, std::int64_t offset) {
    const std::int64_t row = shape.width * (shape.layout == Layout::planar ? 1 : shape.channels) + gap;
    const std::int64_t plane = row * shape.height + gap;
    view = View(nullptr, Type::u8, shape, row, shape.layout == Layout::planar ? plane : 0,
                plane * (shape.layout == Layout::planar ? shape.channels : 1));
    memory.assign(kernels::bytes_of_view(view) + 96, mark);
    const auto first = (reinterpret_cast<std::uintptr_t>(memory.data()) + 47) / 16 * 16;
    view.data = reinterpret_cast<void*>(first + static_cast<std::uintptr_t>(offset));
  }
  std::uint8_t& at(std::int64_t x, std::int64_t y, std::int64_t channel, std::int64_t n) {
    return static_cast<std::uint8_t*>(view.row(y, channel, n))[x * view.column_pitch()];
  }
  template <class F>
  void for_each(F&& f) {
    const Shape& s = view.shape;
    for (std::int64_t n = 0; n < s.batch; ++n)
      for (std::int64_t c = 0; c < s.channels; ++c)
        for (std::int64_t y = 0; y < s.height; ++y)
          for (std::int64_t x = 0; x < s.width; ++x) f(x, y, c, n);
  }
};

/// The place in the image that a place beyond its edge shows, step by step; -1 for none.
std::int64_t shown(std::int64_t i, std::int64_t extent, Edge edge) {
  while (i < 0 || i >= extent) {
    if (edge == Edge::replicate)
      i = i < 0 ? i + 1 : i - 1;
    else if (edge == Edge::wrap)
      i += i < 0 ? extent : -extent;
    else if (edge == Edge::symmetric)
      i = i < 0 ? -1 - i : 2 * extent - 1 - i;
    else if (edge == Edge::reflect && extent > 1)
      i = i < 0 ? -i : 2 * extent - 2 - i;
    else if (edge == Edge::reflect)
      i = 0;
    else
      return -1;
  }
  return i;
}

/// Pixels of a window, or of one of its columns.
struct Seen {
  std::int64_t sum = 0, count = 0;
};

int mean_of(const Seen& seen, Rounding rounding) {
  if (rounding == Rounding::opencv && seen.count >= 2 && seen.count <= 256) {
    std::int64_t f = (1 << 23) / seen.count, d = seen.count / 2;
    ++(2 * ((1 << 23) % seen.count) < seen.count ? d : f);
    return static_cast<int>(std::min<std::int64_t>(255, ((seen.sum + d) * f) >> 23));
  }
  const std::int64_t whole = seen.sum / seen.count, rest = 2 * (seen.sum % seen.count);
  return static_cast<int>(whole + (rest > seen.count || (rest == seen.count && whole % 2 == 1) ? 1 : 0));
}

/// The means of the windows of one row of outputs, from their pixels: those of each column, which several windows
/// share, are added first.
std::vector<int> means_of_row(Image& image, const Case& c, std::int64_t y, std::int64_t channel, std::int64_t n) {
  const kernels::FilterRequest r = request_of(c);
  std::vector<std::int64_t> rows;
  for (std::int64_t v = y - r.rows.before; v < y - r.rows.before + r.rows.size; ++v)
    rows.push_back(shown(v, c.image.height, c.window.edge));
  std::vector<Seen> columns;
  for (std::int64_t u = -r.columns.before; u < r.columns.outputs - 1 - r.columns.before + r.columns.size; ++u) {
    const std::int64_t ix = shown(u, c.image.width, c.window.edge);
    Seen& column = columns.emplace_back();
    for (const std::int64_t iy : rows) {
      const bool is_pixel = ix >= 0 && iy >= 0;
      if (is_pixel) column.sum += image.at(ix, iy, channel, n);
      if (!is_pixel && c.window.edge == Edge::constant) column.sum += static_cast<std::int64_t>(c.window.value);
      if (is_pixel || c.window.edge != Edge::shrink) ++column.count;
    }
  }
  std::vector<int> means;
  for (auto first = columns.begin(); columns.end() - first >= r.columns.size; ++first) {
    Seen seen;
    for (auto column = first; column != first + r.columns.size; ++column)
      seen.sum += column->sum, seen.count += column->count;
    means.push_back(mean_of(seen, c.window.rounding));
  }
  return means;
}

struct Ran {
  Image image, out;
  std::vector<LaunchCounts> launches;
  std::string fault;  ///< the first difference; empty if there is none
};

enum class Pixels { random, extreme, high };

Ran run(const Case& c, Pixels pixels = Pixels::random, bool change_one = false) {
  const kernels::FilterRequest request = request_of(c);
  Shape out = c.image;
  out.width = request.columns.outputs, out.height = request.rows.outputs, out.layout = c.out_layout;
  Ran r{Image(c.image, c.in_gap, c.in_offset), Image(out, c.out_gap, c.out_offset), {}, {}};
  std::mt19937_64 random(c.options.seed);
  r.image.for_each([&](auto... at) {
    const auto any = static_cast<std::uint8_t>(random());
    r.image.at(at...) = pixels == Pixels::random ? any : pixels == Pixels::high || any % 2 == 0 ? 255 : 0;
  });
  r.launches = simt::execute<kernels::FilterSubject>(request, {r.image.view, r.out.view}, nullptr, c.options);
  if (change_one) r.image.at(c.image.width / 2, c.image.height / 2, 0, 0) ^= 0x80;
  std::vector<int> means;
  r.out.for_each([&](std::int64_t x, auto... rest) {
    if (x == 0) means = means_of_row(r.image, c, rest...);
    const int mean = means.at(static_cast<std::size_t>(x));
    if (r.fault.empty() && r.out.at(x, rest...) != mean)
      r.fault = std::to_string(x) + " " + ((std::to_string(rest) + " ") + ...) + "is " +
                std::to_string(r.out.at(x, rest...)) + ", not " + std::to_string(mean);
    r.out.at(x, rest...) = Image::mark;
  });
  if (r.fault.empty() && std::ranges::count(r.out.memory, Image::mark) != std::ssize(r.out.memory))
    r.fault = "memory around the output was written";
  return r;
}
std::string fault(const Case& c, Pixels pixels = Pixels::random) {
  const std::string found = run(c, pixels).fault;
  return found.empty() ? found : words(c) + ": " + found;
}

constexpr Edge edges[] = {Edge::valid,   Edge::shrink,    Edge::zero, Edge::replicate,
                          Edge::reflect, Edge::symmetric, Edge::wrap, Edge::constant};

TEST(SimtFilter, TheTestCanFail) {
  const Case c{{40, 9}, {3, 3}};
  EXPECT_EQ(fault(c), "");
  EXPECT_NE(run(c, Pixels::random, true).fault, "");
}

TEST(SimtFilter, EveryEdgeOfSmallAndLargeWindows) {
  std::uint64_t seed = 1;
  for (const Edge edge : edges)
    for (const Window window : {Window{15, 15}, {4, 2}, {33, 5}, {300, 3}}) {
      Case c{{window.width < 300 ? 523 : 401, 23}, window};
      c.window.edge = edge, c.window.value = 200, c.options.seed = seed++;
      c.in_gap = c.out_gap = (16 - c.image.width % 16) % 16;
      if (edge == Edge::valid) c.out_gap = (16 - (c.image.width - window.width + 1) % 16) % 16;
      EXPECT_EQ(fault(c), "");
    }
}

TEST(SimtFilter, RandomCases) {
  std::mt19937_64 random(20261125);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  for (int turn = 0; turn < 60; ++turn) {
    Case c;
    c.image = {any(1, turn % 5 == 0 ? 600 : 70), any(1, 30), any(0, 2) == 0 ? any(2, 3) : 1, any(0, 3) == 0 ? 2 : 1,
               any(0, 1) ? Layout::planar : Layout::interleaved};
    c.out_layout = any(0, 1) ? Layout::planar : Layout::interleaved;
    c.window.width = any(1, any(0, 1) ? 16 : 50), c.window.height = any(1, any(0, 1) ? 7 : 40);
    c.window.edge = edges[any(0, 7)], c.window.value = static_cast<double>(any(0, 255));
    if (c.window.edge != Edge::shrink && c.window.width * c.window.height != 2 && any(0, 2) == 0)
      c.window.rounding = Rounding::opencv;
    if (c.window.edge == Edge::valid) {
      c.image.width += c.window.width - 1, c.image.height += c.window.height - 1;
    } else if (any(0, 1)) {
      c.window.anchor_x = any(0, c.window.width - 1), c.window.anchor_y = any(0, c.window.height - 1);
    }
    if (any(0, 1)) {
      c.in_gap = any(0, 20), c.out_gap = any(0, 20), c.in_offset = any(0, 15), c.out_offset = any(0, 15);
    } else {
      c.in_gap = (16 - c.image.width % 16) % 16, c.out_gap = (16 - c.image.width % 16) % 16;
    }
    c.options.seed = static_cast<std::uint64_t>(turn) + 1;
    c.options.residents = 1 + turn % 4;
    c.options.async_copies = turn % 7 != 0;
    EXPECT_EQ(fault(c), "");
  }
}

TEST(SimtFilter, ImagesOfOneRowOrColumnOrOfNone) {
  for (const Edge edge : edges)
    for (const Shape& shape : {Shape{1, 1}, {1, 40}, {40, 1}, {0, 5}, {5, 0}, {17, 3}}) {
      Case c{shape, {5, 7}};
      c.window.edge = edge;
      EXPECT_EQ(fault(c), "");
      c.window.width = c.window.height = 1;
      EXPECT_EQ(fault(c), "");
    }
}

// Columns of 257 rows of 255 are the largest that 16 bits hold.
TEST(SimtFilter, TheHighestWindows) {
  for (const Edge edge : {Edge::shrink, Edge::replicate})
    for (const std::int64_t height : {256, 257}) {
      Case c{{32, 20}, {7, height}};
      c.window.edge = edge;
      EXPECT_EQ(fault(c, Pixels::high), "");
      EXPECT_EQ(fault(c, Pixels::extreme), "");
    }
}

TEST(SimtFilter, EverySquareWindow) {
  for (std::int64_t k = 1; k <= 34; ++k) {
    Case c{{48, 6}, {k, k}};
    c.window.edge = k % 2 == 0 ? Edge::shrink : Edge::reflect;
    c.options.seed = static_cast<std::uint64_t>(k);
    EXPECT_EQ(fault(c, Pixels::extreme), "");
  }
}

// Rows of images and outputs begin at every address.
TEST(SimtFilter, EveryAddress) {
  for (std::int64_t i = 0; i < 16; ++i)
    for (const Window window : {Window{15, 3}, {16, 3}, {3, 3}, {40, 3}, {260, 3}}) {
      Case c{{window.width < 260 ? 505 + i : 2003, 4}, window};
      c.in_offset = i, c.out_offset = 15 - i, c.out_gap = i % 5;
      c.window.edge = edges[1 + i % 7];
      if (i % 3 == 0) c.window.anchor_x = (i * window.width) / 16;
      if (window.width == 260 && i % 4 != 0) continue;
      EXPECT_EQ(fault(c), "");
    }
}

TEST(SimtFilter, EverySumAsOpenCV) {
  for (std::uint32_t n = 2; n <= 256; ++n) {
    const kernels::ProductMean product(n, Rounding::opencv);
    EXPECT_EQ(product.factor == 0, n == 2);  // whose means reach 256
    if (n == 2) continue;
    const std::uint32_t f = (1u << 23) / n, below = 2 * ((1u << 23) % n) < n ? 1 : 0;
    for (std::uint64_t sum = 0; sum <= 255 * n; ++sum)
      ASSERT_EQ((static_cast<std::uint32_t>(sum) * product.factor + product.add) >> 24,
                std::min<std::uint64_t>(255, (sum + n / 2 + below) * (f + 1 - below) >> 23))
          << sum << " / " << n;
  }
}

/// The rows of the image that all segments of a strip read.
struct Walked {
  std::int64_t rows = 0, again = 0;  ///< entering, leaving
};
/// With segments of so many output rows.
Walked walked_by(const Case& c, int each) {
  const kernels::FilterRequest r = request_of(c);
  Walked walked;
  for (std::int64_t y = 0; y < r.rows.outputs; y += each) {
    const std::int64_t end = std::min<std::int64_t>(y + each, r.rows.outputs);
    const auto inside = [&](std::int64_t from, std::int64_t to) {
      return std::max<std::int64_t>(0, std::min(to, c.image.height) - std::max<std::int64_t>(from, 0));
    };
    walked.rows += inside(y - r.rows.before, end - 1 - r.rows.before + r.rows.size);
    walked.again += inside(y - r.rows.before, end - 1 - r.rows.before);
  }
  return walked;
}
/// Output rows of the segments of strips that take the time of so many inner ones.
template <class C>
int rows_of_segments(const Case& c, double strips) {
  const kernels::FilterRequest r = request_of(c);
  using Kernel = kernels::Walk<kernels::NoMachine, C>;
  return kernels::segment_rows(r.rows.outputs, kernels::begin_rows<Kernel>(r.rows.size), strips,
                               static_cast<double>(c.options.together) * Kernel::spans);
}
template <class C>
Walked walked(const Case& c, double strips) {
  return walked_by(c, rows_of_segments<C>(c, strips));
}

TEST(SimtFilter, TheRingReadsEachRowOfASegmentOnce) {
  Case c{{960, 40}, {15, 7}};
  c.window.edge = Edge::zero;
  const Ran r = run(c);
  ASSERT_EQ(r.fault, "");
  ASSERT_EQ(r.launches.size(), 1u);
  const Counts& counts = r.launches[0].counts;
  const Walked rows = walked<kernels::WalkBytes<1, 19, kernels::WalkOutput::product, 15>>(c, 2);
  // Two strips of 480 outputs: 31 lanes of each have pixels.
  EXPECT_EQ(counts.reads.bytes, static_cast<std::uint64_t>(rows.rows) * 2 * 31 * 16);
  EXPECT_EQ(counts.copied_bytes, counts.reads.bytes);
  EXPECT_EQ(counts.writes.bytes, 960u * 40u);
  EXPECT_EQ(counts.writes.requests, 2u * 40u);
  EXPECT_EQ(counts.writes.strided, 0u);
  EXPECT_EQ(counts.shared_reads.conflicts, 0u);
  EXPECT_EQ(counts.shared_writes.conflicts, 0u);
  EXPECT_EQ(counts.block_barriers, 0u);
}

TEST(SimtFilter, BandsReadEachRowOfASegmentOnce) {
  Case c{{320, 100}, {31, 31}};
  c.window.edge = Edge::zero;
  c.options.together = 4;  // fewer than two blocks for each of three strips: one segment
  const Ran r = run(c);
  ASSERT_EQ(r.fault, "");
  const Counts& counts = r.launches.at(0).counts;
  using Kernel = kernels::BandMeans<kernels::NoMachine, kernels::MeansByBands<2, 3, kernels::WalkOutput::product>>;
  // A strip of 128 columns reads 16 more on either side, as far as the image has them.
  ASSERT_EQ(r.launches.at(0).blocks, 3);
  EXPECT_EQ(counts.reads.bytes, 100u * (128 + 16 + 16 + 128 + 16 + 16 + 64));
  EXPECT_EQ(counts.copied_bytes, counts.reads.bytes);
  EXPECT_EQ(counts.writes.bytes, 320u * 100u);
  EXPECT_EQ(counts.shared_reads.conflicts, 0u);
  static_assert(Kernel::columns == 128 && Kernel::span == 160);
}

TEST(SimtFilter, ProductsOfWarpgroups) {
  std::mt19937_64 random(20261128);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  int taken = 0;
  for (int turn = 0; turn < 48; ++turn) {
    Case c;
    // Strips have 192 columns, chunks 64 rows.
    const std::int64_t wide = turn % 6 == 0 ? 40 : turn % 3 == 0 ? 13 : 5, high = turn % 4 == 0 ? 210 : 70;
    c.image = {16 * any(1, wide), any(1, high), any(0, 3) == 0 ? 2 : 1, any(0, 3) == 0 ? 2 : 1, Layout::planar};
    c.out_layout = any(0, 3) == 0 ? Layout::interleaved : Layout::planar;
    c.window.width = any(1, 65), c.window.height = any(1, any(0, 1) ? 65 : 20);
    c.window.edge = edges[turn % 8], c.window.value = static_cast<double>(any(0, 255));
    if (c.window.edge == Edge::valid) {
      c.image.width += (c.window.width + 14) / 16 * 16, c.image.height += c.window.height - 1;
    } else if (any(0, 1)) {
      c.window.anchor_x = any(0, c.window.width - 1), c.window.anchor_y = any(0, c.window.height - 1);
    }
    if (c.window.edge != Edge::shrink && c.window.width * c.window.height != 2 && any(0, 2) == 0)
      c.window.rounding = Rounding::opencv;
    c.in_gap = 16 * any(0, 2), c.out_gap = any(0, 1) ? 16 : any(0, 20), c.out_offset = any(0, 2) == 0 ? any(1, 15) : 0;
    c.options.seed = static_cast<std::uint64_t>(turn) + 1;
    c.options.residents = 1 + turn % 4, c.options.together = 1 + turn % 9;
    c.options.async_copies = turn % 7 != 0, c.options.products = true;
    const Ran r = run(c, turn % 5 == 0 ? Pixels::high : turn % 2 == 0 ? Pixels::extreme : Pixels::random);
    EXPECT_EQ(r.fault, "") << words(c);
    if (r.launches.at(0).kernel.find("TileBandMeans") != std::string::npos) ++taken;
  }
  EXPECT_GE(taken, 20);  // not: windows beyond its reach, edge wrap
}

TEST(SimtFilter, ProductsOfWarpgroupsReadEachRowOfASegmentOnce) {
  Case c{{400, 150}, {31, 31}};
  c.window.edge = Edge::zero;
  c.options.together = 3;  // one segment of 192 rows, in four chunks
  c.options.products = true;
  const Ran r = run(c);
  ASSERT_EQ(r.fault, "");
  using Kernel = kernels::TileBandMeans<kernels::NoMachine, kernels::MeansByTileBands<3, kernels::WalkOutput::upper>>;
  static_assert(Kernel::columns == 192 && Kernel::span == 256);
  ASSERT_EQ(r.launches.at(0).blocks, 3);
  ASSERT_NE(r.launches.at(0).kernel.find("TileBandMeans"), std::string::npos) << r.launches.at(0).kernel;
  const Counts& counts = r.launches.at(0).counts;
  // 32 columns of the tile are left of a strip's outputs, and 32 right of them, as far as the image has them.
  EXPECT_EQ(counts.reads.bytes, 150u * (192 + 32 + 32 + 192 + 16 + 32 + 16));
  EXPECT_EQ(counts.copied_bytes, counts.reads.bytes);
  EXPECT_EQ(counts.writes.bytes, 400u * 150u);
  EXPECT_EQ(counts.shared_writes.conflicts, 0u);
  EXPECT_EQ(counts.block_barriers, 1u * 3u);
}

bool is_direct(const Ran& r) { return r.launches.at(0).kernel.find("DirectMeans") != std::string::npos; }

TEST(SimtFilter, SmallSquareWindows) {
  std::mt19937_64 random(20261202);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  int turn = 0;
  for (std::int64_t size = 2; size <= 16; ++size)
    for (const Edge edge : edges) {
      if (edge == Edge::valid) continue;
      for (int i = 0; i < 8; ++i, ++turn) {
        Case c;
        // Strips have 480 columns, the images of the first three turns one row more than a window has above its pixel.
        c.image = {16 * any(1, i % 4 == 0 ? 70 : 5), size / 2 + (i < 3 ? 1 : any(1, 70)), any(0, 3) == 0 ? 2 : 1,
                   any(0, 3) == 0 ? 2 : 1, Layout::planar};
        if (i == 3) c.image.width = 480;
        c.out_layout = Layout::planar;
        c.window = {size, size};
        c.window.edge = edge, c.window.value = static_cast<double>(any(0, 255));
        if (edge != Edge::shrink && i % 3 == 0) c.window.rounding = Rounding::opencv;
        c.in_gap = 16 * any(0, 2), c.out_gap = 16 * any(0, 2);
        c.options.seed = static_cast<std::uint64_t>(turn) + 1;
        c.options.residents = 1 + turn % 4;
        c.options.together = turn % 3 == 0 ? 64 : 1;  // fewer blocks have low warps
        const Ran r = run(c, turn % 5 == 0 ? Pixels::high : turn % 2 == 0 ? Pixels::extreme : Pixels::random);
        EXPECT_EQ(r.fault, "") << words(c);
        EXPECT_TRUE(is_direct(r)) << words(c);
      }
    }
}

TEST(SimtFilter, SmallSquareWindowsReadTheRowsOfAWarpOnce) {
  for (const bool high : {false, true}) {
    Case c{{960, 40}, {5, 5}};
    c.window.edge = Edge::zero;
    c.options.together = high ? 4 : 5;
    const Ran r = run(c);
    ASSERT_EQ(r.fault, "");
    ASSERT_TRUE(is_direct(r)) << r.launches.at(0).kernel;
    const Counts& counts = r.launches.at(0).counts;
    // Two strips, whose first and last lanes have vectors of the neighbours, or of the image's edge.
    EXPECT_EQ(r.launches.at(0).blocks, high ? 2 * 2 : 2 * 3);
    const std::int64_t rows = walked_by(c, high ? 8 : 4).rows;
    EXPECT_EQ(counts.reads.bytes, static_cast<std::uint64_t>(rows) * 2 * 32 * 16);
    EXPECT_EQ(counts.writes.bytes, 960u * 40u);
    EXPECT_EQ(counts.writes.requests, 2u * 40u);
    EXPECT_EQ(counts.writes.strided, 0u);
    EXPECT_EQ(counts.shared_reads.bytes + counts.shared_writes.bytes, 0u);
    EXPECT_EQ(counts.block_barriers + counts.warp_barriers, 0u);
  }
}

TEST(SimtFilter, SmallWindowsThatOtherKernelsTake) {
  const auto found = [](auto change) {
    Case c{{64, 20}, {5, 5}};
    c.window.edge = Edge::reflect;
    change(c);
    const Ran r = run(c);
    EXPECT_EQ(r.fault, "") << words(c);
    return is_direct(r);
  };
  EXPECT_TRUE(found([](Case&) {}));
  EXPECT_FALSE(found([](Case& c) { c.window.width = 3; }));
  EXPECT_FALSE(found([](Case& c) { c.window.width = c.window.height = 17; }));
  EXPECT_FALSE(found([](Case& c) { c.window.anchor_x = 1; }));
  EXPECT_FALSE(found([](Case& c) { c.window.anchor_y = 3; }));
  EXPECT_FALSE(found([](Case& c) { c.window.edge = Edge::valid; }));
  EXPECT_FALSE(found([](Case& c) { c.image.width = 65, c.in_gap = c.out_gap = 15; }));
  EXPECT_FALSE(found([](Case& c) { c.image.height = 2; }));
  EXPECT_FALSE(found([](Case& c) { c.image.channels = 2; }));
  EXPECT_FALSE(found([](Case& c) { c.in_offset = 1; }));
  EXPECT_FALSE(found([](Case& c) { c.out_offset = 8; }));
  EXPECT_FALSE(found([](Case& c) { c.in_gap = 4; }));
  EXPECT_FALSE(found([](Case& c) { c.out_gap = 4; }));
}

TEST(SimtFilter, ProductsRoundEverySumOfSmallSquares) {
  for (const Rounding rounding : {Rounding::nearest, Rounding::opencv})
    for (std::uint32_t size = 2; size <= 16; ++size) {
      const std::uint32_t n = size * size;
      const kernels::HalfEvenProduct product(n, rounding);
      for (std::uint32_t sum = 0; sum <= 255 * n; ++sum) {
        std::uint32_t mean = sum * product.factor + product.add;
        mean += (mean >> 24 & 1) * product.tie;
        ASSERT_EQ(static_cast<int>(mean >> 24), mean_of({sum, n}, rounding)) << sum << " / " << n;
      }
    }
}

/// Estimates that err as much as they may.
struct Estimates {
  float error;
  float inverse_estimate(float x) const { return (1 + error) / x; }
};

TEST(SimtFilter, QuotientsRoundEverySumOfCutWindows) {
  using Kernel = kernels::DirectMeans<Estimates, kernels::DirectOf<16, false>>;
  for (const Estimates m : {Estimates{0x1p-23f}, {0}, {-0x1p-23f}})
    for (int n = 1; n <= 256; ++n)
      for (int sum = 0; sum <= 255 * n; ++sum)
        ASSERT_EQ(static_cast<int>(Kernel::rounded_quotient(m, static_cast<std::uint32_t>(sum), n)),
                  mean_of({sum, n}, Rounding::nearest))
            << sum << " / " << n;
}

TEST(SimtFilter, LargerWindowsReadEachRowTwice) {
  Case c{{768, 40}, {127, 21}};
  c.window.edge = Edge::zero;
  const Ran r = run(c);
  ASSERT_EQ(r.fault, "");
  const Counts& counts = r.launches.at(0).counts;
  const Walked rows = walked<kernels::WalkBytes<1, 0, kernels::WalkOutput::product>>(c, 2);
  // Two strips of 384 outputs: lanes begin 64 columns to the left, and end 64 to the right of them.
  EXPECT_EQ(counts.reads.bytes, static_cast<std::uint64_t>(rows.rows + rows.again) * 2 * 28 * 16);
  EXPECT_EQ(counts.writes.bytes, 768u * 40u);
  EXPECT_EQ(counts.writes.strided, 0u);
  EXPECT_EQ(counts.shared_writes.conflicts, 0u);
}

TEST(SimtFilter, WindowsOfMoreThan256ColumnsHaveSpansOfABlock) {
  Case c{{3680, 40}, {287, 21}};
  c.window.edge = Edge::zero;
  const Ran r = run(c);
  ASSERT_EQ(r.fault, "");
  const Counts& counts = r.launches.at(0).counts;
  const Walked rows = walked<kernels::WalkBytes<8, 0, kernels::WalkOutput::product, 0, false>>(c, 1);
  // 230 lanes have pixels, and the last one of each of seven warps has the next one's.
  EXPECT_EQ(counts.reads.bytes, static_cast<std::uint64_t>(rows.rows + rows.again) * (230 + 7) * 16);
  EXPECT_EQ(counts.writes.bytes, 3680u * 40u);
  EXPECT_EQ(counts.writes.strided, 0u);
  EXPECT_EQ(counts.shared_writes.conflicts, 0u);
}

TEST(SimtFilter, TheFirstAndTheLastStripHaveShorterSegments) {
  using Kernel = kernels::WalkBytes<1, 19, kernels::WalkOutput::product, 15>;
  Case c{{5 * 480, 300}, {15, 7}};
  c.window.edge = Edge::zero;
  const Ran r = run(c);
  ASSERT_EQ(r.fault, "");
  const Counts& counts = r.launches.at(0).counts;
  const int inner = rows_of_segments<Kernel>(c, 3 + 2 * kernels::outer_row);
  const double begin = kernels::begin_rows<kernels::Walk<kernels::NoMachine, Kernel>>(7);
  const int outer = kernels::outer_rows(inner, begin);
  ASSERT_LT(outer, inner);
  ASSERT_GT(outer, 0);
  // Lanes with pixels: 31 of the first and of the last strip, and 32 of those between.
  const auto lanes = static_cast<std::uint64_t>(walked_by(c, inner).rows * 3 * 32 + walked_by(c, outer).rows * 2 * 31);
  EXPECT_EQ(counts.reads.bytes, lanes * 16);
  EXPECT_EQ(counts.writes.bytes, 2400u * 300u);
  for (const Edge edge : {Edge::reflect, Edge::shrink, Edge::wrap}) {
    Case other{{4 * 480 + 48, 70}, {15, 9}};
    other.window.edge = edge;
    EXPECT_EQ(run(other).fault, "") << static_cast<int>(edge);
  }
}

TEST(SimtFilter, SideLanesTakeTheirPixelsFromTheirSpansLines) {
  // The last strip ends in each of a span's warps, and at each of some places in it.
  for (const Edge edge : {Edge::reflect, Edge::symmetric, Edge::replicate})
    for (std::int64_t width = 480; width <= 3680 + 3680; width += width < 912 ? 16 : 16 * 29) {
      Case c{{width, 12}, {width <= 912 ? 63 : 287, 17}};  // no strip has whole lanes alone
      c.window.edge = edge;
      const Ran r = run(c);
      ASSERT_EQ(r.fault, "") << width;
      const Counts& counts = r.launches.at(0).counts;
      EXPECT_EQ(counts.reads.bytes, counts.copied_bytes) << width;
    }
}

TEST(SimtFilter, RefusesWhatItHasNoKernelFor) {
  const auto why = [](auto change) {
    kernels::FilterRequest request = request_of({{40, 30}, {3, 3}});
    change(request);
    return simt::refusal_of<kernels::FilterSubject>(request).why;
  };
  EXPECT_EQ(why([](auto&) {}), "");
  EXPECT_NE(why([](auto& r) { r.columns.size = 1 << 20; }), "");
  EXPECT_NE(why([](auto& r) { r.mask = true; }), "");
  EXPECT_NE(why([](auto& r) { r.filter = filter::Maximum{}; }), "");
  EXPECT_NE(why([](auto& r) { r.columns.edge = r.rows.edge = Edge::shrink, r.rounding = Rounding::opencv; }), "");
}

TEST(SimtFilter, ProductsRoundEverySum) {
  int exact = 0;
  for (std::uint32_t n = 1; n < 3000; n += 2) {
    const kernels::ProductMean product(n, Rounding::nearest);
    if (product.factor == 0) continue;
    ++exact;
    for (std::uint32_t sum = 0; sum <= 255 * n; ++sum)
      ASSERT_EQ((sum * product.factor + product.add) >> 24, (2 * sum + n) / (2 * n)) << sum << " / " << n;
  }
  EXPECT_GT(exact, 50);
}

}  // namespace
}  // namespace areal
