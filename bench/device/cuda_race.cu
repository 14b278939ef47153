// Races of `areal bench` on a GPU (bench/harness/race.hpp). The device makes the image and checks the result, as
// copying a table of 64 Ki x 64 Ki would take minutes. Sums of a line are a table of one row.
#include <cuda_runtime.h>
#include <algorithm>
#include <areal/research/histogram.hpp>
#include <areal/research/sat.hpp>
#include <areal/research/scan.hpp>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include "checked_image.cuh"
#include "cuda_device.hpp"
#include "cuda_floors.hpp"
#include "cuda_race.hpp"
#include "device_peers.hpp"
#include "profiled.cuh"

namespace areal::bench {
namespace {

/// The timed operation: queues one execute.
struct Contestant {
  std::size_t racer = 0;
  std::string algorithm;
  std::function<void()> run;
  std::function<void()> poison;  // overwrites the result
  std::function<void()> verify;  // throws Wrong
  // For the times of launches: makes a plan that reports each launch, and returns the `run` of that plan. Empty for a
  // peer.
  std::function<std::function<void()>(const LaunchReport&)> telling;
};

std::shared_ptr<Memory> memory(std::size_t bytes) { return std::make_shared<Memory>(bytes); }

/// As many rounds as requested, fewer if they would take more than a second.
int rounds_of(double microseconds, int asked) {
  return std::clamp(static_cast<int>(1e6 / std::max(microseconds, 1.0)), std::min(3, asked), asked);
}

/// Blocks the stream, so that everything is queued before it begins.
__global__ void hold(long long clocks) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) {
  }
}

