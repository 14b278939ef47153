// Sums of integers under windows, compared with the pixels of every window.
#include "filter_cases.hpp"

namespace {

using namespace filter_cases;
using areal::Window;

constexpr Type integers[] = {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32};
constexpr Type outputs[] = {Type::u8, Type::s8, Type::u16, Type::s16, Type::s32, Type::f32, Type::f64};

// The whole range of a type.
void with_range(Case& c) {
  const int bits = static_cast<int>(8 * areal::size_of(c.in));
  c.least = areal::is_signed_integer(c.in) ? -std::ldexp(1, bits - 1) : 0;
  c.most = areal::is_signed_integer(c.in) ? std::ldexp(1, bits - 1) - 1 : std::ldexp(1, bits) - 1;
}

Case mean_of(std::int64_t width, std::int64_t height, const Window& window) {
  Case c;
  c.filter = filter::Mean{};
  c.shape = {width, height};
  c.options.window = window;
  return c;
}

TEST(FilterWalk, TheOracleCatchesOneChangedPixel) {
  const Case c = mean_of(33, 21, {5, 3});
  Memory memory(c);
  run(c, memory);
  EXPECT_EQ(differences(c, memory), "");
  memory.image.set<std::uint8_t>(static_cast<std::uint8_t>(memory.image.get<std::uint8_t>(7, 9) ^ 128), 7, 9);
  EXPECT_NE(differences(c, memory), "");
  memory.image.set<std::uint8_t>(static_cast<std::uint8_t>(memory.image.get<std::uint8_t>(7, 9) ^ 128), 7, 9);
  memory.out.bytes()[3] ^= 1;
  EXPECT_NE(differences(c, memory), "");
}

TEST(FilterWalk, MeansOfBytesAtEveryEdge) {
  std::uint64_t seed = 100;
  for (const Edge edge : oracle::edges)
    for (const auto& [w, h] : {std::pair{1, 1}, {3, 3}, {15, 15}, {2, 4}, {5, 1}, {1, 7}, {40, 9}, {9, 40}, {101, 77}})
      for (const auto& [width, height] : {std::pair{31, 29}, {1, 23}, {23, 1}, {2, 3}, {1, 1}, {67, 50}}) {
        if (w * h * width * height > most_reads()) continue;
        Window window{w, h};
        window.edge = edge;
        window.value = 200;
        Case c = mean_of(width, height, window);
        c.seed = ++seed;
        expect_right(c);
      }
}

TEST(FilterWalk, Anchors) {
  std::uint64_t seed = 300;
  for (const Edge edge : oracle::edges)
    for (const auto& [x, y] : {std::pair{0, 0}, {5, 2}, {0, 2}, {3, 1}}) {
      Window window{6, 3, x, y};
      window.edge = edge;
      window.value = 3;
      Case c = mean_of(37, 19, window);
      c.seed = ++seed;
      expect_right(c);
    }
}

TEST(FilterWalk, EveryStatisticTypeAndOutput) {
  const Filter filters[] = {filter::Sum{},
                            filter::Mean{},
                            filter::Count{},
                            filter::Variance{},
                            filter::Variance{1},
                            filter::StandardDeviation{},
                            filter::StandardDeviation{3}};
  std::uint64_t seed = 400;
  for (const Filter& filter : filters)
    for (const Type in : integers)
      for (const Type out : outputs)
        for (const Edge edge : {Edge::shrink, Edge::reflect, Edge::constant, Edge::valid}) {
          Case c = mean_of(41, 17, {7, 5});
          c.filter = filter;
          c.in = in, c.out = out;
          with_range(c);
          c.options.window.edge = edge;
          c.options.window.value = areal::is_signed_integer(in) ? -100 : 77;
          c.seed = ++seed;
          expect_right(c);
        }
}

TEST(FilterWalk, Thresholds) {
  using filter::Local;
  std::uint64_t seed = 500;
  for (const Local method : {Local::mean, Local::bradley, Local::niblack, Local::sauvola, Local::wolf, Local::nick})
    for (const Type in : {Type::u8, Type::s8, Type::u16, Type::s16})
      for (const Type out : {Type::u8, Type::f32, Type::f64})
        for (const Edge edge : {Edge::shrink, Edge::symmetric, Edge::valid})
          for (const bool inverted : {false, true}) {
            Case c = mean_of(29, 31, {9, 5, 2, 4});
            filter::Threshold t;
            t.method = method;
            t.inverted = inverted;
            t.offset = method == Local::mean ? 2.5 : 0;
            c.filter = t;
            c.in = in, c.out = out;
            with_range(c);
            c.options.window.edge = edge;
            c.seed = ++seed;
            expect_right(c);
          }
}

TEST(FilterWalk, ChannelsAndBatches) {
  std::uint64_t seed = 600;
  for (const Layout in : {Layout::interleaved, Layout::planar})
    for (const Layout out : {Layout::interleaved, Layout::planar})
      for (const std::int64_t channels : {1, 2, 3, 4, 7})
        for (const bool mask : {false, true})
          for (const Edge edge : {Edge::shrink, Edge::wrap, Edge::replicate}) {
            Case c = mean_of(23, 13, {5, 4});
            c.shape.channels = channels, c.shape.batch = 2, c.shape.layout = in;
            c.out_layout = out;
            c.options.mask = mask;
            c.options.window.edge = edge;
            c.seed = ++seed;
            expect_right(c);
            filter::Threshold wolf;
            wolf.method = filter::Local::wolf;
            c.filter = wolf;
            expect_right(c);
          }
}

TEST(FilterWalk, MasksCountsAndFills) {
  std::uint64_t seed = 700;
  for (const Edge edge : oracle::edges)
    for (const std::int64_t min_count : {0, 1, 6})
      for (const Filter& filter : {Filter{filter::Sum{}}, Filter{filter::Mean{}}, Filter{filter::Count{}},
                                   Filter{filter::Variance{}}, Filter{filter::Threshold{}}})
        for (const Type out : {Type::u8, Type::f32}) {
          Case c = mean_of(25, 18, {3, 3});
          c.filter = filter;
          c.out = out;
          c.options.window.edge = edge;
          c.options.window.value = 9;
          c.options.mask = true;
          c.options.min_count = min_count;
          if (min_count == 6) c.options.fill = 42;
          c.mask_share = 0.7;
          c.seed = ++seed;
          expect_right(c);
        }
}

// Sums that need 64 bits, squares beyond 64 bits, and windows of many periods.
// Of more than 2^16 pixels the filters take turns.
TEST(FilterWalk, LargeWindows) {
  std::uint64_t seed = 800, turn = 0;
  for (const Edge edge : oracle::edges)
    for (const Type in : integers) {
      ++turn;
      for (const Filter& filter : {Filter{filter::Sum{}}, Filter{filter::Mean{}}, Filter{filter::Variance{}}})
        for (const auto& [w, h] : {std::pair{300, 2}, {3, 301}, {257, 259}}) {
          if (w == 257 && extent() != Extent::all && seed / 3 % 3 != (turn + turn / 6) % 3) {
            ++seed;
            continue;
          }
          Case c = mean_of(6, 5, {w, h});
          c.filter = filter;
          c.in = in, c.out = Type::f64;
          with_range(c);
          c.least = c.most - 3;
          c.options.window.edge = edge;
          c.options.window.value = 100;
          c.seed = ++seed;
          expect_right(c);
        }
    }
}

}  // namespace
