// Every kind of fault of barriers, collectives and asynchronous copies: planted, found, and reported with kernel,
// block, thread and line.
#include "simt_faults.hpp"

namespace areal::simt {
namespace {

template <class M, class C>
struct LeavesEarly {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(64) {
    if (C::bad && m.block() == 1 && m.thread() == 40) return;
    m.sync();  // @leaves-early
  }
};
template <class M, class C>
struct TwoBarriers {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(64) {
    if (!C::bad || m.warp() == 0)
      m.sync();
    else
      m.sync();  // @two-barriers
  }
};
// One warp waits at the barrier of all, the other at a named one: neither can continue.
template <class M, class C>
struct WaitsElsewhere {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(64) {
    if (m.warp() == 1) m.sync(1, C::bad ? 64 : 32);
    m.sync();  // @waits-elsewhere
  }
};
template <class M, class C>
struct CountsDisagree {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(96) {
    if (m.warp() == 0) m.arrive(3, 96);
    m.sync();
    if (m.warp() > 0) m.sync(3, C::bad ? 64 : 96);  // @counts-disagree
  }
};
template <class M, class C>
struct ArrivesTwice {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(64) {
    if (m.warp() == 0) {
      m.arrive(1, 64);
      if (C::bad) m.arrive(1, 64);  // @arrives-twice
    } else {
      if (C::bad) m.sync(2, 64);
      m.sync(1, 64);
    }
  }
};

TEST(SimtFaults, Barriers) {
  const auto kind = FaultKind::barrier;
  expect_fault_of<LeavesEarly>(__FILE__, {kind, "LeavesEarly", "leaves-early", 1, -1, "", 16}, 2);
  expect_fault_of<WaitsElsewhere>(__FILE__, {kind, "WaitsElsewhere", "waits-elsewhere", 0, 0, "", 16});
  expect_fault_of<CountsDisagree>(__FILE__, {kind, "CountsDisagree", "counts-disagree", 0, -1, "", 16});
  expect_fault_of<ArrivesTwice>(__FILE__, {kind, "ArrivesTwice", "arrives-twice", 0, -1, "", 16});
  // Either warp may be the second to arrive, so for some seeds the fault is at the other line.
  Launcher launcher;
  EXPECT_THROW((launcher.launch<TwoBarriers, Bad>(1, {})), Fault);
  EXPECT_NO_THROW((launcher.launch<TwoBarriers, Good>(1, {})));
}

// Barrier 1 without barrier 2: the producer may overwrite what the consumer still reads.
template <class M, class C>
struct NeverEmpty {
  struct Shared {
    std::uint32_t buffer[32];
  };
  AREAL_TEST_KERNEL(64) {
    Shared& s = m.template shared<Shared>();
    for (int r = 0; r < 3; ++r) {
      if (m.warp() == 0) {
        if (!C::bad && r > 0) m.sync(2, 64);
        m.put(s.buffer[m.lane()], 1);  // @never-empty
        m.arrive(1, 64);
        if (C::bad) m.sync(3, 64);
      } else {
        if (C::bad) m.arrive(3, 64);
        m.sync(1, 64);
        m.get(s.buffer[31 - m.lane()]);  // @never-empty-get
        if (!C::bad && r < 2) m.arrive(2, 64);
      }
    }
  }
};
TEST(SimtFaults, NamedBarriersOrderWhatTheyJoin) {
  std::vector<int> lines;
  for (std::uint64_t seed = 1; seed <= 32; ++seed) {
    Options options;
    options.seed = seed;
    Launcher launcher(options);
    EXPECT_NO_THROW((launcher.launch<NeverEmpty, Good>(2, {})));
    try {
      launcher.launch<NeverEmpty, Bad>(1, {});
      ADD_FAILURE() << "seed " << seed << " shows no race";
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.kind, FaultKind::race) << fault.what();
      EXPECT_TRUE(fault.site.line == line_of(__FILE__, "never-empty") ||
                  fault.site.line == line_of(__FILE__, "never-empty-get"))
          << fault.what();
    }
  }
}

template <class M, class C>
struct MaskLacksCaller {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(32) {
    if (m.lane() < 16 || (C::bad && m.lane() == 20)) m.sync_warp(0xffff);  // @lacks-caller
  }
};
template <class M, class C>
struct NamesTheExited {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(32) {
    if (C::bad && m.lane() == 9) return;
    m.any(true, full_mask);  // @names-exited
  }
};
template <class M, class C>
struct NamesTheUnborn {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(40) {
    m.ballot(true, m.warp() == 0 || C::bad ? full_mask : 0xffu);  // @names-unborn
  }
};
template <class M, class C>
struct MasksDisagree {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(32) {
    m.sync_warp(C::bad && m.lane() < 4 ? 0x00ffffffu : full_mask);  // @masks-disagree
  }
};
template <class M, class C>
struct KindsDisagree {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(32) {
    if (C::bad && m.lane() == 3)
      m.all(true, full_mask);
    else
      m.any(true, full_mask);
  }
};
template <class M, class C>
struct ReadsOutside {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(32) {
    if (m.lane() < 16) m.shuffle_down(m.lane(), C::bad ? 1 : 0, 0xffff);  // @reads-outside
  }
};
TEST(SimtFaults, Collectives) {
  const auto kind = FaultKind::collective;
  expect_fault_of<MaskLacksCaller>(__FILE__, {kind, "MaskLacksCaller", "lacks-caller", 0, 20, "", 16});
  expect_fault_of<NamesTheExited>(__FILE__, {kind, "NamesTheExited", "names-exited", 0, -1, "", 16});
  expect_fault_of<NamesTheUnborn>(__FILE__, {kind, "NamesTheUnborn", "names-unborn", 0, -1, "", 16});
  expect_fault_of<MasksDisagree>(__FILE__, {kind, "MasksDisagree", "masks-disagree", 0, -1, "masks-disagree", 16});
  expect_fault_of<ReadsOutside>(__FILE__, {FaultKind::shuffle_source, "ReadsOutside", "reads-outside", 0, 15, "", 16});
  Launcher launcher;
  EXPECT_NO_THROW((launcher.launch<KindsDisagree, Good>(1, {})));
  EXPECT_THROW((launcher.launch<KindsDisagree, Bad>(1, {})), Fault);
}

// Halves of a warp that synchronise separately, in any order, break no rule.
template <class M, class C>
struct Halves {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(32) {
    const unsigned half = m.lane() < 16 ? 0x0000ffffu : 0xffff0000u;
    int v = m.lane();
    for (int i = 0; i < (m.lane() < 16 ? 8 : 3); ++i) v = m.shuffle_xor(v, 1, half);
    if (m.lane() < 16 && v != m.lane()) m.load(a.in - 1);
    if (m.lane() >= 16 && v != (m.lane() ^ 1)) m.load(a.in - 1);
    if (m.ballot(m.lane() % 2 == 0, full_mask) != 0x55555555u) m.load(a.in - 1);
  }
};
TEST(SimtFaults, PartsOfAWarpMayMeet) {
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    Options options;
    options.seed = seed;
    Launcher launcher(options);
    EXPECT_NO_THROW((launcher.launch<Halves, Good>(2, {nullptr, nullptr, nullptr})));
  }
}

