// Filters on a GPU: the CPU's bits, at odd addresses, pitches and layouts, with marks around the output; and windows
// added up one pixel at a time. All is skipped without a GPU.
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/array.hpp>
#include <areal/error.hpp>
#include <areal/filter.hpp>
#include <areal/info.hpp>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>
#include "cuda/device.hpp"
#include "device_filter_cases.hpp"

namespace areal {
namespace {

constexpr Edge edges[] = {Edge::valid,   Edge::shrink,    Edge::zero, Edge::replicate,
                          Edge::reflect, Edge::symmetric, Edge::wrap, Edge::constant};

class CudaFilter : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
  }
};

/// A view in host memory, `offset` bytes from an aligned address, with `gap` bytes between rows and planes.
struct Memory {
  static constexpr std::size_t guard = 64;
  std::vector<char> bytes;
  View view;

  Memory(const Shape& shape, Type type, std::int64_t gap, std::int64_t offset, char mark) {
    const bool planar = shape.layout == Layout::planar;
    const auto size = static_cast<std::int64_t>(size_of(type));
    const std::int64_t row = shape.width * (planar ? 1 : shape.channels) * size + gap, plane = row * shape.height + gap;
    view = View(nullptr, type, shape, row, planar ? plane : 0, plane * (planar ? shape.channels : 1));
    bytes.assign(static_cast<std::size_t>(view.batch_pitch * shape.batch + offset) + 2 * guard, mark);
    view.data = bytes.data() + guard + offset;
  }
  std::size_t place() const { return static_cast<std::size_t>(static_cast<char*>(view.data) - bytes.data()); }
  char* at(std::int64_t x, std::int64_t y, std::int64_t channel, std::int64_t n) {
    return static_cast<char*>(view.row(y, channel, n)) + x * view.column_pitch();
  }
};

struct Case {
  Shape image;
  Type in = Type::u8, out = Type::u8;
  Filter filter = filter::Mean{};
  Window window = {};
  std::int64_t gap = 0, offset = 0, out_gap = 0, out_offset = 0;
  Layout out_layout = Layout::interleaved;
  unsigned seed = 1;
};

std::string words(const Case& c) {
  const auto is = [](std::int64_t n) { return std::to_string(n) + " "; };
  return is(c.image.width) + is(c.image.height) + is(c.image.channels) + is(c.image.batch) + "window " +
         is(c.window.width) + is(c.window.height) + is(c.window.anchor_x) + is(c.window.anchor_y) + "edge " +
         is(static_cast<int>(c.window.edge)) + "filter " + is(static_cast<std::int64_t>(c.filter.index())) +
         std::string(name_of(c.in)) + " " + std::string(name_of(c.out)) + " gaps " + is(c.gap) + is(c.out_gap) +
         "offsets " + is(c.offset) + is(c.out_offset) + "seed " + is(c.seed);
}

struct Both {
  Memory image, cpu, gpu;
};

/// Filters the image on the CPU, and with the same layout on the device.
Both run(const Case& c) {
  Shape out = window_shape(c.image.width, c.image.height, c.window);
  out.channels = c.image.channels, out.batch = c.image.batch, out.layout = c.out_layout;
  Both both{Memory(c.image, c.in, c.gap, c.offset, 0), Memory(out, c.out, c.out_gap, c.out_offset, 0x5a),
            Memory(out, c.out, c.out_gap, c.out_offset, 0x5a)};
  std::mt19937 random(c.seed);
  for (char& byte : both.image.bytes) byte = static_cast<char>(random());
  FilterOptions options;
  options.window = c.window;
  apply(c.filter, both.image.view, both.cpu.view, options, {.backend = Backend::cpu});
  const cuda::OwnedStream stream;
  const cuda::Memory image(both.image.bytes.size()), result(both.gpu.bytes.size());
  cuda::copy_in(image.data(), both.image.bytes.data(), both.image.bytes.size(), stream.get());
  cuda::copy_in(result.data(), both.gpu.bytes.data(), both.gpu.bytes.size(), stream.get());
  const auto moved = [](const Memory& host, const cuda::Memory& there) {
    View view = host.view;
    view.data = static_cast<char*>(there.data()) + host.place();
    return view.in({MemoryPlace::cuda, 0});
  };
  apply(c.filter, ConstView(moved(both.image, image)), moved(both.gpu, result), options,
        {.backend = Backend::cuda, .device = 0, .stream = stream.get()});
  cuda::copy_out(both.gpu.bytes.data(), result.data(), both.gpu.bytes.size(), stream.get());
  stream.synchronize();
  return both;
}

