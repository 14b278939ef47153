// The schedules of `tiles`: work in order, whose bodies wait for smaller ones; tables by bands and by walks against
// plain loops, and floats whose bits no schedule changes.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <areal/error.hpp>
#include <chrono>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include "cpu/cancellation.hpp"
#include "cpu/in_order.hpp"
#include "cpu/sat/tiles.hpp"

namespace areal::cpu {
namespace {

constexpr int thread_counts[] = {0, 1, 2, 3, 8};

// Each adds to what the one before has left, in plain memory: a hand-over that came too early gives a wrong number
// here, and a race in ThreadSanitizer. "" or the error.
std::string fault_of_chain(int threads, std::int64_t n, std::int64_t forgotten = -1) {
  std::vector<Reached> reached(1);
  std::vector<int> times(static_cast<std::size_t>(n));
  std::uint64_t sum = 0, wanted = 0;
  for (std::int64_t i = 0; i < n; ++i) wanted = 3 * wanted + static_cast<std::uint64_t>(i);
  in_order(threads, n, [&](std::int64_t i, const Turn& turn) {
    if (!turn.wait(reached[0], i)) return;
    ++times[static_cast<std::size_t>(i)];
    if (i != forgotten) sum = 3 * sum + static_cast<std::uint64_t>(i);
    reached[0].steps.store(i + 1, std::memory_order_release);
  });
  if (std::count(times.begin(), times.end(), 1) != static_cast<std::ptrdiff_t>(n)) return "not each once";
  return sum == wanted ? "" : "sum " + std::to_string(sum) + ", not " + std::to_string(wanted);
}

TEST(InOrder, EachOnceAndAfterTheSmallerOnes) {
  EXPECT_NE(fault_of_chain(1, 9, 5), "");
  for (const int threads : thread_counts)
    for (const std::int64_t n : {0, 1, 2, 3, 17, 5000})
      EXPECT_EQ(fault_of_chain(threads, n), "") << threads << ", " << n;
}

TEST(InOrder, ManyCallersAtOnce) {
  std::vector<std::thread> callers;
  std::vector<std::string> faults(6);
  for (std::string& fault : faults)
    callers.emplace_back([&fault] {
      for (int round = 0; round < 20 && fault.empty(); ++round) fault = fault_of_chain(2, 300);
    });
  for (std::thread& caller : callers) caller.join();
  for (const std::string& fault : faults) EXPECT_EQ(fault, "");
}

// Nobody sets what the others wait for: they end because one of them throws.
TEST(InOrder, AnExceptionEndsThoseThatWait) {
  for (const int threads : thread_counts) {
    Reached never;
    std::atomic<int> ended{0}, begun{0};
    EXPECT_THROW(in_order(threads, 100,
                          [&](std::int64_t i, const Turn& turn) {
                            ++begun;
                            if (i == 0) {
                              std::this_thread::sleep_for(std::chrono::milliseconds(5));
                              throw std::runtime_error("0");
                            }
                            ended += !turn.wait(never, 1);
                          }),
                 std::runtime_error);
    EXPECT_EQ(begun, ended + 1);
    EXPECT_LE(begun, std::max(slots(threads), 1));
    EXPECT_EQ(fault_of_chain(threads, 100), "");
  }
}

TEST(InOrder, CancellationEndsThoseThatWait) {
  for (const int threads : thread_counts) {
    Reached never;
    std::atomic<int> asked{0}, went_on{0};
    const auto caller = std::this_thread::get_id();
    std::atomic<bool> elsewhere{false};
    Cancellation cancellation([&] {
      if (std::this_thread::get_id() != caller) elsewhere = true;
      return ++asked < 2;
    });
    EXPECT_THROW(in_order(threads, 1000000,
                          [&](std::int64_t i, const Turn& turn) {
                            if (i % 2 == 1 && slots(threads) > 1 && turn.wait(never, 1)) ++went_on;
                            std::this_thread::sleep_for(std::chrono::milliseconds(1));
                          }),
                 Cancelled);
    EXPECT_EQ(went_on, 0);
    EXPECT_EQ(asked, 2);
    EXPECT_FALSE(elsewhere);
  }
}

TEST(WalkRows, EachTileAfterItsNeighbours) {
  for (const int threads : thread_counts)
    for (const TileGrid& grid : {TileGrid{1, 0, 0}, {1, 1, 9}, {1, 9, 1}, {3, 40, 7}, {1, 60, 60}}) {
      const auto at = [&](std::int64_t plane, std::int64_t row, std::int64_t column) {
        return static_cast<std::size_t>((plane * grid.rows + row) * grid.columns + column);
      };
      std::vector<Reached> reached(static_cast<std::size_t>(grid.planes * grid.rows));
      for (Reached& r : reached) r.steps = 77;
      std::vector<std::uint64_t> sums(static_cast<std::size_t>(grid.tiles()));
      walk_rows(threads, grid, reached.data(), [&](std::int64_t plane, std::int64_t row, std::int64_t column) {
        sums[at(plane, row, column)] +=
            (row ? sums[at(plane, row - 1, column)] : 1) + (column ? sums[at(plane, row, column - 1)] : 1);
      });
      for (std::int64_t i = 0; i < grid.tiles(); ++i) {
        const std::int64_t row = i / grid.columns % grid.rows, column = i % grid.columns;
        const auto k = static_cast<std::size_t>(i);
        ASSERT_EQ(sums[k], (row ? sums[k - static_cast<std::size_t>(grid.columns)] : 1) + (column ? sums[k - 1] : 1));
      }
    }
}

// ---- tables

struct Case {
  std::int64_t width = 1, height = 1, channels = 1, batch = 1;
  const char* types = "8u32u";
  Border border = Border::none;
  bool squares = false, reverse = false;
  TilesTuning tuning = {};
  int threads = 0;
};

Shape shape_of(const Case& c) { return {c.width, c.height, c.channels, c.batch, Layout::planar}; }

struct Tables {
  std::vector<char> sum, squares;
};

// `cancel_after`: the number of a progress call after which the work is cancelled; 0 for none.
Tables by_tiles(const Case& c, const std::vector<char>& pixels, std::int64_t cancel_after = 0) {
  TilesRequest request{.image = shape_of(c), .types = type_pair(c.types), .border = c.border};
  if (c.squares) request.squares = Type::u64;
  request.reverse = c.reverse;
  request.threads = c.threads;
  const Tiles tiles(request, c.tuning);
  Shape shape = shape_of(c);
  if (c.border == Border::zero) ++shape.width, ++shape.height;
  const auto elements = static_cast<std::size_t>(shape.width * shape.height * shape.channels * shape.batch);
  Tables tables{std::vector<char>(elements * size_of(request.types.table), '\xa5'),
                std::vector<char>(c.squares ? elements * 8 : 0, '\xa5')};
  std::vector<char> workspace(tiles.workspace_bytes(), '\x5a');
  TilesArguments arguments;
  arguments.image = ConstView(static_cast<const void*>(pixels.data()), request.types.input, shape_of(c));
  arguments.sum = View(static_cast<void*>(tables.sum.data()), request.types.table, shape);
  if (c.squares) arguments.squares = View(static_cast<void*>(tables.squares.data()), Type::u64, shape);
  std::int64_t calls = 0;
  tiles.execute(arguments, workspace.data(), [&](std::int64_t done, std::int64_t all) {
    EXPECT_EQ(done, ++calls);
    EXPECT_EQ(all, tiles.tiles());
    return done != cancel_after;
  });
  EXPECT_EQ(calls, tiles.tiles());
  return tables;
}

// Every entry as a sum of its rows' prefixes, modulo 2^64, by the definition.
std::vector<std::uint64_t> by_loops(const Case& c, const std::vector<std::int64_t>& pixels, bool squares) {
  const std::int64_t offset = c.border == Border::none ? 0 : 1;
  const std::int64_t lost = c.border == Border::exclusive ? 1 : 0;
  const std::int64_t tw = c.width + offset - lost, th = c.height + offset - lost;
  std::vector<std::uint64_t> out(static_cast<std::size_t>(tw * th * c.channels * c.batch), 0);
  for (std::int64_t plane = 0; plane < c.channels * c.batch; ++plane)
    for (std::int64_t y = 0; y < th; ++y) {
      std::uint64_t row = 0;
      for (std::int64_t x = 0; x < tw; ++x) {
        // Counted from the end of a reversed table.
        const auto entry = [&](std::int64_t i, std::int64_t j) -> std::uint64_t& {
          if (c.reverse) i = tw - 1 - i, j = th - 1 - j;
          return out[static_cast<std::size_t>((plane * th + j) * tw + i)];
        };
        if (x < offset || y < offset) continue;
        std::int64_t px = x - offset, py = y - offset;
        if (c.reverse) px = c.width - 1 - px, py = c.height - 1 - py;
        const auto v =
            static_cast<std::uint64_t>(pixels[static_cast<std::size_t>((plane * c.height + py) * c.width + px)]);
        row += squares ? v * v : v;
        entry(x, y) = row + (y > 0 ? entry(x, y - 1) : 0);
      }
    }
  return out;
}

template <class T>
std::vector<char> stored(const std::vector<std::uint64_t>& values) {
  std::vector<char> bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T v = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &v, sizeof(T));
  }
  return bytes;
}

