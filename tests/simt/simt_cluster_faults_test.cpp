// Every kind of fault of clusters, of sends between their blocks and of copies that arrive at barriers: planted, found,
// and reported with kernel, block, thread and line.
#include "simt_faults.hpp"

namespace areal::simt {
namespace {

// Shared by these kernels: places for a warp's numbers from two senders, and their barrier.
struct Inbox {
  std::uint32_t from[2][32];
  Mbarrier full;
};
constexpr int sent_bytes = 32 * 4;

template <class M>
AREAL_DEVICE Inbox& prepare(const M& m) {
  Inbox& s = m.template shared<Inbox>();
  if (m.thread() == 0) {
    m.init(s.full, 1);
    m.fence_init();
  }
  return s;
}

template <template <class, class> class K>
void expect_cluster_fault(const Expected& expected, int blocks_each = 2) {
  Expected all = expected;
  all.residents = 2 * blocks_each;
  expect_fault_of<K>(__FILE__, all, 2 * blocks_each, blocks_each);
}

// The barrier of the cluster orders no send.
template <class M, class C>
struct ReadsWithoutWaiting {
  using Shared = Inbox;
  AREAL_TEST_KERNEL(32) {
    Inbox& s = prepare(m);
    m.sync_cluster();
    if (m.thread() == 0 && m.cluster_rank() == 1) m.arrive_expect(s.full, sent_bytes);
    if (m.cluster_rank() == 0) m.send(s.from[0][m.thread()], 1, 1, s.full);  // @unwaited-send
    m.sync_cluster();
    if (m.cluster_rank() == 0) return;
    if (!C::bad) m.wait(s.full, 0);
    m.get(s.from[0][m.thread()]);  // @unwaited-get
  }
};
template <class M, class C>
struct TwoSendToOneCell {
  using Shared = Inbox;
  AREAL_TEST_KERNEL(32) {
    Inbox& s = prepare(m);
    m.sync_cluster();
    const int rank = m.cluster_rank();
    if (rank < 2) return m.send(s.from[C::bad ? 0 : rank][m.thread()], 1, 2, s.full);  // @two-sends
    if (m.thread() == 0) m.arrive_expect(s.full, 2 * sent_bytes);
    m.wait(s.full, 0);
  }
};
TEST(SimtClusterFaults, SendsInFlight) {
  const auto kind = FaultKind::in_flight;
  expect_cluster_fault<ReadsWithoutWaiting>({kind, "ReadsWithoutWaiting", "unwaited-get", -1, -1, "unwaited-send", 16});
  expect_cluster_fault<TwoSendToOneCell>({kind, "TwoSendToOneCell", "two-sends", -1, -1, "two-sends", 16}, 3);
}

// The owner has read its cell; a relaxed flag, which orders nothing, says so.
template <class M, class C>
struct OverwritesWhatIsRead {
  using Shared = Inbox;
  AREAL_TEST_KERNEL(32) {
    Inbox& s = prepare(m);
    m.put(s.from[0][m.thread()], 1);
    m.sync_cluster();
    const int rank = m.cluster_rank();
    std::uint32_t* const flag = a.flag + m.cluster();
    if (rank == 1) {
      m.get(s.from[0][m.thread()]);  // @owner-reads
      m.sync_warp();
      if (m.thread() == 0) m.store_relaxed(flag, 1);
    }
    if (!C::bad) m.sync_cluster();
    if (rank == 0) {
      while (m.load_relaxed(flag) == 0) m.pause();
      m.send(s.from[0][m.thread()], 2, 1, s.full);  // @overwrites-read
    } else {
      if (m.thread() == 0) m.arrive_expect(s.full, sent_bytes);
      m.wait(s.full, 0);
    }
  }
};
TEST(SimtClusterFaults, ASendOverWhatItsOwnerReads) {
  expect_cluster_fault<OverwritesWhatIsRead>(
      {FaultKind::race, "OverwritesWhatIsRead", "overwrites-read", -1, -1, "owner-reads", 16});
}

// The cell is sent to again; its owner's credit, a send as well, says when.
template <class M, class C>
struct SendsWithoutCredit {
  using Shared = Inbox;
  AREAL_TEST_KERNEL(32) {
    Inbox& s = prepare(m);
    m.sync_cluster();
    const int rank = m.cluster_rank();
    if (m.thread() == 0) m.arrive_expect(s.full, rank == 0 ? 4 : sent_bytes);
    for (unsigned k = 0; k < 2; ++k) {
      if (rank == 0) {
        if (k == 1 && !C::bad) m.wait(s.full, 0);
        m.send(s.from[0][m.thread()], k, 1, s.full);  // @sends-again
      } else {
        m.wait(s.full, k);
        m.get(s.from[0][m.thread()]);  // @gets-first
        m.sync_warp();
        if (m.thread() == 0 && k == 0) {
          m.arrive_expect(s.full, sent_bytes);
          m.send(s.from[1][0], 1, 0, s.full);
        }
      }
    }
    if (rank == 0) m.wait(s.full, 0);
  }
};
TEST(SimtClusterFaults, Credits) {
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    Options options;
    options.seed = seed;
    Launcher launcher(options);
    EXPECT_NO_THROW((launcher.launch_clusters<SendsWithoutCredit, Good>(2, 2, {}))) << "seed " << seed;
    try {
      launcher.launch_clusters<SendsWithoutCredit, Bad>(2, 2, {});
      ADD_FAILURE() << "seed " << seed;
    } catch (const Fault& fault) {  // in flight, or landed before it is read, or after
      EXPECT_TRUE(fault.kind == FaultKind::in_flight || fault.kind == FaultKind::race) << fault.what();
      EXPECT_TRUE(fault.site.line == line_of(__FILE__, "sends-again") ||
                  fault.site.line == line_of(__FILE__, "gets-first"))
          << fault.what();
    }
  }
}

// A send hands on itself, and nothing else that its thread wrote.
template <class M, class C>
struct SendsInsteadOfPublishing {
  using Shared = Inbox;
  AREAL_TEST_KERNEL(32) {
    Inbox& s = prepare(m);
    m.sync_cluster();
    std::uint32_t* const mine = a.out + m.cluster() * 32 + m.thread();
    if (m.cluster_rank() == 0) {
      m.store(mine, 1);  // @sender-wrote
      m.send(s.from[0][m.thread()], 2, 1, s.full);
    } else {
      if (m.thread() == 0) m.arrive_expect(s.full, sent_bytes);
      m.wait(s.full, 0);
    }
    if (!C::bad) m.sync_cluster();
    if (m.cluster_rank() == 1) m.load(mine);  // @reads-what-sender-wrote
  }
};
TEST(SimtClusterFaults, WhatASenderWrote) {
  expect_cluster_fault<SendsInsteadOfPublishing>(
      {FaultKind::hand_over, "SendsInsteadOfPublishing", "reads-what-sender-wrote", -1, -1, "sender-wrote", 16});
}

template <class M, class C>
struct SendsOutside {
  using Shared = Inbox;
  AREAL_TEST_KERNEL(32) {
    Inbox& s = prepare(m);
    m.sync_cluster();
    if (m.thread() == 0) m.arrive_expect(s.full, sent_bytes);
    m.send(s.from[0][m.thread()], 1, m.cluster_rank() + (C::bad ? 1 : 0), s.full);  // @outside
    m.wait(s.full, 0);
  }
};
template <class M, class C>
struct SendsToWhoHasEnded {
  using Shared = Inbox;
  AREAL_TEST_KERNEL(32) {
    Inbox& s = prepare(m);
    m.sync_cluster();
    if (m.cluster_rank() == 0) {
      m.send(s.from[0][m.thread()], 1, 1, s.full);  // @ended
    } else if (!C::bad) {
      if (m.thread() == 0) m.arrive_expect(s.full, sent_bytes);
      m.wait(s.full, 0);
    }
  }
};
// It has landed, for all that the sender knows, or has not: the barrier of the cluster says nothing about it.
template <class M, class C>
struct NobodyWaits {
  using Shared = Inbox;
  AREAL_TEST_KERNEL(32) {
    Inbox& s = prepare(m);
    m.sync_cluster();
    if (m.thread() == 0) m.arrive_expect(s.full, sent_bytes);
    m.send(s.from[0][m.thread()], 1, m.cluster_rank() ^ 1, s.full);  // @nobody-waits
    if (!C::bad) m.wait(s.full, 0);
    m.sync_cluster();
  }
};
TEST(SimtClusterFaults, SendsToNobody) {
  const auto kind = FaultKind::cluster;
  expect_cluster_fault<SendsOutside>({kind, "SendsOutside", "outside", -1, -1, "", 16});
  expect_cluster_fault<NobodyWaits>({kind, "NobodyWaits", "nobody-waits", -1, -1, "", 16});
  // What landed before its receiver ended was not expected.
  int ended = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    Options options;
    options.seed = seed;
    Launcher launcher(options);
    EXPECT_NO_THROW((launcher.launch_clusters<SendsToWhoHasEnded, Good>(2, 2, {})));
    try {
      launcher.launch_clusters<SendsToWhoHasEnded, Bad>(2, 2, {});
      ADD_FAILURE() << "seed " << seed;
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.site.line, line_of(__FILE__, "ended")) << fault.what();
      EXPECT_TRUE(fault.kind == FaultKind::cluster || fault.kind == FaultKind::mbarrier) << fault.what();
      ended += fault.kind == FaultKind::cluster;
    }
  }
  EXPECT_GT(ended, 0);
}