/// What differs from the CPU, or nothing.
std::string fault(const Case& c) {
  const Both both = run(c);
  const auto at = std::ranges::mismatch(both.cpu.bytes, both.gpu.bytes).in1 - both.cpu.bytes.begin();
  if (at == std::ssize(both.cpu.bytes)) return "";
  return words(c) + ": byte " + std::to_string(at - std::ptrdiff_t(both.cpu.place())) + " of the output is " +
         std::to_string(both.gpu.bytes[static_cast<std::size_t>(at)]) + ", the CPU's is " +
         std::to_string(both.cpu.bytes[static_cast<std::size_t>(at)]);
}

// Against the definition, not the CPU: some windows of a large image, among them those at its corners.
TEST_F(CudaFilter, MeansOfLargeImages) {
  for (const std::int64_t k : {3, 8, 15, 16, 31, 32, 63, 127, 255}) {
    Case c;
    c.image = {4096 + k, 3001};
    c.gap = c.out_gap = (16 - c.image.width % 16) % 16;
    c.window.width = c.window.height = k;
    c.seed = static_cast<unsigned>(k);
    Both both = run(c);
    std::mt19937 random(c.seed);
    const auto wrong = [&] {
      int count = 0;
      for (int i = 0; i < 300; ++i) {
        const std::int64_t x = i < 4 ? (i % 2) * (c.image.width - 1) : random() % c.image.width;
        const std::int64_t y = i < 4 ? (i / 2) * (c.image.height - 1) : random() % c.image.height;
        std::int64_t sum = 0, n = 0;
        for (std::int64_t v = std::max<std::int64_t>(0, y - k / 2); v < std::min(c.image.height, y - k / 2 + k); ++v)
          for (std::int64_t u = std::max<std::int64_t>(0, x - k / 2); u < std::min(c.image.width, x - k / 2 + k); ++u)
            sum += static_cast<unsigned char>(*both.image.at(u, v, 0, 0)), ++n;
        const std::int64_t whole = sum / n, rest = 2 * (sum % n);
        const std::int64_t mean = whole + (rest > n || (rest == n && whole % 2 == 1) ? 1 : 0);
        count += static_cast<unsigned char>(*both.gpu.at(x, y, 0, 0)) != mean;
      }
      return count;
    };
    EXPECT_EQ(wrong(), 0) << k;
    EXPECT_TRUE(both.cpu.bytes == both.gpu.bytes) << k;
    if (k != 3) continue;
    *both.gpu.at(0, 0, 0, 0) ^= 1;  // the test can fail
    EXPECT_EQ(wrong(), 1);
  }
}

TEST_F(CudaFilter, EveryEdgeWindowAndAlignment) {
  std::mt19937 random(20261127);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  for (int turn = 0; turn < 400; ++turn) {
    Case c;
    c.image = {any(1, turn % 4 == 0 ? 5000 : 600), any(1, 400), any(0, 3) == 0 ? any(2, 4) : 1, any(0, 4) == 0 ? 3 : 1,
               any(0, 1) ? Layout::planar : Layout::interleaved};
    c.out_layout = any(0, 1) ? Layout::planar : Layout::interleaved;
    c.window.width = any(1, any(0, 2) == 0 ? 900 : 40), c.window.height = any(1, any(0, 2) == 0 ? 257 : 33);
    if (any(0, 2) == 0) c.window.width = c.window.height = 2 * any(1, 16) + 1;
    c.window.edge = edges[any(0, 7)], c.window.value = static_cast<double>(any(0, 255));
    if (c.window.edge == Edge::valid) {
      c.image.width += c.window.width - 1, c.image.height += c.window.height - 1;
    } else if (any(0, 1)) {
      c.window.anchor_x = any(0, c.window.width - 1), c.window.anchor_y = any(0, c.window.height - 1);
    }
    if (any(0, 1)) {
      c.gap = any(0, 40), c.out_gap = any(0, 40), c.offset = any(0, 15), c.out_offset = any(0, 15);
    } else {
      c.gap = c.out_gap = (16 - c.image.width % 16) % 16;
    }
    if (c.window.edge != Edge::shrink && c.window.width * c.window.height != 2 && any(0, 2) == 0)
      c.window.rounding = Rounding::opencv;
    c.seed = static_cast<unsigned>(turn) + 1;
    EXPECT_EQ(fault(c), "");
  }
}

