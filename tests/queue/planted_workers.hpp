#pragma once
// Workers that do what a test planted, what they and the queue's callbacks wrote down, and what is wrong with it.

#include <algorithm>
#include <areal/error.hpp>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>
#include "queue/task_queue.hpp"

namespace areal::queue {

enum class What { pushed, begun, done, failed, final, dies, lost, finished, taken_back };

/// One line of the log. `failed` may be tried again, `final` may not; a worker `dies` just before the queue can know.
struct Event {
  What what = What::pushed;
  std::int64_t task = -1;
  int worker = -1, lane = 0;
  bool error = false;  // of finished
  int attempts = 0;    // of finished
  Task whole = {};     // of pushed
};

class Log {
 public:
  void add(const Event& event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
  }
  /// push(task), with its place in the order of push.
  void push(TaskQueue& queue, const Task& task) {
    const std::lock_guard lock(pushing_);
    add({What::pushed, task.id, -1, 0, false, 0, task});
    queue.push(task);
  }
  std::vector<Event> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  QueueOptions options(std::function<void(const Task&)> then = {}) {
    QueueOptions options;
    options.finished = [this, then](const Task& task, const Outcome& outcome) {
      add({What::finished, task.id, outcome.worker, outcome.lane, outcome.error != nullptr, outcome.attempts, {}});
      if (then) then(task);
    };
    options.lost = [this](int worker, const std::string&) { add({What::lost, -1, worker, 0, false, 0, {}}); };
    return options;
  }

 private:
  mutable std::mutex mutex_;
  std::mutex pushing_;
  std::vector<Event> events_;
};

/// Calls what was planted, and writes down what came of it.
class PlantedWorker : public TaskWorker {
 public:
  using Begin = std::function<void(int lane)>;
  using Work = std::function<void(int lane, const Task& task)>;
  PlantedWorker(Log& log, int number, int lanes, Work work, Begin begin = {})
      : log_(log), number_(number), lanes_(lanes), work_(std::move(work)), begin_(std::move(begin)) {}

  std::string name() const override { return "planted:" + std::to_string(number_); }
  int lanes() const override { return lanes_; }
  void begin(int lane) override {
    try {
      if (begin_) begin_(lane);
    } catch (...) {
      add(What::dies, -1, lane);
      throw;
    }
  }
  bool work(int lane, const Task& task) override {
    add(What::begun, task.id, lane);
    try {
      if (work_) work_(lane, task);
    } catch (const DeviceError& e) {
      if (e.lost()) add(What::dies, -1, lane);
      add(What::failed, task.id, lane);
      throw;
    } catch (const OutOfMemory&) {
      add(What::failed, task.id, lane);
      throw;
    } catch (...) {
      add(What::final, task.id, lane);
      throw;
    }
    add(What::done, task.id, lane);
    return true;
  }

 private:
  void add(What what, std::int64_t task, int lane) { log_.add({what, task, number_, lane, false, 0, {}}); }

