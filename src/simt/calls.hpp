#pragma once
// What Machine asks of the engine behind it: the part of a lane that it reads itself, and the calls that check, count
// and switch lanes. Kernels include no more of the engine than this.

#include <cstddef>
#include <cstdint>

#include "op.hpp"

namespace areal::simt {

/// What a lane knows of itself.
struct LaneFace {
  int thread = 0;
  std::int64_t block = 0;
  std::int64_t blocks = 0;
  std::byte* shared = nullptr;
  std::uint64_t* changes = nullptr;  // counts the writes that changed memory: without any, polls wait in vain
};

/// What a kernel object is, without its type.
struct KernelShape {
  const char* type_name;  // typeid(..).name()
  int threads;
  std::size_t shared_bytes;  // 0: none
  void (*run)(LaneFace& lane, const void* args);
};

enum class Collective { sync_warp, shuffle, ballot, any, all };

namespace calls {

/// Checks and counts an access that the caller then makes. Returns only if it breaks no rule.
void access(LaneFace& lane, Op op, const void* at, unsigned bytes, unsigned elements, Site site);
/// Shared memory was asked for as a structure of so many bytes.
void shared(LaneFace& lane, std::size_t bytes, Site site);

/// Lets others run: before a poll, at a pause, and now and then before a flag is written.
void poll_pause(LaneFace& lane, Site site);
void perhaps_pause(LaneFace& lane, Site site);
/// After a publish, and after a poll: the flag at this address hands on what its publisher knew.
void release(LaneFace& lane, const void* at);
void acquire(LaneFace& lane, const void* at);
/// After a post: what was published there is overwritten.
void forget_release(LaneFace& lane, const void* at);

void sync(LaneFace& lane, Site site);
void named_barrier(LaneFace& lane, int id, int threads, bool wait, Site site);
/// argument: the lane that a shuffle reads.
std::uint64_t collective(LaneFace& lane, Collective kind, std::uint32_t mask, std::uint64_t value, int argument,
                         Site site);

void copy_async(LaneFace& lane, void* to, const void* from, unsigned bytes, unsigned elements, Site site);
void commit_copies(LaneFace& lane);
void wait_copies(LaneFace& lane, int youngest);

void init(LaneFace& lane, kernels::Mbarrier& barrier, int arrivals, Site site);
void arrive(LaneFace& lane, kernels::Mbarrier& barrier, std::int64_t expected_bytes, Site site);
void wait(LaneFace& lane, kernels::Mbarrier& barrier, unsigned parity, Site site);
void fence_init(LaneFace& lane);
void bulk_load(LaneFace& lane, void* to, const void* from, std::size_t bytes, kernels::Mbarrier& barrier, Site site);
void bulk_store(LaneFace& lane, void* to, const void* from, std::size_t bytes, Site site);
void commit_bulk(LaneFace& lane);
void wait_bulk(LaneFace& lane, int youngest);
void fence_async(LaneFace& lane);

}  // namespace calls
}  // namespace areal::simt
