// Seeded random schedules of a queue: workers, lanes, tasks, failures, losses, pushes from callbacks, tasks taken back,
// queues destroyed before they are idle. What happened is written down and judged by `complaint`, which is first shown
// wrong logs. A seed that does not come to an end is printed.
#include <gtest/gtest.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include "cpu/threads.hpp"
#include "planted_workers.hpp"

namespace areal::queue {
namespace {

using Events = std::vector<Event>;

Event pushed(std::int64_t id, std::optional<int> only = {}, bool bound = false) {
  return {What::pushed, id, -1, 0, false, 0, Task{id, 1, only, bound}};
}
Event on(What what, std::int64_t id, int worker, int lane = 0) { return {what, id, worker, lane, false, 0, {}}; }
Event dies(int worker) { return on(What::dies, -1, worker); }
Event lost(int worker) { return on(What::lost, -1, worker); }
Event finished(std::int64_t id, int worker, bool error, int attempts = 1) {
  return {What::finished, id, worker, 0, error, attempts, {}};
}

TEST(TaskQueueStress, TheJudgeFindsEachFault) {
  const What b = What::begun, d = What::done, f = What::failed;
  const Rules two{{1, 1}, 2, false}, one{{2}, 2, false};
  const auto judge = [](const Events& events, const Rules& rules) { return complaint(events, rules); };
  EXPECT_EQ(judge({pushed(0), on(b, 0, 0), on(d, 0, 0), finished(0, 0, false)}, two), "");
  EXPECT_EQ(judge({pushed(0), on(b, 0, 0), on(f, 0, 0), on(b, 0, 1), on(d, 0, 1), finished(0, 1, false, 2)}, two), "");
  EXPECT_EQ(
      judge({pushed(0), on(b, 0, 0), dies(0), on(f, 0, 0), lost(0), on(b, 0, 1), on(d, 0, 1), finished(0, 1, false, 1)},
            two),
      "");
  const auto expect = [&](const char* words, const Events& events, const Rules& rules) {
    EXPECT_NE(judge(events, rules).find(words), std::string::npos) << words << ": " << judge(events, rules);
  };
  expect("finished 0 times", {pushed(0)}, two);
  expect("finished 0 times", {pushed(0), on(b, 0, 0), on(d, 0, 0)}, Rules{{1, 1}, 2, true});
  expect("never pushed", {on(b, 0, 0)}, two);
  expect("finished twice", {pushed(0), on(b, 0, 0), on(d, 0, 0), finished(0, 0, false), finished(0, 0, false)}, two);
  expect("runs twice", {pushed(0), on(b, 0, 0), on(b, 0, 1)}, two);
  expect("has another", {pushed(0), pushed(1), on(b, 0, 0), on(b, 1, 0)}, two);
  expect("after its end", {pushed(0), on(b, 0, 0), on(d, 0, 0), finished(0, 0, false), on(b, 0, 1)}, two);
  expect("another worker's", {pushed(0, 1), on(b, 0, 0)}, two);
  expect("another worker's", {pushed(0, 1, true), dies(1), lost(1), on(b, 0, 0)}, two);
  expect("without need", {pushed(0), on(b, 0, 0), on(d, 0, 0), on(b, 0, 1)}, two);
  expect("without need", {pushed(0), on(b, 0, 0), on(What::final, 0, 0), on(b, 0, 1)}, two);
  expect("failed there", {pushed(0), on(b, 0, 0), on(f, 0, 0), on(b, 0, 0)}, two);
  expect("on a lost worker",
         {pushed(0), pushed(1), dies(0), lost(0), on(b, 0, 0), on(d, 0, 0), finished(0, 0, false), on(b, 1, 0)}, two);
  expect("out of order", {pushed(0), pushed(1), on(b, 1, 0), on(d, 1, 0), finished(1, 0, false), on(b, 0, 0)}, one);
  expect("too often", {pushed(0), on(b, 0, 0), on(f, 0, 0), on(b, 0, 1), on(f, 0, 1), on(b, 0, 0), on(f, 0, 0)}, two);
  expect("ends without", {pushed(0), on(d, 0, 0)}, two);
  expect("while it runs", {pushed(0), on(b, 0, 0), finished(0, 0, false)}, two);
  expect("wrong outcome", {pushed(0), on(b, 0, 0), on(d, 0, 0), finished(0, 0, true)}, two);
  expect("wrong outcome", {pushed(0), on(b, 0, 0), on(f, 0, 0), finished(0, 0, false)}, two);
  expect("attempts left", {pushed(0), on(b, 0, 0), on(f, 0, 0), finished(0, 0, true)}, two);
  expect("without reason", {pushed(0), finished(0, -1, true, 0)}, two);
  expect("miscounted", {pushed(0), on(b, 0, 0), on(d, 0, 0), finished(0, 0, false, 2)}, two);
  expect("cannot be taken back", {pushed(0), on(b, 0, 0), on(What::taken_back, 0, -1)}, two);
  expect("was taken back", {pushed(0), on(What::taken_back, 0, -1), finished(0, -1, true, 0)}, two);
  expect("lost twice", {dies(0), lost(0), lost(0)}, two);
  expect("lost twice, or not at all", {lost(0)}, two);
  expect("not told", {dies(0)}, two);
}

/// Prints the seed and aborts where one takes minutes: a queue that waits for ever says nothing.
class Watchdog {
 public:
  explicit Watchdog(const std::atomic<unsigned>& seed) : thread_([this, &seed] { watch(seed); }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch(const std::atomic<unsigned>& seed) {
    std::unique_lock lock(mutex_);
    for (unsigned before = 0; !ended_;) {
      changed_.wait_for(lock, std::chrono::minutes(3));
      if (!ended_ && seed == before) {
        std::fprintf(stderr, "seed %u does not come to an end\n", before);
        std::abort();
      }
      before = seed;
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

struct Happened {
  int failures = 0, losses = 0, nobody = 0, elsewhere = 0, left_out = 0;
};

/// What a worker does with a task follows from the seed, the task and how often it was tried there, not from the order.
void work(unsigned seed, int worker, std::int64_t task, int fails_percent, int sleep_us) {
  std::seed_seq mixed{seed, static_cast<unsigned>(worker), static_cast<unsigned>(task)};
  std::mt19937 random(mixed);
  if (sleep_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % static_cast<unsigned>(sleep_us)));
  if (static_cast<int>(random() % 100) >= fails_percent) return;
  switch (random() % 4) {
    case 0:
      throw OutOfMemory("planted: no memory", 1);
    case 1:
      throw std::runtime_error("planted: wrong");
    default:
      throw DeviceError("planted: error", false);
  }
}

void run_schedule(unsigned seed, Happened& happened) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Rules rules;
  rules.lanes.resize(static_cast<std::size_t>(1 + below(4)));
  rules.attempts = 1 + below(3);
  rules.left_out = below(8) == 0;
  const int workers = static_cast<int>(rules.lanes.size());
  const int fails_percent = below(3) == 0 ? 0 : below(40), losses = below(3);  // percent of workers: 0, 40, 80
  Log log;
  std::vector<std::unique_ptr<TaskWorker>> planted;
  for (int w = 0; w < workers; ++w) {
    int& lanes = rules.lanes[static_cast<std::size_t>(w)];
    lanes = 1 + below(3);
    const int sleep_us = below(2) * (1 << below(9)), fails = below(2) == 0 ? fails_percent : 0;
    const bool will_die = below(100) < 40 * losses;
    const int dies_at = will_die ? below(20) : -1, dies_in_begin = will_die && below(4) == 0 ? below(lanes) : -1;
    const auto begun = std::make_shared<std::atomic<int>>(0);
    planted.push_back(std::make_unique<PlantedWorker>(
        log, w, lanes,
        [=](int, const Task& task) {
          if ((*begun)++ == dies_at) throw DeviceError("planted: lost", true);
          work(seed, w, task.id, fails, sleep_us);
        },
        [=](int lane) {
          if (lane == dies_in_begin) throw std::runtime_error("planted: does not begin");
        }));
  }
  std::vector<Task> first(static_cast<std::size_t>(below(40))), later(static_cast<std::size_t>(below(20)));
  std::int64_t id = 0;
  for (std::vector<Task>* tasks : {&first, &later})
    for (Task& task : *tasks) {
      task.id = id++;
      task.cost = 1 + below(10);
      if (below(4) == 0) task.only = below(workers);
      task.bound = below(2) == 0;
    }
  const int take_back_at = below(4) == 0 ? below(40) : -1;
  std::atomic<std::size_t> next{0};
  std::vector<WorkerReport> reports;
  {
    std::atomic<TaskQueue*> of_callbacks{nullptr};
    QueueOptions options = log.options([&](const Task& task) {
      if (task.id % 2 != 0) return;
      TaskQueue* queue = nullptr;
      while ((queue = of_callbacks) == nullptr) std::this_thread::yield();
      if (const std::size_t i = next++; i < later.size()) log.push(*queue, later[i]);
    });
    options.attempts = rules.attempts;
    TaskQueue queue(std::move(planted), options);
    of_callbacks = &queue;
    for (const Task& task : first) {
      log.push(queue, task);
      if (task.id == take_back_at)
        for (const Task& back : queue.take_back()) log.add(on(What::taken_back, back.id, -1));
    }
    if (!rules.left_out) {
      queue.wait_idle();
      reports = queue.report();
      // A lane may be beginning still, and lose its worker now.
      EXPECT_GE(std::count_if(reports.begin(), reports.end(), [](const WorkerReport& r) { return r.lost.empty(); }),
                queue.living());
    }
  }
  const Events events = log.events();
  ASSERT_EQ(complaint(events, rules), "");
  int deaths = 0;
  std::int64_t done = 0, reported = 0;
  for (const Event& e : events) {
    happened.failures += e.what == What::failed;
    deaths += e.what == What::lost;
    done += e.what == What::done;
    happened.elsewhere += e.what == What::finished && !e.error && e.attempts > 1;
  }
  for (const WorkerReport& report : reports) reported += report.tasks;
  if (!rules.left_out) {
    EXPECT_EQ(reported, done);
  }
  happened.losses += deaths;
  happened.nobody += deaths == workers;
  happened.left_out += rules.left_out;
}

void run_schedules(unsigned first, unsigned count) {
  std::atomic<unsigned> seed{first};
  const Watchdog watchdog(seed);
  Happened happened;
  for (; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_schedule(seed, happened);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(happened.failures, 0);
  EXPECT_GT(happened.elsewhere, 0);
  EXPECT_GT(happened.losses, 0);
  EXPECT_GT(happened.nobody, 0);
  EXPECT_GT(happened.left_out, 0);
}

unsigned schedules() {
  if (const char* count = std::getenv("AREAL_TEST_SEEDS")) return static_cast<unsigned>(std::atoi(count));
  return std::getenv("AREAL_TEST_SHORT") != nullptr ? 100 : 300;
}

TEST(TaskQueueStress, RandomSchedules) { run_schedules(1, schedules()); }

TEST(TaskQueueStress, RandomSchedulesInAnArenaOfOneThread) {
  cpu::parallel_for(1, 1, [](std::int64_t) { run_schedules(1'000'001, schedules() / 3); });
}

}  // namespace
}  // namespace areal::queue
