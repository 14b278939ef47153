// Every engine that computes dense windows in parts x options x pixel types x cuts, against the windows of the whole
// image and the definition. See README.md.
#include <gtest/gtest.h>
#include <array>
#include "piece_matrix/matrix.hpp"
#include "piece_matrix/windows_engines.hpp"

namespace areal::piece_matrix {
namespace {

class PiecesWindows : public testing::TestWithParam<WindowsEngine> {};

TEST_P(PiecesWindows, EqualTheWholeAndTheDefinition) {
  Refused refused = Refused::of_repository(GetParam().name);
  Faults faults;
  const auto all = combinations(std::span<const WindowsOption>(windows_options), {{"values", "ignore_nan"}});
  each_choice(all, std::size(pixel_types), 7,
              [&](const auto& options, std::size_t type, const Cut& cut, std::uint64_t seed) {
                WindowsQuestion q = windows_question(pixel_types[type], cut, options);
                q.seed = seed;
                for (const WindowsWay& way : GetParam().ways) faults.add(way.name, q.words(), fault(way, q, refused));
              });
  faults.add(refused);
}
INSTANTIATE_TEST_SUITE_P(All, PiecesWindows, testing::ValuesIn(windows_engines()),
                         [](const auto& of) { return std::string(of.param.name); });

// Strips of every height under windows of every height, for each edge: where the halo ends, and where it is all there
// is. Anchors take turns.
TEST(StripWindows, EveryEdgeHeightAndHalo) {
  Refused none = Refused::of_repository("StripWindows");
  std::int64_t number = 0;
  for (std::int64_t edge = 0; edge <= static_cast<std::int64_t>(Edge::constant); ++edge)
    for (const std::int64_t strip : {1, 3, 7, 11})
      for (const std::int64_t height : {1, 2, 3, 4, 5, 8, 9, 10, 11, 19, 20, 21, 23}) {
        const std::array anchors{std::int64_t{-1}, std::int64_t{0}, height - 1};
        const std::int64_t turn = number++;
        for (std::int64_t a = 0; a < 3; ++a) {
          if (extent() != Extent::all && a != (turn / 13 + turn % 13 + turn / 52) % 3) continue;
          const std::int64_t anchor = anchors[static_cast<std::size_t>(a)];
          WindowsQuestion q = windows_question(Type::u16, {"strips", 5, 10, 5, strip}, {});
          q.window = {.width = 2, .height = height, .anchor_y = anchor, .edge = static_cast<Edge>(edge), .value = 3};
          q.statistic = WindowStatistic::variance;
          for (const WindowsWay& way : windows_engines()[0].ways) {
            if (q.window.edge == Edge::wrap && way.compute != strip_windows<Way::run>) continue;
            ASSERT_EQ(fault(way, q, none), "") << way.name << ", edge " << edge << ", strips of " << strip
                                               << ", windows of " << height << " at " << anchor;
          }
        }
      }
}

// That the two above can fail: a row too early, and a pixel next to a NaN.
TEST(StripWindows, WrongWindowsAreFound) {
  Refused none = Refused::of_repository("StripWindows");
  WindowsQuestion q = windows_question(Type::f32, cuts[0], {});
  static std::int64_t shift;
  static bool spreads;
  const WindowsWay planted{"Planted", [](const WindowsQuestion& of, const WindowsInputs& in) {
                             WindowsQuestion other = of;
                             other.window.anchor_y = 2 + shift;
                             return spreads ? whole_windows(other, in) : strip_windows<Way::run>(other, in);
                           }};
  shift = 0, spreads = false;
  EXPECT_EQ(fault(planted, q, none), "");
  shift = 1;
  EXPECT_NE(fault(planted, q, none), "");
  q.fill = conformance::Fill::holes;
  shift = 0;
  EXPECT_EQ(fault(planted, q, none), "");
  spreads = true;
  EXPECT_NE(fault(planted, q, none), "");
}

TEST(StripWindows, SeveralStatisticsPassTogether) {
  WindowsQuestion q = windows_question(Type::f32, cuts[1], {});
  q.image.channels = 2, q.fill = conformance::Fill::holes, q.ignore_nan = true;
  const WindowsInputs in(q);
  const std::vector<WindowStatistic> all = {WindowStatistic::pixel, WindowStatistic::sum, WindowStatistic::count,
                                            WindowStatistic::mean};
  StripWindows strips(q.image, q.type, q.window, {.statistics = all, .ignore_nan = true}, {.height = 3});
  EXPECT_EQ(strips.strip_height(), 3);
  EXPECT_EQ(strips.output_shape().height, q.image.height);
  std::vector<Gathered> windows;
  for (const WindowStatistic statistic : all) {
    q.statistic = statistic;
    windows.emplace_back(q.type_of_answer(), answer_shape(q));
  }
  strips.run(reader_of(in.image_view()), [&](const WindowStrip& strip) {
    for (std::size_t s = 0; s < all.size(); ++s) windows[s].put(strip.values[s], 0, strip.y);
    return true;
  });
  for (std::size_t s = 0; s < all.size(); ++s) {
    q.statistic = all[s];
    EXPECT_EQ(fault_in(q, in, windows[s].values()), "") << s;
  }
}

// The sink ends the run; memory decides the height, and what it cannot hold is refused with the bytes.
TEST(StripWindows, EndsAndFitsMemory) {
  const Shape image{100, 200};
  const Values pixels = conformance::random_image(Type::u8, image, conformance::Fill::wild, 1);
  const Buffer buffer(pixels, conformance::placements[0]);
  StripWindows strips(image, Type::u8, {.width = 3, .height = 9}, {}, {.memory = 150'000});
  EXPECT_LE(strips.memory_bytes(), 150'000u);
  EXPECT_GT(strips.strip_height(), 1);
  EXPECT_LT(strips.strip_height(), 200);
  int calls = 0;
  strips.run(reader_of(buffer.view()), [&](const WindowStrip&) { return ++calls < 2; });
  EXPECT_EQ(calls, 2);
  const auto refuse = [&](std::uint64_t memory) {
    StripWindows(image, Type::u8, {.width = 3, .height = 90}, {}, {.memory = memory});
  };
  try {
    refuse(50'000);
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_GT(error.bytes(), 50'000u);
    EXPECT_NO_THROW(refuse(error.bytes()));
  }
  StripWindows wraps(image, Type::u8, {.width = 3, .height = 3, .edge = Edge::wrap});
  EXPECT_THROW(wraps.begin([](const WindowStrip&) { return true; }), InvalidArgument);
  EXPECT_THROW(StripWindows(image, Type::u8, {}, {.statistics = {}}), InvalidArgument);
}

}  // namespace
}  // namespace areal::piece_matrix