// A block's own barrier says nothing about the receiver's mbarrier.
template <class M, class C>
struct SendsTooEarly {
  using Shared = Inbox;
  AREAL_TEST_KERNEL(32) {
    Inbox& s = prepare(m);
    if (C::bad)
      m.sync();
    else
      m.sync_cluster();
    if (m.thread() == 0) m.arrive_expect(s.full, sent_bytes);
    m.send(s.from[0][m.thread()], 1, m.cluster_rank() ^ 1, s.full);  // @too-early
    m.wait(s.full, 0);
  }
};
template <class M, class C>
struct SendsWithoutFence {
  using Shared = Inbox;
  AREAL_TEST_KERNEL(32) {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) {
      m.init(s.full, 1);  // @send-init
      if (!C::bad) m.fence_init();
    }
    m.sync_cluster();
    if (m.thread() == 0) m.arrive_expect(s.full, sent_bytes);
    m.send(s.from[0][m.thread()], 1, m.cluster_rank() ^ 1, s.full);  // @send-no-fence
    m.wait(s.full, 0);
  }
};
// A phase is opened for bytes that nobody sends.
template <class M, class C>
struct ExpectsTooMuch {
  using Shared = Inbox;
  AREAL_TEST_KERNEL(32) {
    Inbox& s = prepare(m);
    m.sync_cluster();
    if (m.thread() == 0) m.arrive_expect(s.full, sent_bytes);
    m.send(s.from[0][m.thread()], 1, m.cluster_rank() ^ 1, s.full);
    m.wait(s.full, 0);
    if (C::bad && m.thread() == 0 && m.cluster_rank() == 1) m.arrive_expect(s.full, 16);  // @expects
    m.sync_cluster();
  }
};
TEST(SimtClusterFaults, BarriersOfSends) {
  expect_cluster_fault<SendsTooEarly>({FaultKind::mbarrier, "SendsTooEarly", "too-early", -1, -1, "", 16});
  expect_cluster_fault<SendsWithoutFence>(
      {FaultKind::missing_fence, "SendsWithoutFence", "send-no-fence", -1, -1, "send-init", 16});
  expect_cluster_fault<ExpectsTooMuch>({FaultKind::mbarrier, "ExpectsTooMuch", "expects", -1, 0, "", 16});
}

