#include "simt/engine/fiber.hpp"

#include <sys/mman.h>

#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define AREAL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define AREAL_ASAN 1
#endif
#endif

// From <sanitizer/common_interface_defs.h>, which not every compiler ships.
extern "C" {
void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom, std::size_t bytes);
void __sanitizer_finish_switch_fiber(void* fake_stack, const void** old_bottom, std::size_t* old_bytes);
}

namespace areal::simt {
namespace {

constexpr std::size_t page = 4096, slab_stacks = 64;
// Consecutive stacks begin at different cache offsets; otherwise the tops of all stacks would share a few lines.
constexpr std::size_t stride = Stacks::stack_bytes + page;

}  // namespace

Stacks::~Stacks() {
  for (const Slab& slab : slabs_) munmap(slab.first, slab.bytes);
}

Stacks& Stacks::of_this_thread() {
  thread_local Stacks stacks;
  return stacks;
}

void Stacks::grow() {
  const std::size_t bytes = stride * slab_stacks;
  void* first = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (first == MAP_FAILED) throw std::bad_alloc();
  slabs_.push_back({first, bytes});
  for (std::size_t i = 0; i < slab_stacks; ++i) {
    char* const guard = static_cast<char*>(first) + i * stride;
    if (mprotect(guard, page, PROT_NONE) != 0) throw std::bad_alloc();
    boost::context::stack_context stack;
    const std::size_t colour = (made_++ % 32) * 256;  // the same within a page
    stack.size = Stacks::stack_bytes - colour;
    stack.sp = guard + page + stack.size;
    unused_.push_back(stack);
  }
}

boost::context::stack_context Stacks::take() {
  if (unused_.empty()) grow();
  const auto stack = unused_.back();
  unused_.pop_back();
  return stack;
}

bool Fiber::resume() {
  leave_scheduler();
  inside_ = std::move(inside_).resume();
  back_in_scheduler();
  return !inside_;
}

void Fiber::suspend() {
  leave_fiber(false);
  outside_ = std::move(outside_).resume();
  entered();
}

void Fiber::destroy() {
  if (!inside_) return;
  leave_scheduler();
  { const auto unwound = std::move(inside_); }
  back_from_unwound();
}

#ifdef AREAL_ASAN
namespace {
// The scheduler's stack, as seen by the last fiber that was entered.
thread_local const void* outer_bottom;
thread_local std::size_t outer_bytes;
}  // namespace

void Fiber::leave_scheduler() {
  __sanitizer_start_switch_fiber(&outer_fake_stack_, stack_bottom_, Stacks::stack_bytes);
}
void Fiber::back_in_scheduler() { __sanitizer_finish_switch_fiber(outer_fake_stack_, nullptr, nullptr); }
void Fiber::back_from_unwound() {
  // The unwound fiber announced no switch: finish the one that led there, and start the one back.
  void* fake_stack = nullptr;
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
  if (outer_bottom == nullptr) return;
  __sanitizer_start_switch_fiber(&fake_stack, outer_bottom, outer_bytes);
  __sanitizer_finish_switch_fiber(outer_fake_stack_, nullptr, nullptr);
}
void Fiber::entered() { __sanitizer_finish_switch_fiber(fake_stack_, &outer_bottom, &outer_bytes); }
void Fiber::leave_fiber(bool for_ever) {
  __sanitizer_start_switch_fiber(for_ever ? nullptr : &fake_stack_, outer_bottom, outer_bytes);
  if (for_ever) fake_stack_ = nullptr;
}
#else
void Fiber::leave_scheduler() {}
void Fiber::back_in_scheduler() {}
void Fiber::back_from_unwound() {}
void Fiber::entered() {}
void Fiber::leave_fiber(bool) {}
#endif

}  // namespace areal::simt
