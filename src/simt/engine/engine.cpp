// The launch and the scheduler.
#include "simt/engine/engine.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <bit>
#include <cstring>
#include <numeric>
#include "kernels/primitives/kernel_name.hpp"

namespace areal::simt {
namespace {

// Shared memory begins at a multiple of this, as bulk copies and bank numbers require.
constexpr std::size_t shared_alignment = 1024;

void take_out(std::vector<Warp*>& list, Warp& warp, int Warp::*place) {
  Warp* const last = list.back();
  list[static_cast<std::size_t>(warp.*place)] = last;
  last->*place = warp.*place;
  list.pop_back();
  warp.*place = -1;
}

void put_in(std::vector<Warp*>& list, Warp& warp, int Warp::*place) {
  if (warp.*place >= 0) return;
  warp.*place = static_cast<int>(list.size());
  list.push_back(&warp);
}

}  // namespace

std::uint64_t Engine::random() {  // splitmix64
  std::uint64_t z = (random_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint32_t Engine::any_lane(std::uint32_t mask) {
  const int turn = static_cast<int>(random() & 31);
  return static_cast<std::uint32_t>(std::countr_zero(std::rotr(mask, turn)) + turn) & 31;
}

LaunchCounts Engine::run(const KernelShape& shape, std::int64_t blocks, const void* args, int cluster_blocks,
                         bool together) {
  shape_ = shape;
  kernel_ = kernels::kernel_name(shape.type_name);
  args_ = args;
  blocks_ = blocks;
  if (shape.threads < 1 || shape.threads > 1024)
    throw InvalidArgument(kernel_ + ": " + std::to_string(shape.threads) + " threads in a block: it must be 1 to 1024");
  if (blocks < 0) throw InvalidArgument(kernel_ + ": " + std::to_string(blocks) + " blocks");
  begin_clusters(cluster_blocks);
  together_ = together || cluster_blocks > 0;
  width_ = static_cast<unsigned>(std::max(1, options_.width));
  agents_ = static_cast<std::uint32_t>(shape.threads + 31) / 32 * 32;
  stride_ = agents_ + (cluster_blocks > 0 ? 160 : 64);
  const std::uint64_t ids = static_cast<std::uint64_t>(blocks) * stride_;
  if (options_.checks && ids >= Stamp::most_thread)
    throw InvalidArgument(kernel_ + ": too many threads to check; a launch without checks takes more");
  if (next_id_ + ids >= Stamp::most_thread) {  // ids restart, so writes of earlier launches count as the host's
    for (const auto& region : memory_.regions()) region->shadow.forget_threads(memory_.lists());
    next_id_ = 1;
  }
  launch_id_ = next_id_;
  next_id_ += static_cast<std::uint32_t>(ids);
  counts_ = {};
  order_ = step_ = idle_polls_ = 0;
  fault_.reset();
  error_ = nullptr;

  std::exception_ptr thrown;
  try {
    schedule();
  } catch (...) {
    thrown = std::current_exception();
  }
  tear_down();
  ++launch_;
  if (thrown) std::rethrow_exception(thrown);
  counts_.launches = 1;
  LaunchCounts launch{kernel_, blocks, shape.threads, counts_, order_, shape.shared_bytes};
  if (options_.witness != nullptr) options_.witness->launch_ended(launch);
  return launch;
}

void Engine::schedule() {
  std::vector<std::int64_t> order(static_cast<std::size_t>(blocks_));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (options_.start == StartOrder::descending) std::reverse(order.begin(), order.end());
  if (options_.start == StartOrder::random)
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  const std::size_t residents =
      together_ ? order.size() : std::min<std::size_t>(std::max(1, options_.residents), order.size());
  while (slots_.size() < residents) slots_.push_back(std::make_unique<Block>());
  std::size_t begun = 0, running = residents;
  for (std::size_t i = 0; i < residents; ++i, ++begun) {
    // Blocks of a cluster are found by their numbers.
    const auto slot = cluster_blocks_ > 0 ? static_cast<std::size_t>(order[begun]) : i;
    place(*slots_[slot], order[begun]);
  }
  while (running > 0) {
    if (!bulk_.empty()) land_some();
    if (!sends_.empty() || !copy_arrivals_.empty()) land_some_sent();
    Warp* warp;
    // A polling lane gets a turn only sometimes, as it waits for the others.
    if (!ready_.empty() && (polling_.empty() || random() % 8 != 0)) {
      warp = ready_[random() % ready_.size()];
      run_ready(*warp);
    } else if (!polling_.empty()) {
      warp = polling_[random() % polling_.size()];
      run_polling(*warp);
    } else if (!bulk_.empty()) {
      land_bulk(random() % bulk_.size());
      continue;
    } else if (!sends_.empty() || !copy_arrivals_.empty()) {
      land_any_sent();
      continue;
    } else {
      stuck(false);
    }
    Block& block = *warp->home;
    if (block.finished == shape_.threads) {
      retire(block);
      if (begun < order.size())
        place(block, order[begun++]);
      else
        --running;
    }
  }
}

void Engine::place(Block& block, std::int64_t index) {
  const auto threads = static_cast<std::size_t>(shape_.threads);
  block.index = index;
  block.first_id = launch_id_ + static_cast<std::uint32_t>(index) * stride_;
  block.known = 0;
  block.arrived = block.finished = 0;
  block.barriers = 0;
  block.agent_time.assign(stride_ - agents_, 1);
  block.next_agent = 0;
  block.bulk_agents = stride_ - agents_;
  block.mbarriers.clear();
  for (NamedBarrier& named : block.named) named = {};
  block.shared_storage.resize(shape_.shared_bytes + shared_alignment);
  void* first = block.shared_storage.data();
  std::size_t left = block.shared_storage.size();
  block.shared = static_cast<std::byte*>(std::align(shared_alignment, shape_.shared_bytes, first, left));
  if (shape_.shared_bytes > 0) std::memset(block.shared, Memory::poison, shape_.shared_bytes);
  if (options_.checks)
    block.shadow.cover(reinterpret_cast<std::uintptr_t>(block.shared), shape_.shared_bytes, false, memory_.lists());
  if (block.warps.size() != agents_ / 32) block.warps = std::vector<Warp>(agents_ / 32);
  if (block.thread_count != shape_.threads) {
    block.threads = std::make_unique<Thread[]>(threads);
    block.thread_count = shape_.threads;
  }
  for (std::size_t w = 0; w < block.warps.size(); ++w) {
    Warp& warp = block.warps[w];
    const std::size_t lanes = std::min<std::size_t>(32, threads - w * 32);
    warp.home = &block;
    warp.lanes = &block.threads[w * 32];
    warp.born = lanes == 32 ? kernels::full_mask : (1u << lanes) - 1;
    warp.exited = warp.ready = warp.polling = warp.collecting = 0;
    warp.in_ready = warp.in_polling = -1;
    warp.requests.begin(warp.born, index, static_cast<int>(w), options_.witness);
  }
  for (std::size_t t = 0; t < threads; ++t) {
    Thread& thread = block.threads[t];
    thread.index = static_cast<int>(t);
    thread.block = index;
    thread.blocks = blocks_;
    thread.cluster_blocks = std::max(1, cluster_blocks_);
    thread.shared = block.shared;
    thread.changes = &changes_;
    thread.engine = this;
    thread.home = &block;
    thread.warp = &block.warps[t / 32];
    thread.id = block.first_id + static_cast<std::uint32_t>(t);
    thread.clock = {};
    thread.site = {};
    thread.copies.clear();
    thread.bulk_reads.clear();
    thread.products.clear();
    thread.fences.clear();
    thread.known_at_fence = {};
    thread.block_known_at_fence = 0;
    thread.sent = nullptr;
    thread.copy_group = thread.bulk_group = thread.product_group = 0;
    thread.begun = false;
    thread.fiber.start(Stacks::of_this_thread(), [this, &thread] {
      try {
        shape_.run(thread, args_);
      } catch (const boost::context::detail::forced_unwind&) {
        throw;
      } catch (...) {
        error_ = std::current_exception();
      }
    });
    make_ready(thread);
  }
  ++changes_;
}

void Engine::retire(Block& block) {
  for (std::size_t i = bulk_.size(); i-- > 0;)
    if (bulk_[i]->home == &block) land_bulk(i);
  end_in_cluster(block);
  for (Warp& warp : block.warps) settle(warp);
  counts_.deepest_barriers = std::max(counts_.deepest_barriers, block.barriers);
  block.index = -1;
}

void Engine::tear_down() {
  for (const auto& block : slots_) {
    if (block->index < 0) continue;
    for (int t = 0; t < block->thread_count; ++t) block->threads[static_cast<std::size_t>(t)].fiber.destroy();
    for (Warp& warp : block->warps) settle(warp);
    block->index = -1;
  }
  for (const auto& block : slots_)  // these point into what is cleared next
    for (int t = 0; t < block->thread_count; ++t) {
      block->threads[static_cast<std::size_t>(t)].clock = {};
      block->threads[static_cast<std::size_t>(t)].sent = nullptr;
    }
  ready_.clear();
  polling_.clear();
  bulk_.clear();
  sends_.clear();
  copy_arrivals_.clear();
  released_.clear();
  fronts_.clear();
  running_ = nullptr;
}

void Engine::make_ready(Thread& thread) {
  Warp& warp = *thread.warp;
  thread.state = State::ready;
  warp.ready |= 1u << (thread.index & 31);
  put_in(ready_, warp, &Warp::in_ready);
}

void Engine::run_ready(Warp& warp) {
  std::uint32_t lane = any_lane(warp.ready);
  for (;;) {
    warp.ready &= ~(1u << lane);
    std::uint32_t next = lane;
    if (warp.ready == 0) {
      take_out(ready_, warp, &Warp::in_ready);
    } else {  // a thread's stack is no longer cached: prefetch it while this thread runs
      next = any_lane(warp.ready);
      __builtin_prefetch(&warp.lanes[next].state, 1);
      warp.lanes[next].fiber.prefetch();
    }
    resume(warp.lanes[lane]);
    if (warp.ready == 0) return;
    if (random() % 512 == 0) return;  // another warp's turn; rarely, as its lanes are not cached
    lane = next != lane ? next : any_lane(warp.ready);
  }
}

void Engine::run_polling(Warp& warp) {
  std::uint32_t turn = warp.polling;
  warp.polling = 0;
  take_out(polling_, warp, &Warp::in_polling);
  while (turn != 0) {
    const std::uint32_t lane = any_lane(turn);
    turn &= ~(1u << lane);
    resume(warp.lanes[lane]);
  }
}

void Engine::resume(Thread& thread) {
  ++step_;
  order_ = (order_ ^ thread.id ^ launch_id_ << 7) * 0x100000001b3u;
  thread.state = State::ready;
  running_ = &thread;
  const bool ended = thread.fiber.resume();
  running_ = nullptr;
  if (fault_) throw Fault(*fault_);
  if (error_) std::rethrow_exception(error_);
  if (ended) finish(thread);
}

void Engine::suspend(Thread& thread, State state, Site site) {
  thread.state = state;
  thread.site = site;
  thread.fiber.suspend();
}

void Engine::finish(Thread& thread) {
  Warp& warp = *thread.warp;
  Block& block = *thread.home;
  thread.state = State::finished;
  for (PendingCopy& copy : thread.copies) end_copy(thread, copy, {thread.id, thread.clock.time}, false);
  thread.copies.clear();
  warp.exited |= 1u << (thread.index & 31);
  ++block.finished;
  ++changes_;
  for (std::uint32_t waiting = warp.collecting; waiting != 0; waiting &= waiting - 1) {
    const Thread& other = warp.lanes[std::countr_zero(waiting)];
    if ((other.mask >> (thread.index & 31) & 1) != 0)
      fault(thread, FaultKind::collective, other.site,
            "this lane has exited, but thread " + std::to_string(other.index) + " waits for it in a warp collective");
  }
  if (block.arrived > 0)
    fault(thread, FaultKind::barrier, block.barrier_site,
          "this thread has exited, but " + std::to_string(block.arrived) + " of the block wait at a barrier");
  if (cluster_blocks_ > 0) leave_cluster(thread);
}

void Engine::poll_pause(Thread& thread, Site site) {
  Warp& warp = *thread.warp;
  if (changes_ != changes_seen_) {
    changes_seen_ = changes_;
    idle_polls_ = 0;
  } else if (++idle_polls_ > static_cast<std::uint64_t>(options_.patience) * slots_.size() * shape_.threads) {
    thread.state = State::polling;
    thread.site = site;
    stuck(true);
  }
  warp.polling |= 1u << (thread.index & 31);
  put_in(polling_, warp, &Warp::in_polling);
  suspend(thread, State::polling, site);
}

void Engine::perhaps_pause(Thread& thread, Site site) {
  if (random() % 4 != 0) return;
  make_ready(thread);
  suspend(thread, State::ready, site);
}

void Engine::fill(void* p, int byte, std::size_t n) {
  if (n == 0) return;
  if (options_.checks) {
    const auto at = reinterpret_cast<std::uintptr_t>(p);
    ShadowedRegion* const region = memory_.nearest(at);
    if (region == nullptr || !region->holds(at, n)) throw InvalidArgument("fill: not inside one registered region");
    if (!region->writable) throw InvalidArgument("fill: region \"" + region->name + "\" may not be written");
    region->shadow.write_by_host(at, n, memory_.lists());
  }
  std::memset(p, byte, n);
}

}  // namespace areal::simt
