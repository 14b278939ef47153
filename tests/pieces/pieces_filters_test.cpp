// Every engine that filters images in parts x options x pixel types x cuts, against FilterPlan over the whole image,
// which filter_*_test compare with the definition. See README.md.
#include <gtest/gtest.h>
#include "piece_matrix/filters_engines.hpp"
#include "piece_matrix/matrix.hpp"

namespace areal::piece_matrix {
namespace {

class PiecesFilters : public testing::TestWithParam<FiltersEngine> {};

TEST_P(PiecesFilters, HaveTheBitsOfTheWhole) {
  Refused refused = Refused::of_repository(GetParam().name);
  Faults faults;
  const auto all =
      combinations(std::span<const FiltersOption>(filters_options), {{"values", "nan"}, {"filter", "filter wolf"}});
  each_choice(all, std::size(pixel_types), 7,
              [&](const auto& options, std::size_t type, const Cut& cut, std::uint64_t seed) {
                FiltersQuestion q = filters_question(pixel_types[type], cut, options);
                q.seed = seed;
                for (const FiltersWay& way : GetParam().ways) faults.add(way.name, q.words(), fault(way, q, refused));
              });
  faults.add(refused);
}
INSTANTIATE_TEST_SUITE_P(All, PiecesFilters, testing::ValuesIn(filters_engines()),
                         [](const auto& of) { return std::string(of.param.name); });

// Strips of every height under windows of every height, for each edge: where the halo ends, and where it is all there
// is. Means of bytes, walks, blocks of floats and extremes each have rows of their own.
TEST(StripFilter, EveryEdgeHeightAndHalo) {
  Refused none = Refused::of_repository("StripFilter");
  struct Kind {
    Type in, out;
    Filter filter;
  };
  const Kind kinds[] = {{Type::u8, Type::u8, filter::Mean{}},
                        {Type::s16, Type::f32, filter::StandardDeviation{}},
                        {Type::u8, Type::u8, filter::Threshold{filter::Local::sauvola}},
                        {Type::f64, Type::f64, filter::Mean{}},
                        {Type::f64, Type::f64, filter::Variance{}},
                        {Type::f32, Type::u8, filter::Threshold{.method = filter::Local::nick}},
                        {Type::u16, Type::u16, filter::Maximum{}}};
  for (const Kind& kind : kinds)
    for (std::int64_t edge = 0; edge <= static_cast<std::int64_t>(Edge::constant); ++edge)
      for (const std::int64_t strip : {1, 2, 3, 7, 11})
        for (const std::int64_t height : {1, 2, 3, 4, 5, 8, 9, 10, 11, 19, 20, 21, 23})
          for (const std::int64_t anchor : {std::int64_t{-1}, std::int64_t{0}, height - 1}) {
            FiltersQuestion q = filters_question(kind.in, {"strips", 5, 10, 5, strip}, {});
            q.output = kind.out, q.filter = kind.filter;
            q.options.window = {
                .width = 2, .height = height, .anchor_y = anchor, .edge = static_cast<Edge>(edge), .value = 3};
            for (const FiltersWay& way : filters_engines()[0].ways) {
              if (q.options.window.edge == Edge::wrap && way.compute != strip_filter<Way::run>) continue;
              ASSERT_EQ(fault(way, q, none), "")
                  << way.name << ", " << name_of(kind.in) << ", edge " << edge << ", strips of " << strip
                  << ", windows of " << height << " at " << anchor;
            }
          }
}

// Blocks of 64 rows by number, which strips of few rows cut.
TEST(StripFilter, LongWindowsOfFloats) {
  Refused none = Refused::of_repository("StripFilter");
  for (const std::int64_t strip : {1, 13, 64, 300})
    for (const std::int64_t height : {63, 64, 65, 512, 513, 700}) {
      FiltersQuestion q = filters_question(Type::f64, {"strips", 4, 1000, 4, strip}, {});
      q.options.window = {.width = 3, .height = height, .edge = Edge::reflect};
      for (const FiltersWay& way : filters_engines()[0].ways)
        ASSERT_EQ(fault(way, q, none), "") << way.name << ", strips of " << strip << ", windows of " << height;
    }
}

// That the three above can fail: a row too early, and floats that each strip adds from its own first row on.
TEST(StripFilter, WrongRowsAreFound) {
  Refused none = Refused::of_repository("StripFilter");
  FiltersQuestion q = filters_question(Type::f64, {"strips", 40, 50, 40, 7}, {});
  static std::int64_t shift;
  static bool by_itself;
  const FiltersWay planted{
      "Planted", [](const FiltersQuestion& of, const FiltersInputs& in) {
        FiltersQuestion other = of;
        other.options.window.anchor_y = 2 + shift;
        if (!by_itself) return strip_filter<Way::run>(other, in);
        // Rows 10 to 49 as an image: below the first 5, the same windows in other blocks.
        Values all = whole_filter(other, in);
        const FilterPlan plan({40, 40}, Type::f64, Type::f64, of.filter, of.options, {.threads = 1});
        const Values room(Type::f64, {40, 40});
        Buffer out(room, conformance::placements[0]);
        Workspace workspace(plan);
        plan.execute({part(in.image_view(), 0, 10, 40, 40), out.view()}, workspace);
        const Values rows = conformance::values_of(out.view());
        for (std::int64_t y = 5; y < 35; ++y)
          for (std::int64_t x = 0; x < 40; ++x) all.real[all.at(x, y + 10, 0, 0)] = rows.real[rows.at(x, y, 0, 0)];
        return all;
      }};
  shift = 0, by_itself = false;
  EXPECT_EQ(fault(planted, q, none), "");
  shift = 1;
  EXPECT_NE(fault(planted, q, none), "");
  shift = 0, by_itself = true;
  EXPECT_NE(fault(planted, q, none), "");
}

// The sink ends the run; memory decides the height, and what it cannot hold is refused with the bytes.
TEST(StripFilter, EndsAndFitsMemory) {
  const Shape image{100, 200};
  const Values pixels = conformance::random_image(Type::u8, image, conformance::Fill::wild, 1);
  const Buffer buffer(pixels, conformance::placements[0]);
  const FilterOptions options{.window = {.width = 3, .height = 9}};
  const std::vector<Worker> one = {{.threads = 1}};
  StripFilter strips(image, Type::u8, Type::f64, filter::Mean{}, options, {.workers = one, .memory = 90'000});
  EXPECT_LE(strips.memory_bytes(), 90'000u);
  EXPECT_GT(strips.strip_height(), 1);
  EXPECT_LT(strips.strip_height(), 200);
  EXPECT_EQ(strips.algorithm(), "walk");
  EXPECT_EQ(strips.output_shape().height, 200);
  int calls = 0;
  strips.run(reader_of(buffer.view()), [&](const WindowStrip&) { return ++calls < 2; });
  EXPECT_EQ(calls, 2);
  const auto refuse = [&](std::uint64_t memory) {
    StripFilter(image, Type::u8, Type::f64, filter::Mean{}, {.window = {.width = 3, .height = 90}},
                {.workers = one, .memory = memory});
  };
  try {
    refuse(20'000);
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_GT(error.bytes(), 20'000u);
    EXPECT_NO_THROW(refuse(error.bytes()));
  }
  StripFilter wraps(image, Type::u8, Type::u8, filter::Mean{},
                    {.window = {.width = 3, .height = 3, .edge = Edge::wrap}});
  EXPECT_THROW(wraps.begin([](const WindowStrip&) { return true; }), InvalidArgument);
  EXPECT_THROW(
      StripFilter(image, Type::u8, Type::u8, filter::Mean{}, options, {.workers = {{.backend = Backend::simt}}}),
      InvalidArgument);
  EXPECT_THROW(strips.run(reader_of(buffer.view()), {}), InvalidArgument);
}

}  // namespace
}  // namespace areal::piece_matrix