template <class M, class C>
struct LeavesTheCluster {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(64) {
    if (C::bad && m.block() == 1 && m.thread() == 40) return;
    m.sync_cluster();  // @leaves
  }
};
template <class M, class C>
struct WaitsForItsBlock {
  using Shared = NoShared;
  AREAL_TEST_KERNEL(64) {
    if (m.warp() == 1) m.sync(1, C::bad && m.block() == 3 ? 64 : 32);
    m.sync_cluster();
  }
};
TEST(SimtClusterFaults, TheBarrierOfTheCluster) {
  expect_cluster_fault<LeavesTheCluster>({FaultKind::barrier, "LeavesTheCluster", "leaves", -1, -1, "", 16});
  Options options;
  options.residents = 4;
  Launcher launcher(options);
  EXPECT_NO_THROW((launcher.launch_clusters<WaitsForItsBlock, Good>(2, 2, {})));
  try {
    launcher.launch_clusters<WaitsForItsBlock, Bad>(2, 2, {});
    ADD_FAILURE();
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind, FaultKind::barrier) << fault.what();
    EXPECT_NE(std::string(fault.what()).find("waiting at the barrier of the cluster"), std::string::npos)
        << fault.what();
  }
}

TEST(SimtClusterFaults, LaunchesWithoutClusters) {
  for (const bool sends : {false, true}) {
    std::vector<std::uint32_t> in(32);
    Launcher launcher;
    add(launcher, "in", in, true, false);
    try {
      if (sends)
        launcher.launch<SendsTooEarly, Bad>(1, {});
      else
        launcher.launch<LeavesTheCluster, Good>(1, {});
      ADD_FAILURE();
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.kind, FaultKind::cluster) << fault.what();
    }
  }
}

