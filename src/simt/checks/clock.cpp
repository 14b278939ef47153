#include "simt/checks/clock.hpp"

#include <algorithm>

namespace areal::simt {

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

const Front* Fronts::join(const Front* a, const Front* b) {
  if (!b || a == b) return a;
  if (!a) return b;
  return &fronts_.emplace_back(Front{nullptr, {a, b}});
}

const Front* Fronts::join(const std::vector<const Front*>& distinct) {
  if (distinct.empty()) return nullptr;
  if (distinct.size() == 1) return distinct[0];
  return &fronts_.emplace_back(Front{nullptr, distinct});
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
  Front next{release, {}};
  if (front) next.from.push_back(front);
  return &fronts_.emplace_back(std::move(next));
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
  queue_.push_back(front);
  front->visited = visit_;
  const auto visit = [&](const Front* f) {
    if (f && f->visited != visit_) {
      f->visited = visit_;
      queue_.push_back(f);
    }
  };
  for (std::size_t i = 0; i < queue_.size(); ++i) {  // breadth first, as the sought release is usually recent
    const Front* at = queue_[i];
    if (const Release* r = at->release; r != nullptr && !(write && r->reads_only)) {
      if (r->block == block) {
        bool covered = r->view && (*r->view)[thread] >= time;
        if (thread < agents) {
          covered = covered || time <= r->block_known || (thread == r->thread && time <= r->time);
          if (thread / 32 == r->thread / 32)
            covered = covered || time <= r->warp_known || (r->row && (*r->row)[thread % 32] >= time);
        }
        if (covered) {
          found = r;
          return true;
        }
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
