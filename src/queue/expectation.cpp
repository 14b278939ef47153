#include "queue/expectation.hpp"
#include <algorithm>
#include <tuple>
#include <utility>

namespace areal::queue {

namespace {
constexpr double smoothing = 0.25, longest_counted = 4, measured_again_after = 100;
}

Expectation::Expectation(const std::vector<int>& lanes, const std::vector<bool>& shared)
    : living_(static_cast<int>(lanes.size())) {
  workers_.resize(lanes.size());
  for (std::size_t worker = 0; worker < lanes.size(); ++worker) {
    workers_[worker].lanes.resize(static_cast<std::size_t>(lanes[worker]));
    workers_[worker].shared = worker < shared.size() && shared[worker];
  }
}

void Expectation::ready(LaneOf at) { lane_of(at).state = State::free; }

void Expectation::begin(LaneOf at, double cost, bool had_choice, double now) {
  const double took = seconds(at.worker, cost, now);
  LaneLoad& lane = lane_of(at);
  lane.load = cost;
  if (worker_of(at.worker).shared)
    for (const LaneLoad& other : worker_of(at.worker).lanes)
      if (other.state == State::busy) lane.load += other.cost;
  lane.state = State::busy, lane.begin = now, lane.cost = cost;
  lane.next = in_time_until(worker_of(at.worker), lane);
  worker_of(at.worker).passed_over = 0;
  if (!had_choice) return;
  for (One& other : workers_)
    if (&other != &worker_of(at.worker) && other.lives &&
        std::any_of(other.lanes.begin(), other.lanes.end(), [](const LaneLoad& l) { return l.state == State::free; }))
      other.passed_over += took;
}

void Expectation::measure(int worker, double cost, double seconds) {
  One& one = worker_of(worker);
  const double measured = std::max(0.0, seconds) / cost, before = one.seconds_per_cost;
  if (!one.measured || before == 0)
    one.seconds_per_cost = measured;
  else
    one.seconds_per_cost += smoothing * (std::min(measured, longest_counted * before) - before);
  one.measured = true;
}

void Expectation::lose(int worker) {
  if (std::exchange(worker_of(worker).lives, false)) --living_;
}

double Expectation::seconds(int worker, double cost, double now) const {
  const One& one = worker_of(worker);
  const double expected = one.seconds_per_cost * cost;
  if (one.measured) return one.passed_over > measured_again_after * expected ? 0 : expected;
  double at_least = 0;
  for (const LaneLoad& lane : one.lanes)
    if (lane.state == State::busy) at_least = std::max(at_least, (now - lane.begin) / lane.load);
  return at_least * cost;
}

// The expected duration of a task on a lane, including the effect of the worker's tasks then in flight.
double Expectation::duration(const One& worker, const LaneLoad& lane, double cost, double now) const {
  const int number = static_cast<int>(&worker - workers_.data());
  if (!worker.shared) return seconds(number, cost, now);
  return seconds(number, cost + std::max(0.0, worker.loaded - (lane.open ? 0 : lane.cost)), now);
}

double Expectation::in_time_until(const One& worker, const LaneLoad& lane) {
  return lane.begin + worker.seconds_per_cost * lane.load;
}

double Expectation::end(const One& worker, const LaneLoad& lane, double now) {
  if (lane.state != State::busy) return now;
  const double expected = in_time_until(worker, lane);
  return now <= expected ? expected : now + (now - expected);
}

double Expectation::end(LaneOf at, double now) const {
  const One& one = worker_of(at.worker);
  return end(one, one.lanes[static_cast<std::size_t>(at.lane)], now);
}

void Expectation::look(double now) {
  now_ = now, again_ = overrun_from_ = never, free_ = 0;
  for (One& worker : workers_) {
    worker.in_flight = 0, worker.loaded = 0;
    for (LaneLoad& lane : worker.lanes) {
      lane.next = end(worker, lane, now);
      lane.open = worker.lives && lane.state == State::free;
      free_ += lane.open;
      if (lane.state != State::busy) continue;
      ++worker.in_flight, worker.loaded += lane.cost;
      if (worker.lives) overrun_from_ = std::min(overrun_from_, in_time_until(worker, lane));
    }
  }
}

bool Expectation::may_take(int worker, int only, int avoid) const {
  if (!lives(worker) || (only >= 0 && worker != only)) return false;
  return worker != avoid || living_ == 1 || only >= 0;
}

// The lane that is free first, preferring one that is free now; none before a lane is ready.
const Expectation::LaneLoad* Expectation::first_free(const One& worker) {
  const LaneLoad* first = nullptr;
  for (const LaneLoad& lane : worker.lanes)
    if (lane.state != State::starting &&
        (first == nullptr || std::tuple(lane.next, !lane.open) < std::tuple(first->next, !first->open)))
      first = &lane;
  return first;
}

std::optional<LaneOf> Expectation::place(double cost, int only, int avoid) {
  // Of equal ends the one that begins now, then the worker with fewest tasks in flight.
  using Rank = std::tuple<double, bool, int>;
  LaneOf best;
  Rank best_rank(never, true, 0);
  for (int w = 0; w < static_cast<int>(workers_.size()); ++w) {
    const One& worker = worker_of(w);
    const LaneLoad* lane = may_take(w, only, avoid) ? first_free(worker) : nullptr;
    if (lane == nullptr || (!worker.measured && !lane->open)) continue;  // its speed is unknown: do not wait
    const Rank rank(lane->next + duration(worker, *lane, cost, now_), !lane->open, worker.in_flight);
    if (best.worker < 0 || rank < best_rank) best = {w, static_cast<int>(lane - worker.lanes.data())}, best_rank = rank;
  }
  if (best.worker < 0) return std::nullopt;
  LaneLoad& lane = lane_of(best);
  const double ends = std::get<0>(best_rank);
  lane.next = ends;
  if (lane.open) {
    lane.open = false;
    --free_, ++worker_of(best.worker).in_flight, worker_of(best.worker).loaded += cost;
    overrun_from_ = std::min(overrun_from_, ends);
    return best;
  }
  // Until the first lane overruns, waiting delays the free worker's end but not the others'. From then on the others'
  // moves by at most 2 s a second, and the free worker's by 1.
  const double in_time = std::max(0.0, overrun_from_ - now_);
  for (int w = 0; w < static_cast<int>(workers_.size()); ++w) {
    if (!may_take(w, only, avoid)) continue;
    const LaneLoad* free = first_free(worker_of(w));
    if (free != nullptr && free->open)
      again_ = std::min(again_, now_ + 2 * in_time + (now_ + duration(worker_of(w), *free, cost, now_) - ends));
  }
  return std::nullopt;
}

}  // namespace areal::queue
