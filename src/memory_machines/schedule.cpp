#include "memory_machines/schedule.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace areal::memory {

void Turns::add(std::int64_t warp) {
  bits_[static_cast<std::size_t>(warp / 64)] |= std::uint64_t{1} << (warp % 64);
  ++waiting_;
}

std::int64_t Turns::take() {
  auto word = static_cast<std::size_t>(next_ / 64);
  std::uint64_t found = bits_[word] & (~std::uint64_t{0} << (next_ % 64));
  while (found == 0) {
    word = word + 1 == bits_.size() ? 0 : word + 1;
    found = bits_[word];
  }
  const std::int64_t warp = static_cast<std::int64_t>(word) * 64 + std::countr_zero(found);
  bits_[word] &= ~(found & (~found + 1));
  --waiting_;
  next_ = static_cast<std::size_t>(warp + 1) == bits_.size() * 64 ? 0 : warp + 1;
  return warp;
}

Schedule::Schedule(const std::vector<Pipeline>& memories, std::int64_t threads, std::int64_t width, std::int64_t blocks)
    : width_(width) {
  if (width < 1) throw Fault("a memory machine needs a width of at least 1");
  if (blocks < 1) throw Fault("a memory machine needs at least 1 block");
  if (threads < 1 || threads % (width * blocks) != 0)
    throw Fault("the threads of each block of a memory machine must be a multiple of its width");
  warps_ = threads / width;
  warps_of_block_ = warps_ / blocks;
  for (const Pipeline& pipeline : memories) {
    if (pipeline.latency < 1) throw Fault("a memory machine needs a latency of at least 1");
    memories_.push_back({pipeline, Turns(warps_), {}, 0});
  }
  heads_.assign(static_cast<std::size_t>(warps_), none);
  tails_.assign(static_cast<std::size_t>(warps_), none);
  arrived_.assign(static_cast<std::size_t>(blocks), 0);
  of_bank_.assign(static_cast<std::size_t>(width), 0);
}

std::int64_t Schedule::entries(Wiring wiring, std::span<const std::int64_t> cells) {
  if (cells.empty()) return 0;
  std::size_t run = 1;
  while (run < cells.size() && cells[run] == cells[0] + static_cast<std::int64_t>(run)) ++run;
  if (run == cells.size() && run <= static_cast<std::size_t>(width_))  // the usual case: adjacent cells
    return wiring == Wiring::banks ? 1 : cells.back() / width_ - cells.front() / width_ + 1;
  sorted_.assign(cells.begin(), cells.end());
  if (!std::is_sorted(sorted_.begin(), sorted_.end())) std::sort(sorted_.begin(), sorted_.end());
  if (wiring == Wiring::groups)
    for (std::int64_t& cell : sorted_) cell /= width_;
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
  if (wiring == Wiring::groups) return static_cast<std::int64_t>(sorted_.size());
  std::int64_t most = 0;
  for (const std::int64_t cell : sorted_) most = std::max(most, ++of_bank_[static_cast<std::size_t>(cell % width_)]);
  for (const std::int64_t cell : sorted_) of_bank_[static_cast<std::size_t>(cell % width_)] = 0;
  return most;
}

void Schedule::append(std::int64_t warp, const Item& item) {
  const auto w = static_cast<std::size_t>(warp);
  const auto at = static_cast<std::int64_t>(items_.size());
  items_.push_back(item);
  if (heads_[w] == none) {
    heads_[w] = at;
    active_.push_back(warp);
  } else {
    items_[static_cast<std::size_t>(tails_[w])].next = at;
  }
  tails_[w] = at;
}

void Schedule::request(std::int64_t warp, std::size_t memory) {
  step(warp, memory, entries(memories_[memory].pipeline.wiring, cells_), static_cast<std::int64_t>(cells_.size()));
}

void Schedule::step(std::int64_t warp, std::size_t memory, std::int64_t entries, std::int64_t requests,
                    std::int64_t event, std::span<const std::int64_t> awaited) {
  if (entries < 1) throw Fault("requests take at least 1 entry");
  append(warp, {entries, memory, none, event, awaited_.size(), awaited.size()});
  awaited_.insert(awaited_.end(), awaited.begin(), awaited.end());
  std::int64_t last = event;
  for (const std::int64_t other : awaited) last = std::max(last, other);
  if (last >= static_cast<std::int64_t>(happened_.size())) {
    happened_.resize(static_cast<std::size_t>(last + 1));
    waiting_.resize(happened_.size());
  }
  time_.entries += entries;
  time_.requests += requests;
}

