// Asynchronous copies: cp.async by threads, bulk copies by agents of the block.
#include <algorithm>
#include <cstring>

#include "simt/engine/engine.hpp"

namespace areal::simt {

void Engine::copy_async(Thread& thread, void* to, const void* from, unsigned bytes, unsigned elements, Site site) {
  if (!options_.async_copies) {
    access(thread, Op::load, reinterpret_cast<std::uintptr_t>(from), bytes, elements, site);
    access(thread, Op::put, reinterpret_cast<std::uintptr_t>(to), bytes, elements, site);
    std::memcpy(to, from, bytes);
    ++changes_;
    return;
  }
  access(thread, Op::copy_from, reinterpret_cast<std::uintptr_t>(from), bytes, elements, site);
  access(thread, Op::copy_to, reinterpret_cast<std::uintptr_t>(to), bytes, elements, site);
  counts_.copied_bytes += bytes;
  PendingCopy copy{static_cast<std::byte*>(to),
                   static_cast<const std::byte*>(from),
                   bytes,
                   thread.copy_group,
                   static_cast<std::uint16_t>(sites_.number(site, Op::copy_from, bytes, elements)),
                   static_cast<std::uint16_t>(sites_.number(site, Op::copy_to, bytes, elements)),
                   false};
  if (random() % 2 == 0)
    land(copy);
  else
    std::memset(to, Memory::poison, bytes);  // the data lands at the wait
  thread.copies.push_back(copy);
}

void Engine::land(PendingCopy& copy) {
  if (copy.landed) return;
  std::memcpy(copy.to, copy.from, copy.bytes);
  copy.landed = true;
  ++changes_;
}

/// What the reader's thread read for as long as a copy or product was in flight, it has read now.
void Engine::end_reading(const Actor& reader, Cell& cell, Shadow& shadow) {
  const std::uint32_t id = reader.thread.id, in_warp = static_cast<std::uint32_t>(reader.thread.index) % 32;
  if (cell.read.kind() == Stamp::copying && cell.read.thread() == id) cell.read = {};
  if (cell.read.kind() == Stamp::list)
    for (Readers& e : memory_.lists()[cell.read])
      if (e.stamp.kind() == Stamp::copying && e.stamp.thread() == id - in_warp) e.mask &= ~(1u << in_warp);
  note_read(reader, cell, shadow);
}

/// Ends the copy: its source may be written again, and its target is `by`'s, as of now, if the copy was waited for.
void Engine::end_copy(Thread& thread, PendingCopy& copy, By by, bool waited) {
  land(copy);
  if (!options_.checks) return;
  std::size_t n = 0;
  Shadow* shadow = nullptr;
  const Actor reader{thread, by.id, by.time, copy.from_site, Stamp::plain};
  Cell* cell =
      cells(thread, reinterpret_cast<std::uintptr_t>(copy.from), copy.bytes, copy.from_site, false, false, n, shadow);
  for (std::size_t i = 0; i < n; ++i, ++cell) end_reading(reader, *cell, *shadow);
  if (!waited) return;
  cell = cells(thread, reinterpret_cast<std::uintptr_t>(copy.to), copy.bytes, copy.to_site, true, true, n, shadow);
  for (std::size_t i = 0; i < n; ++i, ++cell) cell->write = Stamp::make(by.id, by.time, copy.to_site, Stamp::plain);
}

void Engine::wait_copies(Thread& thread, int youngest) {
  land_arrivals(thread);
  auto rest = thread.copies.begin();
  for (PendingCopy& copy : thread.copies)
    if (copy.group + static_cast<std::uint32_t>(youngest) < thread.copy_group)
      end_copy(thread, copy, {thread.id, thread.clock.time}, true);
    else
      *rest++ = copy;
  thread.copies.erase(rest, thread.copies.end());
}

void Engine::fence_async(Thread& thread) {
  thread.fences.push_back(thread.clock.time);
  thread.known_at_fence = thread.clock;
  thread.block_known_at_fence = thread.home->known;
  if (options_.checks) advance(thread);  // excludes its later puts
}

void Engine::check_bulk(Thread& thread, const void* shared, const void* global, std::size_t n, Op op, Site site) {
  const auto in_shared = reinterpret_cast<std::uintptr_t>(shared), in_global = reinterpret_cast<std::uintptr_t>(global);
  check_shared(thread, in_shared, n, op, site);
  for (const std::uintptr_t at : {in_shared, in_global})
    if (at % 16 != 0)
      fault(thread, FaultKind::misaligned, site,
            std::string(name(op)) + " at " + where(thread, at) + ", which is not a multiple of 16");
  if (n == 0 || n % 16 != 0)
    fault(thread, FaultKind::misaligned, site,
          std::string(name(op)) + " of " + std::to_string(n) + " bytes, not a multiple of 16");
}

BulkCopy& Engine::issue_bulk(Thread& thread, void* to, const void* from, std::size_t n, Op op, Site site) {
  Block& block = *thread.home;
  const std::uint32_t slot = block.next_agent++ % std::min(32u, block.bulk_agents), agent = agents_ + slot;
  const std::uint32_t time = block.agent_time[slot];
  if ((block.agent_time[slot] += 2) >= Stamp::most_time) too_long();
  const unsigned number = sites_.number(site, op, 4, 1);
  const bool load = op == Op::bulk_load;
  if (options_.checks) {
    // The copy is ordered after its issuer's knowledge; until it ends, no thread may access its source and target.
    const std::uint32_t id = block.first_id + agent;
    read_cells({thread, id, time, number, Stamp::copying}, reinterpret_cast<std::uintptr_t>(from), n, !load);
    write_cells({thread, id, time + 1, number, Stamp::copying}, reinterpret_cast<std::uintptr_t>(to), n, load);
  }
  std::memset(to, Memory::poison, n);
  bulk_.push_back(std::make_unique<BulkCopy>());
  BulkCopy& copy = *bulk_.back();
  copy = {&block,
          static_cast<std::byte*>(to),
          static_cast<const std::byte*>(from),
          n,
          agent,
          time,
          number,
          nullptr,
          &thread,
          thread.bulk_group};
  // Counted as elements of 4 bytes, as the copy engine has no element type.
  const std::uint64_t at = place(reinterpret_cast<std::uintptr_t>(load ? from : to), n, number),
                      group = std::uint64_t{width_} * 4;
  GlobalCounts& counts = load ? counts_.reads : counts_.writes;
  counts.elements += n / 4;
  counts.coalesced += n / 4;
  counts.bytes += n;
  counts.requests += 1;
  counts.groups += (at + n - 1) / group - at / group + 1;
  counts.sectors += (at + n - 1) / 32 - at / 32 + 1;
  (load ? counts_.bulk_loaded_bytes : counts_.bulk_stored_bytes) += n;
  if (options_.trace)
    options_.trace({step_, thread.block, thread.index, op, load ? from : to, static_cast<unsigned>(n), site});
  return copy;
}

void Engine::bulk_load(Thread& thread, void* to, const void* from, std::size_t n, kernels::Mbarrier& barrier,
                       Site site) {
  check_bulk(thread, to, from, n, Op::bulk_load, site);
  MbarrierState& state = mbarrier(thread, barrier, site);
  if (options_.checks && !state.fenced)
    fault(thread, FaultKind::missing_fence, site,
          "bulk_load completes on an mbarrier with no fence_init after its init",
          sites_[state.initialised.site()].site);
  issue_bulk(thread, to, from, n, Op::bulk_load, site).barrier = &state;
}

/// What the copy engine or a product reads of shared memory was put by this thread, or is known to be, and fenced.
void Engine::check_fenced(Thread& thread, const void* from, std::size_t n, Op op, Site site) {
  if (!options_.checks) return;
  Block& block = *thread.home;
  std::size_t cells_of = 0;
  const auto at = reinterpret_cast<std::uintptr_t>(from);
  const Cell* const first = block.shadow.cells(at, n, cells_of, memory_.lists());
  for (const Cell* cell = first; cell != first + cells_of; ++cell) {
    const Stamp w = cell->write;
    const std::uint32_t writer = w.thread() - block.first_id;
    if (w.kind() != Stamp::plain || writer >= static_cast<std::uint32_t>(shape_.threads)) continue;
    if (w.thread() != thread.id && !knows(thread, w.thread(), w.time(), true))
      continue;  // a race, which is found later
    const std::vector<std::uint32_t>& fences = block.threads[writer].fences;
    const auto fence = std::lower_bound(fences.begin(), fences.end(), w.time());
    if (fence != fences.end() && (w.thread() == thread.id || knows(thread, w.thread(), *fence, true))) continue;
    // A fence of the reader does as well, if it knew of the write then.
    if (w.thread() == thread.id ||
        !knows(thread, thread.known_at_fence, thread.block_known_at_fence, w.thread(), w.time(), true))
      fault(thread, FaultKind::missing_fence, site,
            std::string(name(op)) + " of what " + words_for(thread, w.thread()) +
                " put, with no fence_async between that and the barrier",
            sites_[w.site()].site);
  }
}

void Engine::bulk_store(Thread& thread, void* to, const void* from, std::size_t n, Site site) {
  check_bulk(thread, from, to, n, Op::bulk_store, site);
  check_fenced(thread, from, n, Op::bulk_store, site);
  const BulkCopy& copy = issue_bulk(thread, to, from, n, Op::bulk_store, site);
  thread.bulk_reads.push_back({copy.group, copy.agent, copy.time});
}

void Engine::land_bulk(std::size_t i) {
  const BulkCopy copy = *bulk_[i];
  bulk_[i] = std::move(bulk_.back());
  bulk_.pop_back();
  std::memcpy(copy.to, copy.from, copy.bytes);
  ++changes_;
  Block& block = *copy.home;
  const bool load = copy.barrier != nullptr;
  if (options_.checks) {
    std::size_t n = 0;
    Shadow* shadow = nullptr;
    Cell* const first =
        cells(*copy.issuer, reinterpret_cast<std::uintptr_t>(copy.to), copy.bytes, copy.site, load, true, n, shadow);
    for (Cell* cell = first; cell != first + n; ++cell)
      cell->write = Stamp::make(block.first_id + copy.agent, copy.time + 1, copy.site, Stamp::plain);
  }
  if (!load) return;
  if (options_.checks) {
    BlockClock& view = copy.barrier->gathered.view;
    if (view.empty()) view.resize(stride_, 0);
    view[copy.agent] = std::max(view[copy.agent], copy.time + 1);
  }
  copy.barrier->bytes -= static_cast<std::int64_t>(copy.bytes);
  perhaps_complete(*copy.barrier);
}

void Engine::land_some() {
  if (random() % 8 == 0) land_bulk(random() % bulk_.size());
}

void Engine::wait_bulk(Thread& thread, int youngest) {
  std::shared_ptr<BlockClock> view;
  for (std::size_t i = bulk_.size(); i-- > 0;) {
    const BulkCopy& copy = *bulk_[i];
    if (copy.issuer == &thread && copy.barrier == nullptr &&
        copy.group + static_cast<std::uint32_t>(youngest) < thread.bulk_group)
      land_bulk(i);
  }
  if (!options_.checks) return;
  for (const auto& [group, agent, time] : thread.bulk_reads)
    if (group + static_cast<std::uint32_t>(youngest) < thread.bulk_group) {
      if (!view)
        view = thread.clock.view ? std::make_shared<BlockClock>(*thread.clock.view)
                                 : std::make_shared<BlockClock>(stride_, 0);
      (*view)[agent] = std::max((*view)[agent], time);  // only its reads: nothing reports the arrival of its writes
    }
  std::erase_if(thread.bulk_reads,
                [&](const auto& r) { return r.group + static_cast<std::uint32_t>(youngest) < thread.bulk_group; });
  if (view) thread.clock.view = view;
}

}  // namespace areal::simt