// DirectMeans takes them; the larger images have more blocks than a device holds.
TEST_F(CudaFilter, MeansOfSmallSquareWindows) {
  std::mt19937 random(20261202);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  unsigned seed = 0;
  for (std::int64_t size = 2; size <= 16; ++size)
    for (const Edge edge : edges)
      for (const bool large : {false, true}) {
        if (edge == Edge::valid || (large && (size + static_cast<int>(edge)) % 7 != 0)) continue;
        Case c;
        c.image = {16 * any(1, 70), any(size / 2 + 1, 90), any(0, 2) == 0 ? 2 : 1, any(0, 2) == 0 ? 3 : 1,
                   Layout::planar};
        if (large) c.image = {4096 + 16 * any(0, 40), 4096 + any(0, 40)};
        c.out_layout = Layout::planar;
        c.window.width = c.window.height = size, c.window.edge = edge;
        c.window.value = static_cast<double>(any(0, 255));
        if (edge != Edge::shrink && any(0, 1)) c.window.rounding = Rounding::opencv;
        c.gap = 16 * any(0, 2), c.out_gap = 16 * any(0, 2), c.seed = ++seed;
        EXPECT_EQ(fault(c), "");
      }
}

/// Rows of whole vectors, and windows that products of warpgroups reach. `most_rows` may draw, too.
template <class Any, class Most>
Case case_for_products(int turn, const Any& any, const Most& most_rows) {
  Case c;
  c.image = {16 * any(1, turn % 5 == 0 ? 200 : 40), any(1, turn % 3 == 0 ? 900 : 150), any(0, 5) == 0 ? 2 : 1,
             any(0, 5) == 0 ? 2 : 1, Layout::planar};
  c.out_layout = Layout::planar;
  c.window.width = any(1, 65), c.window.height = any(1, most_rows());
  c.window.edge = edges[turn % 8], c.window.value = static_cast<double>(any(0, 255));
  if (c.window.edge == Edge::valid) {
    c.image.width += (c.window.width + 14) / 16 * 16, c.image.height += c.window.height - 1;
  } else if (any(0, 1)) {
    c.window.anchor_x = any(0, c.window.width - 1), c.window.anchor_y = any(0, c.window.height - 1);
  }
  c.gap = 16 * any(0, 2), c.out_gap = any(0, 2) == 0 ? any(1, 20) : 16, c.out_offset = any(0, 2) == 0 ? any(1, 15) : 0;
  c.seed = static_cast<unsigned>(turn) + 1;
  return c;
}

// On sm_90 TileBandMeans takes them.
TEST_F(CudaFilter, MeansByProducts) {
  std::mt19937 random(20261128);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  for (int turn = 0; turn < 240; ++turn) {
    Case c = case_for_products(turn, any, [&] { return any(0, 3) == 0 ? 8 : 65; });
    if (c.window.edge != Edge::shrink && c.window.width * c.window.height != 2 && any(0, 2) == 0)
      c.window.rounding = Rounding::opencv;
    EXPECT_EQ(fault(c), "");
  }
}

