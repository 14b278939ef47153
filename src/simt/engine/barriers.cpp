// Barriers of the block: the one of all threads, and the named ones.
#include <algorithm>
#include <bit>
#include <cstring>

#include "simt/engine/engine.hpp"

namespace areal::simt {
namespace {

bool same(Site a, Site b) { return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0); }

}  // namespace

void Engine::sync(Thread& thread, Site site) {
  Block& block = *thread.home;
  thread.site = site;
  if (block.finished > 0)
    fault(thread, FaultKind::barrier, site,
          "this thread waits at a barrier, but " + std::to_string(block.finished) + " of the block have exited");
  if (block.arrived == 0)
    block.barrier_site = site;
  else if (!same(site, block.barrier_site))
    fault(thread, FaultKind::barrier, site,
          "this thread waits at one barrier, and " + std::to_string(block.arrived) + " of the block at another",
          block.barrier_site);
  if (++block.arrived == shape_.threads)
    complete(block, thread);
  else
    suspend(thread, State::barrier, site);
}

void Engine::complete(Block& block, Thread& last) {
  block.arrived = 0;
  ++block.barriers;
  ++counts_.block_barriers;
  if (options_.checks) synchronise(block);
  for (Warp& warp : block.warps) settle(warp);
  if (options_.witness != nullptr) options_.witness->barrier(block.index);
  for (int t = 0; t < shape_.threads; ++t)
    if (&block.threads[t] != &last) make_ready(block.threads[t]);
}

void Engine::named_barrier(Thread& thread, int id, int threads, bool wait, Site site) {
  const std::string call = (wait ? "sync(" : "arrive(") + std::to_string(id) + ", " + std::to_string(threads) + ")";
  if (id < 1 || id > 14)
    fault(thread, FaultKind::barrier, site, call + ": named barriers are 1 to 14, and 15 is sync_warps's");
  if (threads < 32 || threads % 32 != 0 || threads > static_cast<int>(agents_))
    fault(thread, FaultKind::barrier, site, call + ": a named barrier is of whole warps of the block");
  NamedBarrier& barrier = thread.home->named[static_cast<std::size_t>(id)];
  if (barrier.threads == 0) {
    barrier.threads = threads;
    barrier.site = site;
  } else if (barrier.threads != threads) {
    fault(thread, FaultKind::barrier, site,
          call + ", while others are at this barrier with a count of " + std::to_string(barrier.threads), barrier.site);
  }
  if (std::find(barrier.arrived.begin(), barrier.arrived.end(), &thread) != barrier.arrived.end())
    fault(thread, FaultKind::barrier, site, call + ": this thread has arrived before in this phase", barrier.site);
  thread.site = site;
  barrier.arrived.push_back(&thread);
  gather(barrier.gathered, thread);
  if (wait)
    barrier.waiting.push_back(&thread);
  else if (options_.checks)
    advance(thread);
  const bool last = static_cast<int>(barrier.arrived.size()) == threads;
  if (last) complete(thread, barrier);
  if (wait && !last) suspend(thread, State::named_barrier, site);
}

void Engine::complete(Thread& last, NamedBarrier& barrier) {
  ++counts_.named_barriers;
  std::vector<Thread*> waiting;
  waiting.swap(barrier.waiting);
  const auto view = std::make_shared<const BlockClock>(std::move(barrier.gathered.view));
  const Front* const front = fronts_.join(barrier.gathered.fronts);
  barrier.threads = 0;
  barrier.arrived.clear();
  barrier.gathered.clear();
  for (Thread* thread : waiting) {
    if (options_.checks) {
      thread->clock.view = view;  // which includes the thread's own knowledge
      thread->clock.front = front;
      advance(*thread);
    }
    if (thread != &last) make_ready(*thread);
  }
  for (Warp& warp : last.home->warps) {  // warps that arrived here as a whole
    const auto here =
        std::count_if(waiting.begin(), waiting.end(), [&](Thread* thread) { return thread->warp == &warp; });
    if (here > 0 && here == std::popcount(warp.born & ~warp.exited)) settle(warp);
  }
}

}  // namespace areal::simt
