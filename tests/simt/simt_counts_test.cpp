// The simulated machine's counts compared with numbers worked out by hand.
#include <gtest/gtest.h>
#include "simt_kernels.hpp"

namespace areal::simt {
namespace {

// Reads in[lane * C::stride + C::first] of each warp and writes the same place. No two warps share a place.
template <class T, int Stride, int First = 0, int Threads = 32>
struct Pattern {
  using Type = T;
  static constexpr int stride = Stride, first = First, threads = Threads;
};

template <class M, class C>
struct Touch {
  static constexpr int threads = C::threads;
  using Shared = NoShared;
  struct Args {
    const typename C::Type* in;
    typename C::Type* out;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    const int at = m.thread() * C::stride + C::first;
    m.store(a.out + at, m.load(a.in + at));
  }
};

template <class C>
Counts touch() {
  std::vector<typename C::Type> in(4096), out(in.size());
  Launcher launcher;
  add(launcher, "in", in, true, false);
  add(launcher, "out", out, false);
  launcher.launch<Touch, C>(1, {in.data(), out.data()});
  return launcher.total();
}

void expect(const GlobalCounts& c, std::uint64_t elements, std::uint64_t bytes, std::uint64_t requests,
            std::uint64_t groups, std::uint64_t sectors, std::uint64_t coalesced) {
  EXPECT_EQ(c.elements, elements);
  EXPECT_EQ(c.bytes, bytes);
  EXPECT_EQ(c.requests, requests);
  EXPECT_EQ(c.groups, groups);
  EXPECT_EQ(c.sectors, sectors);
  EXPECT_EQ(c.coalesced, coalesced);
  EXPECT_EQ(c.coalesced + c.strided, elements);
}

TEST(SimtCounts, Global) {
  using std::uint32_t;
  {
    SCOPED_TRACE("contiguous");
    const Counts c = touch<Pattern<uint32_t, 1>>();
    expect(c.reads, 32, 128, 1, 1, 4, 32);
    expect(c.writes, 32, 128, 1, 1, 4, 32);
  }
  {
    SCOPED_TRACE("contiguous, but one off: two groups, five sectors, and still coalesced");
    expect(touch<Pattern<uint32_t, 1, 1>>().reads, 32, 128, 1, 2, 5, 32);
  }
  {
    SCOPED_TRACE("stride 2");
    expect(touch<Pattern<uint32_t, 2>>().reads, 32, 128, 1, 2, 8, 0);
  }
  {
    SCOPED_TRACE("stride 32");
    expect(touch<Pattern<uint32_t, 32>>().reads, 32, 128, 1, 32, 32, 0);
  }
  {
    SCOPED_TRACE("bytes");
    expect(touch<Pattern<std::uint8_t, 1>>().reads, 32, 32, 1, 1, 1, 32);
  }
  {
    SCOPED_TRACE("8 bytes");
    expect(touch<Pattern<std::uint64_t, 1>>().reads, 32, 256, 1, 1, 8, 32);
  }
  {
    SCOPED_TRACE("vectors of four: 128 elements");
    expect(touch<Pattern<Vec<float, 4>, 1>>().reads, 128, 512, 1, 1, 16, 128);
  }
  {
    SCOPED_TRACE("a warp and 8 lanes");
    expect(touch<Pattern<uint32_t, 1, 0, 40>>().reads, 40, 160, 2, 2, 5, 40);
  }
}

template <class M, class C>
struct Broadcast {
  static constexpr int threads = 64;
  using Shared = NoShared;
  struct Args {
    const std::uint32_t* in;
    std::uint32_t* out;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    std::uint32_t sum = 0;
    for (int i = 0; i < 4; ++i) sum += m.load(a.in + i);        // 4 requests of each warp
    if (m.lane() % 2 == 0) sum += m.load(a.in + 8 + m.lane());  // half a warp, every other word
    m.atomic_add(a.out, sum);
  }
};

TEST(SimtCounts, BroadcastPartsAndAtomics) {
  std::vector<std::uint32_t> in(64, 1), out(1, 0);
  Launcher launcher;
  add(launcher, "in", in);
  add(launcher, "out", out);
  launcher.launch<Broadcast, Plain>(3, {in.data(), out.data()});
  const Counts c = launcher.total();
  EXPECT_EQ(out[0], 3u * (64 * 4 + 32));
  // Of each of six warps: four broadcasts of one sector; words 8, 10 .. 38, in 2 groups, where 16 neighbours take 1.
  expect(c.reads, 6 * (4 * 32 + 16), 6 * 4 * (4 * 32 + 16), 6 * 5, 6 * (4 + 2), 6 * (4 + 4), 6 * 4 * 32);
  expect(c.atomics, 6 * 32, 6 * 128, 6, 6, 6, 6 * 32);
}

// Writes a tile by rows and reads it by columns.
template <int Pitch>
struct TilePitch {
  static constexpr int pitch = Pitch;
};
template <class M, class C>
struct Transpose {
  static constexpr int threads = 1024;
  struct Shared {
    std::uint32_t tile[32 * C::pitch];
  };
  struct Args {};
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    m.put(s.tile[m.warp() * C::pitch + m.lane()], 1);
    m.sync();
    m.put(s.tile[m.lane() * C::pitch + m.warp()], m.get(s.tile[m.lane() * C::pitch + m.warp()]) + 1);
  }
};

TEST(SimtCounts, BankConflicts) {
  Launcher bad, good;
  bad.launch<Transpose, TilePitch<32>>(2, {});
  good.launch<Transpose, TilePitch<33>>(2, {});
  EXPECT_EQ(bad.total().shared_reads.requests, 64u);
  EXPECT_EQ(bad.total().shared_reads.elements, 2048u);
  EXPECT_EQ(bad.total().shared_reads.bytes, 8192u);
  EXPECT_EQ(bad.total().shared_reads.conflicts, 64u * 31);
  EXPECT_EQ(bad.total().shared_writes.requests, 128u);
  EXPECT_EQ(bad.total().shared_writes.conflicts, 64u * 31);
  EXPECT_EQ(good.total().shared_reads.requests, 64u);
  EXPECT_EQ(good.total().shared_reads.conflicts, 0u);
  EXPECT_EQ(good.total().shared_writes.conflicts, 0u);
  EXPECT_EQ(good.total().block_barriers, 2u);
  EXPECT_EQ(good.total().deepest_barriers, 1u);
}

template <class M, class C>
struct SharedVectors {
  using T = typename C::Type;
  static constexpr int threads = 32;
  struct Shared {
    T cells[32 * C::stride];
    std::uint32_t bins[2];
  };
  struct Args {};
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    m.put(s.cells[m.lane() * C::stride], T{});
    if (m.lane() < 2) m.put(s.bins[m.lane()], 0);
    m.sync_warp();
    m.shared_add(s.bins[m.lane() % 2], 1);
  }
};