  Log& log_;
  const int number_, lanes_;
  const Work work_;
  const Begin begin_;
};

struct Rules {
  std::vector<int> lanes;  // of each worker
  int attempts = 2;
  bool left_out = false;  // the queue was destroyed with tasks waiting
};

/// What is wrong with the log of a queue that has come to its end: the first that is found, or nothing.
inline std::string complaint(const std::vector<Event>& events, const Rules& rules) {
  struct Story {
    Task task;
    std::int64_t place = 0;
    int begun = 0, finished = 0, failures = 0, counted = 0;
    bool running = false, taken_back = false, final = false;
    What last = What::pushed;
    int last_worker = -1;
  };
  std::map<std::int64_t, Story> stories;
  std::map<std::pair<int, int>, std::int64_t> running, newest;  // by lane; newest: the latest place that was begun
  std::map<std::pair<int, int>, int> after_loss;
  std::set<int> dead, lost, mortal;
  for (const Event& e : events)
    if (e.what == What::dies) mortal.insert(e.worker);
  const auto all_but_dead = [&](int worker) {
    for (int w = 0; w < static_cast<int>(rules.lanes.size()); ++w)
      if (w != worker && dead.count(w) == 0) return false;
    return true;
  };
  const auto hopeless = [&](const Task& task) {
    return dead.size() == rules.lanes.size() || (task.bound && task.only && dead.count(*task.only) > 0);
  };
  std::int64_t places = 0;
  for (const Event& e : events) {
    const std::string who = "task " + std::to_string(e.task) + " on worker " + std::to_string(e.worker);
    if (e.what == What::dies) dead.insert(e.worker);
    if (e.what == What::lost && (!lost.insert(e.worker).second || dead.count(e.worker) == 0))
      return "worker " + std::to_string(e.worker) + " was lost twice, or not at all";
    if (e.what == What::dies || e.what == What::lost) continue;
    if (e.what == What::pushed) {
      Story& story = stories[e.task];
      story.task = e.whole, story.place = places++;
      continue;
    }
    const auto found = stories.find(e.task);
    if (found == stories.end()) return who + " was never pushed";
    Story& story = found->second;
    const std::pair lane(e.worker, e.lane);
    switch (e.what) {
      case What::begun: {
        if (story.running) return who + " runs twice at once";
        if (story.finished > 0 || story.taken_back) return who + " begins after its end";
        if (running.count(lane) > 0) return who + ": its lane has another";
        const bool only = story.task.only.has_value();
        if (only && e.worker != *story.task.only && (story.task.bound || dead.count(*story.task.only) == 0))
          return who + " is another worker's";
        if (story.begun > 0 && story.last != What::failed) return who + " is done again without need";
        if (story.begun > 0 && e.worker == story.last_worker && !only && !all_but_dead(e.worker))
          return who + " failed there before, and another worker lives";
        if (lost.count(e.worker) > 0 && ++after_loss[lane] > 1) return who + " begins on a lost worker";
        if (rules.lanes.size() == 1 && story.begun == 0) {
          const auto before = newest.find(lane);
          if (before != newest.end() && before->second > story.place) return who + " is out of order";
          newest[lane] = story.place;
        }
        running[lane] = e.task;
        story.running = true, ++story.begun, story.last_worker = e.worker;
        break;
      }
      case What::done:
      case What::failed:
      case What::final:
        if (!story.running || running.count(lane) == 0 || running[lane] != e.task) return who + " ends without running";
        running.erase(lane);
        story.running = false, story.last = e.what;
        // On a worker that dies about then, on another lane, the attempt may count or not.
        if (e.what == What::failed) ++story.failures, story.counted += mortal.count(e.worker) == 0;
        if (story.counted > rules.attempts) return who + " was tried too often";
        break;
      case What::finished:
        if (story.running) return who + " is finished while it runs";
        if (++story.finished > 1) return who + " is finished twice";
        if (story.taken_back) return who + " was taken back";
        if (e.error == (story.last == What::done)) return who + " is finished with the wrong outcome";
        if (e.error && story.last == What::failed && story.failures < rules.attempts && !hopeless(story.task) &&
            !rules.left_out)
          return who + " had attempts left";
        if (e.error && story.last == What::pushed && !hopeless(story.task)) return who + " failed without reason";
        if (e.attempts > story.begun || e.attempts < story.counted) return who + " has miscounted attempts";
        break;
      case What::taken_back:
        if (story.begun > 0 || story.finished > 0 || story.taken_back) return who + " cannot be taken back";
        story.taken_back = true;
        break;
      default:
        break;
    }
  }
  for (const auto& [id, story] : stories)
    if (story.finished + story.taken_back != 1 && !(rules.left_out && story.begun == 0))
      return "task " + std::to_string(id) + " is finished " + std::to_string(story.finished) + " times";
  if (lost != dead) return "a loss was not told";
  return "";
}

}  // namespace areal::queue