// Each thread's copies arrive; a barrier of the block says nothing about them.
template <class M, class C>
struct ReadsCopiesUnwaited {
  using Shared = Inbox;
  AREAL_TEST_KERNEL(32) {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) m.init(s.full, 32);
    m.sync();
    m.copy_async(s.from[0][m.thread()], a.in + m.thread());  // @arriving-copy
    m.arrive_copies(s.full);
    if (C::bad)
      m.sync();
    else
      m.wait(s.full, 0);
    m.get(s.from[0][31 - m.thread()]);  // @arriving-read
  }
};
// A copy that was issued after the arrival.
template <class M, class C>
struct ArrivesBeforeItsCopy {
  using Shared = Inbox;
  AREAL_TEST_KERNEL(32) {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) m.init(s.full, 32);
    m.sync();
    if (C::bad) m.arrive_copies(s.full);
    m.copy_async(s.from[0][m.thread()], a.in + m.thread());  // @later-copy
    if (!C::bad) m.arrive_copies(s.full);
    m.wait(s.full, 0);
    m.get(s.from[0][m.thread()]);  // @later-read
  }
};
// The next copy goes where the others still read.
template <class M, class C>
struct CopiesOverWhatIsRead {
  using Shared = Inbox;
  AREAL_TEST_KERNEL(64) {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) m.init(s.full, 32);
    m.sync();
    for (unsigned k = 0; k < 2; ++k) {
      if (m.warp() == 0) {
        m.copy_async(s.from[0][m.lane()], a.in + m.lane());  // @copies-over
        m.arrive_copies(s.full);
      }
      m.wait(s.full, k);
      m.get(s.from[0][m.lane()]);  // @still-read
      if (!C::bad) m.sync();
    }
  }
};
TEST(SimtClusterFaults, CopiesThatArrive) {
  const auto kind = FaultKind::in_flight;
  expect_fault_of<ReadsCopiesUnwaited>(__FILE__,
                                       {kind, "ReadsCopiesUnwaited", "arriving-read", 0, -1, "arriving-copy", 16});
  expect_fault_of<ArrivesBeforeItsCopy>(__FILE__,
                                        {kind, "ArrivesBeforeItsCopy", "later-read", 0, -1, "later-copy", 16});
  int races = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    std::vector<std::uint32_t> in(32);
    Options options;
    options.seed = seed;
    Launcher launcher(options);
    add(launcher, "in", in, true, false);
    EXPECT_NO_THROW((launcher.launch<CopiesOverWhatIsRead, Good>(1, {in.data(), nullptr, nullptr})));
    try {
      launcher.launch<CopiesOverWhatIsRead, Bad>(1, {in.data(), nullptr, nullptr});
    } catch (const Fault& fault) {
      ++races;
      EXPECT_TRUE(fault.site.line == line_of(__FILE__, "copies-over") ||
                  fault.site.line == line_of(__FILE__, "still-read"))
          << fault.what();
    }
  }
  EXPECT_EQ(races, 16);
}

}  // namespace
}  // namespace areal::simt