std::vector<CudaLaunchTimes> launch_times(const Contestant& c, int rounds, int most_threads, cudaStream_t stream) {
  std::vector<LaunchCounts> told;
  LaunchReport on_launch = [&](const LaunchCounts& launch) { told.push_back(launch); };
  const std::function<void()> run = c.telling([&](const LaunchCounts& launch) { on_launch(launch); });
  run();
  check(cudaStreamSynchronize(stream));
  std::vector<CudaLaunchTimes> all;
  std::vector<std::size_t> ends;  // index of the launch after the last of each
  for (std::size_t i = 0; i < told.size(); ++i) {
    const LaunchCounts& launch = told[i];
    if (told.size() <= 16 || i == 0 || launch.kernel != told[i - 1].kernel) {
      const double occupancy = static_cast<double>(launch.resident) * launch.threads / most_threads;
      all.push_back({launch.kernel, 0, 0, launch.threads, occupancy, {}});
      ends.push_back(i);
    }
    ++all.back().launches, all.back().blocks += launch.blocks, ends.back() = i + 1;
  }
  std::vector<std::unique_ptr<Event>> events;
  for (std::size_t i = 0; i <= all.size(); ++i) events.push_back(std::make_unique<Event>());
  for (int round = 0; round < rounds; ++round) {
    std::size_t launches = 0, parts = 0;
    on_launch = [&](const LaunchCounts&) {
      if (++launches == ends[parts]) cudaEventRecord(events[++parts]->get(), stream);
    };
    hold<<<1, 1, 0, stream>>>(40'000 * static_cast<long long>(std::min<std::size_t>(told.size(), 500) + 2));
    check(cudaEventRecord(events[0]->get(), stream));
    run();
    check(cudaStreamSynchronize(stream));
    for (std::size_t i = 0; i < all.size(); ++i) {
      float ms = 0;
      check(cudaEventElapsedTime(&ms, events[i]->get(), events[i + 1]->get()));
      all[i].times.push_back(1000.0 * ms);
    }
  }
  return all;
}

class Course {
 public:
  explicit Course(const CudaRace& race) : race_(race), owned_(new_stream()), stream_(owned_.get()) {
    const Type type = input();
    const std::int64_t n = race.width * race.height * race.batch;
    if (race.bins == 0) values_ = values_of(race.types, n);
    image_ = memory(static_cast<std::size_t>(n) * size_of(type));
    fill_image(image_->data(), type, n, values_, stream_);
    out_bytes_ = static_cast<std::size_t>(n) *
                 (race.bins != 0 ? static_cast<std::size_t>(race.bins) * 4 : size_of(race.types.table));
    out_ = memory(out_bytes_);
    check(cudaStreamSynchronize(stream_));
  }

  void run() {
    const auto least = floors_of();
    std::vector<Contestant> contestants;
    for (std::size_t i = 0; i < race_.racers.size(); ++i) {
      Contestant c;
      for (bool last = false;; last = true) try {
          c = contestant(race_.racers[i]);
          c.racer = i;
          c.run();
          check(cudaStreamSynchronize(stream_));
          break;
        } catch (const std::exception& e) {
          c = {};
          require_alive(race_.racers[i].algorithm, e);
          if (last || contestants.empty() || dynamic_cast<const OutOfMemory*>(&e) == nullptr) {
            race_.refused(i, e.what());
            break;
          }
          measure(least, contestants);  // frees their memory
        }
      if (!c.run) continue;
      contestants.push_back(std::move(c));
      if (workspaces_ > most_kept) measure(least, contestants);
    }
    measure(least, contestants);
    if (!floor_.empty()) race_.floor(floor_);
  }

 private:
  static constexpr std::size_t most_kept = std::size_t{16} << 30;  // of workspaces at once

  Type input() const { return race_.bins != 0 ? Type::u8 : race_.types.input; }
  Shape shape() const { return {race_.width, race_.height, 1, race_.batch}; }
  MemoryPlace there() const { return {MemoryPlace::cuda, race_.device}; }
  ConstView image() const { return ConstView(image_->data(), input(), shape()).in(there()); }
  Execution execution() const {
    return {.backend = Backend::cuda, .device = race_.device, .stream = Stream::cuda(stream_)};
  }

  std::vector<std::function<void()>> floors_of() {
    if (race_.bins != 0) return {[this] { check(cudaMemsetAsync(out_->data(), 0, out_bytes_, stream_)); }};
    std::vector<std::function<void()>> all;
    for (auto& floor : floors({race_.types,
                               {},
                               Border::none,
                               race_.width,
                               race_.height,
                               race_.batch,
                               image_->data(),
                               out_->data(),
                               nullptr}))
      all.push_back([floor, this] { floor(stream_); });
    return all;
  }

  Planes planes() const { return {race_.width, race_.height, race_.width, race_.bins, race_.batch, 0}; }

  Contestant contestant(const CudaRacer& racer) {
    if (racer.algorithm == "npp") return peer(npp_integral);
    if (racer.algorithm == "scan-scan") return peer(scan_scan);
    if (racer.algorithm == "cub" && race_.line) return peer(cub_scan);
    if (race_.line) return line(racer);
    return race_.bins != 0 ? tensor(racer) : table(racer);
  }

  Contestant peer(std::optional<DevicePeer> (*make)(const Scene&, std::string&)) {
    if (race_.bins != 0 || race_.batch != 1) throw Unavailable("peers make tables of one image");
    std::string missing;
    std::optional<DevicePeer> found =
        make({race_.types, {}, race_.width, race_.height, image_->data(), race_.device, stream_}, missing);
    if (!found) throw Unavailable(missing);
    auto kept = std::make_shared<DevicePeer>(std::move(*found));
    Contestant c;
    c.algorithm = kept->name;
    c.run = kept->run;
    c.poison = [this, kept] {
      const auto entry = size_of(race_.types.table);
      const std::size_t more = kept->border == Border::zero ? 1 : 0;
      check(cudaMemset2DAsync(const_cast<void*>(kept->table), static_cast<std::size_t>(kept->pitch), 0xa5,
                              (static_cast<std::size_t>(race_.width) + more) * entry,
                              static_cast<std::size_t>(race_.height) + more, stream_));
    };
    c.verify = [this, kept] {
      const auto entry = static_cast<std::int64_t>(size_of(race_.types.table));
      const Planes p{race_.width, race_.height, kept->pitch / entry, 0, 1, kept->border == Border::zero ? 1 : 0};
      require_right(kept->name, kept->table, race_.types.table, p, values_, stream_);
    };
    workspaces_ += out_bytes_;
    return c;
  }

  /// One execute of that plan on the image, with its own workspace.
  std::function<void()> execute_of(const SatPlan& plan) {
    const SatArguments arguments{image(), View(out_->data(), race_.types.table, plan.table_shape()).in(there())};
    return execute_of(plan, [=](Workspace& workspace) { plan.execute(arguments, workspace); });
  }
  std::function<void()> execute_of(const HistogramPlan& plan) {
    const HistogramArguments arguments{image(), View(out_->data(), Type::u32, plan.tensor_shape()).in(there())};
    return execute_of(plan, [=](Workspace& workspace) { plan.execute(arguments, workspace); });
  }
  std::function<void()> execute_of(const ScanPlan& plan) {
    const ConstView line = image();
    const View sums = View(out_->data(), race_.types.table, shape()).in(there());
    return execute_of(plan, [=](Workspace& workspace) { plan.execute(line, sums, workspace); });
  }
  std::function<void()> execute_of(const Plan& plan, const std::function<void(Workspace&)>& execute) {
    const auto workspace = std::make_shared<DeviceWorkspace>(plan, stream_);
    return [=] { execute(workspace->get()); };
  }

  /// `make` returns a plan that reports its launches, or does not.
  template <class Make>
  Contestant planned(const Make& make) {
    const auto plan = make(LaunchReport());
    workspaces_ += plan.workspace_bytes();
    Contestant c;
    c.algorithm = plan.algorithm();
    c.run = execute_of(plan);
    c.telling = [=, this](const LaunchReport& on_launch) { return execute_of(make(on_launch)); };
    c.poison = [this] { check(cudaMemsetAsync(out_->data(), 0xa5, out_bytes_, stream_)); };
    c.verify = [this, name = plan.algorithm()] {
      require_right(name, out_->data(), race_.bins != 0 ? Type::u32 : race_.types.table, planes(), values_, stream_);
    };
    return c;
  }

  Contestant table(const CudaRacer& racer) {
    return planned([=, this](const LaunchReport& on_launch) {
      return research::sat_plan(shape(), race_.types.input,
                                {.border = Border::none, .types = race_.types, .algorithm = racer.algorithm},
                                {.r = racer.r, .scan = racer.scan, .on_launch = on_launch}, execution());
    });
  }

  Contestant tensor(const CudaRacer& racer) {
    return planned([=, this](const LaunchReport& on_launch) {
      return research::histogram_plan(
          shape(), Type::u8, Binning::uniform(race_.bins, 0, 256), {.algorithm = racer.algorithm},
          {.tile = racer.tile, .tile_threads = racer.tile_threads, .on_launch = on_launch}, execution());
    });
  }

  /// Runs the contestant; an error names its algorithm.
  template <class Do>
  static auto named(const Contestant& c, const Do& run) {
    try {
      return run();
    } catch (const Wrong&) {
      throw;
    } catch (const std::exception& e) {
      throw Error(c.algorithm + ": " + e.what());
    }
  }

  Contestant line(const CudaRacer& racer) {
    return planned([=, this](const LaunchReport& on_launch) {
      return ScanPlan(race_.width, race_.types,
                      {.algorithm = racer.algorithm, .group = racer.group, .on_launch = on_launch}, execution());
    });
  }

  /// Times contestants in turns with the floor, and frees their memory. Slow ones have separate rounds, so that the
  /// others complete theirs.
  void measure(const std::vector<std::function<void()>>& least, std::vector<Contestant>& contestants) {
    std::vector<int> rounds;
    std::vector<std::size_t> quick;
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const auto first = named(contestants[i], [&] { return time_shuffled({contestants[i].run}, 1, stream_, 0); });
      rounds.push_back(rounds_of(first[0][0], race_.repetitions));
      if (rounds[i] == race_.repetitions) quick.push_back(i);
    }
    std::vector<std::vector<double>> times(contestants.size()), beside(contestants.size());
    const auto in_turns = [&](const std::vector<std::size_t>& those, int n, int before) {
      std::vector<std::function<void()>> turns = least;
      for (const std::size_t i : those) turns.push_back(contestants[i].run);
      auto all = time_shuffled(turns, n, stream_, before);
      for (std::size_t k = 0; k < those.size(); ++k) {
        times[those[k]] = std::move(all[least.size() + k]);
        beside[those[k]] = fastest(all, least.size());
      }
      if (floor_.empty()) floor_ = fastest(all, least.size());
    };
    if (!quick.empty()) in_turns(quick, race_.repetitions, 2);
    for (std::size_t i = 0; i < contestants.size(); ++i)
      if (rounds[i] != race_.repetitions) named(contestants[i], [&] { in_turns({i}, rounds[i], 0); });
    int most_threads = 0;
    check(cudaDeviceGetAttribute(&most_threads, cudaDevAttrMaxThreadsPerMultiProcessor, race_.device));
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      Contestant& c = contestants[i];
      std::vector<CudaLaunchTimes> launches;
      try {  // the timed result is the one that is checked
        named(c, [&] {
          c.poison();
          run_profiled(c.run, stream_);
          c.verify();
        });
        c.run = {};  // frees its workspace: the plan that reports launches has its own
        if (race_.launches && c.telling)
          launches = named(c, [&] { return launch_times(c, rounds[i], most_threads, stream_); });
        race_.done(c.racer, c.algorithm, times[i], beside[i], launches);
      } catch (const Wrong& e) {
        race_.wrong(c.racer, e.what());
      }
    }
    contestants.clear();
    workspaces_ = 0;
  }

  const CudaRace& race_;
  const OwnedStream owned_;
  cudaStream_t const stream_;
  Values values_ = Values::bytes;
  std::shared_ptr<Memory> image_, out_;
  std::size_t out_bytes_ = 0, workspaces_ = 0;
  std::vector<double> floor_;
};

}  // namespace

