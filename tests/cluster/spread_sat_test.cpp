// A table spread over strips of the CPU, each with a thread of its own: order, carries, every cut.
#include "pieces/spread/spread_sat.hpp"
#include <areal/error.hpp>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include "refusal.hpp"
#include "spread_cases.hpp"

namespace areal::spread_cases {
namespace {

const std::uint64_t seed = conformance::base_seed();
constexpr Border borders[] = {Border::zero, Border::none, Border::exclusive};

SpreadCase three_strips(Border border = Border::zero) {
  SpreadCase c;
  c.image = {50, 40}, c.border = border, c.seed = seed;
  c.spread = {.devices = workers(Backend::cpu, 3), .rows = {17, 1, 22}, .band_width = 9, .parts = 2};
  return c;
}

TEST(SpreadSat, TheChecksFindAWrongElement) {
  const SpreadCase c = three_strips();
  SpreadSat spread(c.image, c.types.input, c.options(), c.spread);
  SpreadMemory memory(c, spread);
  spread.execute(memory.pixel_views(), memory.table_views());
  const conformance::Expected expected = expected_of(c, memory.image);
  ASSERT_EQ(conformance::difference(expected, memory.whole(spread)), "");
  ASSERT_EQ(memory.broken(), "");
  auto* const element = static_cast<std::uint32_t*>(memory.table_views()[2].row(21)) + 50;
  ++*element;
  EXPECT_NE(conformance::difference(expected, memory.whole(spread)), "");
  --*element;
  const auto regions = [&] { return spread.region_sums(memory.const_table_views(), {{{3, 4, 40, 30}}}); };
  const auto right = regions();
  ++static_cast<std::uint32_t*>(memory.table_views()[2].row(15))[43];
  EXPECT_NE(regions(), right);
}

// Strips that do not wait for the row above: the first one stands still until the second is done.
TEST(SpreadSat, APlantedWrongOrderIsFound) {
  for (const Border border : borders) {
    SpreadCase c = three_strips(border);
    c.spread.devices = workers(Backend::cpu, 2), c.spread.rows = {18, 22};
    const auto state = spread_sat(c.image, c.types.input, c.options(), c.spread);
    SpreadSat shapes(c.image, c.types.input, c.options(), c.spread);
    SpreadMemory memory(c, shapes);
    const std::vector<SatArguments> strips = memory.arguments();
    const std::size_t last_part = state->work.cut.parts.size() - 1, last_band = state->work.cut.band_count() - 1;
    std::mutex mutex;
    std::condition_variable changed;
    bool second_is_done = false;
    pieces::SpreadHooks hooks;
    hooks.before = [&](std::size_t part, std::size_t band) {
      std::unique_lock lock(mutex);
      if (part == 0 && band == 0) changed.wait(lock, [&] { return second_is_done; });
    };
    hooks.after = [&](std::size_t part, std::size_t band) {
      const std::lock_guard lock(mutex);
      if (part == last_part && band == last_band) second_is_done = true, changed.notify_all();
    };
    hooks.in_order = false;
    state->execute(strips, {}, hooks);
    EXPECT_NE(conformance::difference(expected_of(c, memory.image), memory.whole(shapes)), "") << name_of(border);
    hooks = {};
    state->execute(strips, {}, hooks);
    EXPECT_EQ(conformance::difference(expected_of(c, memory.image), memory.whole(shapes)), "") << name_of(border);
  }
}

// A piece is computed after the pieces above it and to its left, whoever is slow.
TEST(SpreadSat, PiecesFollowThoseAboveAndToTheLeft) {
  const SpreadCase c = three_strips(Border::exclusive);
  const auto state = spread_sat(c.image, c.types.input, c.options(), c.spread);
  SpreadSat shapes(c.image, c.types.input, c.options(), c.spread);
  SpreadMemory memory(c, shapes);
  const std::vector<SatArguments> strips = memory.arguments();
  const std::size_t parts = state->work.cut.parts.size(), bands = state->work.cut.band_count();
  ASSERT_EQ(parts, 2U + 1 + 1 + 2);  // with the rows that belong to no table
  ASSERT_EQ(bands, 6U);
  for (std::uint64_t turn = 0; turn < 20; ++turn) {
    std::mutex mutex;
    std::vector<std::vector<bool>> done(parts, std::vector<bool>(bands, false));
    std::mt19937_64 random(seed + turn);
    pieces::SpreadHooks hooks;
    hooks.before = [&](std::size_t part, std::size_t band) {
      std::uint64_t pause = 0;
      {
        const std::lock_guard lock(mutex);
        EXPECT_TRUE(part == 0 || done[part - 1][band]) << part << " " << band << ", seed " << seed + turn;
        EXPECT_TRUE(band == 0 || done[part][band - 1]) << part << " " << band << ", seed " << seed + turn;
        EXPECT_FALSE(done[part][band]);
        pause = random() % 4;
      }
      if (pause == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    };
    hooks.after = [&](std::size_t part, std::size_t band) {
      const std::lock_guard lock(mutex);
      done[part][band] = true;
    };
    memory.poison(0x5C);
    state->execute(strips, {}, hooks);
    for (const auto& of_part : done) EXPECT_EQ(std::count(of_part.begin(), of_part.end(), true), 6);
    ASSERT_EQ(conformance::difference(expected_of(c, memory.image), memory.whole(shapes)), "") << seed + turn;
  }
}

TEST(SpreadSat, EveryTypePairAndBorder) {
  std::uint64_t number = seed;
  for (const TypePair types : type_pairs())
    for (const Border border : borders)
      for (int turn = 0; turn < turns(6); ++turn) {
        const SpreadCase c = random_case(types, border, Backend::cpu, {0}, ++number);
        ASSERT_EQ(fault_of(c), "") << describe(c);
      }
}

TEST(SpreadSat, FewRowsOrColumnsOrNone) {
  for (const Border border : borders)
    for (const Shape& image : {Shape{0, 0}, {0, 7}, {7, 0}, {1, 1}, {1, 9}, {9, 1}, {2, 2}, {64, 3}})
      for (const std::size_t devices : {1, 2, 5, 8}) {
        SpreadCase c;
        c.image = image, c.border = border, c.seed = seed;
        c.spread = {.devices = workers(Backend::cpu, devices), .band_width = 3, .parts = 2};
        EXPECT_EQ(fault_of(c), "") << describe(c) << ", devices " << devices;
      }
}

TEST(SpreadSat, EveryRowIsInOneStrip) {
  std::mt19937_64 random(seed);
  for (const Border border : borders)
    for (std::size_t devices = 1; devices <= 8; ++devices) {
      SpreadOptions options{.devices = workers(Backend::cpu, devices)};
      if (devices % 2 == 0) options.rows = random_rows(21, devices, random);
      const SpreadSat spread({13, 21}, Type::u8, {.border = border}, options);
      std::int64_t pixels = 0, rows = 0;
      for (const SpreadStrip& strip : spread.strips()) {
        EXPECT_EQ(strip.first, pixels);
        EXPECT_EQ(strip.table_row, rows);
        pixels += strip.pixels.height, rows += strip.table.height;
      }
      EXPECT_EQ(pixels, 21);
      EXPECT_EQ(rows, spread.table_shape().height);
    }
}

std::vector<std::vector<std::uint8_t>> bits_of(const SpreadCase& c) {
  SpreadSat spread(c.image, c.types.input, c.options(), c.spread);
  SpreadMemory memory(c, spread);
  spread.execute(memory.pixel_views(), memory.table_views());
  std::vector<std::vector<std::uint8_t>> bits;
  for (StripMemory& table : memory.tables) bits.push_back(table.fetched().bytes());
  return bits;
}

TEST(SpreadSat, FloatsHaveTheSameBitsForOneCut) {
  for (const char* pair : {"32f32f", "64f64f", "16f32f"}) {
    SpreadCase c;
    c.image = {600, 300}, c.types = type_pair(pair), c.seed = seed, c.border = Border::none;
    c.spread = {.devices = workers(Backend::cpu, 4), .rows = {100, 0, 150, 50}, .band_width = 128, .parts = 2};
    const auto first = bits_of(c);
    for (int turn = 0; turn < 4; ++turn) {
      for (Worker& worker : c.spread.devices) worker.threads = turn % 3;  // all, one, two
      EXPECT_TRUE(bits_of(c) == first) << pair << ", turn " << turn;
    }
  }
}

TEST(SpreadSat, InPlace) {
  SpreadCase c = three_strips(Border::none);
  c.types = type_pair("32f32f"), c.fill = Fill::exact;
  SpreadSat spread(c.image, c.types.input, c.options(), c.spread);
  SpreadMemory memory(c, spread);
  const auto expected = expected_of(c, memory.image);
  std::vector<View> views;
  for (StripMemory& strip : memory.pixels) views.push_back(strip.view());
  spread.execute(std::vector<ConstView>(views.begin(), views.end()), views);
  Values whole(c.types.table, c.image);
  for (std::size_t i = 0; i < views.size(); ++i) {
    const Values strip = conformance::values_of(ConstView(views[i]));
    std::copy(strip.real.begin(), strip.real.end(), whole.real.begin() + spread.strips()[i].first * c.image.width);
  }
  EXPECT_EQ(conformance::difference(expected, whole), "");
  View shifted = views[0];  // by a row
  shifted.data = shifted.row(1);
  EXPECT_NE(refusal([&] {
              spread.execute({ConstView(views[0]), views[1], views[2]}, {shifted, views[1], views[2]});
            }),
            "nothing was refused");
}

TEST(SpreadSat, WithoutDevicesOrRowsItChooses) {
  const SpreadSat spread({300, 200}, Type::u8);
  EXPECT_GE(spread.strips().size(), 1U);
  const SpreadSat one({5000, 400}, Type::u8, {}, {.devices = workers(Backend::cpu, 1)});
  EXPECT_EQ(one.bands(), 1);  // there is nobody to hand anything to
  const SpreadSat two({5000, 400}, Type::u8, {}, {.devices = workers(Backend::cpu, 2)});
  EXPECT_EQ(two.bands(), 5);
  EXPECT_EQ(two.band_width(), 1024);
  EXPECT_EQ(two.parts(), 1);
  const SpreadSat wide({65536, 1}, Type::u8, {}, {.devices = workers(Backend::cpu, 2), .rows = {0, 1}});
  EXPECT_EQ(wide.bands(), 1);
  EXPECT_FALSE(wide.strips()[1].direct);
}

TEST(SpreadSat, TheCutOfALargeImage) {
  const std::vector<pieces::SpreadRows> rows{{0, 32768}, {32768, 32768}};
  const auto cut = pieces::cut_spread({65536, 65536}, Border::none, rows, {.on_cuda = true});
  EXPECT_EQ(cut.parts.size(), 4U);
  EXPECT_EQ(cut.bands[1] % 256, 0);
  EXPECT_GE(cut.band_count(), 40U);
  EXPECT_LE(cut.band_count(), 64U);
  EXPECT_EQ(cut.bands.back(), 65536);
}

TEST(SpreadSat, AFailureEndsAllStripsAndTheNextRunIsRight) {
  const SpreadCase c = three_strips();
  const auto state = spread_sat(c.image, c.types.input, c.options(), c.spread);
  SpreadSat shapes(c.image, c.types.input, c.options(), c.spread);
  SpreadMemory memory(c, shapes);
  const std::vector<SatArguments> strips = memory.arguments();
  for (std::size_t part = 0; part < state->work.cut.parts.size(); ++part)
    for (const std::size_t band : {0, 3, 5}) {
      pieces::SpreadHooks hooks;
      hooks.before = [&](std::size_t p, std::size_t b) {
        if (p == part && b == band) throw DeviceError("planted", true);
      };
      try {
        state->execute(strips, {}, hooks);
        FAIL() << part << " " << band;
      } catch (const DeviceError& error) {
        EXPECT_STREQ(error.what(), "cpu:1: planted");
        EXPECT_TRUE(error.lost());
      }
    }
  memory.poison(0x11);
  state->execute(strips, {});
  EXPECT_EQ(conformance::difference(expected_of(c, memory.image), memory.whole(shapes)), "");
}

TEST(SpreadSat, MemoryThatDoesNotFitNamesTheDeviceAndTheBytes) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "its allocator ends the process";
#endif
  const SpreadSat spread({std::int64_t{1} << 22, std::int64_t{1} << 24}, Type::u8, {.border = Border::none},
                         {.devices = workers(Backend::cpu, 2), .band_width = 1 << 20});
  try {
    spread.allocate();
    FAIL() << "64 TiB fit";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.bytes(), std::uint64_t{1} << 48);  // 2^22 columns, 2^23 rows of 64 bits
    EXPECT_EQ(std::string(error.what()).rfind("cpu:1: ", 0), 0U) << error.what();
  }
}

TEST(SpreadSat, RefusesInOneSentence) {
  const auto made = [](const SatOptions& options, const SpreadOptions& spread, const Shape& image = {8, 6}) {
    return refusal([&] { SpreadSat(image, Type::u8, options, spread); });
  };
  const std::vector<Worker> two = workers(Backend::cpu, 2);
  EXPECT_EQ(made({}, {.devices = two, .rows = {6}}), "rows for 1 strips: there are 2 devices");
  EXPECT_EQ(made({}, {.devices = two, .rows = {4, 3}}), "rows[1] 3: 2 rows of the image of 6 are left");
  EXPECT_EQ(made({}, {.devices = two, .rows = {-1, 7}}), "rows[0] -1: 6 rows of the image of 6 are left");
  EXPECT_EQ(made({}, {.devices = two, .rows = {3, 2}}), "rows of all devices: they are 5, the image has 6");
  EXPECT_EQ(made({}, {.devices = two, .band_width = -1}), "band_width -1: it may be 0 (chosen) or more");
  EXPECT_EQ(made({}, {.devices = two, .parts = 65}), "parts 65: they may be 0 (chosen) to 64");
  EXPECT_EQ(made({}, {.devices = {{.backend = Backend::simt}}}).rfind("device simt: a table is spread over", 0), 0U);
  EXPECT_NE(made({.tilted = true}, {.devices = two}).find("no tilted table"), std::string::npos);
  EXPECT_NE(made({.reverse = true}, {.devices = two}).find("no reverse"), std::string::npos);
  EXPECT_NE(made({.algorithm = "serial"}, {.devices = two}).find("takes no carries"), std::string::npos);
  EXPECT_NE(made({.algorithm = "none"}, {.devices = two}).find("is not one of"), std::string::npos);
  EXPECT_EQ(made({}, {.devices = two}, {8, 6, 1, 2}), "image of batch 2: a table is spread of one image");
  EXPECT_EQ(made({}, {.devices = two}, {-8, 6}).rfind("image", 0), 0U);
  EXPECT_THROW(SpreadSat({8, 6}, Type::u8, {}, {.devices = {{.backend = Backend::cuda, .device = 4711}}}), Unavailable);

  SpreadSat spread({8, 6}, Type::u8, {.border = Border::none}, {.devices = two});
  Array pixels({8, 6}, Type::u8), table({8, 6}, Type::u32);
  const auto rows = [](Array& of, std::int64_t first, std::int64_t count) {
    return View(of.view().row(first), of.type(), {8, count});
  };
  const auto executed = [&](const std::vector<ConstView>& from, const std::vector<View>& to,
                            const std::vector<Stream>& streams = {}) {
    return refusal([&] { spread.execute(from, to, streams); });
  };
  const std::vector<ConstView> in{rows(pixels, 0, 3), rows(pixels, 3, 3)};
  const std::vector<View> out{rows(table, 0, 3), rows(table, 3, 3)};
  EXPECT_EQ(executed({in[0]}, out), "pixels: views of 1 strips, there are 2");
  EXPECT_EQ(executed(in, {out[0]}), "tables: views of 1 strips, there are 2");
  EXPECT_EQ(executed(in, out, {Stream::host()}), "streams: 1, there are 2 strips");
  EXPECT_EQ(executed(in, out, {Stream::host(), Stream::legacy_default()}), "streams: the CPU takes Stream::host()");
  EXPECT_EQ(executed(in, {out[0], out[0]}), "tables[0] and tables[1] share memory");
  EXPECT_NE(executed({in[0], ConstView(rows(pixels, 3, 2))}, out).find("pixels[1]"), std::string::npos);
  EXPECT_EQ(executed({in[0], in[1].in({MemoryPlace::cuda, 1})}, out), "pixels[1] does not lie in the memory of cpu:1");
  EXPECT_EQ(executed(in, out, {Stream::host(), Stream::host()}), "nothing was refused");
  const auto executed_strips = [&](SatArguments second) {
    return refusal([&] { spread.execute({SatArguments{.image = in[0], .sum = out[0]}, second}); });
  };
  EXPECT_EQ(refusal([&] { spread.execute({SatArguments{.image = in[0], .sum = out[0]}}); }),
            "strips: arguments of 1 strips, there are 2");
  EXPECT_EQ(executed_strips({.image = in[1], .sum = out[1]}), "nothing was refused");
  EXPECT_EQ(executed_strips({.image = in[1], .sum = out[1], .mask = in[1]}),
            "strips[1]: a view was given that the options do not ask for");
  EXPECT_EQ(executed_strips({.image = in[1], .sum = out[1], .carry = {.left = ConstView(out[0])}}),
            "strips[1]: a view was given that the options do not ask for");
  EXPECT_EQ(refusal([&] { spread.allocate(SpreadTable::squares); }), "which: the options ask for no squares");
  EXPECT_EQ(refusal([&] { spread.allocate(SpreadTable::count); }), "which: the options ask for no counts");

  const std::vector<ConstView> tables(out.begin(), out.end());
  const auto asked = [&](const Region& region) { return refusal([&] { spread.region_sums(tables, {{region}}); }); };
  EXPECT_EQ(asked({0, 0, 9, 1}), "region 0 (x 0, y 0, width 9, height 1) reaches outside the image of 8x6");
  EXPECT_EQ(asked({1, 5, 1, -1}), "region 0 (x 1, y 5, width 1, height -1): an extent may not be negative");
  EXPECT_NE(refusal([&] {
              spread.region_sums<std::int64_t>(tables, {{0, 0, 1, 1}});
            }).find("std::uint64_t"),
            std::string::npos);
}

}  // namespace
}  // namespace areal::spread_cases