// On sm_90 TileBandDecide takes them, but for edges shrink, valid and wrap.
TEST_F(CudaFilter, ThresholdsByProducts) {
  using filter::Local;
  const std::vector<Filter> filters{filter::Threshold{Local::sauvola},
                                    filter::Threshold{Local::sauvola, -0.4, 64, 2.25, 200, true},
                                    filter::Threshold{Local::niblack}, filter::Threshold{Local::niblack, 0.25, {}, -1},
                                    filter::Threshold{Local::nick, 0.3, {}, 1}};
  std::mt19937 random(20261201);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  for (int turn = 0; turn < 240; ++turn) {
    Case c = case_for_products(turn, any, [] { return 65; });
    c.filter = filters[static_cast<std::size_t>(turn) % filters.size()];
    EXPECT_EQ(fault(c), "");
  }
}

TEST_F(CudaFilter, EveryTypeAndStatistic) {
  using filter::Local;
  const std::vector<Filter> filters{filter::Sum{},
                                    filter::Mean{},
                                    filter::Count{},
                                    filter::Variance{1},
                                    filter::StandardDeviation{},
                                    filter::Threshold{Local::mean, {}, {}, 2.5},
                                    filter::Threshold{Local::bradley},
                                    filter::Threshold{Local::niblack, {}, {}, 0, 1, true},
                                    filter::Threshold{Local::sauvola},
                                    filter::Threshold{Local::nick}};
  std::mt19937 random(20261128);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  for (const Type in : {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32})
    for (const Type out : {Type::u8, Type::s16, Type::s32, Type::f32, Type::f64})
      for (const Filter& one : filters) {
        const bool varies = one.index() == 3 || one.index() == 4 || one.index() == 7;
        if (varies && size_of(in) == 4) continue;
        Case c;
        c.filter = one, c.in = in, c.out = out;
        c.image = {any(1, 700), any(1, 80), any(0, 3) == 0 ? 3 : 1, 1, Layout::interleaved};
        c.window.width = any(1, 60), c.window.height = any(1, 40), c.window.edge = edges[any(0, 7)];
        c.window.value = static_cast<double>(any(0, 100));
        if (c.window.edge == Edge::valid) c.image.width += c.window.width - 1, c.image.height += c.window.height - 1;
        c.gap = any(0, 1) * any(0, 20), c.offset = any(0, 1) * any(0, 15);
        c.out_gap = any(0, 1) * any(0, 20), c.out_offset = any(0, 1) * any(0, 15);
        c.seed = static_cast<unsigned>(random());
        EXPECT_EQ(fault(c), "");
      }
}

constexpr Type every_type[] = {Type::u8,  Type::s8,  Type::u16, Type::s16, Type::u32, Type::s32,
                               Type::u64, Type::s64, Type::f16, Type::f32, Type::f64};

/// Any edge, anchor, address and layout.
template <class Any>
void arrange(Case& c, const Any& any) {
  c.window.edge = edges[any(0, 7)], c.window.value = static_cast<double>(any(0, 100));
  if (c.window.edge == Edge::valid) {
    c.image.width += c.window.width - 1, c.image.height += c.window.height - 1;
  } else if (any(0, 1) == 1) {
    c.window.anchor_x = any(0, c.window.width - 1), c.window.anchor_y = any(0, c.window.height - 1);
  }
  if (any(0, 1) == 1) {
    c.gap = any(0, 40), c.out_gap = any(0, 40), c.offset = any(0, 15), c.out_offset = any(0, 15);
  } else {
    c.gap = c.out_gap = (16 - c.image.width * static_cast<std::int64_t>(size_of(c.in)) % 16) % 16;
  }
  c.out_layout = any(0, 1) == 1 ? Layout::planar : Layout::interleaved;
}

TEST_F(CudaFilter, MediansAndPercentilesOfAFewPixels) {
  std::mt19937 random(20261130);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  for (int turn = 0; turn < 300; ++turn) {
    Case c;
    c.image = {any(1, turn % 4 == 0 ? 3000 : 300), any(1, 200), any(0, 3) == 0 ? any(2, 4) : 1, any(0, 4) == 0 ? 3 : 1,
               any(0, 1) == 1 ? Layout::planar : Layout::interleaved};
    c.window.width = c.window.height = any(0, 1) == 0 ? 3 : 5;
    c.in = c.out = every_type[any(0, 10)];
    c.filter = filter::Percentile{turn % 3 == 0 ? static_cast<double>(any(0, 100)) : 50};
    arrange(c, any);
    c.seed = static_cast<unsigned>(turn) + 1;
    EXPECT_EQ(fault(c), "");
  }
}

