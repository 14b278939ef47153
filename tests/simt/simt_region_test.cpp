// Queries of tables on the simulated machine, which checks every access: the image's own answers, the CPU's bits.
#include "device_border_cases.hpp"
#include "device_corner_cases.hpp"
#include "device_region_cases.hpp"
#include "device_scatter_cases.hpp"
#include "device_window_cases.hpp"
#include "host_bed.hpp"
#include "kernels/query/request.hpp"
#include "policy/window_choice.hpp"
#include "simt/plan.hpp"

namespace areal {
namespace {

using namespace device_cases;

using Bed = HostBed<Backend::simt>;

template <class T>
class SimtRegionSums : public testing::Test {};
using TableTypes = testing::Types<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(SimtRegionSums, TableTypes);

TYPED_TEST(SimtRegionSums, AFlippedElementIsCaught) { a_flipped_element_is_caught<TypeParam, Bed>(); }
TYPED_TEST(SimtRegionSums, EveryBorderAndShape) { sums_of_every_border_and_shape<TypeParam, Bed>(); }

TYPED_TEST(SimtRegionSums, BoxesOfEveryBorderAndShape) { boxes_of_every_border_and_shape<TypeParam, Bed>(); }
TYPED_TEST(SimtRegionSums, AFlippedElementOfAVolumeIsCaught) {
  a_flipped_element_of_a_volume_is_caught<TypeParam, Bed>();
}
TYPED_TEST(SimtRegionSums, RotatedRectanglesOfEveryShape) { rotated_rectangles_of_every_shape<TypeParam, Bed>(); }
TYPED_TEST(SimtRegionSums, AFlippedElementOfATiltedTableIsCaught) {
  a_flipped_element_of_a_tilted_table_is_caught<TypeParam, Bed>();
}

TEST(SimtBoxes, OfTablesThatWrapOrRound) { boxes_of_tables_that_wrap_or_round<Bed>(); }
TEST(SimtBoxes, OutsideIsRefusedOrClipped) { boxes_outside_are_refused_or_clipped<Bed>(); }
TEST(SimtRotated, ThatWrapRoundOrOverflow) { rotated_rectangles_that_wrap_round_or_overflow<Bed>(); }
TEST(SimtBoxes, TheHostAsks) { the_host_asks_for_boxes_and_rotated_rectangles<Bed>(); }

TEST(SimtBorders, AFlippedElementIsCarriedOver) { a_flipped_element_is_carried_over<Bed>(); }
TEST(SimtBorders, TypePairsOfIntegers) { conversions_of_type_pairs_of_integers<Bed>(); }
TEST(SimtBorders, TypePairsOfFloats) { conversions_of_type_pairs_of_floats<Bed>(); }
TEST(SimtBorders, RoundAsTheCpus) {
  conversions_round_as_the_cpus<float, float, Bed>();
  conversions_round_as_the_cpus<float, double, Bed>();
  conversions_round_as_the_cpus<double, double, Bed>();
}

TEST(SimtScatter, IsItsDefinition) { scatters<Bed>(); }
TEST(SimtScatter, OfMany) { scatters_of_many<float, Bed>(); }
TEST(SimtScatter, RegionsOutside) { regions_outside_scatter_nothing_or_their_parts<Bed>(); }
TEST(SimtScatter, WorksInTheCallersMemory) { a_scatter_works_in_the_callers_memory<Bed>(); }
TEST(SimtScatter, TheHostAsks) { the_host_scatters<Bed>(); }
TEST(SimtScatter, EveryRunHasTheSameBits) { every_scatter_has_the_same_bits<Bed>(); }

TEST(SimtRegions, WrappedTablesAreExact) { wrapped_tables_are_exact<Bed>(); }
TEST(SimtRegions, OutsideIsRefusedOrClipped) { outside_is_refused_or_clipped<Bed>(); }
TEST(SimtRegions, NoneRefusedAndNoRegions) { none_refused_and_no_regions<Bed>(); }

TEST(SimtRegions, Statistics) {
  statistics_of_regions<std::uint8_t, std::uint32_t, std::uint64_t, Bed>(0, 255);
  statistics_of_regions<std::uint8_t, std::int32_t, double, Bed>(0, 255);
  statistics_of_regions<std::int16_t, std::int64_t, std::uint64_t, Bed>(-3000, 3000);
  statistics_of_regions<float, double, double, Bed>(-50, 50);
  statistics_of_regions<float, float, double, Bed>(0, 9);
}

TEST(SimtRegions, StatisticsBeyond64Bits) {
  statistics_of_regions<std::uint32_t, std::uint64_t, std::uint64_t, Bed>(1.0e8, 1.9e8);
}

TEST(SimtRegions, Histograms) { histograms_of_every_counter_and_border<Bed>(); }
TEST(SimtRegions, CountsOf16Bits) { counts_of_16_bits_are_exact_modulo_65536<Bed>(); }
TEST(SimtRegions, Reducers) { reducers_are_the_cpus<Bed>(); }
TEST(SimtRegions, ReducersByHand) { reducers_by_hand<Bed>(); }

TEST(SimtWindows, EveryEdgeTypeAndStatistic) {
  windows_of<std::uint8_t, std::uint32_t, std::uint64_t, double, Bed>(0, 255);
  windows_of<std::int16_t, std::int32_t, double, float, Bed>(-300, 300);
  windows_of<float, float, double, double, Bed>(0, 9);
}
TEST(SimtWindows, UnlikeTables) { windows_of_unlike_tables<Bed>(); }
TEST(SimtWindows, Strips) { windows_in_strips_of_several_types<Bed>(); }
TEST(SimtWindows, RoundedOutputs) { windows_rounded_to_every_type<Bed>(); }
TEST(SimtWindows, LargeOutputsAreWalked) {
  EXPECT_FALSE(policy::walks_windows(Edge::shrink, false, {640, 480}));
  EXPECT_TRUE(policy::walks_windows(Edge::shrink, false, {1920, 1080}));
  EXPECT_FALSE(policy::walks_windows(Edge::shrink, true, {1920, 1080}));
  EXPECT_TRUE(policy::walks_windows(Edge::shrink, true, {4096, 4096}));
  EXPECT_TRUE(policy::walks_windows(Edge::zero, true, {1920, 1080}));
  EXPECT_FALSE(policy::walks_windows(Edge::reflect, false, {1920, 1080}));
  EXPECT_TRUE(policy::walks_windows(Edge::reflect, false, {4096, 4096}));
}
TEST(SimtWindows, WalkedOfEveryEdgeAndType) { windows_walked_of_every_edge_and_type<Bed>(); }
TEST(SimtWindows, WalkedOfEveryShape) { windows_walked_of_every_shape<Bed>(); }
TEST(SimtWindows, WalkedReadEachLineOfASegmentOnceAndWriteEachOutput) {
  const auto image = oracle::random_image<std::uint8_t>(700, 83, 0, 255, 48);
  for (const Border border : {Border::zero, Border::none})
    for (const Window& w : {Window{5, 4, -1, -1, Edge::valid}, Window{15, 9, -1, -1, Edge::shrink}}) {
      SCOPED_TRACE(testing::Message() << name_of(border) << " window " << w.width << " seed 48");
      Table<std::uint32_t> table(image, border, oracle::identity, oracle::aligned);
      const Shape shape = window_shape(image.width, image.height, w);
      Padded out(Type::u8, shape, oracle::aligned);
      const auto request = walk_of(table.view(), w, kernels::Statistic::sum, out.view());
      const auto launches = simt::execute<kernels::Query>({}, request, nullptr);
      ASSERT_EQ(launches.size(), 1u);  // no launch for the rim
      // 32 blocks at once: 2 strips of 384 columns, and 16 segments of chunks of 8 rows.
      const std::int64_t shift = border == Border::none ? 1 : 0, segment = 8;
      std::uint64_t elements = 0;
      for (std::int64_t y = 0; y < shape.height; y += segment)
        for (std::int64_t x = 0; x < shape.width; x += 384) {
          const std::int64_t rows = std::min(segment, shape.height - y), lines = (rows + 1) / 2 * 2 + w.height;
          const std::int64_t columns = std::min<std::int64_t>(384, shape.width - x) + w.width;
          const std::int64_t above = std::max<std::int64_t>(0, shift - (y - request.rows.before));
          const std::int64_t left = std::max<std::int64_t>(0, shift - (x - request.columns.before));
          elements += static_cast<std::uint64_t>((lines - above) * (columns - left));
        }
      EXPECT_EQ(launches[0].counts.reads.elements, elements);
      EXPECT_EQ(launches[0].counts.writes.elements, static_cast<std::uint64_t>(shape.width * shape.height));
    }
}
TEST(SimtRegions, SeveralPlanes) { several_planes<Bed>(); }

TEST(SimtWindows, DistanceMaps) {
  distance_maps_of<std::uint32_t, double, Bed>(Border::none);
  distance_maps_of<std::uint16_t, float, Bed>(Border::zero);
  distance_maps_of<float, double, Bed>(Border::none, 0.5);
}

TEST(SimtRegions, TheHostAsks) { the_host_asks<Bed>(); }
TEST(SimtRegions, TheFirstInvalidIsReported) { the_first_invalid_is_reported_wherever_it_lies<Bed>(); }

TEST(SimtRegions, AnyScheduleGivesTheSameAnswersAndTheSmallestRefused) {
  const auto image = small_image<float>(40, 30);
  Table<float> table(image, Border::zero);
  std::vector<Region> regions = wild_regions(40, 30, 3);
  const std::vector<Region> once = regions;
  for (int i = 0; i < 4; ++i) regions.insert(regions.end(), once.begin(), once.end());
  std::vector<double> first;
  for (std::uint64_t seed = 1; seed < 9; ++seed) {
    std::vector<double> out(regions.size());
    std::int64_t refused = 77;
    simt::Options options;
    options.seed = seed, options.residents = static_cast<int>(seed), options.start = simt::StartOrder::random;
    simt::execute<kernels::Query>(
        {},
        kernels::SumsRequest{table.view(),
                             {regions.data(), static_cast<std::int64_t>(regions.size()), Outside::error, &refused},
                             out.data(),
                             true},
        nullptr, options);
    if (seed == 1) first = out;
    EXPECT_EQ(differences(out, first), 0u) << "seed " << seed;
    EXPECT_EQ(refused, 77) << "seed " << seed;  // the first of the arbitrary ones
  }
}

TEST(SimtScatter, AnyScheduleGivesTheSameBits) {
  const auto regions = overlapping(40, 30, 900, 21);
  const auto values = random_values<float>(regions.size(), 21);
  const auto count = static_cast<std::int64_t>(regions.size());
  for (std::uint64_t seed = 1; seed < 9; ++seed) {
    Padded out(Type::f32, {41, 31});
    std::vector<std::byte> workspace(scatter_workspace_bytes(regions.size()));
    simt::Options options;
    options.seed = seed, options.residents = static_cast<int>(seed), options.start = simt::StartOrder::random;
    simt::execute<kernels::Query>({},
                                  kernels::ScatterRequest{{regions.data(), count, Outside::error, nullptr},
                                                          values.data(),
                                                          out.view(),
                                                          Border::zero,
                                                          workspace.data()},
                                  nullptr, options);
    EXPECT_EQ(wrong_elements<float>(out, Border::zero, regions, values), 0u) << "seed " << seed;
  }
}

TEST(SimtRegions, SaysWhatCannotBe) {
  const auto image = small_image<std::uint32_t>(9, 7);
  Table<std::uint32_t> table(image, Border::zero);
  const std::vector<Region> regions(3);
  std::vector<std::uint64_t> out(3), few(2);
  std::vector<std::int64_t> integers(3);
  std::vector<double> reals(3), two(2);
  const Execution simt{.backend = Backend::simt};
  const auto ask = [&](const Execution& on, auto& answers) {
    region_sums(table.view(), regions, answers, {.execution = on});
  };
  EXPECT_NO_THROW(ask(simt, out));
  EXPECT_THROW(ask(simt, few), InvalidArgument);
  EXPECT_THROW(ask(simt, integers), InvalidArgument);  // of a table of 32u
  EXPECT_THROW(ask({.backend = Backend::simt, .device = 1}, out), Unavailable);
  EXPECT_THROW(ask({.backend = Backend::simt, .stream = Stream::legacy_default()}, out), InvalidArgument);
  const auto misaligned =
      std::span(reinterpret_cast<const Region*>(reinterpret_cast<const char*>(regions.data()) + 4), 2);
  const QueryOptions on{.execution = simt};
  EXPECT_THROW(region_sums(table.view(), misaligned, few, on), InvalidArgument);
  EXPECT_THROW(region_sums(table.view(), std::span(static_cast<const Region*>(nullptr), 2), few, on), InvalidArgument);
  EXPECT_THROW(entropies(reals, 2, reals, simt), InvalidArgument);
  EXPECT_THROW(entropies(reals, -1, reals, simt), InvalidArgument);
  EXPECT_THROW(medians(reals, 1, reals, reals, simt), InvalidArgument);
  EXPECT_THROW(percentiles(reals, 1, two, 101, reals, simt), InvalidArgument);
  EXPECT_THROW(distances(Distance::l1, reals, two, reals, simt), InvalidArgument);
  Padded integer_map(Type::u32, {9, 7});
  EXPECT_THROW(window_sums(table.view(), {3, 3}, integer_map.view(), simt), InvalidArgument);
  Padded map(Type::f32, {9, 7});
  EXPECT_THROW(window_sums(table.view(), {0, 3}, map.view(), simt), InvalidArgument);
  EXPECT_THROW(window_sums({table.view().view, Border::exclusive}, {3, 3}, map.view(), simt), InvalidArgument);
}

/// The CPU's error text if it has one; the device's own names the argument.
TEST(SimtBoxes, SayWhatCannotBe) {
  const QueryOptions simt{.execution = {.backend = Backend::simt}};
  const std::vector<Box> boxes(3);
  const std::vector<Region> regions(3);
  std::vector<double> out(3);
  const std::vector<std::uint32_t> memory(1000);
  const auto volume = [&](Type type, const Shape& shape, std::int64_t row = 0, std::int64_t batch = 0) {
    return ConstView(memory.data(), type, shape, row, 0, batch);
  };
  struct Wrong {
    ConstView view;
    Border border = Border::zero;
    std::size_t sums = 3;
  };
  const Shape cube{4, 4, 1, 4};
  const auto with_shape = [&](const Shape& shape) { return volume(Type::u32, shape); };
  for (const Wrong& w :
       {Wrong{volume(Type::u32, cube), Border::exclusive}, Wrong{volume(Type::u16, cube)},
        Wrong{volume(Type::u32, cube), Border::none, 2}, Wrong{volume(Type::u32, cube), Border::zero, 4},
        Wrong{ConstView(nullptr, Type::u32, cube)}, Wrong{with_shape({4, 4, 2, 4})}, Wrong{with_shape({4, 4, 1, 0})},
        Wrong{with_shape({0, 4, 1, 4})}, Wrong{with_shape({4, -1, 1, 4})}, Wrong{volume(Type::u32, cube, 12)},
        Wrong{volume(Type::u32, cube, 16, 60)}}) {
    std::vector<double> sums(w.sums);
    const std::string want = refusal([&] { box_sums({w.view, w.border}, boxes, sums); });
    SCOPED_TRACE(want);
    EXPECT_NE(want, "");
    EXPECT_EQ(refusal([&] { box_sums({w.view, w.border}, boxes, sums, simt); }), want);
  }
  const Shape square{4, 4};
  for (const Wrong& w : {Wrong{volume(Type::u8, square)}, Wrong{volume(Type::u32, square), Border::zero, 2},
                         Wrong{ConstView(nullptr, Type::u32, square)}, Wrong{with_shape({4, 4, 2, 1})},
                         Wrong{with_shape({4, 4, 1, 2})}, Wrong{with_shape({0, 4})}, Wrong{with_shape({4, 0})},
                         Wrong{with_shape({-1, 4})}, Wrong{volume(Type::f64, square, 31)}}) {
    std::vector<double> sums(w.sums);
    const std::string want = refusal([&] { tilted_sums(w.view, regions, sums); });
    SCOPED_TRACE(want);
    EXPECT_NE(want, "");
    EXPECT_EQ(refusal([&] { tilted_sums(w.view, regions, sums, simt); }), want);
  }
  const SatView good(volume(Type::u32, cube), Border::zero);
  const ConstView flat = volume(Type::u32, square);
  const Span<const Box> no_boxes(nullptr, 3);
  const Span<const Region> no_regions(nullptr, 3);
  const Span<double> no_out(nullptr, 3);
  const Span<std::int64_t> odd(reinterpret_cast<std::int64_t*>(reinterpret_cast<char*>(out.data()) + 4), 1);
  const QueryOptions misaligned{.execution = simt.execution, .first_invalid = odd};
  const auto begins = [](const std::string& text, const char* words) { return text.find(words) == 0; };
  for (const QueryOptions& on : {simt, QueryOptions{}}) {
    EXPECT_PRED2(begins, refusal([&] { box_sums(good, no_boxes, out, on); }), "boxes: a null pointer");
    EXPECT_PRED2(begins, refusal([&] { box_sums(good, boxes, no_out, on); }), "out: a null pointer");
    EXPECT_PRED2(begins, refusal([&] { tilted_sums(flat, no_regions, out, on); }), "regions: a null pointer");
    EXPECT_PRED2(begins, refusal([&] { tilted_sums(flat, regions, no_out, on); }), "out: a null pointer");
  }
  EXPECT_PRED2(begins, refusal([&] { box_sums(good, boxes, out, misaligned); }), "first_invalid: its address");
  EXPECT_PRED2(begins, refusal([&] { tilted_sums(flat, regions, out, misaligned); }), "first_invalid: its address");
  EXPECT_PRED2(begins, refusal([&] { tilted_sums(flat, regions, out, {.outside = Outside::clip}); }), "outside: ");
  EXPECT_THROW(box_sums(good, boxes, out, {.execution = {.backend = Backend::simt, .device = 1}}), Unavailable);
}

TEST(SimtBorders, AnyScheduleGivesTheSameTable) {
  const auto image = oracle::random_image<float>(70, 61, -1e6, 1e7, 5);
  Table<float> from(image, Border::exclusive);
  const ConstView pixels(image.pixels.data(), 70, 61);
  Padded want(Type::f32, {71, 62});
  convert_border(from.view(), want.view(), Border::zero, pixels);
  for (std::uint64_t seed = 1; seed < 9; ++seed) {
    Padded got(Type::f32, {71, 62});
    simt::Options options;
    options.seed = seed, options.residents = static_cast<int>(seed), options.start = simt::StartOrder::random;
    simt::execute<kernels::Query>({}, kernels::ConvertRequest{from.view(), got.view(), Border::zero, pixels}, nullptr,
                                  options);
    EXPECT_EQ(output_differences<float>(got, want), 0u) << "seed " << seed;
  }
}

TEST(SimtBorders, SayWhatCannotBe) {
  const Execution simt{.backend = Backend::simt};
  std::vector<std::uint32_t> from(1000), to(1000);
  const std::vector<std::uint8_t> pixels(1000);
  const ConstView image(pixels.data(), 6, 5), narrow(pixels.data(), 5, 5), shorts(pixels.data(), Type::s16, {6, 5});
  const ConstView nowhere(nullptr, Type::u8, {6, 5}), two(pixels.data(), Type::u8, {6, 5, 2}),
      inside(to.data() + 2, Type::u8, {6, 5});
  const TableView zero{ConstView(from.data(), 7, 6), Border::zero},
      exclusive{ConstView(from.data(), 6, 5), Border::exclusive};
  const View good(to.data(), 6, 5);
  struct Wrong {
    TableView from;
    View to;
    Border to_border = Border::none;
    ConstView image = {};
  };
  for (const Wrong& w : {Wrong{zero, View(to.data(), 5, 5)}, Wrong{zero, good, Border::zero},
                         Wrong{zero, View(to.data(), Type::s32, {6, 5})}, Wrong{zero, View(from.data() + 8, 6, 5)},
                         Wrong{zero, View(nullptr, Type::u32, {6, 5})}, Wrong{zero, View(to.data(), 6, 5, 20)},
                         Wrong{{ConstView(nullptr, Type::u32, {7, 6}), Border::zero}, good},
                         Wrong{{ConstView(from.data(), Type::u16, {7, 6}), Border::zero}, good}, Wrong{exclusive, good},
                         Wrong{exclusive, good, Border::none, narrow}, Wrong{exclusive, good, Border::none, shorts},
                         Wrong{exclusive, good, Border::none, nowhere}, Wrong{exclusive, good, Border::none, two},
                         Wrong{exclusive, good, Border::none, inside}}) {
    const std::string want = refusal([&] { convert_border(w.from, w.to, w.to_border, w.image); });
    SCOPED_TRACE(want);
    EXPECT_NE(want, "");
    EXPECT_EQ(refusal([&] { convert_border(w.from, w.to, w.to_border, w.image, simt); }), want);
  }
  EXPECT_EQ(refusal([&] { convert_border(exclusive, good, Border::none, image, simt); }), "");
}

}  // namespace
}  // namespace areal
