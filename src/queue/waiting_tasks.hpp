#pragma once
// The waiting tasks, in the order of push, and the choice of those that begin now. No threads, no clock.

#include <cstdint>
#include <functional>
#include <list>
#include <vector>
#include "queue/expectation.hpp"
#include "queue/task.hpp"

namespace areal::queue {

struct Entry {
  Task task;
  std::int64_t place = 0;  // in the order of push
  int avoid = -1;          // the worker on which it failed last
  Outcome outcome;         // of the last attempt
  bool begun() const { return outcome.worker >= 0; }
};
/// Nodes move from list to list, so that a queue in its steady state allocates nothing.
using Entries = std::list<Entry>;

class WaitingTasks {
 public:
  explicit WaitingTasks(int workers);

  /// The next in the order of push; not waiting yet.
  Entries entry_of(const Task& task);
  void add(Entries& newest);
  /// Returns entries to their places in the order of push.
  void put_back(Entries& entries);
  /// Keeps the nodes of finished entries for reuse.
  void reserve(std::size_t entries) { spare_.resize(spare_.size() + entries); }
  void reuse(Entries& entries) { spare_.splice(spare_.begin(), entries); }
  bool empty() const { return size_ == 0; }

  /// Calls begin(lane, node) for each task that begins now, in order; the node is moved out of its list into begin's.
  /// Looks at 256 tasks of each list: a worker that is not worth waiting for 256 tasks adds less than 1/256.
  using Begin = std::function<void(LaneOf at, Entries& one)>;
  void begin_now(Expectation& expectation, double now, const Begin& begin);

  /// Tasks that preferred this worker go to all; tasks bound to it are returned.
  Entries lose(int worker);
  /// All waiting tasks, in the order of push; with `but_begun`, tasks that wait for another attempt stay.
  Entries take(bool but_begun);

 private:
  struct Head {
    Entries* list = nullptr;
    Entries::iterator at;
    int only = -1, seen = 0;
  };
  Entries& list_of(const Entry& entry);

  std::vector<Entries> only_;  // of each worker
  std::vector<bool> lost_;
  Entries shared_, spare_;
  std::vector<Head> heads_;
  std::int64_t pushed_ = 0, size_ = 0;
};

}  // namespace areal::queue
