// bands with few warps, on clusters of two and four blocks: every type and direction, several depths. The suite of
// conformance has the kernels that plans launch.
#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>
#include "kernels/sat/bands/bands.hpp"
#include "simt/launcher.hpp"
#include "simt_kernels.hpp"

namespace areal::simt {
namespace {

using kernels::BandsGrid;
using kernels::BandsTuning;

template <class In_, class T_, int columns_, int rows_, int exchangers_, bool reverse_, int early_>
struct FewWarps {
  using In = In_;
  using T = T_;
  static constexpr int columns = columns_, rows = rows_, exchangers = exchangers_, fetchers = 1, summers = 2,
                       writers = 4, group = rows_ > 3 ? 2 : rows_, early = early_;
  static constexpr bool reverse = reverse_;
  static constexpr std::size_t shared_bytes = 48 * 1024;
};
template <class In, class T, int columns, int rows, int exchangers, bool reverse = false, int early = 2>
using Plan = kernels::BandsPlan<FewWarps<In, T, columns, rows, exchangers, reverse, early>,
                                FewWarps<In, T, columns, rows + 1, exchangers, reverse, early>>;

struct Case {
  std::int64_t width, height;
  std::int64_t in_more = 0, out_more = 0;  // of a row, in elements
  bool flipped = false;                    // an entry, after the launch
  bool crowded = false;                    // the machine has no room for a cluster
};
std::string words(const Case& c, const BandsGrid& g, std::uint64_t seed) {
  return std::to_string(c.width) + "x" + std::to_string(c.height) + " pitch +" + std::to_string(c.out_more) + ", " +
         std::to_string(g.clusters) + " clusters of " + std::to_string(g.cluster_blocks) + ", seed " +
         std::to_string(seed);
}

/// One table in memory with gaps, which keep their marks.
template <class T>
struct Table {
  explicit Table(const Case& c)
      : width(c.width),
        height(c.height),
        pitch((c.width + 3) / 4 * 4 + c.out_more),
        memory(static_cast<std::size_t>(height * pitch + 16), mark()) {}
  static T mark() { return static_cast<T>(123); }
  T* first() { return reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 15) / 16 * 16); }
  View view(Type type) {
    return View(first(), type, Shape{width, height}, pitch * static_cast<std::int64_t>(sizeof(T)), 0, 0);
  }
  /// What differs from the definition, or nothing.
  template <class In>
  std::string fault(const std::vector<In>& image, std::int64_t in_pitch, bool reverse) {
    std::vector<T> expected(memory.size(), mark()), above(static_cast<std::size_t>(width), T(0));
    const auto begin = first() - memory.data();
    for (std::int64_t y = 0; y < height; ++y) {
      T run = 0;
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t iy = reverse ? height - 1 - y : y, ix = reverse ? width - 1 - x : x;
        run += static_cast<T>(image[static_cast<std::size_t>(iy * in_pitch + ix)]);
        above[static_cast<std::size_t>(x)] += run;
        expected[static_cast<std::size_t>(begin + iy * pitch + ix)] = above[static_cast<std::size_t>(x)];
      }
    }
    for (std::size_t i = 0; i < memory.size(); ++i)
      if (memory[i] != expected[i])
        return "element " + std::to_string(static_cast<std::int64_t>(i) - begin) + " is " + std::to_string(memory[i]) +
               ", not " + std::to_string(expected[i]);
    return {};
  }

  std::int64_t width, height, pitch;
  std::vector<T> memory;
};

/// Empty, or what is wrong after two launches on one workspace.
template <class P>
std::string fault_of(const Case& c, const BandsGrid& grid, std::uint64_t seed) {
  using Kernel = typename P::FlatKernel;
  using In = typename Kernel::In;
  using T = typename Kernel::T;
  static constexpr bool reverse = Kernel::reverse;
  const Shape shape{c.width, c.height};
  const std::int64_t in_pitch = (c.width + 15) / 16 * 16 + c.in_more;
  std::vector<In> pixels(static_cast<std::size_t>(in_pitch * c.height + 16));
  auto* const image = reinterpret_cast<In*>((reinterpret_cast<std::uintptr_t>(pixels.data()) + 15) / 16 * 16);
  std::vector<In> kept(static_cast<std::size_t>(in_pitch * c.height));
  auto random = static_cast<std::uint32_t>(seed);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    random = random * 1664525u + 1013904223u;
    kept[i] = image[i] = std::is_integral_v<In> ? static_cast<In>(random >> 7) : static_cast<In>(random >> 30);
  }
  Table<T> sums(c);
  const P plan(shape, grid);
  std::vector<std::uint8_t> workspace(plan.workspace_bytes, 0);

  Options options;
  options.seed = seed;
  options.residents = c.crowded ? 1 : grid.clusters * grid.cluster_blocks;
  if (seed % 3 == 0) options.start = StartOrder::random;
  Launcher launcher(options);
  launcher.add({"image", image, kept.size() * sizeof(In), true, false});
  launcher.add({"sums", sums.memory.data(), sums.memory.size() * sizeof(T), false});
  launcher.add({"workspace", workspace.data(), workspace.size(), true});
  const auto upside_down = [](auto view) {
    view.data = static_cast<char*>(const_cast<void*>(static_cast<const void*>(view.data))) +
                (view.shape.height - 1) * view.row_pitch;
    view.row_pitch = -view.row_pitch;
    return view;
  };
  const auto type = [](auto value) {
    using E = decltype(value);
    return sizeof(E) == 1   ? Type::u8
           : sizeof(E) == 2 ? Type::u16
           : sizeof(E) == 4 ? (std::is_integral_v<E> ? Type::u32 : Type::f32)
                            : (std::is_integral_v<E> ? Type::u64 : Type::f64);
  };
  ConstView in(image, type(In{}), shape, in_pitch * static_cast<std::int64_t>(sizeof(In)), 0, 0);
  kernels::TableViews views{sums.view(type(T{}))};
  if (reverse) in = upside_down(in), views.sum = upside_down(views.sum);
  for (int launch = 0; launch < 2; ++launch) {
    for (auto& e : sums.memory) e = sums.mark();
    if (!kernels::bands_fits<P>({}, in, views).empty()) return "does not fit";
    if (!kernels::bands<P>(launcher, in, views, workspace.data(), grid)) return "not launched";
    if (c.flipped) sums.first()[sums.width - 1] += 1;
    const std::string fault = sums.fault(kept, in_pitch, reverse);
    if (!fault.empty()) return "launch " + std::to_string(launch) + ": " + fault;
  }
  return {};
}