void run_race(const CudaRace& race) {
  check(cudaSetDevice(race.device));
  std::unique_ptr<Course> course;
  try {
    course = std::make_unique<Course>(race);
  } catch (const Unavailable& e) {
    for (std::size_t i = 0; i < race.racers.size(); ++i) race.refused(i, e.what());
    return;
  } catch (const OutOfMemory& e) {
    require_alive("the image", e);
    for (std::size_t i = 0; i < race.racers.size(); ++i) race.refused(i, std::string("image and result: ") + e.what());
    return;
  }
  course->run();
}

void run_link(const CudaLink& link) {
  check(cudaSetDevice(link.device));
  const OwnedStream owned = new_stream();
  cudaStream_t const stream = owned.get();
  const std::size_t bytes = std::max(link.up_bytes, link.down_bytes);
  const Memory device(bytes);
  void* pinned = nullptr;
  check(cudaMallocHost(&pinned, std::max<std::size_t>(bytes, 1)));
  const std::unique_ptr<void, void (*)(void*)> host(pinned, [](void* p) { cudaFreeHost(p); });
  std::memset(host.get(), 1, bytes);
  const auto times = time_shuffled(
      {[&] { check(cudaMemcpyAsync(device.data(), host.get(), link.up_bytes, cudaMemcpyHostToDevice, stream)); },
       [&] { check(cudaMemcpyAsync(host.get(), device.data(), link.down_bytes, cudaMemcpyDeviceToHost, stream)); }},
      link.repetitions, stream);
  link.done(times[0], times[1]);
}

}  // namespace areal::bench
