// What workers are expected to take, and which of the waiting tasks begin, without threads and on a planted clock. The
// oracle of the schedule is a plain list schedule over speeds that are known from the start.
#include <gtest/gtest.h>
#include <algorithm>
#include <queue>
#include <random>
#include "queue/waiting_tasks.hpp"

namespace areal::queue {
namespace {

/// All lanes ready, speeds in seconds per cost; 0 is unknown.
Expectation planted(const std::vector<int>& lanes, const std::vector<double>& speeds) {
  Expectation expectation(lanes);
  for (int w = 0; w < static_cast<int>(lanes.size()); ++w) {
    for (int l = 0; l < lanes[static_cast<std::size_t>(w)]; ++l) expectation.ready({w, l});
    if (const double speed = speeds[static_cast<std::size_t>(w)]; speed > 0) expectation.measure(w, 1, speed);
  }
  return expectation;
}
/// The worker that begins a task now, or -1.
int taker(Expectation& expectation, double cost = 1, int only = -1, int avoid = -1) {
  const auto at = expectation.place(cost, only, avoid);
  return at ? at->worker : -1;
}

TEST(Expectation, SpeedsAreMeasuredAndSmoothed) {
  Expectation expectation = planted({1}, {0});
  EXPECT_EQ(expectation.seconds_per_cost(0), 0);
  EXPECT_EQ(expectation.seconds(0, 5, 7), 0);
  expectation.measure(0, 2, 8);
  EXPECT_DOUBLE_EQ(expectation.seconds_per_cost(0), 4);
  EXPECT_DOUBLE_EQ(expectation.seconds(0, 3, 7), 12);
  expectation.measure(0, 1, 8);
  EXPECT_DOUBLE_EQ(expectation.seconds_per_cost(0), 5);
  expectation.measure(0, 1, 1000);  // counts as 20
  EXPECT_DOUBLE_EQ(expectation.seconds_per_cost(0), 5 + 15 / 4.0);
  Expectation at_once = planted({1}, {0});
  at_once.measure(0, 1, 0);  // below the clock's resolution
  at_once.measure(0, 1, 3);
  EXPECT_DOUBLE_EQ(at_once.seconds_per_cost(0), 3);
}

TEST(Expectation, WhatOverranTakesAsLongAgain) {
  Expectation expectation = planted({2}, {3});
  EXPECT_DOUBLE_EQ(expectation.end({0, 0}, 10), 10);
  expectation.begin({0, 0}, 2, true, 10);
  EXPECT_DOUBLE_EQ(expectation.end({0, 0}, 11), 16);
  EXPECT_DOUBLE_EQ(expectation.end({0, 0}, 16), 16);
  EXPECT_DOUBLE_EQ(expectation.end({0, 0}, 18), 20);
  EXPECT_DOUBLE_EQ(expectation.end({0, 1}, 18), 18);
  Expectation unknown = planted({2}, {0});
  unknown.begin({0, 0}, 2, true, 10);
  EXPECT_DOUBLE_EQ(unknown.end({0, 0}, 14), 18);
  EXPECT_DOUBLE_EQ(unknown.seconds(0, 3, 14), 6);  // not faster than the one in flight
}

TEST(Expectation, TheSlowTakesWhatTheFastWouldEndLater) {
  Expectation expectation = planted({1, 1}, {1, 20});
  expectation.begin({0, 0}, 1, true, 100);
  expectation.look(100);
  for (int ahead = 0; ahead < 18; ++ahead) ASSERT_EQ(taker(expectation), -1) << ahead;
  EXPECT_EQ(taker(expectation), 1);  // the 19th: 20 after now on either, and the slow one is free
  EXPECT_FALSE(expectation.open());
}

TEST(Expectation, TheSlowTakesTheFirstOnceTheFastOverrunsForLong) {
  Expectation expectation = planted({1, 1}, {1, 20});
  expectation.begin({0, 0}, 1, true, 100);
  expectation.look(100.5);
  ASSERT_EQ(taker(expectation), -1);
  // From 101 on the fast one is expected to end this task at 2 now - 101 + 1, the slow one at now + 20.
  EXPECT_DOUBLE_EQ(expectation.again(), 120);
  expectation.look(119.99);
  EXPECT_EQ(taker(expectation), -1);
  EXPECT_NEAR(expectation.again(), 120, 1e-9);
  expectation.look(120);
  EXPECT_EQ(taker(expectation), 1);
}

TEST(Expectation, NobodyWaitsForWhatIsUnknown) {
  Expectation expectation = planted({1, 1}, {0, 20});
  expectation.look(0);
  EXPECT_EQ(taker(expectation), 0);  // it takes one to find out
  EXPECT_EQ(taker(expectation), 1);
  Expectation both = planted({2, 2}, {0, 0});
  both.look(0);
  EXPECT_EQ(taker(both), 0);
  EXPECT_EQ(taker(both), 1);  // spread over workers before lanes
  EXPECT_EQ(taker(both), 0);
  EXPECT_EQ(taker(both), 1);
  Expectation starting({1, 1});
  starting.ready({1, 0});
  starting.look(0);
  EXPECT_EQ(taker(starting), 1);
  EXPECT_EQ(taker(starting), -1);
}

TEST(Expectation, OnlyAvoidedAndLost) {
  Expectation expectation = planted({1, 1, 1}, {1, 2, 3});
  expectation.look(0);
  EXPECT_EQ(taker(expectation, 1, 2), 2);
  EXPECT_EQ(taker(expectation, 1, -1, 0), 1);
  EXPECT_EQ(taker(expectation, 1, -1, 0), -1);
  expectation.lose(1);
  expectation.look(0);
  EXPECT_EQ(taker(expectation, 1, 1), -1);
  EXPECT_EQ(taker(expectation, 1, -1, 0), 2);
  expectation.lose(2);
  expectation.lose(2);
  EXPECT_EQ(expectation.living(), 1);
  expectation.look(0);
  EXPECT_EQ(taker(expectation, 1, -1, 0), 0);  // no other lives
}

TEST(Expectation, WhoWasPassedOverForLongIsMeasuredAgain) {
  Expectation expectation = planted({1, 1}, {1, 20});
  double now = 0;
  int begun = 0;
  for (; begun < 3000; ++begun, ++now) {
    expectation.look(now);
    const int worker = taker(expectation);
    if (worker == 1) break;
    ASSERT_EQ(worker, 0);
    expectation.begin({0, 0}, 1, true, now);
    expectation.ready({0, 0});
  }
  EXPECT_EQ(begun, 2001);  // longer than 100 times 20
  expectation.begin({1, 0}, 1, true, now);
  EXPECT_DOUBLE_EQ(expectation.end({1, 0}, now), now + 20);
  expectation.ready({1, 0});
  expectation.look(now);
  EXPECT_EQ(taker(expectation), 0);
}

TEST(Expectation, TasksOfASharedDeviceTakeAsLongAsThoseBesideThem) {
  Expectation expectation({8, 8}, {true, true});
  for (int w = 0; w < 2; ++w) {
    for (int l = 0; l < 8; ++l) expectation.ready({w, l});
    expectation.measure(w, 1, w == 0 ? 10 : 11);
  }
  double now = 100;
  std::vector<int> takers;
  for (int i = 0; i < 6; ++i) {
    expectation.look(now);
    const auto at = expectation.place(1, -1, -1);
    ASSERT_TRUE(at);
    takers.push_back(at->worker);
    expectation.begin(*at, 1, true, now);
    EXPECT_DOUBLE_EQ(expectation.load(*at), 1 + i / 2);
  }
  EXPECT_EQ(takers, (std::vector<int>{0, 1, 0, 1, 0, 1}));
  EXPECT_DOUBLE_EQ(expectation.end({0, 1}, now), now + 20);
  EXPECT_DOUBLE_EQ(expectation.end({1, 2}, now), now + 33);
  // Measured by what it was beside: the third of three took 30.
  expectation.measure(0, expectation.load({0, 2}), 30);
  EXPECT_DOUBLE_EQ(expectation.seconds_per_cost(0), 10);
  // Two equal devices of eight lanes each: lanes that are thought to be alone leave the second one idle.
  Expectation apart = planted({8, 8}, {10, 11});
  takers.clear();
  for (int i = 0; i < 6; ++i) {
    apart.look(now);
    const auto at = apart.place(1, -1, -1);
    takers.push_back(at->worker);
    apart.begin(*at, 1, true, now);
  }
  EXPECT_EQ(takers, (std::vector<int>{0, 0, 0, 0, 0, 0}));
}

/// Workers of true speeds that serve tasks in simulated time.
struct Simulation {
  std::vector<int> lanes;
  std::vector<double> speeds;
  bool known = true;   // from the start
  bool naive = false;  // a free lane of any worker takes the first task
  std::vector<int> worker_of;
  double total = 0;

