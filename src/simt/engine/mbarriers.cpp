// Barriers in shared memory that count arrivals and landed bytes.
#include <algorithm>

#include "simt/engine/engine.hpp"

namespace areal::simt {

void Engine::init(Thread& lane, kernels::Mbarrier& barrier, int arrivals, Site site) {
  const auto at = reinterpret_cast<std::uintptr_t>(&barrier);
  const unsigned number = sites_.number(site, Op::init, sizeof barrier, 1);
  check_shared(lane, at, sizeof barrier, Op::init, site);
  if (options_.checks) write_cells({lane, lane.id, lane.clock.time, number, Stamp::plain}, at, sizeof barrier, true);
  if (arrivals < 1) fault(lane, FaultKind::mbarrier, site, "an mbarrier of " + std::to_string(arrivals) + " arrivals");
  auto& all = lane.home->mbarriers;
  auto found = std::find_if(all.begin(), all.end(), [&](const auto& b) { return b->at == &barrier; });
  if (found == all.end()) found = all.insert(found, std::make_unique<MbarrierState>());
  MbarrierState& state = **found;
  if (!state.waiting.empty())
    fault(lane, FaultKind::mbarrier, site, "init of an mbarrier that threads wait for", state.waiting[0]->site);
  state = MbarrierState{};
  state.at = &barrier;
  state.initialised = Stamp::make(lane.id, lane.clock.time, number, Stamp::plain);
  state.arrivals = state.pending = arrivals;
}

void Engine::fence_init(Thread& lane) {
  for (const auto& barrier : lane.home->mbarriers)
    if (barrier->initialised.thread() == lane.id) barrier->fenced = true;
}

MbarrierState& Engine::mbarrier(Thread& lane, const kernels::Mbarrier& barrier, Site site) {
  const auto at = reinterpret_cast<std::uintptr_t>(&barrier);
  check_shared(lane, at, sizeof barrier, Op::get, site);
  for (const auto& state : lane.home->mbarriers) {
    if (state->at != &barrier) continue;
    const Stamp by = state->initialised;
    if (options_.checks && by.thread() != lane.id && !knows(lane, by.thread(), by.time()))
      fault(lane, FaultKind::mbarrier, site,
            "this mbarrier's init by " + who(lane, by.thread()) +
                " is not ordered before its use: a block barrier is missing",
            sites_[by.site()].site);
    return *state;
  }
  fault(lane, FaultKind::mbarrier, site, "an mbarrier that was not initialised, at " + where(lane, at));
}

void Engine::arrive(Thread& lane, kernels::Mbarrier& barrier, std::int64_t bytes, Site site) {
  MbarrierState& state = mbarrier(lane, barrier, site);
  if (state.pending == 0)
    fault(lane, FaultKind::mbarrier, site,
          "one arrival more than the " + std::to_string(state.arrivals) + " that the phase expects");
  state.bytes += bytes;
  --state.pending;
  gather(state.gathered, lane);
  if (options_.checks) advance(lane);
  ++changes_;
  perhaps_complete(state);
}

void Engine::perhaps_complete(MbarrierState& state) {
  if (state.pending > 0 || state.bytes != 0) return;
  ++counts_.mbarrier_phases;
  const unsigned parity = state.phase & 1;
  state.view[parity] = state.gathered.view.empty() ? nullptr : std::make_shared<const View>(state.gathered.view);
  state.front[parity] = fronts_.join(state.gathered.fronts);
  state.gathered.clear();
  state.pending = state.arrivals;
  ++state.phase;
  ++changes_;
  std::vector<Thread*> waiting;
  waiting.swap(state.waiting);
  for (Thread* lane : waiting) {
    pass(*lane, state, parity);
    make_ready(*lane);
  }
}

void Engine::pass(Thread& lane, MbarrierState& state, unsigned parity) {
  if (!options_.checks) return;
  lane.clock.view = join(lane.clock.view, state.view[parity]);
  lane.clock.front = fronts_.join(lane.clock.front, state.front[parity]);
}

void Engine::wait(Thread& lane, kernels::Mbarrier& barrier, unsigned parity, Site site) {
  MbarrierState& state = mbarrier(lane, barrier, site);
  parity &= 1;
  if ((state.phase & 1) != parity) return pass(lane, state, parity);
  state.waiting.push_back(&lane);
  suspend(lane, State::mbarrier, site);
}

}  // namespace areal::simt
