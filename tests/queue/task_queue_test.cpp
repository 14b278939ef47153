// A queue of tasks with planted workers: slow, failing once, lost at a task, hanging, finishing out of order. Random
// schedules are in task_queue_stress_test.cpp. Where a test needs an order, latches make it; no test looks at the time.
#include <gtest/gtest.h>
#include <atomic>
#include <condition_variable>
#include <latch>
#include <memory>
#include <numeric>
#include <thread>
#include "cpu/threads.hpp"
#include "planted_workers.hpp"

namespace areal::queue {
namespace {

using Workers = std::vector<std::unique_ptr<TaskWorker>>;
using Ids = std::vector<std::int64_t>;

template <class... W>
Workers workers(std::unique_ptr<W>... each) {
  Workers all;
  (all.push_back(std::move(each)), ...);
  return all;
}
std::unique_ptr<PlantedWorker> planted(Log& log, int number, int lanes, PlantedWorker::Work work = {},
                                       PlantedWorker::Begin begin = {}) {
  return std::make_unique<PlantedWorker>(log, number, lanes, std::move(work), std::move(begin));
}
Ids ids(const std::vector<Event>& events, What what, int worker = -1) {
  Ids found;
  for (const Event& e : events)
    if (e.what == what && (worker < 0 || e.worker == worker)) found.push_back(e.task);
  return found;
}
Ids first_ids(std::int64_t count) {
  Ids all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}
const Event& finish_of(const std::vector<Event>& events, std::int64_t task) {
  return *std::find_if(events.begin(), events.end(),
                       [&](const Event& e) { return e.what == What::finished && e.task == task; });
}
/// The queue's options, with the messages of the errors by task.
struct Errors {
  std::mutex mutex;
  std::map<std::int64_t, std::string> words;
  QueueOptions with(QueueOptions options) {
    options.finished = [this, then = options.finished](const Task& task, const Outcome& outcome) {
      try {
        if (outcome.error) std::rethrow_exception(outcome.error);
      } catch (const std::exception& e) {
        const std::lock_guard lock(mutex);
        words[task.id] = e.what();
      } catch (...) {
        const std::lock_guard lock(mutex);
        words[task.id] = "no std::exception";
      }
      then(task, outcome);
    };
    return options;
  }
};

TEST(TaskQueue, OneLaneTakesTasksInOrder) {
  Log log;
  {
    TaskQueue queue(workers(planted(log, 0, 1)), log.options());
    for (const std::int64_t id : first_ids(100)) log.push(queue, {id, 1, {}, false});
    queue.wait_idle();
    EXPECT_EQ(queue.report()[0].tasks, 100);
    EXPECT_EQ(queue.report()[0].name, "planted:0");
    EXPECT_EQ(queue.living(), 1);
  }
  EXPECT_EQ(complaint(log.events(), {{1}, 2, false}), "");
  EXPECT_EQ(ids(log.events(), What::begun), first_ids(100));
  EXPECT_EQ(ids(log.events(), What::finished), first_ids(100));
}

TEST(TaskQueue, LanesWorkAtOnceAndFinishOutOfOrder) {
  Log log;
  std::latch last_done(1);
  {
    // Task 0 ends after task 2, on whichever lanes they are.
    TaskQueue queue(workers(planted(log, 0, 3,
                                    [&](int, const Task& task) {
                                      if (task.id == 0) last_done.wait();
                                    })),
                    log.options([&](const Task& task) {
                      if (task.id == 2) last_done.count_down();
                    }));
    for (const std::int64_t id : first_ids(3)) log.push(queue, {id, 1, {}, false});
    queue.wait_idle();
  }
  EXPECT_EQ(complaint(log.events(), {{3}, 2, false}), "");
  const Ids order = ids(log.events(), What::done);
  EXPECT_LT(std::find(order.begin(), order.end(), 2), std::find(order.begin(), order.end(), 0));
}

TEST(TaskQueue, AFailureIsTriedAgainElsewhere) {
  Log log;
  std::atomic<int> failures{0};
  const auto fails_once = [&](int, const Task& task) {
    if (task.id == 3 && failures++ == 0) throw DeviceError("planted: once", false);
  };
  {
    TaskQueue queue(workers(planted(log, 0, 1, fails_once), planted(log, 1, 1, fails_once)), log.options());
    for (const std::int64_t id : first_ids(20)) log.push(queue, {id, 1, {}, false});
    queue.wait_idle();
    EXPECT_EQ(queue.living(), 2);
  }
  const auto events = log.events();
  EXPECT_EQ(complaint(events, {{1, 1}, 2, false}), "");
  EXPECT_FALSE(finish_of(events, 3).error);
  EXPECT_EQ(finish_of(events, 3).attempts, 2);
  EXPECT_NE(ids(events, What::failed, 0), ids(events, What::failed, 1));
}

TEST(TaskQueue, AttemptsAreSpentAndOtherErrorsAreFinal) {
  Log log;
  Errors errors;
  {
    QueueOptions options = errors.with(log.options());
    options.attempts = 3;
    TaskQueue queue(workers(planted(log, 0, 2,
                                    [](int, const Task& task) {
                                      if (task.id == 0) throw OutOfMemory("planted: no memory", 7);
                                      if (task.id == 1) throw IoError("planted: no file");
                                      if (task.id == 2) throw 5;
                                    })),
                    options);
    for (const std::int64_t id : first_ids(4)) log.push(queue, {id, 1, {}, false});
    queue.wait_idle();
  }
  const auto events = log.events();
  EXPECT_EQ(complaint(events, {{2}, 3, false}), "");
  EXPECT_EQ(finish_of(events, 0).attempts, 3);
  EXPECT_EQ(finish_of(events, 1).attempts, 1);
  EXPECT_FALSE(finish_of(events, 3).error);
  EXPECT_EQ(errors.words, (std::map<std::int64_t, std::string>{
                              {0, "planted: no memory"}, {1, "planted: no file"}, {2, "no std::exception"}}));
}

TEST(TaskQueue, ALostWorkersTasksGoElsewhere) {
  Log log;
  std::latch both_in_flight(2);
  std::string why;
  {
    QueueOptions options = log.options();
    options.attempts = 1;  // what a loss ends does not count
    options.lost = [&, then = options.lost](int worker, const std::string& words) {
      then(worker, words);
      why = words;
    };
    // Both of its lanes fail: one of them loses it.
    TaskQueue queue(workers(planted(log, 0, 2,
                                    [&](int, const Task& task) {
                                      both_in_flight.arrive_and_wait();
                                      throw DeviceError("planted: lost at " + std::to_string(task.id), true);
                                    }),
                            planted(log, 1, 1, [&](int, const Task&) { both_in_flight.wait(); })),
                    options);
    for (const std::int64_t id : {0, 1, 2, 3}) log.push(queue, {id, 1, 0, false});
    for (const std::int64_t id : {4, 5, 6}) log.push(queue, {id, 1, 1, false});
    queue.wait_idle();
    EXPECT_EQ(queue.living(), 1);
    EXPECT_EQ("planted:0 is lost: " + queue.report()[0].lost, why);
    EXPECT_EQ(queue.report()[1].lost, "");
    EXPECT_EQ(queue.report()[1].tasks, 7);
  }
  const auto events = log.events();
  EXPECT_EQ(complaint(events, {{2, 1}, 1, false}), "");
  for (const std::int64_t id : first_ids(7)) EXPECT_EQ(finish_of(events, id).attempts, 1) << id;
  EXPECT_EQ(why.rfind("planted:0 is lost: planted: lost at", 0), 0u) << why;
  EXPECT_EQ(ids(events, What::lost).size(), 1u);
}

TEST(TaskQueue, WhatIsBoundToALostWorkerFails) {
  Log log;
  Errors errors;
  {
    TaskQueue queue(workers(planted(log, 0, 1,
                                    [](int, const Task& task) {
                                      if (task.id == 2) throw DeviceError("planted: lost", true);
                                    }),
                            planted(log, 1, 1)),
                    errors.with(log.options()));
    for (const std::int64_t id : {0, 1, 2, 3, 4}) log.push(queue, {id, 1, 0, id % 2 == 0});
    queue.wait_idle();
    log.push(queue, {5, 1, 0, true});
    log.push(queue, {6, 1, 0, false});
    queue.wait_idle();
  }
  const auto events = log.events();
  EXPECT_EQ(complaint(events, {{1, 1}, 2, false}), "");
  const std::string why = "planted:0 is lost: planted: lost";
  EXPECT_EQ(errors.words, (std::map<std::int64_t, std::string>{{2, why}, {4, why}, {5, why}}));
  EXPECT_EQ(finish_of(events, 4).worker, -1);
  EXPECT_EQ(ids(events, What::done, 1), (Ids{3, 6}));
}

TEST(TaskQueue, WhereNobodyLivesEveryTaskFails) {
  Log log;
  Errors errors;
  {
    const auto dies = [](int, const Task&) { throw DeviceError("planted: lost", true); };
    TaskQueue queue(workers(planted(log, 0, 2, dies), planted(log, 1, 1, dies)), errors.with(log.options()));
    for (const std::int64_t id : first_ids(10)) log.push(queue, {id, 1, {}, false});
    queue.wait_idle();
    EXPECT_EQ(queue.living(), 0);
    for (const std::int64_t id : {10, 11}) log.push(queue, {id, 1, {}, false});
    queue.wait_idle();
  }
  EXPECT_EQ(complaint(log.events(), {{2, 1}, 2, false}), "");
  EXPECT_EQ(errors.words.size(), 12u);
  for (const auto& [id, words] : errors.words)
    EXPECT_EQ(words.substr(10), "is lost: planted: lost") << id << ": " << words;
}

TEST(TaskQueue, AWorkerThatDoesNotBeginIsLost) {
  Log log;
  std::mutex mutex;
  std::map<int, std::vector<int>> begun;
  std::latch all_begun(4), told(1);
  const auto begins = [&](int worker) {
    return [&, worker](int lane) {
      const std::lock_guard lock(mutex);
      begun[worker].push_back(lane);
      all_begun.count_down();
      if (worker == 0 && lane == 1) throw std::runtime_error("planted: does not begin");
    };
  };
  {
    QueueOptions options = log.options();
    options.lost = [&, then = options.lost](int worker, const std::string& words) {
      then(worker, words);
      EXPECT_EQ(words, "planted:0 is lost: planted: does not begin");
      told.count_down();
    };
    TaskQueue queue(workers(planted(log, 0, 2, {}, begins(0)), planted(log, 1, 2, {}, begins(1))), options);
    for (const std::int64_t id : first_ids(50)) log.push(queue, {id, 1, {}, false});
    all_begun.wait();
    told.wait();
    queue.wait_idle();
  }
  EXPECT_EQ(complaint(log.events(), {{2, 2}, 2, false}), "");
  for (auto& [worker, lanes] : begun) {
    std::sort(lanes.begin(), lanes.end());
    EXPECT_EQ(lanes, (std::vector<int>{0, 1})) << worker;
  }
  EXPECT_EQ(ids(log.events(), What::lost).size(), 1u);
}

TEST(TaskQueue, NothingStarvesBehindAWorkerThatHangs) {
  Log log;
  std::latch known(2), others_done(11);
  {
    // Both are measured by a task of their own. Then worker 0, which would be far sooner, hangs on the next until all
    // others are done; the slow one takes them only because the queue looks again by itself.
    TaskQueue queue(
        workers(
            planted(log, 0, 1,
                    [&](int, const Task& task) {
                      if (task.id == 2) others_done.arrive_and_wait();
                    }),
            planted(log, 1, 1, [](int, const Task&) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); })),
        log.options([&](const Task& task) {
          if (task.id < 2) known.count_down();
          if (task.id > 2) others_done.count_down();
        }));
    log.push(queue, {0, 1, 0, false});
    log.push(queue, {1, 1, 1, false});
    known.wait();
    log.push(queue, {2, 1, 0, false});
    for (std::int64_t id = 3; id < 13; ++id) log.push(queue, {id, 1, {}, false});
    queue.wait_idle();
  }
  EXPECT_EQ(complaint(log.events(), {{1, 1}, 2, false}), "");
  EXPECT_EQ(ids(log.events(), What::done, 1).size(), 11u);
}

