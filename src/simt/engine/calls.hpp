#pragma once
// The engine's interface for Machine: the part of a lane's state that Machine reads itself, and the calls that check,
// count and switch lanes. Kernels include no more of the engine than this.

#include <cstddef>
#include <cstdint>

#include "simt/engine/op.hpp"

namespace areal::simt {

/// The state of a lane that Machine reads.
struct ThreadInterface {
  int thread = 0;
  std::int64_t block = 0;
  std::int64_t blocks = 0;
  std::byte* shared = nullptr;
  std::uint64_t* changes = nullptr;  // counts the writes that changed memory: without any, polls never succeed
};

/// A kernel object without its type.
struct KernelShape {
  const char* type_name;  // typeid(..).name()
  int threads;
  std::size_t shared_bytes;  // 0: none
  void (*run)(ThreadInterface& lane, const void* args);
};

enum class Collective { sync_warp, shuffle, ballot, any, all };

namespace calls {

/// Checks and counts an access that the caller then makes. Returns only if it breaks no rule.
void access(ThreadInterface& lane, Op op, const void* at, unsigned bytes, unsigned elements, Site site);
/// Shared memory was requested as a structure of so many bytes.
void shared(ThreadInterface& lane, std::size_t bytes, Site site);

/// Lets others run: before a poll, at a pause, and sometimes before a flag is written.
void poll_pause(ThreadInterface& lane, Site site);
void perhaps_pause(ThreadInterface& lane, Site site);
/// After a publish, and after a poll: the flag at this address passes its publisher's knowledge on.
void release(ThreadInterface& lane, const void* at);
void acquire(ThreadInterface& lane, const void* at);
/// After a post: what was published there is overwritten.
void forget_release(ThreadInterface& lane, const void* at);

void sync(ThreadInterface& lane, Site site);
void named_barrier(ThreadInterface& lane, int id, int threads, bool wait, Site site);
/// argument: the lane that a shuffle reads.
std::uint64_t collective(ThreadInterface& lane, Collective kind, std::uint32_t mask, std::uint64_t value, int argument,
                         Site site);

void copy_async(ThreadInterface& lane, void* to, const void* from, unsigned bytes, unsigned elements, Site site);
void commit_copies(ThreadInterface& lane);
void wait_copies(ThreadInterface& lane, int youngest);

void init(ThreadInterface& lane, kernels::Mbarrier& barrier, int arrivals, Site site);
void arrive(ThreadInterface& lane, kernels::Mbarrier& barrier, std::int64_t expected_bytes, Site site);
void wait(ThreadInterface& lane, kernels::Mbarrier& barrier, unsigned parity, Site site);
void fence_init(ThreadInterface& lane);
void bulk_load(ThreadInterface& lane, void* to, const void* from, std::size_t bytes, kernels::Mbarrier& barrier,
               Site site);
void bulk_store(ThreadInterface& lane, void* to, const void* from, std::size_t bytes, Site site);
void commit_bulk(ThreadInterface& lane);
void wait_bulk(ThreadInterface& lane, int youngest);
void fence_async(ThreadInterface& lane);

}  // namespace calls
}  // namespace areal::simt