std::vector<char> random_pixels(const Case& c, std::vector<std::int64_t>& values, std::uint64_t seed) {
  const Type input = type_pair(c.types).input;
  std::mt19937_64 random(seed);
  values.resize(static_cast<std::size_t>(c.width * c.height * c.channels * c.batch));
  std::vector<char> bytes(values.size() * size_of(input));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto v = random();
    char* const to = bytes.data() + i * size_of(input);
    std::memcpy(to, &v, size_of(input));
    const auto as = [&](auto type) {
      std::memcpy(&type, to, sizeof type);
      values[i] = static_cast<std::int64_t>(type);
    };
    if (input == Type::u8) as(std::uint8_t{});
    if (input == Type::s8) as(std::int8_t{});
    if (input == Type::u16) as(std::uint16_t{});
    if (input == Type::s16) as(std::int16_t{});
    if (input == Type::u32) as(std::uint32_t{});
    if (input == Type::s32) as(std::int32_t{});
    if (size_of(input) == 8) as(std::int64_t{});
  }
  return bytes;
}

std::string words(const Case& c, std::uint64_t seed) {
  return std::string(c.types) + " " + std::to_string(c.width) + "x" + std::to_string(c.height) + "x" +
         std::to_string(c.channels) + "x" + std::to_string(c.batch) + ", border " + std::string(name_of(c.border)) +
         (c.squares ? ", squares" : "") + (c.reverse ? ", reversed" : "") + ", bands of " +
         std::to_string(c.tuning.height) + ", threads " + std::to_string(c.threads) + ", seed " + std::to_string(seed);
}

