#include "simt/checks/clock.hpp"

#include <algorithm>

namespace areal::simt {
namespace {

/// True if the release followed what this thread of its block did at this time.
bool shows(const Release& r, std::uint32_t thread, std::uint32_t time, std::uint32_t agents) {
  if (r.view && (*r.view)[thread] >= time) return true;
  if (thread >= agents) return false;
  if (time <= r.block_known || (thread == r.thread && time <= r.time)) return true;
  return thread / 32 == r.thread / 32 && (time <= r.warp_known || (r.row && (*r.row)[thread % 32] >= time));
}

}  // namespace

std::shared_ptr<const BlockClock> join(const std::shared_ptr<const BlockClock>& a,
                                       const std::shared_ptr<const BlockClock>& b) {
  if (!b || a == b) return a;
  if (!a) return b;
  bool a_holds = true, b_holds = true;
  for (std::size_t i = 0; i < a->size(); ++i) {
    a_holds &= (*a)[i] >= (*b)[i];
    b_holds &= (*b)[i] >= (*a)[i];
  }
  if (a_holds) return a;
  if (b_holds) return b;
  auto both = std::make_shared<BlockClock>(*a);
  for (std::size_t i = 0; i < both->size(); ++i) (*both)[i] = std::max((*a)[i], (*b)[i]);
  return both;
}

const Release* Fronts::release(Release r) {
  r.number = ++numbers_;
  const Release* const made = &releases_.emplace_back(std::move(r));
  of_block_[made->block].push_back(made);
  return made;
}

const Front* Fronts::add(const Release* release, std::vector<const Front*> from) {
  return &fronts_.emplace_back(Front{release, std::move(from), ++numbers_});
}

std::uint64_t Fronts::first_that_shows(std::int64_t block, std::uint32_t thread, std::uint32_t time,
                                       std::uint32_t agents, bool write) const {
  const auto found = of_block_.find(block);
  if (found != of_block_.end())
    for (const Release* r : found->second)
      if (!(write && r->reads_only) && shows(*r, thread, time, agents)) return r->number;
  return ~std::uint64_t{0};
}

const Front* Fronts::join(const Front* a, const Front* b) {
  if (!b || a == b) return a;
  if (!a) return b;
  return add(nullptr, {a, b});
}

const Front* Fronts::join(const std::vector<const Front*>& distinct) {
  if (distinct.empty()) return nullptr;
  if (distinct.size() == 1) return distinct[0];
  return add(nullptr, distinct);
}

const Front* Fronts::acquire(const Front* front, const Release* release) {
  // A thread that polls in a loop acquires the same few releases repeatedly.
  if (front) {
    if (front->release == release) return front;
    int looked = 0;
    for (const Front* near : front->from) {
      if (near->release == release) return front;
      if (++looked == 8) break;
    }
  }
  return add(release, front ? std::vector<const Front*>{front} : std::vector<const Front*>{});
}

bool Fronts::covers(const Front* front, std::int64_t block, std::uint32_t thread, std::uint32_t time,
                    std::uint32_t agents, bool write, const Release*& found) {
  if (!front) return false;
  const Vain search{front, block, thread, time, write};
  if (vain_.empty()) vain_.resize(std::size_t{1} << 12);
  const std::uint64_t key = reinterpret_cast<std::uintptr_t>(front) / sizeof(Front) ^ std::uint64_t{thread} << 32 ^
                            std::uint64_t{time} << 43 ^ static_cast<std::uint64_t>(block) << 20;
  Vain& known = vain_[(key * 0x9e3779b97f4a7c15u) >> 52];
  if (known == search) return false;
  ++visit_;
  queue_.clear();
  // What is older than the first release that shows the access cannot follow it.
  std::uint64_t oldest = 0;
  const auto visit = [&](const Front* f) {
    if (f && f->visited != visit_ && f->number > oldest) {
      f->visited = visit_;
      queue_.push_back(f);
    }
  };
  visit(front);
  for (std::size_t i = 0; i < queue_.size(); ++i) {  // breadth first, as the sought release is usually recent
    if (i == 8) oldest = first_that_shows(block, thread, time, agents, write);
    const Front* at = queue_[i];
    if (at->number < oldest) continue;
    if (const Release* r = at->release; r != nullptr && !(write && r->reads_only)) {
      if (r->block == block && shows(*r, thread, time, agents)) {
        found = r;
        return true;
      }
      visit(r->front);
    }
    for (const Front* f : at->from) visit(f);
  }
  known = search;
  return false;
}

void Gathered::add(std::uint32_t thread, std::uint32_t time, std::uint32_t warp_known, const Row* row,
                   const BlockClock* known, const Front* front, std::uint32_t stride) {
  if (view.empty()) view.resize(stride, 0);
  if (known != nullptr)
    for (std::size_t i = 0; i < view.size(); ++i) view[i] = std::max(view[i], (*known)[i]);
  const std::size_t first = thread / 32 * 32;
  for (std::size_t k = 0; k < 32; ++k)
    view[first + k] = std::max({view[first + k], warp_known, row != nullptr ? (*row)[k] : 0});
  view[thread] = std::max(view[thread], time);
  if (front != nullptr && std::find(fronts.begin(), fronts.end(), front) == fronts.end()) fronts.push_back(front);
}

}  // namespace areal::simt
