// The only file that uses oneTBB. ThreadSanitizer cannot see into libtbb, so this file is compiled without it
// (src/CMakeLists.txt), and `release_writes` and `acquire_writes` state what TBB guarantees: a task sees everything
// written before it was started, and code that waits for tasks sees what they wrote. So no suppressions are needed, and
// the task bodies are fully checked.
#include "cpu/threads.hpp"
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_for_each.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>
#include "cpu/cancellation.hpp"
#include "formulas/float_environment.hpp"

#ifdef AREAL_TSAN
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace areal::cpu {

namespace {
std::atomic<bool> is_forked_child{false};
void note_fork() { is_forked_child.store(true, std::memory_order_relaxed); }
}  // namespace

int default_threads() {
  // A forked child lacks TBB's threads, and would wait for them for ever.
  static const int watched = pthread_atfork(nullptr, nullptr, note_fork);
  static_cast<void>(watched);
  return is_forked_child.load(std::memory_order_relaxed) ? 1 : tbb::info::default_concurrency();
}

// At most the number of hardware threads: TBB would print a warning about workers that it does not start.
int slots(int threads) { return threads > 0 ? std::min(threads, default_threads()) : default_threads(); }

namespace {
thread_local bool on_its_own = false;  // inside on_slot_0
}
int slot() {
  const bool alone = on_its_own || is_forked_child.load(std::memory_order_relaxed);
  return alone ? 0 : std::max(0, tbb::this_task_arena::current_thread_index());
}

namespace {

// A point at which one thread passes its writes to another.
#ifdef AREAL_TSAN
struct Handover {
  std::uint64_t place = 0;
  void release_writes() { __tsan_release(&place); }
  void acquire_writes() { __tsan_acquire(&place); }
};
using Handovers = std::vector<Handover>;
#else
struct Handover {
  void release_writes() {}
  void acquire_writes() {}
};
struct Handovers {
  explicit Handovers(std::size_t) {}
  Handover& operator[](std::size_t) { return all; }
  Handover all;
};
#endif

// Runs f in an arena of exactly that many slots. TBB's workers take over the caller's floating-point environment.
// Arenas are kept, because making one costs as much as a small table.
template <class F>
void with_threads(int threads, F&& f) {
  static std::mutex making;
  static auto& arenas = *new std::vector<std::unique_ptr<tbb::task_arena>>(static_cast<std::size_t>(default_threads()));
  const auto place = static_cast<std::size_t>(slots(threads) - 1);
  tbb::task_arena* arena = nullptr;
  {
    const std::lock_guard lock(making);
    if (!arenas[place]) arenas[place] = std::make_unique<tbb::task_arena>(slots(threads));
    arena = arenas[place].get();
  }
  arena->execute(f);
}
bool alone(int threads) { return slots(threads) == 1; }

// One task, and the wait for all tasks. These are destructors because exceptions end both, too.
struct TaskScope {
  TaskScope(Handover& before, Handover& after) : after_(after) { before.acquire_writes(); }
  ~TaskScope() { after_.release_writes(); }
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

 private:
  Handover& after_;
};
struct WaitScope {
  explicit WaitScope(Handover& after) : after_(after) {}
  ~WaitScope() { after_.acquire_writes(); }
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

 private:
  Handover& after_;
};

}  // namespace

void parallel_for(int threads, std::int64_t n, const std::function<void(std::int64_t)>& body) {
  parallel_ranges(threads, n, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  });
}

namespace {

void in_ranges(int threads, std::int64_t n, std::int64_t grain,
               const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (alone(threads) || n <= grain) return body(0, n);
  Handover before, after;
  before.release_writes();
  const WaitScope wait(after);
  with_threads(threads, [&] {
    tbb::parallel_for(
        tbb::blocked_range<std::int64_t>(0, n, static_cast<std::size_t>(std::max<std::int64_t>(1, grain))),
        [&](const tbb::blocked_range<std::int64_t>& range) {
          const TaskScope scope(before, after);
          body(range.begin(), range.end());
        });
  });
}

}  // namespace

void parallel_ranges(int threads, std::int64_t n, std::int64_t grain,
                     const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (n <= 0) return;
  const FloatEnvironment floats;
  Cancellation* const cancellation = Cancellation::current();
  if (cancellation == nullptr) return in_ranges(threads, n, grain, body);
  // Pieces that are short compared with any work worth cancelling.
  const std::int64_t piece = std::max({std::int64_t{1}, grain, n / 1024});
  in_ranges(threads, n, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end && cancellation->go_on();) {
      const std::int64_t next = end - at < 2 * piece ? end : at + piece;
      body(at, next);
      at = next;
    }
  });
  cancellation->check();
}

void on_slot_0(const std::function<void()>& body) {
  const FloatEnvironment floats;
  struct Restore {
    bool before = std::exchange(on_its_own, true);
    ~Restore() { on_its_own = before; }
  } const restore;
  body();
}

void on_threads(int threads, std::int64_t most, const std::function<void()>& body) {
  if (most <= 0) return;
  const FloatEnvironment floats;
  const int count = static_cast<int>(std::min<std::int64_t>(slots(threads), most));
  if (count == 1) return on_slot_0(body);
  Handover before, after;
  Handovers slot_taken(static_cast<std::size_t>(slots(threads)));
  before.release_writes();
  const WaitScope wait(after);
  with_threads(threads, [&] {
    tbb::parallel_for(
        tbb::blocked_range<int>(0, count, 1),
        [&](const tbb::blocked_range<int>& range) {
          const TaskScope scope(before, after);
          const TaskScope in_slot(slot_taken[static_cast<std::size_t>(slot())],
                                  slot_taken[static_cast<std::size_t>(slot())]);
          for (int i = range.begin(); i < range.end(); ++i) body();
        },
        tbb::simple_partitioner());
  });
}

void run_tasks(int threads, std::int64_t count, std::span<const std::int64_t> first,
               const std::function<void(std::int64_t, const StartTask&)>& body) {
  const FloatEnvironment floats;
  Handover before, after;
  Handovers started(static_cast<std::size_t>(count)), slot_taken(static_cast<std::size_t>(slots(threads)));
  before.release_writes();
  const WaitScope wait(after);
  with_threads(threads, [&] {
    tbb::parallel_for_each(first.begin(), first.end(), [&](std::int64_t task, tbb::feeder<std::int64_t>& feeder) {
      const TaskScope scope(before, after);
      const TaskScope in_slot(slot_taken[static_cast<std::size_t>(slot())],
                              slot_taken[static_cast<std::size_t>(slot())]);
      started[static_cast<std::size_t>(task)].acquire_writes();
      body(task, [&](std::int64_t next) {
        started[static_cast<std::size_t>(next)].release_writes();
        feeder.add(next);
      });
    });
  });
}

}  // namespace areal::cpu