std::string fault_of(const Case& c, std::uint64_t seed, bool spoil = false) {
  std::vector<std::int64_t> values;
  const std::vector<char> pixels = random_pixels(c, values, seed);
  const Tables got = by_tiles(c, pixels);
  if (spoil) values[values.size() / 2] ^= 1;
  const auto sums = by_loops(c, values, false);
  const bool wide = size_of(type_pair(c.types).table) == 8;
  if (got.sum != (wide ? stored<std::uint64_t>(sums) : stored<std::uint32_t>(sums))) return "sums: " + words(c, seed);
  if (c.squares && got.squares != stored<std::uint64_t>(by_loops(c, values, true))) return "squares: " + words(c, seed);
  return "";
}

constexpr Border borders[] = {Border::none, Border::zero, Border::exclusive};

TEST(Bands, TheCheckCanFail) {
  Case c{.width = 70, .height = 50, .tuning = {.height = 4, .schedule = Schedule::bands}};
  EXPECT_EQ(fault_of(c, 1), "");
  EXPECT_NE(fault_of(c, 1, true), "");
}

// Odd sizes on both sides of a vector, of eight rows that are added at once, and of the columns that are handed on
// together.
TEST(Bands, EverySizeBorderAndDirection) {
  std::uint64_t seed = 100;
  for (const auto& [w, h] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {1, 70}, {3, 2}, {33, 9}, {64, 64}, {1023, 41}, {1025, 67}, {2100, 37}, {257, 300}})
    for (const Border border : borders)
      for (const bool reverse : {false, true})
        for (const std::int64_t height : {1, 4, 13, 16, 64}) {
          const int threads = thread_counts[seed % 5];
          const Case c{.width = w,
                       .height = h,
                       .border = border,
                       .reverse = reverse,
                       .tuning = {.height = height, .schedule = Schedule::bands},
                       .threads = threads};
          ASSERT_EQ(fault_of(c, ++seed), "");
        }
}

TEST(Bands, EveryTypeWithSquaresChannelsAndBatches) {
  std::uint64_t seed = 500;
  for (const TypePair types : type_pairs()) {
    if (is_float(types.table)) continue;
    const std::string name = name_of(types);
    for (const bool squares : {false, true})
      for (const bool reverse : {false, true})
        for (const int threads : {0, 1, 3}) {
          Case c{.width = 301,
                 .height = 45,
                 .channels = 3,
                 .batch = 2,
                 .types = name.c_str(),
                 .border = borders[seed % 3],
                 .squares = squares,
                 .reverse = reverse,
                 .tuning = {.height = 8, .schedule = Schedule::bands},
                 .threads = threads};
          ASSERT_EQ(fault_of(c, ++seed), "");
        }
  }
}

