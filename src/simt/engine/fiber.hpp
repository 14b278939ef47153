#pragma once
// The control flow of a simulated thread: a Boost.Context fiber on a stack from a pool. The scheduler resumes it, and
// it suspends itself. A fiber destroyed in between is unwound, so that the destructors of its frames run.

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace areal::simt {

/// Stacks of 64 KiB, each above a guard page, reused. A thread keeps the stacks of its launches, because mapping and
/// protecting them costs more than a small launch.
class Stacks {
 public:
  static constexpr std::size_t stack_bytes = std::size_t{1} << 16;

  Stacks() = default;
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks();

  static Stacks& of_this_thread();

  boost::context::stack_context take();
  void give(const boost::context::stack_context& stack) { unused_.push_back(stack); }

 private:
  struct Slab {
    void* first;
    std::size_t bytes;
  };
  void grow();

  std::vector<Slab> slabs_;
  std::vector<boost::context::stack_context> unused_;
  std::size_t made_ = 0;
};

class Fiber {
 public:
  Fiber() = default;

  /// Ready to run body(), which begins at the first resume().
  template <class Body>
  void start(Stacks& stacks, Body body);

  /// From the scheduler: runs the fiber until it suspends itself or ends. True if it ended.
  bool resume();
  /// From inside the fiber: back to the scheduler.
  void suspend();
  /// From the scheduler: unwinds a suspended fiber.
  void destroy();
  /// Prefetches what resume() will need.
  void prefetch() const {
    static_assert(sizeof inside_ == sizeof(char*), "a fiber is a pointer to its saved registers");
    const char* saved;
    std::memcpy(&saved, static_cast<const void*>(&inside_), sizeof saved);
    for (int line = 0; line < 6; ++line) __builtin_prefetch(saved + 64 * line, 1);
  }
  bool alive() const { return static_cast<bool>(inside_); }

 private:
  struct Allocator {
    Stacks* stacks;
    boost::context::stack_context allocate() { return stacks->take(); }
    void deallocate(const boost::context::stack_context& stack) { stacks->give(stack); }
  };
  // Reports each change of stacks to AddressSanitizer; nothing in other builds.
  void leave_scheduler();
  void back_in_scheduler();
  void back_from_unwound();
  void entered();
  void leave_fiber(bool for_ever);

  boost::context::fiber inside_;   // the fiber, while it is suspended
  boost::context::fiber outside_;  // the scheduler, while the fiber runs
  const void* stack_bottom_ = nullptr;
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] void* outer_fake_stack_ = nullptr;
};

template <class Body>
void Fiber::start(Stacks& stacks, Body body) {
  struct Keeping : Allocator {  // keeps the stack, for the sanitizer
    const void** bottom;
    boost::context::stack_context allocate() {
      auto stack = Allocator::allocate();
      *bottom = static_cast<char*>(stack.sp) - stack.size;
      return stack;
    }
  };
  inside_ = boost::context::fiber(std::allocator_arg, Keeping{{&stacks}, &stack_bottom_},
                                  [this, body](boost::context::fiber&& outside) {
                                    outside_ = std::move(outside);
                                    entered();
                                    body();
                                    leave_fiber(true);
                                    return std::move(outside_);
                                  });
}

}  // namespace areal::simt