  void run(const std::vector<double>& costs) {
    Expectation expectation = planted(lanes, known ? speeds : std::vector<double>(speeds.size()));
    WaitingTasks waiting(static_cast<int>(lanes.size()));
    for (std::size_t i = 0; i < costs.size(); ++i) {
      Entries one = waiting.entry_of({static_cast<std::int64_t>(i), costs[i], {}, false});
      waiting.add(one);
    }
    struct End {
      double at;
      LaneOf lane;
      double cost, began;
      bool operator<(const End& other) const { return at > other.at; }
    };
    std::priority_queue<End> ends;
    worker_of.assign(costs.size(), -1);
    total = 0;
    for (double now = 0;;) {
      const auto begin = [&](LaneOf at, Entries& one) {
        const Task& task = one.front().task;
        worker_of[static_cast<std::size_t>(task.id)] = at.worker;
        ends.push({now + speeds[static_cast<std::size_t>(at.worker)] * task.cost, at, task.cost, now});
      };
      Expectation blind = planted(lanes, std::vector<double>(lanes.size()));  // all are free and of unknown speed
      if (naive)
        for (std::priority_queue<End> running = ends; !running.empty(); running.pop())
          blind.begin(running.top().lane, 1, false, now);
      waiting.begin_now(naive ? blind : expectation, now, begin);
      if (ends.empty()) break;
      const End end = ends.top();
      ends.pop();
      total = now = end.at;
      expectation.measure(end.lane.worker, end.cost, end.at - end.began);
      expectation.ready(end.lane);
    }
    EXPECT_TRUE(waiting.empty());
  }
};

double sum(const std::vector<double>& values) {
  double all = 0;
  for (const double value : values) all += value;
  return all;
}

/// Each task on the lane that ends it soonest, in order, planned before anything runs.
std::vector<int> list_schedule(const Simulation& of, const std::vector<double>& costs, double* total) {
  std::vector<std::pair<int, double>> lanes;  // worker, free from
  for (std::size_t w = 0; w < of.lanes.size(); ++w)
    for (int l = 0; l < of.lanes[w]; ++l) lanes.emplace_back(static_cast<int>(w), 0.0);
  std::vector<int> worker_of;
  *total = 0;
  for (const double cost : costs) {
    const auto end = [&](const auto& lane) {
      return lane.second + of.speeds[static_cast<std::size_t>(lane.first)] * cost;
    };
    const auto best =
        std::min_element(lanes.begin(), lanes.end(), [&](const auto& a, const auto& b) { return end(a) < end(b); });
    worker_of.push_back(best->first);
    best->second = end(*best);
    *total = std::max(*total, best->second);
  }
  return worker_of;
}

TEST(Expectation, BeginsWhatAListScheduleWould) {
  int told_apart = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    Simulation simulation;
    for (unsigned w = 0; w <= random() % 4; ++w) {
      simulation.lanes.push_back(1 + static_cast<int>(random() % 3));
      simulation.speeds.push_back(std::exp2(6 * unit(random)));
    }
    std::vector<double> costs(random() % 200);
    for (double& cost : costs) cost = 0.5 + unit(random);
    simulation.run(costs);
    double total = 0;
    ASSERT_EQ(simulation.worker_of, list_schedule(simulation, costs, &total));
    EXPECT_NEAR(simulation.total, total, 1e-9 * total);
    simulation.naive = true;
    simulation.run(costs);
    told_apart += simulation.worker_of != list_schedule(simulation, costs, &total);
  }
  EXPECT_GT(told_apart, 100);  // the comparison can fail
}

TEST(Expectation, ASlowWorkerHelpsAndNeverHolds) {
  int naive_holds = 0;
  for (std::size_t tasks = 1; tasks <= 200; ++tasks) {
    SCOPED_TRACE(std::to_string(tasks) + " tasks");
    const std::vector<double> costs(tasks, 1.0);
    const double alone = sum(costs);
    Simulation simulation{{1, 1}, {1, 20}, true, false, {}, 0};
    simulation.run(costs);
    EXPECT_LE(simulation.total, alone);
    EXPECT_EQ(std::count(simulation.worker_of.begin(), simulation.worker_of.end(), 1),
              static_cast<std::ptrdiff_t>(tasks / 21 + (tasks % 21 == 20)));
    simulation.naive = true;
    simulation.run(costs);
    naive_holds += simulation.total > alone;
    // It takes one to find out.
    Simulation unknown{{1, 1}, {1, 20}, false, false, {}, 0};
    unknown.run(costs);
    EXPECT_LE(unknown.total, std::max(alone, 20.0));
  }
  EXPECT_GT(naive_holds, 50);  // the comparison can fail
}

std::vector<std::int64_t> ids(const Entries& entries) {
  std::vector<std::int64_t> all;
  for (const Entry& entry : entries) all.push_back(entry.task.id);
  return all;
}
using Ids = std::vector<std::int64_t>;

TEST(WaitingTasks, AreTakenInOrderAndReturnToTheirPlaces) {
  WaitingTasks waiting(2);
  Expectation expectation = planted({3, 1}, {1, 1000});
  for (const Task& task : {Task{0, 1, {}, false}, Task{1, 1, 1, false}, Task{2, 1, {}, false}, Task{3, 1, 0, false},
                           Task{4, 1, 1, true}}) {
    Entries one = waiting.entry_of(task);
    waiting.add(one);
  }
  Entries begun;
  std::vector<int> workers;
  waiting.begin_now(expectation, 0, [&](LaneOf at, Entries& one) {
    workers.push_back(at.worker);
    begun.splice(begun.end(), one);
  });
  EXPECT_EQ(ids(begun), (Ids{0, 1, 2, 3}));
  EXPECT_EQ(workers, (std::vector<int>{0, 1, 0, 0}));
  EXPECT_FALSE(waiting.empty());
  Entries back;
  back.splice(back.end(), begun, std::next(begun.begin(), 2));
  back.front().outcome.worker = 0;
  back.splice(back.end(), begun, std::next(begun.begin()));
  waiting.put_back(back);
  EXPECT_TRUE(back.empty());
  EXPECT_EQ(ids(waiting.take(true)), (Ids{1, 4}));  // 2 was begun
  EXPECT_EQ(ids(waiting.take(false)), (Ids{2}));
  EXPECT_TRUE(waiting.empty());
}

TEST(WaitingTasks, OfALostWorkerAreForAllUnlessBound) {
  WaitingTasks waiting(2);
  for (const Task& task : {Task{0, 1, 1, false}, Task{1, 1, {}, false}, Task{2, 1, 1, true}, Task{3, 1, 1, false}}) {
    Entries one = waiting.entry_of(task);
    waiting.add(one);
  }
  Expectation expectation = planted({4, 1}, {1, 1});
  expectation.lose(1);
  EXPECT_EQ(ids(waiting.lose(1)), (Ids{2}));
  Entries late = waiting.entry_of({4, 1, 1, false});
  waiting.add(late);
  Ids begun;
  waiting.begin_now(expectation, 0, [&](LaneOf at, Entries& one) {
    EXPECT_EQ(at.worker, 0);
    begun.push_back(one.front().task.id);
  });
  EXPECT_EQ(begun, (Ids{0, 1, 3, 4}));
}

TEST(WaitingTasks, AnIdleWorkersOwnAreFoundBehindManyOfAnother) {
  WaitingTasks waiting(2);
  Expectation expectation = planted({1, 1}, {1, 1});
  for (std::int64_t i = 0; i < 1000; ++i) {
    Entries one = waiting.entry_of({i, 1, i < 999 ? 0 : 1, false});
    waiting.add(one);
  }
  Ids begun;
  waiting.begin_now(expectation, 0, [&](LaneOf, Entries& one) { begun.push_back(one.front().task.id); });
  EXPECT_EQ(begun, (Ids{0, 999}));
}

}  // namespace
}  // namespace areal::queue
