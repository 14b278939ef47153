// Checks each access: inside a region, aligned, initialised, and ordered after conflicting accesses.
#include <algorithm>
#include <bit>

#include "simt/engine/engine.hpp"

namespace areal::simt {

void Engine::access(Thread& thread, Op op, std::uintptr_t at, unsigned bytes, unsigned elements, Site site) {
  const unsigned number = sites_.number(site, op, bytes, elements);
  const bool shared = is_shared(op);
  if (options_.checks) {
    if (shared)
      check_shared(thread, at, bytes, op, site);
    else if (at % bytes != 0)
      fault(thread, FaultKind::misaligned, site,
            std::string(name(op)) + " of " + std::to_string(bytes) + " bytes at " + where(thread, at) +
                ", which is not a multiple of them");
    const Stamp::Kind kind = is_strong(op)                              ? Stamp::strong
                             : op == Op::copy_to || op == Op::copy_from ? Stamp::copying
                                                                        : Stamp::plain;
    const Actor actor{thread, thread.id, thread.clock.time, number, kind};
    if (is_write(op))
      write_cells(actor, at, bytes, shared);
    else
      read_cells(actor, at, bytes, shared);
  }
  if (is_flag(op)) ++(is_write(op) ? counts_.published : counts_.polls);
  if (!is_flag(op) || options_.witness != nullptr) {
    const std::uint64_t from = shared ? at - reinterpret_cast<std::uintptr_t>(thread.shared) : place(at, bytes, number);
    if (options_.witness != nullptr && is_strong(op) && !shared)
      options_.witness->flag_accessed(thread.block, thread.index, op, from);
    thread.warp->requests.add(number, static_cast<unsigned>(thread.index) & 31, from, sites_, width_, counts_);
  }
  thread.sent = nullptr;
  if (options_.trace)
    options_.trace({step_, thread.block, thread.index, op, reinterpret_cast<const void*>(at), bytes, site});
}

void Engine::check_shared_size(Thread& thread, std::size_t bytes, Site site) {
  if (bytes > std::max<std::size_t>(1, shape_.shared_bytes))
    fault(thread, FaultKind::shared_out_of_bounds, site,
          "shared memory is used as a structure of " + std::to_string(bytes) + " bytes; the kernel declares " +
              std::to_string(shape_.shared_bytes));
}

void Engine::check_shared(Thread& thread, std::uintptr_t at, std::size_t bytes, Op op, Site site) {
  const std::uintptr_t offset = at - reinterpret_cast<std::uintptr_t>(thread.shared);
  if (thread.shared == nullptr || offset >= shape_.shared_bytes || bytes > shape_.shared_bytes - offset)
    fault(thread, FaultKind::shared_out_of_bounds, site,
          std::string(name(op)) + " of " + std::to_string(bytes) + " bytes outside the block's shared memory of " +
              std::to_string(shape_.shared_bytes) + ", at " + where(thread, at, true));
  if (bytes <= 16 && offset % bytes != 0)
    fault(thread, FaultKind::misaligned, site,
          std::string(name(op)) + " of " + std::to_string(bytes) + " bytes at " + where(thread, at) +
              ", which is not a multiple of them");
}

ShadowedRegion& Engine::region(Thread& thread, std::uintptr_t at, std::size_t bytes, unsigned number, bool write) {
  if (number >= region_of_site_.size()) region_of_site_.resize(number + 64, nullptr);
  ShadowedRegion*& last = region_of_site_[number];
  if (last == nullptr || !last->holds(at, bytes)) {
    ShadowedRegion* const near = memory_.nearest(at);
    const Sites::Entry& entry = sites_[number];
    if (near == nullptr || !near->holds(at, bytes))
      fault(thread, FaultKind::out_of_bounds, entry.site,
            std::string(name(entry.op)) + " of " + std::to_string(bytes) + " bytes " + where(thread, at));
    last = near;
  }
  if (write && !last->writable)
    fault(thread, FaultKind::read_only, sites_[number].site,
          std::string(name(sites_[number].op)) + " to region \"" + last->name + "\", which may only be read");
  return *last;
}

std::uint64_t Engine::place(std::uintptr_t at, std::size_t bytes, unsigned number) {
  if (number >= region_of_site_.size()) region_of_site_.resize(number + 64, nullptr);
  ShadowedRegion*& last = region_of_site_[number];
  if (last == nullptr || !last->holds(at, bytes)) {
    ShadowedRegion* const near = memory_.nearest(at);
    if (near == nullptr || !near->holds(at, bytes)) return at;  // without checks, no region need be registered
    last = near;
  }
  return at - last->first();
}

Cell* Engine::cells(Thread& thread, std::uintptr_t at, std::size_t bytes, unsigned number, bool shared, bool write,
                    std::size_t& n, Shadow*& shadow, Block* home) {
  if (home == nullptr) home = thread.home;
  shadow = shared ? &home->shadow : &region(thread, at, bytes, number, write).shadow;
  return shadow->cells(at, bytes, n, memory_.lists());
}

void Engine::read_cells(const Actor& actor, std::uintptr_t at, std::size_t bytes, bool shared) {
  std::size_t n = 0;
  Shadow* shadow = nullptr;
  const bool atomic = is_atomic(sites_[actor.site].op);
  Cell* const first = cells(actor.thread, at, bytes, actor.site, shared, atomic, n, shadow);
  for (Cell* cell = first; cell != first + n; ++cell) {
    const std::uintptr_t here = at + static_cast<std::size_t>(cell - first) * shadow->granule();
    check_read(actor, *cell, here);
    if (atomic) {
      check_write(actor, *cell, here);
      cell->write = actor.stamp();
    } else {
      note_read(actor, *cell, *shadow);
    }
  }
}

void Engine::write_cells(const Actor& actor, std::uintptr_t at, std::size_t bytes, bool shared) {
  std::size_t n = 0;
  Shadow* shadow = nullptr;
  Cell* const first = cells(actor.thread, at, bytes, actor.site, shared, true, n, shadow, actor.home);
  for (Cell* cell = first; cell != first + n; ++cell) {
    check_write(actor, *cell, at + static_cast<std::size_t>(cell - first) * shadow->granule());
    cell->write = actor.stamp();
  }
}

void Engine::check_read(const Actor& actor, const Cell& cell, std::uintptr_t at) {
  const Stamp w = cell.write;
  if (w.bits == 0)
    fault(actor.thread, FaultKind::uninitialised, sites_[actor.site].site,
          std::string(name(sites_[actor.site].op)) + " at " + where(actor.thread, at) + ", which nobody has written");
  if (!of_this_launch(w)) return;
  if (w.kind() == Stamp::copying) conflict(actor, w, false, true, at);
  if (w.thread() == actor.thread.id || (w.kind() == Stamp::strong && actor.kind == Stamp::strong)) return;
  if (!knows(actor.thread, w.thread(), w.time(), true)) conflict(actor, w, false, true, at);
}

void Engine::note_read(const Actor& actor, Cell& cell, Shadow& shadow) {
  const Stamp mine = actor.stamp();
  Stamp& r = cell.read;
  const bool single = r.kind() != Stamp::list;
  if (single &&
      (!of_this_launch(r) ||
       (r.kind() != Stamp::copying &&
        (r.thread() == actor.id || (r.kind() == actor.kind && knows(actor.thread, r.thread(), r.time(), false)))))) {
    r = mine;  // everything ordered after this read is ordered after that one
    return;
  }
  const std::uint32_t in_warp = (actor.id - launch_id_) % stride_ % 32, bit = 1u << in_warp;
  const Stamp of_warp = Stamp::make(actor.id - in_warp, actor.time, actor.site, actor.kind);
  if (single) {
    const std::uint32_t other = (r.thread() - launch_id_) % stride_ % 32;
    const Readers before{Stamp::make(r.thread() - other, r.time(), r.site(), r.kind()), 1u << other};
    r = memory_.lists().make();
    shadow.note_list();
    memory_.lists()[r].push_back(before);
  }
  std::vector<Readers>& readers = memory_.lists()[r];
  const auto same = [&](const Readers& e) {
    return e.stamp.thread() == of_warp.thread() && e.stamp.time() == actor.time && e.stamp.kind() == actor.kind;
  };
  if (!readers.empty() && same(readers.back())) {
    readers.back().mask |= bit;
    return;
  }
  for (std::size_t i = readers.size(); i-- > 0;) {
    Readers& e = readers[i];
    if (same(e)) {
      e.mask |= bit;
      return;
    }
    // Removes readers that need no further check: earlier launches, and this thread's own earlier reads.
    if (!of_this_launch(e.stamp)) e.mask = 0;
    if (e.stamp.thread() == of_warp.thread() && e.stamp.kind() != Stamp::copying) {
      e.mask &= ~bit;
      if (e.stamp.kind() == actor.kind && e.stamp.time() <= actor.thread.clock.warp_known) e.mask = 0;
    }
    if (e.mask == 0) {
      e = readers.back();
      readers.pop_back();
    }
  }
  if (readers.size() < ReadLists::most)
    readers.push_back({of_warp, bit});
  else
    readers[(step_ + actor.id) % readers.size()] = {of_warp, bit};  // not random(): checks must not change the schedule
}

void Engine::check_write(const Actor& actor, Cell& cell, std::uintptr_t at) {
  Thread& thread = actor.thread;
  const bool strong = actor.kind == Stamp::strong;
  const Stamp w = cell.write;
  if (of_this_launch(w)) {
    if (w.kind() == Stamp::copying) conflict(actor, w, true, true, at);
    if (w.thread() != thread.id && !(strong && w.kind() == Stamp::strong) &&
        !knows(thread, w.thread(), w.time(),
               sites_[w.site()].op != Op::send))  // a send that is known at all has landed
      conflict(actor, w, true, true, at);
  }
  const Stamp r = cell.read;
  if (r.bits == 0) return;
  if (r.kind() == Stamp::list) {
    for (const Readers& e : memory_.lists()[r]) {
      if (!of_this_launch(e.stamp) || (strong && e.stamp.kind() == Stamp::strong)) continue;
      for (std::uint32_t mask = e.mask; mask != 0; mask &= mask - 1) {
        const std::uint32_t id = e.stamp.thread() + static_cast<std::uint32_t>(std::countr_zero(mask));
        const bool own = id == thread.id && e.stamp.kind() != Stamp::copying;
        // A cp.async reads until its wait, which removes its mark.
        const bool copying = e.stamp.kind() == Stamp::copying && (id - launch_id_) % stride_ < agents_;
        if (copying || (!own && !knows(thread, id, e.stamp.time(), false)))
          conflict(actor, Stamp::make(id, e.stamp.time(), e.stamp.site(), e.stamp.kind()), true, false, at);
      }
    }
    memory_.lists().free(r);
  } else if (of_this_launch(r) && !(strong && r.kind() == Stamp::strong)) {
    const bool copying = r.kind() == Stamp::copying && (r.thread() - launch_id_) % stride_ < agents_;
    if (copying || (r.thread() != thread.id && !knows(thread, r.thread(), r.time(), false)))
      conflict(actor, r, true, false, at);
  }
  cell.read = {};
}

}  // namespace areal::simt