/// Seconds that a test sets.
struct PlantedClock {
  std::atomic<double> now{0};
  double operator()() const { return now; }
};

TEST(TaskQueue, TheSlowIsLeftOutOfFewTasksAndHelpsWithMany) {
  for (const int tasks : {15, 100}) {
    SCOPED_TRACE(std::to_string(tasks) + " tasks");
    Log log;
    PlantedClock clock;
    std::latch all_pushed(1);
    {
      QueueOptions options = log.options();
      options.clock = [&clock] { return clock(); };
      // Speeds of 1 and 20 are measured, one after the other. Then the clock stands still.
      const auto measures = [&](double seconds) {
        return [&, seconds](int, const Task& task) {
          if (task.id >= 2) return all_pushed.wait();
          clock.now = clock.now + seconds;
        };
      };
      TaskQueue queue(workers(planted(log, 0, 1, measures(1)), planted(log, 1, 1, measures(20))), options);
      log.push(queue, {0, 1, 0, false});
      queue.wait_idle();
      log.push(queue, {1, 1, 1, false});
      queue.wait_idle();
      EXPECT_EQ(queue.report()[0].seconds_per_cost, 1);
      EXPECT_EQ(queue.report()[1].seconds_per_cost, 20);
      EXPECT_EQ(queue.report()[1].busy_seconds, 20);
      std::vector<Task> all;
      for (int i = 0; i < tasks; ++i) all.push_back({2 + i, 1, {}, false});
      for (const Task& task : all) log.add({What::pushed, task.id, -1, 0, false, 0, task});
      queue.push_all(all);  // what begins at once was given out before this returns
      all_pushed.count_down();
      queue.wait_idle();
    }
    EXPECT_EQ(complaint(log.events(), {{1, 1}, 2, false}), "");
    const Ids slow = ids(log.events(), What::begun, 1);
    if (tasks == 15) {
      EXPECT_EQ(slow, (Ids{1}));
    } else {
      ASSERT_GE(slow.size(), 2u);
      EXPECT_EQ(slow[1], 2 + 19);  // 20 tasks end on the fast one when this ends on the slow one
    }
  }
}

