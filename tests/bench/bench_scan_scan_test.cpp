// The kernels of scan-scan (bench/device/scan_scan.hpp), with each thread of a block as a thread of the host and
// barriers between them, beside plain loops.
#include <gtest/gtest.h>
#include <barrier>
#include <cstring>
#include <deque>
#include <random>
#include <thread>
#include <vector>
#include "bench/device/scan_scan.hpp"

namespace areal::bench::scan_then_scan {
namespace {

/// Shared by a block's threads. A shuffle is a write, a barrier of the warp, a read, and a barrier: every thread of the
/// warp makes the same ones, as its lanes must in CUDA.
struct Block {
  explicit Block(int count) : threads(count), meeting(count), handed(static_cast<std::size_t>(count)) {
    for (int first = 0; first < count; first += warp) warps.emplace_back(warp);
  }
  int threads;
  std::barrier<> meeting;
  std::deque<std::barrier<>> warps;
  std::vector<double> handed;  // which holds 32 bits exactly
};

struct HostMachine {
  Block& block;
  int number;
  int thread() const { return number; }
  int threads() const { return block.threads; }
  void sync() const { block.meeting.arrive_and_wait(); }
  template <class T>
  T from(T value, int lane) const {
    std::barrier<>& meeting = block.warps[static_cast<std::size_t>(number / warp)];
    block.handed[static_cast<std::size_t>(number)] = static_cast<double>(value);
    meeting.arrive_and_wait();
    const T got = static_cast<T>(block.handed[static_cast<std::size_t>(number / warp * warp + lane)]);
    meeting.arrive_and_wait();
    return got;
  }
  template <class T>
  T up(T value, int lanes) const {
    return from(value, number % warp >= lanes ? number % warp - lanes : number % warp);
  }
  template <class T>
  T across(T value, int mask) const {
    return from(value, number % warp ^ mask);
  }
  Words load(const std::uint8_t* p) const {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 16, 0U);
    Words words;
    std::memcpy(&words, p, sizeof words);
    return words;
  }
  template <class T>
  void store(T* p, const Four<T>& four) const {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 16, 0U);
    std::memcpy(p, four.at, sizeof four.at);
  }
};

template <class T, class Kernel>
void run_block(int threads, const Kernel& kernel) {
  Block block(threads);
  Shared<T> shared{};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      HostMachine machine{block, i};
      kernel(machine, shared);
    });
  for (std::thread& thread : all) thread.join();
}

template <class T>
constexpr T untouched = static_cast<T>(77777);

/// A row of that kernel between guard entries.
template <class In, class T, class Kernel>
void expect_row(std::int64_t width, int threads, const Kernel& kernel) {
  constexpr unsigned seed = 20261122;
  std::mt19937 random(seed + static_cast<unsigned>(width));
  constexpr std::size_t around = 64;
  const auto w = static_cast<std::size_t>(width);
  alignas(16) static In pixels[8192];
  alignas(16) static T table[8192];
  ASSERT_LE(w + 2 * around, std::size(table));
  for (In& pixel : pixels) pixel = static_cast<In>(random() % 256);
  for (T& entry : table) entry = untouched<T>;
  run_block<T>(threads, [&](HostMachine& m, Shared<T>& s) { kernel(m, s, pixels + around, table + around, width); });
  T sum{};
  for (std::size_t x = 0; x < std::size(table); ++x) {
    const bool inside = x >= around && x < around + w;
    if (inside) sum += static_cast<T>(pixels[x]);
    ASSERT_EQ(table[x], inside ? sum : untouched<T>)
        << "width " << width << ", " << threads << " threads, entry " << x - around << ", seed " << seed + width;
  }
}

TEST(ScanScan, RowsOfAnyWidth) {
  const auto kernel = [](auto& m, auto& s, const auto* from, auto* to, std::int64_t width) {
    row(m, s, from, to, width);
  };
  for (const std::int64_t width : {1, 31, 32, 33, 63, 64, 65, 200}) {  // 64 threads: one chunk and several
    expect_row<std::uint8_t, std::uint32_t>(width, 64, kernel);
    expect_row<double, double>(width, 64, kernel);
  }
  expect_row<float, float>(300, row_threads, kernel);
}

TEST(ScanScan, RowsOfSixteenPixelsAThread) {
  const auto kernel = [](auto& m, auto& s, const std::uint8_t* from, auto* to, std::int64_t width) {
    row_of_bytes(m, s, from, to, width);
  };
  for (const std::int64_t width : {16, 32, 48, 64, 80, 512, 528, 1024, 1536, 2064}) {
    expect_row<std::uint8_t, std::uint32_t>(width, 32, kernel);  // up to five chunks
    expect_row<std::uint8_t, float>(width, threads_by_sixteen(width), kernel);
  }
}

TEST(ScanScan, ThreadsOfARow) {
  EXPECT_EQ(threads_by_sixteen(16), 32);
  EXPECT_EQ(threads_by_sixteen(512), 32);
  EXPECT_EQ(threads_by_sixteen(528), 64);
  EXPECT_EQ(threads_by_sixteen(16384), 1024);
  EXPECT_EQ(threads_by_sixteen(20480), 1024);
  alignas(16) const std::uint8_t bytes[32] = {};
  EXPECT_TRUE(by_sixteen(bytes, bytes + 16, 4096));
  EXPECT_FALSE(by_sixteen(bytes, bytes + 16, 4098));
  EXPECT_FALSE(by_sixteen(bytes + 1, bytes, 4096));
  EXPECT_FALSE(by_sixteen(bytes, bytes + 8, 4096));
}

TEST(ScanScan, ColumnsOfAnyHeight) {
  for (const std::int64_t height : {1, 7, 8, 9, 16, 23}) {
    constexpr std::int64_t pitch = 3;
    std::vector<std::uint32_t> table(static_cast<std::size_t>(pitch * (height + rows_ahead)));
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::uint32_t>(i * i + 1);
    std::vector<std::uint32_t> expected = table;
    for (std::int64_t y = 1; y < height; ++y)
      expected[static_cast<std::size_t>(y * pitch + 1)] += expected[static_cast<std::size_t>((y - 1) * pitch + 1)];
    column(table.data() + 1, pitch, height);
    EXPECT_EQ(table, expected) << height << " rows";
  }
}

}  // namespace
}  // namespace areal::bench::scan_then_scan
