// Every kind of fault of asynchronous copies and of the barriers that they complete on: planted, found, and reported
// with kernel, block, thread and line.
#include "simt_faults.hpp"

namespace areal::simt {
namespace {

template <class M, class C>
struct ReadsBeforeWait {
  struct Shared {
    std::uint32_t tile[32];
  };
  AREAL_TEST_KERNEL(32) {
    Shared& s = m.template shared<Shared>();
    m.copy_async(s.tile[m.thread()], a.in + m.thread());  // @copy-issued
    m.commit_copies();
    if (!C::bad || m.thread() != 17) m.template wait_copies<0>();
    m.get(s.tile[m.thread()]);  // @copy-read
  }
};
// All but the youngest group have landed; the lane reads the youngest.
template <class M, class C>
struct WaitsForTooFew {
  struct Shared {
    std::uint32_t tile[2];
  };
  AREAL_TEST_KERNEL(1) {
    Shared& s = m.template shared<Shared>();
    for (int i = 0; i < 2; ++i) {
      m.copy_async(s.tile[i], a.in + i);
      m.commit_copies();
    }
    m.template wait_copies<C::bad ? 1 : 0>();
    m.get(s.tile[0]);
    m.get(s.tile[1]);  // @too-few
  }
};
// Nobody waits for a copy that was never committed.
template <class M, class C>
struct NotCommitted {
  struct Shared {
    std::uint32_t word;
  };
  AREAL_TEST_KERNEL(1) {
    Shared& s = m.template shared<Shared>();
    m.copy_async(s.word, a.in);
    if (!C::bad) m.commit_copies();
    m.template wait_copies<0>();
    m.get(s.word);  // @not-committed
  }
};
template <class M, class C>
struct OverwritesTarget {
  struct Shared {
    std::uint32_t word;
  };
  AREAL_TEST_KERNEL(1) {
    Shared& s = m.template shared<Shared>();
    m.copy_async(s.word, a.in);
    m.commit_copies();
    if (!C::bad) m.template wait_copies<0>();
    m.put(s.word, 1);  // @target
  }
};
template <class M, class C>
struct OverwritesSource {
  struct Shared {
    std::uint32_t word;
  };
  AREAL_TEST_KERNEL(1) {
    Shared& s = m.template shared<Shared>();
    m.store(a.out, 1);
    m.copy_async(s.word, a.out);
    m.commit_copies();
    if (!C::bad) m.template wait_copies<0>();
    m.store(a.out, 2);  // @source
  }
};
TEST(SimtFaults, CopiesInFlight) {
  const auto kind = FaultKind::in_flight;
  expect_fault_of<ReadsBeforeWait>(__FILE__, {kind, "ReadsBeforeWait", "copy-read", 0, 17, "copy-issued", 16});
  expect_fault_of<WaitsForTooFew>(__FILE__, {kind, "WaitsForTooFew", "too-few", 0, 0, "", 16});
  expect_fault_of<NotCommitted>(__FILE__, {kind, "NotCommitted", "not-committed", 0, 0, "", 16});
  expect_fault_of<OverwritesTarget>(__FILE__, {kind, "OverwritesTarget", "target", 0, 0, "", 16});
  expect_fault_of<OverwritesSource>(__FILE__, {kind, "OverwritesSource", "source", 0, 0, "", 16});
}

// The lane has waited, but the others have not synchronised with it since.
template <class M, class C>
struct NoBarrierAfterWait {
  struct Shared {
    std::uint32_t tile[32];
  };
  AREAL_TEST_KERNEL(32) {
    Shared& s = m.template shared<Shared>();
    m.copy_async(s.tile[m.thread()], a.in + m.thread());  // @not-met-copy
    m.commit_copies();
    if (C::bad) m.sync();
    m.template wait_copies<0>();
    if (!C::bad) m.sync();
    m.get(s.tile[31 - m.thread()]);  // @not-met
  }
};
TEST(SimtFaults, WhatALaneWaitedForIsItsOwn) {
  int in_flight = 0, race = 0;
  for (std::uint64_t seed = 1; seed <= 32; ++seed) {
    std::vector<std::uint32_t> in(32);
    Options options;
    options.seed = seed;
    Launcher launcher(options);
    add(launcher, "in", in, true, false);
    EXPECT_NO_THROW((launcher.launch<NoBarrierAfterWait, Good>(1, {in.data(), nullptr, nullptr})));
    try {
      launcher.launch<NoBarrierAfterWait, Bad>(1, {in.data(), nullptr, nullptr});
      ADD_FAILURE() << "seed " << seed;
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.site.line, line_of(__FILE__, "not-met")) << fault.what();
      EXPECT_EQ(fault.other.line, line_of(__FILE__, "not-met-copy")) << fault.what();
      in_flight += fault.kind == FaultKind::in_flight;
      race += fault.kind == FaultKind::race;
    }
  }
  EXPECT_EQ(in_flight + race, 32);
  EXPECT_GT(in_flight, 0);  // the other lane's copy was still in flight, or only the other lane had waited for it
}

// Shared by bulk kernels: 64 numbers in and out, one barrier.
struct BulkShared {
  alignas(16) std::uint32_t tile[64];
  Mbarrier full;
};
constexpr int bulk_bytes = 64 * 4;

// The lane that issued the load reads without a wait: at once, or after it has landed.
template <class M, class C>
struct IssuerDoesNotWait {
  using Shared = BulkShared;
  AREAL_TEST_KERNEL(32) {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) {
      m.init(s.full, 1);
      m.fence_init();
    }
    m.sync();
    if (m.thread() == 0) {
      m.arrive_expect(s.full, bulk_bytes);
      m.bulk_load(s.tile, a.in, bulk_bytes, s.full);  // @issued
    }
    for (int i = 0; i < 8; ++i) m.sync();
    if (!C::bad) m.wait(s.full, 0);
    m.get(s.tile[m.thread()]);  // @issuer-reads
  }
};
template <class M, class C>
struct OverwritesBulkSource {
  using Shared = BulkShared;
  AREAL_TEST_KERNEL(32) {
    Shared& s = m.template shared<Shared>();
    m.put(s.tile[m.thread()], 1);
    m.put(s.tile[m.thread() + 32], 1);
    m.fence_async();
    m.sync();
    if (m.thread() == 0) {
      m.bulk_store(a.out, s.tile, bulk_bytes);  // @bulk-store
      m.commit_bulk();
      if (!C::bad) m.template wait_bulk<0>();
    }
    m.sync();
    m.put(s.tile[m.thread()], 2);  // @bulk-source
  }
};
// The store's target is written at some time; within this launch, nobody can know when.
template <class M, class C>
struct ReadsBulkTarget {
  using Shared = BulkShared;
  AREAL_TEST_KERNEL(32) {
    Shared& s = m.template shared<Shared>();
    m.put(s.tile[m.thread()], 1);
    m.put(s.tile[m.thread() + 32], 1);
    m.fence_async();
    m.sync();
    if (m.thread() == 0) {
      m.bulk_store(a.out, s.tile, bulk_bytes);  // @bulk-target
      m.commit_bulk();
      m.template wait_bulk<0>();
      if (C::bad) m.load(a.out);  // @reads-target
    }
  }
};
TEST(SimtFaults, BulkCopiesInFlight) {
  const auto kind = FaultKind::in_flight;
  expect_fault_of<IssuerDoesNotWait>(__FILE__, {kind, "IssuerDoesNotWait", "issuer-reads", 0, -1, "issued", 16});
  expect_fault_of<OverwritesBulkSource>(__FILE__,
                                        {kind, "OverwritesBulkSource", "bulk-source", 0, -1, "bulk-store", 16});
  expect_fault_of<ReadsBulkTarget>(__FILE__, {kind, "ReadsBulkTarget", "reads-target", 0, 0, "bulk-target", 16});
}