template <class P>
void compare(const std::vector<Case>& cases, const std::vector<BandsGrid>& grids) {
  std::uint64_t seed = 1;
  for (const Case& c : cases)
    for (const BandsGrid& grid : grids) {
      EXPECT_EQ(fault_of<P>(c, grid, seed), "") << words(c, grid, seed);
      ++seed;
    }
}

const std::vector<BandsGrid> one_cluster{{1, 2, 1}}, several{{2, 2, 2}, {3, 4, 2}};

TEST(SimtBands, ThisSuiteCanFail) {
  using P = Plan<std::uint32_t, std::uint32_t, 128, 3, 2>;
  EXPECT_EQ(fault_of<P>({132, 9}, several[0], 1), "");
  Case flipped{132, 9};
  flipped.flipped = true;
  EXPECT_NE(fault_of<P>(flipped, several[0], 1), "");
}

TEST(SimtBands, WhatItDoesNotTakeIsRefused) {
  using P = Plan<std::uint32_t, std::uint32_t, 128, 3, 2>;
  EXPECT_EQ(fault_of<P>({132, 9, 0, 1}, several[0], 1), "does not fit");
  Case crowded{132, 9};
  crowded.crowded = true;
  EXPECT_EQ(fault_of<P>(crowded, several[0], 1), "not launched");

  kernels::TableRequest request{"bands", kernels::TableKind::pixels, {Type::u32, Type::u32}, {132, 9}, Border::none};
  const auto takes = [&](int residents) {
    Options options;
    options.residents = residents;
    Launcher launcher(options);
    return kernels::bands_takes<P>(launcher, request);
  };
  EXPECT_EQ(takes(4), "");
  EXPECT_EQ(takes(3), "it takes devices with clusters of 4 blocks");
  request.image.width = 130;
  EXPECT_EQ(takes(4), "it takes widths that are multiples of 4, this image is 130 wide");
}

const std::vector<Case> shapes{{4, 1}, {128, 7}, {388, 40, 16, 4}, {132, 61, 16}};

template <class In, class T, int columns>
void compare_types() {
  compare<Plan<In, T, columns, 3, 2>>(shapes, several);
  compare<Plan<In, T, columns, 5, 3, false, 0>>(shapes, one_cluster);
}

TEST(SimtBands, OfFourBytes) { compare_types<std::uint32_t, std::uint32_t, 128>(); }
// Several clusters, each with bands several times, and prefixes of more than one round.
TEST(SimtBands, DealtSeveralTimesToSeveralClusters) {
  const std::vector<Case> tall{{132, 130}, {260, 301}};
  compare<Plan<std::uint32_t, std::uint32_t, 128, 3, 2>>(tall, several);
  compare<Plan<std::uint8_t, std::uint32_t, 256, 3, 2>>(tall, several);
  compare<Plan<double, double, 64, 3, 2>>(tall, several);
}
TEST(SimtBands, OfBytes) {
  compare_types<std::uint8_t, std::uint32_t, 256>();
  compare<Plan<std::uint8_t, float, 256, 3, 2>>(shapes, one_cluster);
}
TEST(SimtBands, OfSixteenBits) { compare_types<std::uint16_t, std::uint32_t, 128>(); }
TEST(SimtBands, OfEightBytes) {
  compare_types<double, double, 64>();
  compare<Plan<float, double, 64, 3, 2>>(shapes, one_cluster);
}

TEST(SimtBands, Reversed) {
  const std::vector<Case> wide{{16, 1}, {128, 7}, {400, 40, 0, 4}};
  compare<Plan<std::uint32_t, std::uint32_t, 128, 3, 2, true>>(wide, several);
  compare<Plan<std::uint32_t, std::uint32_t, 128, 5, 2, true, 0>>(wide, one_cluster);
  compare<Plan<std::uint8_t, std::uint32_t, 256, 3, 2, true>>(wide, several);
  compare<Plan<std::uint8_t, float, 256, 5, 3, true, 0>>(wide, one_cluster);
  compare<Plan<std::uint16_t, std::uint32_t, 128, 3, 2, true>>(wide, several);
  compare<Plan<float, double, 64, 3, 2, true>>(wide, one_cluster);
  compare<Plan<double, double, 64, 3, 2, true>>(wide, several);
}

}  // namespace
}  // namespace areal::simt
