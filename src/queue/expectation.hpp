#pragma once
// When each worker would end a task: pure arithmetic over measurements, without threads or a clock.
//
// A worker's seconds per cost are measured, smoothed by 1/4 a task; a task that took more than 4 times its expected
// time counts as 4 times. A worker without measurements is expected to need no time for a task, or as long as those in
// flight have run already. A task that overran its expected end is expected to run on for as long as it has overrun. If
// a worker's lanes share one device, a task is expected, and measured, to take as long as itself and all tasks in
// flight there when it began.
//
// A worker that was passed over while others worked for 100 times its expected time is measured again, so that one bad
// measurement does not idle it for good.

#include <limits>
#include <optional>
#include <vector>

namespace areal::queue {

struct LaneOf {
  int worker = -1, lane = 0;
};

class Expectation {
 public:
  static constexpr double never = std::numeric_limits<double>::infinity();

  /// The number of lanes of each worker, and whether they share one device. A lane gets no tasks before it is `ready`.
  explicit Expectation(const std::vector<int>& lanes, const std::vector<bool>& shared = {});

  void ready(LaneOf at);  ///< the lane is free, for the first time or again
  void begin(LaneOf at, double cost, bool had_choice, double now);
  /// `cost`: as returned by `load`.
  void measure(int worker, double cost, double seconds);
  void lose(int worker);

  int lanes(int worker) const { return static_cast<int>(worker_of(worker).lanes.size()); }
  bool lives(int worker) const { return worker_of(worker).lives; }
  int living() const { return living_; }
  double seconds_per_cost(int worker) const { return worker_of(worker).seconds_per_cost; }  ///< 0 if not measured
  double seconds(int worker, double cost, double now) const;  ///< expected for a task of this cost
  double end(LaneOf at, double now) const;                    ///< when the lane is expected to be free
  /// The cost of the lane's task, plus those in flight when it began if the lanes share a device.
  double load(LaneOf at) const { return worker_of(at.worker).lanes[static_cast<std::size_t>(at.lane)].load; }

  /// Begins a walk over the waiting tasks, first to last: each is placed on the lane that would end it soonest, behind
  /// those placed before it. O(workers) a task, plus lanes.
  void look(double now);
  /// True if a lane is left that is free now.
  bool open() const { return free_ > 0; }
  /// The lane that begins the task now, or none if a busy lane is expected to end it sooner. `only`: no other worker
  /// may get it; `avoid`: that one may get it only if no other lives. -1 for neither.
  std::optional<LaneOf> place(double cost, int only, int avoid);
  /// The earliest time at which a free lane that left a task to a busy one may have to begin it, if nothing happens
  /// before. Exact if one busy lane overruns.
  double again() const { return again_; }

 private:
  enum class State { starting, free, busy };
  struct LaneLoad {
    State state = State::starting;
    double begin = 0, cost = 1, load = 1;
    double next = 0;  // in a walk: when it is free, including the tasks placed on it
    bool open = false;
  };
  struct One {
    bool lives = true, measured = false, shared = false;
    double seconds_per_cost = 0, passed_over = 0;
    std::vector<LaneLoad> lanes;
    int in_flight = 0;  // in a walk, including placed tasks
    double loaded = 0;  // their cost
  };
  const One& worker_of(int worker) const { return workers_[static_cast<std::size_t>(worker)]; }
  One& worker_of(int worker) { return workers_[static_cast<std::size_t>(worker)]; }
  LaneLoad& lane_of(LaneOf at) { return worker_of(at.worker).lanes[static_cast<std::size_t>(at.lane)]; }
  bool may_take(int worker, int only, int avoid) const;
  double duration(const One& worker, const LaneLoad& lane, double cost, double now) const;
  static double in_time_until(const One& worker, const LaneLoad& lane);
  static double end(const One& worker, const LaneLoad& lane, double now);
  static const LaneLoad* first_free(const One& worker);

  std::vector<One> workers_;
  int living_ = 0, free_ = 0;
  double now_ = 0, again_ = never, overrun_from_ = never;
};

}  // namespace areal::queue