template <class M, class C>
struct NoFenceAsync {
  using Shared = BulkShared;
  AREAL_TEST_KERNEL(32) {
    Shared& s = m.template shared<Shared>();
    m.put(s.tile[m.thread() + 32], 1);
    if (C::bad) m.fence_async();
    m.put(s.tile[m.thread()], 1);  // @after-fence
    if (!C::bad) m.fence_async();
    m.sync();
    if (m.thread() == 0) {
      m.bulk_store(a.out, s.tile, bulk_bytes);  // @no-fence-async
      m.commit_bulk();
    }
  }
};
template <class M, class C>
struct NoFenceInit {
  using Shared = BulkShared;
  AREAL_TEST_KERNEL(32) {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) {
      m.init(s.full, 1);  // @init
      if (!C::bad) m.fence_init();
      m.arrive_expect(s.full, bulk_bytes);
      m.bulk_load(s.tile, a.in, bulk_bytes, s.full);  // @no-fence-init
      m.wait(s.full, 0);
    }
  }
};
TEST(SimtFaults, Fences) {
  const auto kind = FaultKind::missing_fence;
  expect_fault_of<NoFenceAsync>(__FILE__, {kind, "NoFenceAsync", "no-fence-async", 0, 0, "after-fence", 16});
  expect_fault_of<NoFenceInit>(__FILE__, {kind, "NoFenceInit", "no-fence-init", 0, 0, "init", 16});
}

