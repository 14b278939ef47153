#include "cuda_filters.hpp"

#include <cuda_runtime.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/filter.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
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

}  // namespace

void run_filters(const CudaFilters& c) {
  check(cudaSetDevice(c.device));
  const OwnedStream owned = new_stream();
  cudaStream_t const stream = owned.get();
  const auto pixels = static_cast<std::size_t>(c.width * c.height);
  const auto bytes_of = [&](Type out) { return pixels * (size_of(c.in) + size_of(out)); };
  const Memory image(pixels * size_of(c.in));
  check(cudaMemcpy(image.data(), c.image, pixels * size_of(c.in), cudaMemcpyHostToDevice));
  const MemoryPlace place{MemoryPlace::cuda, c.device};
  const Shape shape{c.width, c.height};
  struct Entrant {
    const CudaFilterCase* of;
    FilterPlan plan;
    std::unique_ptr<DeviceWorkspace> workspace;
    std::size_t contestant = 0;
  };
  std::vector<Entrant> entrants;
  std::size_t out_bytes = 0, most_bytes = 0;
  for (const CudaFilterCase& one : c.cases) try {
      FilterPlan plan(shape, c.in, one.out, one.filter,
                      {.window = {.width = one.side, .height = one.side, .edge = Edge::reflect}},
                      {.backend = Backend::cuda, .device = c.device, .stream = Stream::cuda(stream)});
      auto workspace = std::make_unique<DeviceWorkspace>(plan, stream);
      entrants.push_back({&one, std::move(plan), std::move(workspace)});
      out_bytes = std::max(out_bytes, pixels * size_of(one.out));
      most_bytes = std::max(most_bytes, bytes_of(one.out));
    } catch (const InvalidArgument& e) {
      c.note(one.name + ": " + e.what());
    }
  const Memory out(out_bytes), from(most_bytes / 2), to(most_bytes / 2);
  check(cudaMemsetAsync(from.data(), 1, most_bytes / 2, stream));
  std::vector<std::function<void()>> contestants;
  std::map<std::size_t, std::size_t> copies;  // by the bytes that are read and written: the first of two contestants
  for (Entrant& one : entrants) {
    const std::size_t bytes = bytes_of(one.of->out) / 2;
    if (!copies.try_emplace(bytes, contestants.size()).second) continue;
    const auto vectors = static_cast<std::int64_t>(bytes / 16);
    contestants.push_back(
        [&, bytes] { check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream)); });
    contestants.push_back([&, vectors] {
      copy_vectors<<<static_cast<unsigned>((vectors + 255) / 256), 256, 0, stream>>>(
          static_cast<const uint4*>(from.data()), static_cast<uint4*>(to.data()), vectors);
    });
  }
  for (Entrant& one : entrants) {
    one.contestant = contestants.size();
    const FilterArguments arguments{ConstView(image.data(), c.in, shape).in(place),
                                    View(out.data(), one.of->out, shape).in(place)};
    contestants.push_back([arguments, &one] { one.plan.execute(arguments, one.workspace->get()); });
  }
  const auto times = time_shuffled(contestants, c.repetitions, stream);
  std::map<std::size_t, std::vector<double>> copy_times;
  for (const auto& [bytes, first] : copies) copy_times[bytes] = fastest({times[first], times[first + 1]}, 2);
  const auto copy_of = [&](Type written) -> const std::vector<double>& { return copy_times.at(bytes_of(written) / 2); };
  for (const Entrant& one : entrants) {
    check(cudaMemsetAsync(out.data(), 0xa5, out_bytes, stream));
    run_profiled(contestants[one.contestant], stream);
    check(cudaMemcpy(c.outputs, out.data(), pixels * size_of(one.of->out), cudaMemcpyDeviceToHost));
    c.done(std::string(one.plan.algorithm()), *one.of, times[one.contestant], copy_of(one.of->out), false);
  }
  if (!c.peers || c.in != Type::u8) return;
  for (const Entrant& one : entrants) {
    const std::int64_t side = one.of->side;
    // It reads each window's pixels, some 10^13 a second.
    if (!std::holds_alternative<filter::Mean>(one.of->filter) || one.of->out != Type::u8 ||
        static_cast<double>(pixels) * static_cast<double>(side * side) > 2e12)
      continue;
    std::string missing;
    const std::optional<DevicePeer> peer =
        npp_box({{}, {}, c.width, c.height, image.data(), c.device, stream}, side, missing);
    if (!peer) return c.note(missing);
    const auto taken = time_shuffled({peer->run}, std::min(c.repetitions, 5), stream);
    peer->fetch(c.outputs, nullptr);
    c.done(peer->name, *one.of, taken[0], copy_of(Type::u8), true);
  }
}

}  // namespace areal::bench
