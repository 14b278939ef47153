// The sweep for `auto` on a GPU. Each round runs every algorithm and every floor once, in random order, so that none
// always finds the same predecessor's data in the L2. The device makes the image and checks every result.
#include <cuda_runtime.h>
#include <algorithm>
#include <areal/research/sat.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include "checked_image.cuh"
#include "cuda_device.hpp"
#include "cuda_floors.hpp"
#include "cuda_sweep.hpp"
#include "profiled.cuh"

namespace areal::bench {
namespace {

constexpr double slow = 1.6;  // times the fastest: too slow for the default, so few rounds suffice
constexpr int slow_rounds = 5, least_rounds = 30;
constexpr double between_two = 25;  // approximate microseconds between executes

template <class T>
__global__ void add_one(T* entry) {
  *entry = static_cast<T>(*entry + T(1));
}

struct Entrant {
  std::size_t number = 0;  // in CudaSweep::algorithms
  CudaSweep::Row row;
  std::function<void()> run;
  double first = 0;  // microseconds, roughly
};

class Sweep {
 public:
  explicit Sweep(const CudaSweep& sweep)
      : sweep_(sweep),
        owned_(new_stream()),
        stream_(owned_.get()),
        pixels_(sweep.width * sweep.height * sweep.batch),
        values_(values_of(sweep.types, pixels_)),
        squares_type_(plan_of("auto").squares_type()),
        image_(static_cast<std::size_t>(pixels_) * size_of(sweep.types.input)),
        entries_((sweep.width + skip()) * (sweep.height + skip()) * sweep.batch),
        table_(static_cast<std::size_t>(entries_) * size_of(sweep.types.table)),
        squares_(squares_type_ ? static_cast<std::size_t>(entries_) * size_of(*squares_type_) : 0) {
    if (squares_type_ && (is_float(*squares_type_) || size_of(sweep.types.input) != 1))
      throw Unavailable("sweeps have squares of 8-bit pixels in integers alone");
    fill_image(image_.data(), sweep.types.input, pixels_, values_, stream_);
    check(cudaStreamSynchronize(stream_));
  }

  void run() {
    std::vector<std::function<void()>> runs;
    for (auto& floor : floors({sweep_.types, squares_type_, sweep_.border, sweep_.width, sweep_.height, sweep_.batch,
                               image_.data(), table_.data(), squares_.data()}))
      runs.push_back([floor, this] { floor(stream_); });
    const std::size_t floors = runs.size();
    double round = 0;  // microseconds of one
    for (const auto& floor : runs) round += first_time(floor) + between_two;

    std::vector<Entrant> entrants = prepare();
    double fastest_first = 1e30;
    for (const Entrant& e : entrants) fastest_first = std::min(fastest_first, e.first);
    std::vector<std::size_t> quick;
    for (std::size_t i = 0; i < entrants.size(); ++i)
      if (entrants[i].first <= slow * fastest_first) {
        quick.push_back(i);
        runs.push_back(entrants[i].run);
        round += entrants[i].first + between_two;
      } else {
        entrants[i].row.times =
            time_shuffled({entrants[i].run}, std::min(slow_rounds, sweep_.repetitions), stream_, 0)[0];
      }
    const int affordable = std::max(least_rounds, static_cast<int>(std::min(sweep_.most_us / round, 1e6)));
    const auto times = time_shuffled(runs, std::min(sweep_.repetitions, affordable), stream_);
    for (std::size_t k = 0; k < quick.size(); ++k) entrants[quick[k]].row.times = times[floors + k];
    sweep_.floor(fastest(times, floors));
    bool is_proven = false;
    for (const Entrant& e : entrants) try {
        verify(e, true);
        if (!is_proven) prove(e);
        is_proven = true;
        sweep_.done(e.number, e.row);
      } catch (const Wrong& wrong) {
        sweep_.wrong(e.number, wrong.what());
      }
  }

 private:
  Shape shape() const { return {sweep_.width, sweep_.height, 1, sweep_.batch}; }
  MemoryPlace there() const { return {MemoryPlace::cuda, sweep_.device}; }
  int skip() const { return sweep_.border == Border::zero ? 1 : 0; }

