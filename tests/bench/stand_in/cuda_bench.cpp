// The stand-in for the GPU plug-in of `areal bench`, for tests of papers' tables and figures without a GPU: the racers
// run on the simulated machine, which also gives their microseconds, the same each time. AREAL_BENCH_DIR names the
// folder of this plug-in, AREAL_STAND_IN_REFUSES the algorithm that runs out of memory ("all" of them, "link" for the
// copies), AREAL_STAND_IN_WRONG the algorithm with a wrong result; AREAL_STAND_IN_MEMORY is the most bytes of workspace
// that a racer may have.
#include "bench/protocol/cuda_bench.hpp"
#include <algorithm>
#include <areal/array.hpp>
#include <areal/error.hpp>
#include <areal/research/histogram.hpp>
#include <areal/research/sat.hpp>
#include <areal/research/scan.hpp>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace areal::bench {
namespace {

// A thousand bytes a microsecond, two microseconds a launch, and one for each thousand bytes of shared memory touched.
double time_of(const LaunchCounts& launch) {
  const Counts& c = launch.counts;
  const std::uint64_t bytes = c.reads.bytes + c.writes.bytes + (c.shared_reads.bytes + c.shared_writes.bytes) / 4;
  return 2 + 1e-3 * static_cast<double>(bytes) + 1e-3 * static_cast<double>(c.reads.strided + c.writes.strided);
}

struct Done {
  std::string algorithm;
  double time = 0;
  std::vector<CudaLaunchTimes> launches;
};

std::vector<double> rounds(double time, int repetitions) {
  return std::vector<double>(static_cast<std::size_t>(std::max(repetitions, 1)), time);
}

void require_room(const std::string& what) {
  const char* const named = std::getenv("AREAL_STAND_IN_REFUSES");
  const std::string refused = named != nullptr ? named : "";
  if (refused == what || (refused == "all" && what != "link")) throw Error("no room for " + what);
}

Done run(const CudaRace& race, const CudaRacer& racer) {
  require_room(racer.algorithm);
  const Shape shape{race.width, race.height, 1, race.batch};
  Array image(shape, race.bins != 0 ? Type::u8 : race.types.input);
  std::memset(image.data(), 0, image.bytes());
  const Execution on_simt{.backend = Backend::simt};
  Done done;
  std::vector<LaunchCounts> told;
  const LaunchReport on_launch = [&](const LaunchCounts& launch) {
    done.time += time_of(launch);
    told.push_back(launch);
  };
  const auto execute = [&](const auto& plan, const auto&... arguments) {
    const char* const most = std::getenv("AREAL_STAND_IN_MEMORY");
    if (most != nullptr && plan.workspace_bytes() > std::stoull(most))
      throw Error("out of memory: a workspace of " + std::to_string(plan.workspace_bytes()) + " bytes");
    Workspace workspace(plan);
    plan.execute(arguments..., workspace);
    done.algorithm = plan.algorithm();
  };
  if (race.line) {
    const ScanPlan plan(race.width, race.types,
                        {.algorithm = racer.algorithm, .group = racer.group, .on_launch = on_launch}, on_simt);
    Array sums(shape, race.types.table);
    execute(plan, std::as_const(image).view(), sums.view());
  } else if (race.bins != 0) {
    const HistogramPlan plan = research::histogram_plan(
        shape, Type::u8, Binning::uniform(race.bins, 0, 256), {.algorithm = racer.algorithm},
        {.tile = racer.tile, .tile_threads = racer.tile_threads, .on_launch = on_launch}, on_simt);
    Array tensor(plan.tensor_shape(), Type::u32);
    execute(plan, HistogramArguments{image.view(), tensor.view()});
  } else {
    const SatPlan plan = research::sat_plan(shape, race.types.input,
                                            {.border = Border::none, .types = race.types, .algorithm = racer.algorithm},
                                            {.r = racer.r, .scan = racer.scan, .on_launch = on_launch}, on_simt);
    Array table(plan.table_shape(), race.types.table);
    execute(plan, SatArguments{image.view(), table.view()});
  }
  for (const LaunchCounts& launch : told) {
    const bool joins = told.size() > 16 && !done.launches.empty() && done.launches.back().kernel == launch.kernel;
    if (!joins)
      done.launches.push_back(
          {launch.kernel, 0, 0, launch.threads, launch.threads / 2048.0, rounds(0, race.repetitions)});
    CudaLaunchTimes& last = done.launches.back();
    ++last.launches, last.blocks += launch.blocks;
    for (double& time : last.times) time += time_of(launch);
  }
  return done;
}

void run(const CudaRace& race) {
  const auto pixels = static_cast<double>(race.width * race.height * race.batch);
  const std::size_t bytes =
      race.bins != 0 ? static_cast<std::size_t>(race.bins) * 4 : size_of(race.types.input) + size_of(race.types.table);
  const double floor = 2 + 1e-3 * pixels * static_cast<double>(bytes);
  race.floor(rounds(floor, race.repetitions));
  for (std::size_t i = 0; i < race.racers.size(); ++i) try {
      const CudaRacer& racer = race.racers[i];
      if (const char* const wrong = std::getenv("AREAL_STAND_IN_WRONG"); wrong != nullptr && racer.algorithm == wrong) {
        race.wrong(i, racer.algorithm + ": 1 entry is wrong");
        continue;
      }
      if (racer.algorithm == "npp" &&
          (race.bins != 0 || race.types.input != Type::u8 || size_of(race.types.table) != 4))
        throw Unavailable("NPP has no integral of " + name_of(race.types));
      if (racer.algorithm == "npp")
        race.done(i, "npp 0.0.0 stand-in", rounds(4 * floor, race.repetitions), rounds(floor, race.repetitions), {});
      else if (racer.algorithm == "scan-scan")
        race.done(i, "scan-scan", rounds(3 * floor, race.repetitions), rounds(floor, race.repetitions), {});
      else if (racer.algorithm == "cub")
        race.done(i, "cub 0.0.0 stand-in", rounds(1.5 * floor, race.repetitions), rounds(floor, race.repetitions), {});
      else {
        const Done done = run(race, racer);
        race.done(i, done.algorithm, rounds(done.time, race.repetitions), rounds(floor, race.repetitions),
                  race.launches ? done.launches : std::vector<CudaLaunchTimes>());
      }
    } catch (const std::exception& e) {
      race.refused(i, e.what());
    }
}

void run(const CudaSweep& sweep) {
  const Shape shape{sweep.width, sweep.height, 1, sweep.batch};
  Array image(shape, sweep.types.input);
  std::memset(image.data(), 0, image.bytes());
  sweep.floor(rounds(2, sweep.repetitions));
  for (std::size_t i = 0; i < sweep.algorithms.size(); ++i) try {
      const std::string& id = sweep.algorithms[i];
      require_room(id);
      if (const char* const wrong = std::getenv("AREAL_STAND_IN_WRONG"); wrong != nullptr && id == wrong) {
        sweep.wrong(i, "1 entry is wrong");
        continue;
      }
      CudaSweep::Row row;
      double time = 0;
      const SatPlan plan =
          research::sat_plan(shape, sweep.types.input,
                             {.border = sweep.border, .types = sweep.types, .algorithm = id, .squares = sweep.squares},
                             {.on_launch =
                                  [&](const LaunchCounts& launch) {
                                    time += time_of(launch);
                                    row.kernels.push_back(launch.kernel);
                                  }},
                             {.backend = Backend::simt});
      Array table(plan.table_shape(), sweep.types.table), squares;
      SatArguments arguments{image.view(), table.view()};
      if (plan.squares_type()) {
        squares = Array(plan.table_shape(), *plan.squares_type());
        arguments.squares = squares.view();
      }
      Workspace workspace(plan);
      plan.execute(arguments, workspace);
      row.algorithm = workspace.algorithm();
      row.times = rounds(time, sweep.repetitions);
      for (std::size_t k = 0; k < row.times.size(); ++k) row.times[k] += static_cast<double>(k);
      sweep.done(i, row);
    } catch (const std::exception& e) {
      sweep.refused(i, e.what());
    }
}

void run(const CudaHistogram& c) {
  const Shape shape{c.width, c.height, 1, c.batch};
  const auto bytes =
      static_cast<double>(c.width * c.height * c.batch * c.bins) * static_cast<double>(size_of(c.counter));
  c.floor(rounds(2 + 1e-3 * bytes, c.repetitions));
  for (std::size_t i = 0; i < c.algorithms.size(); ++i) {
    try {
      require_room(c.algorithms[i]);
    } catch (const Error& e) {
      c.refused(i, e.what());
      continue;
    }
    double time = 0;
    const HistogramPlan plan = research::histogram_plan(
        shape, Type::u8, Binning::uniform(c.bins, 0, 256),
        {.counter = c.counter, .weighted = c.weights != nullptr, .algorithm = c.algorithms[i]},
        {.on_launch = [&](const LaunchCounts& launch) { time += time_of(launch); }}, {.backend = Backend::simt});
    Array tensor(plan.tensor_shape(), c.counter);
    HistogramArguments arguments{ConstView(c.image, Type::u8, shape), tensor.view()};
    if (c.weights != nullptr) arguments.weights = ConstView(c.weights, Type::f32, shape);
    Workspace workspace(plan);
    plan.execute(arguments, workspace);
    const char* const wrong = std::getenv("AREAL_STAND_IN_WRONG");
    const double more = wrong != nullptr && c.algorithms[i] == wrong ? 1 : 0;
    c.done(plan.algorithm(), rounds(time, c.repetitions),
           [&](std::int64_t bin, std::int64_t x, std::int64_t y, std::int64_t n) {
             const auto at = static_cast<std::size_t>(((n * c.bins + bin) * c.height + y) * c.width + x);
             if (c.counter == Type::f32) return more + static_cast<double>(tensor.as<float>()[at]);
             return more + (c.counter == Type::u16 ? tensor.as<std::uint16_t>()[at] : tensor.as<std::uint32_t>()[at]);
           });
  }
}

void run(const CudaLink& link) {
  require_room("link");
  link.done(rounds(10 + 1e-5 * static_cast<double>(link.up_bytes), link.repetitions),
            rounds(10 + 1e-5 * static_cast<double>(link.down_bytes), link.repetitions));
}

template <class What>
void run_for(const What& what, char* error, std::size_t size) {
  std::string text;
  try {
    run(what);
  } catch (const std::exception& e) {
    text = e.what();
  }
  std::strncpy(error, text.c_str(), size - 1);
  error[size - 1] = 0;
}

}  // namespace
}  // namespace areal::bench

extern "C" void areal_cuda_bench_race(const areal::bench::CudaRace* what, char* error, std::size_t size) {
  areal::bench::run_for(*what, error, size);
}
extern "C" void areal_cuda_bench_sweep(const areal::bench::CudaSweep* what, char* error, std::size_t size) {
  areal::bench::run_for(*what, error, size);
}
extern "C" void areal_cuda_bench_histogram(const areal::bench::CudaHistogram* what, char* error, std::size_t size) {
  areal::bench::run_for(*what, error, size);
}
extern "C" void areal_cuda_bench_link(const areal::bench::CudaLink* what, char* error, std::size_t size) {
  areal::bench::run_for(*what, error, size);
}