TEST_F(CudaFilter, PercentilesOfLargerWindowsOfBytes) {
  std::mt19937 random(20261202);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  for (int turn = 0; turn < 150; ++turn) {
    Case c;
    c.image = {any(1, turn % 4 == 0 ? 2000 : 300), any(1, 200), any(0, 3) == 0 ? any(2, 4) : 1, any(0, 4) == 0 ? 3 : 1,
               any(0, 1) == 1 ? Layout::planar : Layout::interleaved};
    c.window.width = any(1, turn % 5 == 0 ? 255 : 31), c.window.height = any(1, turn % 5 == 0 ? 255 : 31);
    c.in = c.out = turn % 3 == 0 ? Type::s8 : Type::u8;
    c.filter = filter::Percentile{turn % 2 == 0 ? static_cast<double>(any(0, 100)) : 50};
    arrange(c, any);
    c.seed = static_cast<unsigned>(turn) + 1;
    EXPECT_EQ(fault(c), "");
  }
}

TEST_F(CudaFilter, ExtremesOfAnyWindow) {
  std::mt19937 random(20261201);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  for (int turn = 0; turn < 400; ++turn) {
    Case c;
    c.image = {any(1, turn % 4 == 0 ? 5000 : 400), any(1, 400), any(0, 3) == 0 ? any(2, 4) : 1, any(0, 4) == 0 ? 3 : 1,
               any(0, 1) == 1 ? Layout::planar : Layout::interleaved};
    c.window.width = any(1, any(0, 2) == 0 ? 440 : 40), c.window.height = any(1, any(0, 2) == 0 ? 300 : 33);
    c.in = c.out = every_type[any(0, 10)];
    c.filter = turn % 2 == 0 ? Filter(filter::Minimum{}) : Filter(filter::Maximum{});
    arrange(c, any);
    c.seed = static_cast<unsigned>(turn) + 1;
    EXPECT_EQ(fault(c), "");
  }
}

/// The same for floats, whose NaN may have any payload.
std::string fault(const device_filters::Case& c, bool change = false) {
  device_filters::Scene scene(c);
  const cuda::OwnedStream stream;
  const auto moved = [&](const device_filters::Memory& host, const cuda::Memory& there) {
    cuda::copy_in(there.data(), host.bytes.data(), host.bytes.size(), stream.get());
    View view = host.view;
    view.data = static_cast<char*>(there.data()) + host.place();
    return view.in({MemoryPlace::cuda, 0});
  };
  const cuda::Memory image(scene.image.bytes.size()), mask(scene.mask.bytes.size()), guide(scene.guide.bytes.size()),
      out(scene.out.bytes.size());
  FilterArguments arguments{moved(scene.image, image), moved(scene.out, out)};
  if (c.options.mask) arguments.mask = moved(scene.mask, mask);
  if (c.options.guide > 0) arguments.guide = moved(scene.guide, guide);
  apply(c.filter, arguments, c.options, {.backend = Backend::cuda, .device = 0, .stream = stream.get()});
  cuda::copy_out(scene.out.bytes.data(), out.data(), scene.out.bytes.size(), stream.get());
  stream.synchronize();
  if (change) scene.out.at(0, 0, 0, 0)[0] ^= 1;
  return scene.fault(c);
}

TEST_F(CudaFilter, FloatsOfEveryTypeAndStatistic) {
  device_filters::Case first{{100, 50}};
  first.options.window.width = first.options.window.height = 15;
  EXPECT_EQ(fault(first), "");
  EXPECT_NE(fault(first, true), "");  // the test can fail
  for (const device_filters::Case& c : device_filters::random_cases(20, 600, 300, 20261127)) EXPECT_EQ(fault(c), "");
}

TEST_F(CudaFilter, MeansOfFloats) {
  for (const device_filters::Case& c : device_filters::mean_cases(400, 900, 400, 20261129)) EXPECT_EQ(fault(c), "");
}

