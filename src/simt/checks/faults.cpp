// The text of faults.
#include "simt/engine/engine.hpp"

#include <algorithm>

namespace areal::simt {
namespace {

std::string text(Site site) {
  const std::string file = site.file;
  const auto slash = file.rfind('/');
  return (slash == std::string::npos ? file : file.substr(slash + 1)) + ":" + std::to_string(site.line);
}

const char* name(State state) {
  constexpr const char* names[] = {"ready to run",
                                   "polling",
                                   "waiting in a warp collective",
                                   "waiting at a block barrier",
                                   "waiting at a named barrier",
                                   "waiting at the barrier of the cluster",
                                   "waiting at an mbarrier",
                                   "gone"};
  return names[static_cast<int>(state)];
}

}  // namespace

const char* name(FaultKind kind) {
  constexpr const char* names[] = {"out of bounds",
                                   "misaligned",
                                   "uninitialised read",
                                   "write to read-only memory",
                                   "out of shared memory",
                                   "race",
                                   "hand-over without its flag",
                                   "asynchronous copy in flight",
                                   "missing fence",
                                   "barrier",
                                   "warp collective",
                                   "shuffle source",
                                   "mbarrier",
                                   "cluster",
                                   "stuck"};
  return names[static_cast<int>(kind)];
}

std::string Engine::where(const Thread& thread, std::uintptr_t at, bool meant_shared) {
  const std::uintptr_t offset = at - reinterpret_cast<std::uintptr_t>(thread.shared);
  if (thread.shared != nullptr && offset < shape_.shared_bytes)
    return "byte " + std::to_string(offset) + " of shared memory";
  const ShadowedRegion* const near = memory_.nearest(at);
  constexpr std::size_t far = 1 << 16;
  if (meant_shared && thread.shared != nullptr && (near == nullptr || !near->holds(at, 1))) {
    const auto before = -offset, past = offset - shape_.shared_bytes;
    if (before < far) return std::to_string(before) + " bytes before shared memory";
    if (past < far) return std::to_string(past) + " bytes past the end of shared memory";
  }
  if (near == nullptr) return "an address in no region: none is registered";
  const std::uintptr_t end = near->first() + near->bytes;
  const std::string region = "region \"" + near->name + "\" of " + std::to_string(near->bytes) + " bytes";
  if (at < near->first()) return std::to_string(near->first() - at) + " bytes before " + region;
  if (at >= end) return std::to_string(at - end) + " bytes past the end of " + region;
  return "byte " + std::to_string(at - near->first()) + " of " + region;
}

std::string Engine::words_for(const Thread& thread, std::uint32_t id) {
  const std::int64_t block = (id - launch_id_) / stride_;
  const std::uint32_t index = (id - launch_id_) % stride_;
  const std::string of = block == thread.block ? "" : " of block " + std::to_string(block);
  return (index < agents_ ? "thread " + std::to_string(index) : std::string("the copy engine")) + of;
}

Fault Engine::make_fault(FaultKind kind, std::int64_t block, int thread, Site site, const std::string& what,
                         Site other) {
  std::string all = kernel_ + ": " + name(kind) + ": block " + std::to_string(block) + ", thread " +
                    std::to_string(thread) + " (warp " + std::to_string(thread / 32) + ", lane " +
                    std::to_string(thread % 32) + ") at " + text(site) + ": " + what;
  if (other.line != 0) all += " (" + text(other) + ")";
  all += " [seed " + std::to_string(options_.seed) + ", launch " + std::to_string(launch_) + "]";
  Fault fault(all, kind);
  fault.kernel = kernel_;
  fault.block = block;
  fault.thread = thread;
  fault.lane = thread % 32;
  fault.site = site;
  fault.other = other;
  fault.seed = options_.seed;
  fault.launch = launch_;
  return fault;
}

void Engine::raise(Fault fault) {
  if (running_ == nullptr) throw fault;
  fault_ = std::move(fault);  // an exception cannot leave a fiber: the scheduler throws it
  wait_for_ever();
}

void Engine::fault(Thread& thread, FaultKind kind, Site site, const std::string& what, Site other) {
  raise(make_fault(kind, thread.block, thread.index, site, what, other));
}

void Engine::conflict(const Actor& actor, Stamp other, bool write, bool other_wrote, std::uintptr_t at) {
  Thread& thread = actor.thread;
  const Sites::Entry &mine = sites_[actor.site], &theirs = sites_[other.site()];
  const std::uint32_t index = (other.thread() - launch_id_) % stride_;
  const std::int64_t block = (other.thread() - launch_id_) / stride_;
  const std::string whose = words_for(thread, other.thread());
  std::string what = std::string(name(mine.op)) + " at ";
  if (actor.home != nullptr)  // a send: `at` lies in the receiver
    what += where(thread, at - reinterpret_cast<std::uintptr_t>(actor.home->shared) +
                              reinterpret_cast<std::uintptr_t>(thread.shared)) +
            " of block " + std::to_string(actor.home->index);
  else
    what += where(thread, at);
  if (other.kind() == Stamp::copying || index >= agents_) {
    what += other_wrote ? ", the target of a " : ", the source of a ";
    what += name(theirs.op);
    if (theirs.op == Op::send && index >= agents_)
      what += " that has landed";
    else
      what += " by " + (index < agents_ ? whose : "this or another thread") +
              (index < agents_ || block == thread.block ? "" : " of block " + std::to_string(block));
    what += ", which has not been waited for";
    fault(thread, FaultKind::in_flight, mine.site, what, theirs.site);
  }
  if (!write && block != thread.block) {
    what +=
        ", which " + whose + " wrote (" + name(theirs.op) + "): no flag that it published after that has been polled";
    fault(thread, FaultKind::hand_over, mine.site, what, theirs.site);
  }
  what += std::string(write ? " overwrites what " : " reads what ") + whose + (other_wrote ? " wrote" : " read") +
          " (" + name(theirs.op) + "), and nothing orders the two";
  fault(thread, FaultKind::race, mine.site, what, theirs.site);
}

void Engine::stuck(bool spinning) {
  // Threads of one block in one state at one place are listed together, by `first`.
  const Thread* first = nullptr;
  std::string what;
  int listed = 0;
  const auto worth = [](State state) {  // if threads do not reach a barrier, those waiting there say more
    return state == State::barrier || state == State::named_barrier || state == State::cluster_barrier ? 3
           : state == State::collective                                                                ? 2
                                                                                                       : 1;
  };
  for (const auto& block : slots_) {
    if (block->index < 0) continue;
    std::vector<bool> seen(static_cast<std::size_t>(shape_.threads), false);
    for (int t = 0; t < shape_.threads; ++t) {
      const Thread& thread = block->threads[t];
      if (seen[static_cast<std::size_t>(t)] || thread.state == State::finished) continue;
      int n = 0;
      for (int u = t; u < shape_.threads; ++u) {
        const Thread& other = block->threads[u];
        if (other.state != thread.state || other.site.line != thread.site.line || other.site.file != thread.site.file)
          continue;
        seen[static_cast<std::size_t>(u)] = true;
        ++n;
      }
      if (first == nullptr || worth(thread.state) > worth(first->state)) first = &thread;
      if (++listed > 8) continue;
      what += (what.empty() ? "block " : "; block ") + std::to_string(block->index) + ": thread " + std::to_string(t) +
              (n > 1 ? " and " + std::to_string(n - 1) + " more " : " ") + name(thread.state) + " at " +
              text(thread.site);
    }
  }
  if (listed > 8) what += "; and others";
  FaultKind kind = FaultKind::stuck;
  if (!spinning && worth(first->state) == 3) kind = FaultKind::barrier;
  if (!spinning && worth(first->state) == 2) kind = FaultKind::collective;
  raise(make_fault(kind, first->block, first->index, first->site,
                   (spinning ? "nothing has changed for long while threads poll: " : "nobody can go on: ") + what));
}

}  // namespace areal::simt