/// A busy worker of known speed and one of unknown speed began at nearly the same time, so that each looks the sooner
/// one by the same tiny time, however long both take. Who looks at that again and again must let the lanes have the
/// lock.
TEST(TaskQueue, LanesEndWhileTheTimeIsWatched) {
  Log log;
  PlantedClock clock;
  std::atomic<double> step{0};
  std::latch go_on(1);
  {
    QueueOptions options = log.options();
    options.clock = [&] { return clock.now = clock.now + step; };
    const auto waits = [&](int, const Task& task) {
      if (task.id == 0)
        clock.now = clock.now + 1e-3;
      else if (task.id < 3)
        go_on.wait();
    };
    TaskQueue queue(workers(planted(log, 0, 1, waits), planted(log, 1, 2, waits)), options);
    log.push(queue, {0, 1, 0, false});
    queue.wait_idle();
    log.push(queue, {1, 1, 1, false});
    clock.now = clock.now + 1e-9;
    log.push(queue, {2, 1, 0, false});
    clock.now = clock.now + 1;
    step = 1e-6;  // a second look comes too late for what the first one has said
    log.push(queue, {3, 1, {}, false});
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    go_on.count_down();
    queue.wait_idle();
  }
  EXPECT_EQ(complaint(log.events(), {{1, 2}, 2, false}), "");
}