template <class M, class C>
struct NotInitialised {
  using Shared = BulkShared;
  AREAL_TEST_KERNEL(1) {
    Shared& s = m.template shared<Shared>();
    if (!C::bad) m.init(s.full, 1);
    m.arrive(s.full);  // @not-initialised
  }
};
template <class M, class C>
struct TooManyArrive {
  using Shared = BulkShared;
  AREAL_TEST_KERNEL(32) {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) m.init(s.full, 32);
    m.sync();
    if (m.thread() == 0) m.arrive_expect(s.full, 16);       // keeps the phase open
    if (!C::bad ? m.thread() > 0 : true) m.arrive(s.full);  // @too-many
  }
};
template <class M, class C>
struct UsesBeforeBarrier {
  using Shared = BulkShared;
  AREAL_TEST_KERNEL(64) {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) {
      m.init(s.full, 1);  // @init-late
      m.store_relaxed(a.flag, 1);
    }
    if (!C::bad) m.sync();
    if (m.thread() == 40) {
      while (m.load_relaxed(a.flag) == 0) m.pause();
      m.arrive(s.full);  // @uses-early
    }
  }
};
// A load of odd size, or to an odd place.
template <class M, class C>
struct OddBulk {
  using Shared = BulkShared;
  AREAL_TEST_KERNEL(1) {
    Shared& s = m.template shared<Shared>();
    m.init(s.full, 1);
    m.fence_init();
    m.arrive_expect(s.full, 32);
    m.bulk_load(s.tile + C::bad, a.in, 32, s.full);  // @odd
    m.wait(s.full, 0);
  }
};
TEST(SimtFaults, Mbarriers) {
  const auto kind = FaultKind::mbarrier;
  expect_fault_of<NotInitialised>(__FILE__, {kind, "NotInitialised", "not-initialised", 0, 0, "", 16});
  expect_fault_of<TooManyArrive>(__FILE__, {kind, "TooManyArrive", "too-many", 0, -1, "", 1});
  expect_fault_of<UsesBeforeBarrier>(__FILE__, {kind, "UsesBeforeBarrier", "uses-early", 0, 40, "init-late", 16});
  expect_fault_of<OddBulk>(__FILE__, {FaultKind::misaligned, "OddBulk", "odd", 0, 0, "", 16});
}

}  // namespace
}  // namespace areal::simt
