#pragma once
// The interface between Machine and the engine: the part of a thread that Machine reads itself, and the calls that
// check, count and switch threads. Kernels include no more of the engine than this.

#include <cstddef>
#include <cstdint>

#include "simt/engine/op.hpp"

namespace areal::simt {

/// A thread's own data.
struct ThreadInterface {
  int index = 0;  // in its block
  std::int64_t block = 0;
  std::int64_t blocks = 0;
  int cluster_blocks = 1;  // of a cluster
  std::byte* shared = nullptr;
  std::uint64_t* changes = nullptr;  // counts the writes that changed memory: without any, polls never succeed
};

/// A kernel object without its type.
struct KernelShape {
  const char* type_name;  // typeid(..).name()
  int threads;
  std::size_t shared_bytes;  // 0: none
  void (*run)(ThreadInterface& thread, const void* args);
};

enum class Collective { sync_warp, shuffle, ballot, any, all, multiply, multiply_tiles };

/// A lane's part of a product of bytes or bits: see multiply_bytes in kernels/primitives/machine.hpp.
struct Multiplication {
  int words;  // of the right operand
  bool of_bits;
  const std::uint32_t *a, *b;
  std::uint32_t* c;
};

namespace calls {

/// Checks and counts an access that the caller then makes. Returns only if it breaks no rule.
void access(ThreadInterface& thread, Op op, const void* at, unsigned bytes, unsigned elements, Site site);
/// Checks that a kernel uses shared memory as a structure of that many bytes.
void shared(ThreadInterface& thread, std::size_t bytes, Site site);

/// Lets other threads run: before a poll, at a pause, and sometimes before a flag is written.
void poll_pause(ThreadInterface& thread, Site site);
void perhaps_pause(ThreadInterface& thread, Site site);
/// After a publish, and after a poll: the flag at this address passes on its publisher's knowledge.
void release(ThreadInterface& thread, const void* at);
void acquire(ThreadInterface& thread, const void* at);
/// After a post, which overwrites what was published there.
void forget_release(ThreadInterface& thread, const void* at);

void sync(ThreadInterface& thread, Site site);
void named_barrier(ThreadInterface& thread, int id, int threads, bool wait, Site site);
/// argument: the lane that a shuffle reads. The value of `multiply` is the address of the lane's Multiplication.
std::uint64_t collective(ThreadInterface& thread, Collective kind, std::uint32_t mask, std::uint64_t value,
                         int argument, Site site);

void copy_async(ThreadInterface& thread, void* to, const void* from, unsigned bytes, unsigned elements, Site site);
void commit_copies(ThreadInterface& thread);
void wait_copies(ThreadInterface& thread, int youngest);
void arrive_copies(ThreadInterface& thread, kernels::Mbarrier& barrier, Site site);

void init(ThreadInterface& thread, kernels::Mbarrier& barrier, int arrivals, Site site);
void arrive(ThreadInterface& thread, kernels::Mbarrier& barrier, std::int64_t expected_bytes, Site site);
void wait(ThreadInterface& thread, kernels::Mbarrier& barrier, unsigned parity, Site site);
void fence_init(ThreadInterface& thread);
void bulk_load(ThreadInterface& thread, void* to, const void* from, std::size_t bytes, kernels::Mbarrier& barrier,
               Site site);
void bulk_store(ThreadInterface& thread, void* to, const void* from, std::size_t bytes, Site site);
void commit_bulk(ThreadInterface& thread);
void wait_bulk(ThreadInterface& thread, int youngest);
void fence_async(ThreadInterface& thread);

void begin_products(ThreadInterface& thread);
void multiply_tiles(ThreadInterface& thread, std::uint32_t* sum, const kernels::ByteTile& left,
                    const kernels::ByteTile& right, bool more, Site site);
void commit_products(ThreadInterface& thread);
void wait_products(ThreadInterface& thread, int youngest);

void sync_cluster(ThreadInterface& thread, Site site);
/// cell and barrier are the sender's own; the receiver's lie at the same places of its shared memory.
void send(ThreadInterface& thread, void* cell, const void* value, unsigned bytes, unsigned elements, int rank,
          kernels::Mbarrier& barrier, Site site);

}  // namespace calls
}  // namespace areal::simt