/// Of odd tasks nothing is left to do: they take no time. The others take 8 seconds.
struct HalfIdle : TaskWorker {
  PlantedClock& clock;
  explicit HalfIdle(PlantedClock& of) : clock(of) {}
  std::string name() const override { return "half idle"; }
  int lanes() const override { return 1; }
  bool work(int, const Task& task) override {
    if (task.id % 2 == 1) return false;
    clock.now = clock.now + 8;
    return true;
  }
};

TEST(TaskQueue, WhatLeftNothingToDoIsNoMeasurement) {
  PlantedClock clock;
  QueueOptions options;
  options.clock = [&clock] { return clock(); };
  std::atomic<int> finished{0}, failed{0};
  options.finished = [&](const Task&, const Outcome& outcome) { ++finished, failed += outcome.error != nullptr; };
  std::vector<std::unique_ptr<TaskWorker>> one;
  one.push_back(std::make_unique<HalfIdle>(clock));
  TaskQueue queue(std::move(one), std::move(options));
  queue.push({1, 2, {}, false});
  queue.wait_idle();
  EXPECT_EQ(queue.report()[0].seconds_per_cost, 0);  // not measured
  for (const std::int64_t id : {0, 3, 5, 7, 9, 2, 11}) queue.push({id, 2, {}, false});
  queue.wait_idle();
  EXPECT_EQ(queue.report()[0].seconds_per_cost, 4);
  EXPECT_EQ(queue.report()[0].tasks, 2);
  EXPECT_EQ(finished, 8);
  EXPECT_EQ(failed, 0);
}

