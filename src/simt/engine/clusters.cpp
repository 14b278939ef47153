// Clusters of blocks: their barrier, sends to each other's shared memory, copies that arrive at mbarriers, and the
// conditions for a block of a cluster to end.
//
// Data that lands at an mbarrier, by a send or a copy, is written by an agent of that mbarrier, at the time of the
// phase in which it lands. The phase passes the agent's time on to threads that wait for it, and to no others. For each
// sending block it also passes on its senders' knowledge, but of reads only (Release::reads_only): a value that was
// read cannot be changed by what its reader allows afterwards, while st.async orders no write but its own.
#include <algorithm>
#include <areal/error.hpp>
#include <cstring>

#include "simt/engine/engine.hpp"

namespace areal::simt {

void Engine::begin_clusters(int cluster_blocks) {
  cluster_blocks_ = cluster_blocks;
  clusters_.clear();
  if (cluster_blocks == 0) return;
  const std::int64_t clusters = cluster_blocks > 0 ? blocks_ / cluster_blocks : 0;
  const std::string what =
      kernel_ + ": " + std::to_string(clusters) + " clusters of " + std::to_string(cluster_blocks) + " blocks: ";
  if (cluster_blocks < 1 || cluster_blocks > 16) throw InvalidArgument(what + "a cluster has 1 to 16");
  if (blocks_ > options_.residents)
    throw InvalidArgument(what + "all must be resident, and " + std::to_string(options_.residents) + " blocks are");
  clusters_.resize(static_cast<std::size_t>(clusters));
}

// ---- the barrier

void Engine::sync_cluster(Thread& thread, Site site) {
  if (cluster_blocks_ == 0) fault(thread, FaultKind::cluster, site, "sync_cluster in a launch without clusters");
  Cluster& cluster = cluster_of(thread);
  if (cluster.finished > 0)
    fault(thread, FaultKind::barrier, site,
          "this thread waits at the barrier of the cluster, but " + std::to_string(cluster.finished) +
              " of the cluster have exited");
  cluster.site = site;
  thread.site = site;
  if (++cluster.arrived == cluster_blocks_ * shape_.threads)
    complete_cluster(thread);
  else
    suspend(thread, State::cluster_barrier, site);
}

void Engine::complete_cluster(Thread& last) {
  cluster_of(last).arrived = 0;
  ++counts_.cluster_barriers;
  const auto first = static_cast<std::size_t>(last.block / cluster_blocks_ * cluster_blocks_);
  const auto blocks = static_cast<std::size_t>(cluster_blocks_);
  std::vector<const Front*> fronts;
  for (std::size_t b = first; b < first + blocks; ++b) {
    Block& block = *slots_[b];
    ++block.barriers;
    ++counts_.block_barriers;
    for (Warp& warp : block.warps) settle(warp);
    if (options_.witness != nullptr) options_.witness->barrier(block.index);
    if (!options_.checks) continue;
    synchronise(block);
    const ThreadClock& clock = block.threads[0].clock;
    fronts.push_back(fronts_.acquire(nullptr, fronts_.release({block.index, 0, block.known, block.known, block.known,
                                                               nullptr, clock.view, clock.front})));
    for (const auto& barrier : block.mbarriers) barrier->known_to_cluster = true;
  }
  const Front* const front = fronts_.join(fronts);
  for (std::size_t b = first; b < first + blocks; ++b)
    for (int t = 0; t < shape_.threads; ++t) {
      Thread& thread = slots_[b]->threads[static_cast<std::size_t>(t)];
      if (options_.checks) thread.clock.front = front;
      if (&thread != &last) make_ready(thread);
    }
}

void Engine::leave_cluster(Thread& thread) {
  Cluster& cluster = cluster_of(thread);
  ++cluster.finished;
  if (cluster.arrived > 0)
    fault(thread, FaultKind::barrier, cluster.site,
          "this thread has exited, but " + std::to_string(cluster.arrived) + " wait at the barrier of the cluster");
}

void Engine::end_in_cluster(Block& block) {
  for (std::size_t i = copy_arrivals_.size(); i-- > 0;)
    if (copy_arrivals_[i].thread->home == &block) {
      CopyArrival arrival = std::move(copy_arrivals_[i]);
      copy_arrivals_.erase(copy_arrivals_.begin() + static_cast<std::ptrdiff_t>(i));
      land(arrival);
    }
  if (cluster_blocks_ == 0) return;
  const std::string ended = "block " + std::to_string(block.index) + " has ended, ";
  const auto at = [&](const Call& call, FaultKind kind, const std::string& what) {
    raise(make_fault(kind, call.thread->block, call.thread->index, call.site, ended + what));
  };
  for (const Send& send : sends_)
    if (send.home == &block) at(send.call, FaultKind::cluster, "to which this send is under way");
  if (!options_.checks) return;
  for (const auto& barrier : block.mbarriers) {
    const std::int64_t bytes = barrier->bytes;
    if (bytes > 0 && barrier->expecting.thread != nullptr)
      at(barrier->expecting, FaultKind::mbarrier,
         "and an mbarrier expects " + std::to_string(bytes) + " bytes that never came");
    if (bytes < 0 && barrier->last_send.thread != nullptr)
      at(barrier->last_send, FaultKind::mbarrier,
         "and an mbarrier got " + std::to_string(-bytes) + " bytes that it did not expect");
    if (!barrier->senders.empty() || barrier->sent_phases > barrier->waited)
      at(barrier->last_send, FaultKind::cluster, "and nobody in it has waited for what was sent");
  }
}

// ---- sends

void Engine::send(Thread& thread, void* cell, const void* value, unsigned bytes, unsigned elements, int rank,
                  kernels::Mbarrier& barrier, Site site) {
  const auto own = reinterpret_cast<std::uintptr_t>(cell);
  const unsigned number = sites_.number(site, Op::send, bytes, elements);
  if (cluster_blocks_ == 0) fault(thread, FaultKind::cluster, site, "a send in a launch without clusters");
  check_shared(thread, own, bytes, Op::send, site);
  if (rank < 0 || rank >= cluster_blocks_)
    fault(thread, FaultKind::cluster, site,
          "a send to rank " + std::to_string(rank) + " of a cluster of " + std::to_string(cluster_blocks_) + " blocks");
  Block& to = *slots_[static_cast<std::size_t>(thread.block / cluster_blocks_ * cluster_blocks_ + rank)];
  if (to.index < 0)
    fault(thread, FaultKind::cluster, site, "a send to rank " + std::to_string(rank) + ", whose block has ended");
  MbarrierState& state = mbarrier(thread, barrier, site, &to);
  if (options_.checks && !state.fenced)
    fault(thread, FaultKind::missing_fence, site, "send completes on an mbarrier with no fence_init after its init",
          sites_[state.initialised.site()].site);
  Send send{&to,     &state,         to.shared + (own - reinterpret_cast<std::uintptr_t>(thread.shared)),
            {},      bytes,          number,
            nullptr, {&thread, site}};
  std::memcpy(send.value.data(), value, bytes);
  if (options_.checks) {
    write_cells({thread, thread.id, thread.clock.time, number, Stamp::copying, &to},
                reinterpret_cast<std::uintptr_t>(send.to), bytes, true);
    send.known = known_to_send(thread);
  }
  ++counts_.sends;
  counts_.sent_bytes += bytes;
  if (options_.trace) options_.trace({step_, thread.block, thread.index, Op::send, send.to, bytes, site});
  ++state.coming;
  if (random() % 2 == 0) return land(send);
  std::memset(send.to, Memory::poison, bytes);
  sends_.push_back(send);
}

/// The thread's knowledge, computed once for consecutive sends.
const Release* Engine::known_to_send(Thread& thread) {
  const ThreadClock& clock = thread.clock;
  const Release* const last = thread.sent;
  if (last != nullptr && last->time + 1 == clock.time && last->warp_known == clock.warp_known &&
      last->block_known == thread.home->known && last->row == clock.row && last->view == clock.view &&
      last->front == clock.front)
    return last;
  Release now{thread.block,       static_cast<std::uint32_t>(thread.index),
              clock.time,         clock.warp_known,
              thread.home->known, clock.row,
              clock.view,         clock.front};
  advance(thread);  // excludes its later accesses
  return thread.sent = fronts_.release(std::move(now));
}

std::uint32_t Engine::agent_of(Block& block, MbarrierState& barrier) {
  if (barrier.agent < 0) {
    if (block.bulk_agents <= 8)
      throw Error(kernel_ + ": sends or copies arrive at too many mbarriers of a block to check");
    const std::uint32_t slot = --block.bulk_agents;
    barrier.agent = static_cast<int>(agents_ + slot);
    barrier.time = std::max(barrier.time, block.agent_time[slot]);
  }
  if (barrier.time >= Stamp::most_time) too_long();
  return static_cast<std::uint32_t>(barrier.agent);
}

void Engine::land(const Send& send) {
  MbarrierState& state = *send.barrier;
  --state.coming;
  std::memcpy(send.to, send.value.data(), send.bytes);
  ++changes_;
  state.last_send = send.call;
  if (options_.checks) {
    const std::uint32_t agent = agent_of(*send.home, state);
    std::size_t n = 0;
    Cell* const first =
        send.home->shadow.cells(reinterpret_cast<std::uintptr_t>(send.to), send.bytes, n, memory_.lists());
    for (Cell* cell = first; cell != first + n; ++cell)
      cell->write = Stamp::make(send.home->first_id + agent, state.time, send.site, Stamp::plain);
    const Release& known = *send.known;
    auto from = std::find_if(state.senders.begin(), state.senders.end(),
                             [&](const Senders& s) { return s.block == known.block; });
    if (from == state.senders.end()) from = state.senders.insert(from, Senders{known.block, 0, nullptr, {}});
    if (from->last != &known) {
      from->last = &known;
      from->block_known = std::max(from->block_known, known.block_known);
      from->gathered.add(known.thread, known.time, known.warp_known, known.row.get(), known.view.get(), known.front,
                         stride_);
    }
  }
  state.bytes -= send.bytes;
  perhaps_complete(state);
}

void Engine::close_phase(MbarrierState& state) {
  if (state.agent < 0) return;
  BlockClock& view = state.gathered.view;
  if (view.empty()) view.resize(stride_, 0);
  view[static_cast<std::size_t>(state.agent)] = state.time++;
  if (!state.senders.empty()) state.sent_phases = state.phase + 1;
  for (Senders& senders : state.senders)
    state.gathered.fronts.push_back(
        fronts_.acquire(nullptr, fronts_.release({senders.block, 0, 0, 0, senders.block_known, nullptr,
                                                  std::make_shared<const BlockClock>(std::move(senders.gathered.view)),
                                                  fronts_.join(senders.gathered.fronts), true})));
  state.senders.clear();
}

// ---- copies that arrive

void Engine::arrive_copies(Thread& thread, kernels::Mbarrier& barrier, Site site) {
  if (!options_.async_copies) return arrive(thread, barrier, 0, site);
  MbarrierState& state = mbarrier(thread, barrier, site);
  thread.site = site;
  CopyArrival arrival{&thread, &state, std::move(thread.copies)};
  thread.copies.clear();
  ++state.coming;
  if (random() % 2 == 0)
    land(arrival);
  else
    copy_arrivals_.push_back(std::move(arrival));
}

void Engine::land(CopyArrival& arrival) {
  MbarrierState& state = *arrival.barrier;
  Thread& thread = *arrival.thread;
  --state.coming;
  if (state.pending == 0)
    fault(thread, FaultKind::mbarrier, thread.site,
          "one arrival more than the " + std::to_string(state.arrivals) + " that the phase expects");
  By by{thread.id, thread.clock.time};
  if (options_.checks) by = {thread.home->first_id + agent_of(*thread.home, state), state.time};
  for (PendingCopy& copy : arrival.copies) end_copy(thread, copy, by, true);
  --state.pending;
  ++changes_;
  perhaps_complete(state);
}

/// For threads that wait for their copies themselves: they know the accesses of those that arrive at barriers.
void Engine::land_arrivals(Thread& thread) {
  for (std::size_t i = 0; i < copy_arrivals_.size();) {
    if (copy_arrivals_[i].thread != &thread) {
      ++i;
      continue;
    }
    CopyArrival arrival = std::move(copy_arrivals_[i]);
    copy_arrivals_.erase(copy_arrivals_.begin() + static_cast<std::ptrdiff_t>(i));
    land(arrival);
  }
}

// ---- when they land

void Engine::land_some_sent() {
  if (random() % 4 != 0) return;
  for (std::uint64_t n = random() % (sends_.size() + copy_arrivals_.size()) + 1; n > 0; --n) land_any_sent();
}

void Engine::land_any_sent() {
  const std::size_t i = random() % (sends_.size() + copy_arrivals_.size());
  if (i < sends_.size()) {
    const Send send = sends_[i];
    sends_[i] = sends_.back();
    sends_.pop_back();
    return land(send);
  }
  CopyArrival& at = copy_arrivals_[i - sends_.size()];
  CopyArrival arrival = std::move(at);
  if (&at != &copy_arrivals_.back()) at = std::move(copy_arrivals_.back());
  copy_arrivals_.pop_back();
  land(arrival);
}

}  // namespace areal::simt
