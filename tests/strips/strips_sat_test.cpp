// Tables and tensors by strips, against the definition: every pair of types, border, height of strips and way in.
#include <areal/error.hpp>
#include "strip_cases.hpp"

namespace areal::strip_cases {
namespace {

const std::vector<Worker> cpu{{.backend = Backend::cpu, .threads = 2}};
constexpr Border borders[] = {Border::zero, Border::none, Border::exclusive};

TEST(StripSat, TheCheckCanFail) {
  const SatCase of({40, 30}, "8u32u", Border::none);
  Tables tables = tables_of(of, {.workers = cpu, .height = 7}, Way::read);
  ASSERT_EQ(tables.fault(of), "");
  tables.sum.values().integer[tables.sum.values().at(3, 20)] ^= 1;
  EXPECT_EQ(tables.fault(of).rfind("element (x 3, y 20", 0), 0u) << tables.fault(of);
  StripSat strips = of.strips({.workers = cpu, .height = 7});
  for (const std::int64_t lost : {0, 14, 28}) {
    Tables some(strips, false);
    const PieceSink all = some.sink();
    strips.run(reader_of(of.image), [&](const Piece& strip) { return strip.y == lost || all(strip); });
    EXPECT_NE(some.fault(of), "") << lost;
  }
  Tables repeated(strips, false);
  const PieceSink sink = repeated.sink();
  strips.run(reader_of(of.image), [&](const Piece& strip) { return sink(strip) && sink(strip); });
  EXPECT_NE(repeated.fault(of), "");
}

TEST(StripSat, EveryPairOfTypesAndBorder) {
  for (const TypePair types : type_pairs())
    for (const Border border : borders) {
      SatCase of({61, 83}, name_of(types).c_str(), border);
      if (types.input != Type::u64 && types.input != Type::s64) of.with_squares();
      EXPECT_EQ(sat_fault(of, {.workers = cpu, .height = 19}, Way::read), "")
          << name_of(types) << ", " << name_of(border);
    }
}

TEST(StripSat, EveryHeightAndWay) {
  for (const std::int64_t height : {1, 2, 7, 31, 64, 101, 1000})
    for (const Way way : {Way::read, Way::strips, Way::tiles}) {
      const SatCase of({77, 101}, "8u32u", borders[height % 3]);
      EXPECT_EQ(sat_fault(of, {.workers = cpu, .height = height, .pushed_width = 31, .pushed_height = 17}, way), "")
          << height;
    }
}

TEST(StripSat, ImagesOfFewRowsOrColumnsOrOfNone) {
  for (const Border border : borders)
    for (const Shape& shape : {Shape{0, 0}, {0, 4}, {5, 0}, {1, 1}, {1, 300}, {300, 1}, {2, 2}, {3, 65}})
      for (const Way way : {Way::read, Way::strips, Way::tiles})
        EXPECT_EQ(sat_fault(SatCase(shape, "8u32u", border).with_squares(),
                            {.workers = cpu, .height = 2, .pushed_width = 2, .pushed_height = 3}, way),
                  "")
            << shape.width << "x" << shape.height << ", " << name_of(border) << ", way " << static_cast<int>(way);
}

TEST(StripSat, MasksChannelsAndLayouts) { expect_sat_cases(cpu); }

TEST(StripSat, TablesThatWrap) {
  const Shape shape{300, 700};
  const SatCase of(shape, "32u32u", Border::zero, Fill::most);
  EXPECT_EQ(sat_fault(of, {.workers = cpu, .height = 50}, Way::read), "");
}

TEST(StripSat, FloatsHaveTheSameBitsHoweverTheImageComes) {
  const SatCase of({231, 300}, "32f32f", Border::zero);
  const PieceOptions one{.workers = {{.backend = Backend::cpu, .threads = 1}}, .height = 48};
  const PieceOptions all{.workers = {{.backend = Backend::cpu}}, .height = 48, .pushed_width = 64, .pushed_height = 50};
  Values first = tables_of(of, one, Way::read).sum.values();
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    for (const Way way : {Way::read, Way::strips, Way::tiles})
      EXPECT_TRUE(tables_of(of, all, way, seed).sum.values() == first) << static_cast<int>(way);
  first.real[first.at(100, 100)] *= 1 + 0x1p-23L;
  EXPECT_FALSE(tables_of(of, all, Way::read).sum.values() == first);  // it can fail
}

TEST(StripSat, DefaultTypesAreThoseOfTheWholeImage) {
  const StripSat strips({5000, 5000}, Type::u8, {}, {.workers = cpu, .height = 10});
  EXPECT_EQ(name_of(strips.types()), "8u64u");
  EXPECT_EQ(strips.table_shape(), (Shape{5001, 5001, 1, 1, strips.table_shape().layout}));
}

TEST(StripSat, HundredGigapixelsArePlannedInSixtyFourMebibytes) {
  const Shape shape{316228, 316228};
  const StripSat strips(shape, Type::u8, {.squares = Squares::u64}, {.workers = cpu, .memory = 64 << 20});
  EXPECT_LE(strips.memory_bytes(), std::uint64_t{64} << 20);
  EXPECT_GE(strips.strip_height(), 2);
  EXPECT_EQ(StripSat(shape, Type::u8, {.squares = Squares::u64}, {.workers = cpu}).strip_height(), 8);
  const StripSat wide({std::int64_t{1} << 33, 5}, Type::u8, {}, {.workers = cpu});
  EXPECT_EQ(wide.strip_height(), 5);
}

TEST(StripHistogram, EveryBorderHeightAndGroup) {
  for (const Border border : borders)
    for (const std::int64_t height : {1, 13, 64, 500})
      for (const std::int64_t group : {0, 1, 3, 16})
        EXPECT_EQ(tensor_fault({53, 70}, 16, border, {.workers = cpu, .height = height}, group), "")
            << name_of(border) << ", height " << height << ", groups of " << group;
  for (const Shape& shape : {Shape{0, 0}, {0, 4}, {5, 0}, {1, 1}, {1, 100}, {100, 1}})
    for (const Border border : borders)
      EXPECT_EQ(tensor_fault(shape, 4, border, {.workers = cpu, .height = 3}), "")
          << shape.width << "x" << shape.height << ", " << name_of(border);
}

TEST(StripHistogram, ImagesThatArePushed) {
  for (const Border border : {Border::zero, Border::none, Border::exclusive})
    for (const Way way : {Way::strips, Way::tiles})
      for (const std::int64_t group : {0, 7, 16}) {
        const PieceOptions how{.workers = cpu, .height = 11, .pushed_width = 20, .pushed_height = 16};
        EXPECT_EQ(tensor_fault({53, 70}, 16, border, how, group, way), "")
            << name_of(border) << ", " << group << " bins, way " << static_cast<int>(way);
      }
  for (const Shape& shape : {Shape{0, 0}, {0, 4}, {5, 0}, {1, 1}, {1, 300}, {300, 1}})
    for (const Way way : {Way::strips, Way::tiles}) {
      const PieceOptions how{.workers = cpu, .height = 3, .pushed_width = 7, .pushed_height = 5};
      EXPECT_EQ(tensor_fault(shape, 4, Border::zero, how, 3, way), "") << shape.width << "x" << shape.height;
    }
}

TEST(StripHistogram, GroupsFollowFromMemory) {
  const Shape shape{500, 300};
  const Binning binning = Binning::uniform(64, 0, 256);
  const StripHistogram all(shape, Type::u8, binning, {}, {.workers = cpu});
  EXPECT_EQ(all.groups(), 1);
  const PieceOptions little{.workers = cpu, .memory = 1500000};
  const StripHistogram some(shape, Type::u8, binning, {}, little);
  EXPECT_GT(some.groups(), 1);
  EXPECT_GE(some.strip_height(), 16);
  EXPECT_LE(some.memory_bytes(), little.memory);
  EXPECT_EQ(tensor_fault(shape, 64, Border::zero, little), "");
  int reads_of_row_0 = 0;
  some.run(
      [&](std::int64_t, std::int64_t y, const View& block) {
        reads_of_row_0 += y == 0;
        std::memset(block.data, 7, static_cast<std::size_t>(block.shape.width * block.shape.height));
        return block;
      },
      [](const Piece&) { return true; });
  EXPECT_EQ(reads_of_row_0, some.groups());
  // A rule without slices is not cut.
  EXPECT_EQ(StripHistogram(shape, Type::u8, Binning::labels(64, 10), {}, {.workers = cpu, .memory = 3000000}).groups(),
            1);
}

TEST(StripHistogram, Weights) {
  const Shape shape{40, 50};
  const Values image = conformance::random_image(Type::u8, shape, Fill::wild, 3);
  const Values weights = conformance::random_image(Type::f32, shape, Fill::exact, 4);
  StripHistogram strips(shape, Type::u8, Binning::uniform(2, 0, 256),
                        {.border = Border::zero, .counter = Type::f64, .weighted = true},
                        {.workers = cpu, .height = 9});
  Gathered tensor(Type::f64, strips.tensor_shape()), pushed = tensor;
  strips.run(
      reader_of(image), [&](const Piece& strip) { return tensor.put(strip.values, strip.y), true; },
      reader_of(weights));
  strips.begin([&](const Piece& strip) { return pushed.put(strip.values, strip.y), true; });
  const auto push = [&](std::int64_t y, std::int64_t rows) {
    const conformance::Buffer block(part_of(image, 0, y, 40, rows), conformance::placements[0]);
    const conformance::Buffer of(part_of(weights, 0, y, 40, rows), conformance::placements[0]);
    EXPECT_NE(refusal([&] { strips.push(0, y, block.view()); }).find("weights"), std::string::npos);
    EXPECT_TRUE(strips.push(0, y, block.view(), of.view()));
  };
  push(0, 33), push(33, 17);
  EXPECT_FALSE(strips.finish());
  Values split(Type::f64, {shape.width, shape.height, 2, 1, Layout::planar});
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      split.real[split.at(x, y, image.integer[image.at(x, y)] >= 128)] = weights.real[weights.at(x, y)];
  const conformance::Expected right = conformance::sums_of(conformance::terms_of(split), Type::f64, Border::zero);
  EXPECT_EQ(tensor.fault(right), "");
  EXPECT_EQ(pushed.fault(right), "");
}

}  // namespace
}  // namespace areal::strip_cases
