// Every kind of fault of plain and flagged accesses: planted, found, and reported with kernel, block, thread and line.
#include "simt_faults.hpp"

namespace areal::simt {
namespace {

template <class M, class C>
struct PastEnd {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(32) {
    const std::int64_t at = m.block() * 992 + m.thread() + C::bad;  // the last one is 1024
    m.load(a.in + at);                                              // @past-end
  }
};
template <class M, class C>
struct AcrossEnd {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(1) {
    m.load(reinterpret_cast<const Vec<std::uint32_t, 4>*>(a.in + 1020));
    m.load(reinterpret_cast<const Vec<std::uint32_t, 2>*>(a.flag + 4 - 2 * !C::bad));  // @across-end
  }
};
TEST(SimtFaults, OutOfBounds) {
  expect_fault_of<PastEnd>(__FILE__, {FaultKind::out_of_bounds, "PastEnd", "past-end", 1, 31, "", 16}, 2);
  expect_fault_of<AcrossEnd>(__FILE__, {FaultKind::out_of_bounds, "AcrossEnd", "across-end", 0, 0, "", 16});
}

TEST(SimtFaults, OutOfBoundsNamesTheNearestRegion) {
  std::vector<std::uint32_t> in(1024);
  Launcher launcher;
  launcher.add({"image", in.data(), 1024 * 4 - 8, true, false});
  try {
    launcher.launch<PastEnd, Good>(2, {in.data(), nullptr, nullptr});
    FAIL() << "no fault";
  } catch (const Fault& fault) {
    const std::string what = fault.what();
    EXPECT_NE(what.find("past the end of region \"image\" of 4088 bytes"), std::string::npos) << what;
  }
}

template <class M, class C>
struct Misaligned {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(8) {
    const std::uint32_t* p = a.in + 2 * m.thread() + (C::bad && m.thread() == 5);
    m.load(reinterpret_cast<const std::uint64_t*>(p));  // @misaligned
  }
};
TEST(SimtFaults, Misaligned) {
  expect_fault_of<Misaligned>(__FILE__, {FaultKind::misaligned, "Misaligned", "misaligned", 0, 5, "", 16});
}

template <class M, class C>
struct NeverWritten {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(32) {
    if (!C::bad || m.thread() != 7) m.store(a.out + m.thread(), 1);
    m.load(a.out + m.thread());  // @never-written
  }
};
template <class M, class C>
struct NeverPut {
  struct Shared {
    std::uint32_t tile[64];
  };
  AREAL_TEST_KERNEL(64) {
    Shared& s = m.template shared<Shared>();
    if (!C::bad || m.block() == 0 || m.thread() < 63) m.put(s.tile[m.thread()], 1);
    m.sync();
    m.store(a.out + m.block() * 64 + m.thread(), m.get(s.tile[63 - m.thread()]));  // @never-put
  }
};
template <class M, class C>
struct NeverAdded {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(32) {
    m.atomic_add(C::bad ? a.out : a.flag, 1);  // @never-added
  }
};
TEST(SimtFaults, Uninitialised) {
  expect_fault_of<NeverWritten>(__FILE__, {FaultKind::uninitialised, "NeverWritten", "never-written", 0, 7, "", 16});
  expect_fault_of<NeverPut>(__FILE__, {FaultKind::uninitialised, "NeverPut", "never-put", 1, 0, "", 16}, 2);
  expect_fault_of<NeverAdded>(__FILE__, {FaultKind::uninitialised, "NeverAdded", "never-added", 0, -1, "", 16});
}

template <class M, class C>
struct WritesInput {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(1) {
    m.store(C::bad ? const_cast<std::uint32_t*>(a.in) : a.out, 1);  // @writes-input
  }
};
TEST(SimtFaults, ReadOnly) {
  expect_fault_of<WritesInput>(__FILE__, {FaultKind::read_only, "WritesInput", "writes-input", 0, 0, "", 16});
}

template <class M, class C>
struct PastTile {
  struct Shared {
    std::uint32_t tile[64];
  };
  AREAL_TEST_KERNEL(64) {
    Shared& s = m.template shared<Shared>();
    std::uint32_t* const tile = s.tile;
    m.put(tile[m.thread() + C::bad], 1);  // @past-tile
  }
};
template <class M, class C>
struct WrongSpace {
  struct Shared {
    std::uint32_t word;
  };
  AREAL_TEST_KERNEL(1) {
    Shared& s = m.template shared<Shared>();
    m.put(s.word, 0);
    m.get(C::bad ? *a.in : s.word);  // @wrong-space
  }
};
TEST(SimtFaults, SharedOutOfBounds) {
  expect_fault_of<PastTile>(__FILE__, {FaultKind::shared_out_of_bounds, "PastTile", "past-tile", 0, 63, "", 16});
  expect_fault_of<WrongSpace>(__FILE__, {FaultKind::shared_out_of_bounds, "WrongSpace", "wrong-space", 0, 0, "", 16});
}

// The second thread to come finds the race, so its line may depend on the seed.
template <class M, class C>
struct NoBarrier {
  struct Shared {
    std::uint32_t tile[64];
  };
  AREAL_TEST_KERNEL(64) {
    Shared& s = m.template shared<Shared>();
    m.put(s.tile[m.thread()], 1);
    m.sync();
    const std::uint32_t v = m.get(s.tile[63 - m.thread()]);  // @no-barrier-get
    if (!C::bad) m.sync();
    m.put(s.tile[m.thread()], v + 1);
  }
};
template <class M, class C>
struct NoWarpBarrier {
  struct Shared {
    std::uint32_t tile[32];
  };
  AREAL_TEST_KERNEL(32) {
    Shared& s = m.template shared<Shared>();
    m.put(s.tile[m.thread()], 1);
    m.sync();
    m.put(s.tile[m.thread()], 2);  // @no-warp-put
    if (!C::bad) m.sync_warp(full_mask);
    if (m.thread() == 0) m.get(s.tile[31]);  // @no-warp-get
    m.sync();
  }
};
template <class M, class C>
struct WarpBarrierIsNotEnough {
  struct Shared {
    std::uint32_t tile[64];
  };
  AREAL_TEST_KERNEL(64) {
    Shared& s = m.template shared<Shared>();
    if (m.thread() < 32) m.put(s.tile[m.thread()], 1);  // @warp-only-put
    C::bad ? m.sync_warp(full_mask) : m.sync();
    if (C::bad)  // lets the first warp come first, so that the data was written
      while (m.warp() == 1 && m.load_relaxed(a.flag) == 0) m.pause();
    if (C::bad && m.thread() == 31) m.store_relaxed(a.flag, 1);
    if (m.thread() == 63) m.get(s.tile[0]);  // @warp-only-get
  }
};
template <class M, class C>
struct BlocksOverlap {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(32) {
    m.store(a.out + m.block() * (32 - C::bad) + m.thread(), 1);  // @overlap
  }
};
// Two halves of a warp, of which one synchronises: that does not order the other.
template <class M, class C>
struct HalfMeets {
  struct Shared {
    std::uint32_t tile[32];
  };
  AREAL_TEST_KERNEL(32) {
    Shared& s = m.template shared<Shared>();
    const unsigned half = m.lane() < 16 ? 0x0000ffffu : 0xffff0000u;
    m.put(s.tile[m.lane()], 1);
    m.sync_warp(full_mask);
    m.put(s.tile[m.lane()], 2);  // @half-put
    m.sync_warp(half);
    if (m.lane() == 15) m.get(s.tile[C::bad ? 16 : 0]);  // @half-get
    m.sync_warp(full_mask);
  }
};
template <class M, class C>
struct PlainAndAtomic {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(64) {
    if (m.thread() == 40 && C::bad)
      m.store(a.flag, 1);  // @plain-store
    else
      m.atomic_add(a.flag, 1);  // @atomic
  }
};

// Runs bad kernels until each of the marks has been the line of the fault.
template <template <class, class> class K>
void expect_race(const std::vector<std::string>& marks, std::int64_t blocks = 1) {
  std::vector<int> seen(marks.size(), 0);
  for (std::uint64_t seed = 1; seed <= 64; ++seed) {
    std::vector<std::uint32_t> in(1024), out(1024), flag(4);
    Options options;
    options.seed = seed;
    Launcher good(options), bad(options);
    for (Launcher* launcher : {&good, &bad}) {
      add(*launcher, "in", in, true, false);
      add(*launcher, "out", out, false);
      add(*launcher, "flag", flag);
    }
    EXPECT_NO_THROW((good.launch<K, Good>(blocks, {in.data(), out.data(), flag.data()}))) << "seed " << seed;
    try {
      flag[0] = 0;
      bad.launch<K, Bad>(blocks, {in.data(), out.data(), flag.data()});
      ADD_FAILURE() << "seed " << seed << " shows no race";
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.kind, FaultKind::race) << fault.what();
      bool known = false;
      for (std::size_t i = 0; i < marks.size(); ++i)
        if (line_of(__FILE__, marks[i]) == fault.site.line) seen[i] = known = true;
      EXPECT_TRUE(known) << fault.what();
      EXPECT_NE(fault.other.line, 0) << fault.what();
      if (seed == 1 && std::getenv("AREAL_TEST_FAULTS") != nullptr) std::puts(fault.what());
    }
  }
  for (std::size_t i = 0; i < marks.size(); ++i) EXPECT_TRUE(seen[i]) << "never at @" << marks[i];
}

TEST(SimtFaults, Races) {
  expect_race<NoBarrier>({"no-barrier-get"});  // one of each pair gets and puts before the other gets
  expect_race<NoWarpBarrier>({"no-warp-put", "no-warp-get"});
  expect_race<WarpBarrierIsNotEnough>({"warp-only-get"});
  expect_race<BlocksOverlap>({"overlap"}, 3);
  expect_race<HalfMeets>({"half-put", "half-get"});
  expect_race<PlainAndAtomic>({"plain-store", "atomic"});
}

// Bytes of one word by different lanes are different memory.
template <class M, class C>
struct Bytes {
  struct Shared {
    std::uint8_t bytes[64];
  };
  AREAL_TEST_KERNEL(64) {
    Shared& s = m.template shared<Shared>();
    m.put(s.bytes[m.thread() - (C::bad && m.thread() == 3)], 1);  // @bytes
    m.store(reinterpret_cast<std::uint8_t*>(a.out) + m.thread(), 1);
    m.store(reinterpret_cast<std::uint16_t*>(a.out + 64) + m.thread(), 1);
    m.store(a.out + 128 + m.thread(), 1);
  }
};
TEST(SimtFaults, BytesOfAWord) { expect_race<Bytes>({"bytes"}); }

// The flag is published, but the reader peeks, which orders nothing.
template <class M, class C>
struct PeeksAFlag {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(32) {
    if (m.block() == 0) {
      m.store(a.out + m.thread(), 1);  // @hand-over-store
      m.sync_warp(full_mask);
      if (m.thread() == 0) m.store_release(a.flag, 1);
    } else {
      while ((C::bad ? m.load_relaxed(a.flag) : m.load_acquire(a.flag)) == 0) m.pause();
      m.load(a.out + m.thread());  // @hand-over-load
    }
  }
};
// Lane 0 publishes what the others may not have written: there is no barrier in between.
template <class M, class C>
struct PublishesForOthers {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(32) {
    if (m.block() == 0) {
      m.store(a.out + m.thread(), 1);  // @others-store
      const unsigned arrived = m.atomic_add(a.flag + 1, 1);
      if (!C::bad) m.sync_warp(full_mask);
      if (C::bad ? arrived == 31 : m.thread() == 0) m.store_release(a.flag, 1);
    } else {
      while (m.load_acquire(a.flag) == 0) m.pause();
      m.load(a.out + m.thread());  // @others-load
    }
  }
};
// The block of a flag writes again after it.
template <class M, class C>
struct WritesAfterFlag {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(1) {
    if (m.block() == 0) {
      m.store(a.out, 1);
      if (C::bad) m.store_release(a.flag, 1);
      m.store(a.out + 1, 1);  // @after-store
      if (!C::bad) m.store_release(a.flag, 1);
      m.store_relaxed(a.flag + 1, 1);
    } else {
      while (m.load_acquire(a.flag) == 0 || m.load_relaxed(a.flag + 1) == 0) m.pause();
      m.load(a.out);
      m.load(a.out + 1);  // @after-load
    }
  }
};
// Order is transitive: the third block has polled the second's flag, and the second the first's.
template <class M, class C>
struct Relay {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(32) {
    if (m.block() == 0) m.store(a.out + m.thread(), 1);  // @relay-store
    if (m.block() > 0 && m.thread() == 0)
      while ((C::bad && m.block() == 2 ? m.load_relaxed(a.flag + m.block() - 1)
                                       : m.load_acquire(a.flag + m.block() - 1)) == 0)
        m.pause();
    m.sync();
    if (m.block() == 3) m.load(a.out + m.thread());  // @relay-load
    m.sync();
    if (m.thread() == 0) m.store_release(a.flag + m.block(), 1);
  }
};
TEST(SimtFaults, HandOverBeforeItsFlag) {
  const auto kind = FaultKind::hand_over;
  // With one resident block, the first has ended before the second begins: the clocks still remember it.
  expect_fault_of<PeeksAFlag>(__FILE__, {kind, "PeeksAFlag", "hand-over-load", 1, -1, "hand-over-store", 16}, 2);
  expect_fault_of<PublishesForOthers>(__FILE__, {kind, "PublishesForOthers", "others-load", 1, -1, "others-store", 16},
                                      2);
  expect_fault_of<WritesAfterFlag>(__FILE__, {kind, "WritesAfterFlag", "after-load", 1, 0, "after-store", 16}, 2);
  expect_fault_of<Relay>(__FILE__, {kind, "Relay", "relay-load", 3, -1, "relay-store", 16}, 4);
}

// The reader does not wait at all, and may come before the writer: then it reads uninitialised memory.
template <class M, class C>
struct DoesNotWait {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(1) {
    if (m.block() == 0) {
      m.store(a.out, 1);
      m.store_release(a.flag, 1);
    } else {
      while (!C::bad && m.load_acquire(a.flag) == 0) m.pause();
      m.load(a.out);  // @does-not-wait
    }
  }
};
TEST(SimtFaults, NoFlagAtAll) {
  std::vector<std::uint32_t> in(1), out(1), flag(1);
  int unwritten = 0, unordered = 0;
  for (std::uint64_t seed = 1; seed <= 32; ++seed) {
    Options options;
    options.seed = seed;
    Launcher launcher(options);
    add(launcher, "out", out, false);
    add(launcher, "flag", flag);
    try {
      launcher.launch<DoesNotWait, Bad>(2, {in.data(), out.data(), flag.data()});
      ADD_FAILURE() << "seed " << seed << " shows nothing";
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.site.line, line_of(__FILE__, "does-not-wait")) << fault.what();
      EXPECT_EQ(fault.block, 1);
      unwritten += fault.kind == FaultKind::uninitialised;
      unordered += fault.kind == FaultKind::hand_over;
    }
  }
  EXPECT_GT(unwritten, 0);
  EXPECT_GT(unordered, 0);
  EXPECT_EQ(unwritten + unordered, 32);
}

// The next launch may read and overwrite what one launch wrote.
TEST(SimtFaults, LaunchesAreOrdered) {
  std::vector<std::uint32_t> in(1024), out(1024), flag(4);
  Launcher launcher;
  add(launcher, "in", in);
  add(launcher, "out", out, false);
  add(launcher, "flag", flag);
  EXPECT_EQ(launcher.unwritten(out.data()), 4096u);
  for (int i = 0; i < 3; ++i) {
    launcher.launch<BlocksOverlap, Good>(3, {in.data(), out.data(), flag.data()});
    launcher.launch<Bytes, Good>(1, {in.data(), out.data(), flag.data()});
  }
  EXPECT_EQ(launcher.unwritten(out.data()), 4096u - (96 + 64) * 4);
  EXPECT_THROW((launcher.launch<BlocksOverlap, Bad>(3, {in.data(), out.data(), flag.data()})), Fault);
  // After a failed launch the machine is ready for the next.
  launcher.launch<BlocksOverlap, Good>(3, {in.data(), out.data(), flag.data()});
}

}  // namespace
}  // namespace areal::simt