void Schedule::block_barrier() {
  for (std::int64_t block = 0; block < static_cast<std::int64_t>(arrived_.size()); ++block) block_barrier(block);
}

void Schedule::block_barrier(std::int64_t block) {
  for (std::int64_t warp = block * warps_of_block_; warp < (block + 1) * warps_of_block_; ++warp)
    append(warp, {0, 0, none, none, 0, 0});
}

// Called for a warp without a request in flight: it queues for its turn, or waits for its block, or is done.
void Schedule::advance(std::int64_t warp) {
  const std::int64_t head = heads_[static_cast<std::size_t>(warp)];
  if (head == none) return;
  Item& item = items_[static_cast<std::size_t>(head)];
  if (item.entries > 0) {
    if (!waits(warp, item)) memories_[item.memory].turns.add(warp);
    return;
  }
  const std::int64_t block = warp / warps_of_block_;
  if (++arrived_[static_cast<std::size_t>(block)] < warps_of_block_) return;
  arrived_[static_cast<std::size_t>(block)] = 0;
  for (std::int64_t other = block * warps_of_block_; other < (block + 1) * warps_of_block_; ++other) {
    std::int64_t& at = heads_[static_cast<std::size_t>(other)];
    at = items_[static_cast<std::size_t>(at)].next;
    advance(other);
  }
}

// True if an event that the item awaits has not happened; the warp is then notified when it does.
bool Schedule::waits(std::int64_t warp, Item& item) {
  for (; item.awaited > 0; ++item.first_awaited, --item.awaited) {
    const auto event = static_cast<std::size_t>(awaited_[item.first_awaited]);
    if (happened_[event] != 0) continue;
    waiting_[event].push_back(warp);
    return true;
  }
  return false;
}

void Schedule::happen(std::int64_t event) {
  happened_[static_cast<std::size_t>(event)] = 1;
  for (const std::int64_t warp : std::exchange(waiting_[static_cast<std::size_t>(event)], {})) advance(warp);
}

// The next time a request completes or a pipeline with waiting warps is free; false if there is none.
bool Schedule::next_moment(std::int64_t& now) const {
  std::int64_t soonest = std::numeric_limits<std::int64_t>::max();
  for (const Memory& memory : memories_) {
    if (!memory.turns.empty()) soonest = std::min(soonest, std::max(now, memory.free));
    if (!memory.flights.empty()) soonest = std::min(soonest, memory.flights.front().complete);
  }
  if (soonest == std::numeric_limits<std::int64_t>::max()) return false;
  now = soonest;
  return true;
}

void Schedule::barrier() {
  for (Memory& memory : memories_) {
    memory.turns.start_over();
    memory.free = 0;
  }
  for (const std::int64_t warp : active_) advance(warp);
  std::int64_t now = 0, end = 0;
  while (next_moment(now)) {
    for (Memory& memory : memories_)
      while (!memory.flights.empty() && memory.flights.front().complete <= now) {
        const Flight flight = memory.flights.front();
        memory.flights.pop_front();
        if (flight.event != none) happen(flight.event);
        advance(flight.warp);
      }
    for (Memory& memory : memories_) {
      if (memory.turns.empty() || memory.free > now) continue;
      const std::int64_t warp = memory.turns.take();
      std::int64_t& head = heads_[static_cast<std::size_t>(warp)];
      const Item& item = items_[static_cast<std::size_t>(head)];
      memory.free = now + item.entries;
      memory.flights.push_back({memory.free + memory.pipeline.latency - 1, warp, item.event});
      end = std::max(end, memory.flights.back().complete);
      head = item.next;
    }
  }
  for (const std::vector<std::int64_t>& warps : waiting_)
    if (!warps.empty()) throw Fault("a warp waits for a request that waits for it");
  items_.clear();
  active_.clear();
  awaited_.clear();
  happened_.clear();
  waiting_.clear();
  time_.units += end;
  ++time_.barriers;
}

}  // namespace areal::memory
