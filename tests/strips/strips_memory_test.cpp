// The budget holds: a child process whose address space ends a little beyond it makes tables, tensors and answers that
// are many times as large.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <areal/error.hpp>
#include <areal/strips.hpp>
#include <cstdio>
#include <functional>
#include "bench/harness/seeded_image.hpp"

namespace areal {
namespace {

constexpr std::uint64_t budget = std::uint64_t{48} << 20;
constexpr std::uint64_t beside = std::uint64_t{32} << 20;  // two threads' stacks of 8 MiB, code, the answers
const std::vector<Worker> cpu{{.backend = Backend::cpu, .threads = 1}};

std::uint64_t address_space() {
  std::uint64_t pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// What a child process that may take so many bytes more than this one says of the work: 0 done, 1 out of memory.
int outcome(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    mallopt(M_ARENA_MAX, 1);  // arenas of threads reserve 64 MiB each
    const std::uint64_t most = address_space() + budget + beside;
    const rlimit limit{most, most};
    int code = 3;
    if (setrlimit(RLIMIT_AS, &limit) == 0) try {
        work();
        code = 0;
      } catch (const OutOfMemory&) {
        code = 1;
      } catch (const std::bad_alloc&) {
        code = 1;
      } catch (...) {
        code = 2;
      }
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + status;
}

const bench::SeededImage image(9001, 6000, 5);
const Shape shape{image.width(), image.height()};

void tables(const PieceOptions& how) {
  StripSat strips(shape, Type::u8, {.squares = Squares::u64}, how);
  std::int64_t rows = 0;
  strips.run(image.reader(), [&](const Piece& strip) {
    rows += strip.values.shape.height;
    return true;
  });
  if (rows != shape.height + 1) _exit(4);
}

// 9001 x 6000 entries of 16 bytes take 864 MB.
TEST(StripMemory, TablesTakeTheBudget) {
  EXPECT_EQ(outcome([] { tables({.workers = cpu, .memory = budget}); }), 0);
  EXPECT_EQ(outcome([] { tables({.workers = cpu, .memory = 4 * budget}); }), 1);  // the limit is one
  const StripSat strips(shape, Type::u8, {.squares = Squares::u64}, {.workers = cpu, .memory = budget});
  EXPECT_LE(strips.memory_bytes(), budget);
  EXPECT_GT(strips.memory_bytes(), budget / 2);  // and it is used
}

TEST(StripMemory, PushedTilesAreCounted) {
  EXPECT_EQ(outcome([] {
              StripSat strips(shape, Type::u8, {},
                              {.workers = cpu, .memory = budget, .pushed_width = 3000, .pushed_height = 1000});
              strips.begin([](const Piece&) { return true; });
              std::vector<std::uint8_t> tile(3000 * 1000);
              for (std::int64_t y = 0; y < shape.height; y += 1000)
                for (const std::int64_t x : {3000, 9000, 0, 6000}) {
                  const View block(tile.data(), std::min<std::int64_t>(3000, shape.width - x), 1000);
                  image.reader()(x, y, block);
                  strips.push(x, y, block);
                }
              strips.finish();
            }),
            0);
}

TEST(StripMemory, TensorsAndAnswers) {
  EXPECT_EQ(outcome([] {
              const StripHistogram strips({2001, 3000}, Type::u8, Binning::uniform(32, 0, 256), {},
                                          {.workers = cpu, .memory = budget});
              strips.run(image.reader(), [](const Piece&) { return true; });
            }),
            0);
  EXPECT_EQ(outcome([] {
              std::vector<Region> regions(100000);  // 4.8 MB with their events and answers
              for (std::size_t i = 0; i < regions.size(); ++i)
                regions[i] = {static_cast<std::int64_t>(i % 8000), static_cast<std::int64_t>(i % 5900), 100, 90};
              const auto sums = strip_sums<std::uint64_t>(image.reader(), shape, Type::u8, regions, {},
                                                          {.workers = cpu, .memory = budget});
              if (sums[777] != image.sum(regions[777])) _exit(4);
            }),
            0);
  EXPECT_EQ(outcome([] {
              const auto counts =
                  strip_counts(image.reader(), shape, Type::u8, Binning::uniform(64, 0, 256),
                               {{0, 0, 9001, 6000}, {5, 5, 100, 100}}, {.workers = cpu, .memory = budget});
              if (counts.size() != 128) _exit(4);
            }),
            0);
}

}  // namespace
}  // namespace areal