template <class C>
Counts shared_vectors() {
  Launcher launcher;
  launcher.launch<SharedVectors, C>(1, {});
  return launcher.total();
}

TEST(SimtCounts, SharedVectorsAndAtomics) {
  const Counts c = shared_vectors<Pattern<std::uint64_t, 1>>();  // a half-warp takes all banks once
  EXPECT_EQ(c.shared_writes.conflicts, 0u);
  EXPECT_EQ(c.shared_atomics.requests, 1u);
  EXPECT_EQ(c.shared_atomics.conflicts, 15u);  // 16 lanes each add to two words
  EXPECT_EQ(c.warp_barriers, 1u);
  // Every other double word: the two halves of a half-warp share their banks.
  EXPECT_EQ((shared_vectors<Pattern<std::uint64_t, 2>>().shared_writes.conflicts), 2u);
  EXPECT_EQ((shared_vectors<Pattern<Vec<float, 4>, 1>>().shared_writes.conflicts), 0u);
  EXPECT_EQ((shared_vectors<Pattern<Vec<float, 4>, 2>>().shared_writes.conflicts), 4u);
  EXPECT_EQ((shared_vectors<Pattern<std::uint8_t, 1>>().shared_writes.conflicts), 0u);   // four lanes share a word
  EXPECT_EQ((shared_vectors<Pattern<std::uint32_t, 2>>().shared_writes.conflicts), 1u);  // stride 2: two to a bank
}

TEST(SimtCounts, ReverseReadsAndWritesOnce) {
  std::vector<float> in(256 * 4), out(in.size());
  for (const bool checks : {true, false}) {
    Options options;
    options.checks = checks;
    Launcher launcher(options);
    add(launcher, "in", in);
    add(launcher, "out", out, false);
    launcher.launch<Reverse, Plain>(4, {in.data(), out.data()});
    launcher.launch<Reverse, Plain>(4, {in.data(), out.data()});
    ASSERT_EQ(launcher.launches().size(), 2u);
    expect(launcher.launches()[0].counts.reads, 1024, 4096, 32, 32, 128, 1024);
    const Counts total = launcher.total();
    expect(total.writes, 2048, 8192, 64, 64, 256, 2048);
    EXPECT_EQ(total.launches, 2u);
    EXPECT_EQ(total.block_barriers, 8u);
    EXPECT_EQ(total.shared_reads.elements, 2048u);
    EXPECT_EQ(total.shuffles + total.votes + total.polls + total.published, 0u);
  }
}

TEST(SimtCounts, ShufflesVotesAndPolls) {
  std::vector<std::uint32_t> in(128 * 40, 1), out(in.size());
  std::vector<Word> words(40);
  Launcher launcher;
  add(launcher, "in", in);
  add(launcher, "out", out, false);
  add(launcher, "words", words);
  launcher.launch<BlockScan, Plain>(40, {in.data(), out.data()});
  EXPECT_EQ(launcher.total().shuffles, 40u * 4 * 5);
  launcher.clear_counts();
  launcher.launch<LookBackScan, Plain>(40, {in.data(), out.data(), words.data()});
  EXPECT_EQ(launcher.total().published, 40u + 39);
  EXPECT_GE(launcher.total().polls, 39u);
  expect(launcher.total().reads, 5120, 20480, 160, 160, 640, 5120);  // polled words are not among them
}

TEST(SimtCounts, WidthOfTheModel) {
  std::vector<std::uint32_t> in(4096), out(in.size());
  Options options;
  options.width = 4;
  Launcher launcher(options);
  add(launcher, "in", in);
  add(launcher, "out", out);
  launcher.launch<Touch, Pattern<std::uint32_t, 1>>(1, {in.data(), out.data()});
  EXPECT_EQ(launcher.total().reads.groups, 8u);
}

}  // namespace
}  // namespace areal::simt
