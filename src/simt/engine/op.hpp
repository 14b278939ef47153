#pragma once
// The kinds of access that the machine distinguishes, and the memory of each.

#include <cstdint>

#include "kernels/primitives/machine.hpp"

namespace areal::simt {

using kernels::Site;

enum class Op : std::uint8_t {
  load,
  store,
  get,
  put,
  atomic_add,
  atomic_min,
  shared_add,
  store_release,
  load_acquire,
  store_relaxed,
  load_relaxed,
  copy_from,
  copy_to,
  bulk_load,
  bulk_store,
  init,
  send,
  multiply_tiles,
};

const char* name(Op op);

constexpr bool is_shared(Op op) { return op == Op::get || op == Op::put || op == Op::shared_add || op == Op::copy_to; }
constexpr bool is_write(Op op) {
  return op == Op::store || op == Op::put || op == Op::store_release || op == Op::store_relaxed || op == Op::copy_to ||
         op == Op::send;
}
constexpr bool is_atomic(Op op) { return op == Op::atomic_add || op == Op::atomic_min || op == Op::shared_add; }
/// Accesses that do not race with each other in any order.
constexpr bool is_strong(Op op) {
  return is_atomic(op) || op == Op::store_release || op == Op::load_acquire || op == Op::store_relaxed ||
         op == Op::load_relaxed;
}
/// Words for communication between blocks.
constexpr bool is_flag(Op op) { return is_strong(op) && !is_atomic(op); }

/// An action of a thread, for drawings.
struct Event {
  std::uint64_t step;  ///< of the scheduler; a thread's actions without a pause share one
  std::int64_t block;
  int thread;
  Op op;
  const void* address;
  unsigned bytes;
  Site site;
};

}  // namespace areal::simt
