// Every engine that filters images in parts x options x pixel types x cuts, against FilterPlan over the whole image,
// which filter_*_test compare with the definition. See README.md.
#include <gtest/gtest.h>
#include <array>
#include <cstring>
#include "api/filter/filter_plan.hpp"
#include "piece_matrix/filters_engines.hpp"
#include "piece_matrix/matrix.hpp"
#include "pieces/core/filter_work.hpp"
#include "pieces/core/grid.hpp"

namespace areal::piece_matrix {
namespace {

class PiecesFilters : public testing::TestWithParam<FiltersEngine> {};

TEST_P(PiecesFilters, HaveTheBitsOfTheWhole) {
  Refused refused = Refused::of_repository(GetParam().name);
  Faults faults;
  const auto all =
      combinations(std::span<const FiltersOption>(filters_options),
                   {{"values", "nan"}, {"filter", "filter wolf"}, {"filter", "guide"}, {"filter wolf", "guide"}});
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
// is. Means of bytes, walks, blocks of floats and extremes each have rows of their own. Anchors take turns.
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
  std::int64_t number = 0;  // of the strip, and of the window, the edge and the kind
  for (const Kind& kind : kinds)
    for (std::int64_t edge = 0; edge <= static_cast<std::int64_t>(Edge::constant); ++edge)
      for (const std::int64_t strip : {1, 2, 3, 7, 11})
        for (const std::int64_t height : {1, 2, 3, 4, 5, 8, 9, 10, 11, 19, 20, 21, 23}) {
          const std::array anchors{std::int64_t{-1}, std::int64_t{0}, height - 1};
          const std::int64_t turn = number++;
          if (extent() == Extent::few && (turn / 13 + turn % 13) % 5 != 0) continue;
          for (std::int64_t a = 0; a < 3; ++a) {
            if (extent() != Extent::all && a != (turn / 13 + turn % 13 + turn / 65) % 3) continue;
            const std::int64_t anchor = anchors[static_cast<std::size_t>(a)];
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
}

// The same of filters that see more than a window, or sort and count it: every structure of theirs, and every type.
TEST(StripFilter, EveryEdgeOfRanksGuidesAndGaussians) {
  Refused none = Refused::of_repository("StripFilter");
  struct Kind {
    Type in, out;
    Filter filter;
    std::int64_t width = 5, height = 5, guide = 0;
    Type guide_type = Type::u8;
  };
  std::vector<Kind> kinds = {{Type::u8, Type::u8, filter::Percentile{}, 3, 3},  // by networks
                             {Type::f32, Type::f32, filter::Percentile{}},
                             {Type::u8, Type::u8, filter::Equalize{}, 4, 6},
                             {Type::u8, Type::f32, filter::Entropy{}},
                             {Type::u16, Type::f64, filter::Entropy{}, 4, 6},
                             {Type::u8, Type::u8, filter::Guided{.eps = 20}},
                             {Type::u8, Type::f32, filter::Guided{.eps = 20}, 4, 6, 3},
                             {Type::u16, Type::u16, filter::Guided{.eps = 900}, 3, 8, 1, Type::f32},
                             {Type::f32, Type::f32, filter::Guided{.eps = 0.1}, 4, 7},
                             {Type::f32, Type::f32, filter::Guided{.eps = 0.1}, 3, 1},
                             {Type::u16, Type::f32, filter::Gaussian{0, 2}, 1, 1},
                             {Type::f64, Type::f64, filter::Gaussian{2, 0}, 1, 1},
                             {Type::u8, Type::f32, filter::Gaussian{2, 2.5, 4, 3}, 1, 1},
                             {Type::f32, Type::f32, filter::Gaussian{1, 4, 4, 5}, 1, 1}};
  for (const Type out : {Type::u8, Type::f32}) kinds.push_back({Type::u8, out, filter::Bilateral{30}, 4, 6});
  for (const Type type : {Type::u8, Type::u16})
    for (const Filter& filter : {Filter(filter::Otsu{}), Filter(filter::Modal{})})
      kinds.push_back({type, type, filter, 4, 6});
  for (const Type type : pixel_types) {
    kinds.push_back({type, type, filter::Percentile{30}, 4, 6});
    if (size_of(type) < 8 || is_float(type)) kinds.push_back({type, Type::f32, filter::Gaussian{1.2, 1.2}, 1, 1});
  }
  int number = 0;
  for (const Kind& kind : kinds)
    for (std::int64_t edge = 0; edge <= static_cast<std::int64_t>(Edge::constant); ++edge)
      for (const std::int64_t anchor : {std::int64_t{-1}, std::int64_t{0}, kind.height - 1}) {
        if (anchor >= 0 && std::holds_alternative<filter::Gaussian>(kind.filter)) continue;
        if (edge == static_cast<std::int64_t>(Edge::valid) && std::holds_alternative<filter::Guided>(kind.filter))
          continue;  // which they refuse
        for (const std::int64_t strip : {1, 2, 7, 13, 29}) {
          FiltersQuestion q = filters_question(kind.in, {"strips", 9, 29, 9, strip}, {});
          if (number++ % 3 == 1) q.image.channels = 2;
          if (number % 7 == 1) q.image.layout = Layout::planar;
          q.output = kind.out, q.filter = kind.filter;
          q.options.window = {.width = kind.width,
                              .height = kind.height,
                              .anchor_y = anchor,
                              .edge = static_cast<Edge>(edge),
                              .value = 3};
          q.options.guide = kind.guide;
          if (kind.guide > 0) q.options.guide_type = kind.guide_type;
          for (const FiltersWay& way : filters_engines()[0].ways) {
            if (q.options.window.edge == Edge::wrap && way.compute != strip_filter<Way::run>) continue;
            const int turn = number + static_cast<int>(strip);
            if (turn % (way.compute == strip_filter<Way::run> ? 1 : 3) != 0) continue;
            if (extent() == Extent::few && turn % 9 != 0) continue;
            ASSERT_EQ(fault(way, q, none), "")
                << way.name << ", filter " << kind.filter.index() << ", " << name_of(kind.in) << ", edge " << edge
                << ", strips of " << strip << ", windows of " << kind.width << "x" << kind.height << " at " << anchor;
          }
        }
      }
}

// Parts in memory that ends where their halo does: the outermost rows of the halo count, and those beyond do not.
TEST(StripFilter, HalosHaveTheRowsThatCount) {
  constexpr std::int64_t width = 9, height = 40;
  const Values pixels = conformance::random_image(Type::f32, {width, height}, conformance::Fill::exact, 5);
  std::vector<float> image;
  for (std::size_t i = 0; i < pixels.size(); ++i) image.push_back(static_cast<float>(pixels.number(i)));
  struct Kind {
    Filter filter;
    std::int64_t rows;
  };
  const Kind kinds[] = {{filter::Mean{}, 6},
                        {filter::Guided{.eps = 0.1}, 5},
                        {filter::Guided{.eps = 0.1}, 4},
                        {filter::Gaussian{1, 1.5}, 1},
                        {filter::Gaussian{1, 2, 4, 3}, 1}};
  int parts_of_all = 0;
  for (const Kind& kind : kinds)
    for (std::int64_t edge = 0; edge <= static_cast<std::int64_t>(Edge::constant); ++edge)
      for (const std::int64_t anchor : {std::int64_t{-1}, std::int64_t{0}, kind.rows - 1}) {
        const bool gaussian = std::holds_alternative<filter::Gaussian>(kind.filter);
        const FilterOptions options{.window = {.width = gaussian ? 1 : 3,
                                               .height = kind.rows,
                                               .anchor_y = gaussian ? -1 : anchor,
                                               .edge = static_cast<Edge>(edge),
                                               .value = 3}};
        if (options.window.edge == Edge::valid && std::holds_alternative<filter::Guided>(kind.filter)) continue;
        const pieces::FilterWork work({width, height}, Type::f32, Type::f32, kind.filter, options, {.threads = 1});
        const FilterPlan& plan = work.whole();
        const Shape shape = plan.out_shape();
        std::vector<float> whole(static_cast<std::size_t>(shape.width * shape.height));
        Workspace workspace(plan);
        plan.execute({ConstView(image.data(), Type::f32, {width, height}), View(whole.data(), Type::f32, shape)},
                     workspace);
        const pieces::Halo& halo = work.form().halo;
        ASSERT_GT(halo.rows(), 0);
        ASSERT_FALSE(halo.is_whole);
        const pieces::RowGrid grid({width, height}, 1, halo);
        const int spare = options.window.edge == Edge::symmetric;  // which shows the row at the edge again
        bool above_counts = false, below_counts = false;
        for (std::int64_t k = 0; k < grid.parts(); ++k, ++parts_of_all) {
          const pieces::Part part = grid.part(k);
          const auto with = [&](std::int64_t spoiled) {  // a row of its inputs
            std::vector<float> rows, out(static_cast<std::size_t>(shape.width * part.pixels.height));
            for (std::int64_t y = part.first_row(); y < part.first_row() + part.rows(); ++y) {
              const auto from = image.begin() + (y + height) % height * width;
              rows.insert(rows.end(), from, from + width);
            }
            for (std::int64_t x = 0; x < width && spoiled >= 0; ++x)
              rows[static_cast<std::size_t>(spoiled * width + x)] += 1000;
            plan.state().run_rows({ConstView(rows.data(), Type::f32, {width, part.rows()}),
                                   View(out.data(), Type::f32, {shape.width, part.pixels.height})},
                                  {part.first_row(), part.pixels.y, part.end()}, workspace.state()->memory);
            return std::memcmp(out.data(), whole.data() + part.pixels.y * shape.width, out.size() * 4) == 0;
          };
          ASSERT_TRUE(with(-1)) << "filter " << kind.filter.index() << ", edge " << edge << ", anchor " << anchor
                                << ", part " << k;
          above_counts |= part.above == halo.above && (!with(0) || (spare > 0 && !with(1)));
          below_counts |= part.below == halo.below && (!with(part.rows() - 1) || (spare > 0 && !with(part.rows() - 2)));
        }
        EXPECT_TRUE(halo.above == 0 || above_counts) << kind.filter.index() << " " << edge << " " << anchor;
        EXPECT_TRUE(halo.below == 0 || below_counts) << kind.filter.index() << " " << edge << " " << anchor;
      }
  EXPECT_GT(parts_of_all, 1000);
}

// Guides come with the image, and are refused as masks are.
TEST(StripFilter, GuidesAreASecondInput) {
  const Shape image{9, 20};
  const Values pixels = conformance::random_image(Type::u8, image, conformance::Fill::wild, 1);
  const Buffer buffer(pixels, conformance::placements[0]);
  const FilterOptions options{.window = {.width = 3, .height = 3}, .guide = 1};
  StripFilter strips(image, Type::u8, Type::u8, filter::Guided{.eps = 9}, options);
  const WindowStripSink sink = [](const WindowStrip&) { return true; };
  const auto sentence_of = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(sentence_of([&] { strips.run(reader_of(buffer.view()), sink); }),
            "read_guide is missing, and the options ask for it");
  EXPECT_EQ(sentence_of([&] { strips.run(reader_of(buffer.view()), sink, reader_of(buffer.view())); }), "");
  strips.begin(sink);
  EXPECT_NE(sentence_of([&] { strips.push(0, 0, buffer.view()); }).find("guide"), std::string::npos);
  EXPECT_TRUE(strips.push(0, 0, buffer.view(), buffer.view()));
  strips.finish();
  EXPECT_EQ(sentence_of([&] {
              StripFilter(image, Type::u16, Type::u16, filter::Equalize{}, {.window = {.width = 3, .height = 3}});
            }),
            "this filter takes whole images: equalize of 16u has as many bins as the largest pixel of the whole image "
            "needs");
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