TEST(TaskQueue, TakesBackWhatHasNotBegun) {
  Log log;
  std::latch in_flight(1), go_on(1);
  Ids back;
  {
    TaskQueue queue(workers(planted(log, 0, 1,
                                    [&](int, const Task&) {
                                      in_flight.count_down();
                                      go_on.wait();
                                    })),
                    log.options());
    log.push(queue, {0, 1, {}, false});
    in_flight.wait();
    for (const std::int64_t id : {1, 2, 3})
      log.push(queue, {id, 1, id == 2 ? std::optional<int>(0) : std::nullopt, false});
    for (const Task& task : queue.take_back()) {
      back.push_back(task.id);
      log.add({What::taken_back, task.id, -1, 0, false, 0, {}});
    }
    EXPECT_TRUE(queue.take_back().empty());
    go_on.count_down();
    queue.wait_idle();
  }
  EXPECT_EQ(back, (Ids{1, 2, 3}));
  EXPECT_EQ(complaint(log.events(), {{1}, 2, false}), "");
}

TEST(TaskQueue, DestroyedEarlyFinishesWhatRunsAlone) {
  Log log;
  std::latch in_flight(1);
  {
    TaskQueue queue(workers(planted(log, 0, 1,
                                    [&](int, const Task&) {
                                      in_flight.count_down();
                                      std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                      throw DeviceError("planted: again, please", false);
                                    })),
                    log.options());
    for (const std::int64_t id : first_ids(5)) log.push(queue, {id, 1, {}, false});
    in_flight.wait();
  }
  EXPECT_EQ(complaint(log.events(), {{1}, 2, true}), "");
  EXPECT_EQ(ids(log.events(), What::finished), (Ids{0}));
  { TaskQueue unused(workers(planted(log, 0, 3), planted(log, 1, 1))); }
}

TEST(TaskQueue, CallbacksMayPush) {
  Log log;
  std::atomic<TaskQueue*> of_callback{nullptr};
  {
    TaskQueue queue(workers(planted(log, 0, 2), planted(log, 1, 1)), log.options([&](const Task& task) {
      if (task.id < 500) log.push(*of_callback, {task.id + 1, 1, {}, false});
    }));
    of_callback = &queue;
    log.push(queue, {0, 1, {}, false});
    queue.wait_idle();
  }
  EXPECT_EQ(complaint(log.events(), {{2, 1}, 2, false}), "");
  EXPECT_EQ(ids(log.events(), What::finished), first_ids(501));
}

TEST(TaskQueue, WorksInsideAnArenaOfOneThread) {
  cpu::parallel_for(1, 2, [](std::int64_t) {
    Log log;
    std::atomic<std::int64_t> sum{0};
    {
      const auto adds = [&](int, const Task&) { cpu::parallel_for(2, 10, [&](std::int64_t i) { sum += i; }); };
      TaskQueue queue(workers(planted(log, 0, 1, adds), planted(log, 1, 2, adds)), log.options());
      for (const std::int64_t id : first_ids(20)) log.push(queue, {id, 1, {}, false});
      queue.wait_idle();
    }
    EXPECT_EQ(complaint(log.events(), {{1, 2}, 2, false}), "");
    EXPECT_EQ(sum, 20 * 45);
  });
}

template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "";
}

TEST(TaskQueue, SaysWhatCannotBe) {
  Log log;
  EXPECT_EQ(refusal([&] { TaskQueue({}, {}); }), "a queue of tasks needs a worker");
  EXPECT_EQ(refusal([&] { TaskQueue(workers(planted(log, 0, 0))); }),
            "worker planted:0 has 0 lanes: at least one is needed");
  EXPECT_EQ(refusal([&] { TaskQueue(workers(planted(log, 0, 1), std::unique_ptr<PlantedWorker>())); }),
            "worker 1 is null");
  QueueOptions options;
  options.attempts = 0;
  EXPECT_EQ(refusal([&] { TaskQueue(workers(planted(log, 0, 1)), options); }), "0 attempts: at least one is needed");
  TaskQueue queue(workers(planted(log, 0, 1)));
  EXPECT_EQ(refusal([&] { queue.push({7, 0, {}, false}); }), "task 7 costs 0: a positive number is needed");
  EXPECT_EQ(refusal([&] { queue.push_all({{6, 1, {}, false}, {7, 1, 1, false}}); }), "task 7 is for worker 1 of 1");
  queue.wait_idle();
  EXPECT_EQ(queue.report()[0].tasks, 0);  // all or none
}

}  // namespace
}  // namespace areal::queue
