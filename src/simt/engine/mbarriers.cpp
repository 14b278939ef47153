// Barriers in shared memory that count arrivals and landed bytes.
#include <algorithm>

#include "simt/engine/engine.hpp"

namespace areal::simt {

void Engine::init(Thread& thread, kernels::Mbarrier& barrier, int arrivals, Site site) {
  const auto at = reinterpret_cast<std::uintptr_t>(&barrier);
  const unsigned number = sites_.number(site, Op::init, sizeof barrier, 1);
  check_shared(thread, at, sizeof barrier, Op::init, site);
  if (options_.checks)
    write_cells({thread, thread.id, thread.clock.time, number, Stamp::plain}, at, sizeof barrier, true);
  if (arrivals < 1)
    fault(thread, FaultKind::mbarrier, site, "an mbarrier of " + std::to_string(arrivals) + " arrivals");
  auto& all = thread.home->mbarriers;
  auto found = std::find_if(all.begin(), all.end(), [&](const auto& b) { return b->at == &barrier; });
  if (found == all.end()) found = all.insert(found, std::make_unique<MbarrierState>());
  MbarrierState& state = **found;
  if (!state.waiting.empty())
    fault(thread, FaultKind::mbarrier, site, "init of an mbarrier that threads wait for", state.waiting[0]->site);
  if (state.coming > 0)
    fault(thread, FaultKind::mbarrier, site, "init of an mbarrier that sends or copies have yet to reach");
  const int agent = state.agent;
  const std::uint32_t time = state.time;
  state = MbarrierState{};
  state.at = &barrier;
  state.agent = agent;
  state.time = time + 1;
  state.initialised = Stamp::make(thread.id, thread.clock.time, number, Stamp::plain);
  state.arrivals = state.pending = arrivals;
}

void Engine::fence_init(Thread& thread) {
  for (const auto& barrier : thread.home->mbarriers)
    if (barrier->initialised.thread() == thread.id) barrier->fenced = true;
}

MbarrierState& Engine::mbarrier(Thread& thread, const kernels::Mbarrier& barrier, Site site, Block* receiver) {
  const auto at = reinterpret_cast<std::uintptr_t>(&barrier);
  check_shared(thread, at, sizeof barrier, Op::get, site);
  Block& block = receiver == nullptr ? *thread.home : *receiver;
  const void* const there = block.shared + (at - reinterpret_cast<std::uintptr_t>(thread.shared));
  for (const auto& state : block.mbarriers) {
    if (state->at != there) continue;
    const Stamp by = state->initialised;
    if (options_.checks && !state->known_to_cluster && by.thread() != thread.id &&
        !knows(thread, by.thread(), by.time(), true))
      fault(thread, FaultKind::mbarrier, site,
            "this mbarrier's init by " + words_for(thread, by.thread()) + " is not ordered before its use: a " +
                (receiver == nullptr ? "block barrier" : "barrier of the cluster") + " is missing",
            sites_[by.site()].site);
    return *state;
  }
  fault(thread, FaultKind::mbarrier, site,
        "an mbarrier that was not initialised, at " + where(thread, at) +
            (receiver == nullptr ? "" : " of block " + std::to_string(block.index)));
}

void Engine::arrive(Thread& thread, kernels::Mbarrier& barrier, std::int64_t bytes, Site site) {
  MbarrierState& state = mbarrier(thread, barrier, site);
  if (state.pending == 0)
    fault(thread, FaultKind::mbarrier, site,
          "one arrival more than the " + std::to_string(state.arrivals) + " that the phase expects");
  state.bytes += bytes;
  if (bytes > 0) state.expecting = {&thread, site};
  --state.pending;
  gather(state.gathered, thread);
  if (options_.checks) advance(thread);
  ++changes_;
  perhaps_complete(state);
}

void Engine::perhaps_complete(MbarrierState& state) {
  if (state.pending > 0 || state.bytes != 0) return;
  ++counts_.mbarrier_phases;
  const unsigned parity = state.phase & 1;
  close_phase(state);
  state.view[parity] = state.gathered.view.empty() ? nullptr : std::make_shared<const BlockClock>(state.gathered.view);
  state.front[parity] = fronts_.join(state.gathered.fronts);
  state.gathered.clear();
  state.pending = state.arrivals;
  ++state.phase;
  ++changes_;
  std::vector<Thread*> waiting;
  waiting.swap(state.waiting);
  for (Thread* thread : waiting) {
    pass(*thread, state, parity);
    make_ready(*thread);
  }
}

void Engine::pass(Thread& thread, MbarrierState& state, unsigned parity) {
  state.waited = state.phase;
  if (!options_.checks) return;
  thread.clock.view = join(thread.clock.view, state.view[parity]);
  thread.clock.front = fronts_.join(thread.clock.front, state.front[parity]);
}

void Engine::wait(Thread& thread, kernels::Mbarrier& barrier, unsigned parity, Site site) {
  MbarrierState& state = mbarrier(thread, barrier, site);
  parity &= 1;
  if ((state.phase & 1) != parity) return pass(thread, state, parity);
  state.waiting.push_back(&thread);
  suspend(thread, State::mbarrier, site);
}

}  // namespace areal::simt
