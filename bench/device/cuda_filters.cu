#include "cuda_filters.hpp"

#include <cuda_runtime.h>
#include <algorithm>
#include <areal/filter.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>
#include "cuda_device.hpp"
#include "device_peers.hpp"
#include "profiled.cuh"

namespace areal::bench {
namespace {

__global__ void copy_vectors(const uint4* from, uint4* to, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) __stcs(to + i, __ldcs(from + i));
}

/// Microseconds of each contestant, one execute between two events, in rounds of a random order.
std::vector<std::vector<double>> time_shuffled(const std::vector<std::function<void()>>& contestants, int rounds,
                                               cudaStream_t stream) {
  const Event begin, end;
  std::vector<std::vector<double>> times(contestants.size());
  std::vector<std::size_t> order(contestants.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937 random(7);
  for (int round = -2; round < rounds; ++round) {
    std::ranges::shuffle(order, random);
    for (const std::size_t i : order) {
      check(cudaEventRecord(begin.get(), stream));
      contestants[i]();
      check(cudaEventRecord(end.get(), stream));
      check(cudaEventSynchronize(end.get()));
      check(cudaGetLastError());
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin.get(), end.get()));
      if (round >= 0) times[i].push_back(1000.0 * ms);
    }
  }
  return times;
}

}  // namespace

void run_filters(const CudaFilters& c) {
  check(cudaSetDevice(c.device));
  const OwnedStream owned = new_stream();
  cudaStream_t const stream = owned.get();
  const auto pixels = static_cast<std::size_t>(c.width * c.height);
  const Memory image(pixels), out(pixels);
  check(cudaMemcpy(image.data(), c.image, pixels, cudaMemcpyHostToDevice));
  const MemoryPlace place{MemoryPlace::cuda, c.device};
  const Shape shape{c.width, c.height};
  const FilterArguments arguments{ConstView(image.data(), Type::u8, shape).in(place),
                                  View(out.data(), Type::u8, shape).in(place)};
  struct Entrant {
    FilterPlan plan;
    std::unique_ptr<DeviceWorkspace> workspace;
  };
  std::vector<Entrant> entrants;
  const auto vectors = static_cast<std::int64_t>(pixels / 16);
  std::vector<std::function<void()>> contestants{
      [&] { check(cudaMemcpyAsync(out.data(), image.data(), pixels, cudaMemcpyDeviceToDevice, stream)); },
      [&] {
        copy_vectors<<<static_cast<unsigned>((vectors + 255) / 256), 256, 0, stream>>>(
            static_cast<const uint4*>(image.data()), static_cast<uint4*>(out.data()), vectors);
      }};
  for (const std::int64_t side : c.sides) {
    FilterPlan plan(shape, Type::u8, Type::u8, filter::Mean{},
                    {.window = {.width = side, .height = side, .edge = Edge::reflect}},
                    {.backend = Backend::cuda, .device = c.device, .stream = Stream::cuda(stream)});
    auto workspace = std::make_unique<DeviceWorkspace>(plan, stream);
    entrants.push_back({std::move(plan), std::move(workspace)});
  }
  for (Entrant& one : entrants)
    contestants.push_back([&arguments, &one] { one.plan.execute(arguments, one.workspace->get()); });
  const auto times = time_shuffled(contestants, c.repetitions, stream);
  const std::vector<double>& copy = fastest(times, 2);
  const auto tell = [&](const std::string& algorithm, std::size_t i, const std::vector<double>& taken, bool peer) {
    c.done(algorithm, c.sides[i], taken, copy, peer);
  };
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    check(cudaMemsetAsync(out.data(), 0xa5, pixels, stream));
    run_profiled(contestants[i + 2], stream);
    check(cudaMemcpy(c.means.data(), out.data(), pixels, cudaMemcpyDeviceToHost));
    tell(entrants[i].plan.algorithm(), i, times[i + 2], false);
  }
  if (!c.peers) return;
  for (std::size_t i = 0; i < c.sides.size(); ++i) {
    const std::int64_t side = c.sides[i];
    // It reads each window's pixels, some 10^13 a second.
    if (static_cast<double>(pixels) * static_cast<double>(side * side) > 2e12) continue;
    std::string missing;
    const std::optional<DevicePeer> peer =
        npp_box({{}, {}, c.width, c.height, image.data(), c.device, stream}, side, missing);
    if (!peer) return c.note(missing);
    const auto taken = time_shuffled({peer->run}, std::min(c.repetitions, 5), stream);
    peer->fetch(c.means.data(), nullptr);
    tell(peer->name, i, taken[0], true);
  }
}

}  // namespace areal::bench