TEST(Bands, ACancelledTableEndsAndTheNextIsRight) {
  for (const int threads : thread_counts) {
    const Case c{.width = 1500,
                 .height = 400,
                 .border = Border::zero,
                 .tuning = {.height = 4, .schedule = Schedule::bands},
                 .threads = threads};
    std::vector<std::int64_t> values;
    const std::vector<char> pixels = random_pixels(c, values, 3);
    for (const std::int64_t after : {1, 7, 99}) EXPECT_THROW(by_tiles(c, pixels, after), Cancelled);
    EXPECT_EQ(fault_of(c, 3), "");
  }
}

TEST(Bands, AChildOfForkComputesThemToo) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer ends a process that forks while it has threads";
#endif
  const Case c{.width = 900, .height = 200, .tuning = {.height = 16, .schedule = Schedule::bands}};
  ASSERT_EQ(fault_of(c, 5), "");
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    alarm(60);  // it would hang
    _exit(fault_of(c, 5).empty() && slots(0) == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Tables of floats: the same bits by every schedule, tile and number of threads.
TEST(Walk, KeepsTheBitsOfFloats) {
  for (const char* types : {"32f32f", "32f64f", "64f64f", "8u32f"})
    for (const bool reverse : {false, true}) {
      Case c{.width = 1111, .height = 150, .types = types, .border = Border::zero, .reverse = reverse, .threads = 1};
      std::mt19937_64 random(7);
      const Type input = type_pair(types).input;
      std::vector<char> pixels(static_cast<std::size_t>(c.width * c.height) * size_of(input));
      for (std::size_t i = 0; i < pixels.size(); i += size_of(input)) {
        const double value = std::uniform_real_distribution<double>(-1, 1)(random);
        const auto narrow = static_cast<float>(value);
        if (input == Type::f64) std::memcpy(&pixels[i], &value, 8);
        if (input == Type::f32) std::memcpy(&pixels[i], &narrow, 4);
        if (input == Type::u8) pixels[i] = static_cast<char>(random());
      }
      const Tables wanted = by_tiles(c, pixels);
      for (const int threads : thread_counts)
        for (const std::int64_t height : {4, 16, 64}) {
          c.threads = threads;
          c.tuning = {.width = height == 64 ? 1152 : 256, .height = height, .schedule = Schedule::walk};
          ASSERT_EQ(by_tiles(c, pixels).sum, wanted.sum) << types << ", " << threads << ", " << height;
        }
    }
}

TEST(Walk, IntegersAgainstLoops) {
  std::uint64_t seed = 900;
  for (const auto& [w, h] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {700, 3}, {3, 700}, {601, 133}})
    for (const Border border : borders)
      for (const bool squares : {false, true})
        for (const int threads : {0, 1, 3}) {
          const Case c{.width = w,
                       .height = h,
                       .channels = 2,
                       .batch = 2,
                       .border = border,
                       .squares = squares,
                       .tuning = {.width = 128, .height = 8, .schedule = Schedule::walk},
                       .threads = threads};
          ASSERT_EQ(fault_of(c, ++seed), "");
        }
}

// ---- the choice

TEST(TilesTuning, BandsAreForIntegersInPlanesOfTheirOwn) {
  const TilesRequest plain{.image = {4096, 4096}, .types = {Type::u8, Type::u32}};
  EXPECT_TRUE(tiles_by_bands(plain));
  const auto refused = [&](const char* what, auto change) {
    TilesRequest request = plain;
    change(request);
    EXPECT_FALSE(tiles_by_bands(request)) << what;
    EXPECT_THROW(Tiles(request, {.schedule = Schedule::bands}), InvalidArgument) << what;
    EXPECT_NE(tiles_tuning(request).schedule, Schedule::bands) << what;
  };
  refused("floats", [](TilesRequest& r) { r.types = {Type::f32, Type::f32}; });
  refused("squares in floats", [](TilesRequest& r) { r.squares = Type::f64; });
  refused("a mask", [](TilesRequest& r) { r.mask = true; });
  refused("a volume", [](TilesRequest& r) { r.volume = true; });
  refused("interleaved channels", [](TilesRequest& r) { r.image.channels = 3, r.image.layout = Layout::interleaved; });
  for (const int threads : thread_counts) {
    TilesRequest request = plain;
    request.threads = threads;
    EXPECT_EQ(tiles_tuning(request).schedule == Schedule::bands, slots(threads) > 1);
    request.image = {3, 3};
    EXPECT_NE(tiles_tuning(request).schedule, Schedule::bands);
    request.image = {4096, 4096, 1, 1000};
    EXPECT_EQ(tiles_tuning(request).schedule, Schedule::tasks) << "each thread has whole images";
  }
}

}  // namespace
}  // namespace areal::cpu
