#include "queue/waiting_tasks.hpp"
#include <algorithm>
#include <iterator>

namespace areal::queue {

namespace {
constexpr int looked_at = 256;

bool before(const Entry& a, const Entry& b) { return a.place < b.place; }
}  // namespace

WaitingTasks::WaitingTasks(int workers)
    : only_(static_cast<std::size_t>(workers)), lost_(static_cast<std::size_t>(workers)) {
  heads_.resize(only_.size() + 1);
}

Entries& WaitingTasks::list_of(const Entry& entry) {
  if (!entry.task.only) return shared_;
  const auto worker = static_cast<std::size_t>(*entry.task.only);
  return lost_[worker] ? shared_ : only_[worker];
}

Entries WaitingTasks::entry_of(const Task& task) {
  if (spare_.empty()) spare_.emplace_back();
  spare_.front() = {task, pushed_++, -1, {}};
  Entries one;
  one.splice(one.begin(), spare_, spare_.begin());
  return one;
}

void WaitingTasks::add(Entries& newest) {
  Entries& list = list_of(newest.front());
  list.splice(list.end(), newest);
  ++size_;
}

void WaitingTasks::put_back(Entries& entries) {
  while (!entries.empty()) {
    Entries& list = list_of(entries.front());
    const auto later =
        std::find_if(list.begin(), list.end(), [&](const Entry& e) { return before(entries.front(), e); });
    list.splice(later, entries, entries.begin());
    ++size_;
  }
}

void WaitingTasks::begin_now(Expectation& expectation, double now, const Begin& begin) {
  expectation.look(now);
  if (empty()) return;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    Entries& list = i < only_.size() ? only_[i] : shared_;
    heads_[i] = {&list, list.begin(), i < only_.size() ? static_cast<int>(i) : -1, 0};
  }
  while (expectation.open()) {
    Head* first = nullptr;
    for (Head& head : heads_)
      if (head.at != head.list->end() && head.seen < looked_at && (first == nullptr || before(*head.at, *first->at)))
        first = &head;
    if (first == nullptr) return;
    ++first->seen;
    const auto entry = first->at++;
    const auto at = expectation.place(entry->task.cost, first->only, entry->avoid);
    if (!at) continue;
    Entries one;
    one.splice(one.begin(), *first->list, entry);
    --size_;
    expectation.begin(*at, one.front().task.cost, first->only < 0, now);
    begin(*at, one);
  }
}

Entries WaitingTasks::lose(int worker) {
  lost_[static_cast<std::size_t>(worker)] = true;
  Entries bound;
  Entries& list = only_[static_cast<std::size_t>(worker)];
  for (auto at = list.begin(); at != list.end();) {
    const auto entry = at++;
    if (entry->task.bound) bound.splice(bound.end(), list, entry);
  }
  size_ -= static_cast<std::int64_t>(bound.size());
  shared_.merge(list, before);
  return bound;
}

Entries WaitingTasks::take(bool but_begun) {
  Entries out, stay;
  for (Entries& list : only_) out.merge(list, before);
  out.merge(shared_, before);
  size_ = 0;
  for (auto at = out.begin(); at != out.end();) {
    const auto entry = at++;
    if (but_begun && entry->begun()) stay.splice(stay.end(), out, entry);
  }
  put_back(stay);
  return out;
}

}  // namespace areal::queue