  SatPlan plan_of(const std::string& id, const LaunchReport& on_launch = {}) const {
    return research::sat_plan(
        shape(), sweep_.types.input,
        {.border = sweep_.border, .types = sweep_.types, .algorithm = id, .squares = sweep_.squares},
        {.on_launch = on_launch}, {.backend = Backend::cuda, .device = sweep_.device, .stream = Stream::cuda(stream_)});
  }
  std::shared_ptr<DeviceWorkspace> workspace_of(const SatPlan& plan) {
    return std::make_shared<DeviceWorkspace>(plan, stream_);
  }
  std::function<void()> execute_of(const SatPlan& plan, const std::shared_ptr<DeviceWorkspace>& workspace) {
    SatArguments arguments{ConstView(image_.data(), sweep_.types.input, shape()).in(there()),
                           View(table_.data(), sweep_.types.table, plan.table_shape()).in(there())};
    if (squares_type_) arguments.squares = View(squares_.data(), *squares_type_, plan.table_shape()).in(there());
    return [=] { plan.execute(arguments, workspace->get()); };
  }

  /// The least of three runs, after one that loads the kernel.
  double first_time(const std::function<void()>& run) const {
    const auto times = time_shuffled({run}, 3, stream_, 1)[0];
    return *std::min_element(times.begin(), times.end());
  }

  std::vector<Entrant> prepare() {
    std::vector<Entrant> entrants;
    for (std::size_t i = 0; i < sweep_.algorithms.size(); ++i) try {
        Entrant e;
        e.number = i;
        const SatPlan telling =
            plan_of(sweep_.algorithms[i], [&](const LaunchCounts& launch) { e.row.kernels.push_back(launch.kernel); });
        execute_of(telling, workspace_of(telling))();
        check(cudaStreamSynchronize(stream_));
        const SatPlan plan = plan_of(sweep_.algorithms[i]);
        const auto workspace = workspace_of(plan);
        e.run = execute_of(plan, workspace);
        e.first = first_time(e.run);
        e.row.algorithm = workspace->get().algorithm();
        entrants.push_back(std::move(e));
      } catch (const std::exception& e) {
        require_alive(sweep_.algorithms[i], e);
        sweep_.refused(i, e.what());
      }
    return entrants;
  }

  Planes planes(bool squared) const {
    return {sweep_.width, sweep_.height, sweep_.width + skip(), 0, sweep_.batch, skip(), squared};
  }
  void require_tables_right(const std::string& name) const {
    require_right(name, table_.data(), sweep_.types.table, planes(false), values_, stream_);
    if (squares_type_)
      require_right(name + ", squares", squares_.data(), *squares_type_, planes(true), values_, stream_);
  }
  void verify(const Entrant& e, bool profiled) const {
    check(cudaMemsetAsync(table_.data(), 0xa5, static_cast<std::size_t>(entries_) * size_of(sweep_.types.table),
                          stream_));
    if (squares_type_)
      check(cudaMemsetAsync(squares_.data(), 0xa5, static_cast<std::size_t>(entries_) * size_of(*squares_type_),
                            stream_));
    if (profiled)
      run_profiled(e.run, stream_);
    else
      e.run();
    require_tables_right(sweep_.algorithms[e.number]);
  }
  /// Tests that the check finds an entry of each table that is one too large. The tables must be right before.
  void prove(const Entrant& e) const {
    const auto found = [&](void* table, Type type) {
      with_type(type, [&](auto t) { add_one<<<1, 1, 0, stream_>>>(static_cast<decltype(t)*>(table) + entries_ / 2); });
      check(cudaGetLastError());
      try {
        require_tables_right("");
      } catch (const Wrong&) {
        return;
      }
      throw Error("the check does not find an entry that was changed");
    };
    found(table_.data(), sweep_.types.table);
    if (!squares_type_) return;
    verify(e, false);
    found(squares_.data(), *squares_type_);
  }

  const CudaSweep& sweep_;
  const OwnedStream owned_;
  cudaStream_t const stream_;
  const std::int64_t pixels_;
  const Values values_;
  const std::optional<Type> squares_type_;
  const Memory image_;
  const std::int64_t entries_;
  const Memory table_, squares_;
};

}  // namespace

void run_sweep(const CudaSweep& sweep) {
  check(cudaSetDevice(sweep.device));
  std::unique_ptr<Sweep> made;
  try {
    made = std::make_unique<Sweep>(sweep);
  } catch (const Unavailable& e) {
    for (std::size_t i = 0; i < sweep.algorithms.size(); ++i) sweep.refused(i, e.what());
    return;
  } catch (const OutOfMemory& e) {
    require_alive("the image", e);
    for (std::size_t i = 0; i < sweep.algorithms.size(); ++i)
      sweep.refused(i, std::string("image and result: ") + e.what());
    return;
  }
  made->run();
}

}  // namespace areal::bench
