// Options that only our own rows take: squares, tilted, mask, ignore_nan, volume, batch, channels; and that the papers'
// rows refuse each of them.
#include <gtest/gtest.h>
#include "conformance/pairwise.hpp"
#include "conformance/sat_case.hpp"
#include "conformance/shapes.hpp"

namespace areal::conformance {
namespace {

constexpr Border borders[] = {Border::zero, Border::none, Border::exclusive};

SatCase case_of(TypePair types, std::int64_t width, std::int64_t height, Border border = Border::zero) {
  SatCase c;
  c.types = types;
  c.image.width = width;
  c.image.height = height;
  c.options.border = border;
  c.in = placements[4];
  c.out = placements[3];
  c.seed = base_seed() + static_cast<std::uint64_t>(width * 31 + height);
  return c;
}
void expect_kept(SatCase c) {
  for (const std::string& id : option_sat_ids()) {
    c.options.algorithm = id;
    EXPECT_EQ(fault_of(c), "") << describe(c);
  }
}

TEST(Options, SquaresOfEveryInput) {
  for (const TypePair types : type_pairs())
    for (const Type type : {Type::u32, Type::u64, Type::f64, Type::f32})
      for (const Border border : borders) {
        SatCase c = case_of(types, 133, 70, border);
        c.options.squares = type;
        if (has_squares(types.input, type))
          expect_kept(c);
        else
          EXPECT_THROW(plan_of(c.image, types, c.options), InvalidArgument) << describe(c);
      }
}

TEST(Options, SquaresOverSeveralTiles) {
  int turn = 0;
  for (const char* types : {"8u32u", "8u32f", "16s64s", "32s32s", "16f32f", "32f64f"}) {
    SatCase c = case_of(type_pair(types), 1100, 200, borders[turn++ % 3]);
    c.options.squares = Type::f64;
    c.options.threads = 3;
    expect_kept(c);
  }
}

TEST(TiltedOracle, EqualsTheDefinition) {
  const Values image = random_image(Type::s16, Shape{11, 9}, Fill::wild, 7);
  const Expected table = tilted_of(terms_of(image), Type::s32);
  for (std::int64_t Y = 0; Y <= 9; ++Y)
    for (std::int64_t X = 0; X <= 11; ++X) {
      std::uint64_t sum = 0;
      for (std::int64_t y = 0; y < 9; ++y)
        for (std::int64_t x = 0; x < 11; ++x)
          if (y < Y && std::abs(x - X + 1) <= Y - y - 1) sum += image.integer[image.at(x, y)];
      EXPECT_EQ(table.integer[static_cast<std::size_t>(Y * 12 + X)], sum) << X << ", " << Y;
    }
}

TEST(Options, TiltedOfEveryLane) {
  for (const TypePair types : type_pairs())
    for (const auto& [width, height] :
         {std::pair{0, 0}, {0, 5}, {5, 0}, {1, 1}, {1, 9}, {9, 1}, {2, 2}, {17, 40}, {64, 33}, {65, 20}}) {
      SatCase c = case_of(types, width, height, borders[(width + height) % 3]);
      c.options.tilted = true;
      expect_kept(c);
    }
}

TEST(Options, TiltedOverSeveralTiles) {
  for (const char* types : {"8u32s", "8u64u", "32s64s"})
    for (const auto& [width, height] : {std::pair{1100, 150}, {130, 600}, {513, 65}}) {
      SatCase c = case_of(type_pair(types), width, height);
      c.options.tilted = true;
      c.options.threads = 3;
      expect_kept(c);
    }
  for (const char* types : {"32f32f", "32f64f"}) {
    SatCase c = case_of(type_pair(types), 600, 70);
    c.options.tilted = true;
    expect_kept(c);
  }
}

TEST(Options, MaskAndCount) {
  for (const TypePair types : type_pairs())
    for (const Border border : borders) {
      SatCase c = case_of(types, 201, 66, border);
      c.options.mask = true;
      expect_kept(c);
      c.options.squares = Type::f64;
      expect_kept(c);
    }
}

TEST(Options, IgnoreNanAndCount) {
  for (const TypePair types : type_pairs()) {
    if (!is_float(types.input)) {
      SatCase c = case_of(types, 5, 5);
      c.options.ignore_nan = true;
      EXPECT_THROW(plan_of(c.image, types, c.options), InvalidArgument) << describe(c);
      continue;
    }
    for (const Border border : borders)
      for (const bool mask : {false, true}) {
        SatCase c = case_of(types, 201, 66, border);
        c.fill = Fill::holes;
        c.options.ignore_nan = true;
        c.options.mask = mask;
        expect_kept(c);
        c.options.squares = Type::f64;
        c.options.tilted = true;
        expect_kept(c);
      }
  }
}

TEST(Options, AMaskOverNanLeavesItOut) {
  // Even without ignore_nan, a 0 in the mask excludes a NaN: the mask decides.
  SatCase c = case_of(type_pair("32f64f"), 3, 2);
  c.options.mask = true;
  const SatPlan plan = plan_of(c.image, c.types, c.options);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  float image[] = {1, nan, 4, 8, 16, nan};
  std::uint8_t mask[] = {1, 0, 2, 255, 1, 0};
  double sum[12];
  std::uint32_t count[12];
  Workspace workspace(plan);
  plan.execute({.image = ConstView(image, 3, 2),
                .sum = View(sum, 4, 3),
                .mask = ConstView(mask, 3, 2),
                .count = View(count, 4, 3)},
               workspace);
  EXPECT_EQ((std::vector<double>(sum, sum + 12)), (std::vector<double>{0, 0, 0, 0, 0, 1, 1, 5, 0, 9, 25, 29}));
  EXPECT_EQ((std::vector<std::uint32_t>(count, count + 12)),
            (std::vector<std::uint32_t>{0, 0, 0, 0, 0, 1, 1, 2, 0, 2, 3, 4}));
}

TEST(Options, Volume) {
  for (const TypePair types : type_pairs())
    for (const Border border : borders)
      for (const std::int64_t depth : {0, 1, 2, 7}) {
        SatCase c = case_of(types, 37, 19, border);
        c.image.batch = depth;
        c.options.volume = true;
        expect_kept(c);
      }
  SatCase c = case_of(type_pair("8u32u"), 700, 130);
  c.image.batch = 5;
  c.options.volume = c.options.mask = true;
  c.options.squares = Type::u64;
  c.options.threads = 3;
  expect_kept(c);
}

TEST(Options, Batch) {
  for (const TypePair types : type_pairs())
    for (const Border border : borders)
      for (const std::int64_t batch : {0, 2, 5}) {
        SatCase c = case_of(types, 70, 33, border);
        c.image.batch = batch;
        expect_kept(c);
      }
}

TEST(Options, ChannelsInEveryLayout) {
  for (const TypePair types : type_pairs())
    for (const std::int64_t channels : {1, 2, 3, 4})
      for (const Layout in : {Layout::interleaved, Layout::planar})
        for (const Layout out : {Layout::interleaved, Layout::planar}) {
          SatCase c = case_of(types, 83, 21, borders[channels % 3]);
          c.image.channels = channels;
          c.image.layout = in;
          c.options.tables = out;
          expect_kept(c);
        }
}

TEST(Options, ChannelsOverSeveralTiles) {
  for (const char* types : {"8u32u", "16u64u", "32f64f"})
    for (const std::int64_t channels : {3, 4})
      for (const Layout out : {Layout::interleaved, Layout::planar}) {
        SatCase c = case_of(type_pair(types), 600, 140);
        c.image.channels = channels;
        c.options.tables = out;
        c.options.threads = 2;
        expect_kept(c);
      }
}

TEST(Options, ThePapersRowsRefuseEach) {
  const auto refused = [](const char* what, auto change) {
    for (const Algorithm& row : algorithms()) {
      if (row.family != "sat" || !row.cpu || !row.plain_only) continue;
      SatCase c = case_of(type_pair("32f64f"), 8, 8);
      c.options.algorithm = row.id;
      EXPECT_NO_THROW(plan_of(c.image, c.types, c.options)) << row.id;
      change(c);
      try {
        const SatPlan plan = plan_of(c.image, c.types, c.options);
        ADD_FAILURE() << row.id << " took " << what;
      } catch (const InvalidArgument& error) {
        EXPECT_NE(std::string(error.what()).find(row.id), std::string::npos) << error.what();
      }
    }
  };
  refused("squares", [](SatCase& c) { c.options.squares = Type::f64; });
  refused("tilted", [](SatCase& c) { c.options.tilted = true; });
  refused("mask", [](SatCase& c) { c.options.mask = true; });
  refused("ignore_nan", [](SatCase& c) { c.options.ignore_nan = true; });
  refused("volume", [](SatCase& c) { c.options.volume = true; });
  refused("two channels", [](SatCase& c) { c.image.channels = 2; });
  refused("a batch", [](SatCase& c) { c.image.batch = 2; });
}

}  // namespace
}  // namespace areal::conformance
