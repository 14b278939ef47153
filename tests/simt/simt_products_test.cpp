// Products of tiles of bytes on the simulated machine: both layouts against sums of single products, and every fault of
// their use planted, found, and reported with kernel, block, thread and line.
#include <array>
#include <random>
#include "simt_faults.hpp"

namespace areal::simt {
namespace {

constexpr int group = 128, tile_words = 64 * 8;

/// 64 x 32 bytes each, row by row, to 64 x 64 sums, twice: the second time of tiles in lines, added to the first.
template <class M, class C>
struct Multiplies {
  static constexpr int threads = group;
  struct Shared {
    std::uint32_t left[tile_words], right[tile_words];  // 8 rows of 16 bytes together
    Vec<std::uint32_t, 4> lines[2][64 * 8];             // at 32 bytes of each line
  };
  struct Args {
    const std::uint32_t *left, *right;
    std::uint32_t* out;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    for (int i = m.thread(); i < tile_words; i += threads) {
      const int row = i / 8, word = i % 8, there = word / 4 * 256 + row / 8 * 32 + row % 8 * 4 + word % 4;
      m.put(s.left[there], m.load(a.left + i));
      m.put(s.right[there], m.load(a.right + i));
      const int cell = kernels::place_in_lines(row, 2 + word / 4);
      m.put(s.lines[0][cell].at[word % 4], m.load(a.left + i));
      m.put(s.lines[1][cell].at[word % 4], m.load(a.right + i));
    }
    m.fence_async();
    m.sync();
    std::uint32_t sum[32];
    m.begin_products();
    m.multiply_tiles(sum, {s.left, 128, 1024}, {s.right, 128, 1024}, false);
    m.multiply_tiles(sum, {&s.lines[0][2], 1024, 0}, {&s.lines[1][2], 1024, 0}, true);
    m.commit_products();
    m.template wait_products<0>(sum);
    for (int i = 0; i < 32; ++i) {
      const int row = 16 * m.warp() + i / 2 % 2 * 8 + m.lane() / 4, column = i / 4 * 8 + 2 * (m.lane() % 4) + i % 2;
      m.store(a.out + 64 * row + column, sum[i]);
    }
  }
};
TEST(SimtProducts, BothLayouts) {
  std::mt19937 random(20261128);
  std::array<std::vector<std::uint8_t>, 2> tiles;
  for (auto& tile : tiles)
    for (int i = 0; i < 64 * 32; ++i) tile.push_back(static_cast<std::uint8_t>(random()));
  std::vector<std::uint32_t> left(tile_words), right(tile_words), out(64 * 64);
  std::memcpy(left.data(), tiles[0].data(), tiles[0].size());
  std::memcpy(right.data(), tiles[1].data(), tiles[1].size());
  Launcher launcher;
  add(launcher, "left", left, true, false);
  add(launcher, "right", right, true, false);
  add(launcher, "out", out, false);
  launcher.launch<Multiplies, kernels::NoConfig>(1, {left.data(), right.data(), out.data()});
  for (int m = 0; m < 64; ++m)
    for (int n = 0; n < 64; ++n) {
      std::uint32_t sum = 0;
      for (int k = 0; k < 32; ++k) sum += 2u * tiles[0][32 * m + k] * tiles[1][32 * n + k];
      ASSERT_EQ(out[64 * m + n], sum) << m << " " << n;
    }
}

/// 16 x 256 and 256 x 8 bits, a word a place, to 16 x 8 sums.
template <class M, class C>
struct MultipliesBits {
  static constexpr int threads = 32;
  using Shared = NoShared;
  struct Args {
    const std::uint32_t *left, *right;
    std::uint32_t* out;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    const int g = m.lane() / 4, t = m.lane() % 4;
    std::uint32_t left[4], right[2];
    for (int i = 0; i < 4; ++i) left[i] = m.load(a.left + (g + i % 2 * 8) * 8 + i / 2 * 4 + t);
    for (int i = 0; i < 2; ++i) right[i] = m.load(a.right + g * 8 + i * 4 + t);
    const auto sum = m.multiply_bits(left, right, {{1, 2, 3, 4}});
    for (int i = 0; i < 4; ++i) m.store(a.out + (g + i / 2 * 8) * 8 + 2 * t + i % 2, sum.at[i]);
  }
};
TEST(SimtProducts, OfBits) {
  std::mt19937 random(20261128);
  std::vector<std::uint32_t> left(16 * 8), right(8 * 8), out(16 * 8);
  for (auto* words : {&left, &right})
    for (std::uint32_t& word : *words) word = static_cast<std::uint32_t>(random());
  Launcher launcher;
  add(launcher, "left", left, true, false);
  add(launcher, "right", right, true, false);
  add(launcher, "out", out, false);
  launcher.launch<MultipliesBits, kernels::NoConfig>(1, {left.data(), right.data(), out.data()});
  for (std::size_t y = 0; y < 16; ++y)
    for (std::size_t x = 0; x < 8; ++x) {
      std::uint32_t sum = static_cast<std::uint32_t>(1 + y / 8 * 2 + x % 2);
      for (std::size_t bit = 0; bit < 256; ++bit)
        sum += left[8 * y + bit / 32] >> bit % 32 & right[8 * x + bit / 32] >> bit % 32 & 1u;
      ASSERT_EQ(out[8 * y + x], sum) << y << " " << x;
    }
}

// A lane waits in another collective.
template <class M, class C>
struct LacksALane {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(32) {
    const std::uint32_t left[4] = {1, 2, 3, 4}, right[2] = {5, 6};
    C::bad&& m.lane() == 9 ? m.sync_warp() : static_cast<void>(m.multiply_bits(left, right, {}));  // @lacks
  }
};
TEST(SimtProducts, OfBitsNeedAllLanes) {
  expect_fault_of<LacksALane>(__FILE__, {FaultKind::collective, "LacksALane", "lacks", 0, -1, "lacks", 16});
}

struct Tiles {
  std::uint32_t left[tile_words], right[tile_words];
};
template <class M>
void put_zeros(const M& m, Tiles& s, bool fences = true) {
  for (int i = m.thread(); i < tile_words; i += group) {
    m.put(s.left[i], 0);
    m.put(s.right[i], 0);
  }
  if (fences) m.fence_async();
  m.sync();
}
template <class M>
void multiply(const M& m, const Tiles& s, std::uint32_t (&sum)[32], bool begins = true, Site site = AREAL_HERE) {
  if (begins) m.begin_products();
  m.multiply_tiles(sum, {s.left, 128, 1024}, {s.right, 128, 1024}, false, site);
  m.commit_products();
}

template <class M, class C>
struct NoFence {
  using Shared = Tiles;
  AREAL_TEST_KERNEL(group) {
    Shared& s = m.template shared<Shared>();
    put_zeros(m, s, !C::bad);
    std::uint32_t sum[32];
    multiply(m, s, sum);  // @no-fence
    m.template wait_products<0>(sum);
  }
};
template <class M, class C>
struct NoBegin {
  using Shared = Tiles;
  AREAL_TEST_KERNEL(group) {
    Shared& s = m.template shared<Shared>();
    put_zeros(m, s);
    std::uint32_t sum[32];
    multiply(m, s, sum, !C::bad);  // @no-begin
    m.template wait_products<0>(sum);
  }
};
TEST(SimtProducts, Fences) {
  expect_fault_of<NoFence>(__FILE__, {FaultKind::missing_fence, "NoFence", "no-fence", 0, -1, "", 16});
  expect_fault_of<NoBegin>(__FILE__, {FaultKind::missing_fence, "NoBegin", "no-begin", 0, -1, "", 16});
}

// Another warp overwrites a tile while products read it.
template <class M, class C>
struct OverwritesTile {
  using Shared = Tiles;
  AREAL_TEST_KERNEL(group) {
    Shared& s = m.template shared<Shared>();
    put_zeros(m, s);
    std::uint32_t sum[32];
    multiply(m, s, sum);  // @multiplies
    if (!C::bad) m.template wait_products<0>(sum);
    m.sync();
    if (m.thread() == 0) m.put(s.right[0], 1);  // @overwrites
    m.sync();
    if (C::bad) m.template wait_products<0>(sum);
  }
};
TEST(SimtProducts, ATileThatIsOverwritten) {
  expect_fault_of<OverwritesTile>(__FILE__,
                                  {FaultKind::in_flight, "OverwritesTile", "overwrites", 0, 0, "multiplies", 16});
}

// Sums are poison until they are waited for.
template <class M, class C>
struct ReadsSums {
  static constexpr int threads = group;
  using Shared = Tiles;
  struct Args {
    std::uint32_t* out;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    put_zeros(m, s);
    std::uint32_t sum[32];
    multiply(m, s, sum);
    m.store(a.out + m.thread(), sum[7]);
    m.template wait_products<0>(sum);
    m.store(a.out + group + m.thread(), sum[7]);
  }
};
TEST(SimtProducts, SumsAreThereAfterTheWait) {
  std::vector<std::uint32_t> out(2 * group);
  Launcher launcher;
  add(launcher, "out", out, false);
  launcher.launch<ReadsSums, kernels::NoConfig>(1, {out.data()});
  for (int i = 0; i < group; ++i) {
    EXPECT_EQ(out[i], 0xcdcdcdcdu);
    EXPECT_EQ(out[group + i], 0u);
  }
}

}  // namespace
}  // namespace areal::simt