template <class M, class C>
struct SpinsForEver {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(32) {
    if (m.block() == 1)
      while (m.load_acquire(a.flag) == 0) {  // @spins
      }
    else if (!C::bad && m.thread() == 0)
      m.store_release(a.flag, 1);
  }
};
template <class M, class C>
struct NobodyArrives {
  struct Shared {
    Mbarrier b;
  };
  AREAL_TEST_KERNEL(32) {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) m.init(s.b, 2);
    m.sync();
    if (m.thread() == 0) m.arrive(s.b);
    if (!C::bad && m.thread() == 1) m.arrive(s.b);
    m.wait(s.b, 0);  // @nobody-arrives
  }
};

TEST(SimtFaults, Stuck) {
  expect_fault_of<SpinsForEver>(__FILE__, {FaultKind::stuck, "SpinsForEver", "spins", 1, -1, "", 16}, 2);
  expect_fault_of<NobodyArrives>(__FILE__, {FaultKind::stuck, "NobodyArrives", "nobody-arrives", 0, -1, "", 16});
}

// With one resident block and blocks that start from the last, a block that waits for an earlier one waits for ever. So
// the options find code that relies on the order of blocks; no luck is needed.
template <class M, class C>
struct WaitsForEarlier {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(1) {
    const std::int64_t block = C::bad ? m.block() : m.atomic_add(a.flag + 3, 1);
    if (block > 0)
      while (m.load_acquire(a.flag + block - 1) == 0) m.pause();
    m.store_release(a.flag + block, 1);
  }
};
TEST(SimtFaults, OrderOfBlocks) {
  for (const StartOrder start : {StartOrder::ascending, StartOrder::descending}) {
    std::vector<std::uint32_t> flag(4);
    Options options;
    options.residents = 1;
    options.start = start;
    Launcher launcher(options);
    add(launcher, "flag", flag);
    EXPECT_NO_THROW((launcher.launch<WaitsForEarlier, Good>(3, {nullptr, nullptr, flag.data()})));
    launcher.fill(flag.data(), 0, 16);
    if (start == StartOrder::ascending) {
      EXPECT_NO_THROW((launcher.launch<WaitsForEarlier, Bad>(3, {nullptr, nullptr, flag.data()})));
    } else {
      EXPECT_THROW((launcher.launch<WaitsForEarlier, Bad>(3, {nullptr, nullptr, flag.data()})), Fault);
    }
  }
}

// An exception of a kernel is rethrown, and its lanes' destructors run.
struct Counted {
  explicit Counted(int& n) : alive(n) { ++alive; }
  Counted(const Counted&) = delete;
  ~Counted() { --alive; }
  int& alive;
};
int alive = 0;
template <class M, class C>
struct Throws {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(64) {
    const Counted counted(alive);
    m.sync();
    if (C::bad && m.thread() == 5) throw std::runtime_error("from a lane");
    if (m.thread() == 40) m.load(a.in);  // outside all regions
    m.sync();
  }
};
TEST(SimtFaults, LanesAreUnwound) {
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    Options options;
    options.seed = seed;
    Launcher launcher(options);
    EXPECT_THROW((launcher.launch<Throws, Bad>(4, {nullptr, nullptr, nullptr})), std::runtime_error);
    EXPECT_EQ(alive, 0);
    EXPECT_THROW((launcher.launch<Throws, Good>(4, {nullptr, nullptr, nullptr})), Fault);
    EXPECT_EQ(alive, 0);
  }
}

}  // namespace
}  // namespace areal::simt
