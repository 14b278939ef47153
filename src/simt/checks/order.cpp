// The clocks: the effects of barriers, collectives and flags on them, and what a thread knows.
#include <algorithm>
#include <bit>

#include "simt/engine/engine.hpp"

namespace areal::simt {
namespace {

template <class Pointer>
void note(std::vector<Pointer>& distinct, Pointer p) {
  if (p && std::find(distinct.begin(), distinct.end(), p) == distinct.end()) distinct.push_back(p);
}

/// The joint knowledge of the synchronising threads about other warps and blocks. Nearly always they all have the same.
class JointKnowledge {
 public:
  void add(const ThreadClock& clock) {
    if (clock.front != last_front_) note(fronts_, last_front_ = clock.front);
    if (clock.view != *last_view_) view_ = join(view_, *(last_view_ = &clock.view));
  }
  void finish(Fronts& fronts) { front_ = fronts.join(fronts_); }
  void give(ThreadClock& clock) const {
    if (clock.front != front_) clock.front = front_;
    if (clock.view != view_) clock.view = view_;
  }

 private:
  std::vector<const Front*> fronts_;
  std::shared_ptr<const BlockClock> view_, none_;
  const Front* last_front_ = nullptr;
  const std::shared_ptr<const BlockClock>* last_view_ = &none_;
  const Front* front_ = nullptr;
};

}  // namespace

bool Engine::knows(Thread& thread, std::uint32_t id, std::uint32_t time, bool write) {
  return knows(thread, thread.clock, thread.home->known, id, time, write);
}

bool Engine::knows(const Thread& thread, ThreadClock& clock, std::uint32_t block_known, std::uint32_t id,
                   std::uint32_t time, bool write) {
  const Block& block = *thread.home;
  const std::uint32_t offset = id - block.first_id;
  std::int64_t of_block = block.index;
  std::uint32_t index = offset;
  if (offset < stride_) {
    if (offset < agents_) {
      if (time <= block_known) return true;
      if (offset / 32 == static_cast<std::uint32_t>(thread.index) / 32 &&
          (time <= clock.warp_known || (clock.row && (*clock.row)[offset % 32] >= time)))
        return true;
    }
    if (clock.view && (*clock.view)[offset] >= time) return true;
  } else {
    of_block = (id - launch_id_) / stride_;
    index = (id - launch_id_) % stride_;
  }
  const Release* found = nullptr;
  if (!fronts_.covers(clock.front, of_block, index, time, agents_, write, found)) return false;
  if (clock.front->release == found) return true;
  if (!write && cluster_blocks_ > 0 && !found->reads_only) {  // from a send, perhaps, which passes on no writes
    Release reads = *found;
    reads.reads_only = true;
    found = fronts_.release(std::move(reads));
  }
  clock.front = fronts_.acquire(clock.front, found);  // the next search is short
  return true;
}

void Engine::too_long() {
  error_ = std::make_exception_ptr(Error(kernel_ + ": too many barriers and flags in one launch to check"));
  if (running_ == nullptr) std::rethrow_exception(error_);
  wait_for_ever();
}

void Engine::wait_for_ever() {
  for (;;) running_->fiber.suspend();  // the scheduler sees the fault, and unwinds the fiber
}

void Engine::advance(Thread& thread) {
  if (++thread.clock.time >= Stamp::most_time) too_long();
}

void Engine::synchronise(Warp& warp, std::uint32_t mask) {
  std::uint32_t latest = 0;
  JointKnowledge joint;
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const ThreadClock& clock = warp.lanes[std::countr_zero(m)].clock;
    latest = std::max(latest, clock.time);
    joint.add(clock);
  }
  joint.finish(fronts_);
  std::shared_ptr<Row> row;
  if (mask != warp.born) {
    // A part of the warp: its lanes now know each other's accesses and knowledge.
    row = std::make_shared<Row>();
    row->fill(0);
    for (std::uint32_t m = mask; m != 0; m &= m - 1) {
      const int i = std::countr_zero(m);
      const ThreadClock& clock = warp.lanes[i].clock;
      for (int k = 0; k < 32; ++k)
        (*row)[k] = std::max({(*row)[k], clock.warp_known, clock.row ? (*clock.row)[k] : 0, k == i ? clock.time : 0});
    }
  }
  if (latest + 1 >= Stamp::most_time) too_long();
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    ThreadClock& clock = warp.lanes[std::countr_zero(m)].clock;
    clock.time = latest + 1;
    if (!row) clock.warp_known = latest;
    if (row || clock.row) clock.row = row;
    joint.give(clock);
  }
}

void Engine::synchronise(Block& block) {
  std::uint32_t latest = 0;
  JointKnowledge joint;
  for (int t = 0; t < shape_.threads; ++t) {
    const ThreadClock& clock = block.threads[t].clock;
    latest = std::max(latest, clock.time);
    joint.add(clock);
  }
  joint.finish(fronts_);
  if (latest + 1 >= Stamp::most_time) too_long();
  block.known = latest;
  for (int t = 0; t < shape_.threads; ++t) {
    ThreadClock& clock = block.threads[t].clock;
    clock.time = latest + 1;
    clock.warp_known = latest;
    if (clock.row) clock.row = nullptr;
    joint.give(clock);
  }
}

void Engine::gather(Gathered& gathered, const Thread& thread) {
  if (!options_.checks) return;
  const ThreadClock& clock = thread.clock;
  gathered.add(static_cast<std::uint32_t>(thread.index), clock.time, clock.warp_known, clock.row.get(),
               clock.view.get(), clock.front, stride_);
}

void Engine::release(Thread& thread, const void* at) {
  if (!options_.checks) return;
  const ThreadClock& clock = thread.clock;
  released_[at] = fronts_.release({thread.block, static_cast<std::uint32_t>(thread.index), clock.time, clock.warp_known,
                                   thread.home->known, clock.row, clock.view, clock.front});
  advance(thread);
}

void Engine::acquire(Thread& thread, const void* at) {
  if (!options_.checks) return;
  const auto found = released_.find(at);
  if (found != released_.end()) thread.clock.front = fronts_.acquire(thread.clock.front, found->second);
}

}  // namespace areal::simt