TEST_F(CudaFilter, FloatsOfLargeImages) {
  for (const std::int64_t k : {3, 8, 9, 15, 16, 31, 40, 41, 63, 127, 255, 384})
    for (const Filter& one : {Filter(filter::Mean{}), Filter(filter::StandardDeviation{})})
      for (const Type in : {Type::f16, Type::f32, Type::f64}) {
        device_filters::Case c{{3000 + k, 2001}, in};
        c.filter = one;
        c.options.window.width = c.options.window.height = k, c.options.window.edge = edges[1 + k % 7];
        c.pixels = static_cast<device_filters::Pixels>(k % 4), c.seed = static_cast<unsigned>(k);
        EXPECT_EQ(fault(c), "");
      }
}

TEST_F(CudaFilter, GuidedFilters) {
  for (const device_filters::Case& c : device_filters::random_guided_cases(400, 1500, 300, 20261128))
    EXPECT_EQ(fault(c), "");
}

// Bands of rows, whose lines lie in the workspace one after the other; strips and segments of bytes.
TEST_F(CudaFilter, GuidedFiltersOfLargeImages) {
  for (const std::int64_t k : {9, 17, 18, 33, 65})
    for (const Type type : {Type::u8, Type::f32})
      for (const std::int64_t channels : {0, 1}) {
        device_filters::Case c{{4000 + k, 2001}, type, type, filter::Guided{0.5}};
        c.options.window.width = c.options.window.height = k, c.options.window.edge = edges[1 + k % 7];
        c.options.guide = channels, c.seed = static_cast<unsigned>(k);
        EXPECT_EQ(fault(c), "");
      }
}

TEST_F(CudaFilter, StatisticsOfLevels) {
  for (const device_filters::Case& c : device_filters::random_level_cases(60, 900, 200, 20261203))
    EXPECT_EQ(fault(c), "");
}

// Counts of 16 bits hold all pixels of a window: of one level, of two, or of all.
TEST_F(CudaFilter, LevelsOfLargeWindows) {
  for (const Filter& one : {Filter(filter::Equalize{}), Filter(filter::Otsu{}), Filter(filter::Entropy{}),
                            Filter(filter::Modal{}), Filter(filter::Bilateral{30})})
    for (const auto pixels :
         {device_filters::Pixels::plain, device_filters::Pixels::wild, device_filters::Pixels::outliers}) {
      device_filters::Case c{{1000, 700}, Type::u8, Type::f32, one};
      if (!std::holds_alternative<filter::Entropy>(one) && !std::holds_alternative<filter::Bilateral>(one))
        c.out = Type::u8;
      c.options.window = {255, 257}, c.options.window.edge = Edge::reflect, c.pixels = pixels;
      EXPECT_EQ(fault(c), "");
    }
}

TEST_F(CudaFilter, Gaussians) {
  for (const device_filters::Case& c : device_filters::random_gaussian_cases(30, 1500, 300, 20261204))
    EXPECT_EQ(fault(c), "");
}

// Bands of rows, whose results lie in the workspace one after the other; lines of 1024, 2048 and 4096 places.
TEST_F(CudaFilter, GaussiansOfLargeImages) {
  for (const double sigma : {2., 20., 60., 110., 330.})
    for (const Type type : {Type::u8, Type::f32}) {
      device_filters::Case c{{5003, 3001}, type, type, filter::Gaussian{sigma, sigma}};
      c.options.algorithm = sigma == 2 ? "convolution" : "extended-boxes";
      c.options.window.edge = sigma < 100 ? Edge::reflect : Edge::shrink;
      EXPECT_EQ(fault(c), "");
    }
}

TEST_F(CudaFilter, ImagesOfOneRowOrColumnOrOfNone) {
  for (const Edge edge : edges)
    for (const Shape& shape : {Shape{1, 1}, {1, 3000}, {3000, 1}, {0, 5}, {5, 0}, {17, 3}}) {
      Case c;
      c.image = shape, c.window.width = 5, c.window.height = 7, c.window.edge = edge;
      EXPECT_EQ(fault(c), "");
    }
}

}  // namespace
}  // namespace areal
