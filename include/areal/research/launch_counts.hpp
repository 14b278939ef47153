#pragma once
/// \file launch_counts.hpp The launches of a plan: what ran, and the simulated machine's counts. Plain numbers that add
/// up.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace areal {

/// Accesses to global memory. A request is one instruction of a warp: the lanes' n-th accesses at one site since the
/// warp's last synchronisation. Groups and sectors are counted from the region's begin, as device memory begins at a
/// multiple of both.
struct GlobalCounts {
  std::uint64_t elements = 0;  ///< lanes' accesses; a Vec<T, N> is N elements
  std::uint64_t bytes = 0;
  std::uint64_t requests = 0;
  std::uint64_t groups = 0;     ///< groups of w elements of the accesses' size touched by the requests: the UMM's cost
  std::uint64_t sectors = 0;    ///< 32-byte sectors touched by the requests, as ncu counts them
  std::uint64_t coalesced = 0;  ///< elements of requests that touch no more groups than a run of as many neighbours
                                ///< from the same lowest address would
  std::uint64_t strided = 0;    ///< the other elements

  GlobalCounts& operator+=(const GlobalCounts& o) {
    elements += o.elements, bytes += o.bytes, requests += o.requests, groups += o.groups, sectors += o.sectors;
    coalesced += o.coalesced, strided += o.strided;
    return *this;
  }
};

/// Accesses to shared memory: 32 banks of 4 bytes.
struct SharedCounts {
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
  std::uint64_t requests = 0;
  std::uint64_t conflicts = 0;  ///< cycles beyond the conflict-free one (two for 8-byte, four for 16-byte accesses)

  SharedCounts& operator+=(const SharedCounts& o) {
    elements += o.elements, bytes += o.bytes, requests += o.requests, conflicts += o.conflicts;
    return *this;
  }
};

/// What a launch did, or several.
struct Counts {
  GlobalCounts reads, writes;                ///< load, load_once, store, store_once, and copies' global halves
  SharedCounts shared_reads, shared_writes;  ///< get, put, and copy_async's shared half
  GlobalCounts atomics;                      ///< atomic_add, atomic_min
  SharedCounts shared_atomics;               ///< shared_add; lanes that add to one word conflict with one another
  std::uint64_t published = 0;               ///< publish and post, by lane
  std::uint64_t polls = 0;                   ///< poll and peek, by lane: these depend on the schedule
  std::uint64_t shuffles = 0;                ///< by warp
  std::uint64_t votes = 0;                   ///< by warp: ballot, any, all
  std::uint64_t warp_barriers = 0;           ///< by warp: sync_warp
  std::uint64_t block_barriers = 0;          ///< by block: sync()
  std::uint64_t named_barriers = 0;          ///< by block: phases of sync(id, n)
  std::uint64_t mbarrier_phases = 0;         ///< by block
  std::uint64_t deepest_barriers = 0;        ///< most sync() of one block, summed over launches
  std::uint64_t launches = 0;                ///< a launch boundary is a barrier step of the whole machine
  std::uint64_t copied_bytes = 0;            ///< copy_async; counted in reads and shared_writes, too
  std::uint64_t bulk_loaded_bytes = 0;       ///< bulk_load; in reads, too, as elements of 4 bytes
  std::uint64_t bulk_stored_bytes = 0;       ///< bulk_store; in writes, too, as elements of 4 bytes
  std::uint64_t sends = 0;                   ///< send, by lane: words to the shared memory of a block of the cluster
  std::uint64_t sent_bytes = 0;              ///< of these
  std::uint64_t cluster_barriers = 0;        ///< by cluster: sync_cluster(); each is one of block_barriers, too
  std::uint64_t filled_bytes = 0;            ///< between launches

  Counts& operator+=(const Counts& o) {
    reads += o.reads, writes += o.writes, shared_reads += o.shared_reads, shared_writes += o.shared_writes;
    atomics += o.atomics, shared_atomics += o.shared_atomics;
    published += o.published, polls += o.polls, shuffles += o.shuffles, votes += o.votes;
    warp_barriers += o.warp_barriers, block_barriers += o.block_barriers, named_barriers += o.named_barriers;
    mbarrier_phases += o.mbarrier_phases, deepest_barriers += o.deepest_barriers, launches += o.launches;
    copied_bytes += o.copied_bytes, bulk_loaded_bytes += o.bulk_loaded_bytes;
    bulk_stored_bytes += o.bulk_stored_bytes, filled_bytes += o.filled_bytes;
    sends += o.sends, sent_bytes += o.sent_bytes, cluster_barriers += o.cluster_barriers;
    return *this;
  }
  /// The longest chain of barriers: those of the block with the most, and the end of each launch.
  std::uint64_t barrier_steps() const { return deepest_barriers + launches; }
  friend Counts operator+(Counts a, const Counts& b) { return a += b; }
};

/// One launch: what ran and, on simt, its counts.
struct LaunchCounts {
  std::string kernel;
  std::int64_t blocks = 0;
  int threads = 0;
  Counts counts;
  std::uint64_t order = 0;       ///< a hash of the order in which lanes ran: the same seed gives the same
  std::size_t shared_bytes = 0;  ///< of a block
  int resident = 0;              ///< on cuda, blocks that one multiprocessor holds at once
  bool together = false;         ///< all blocks were resident at once: none began before all fitted
};

/// Called for each launch of a plan on a device, in their order, by the thread that executes the plan: on simt after
/// the launch has run, on cuda after it is queued, so that an event can be recorded behind it. Must not throw.
using LaunchReport = std::function<void(const LaunchCounts&)>;

}  // namespace areal
