// The GPU part of `areal bench`: times areal against floors (cuda_floors.hpp) and peers (device_peers.hpp). A separate
// plug-in, so that the command needs no CUDA.
#include <cuda_runtime.h>
#include <algorithm>
#include <areal/histogram.hpp>
#include <areal/region.hpp>
#include <areal/region_histogram.hpp>
#include <areal/sat.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include "bench/protocol/cuda_bench.hpp"
#include "cuda_boxes.hpp"
#include "cuda_device.hpp"
#include "cuda_filters.hpp"
#include "cuda_floors.hpp"
#include "cuda_queries.hpp"
#include "cuda_race.hpp"
#include "cuda_sweep.hpp"
#include "cuda_track.hpp"
#include "device_peers.hpp"
#include "profiled.cuh"

namespace areal::bench {
namespace {

// The floors of regions: the same loads, without checks. A table of 32u with border zero, row_entries wide.
__global__ void gather(const std::uint32_t* table, std::int64_t row_entries, const Region* regions, std::int64_t n,
                       std::uint64_t* out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Region r = regions[i];
  const std::uint32_t* const top = table + r.y * row_entries + r.x;
  const std::uint32_t* const bottom = top + r.height * row_entries;
  out[i] = bottom[r.width] - bottom[0] - top[r.width] + top[0];
}
// A tensor of 32u with border none, for regions that begin at (1, 1) or beyond.
__global__ void gather_bins(const std::uint32_t* tensor, std::int64_t width, std::int64_t height, int bins,
                            const Region* regions, std::int64_t n, std::uint64_t* out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n * bins) return;
  const auto region = static_cast<unsigned>(i) / static_cast<unsigned>(bins);
  const auto bin = static_cast<unsigned>(i) % static_cast<unsigned>(bins);
  const Region r = regions[region];
  const std::uint32_t* const top = tensor + bin * width * height + (r.y - 1) * width + r.x - 1;
  const std::uint32_t* const bottom = top + r.height * width;
  out[i] = bottom[r.width] - bottom[0] - top[r.width] + top[0];
}

Execution on(int device, cudaStream_t stream) {
  return {.backend = Backend::cuda, .device = device, .stream = Stream::cuda(stream)};
}

/// An entry of a tensor in device memory.
double entry(const void* tensor, Type type, std::int64_t i) {
  alignas(8) char bits[8] = {};
  const std::size_t size = size_of(type);
  check(cudaMemcpy(bits, static_cast<const char*>(tensor) + static_cast<std::size_t>(i) * size, size,
                   cudaMemcpyDeviceToHost));
  if (type == Type::f32) return *reinterpret_cast<const float*>(bits);
  return type == Type::u16 ? *reinterpret_cast<const std::uint16_t*>(bits)
                           : *reinterpret_cast<const std::uint32_t*>(bits);
}

void run(const CudaHistogram& c) {
  check(cudaSetDevice(c.device));
  const OwnedStream owned = new_stream();
  cudaStream_t const stream = owned.get();
  const Shape shape{c.width, c.height, 1, c.batch};
  const auto pixels = static_cast<std::size_t>(c.width * c.height * c.batch);
  const bool weighted = c.weights != nullptr;
  const std::uint64_t bytes = pixels * static_cast<std::uint64_t>(c.bins) * size_of(c.counter);
  const Memory image(pixels), weights(weighted ? pixels * sizeof(float) : 1), tensor(bytes);
  check(cudaMemcpy(image.data(), c.image, pixels, cudaMemcpyHostToDevice));
  if (weighted) check(cudaMemcpy(weights.data(), c.weights, pixels * sizeof(float), cudaMemcpyHostToDevice));

  struct Entrant {
    HistogramPlan plan;
    std::unique_ptr<DeviceWorkspace> workspace;
    HistogramArguments arguments;
    void execute() const { plan.execute(arguments, workspace->get()); }
  };
  std::vector<Entrant> entrants;
  for (std::size_t i = 0; i < c.algorithms.size(); ++i) try {
      const HistogramPlan plan(shape, Type::u8, Binning::uniform(c.bins, 0, 256),
                               {.counter = c.counter, .weighted = weighted, .algorithm = c.algorithms[i]},
                               on(c.device, stream));
      const MemoryPlace there = plan.memory();
      HistogramArguments arguments{ConstView(image.data(), Type::u8, shape).in(there),
                                   View(tensor.data(), c.counter, plan.tensor_shape()).in(there)};
      if (weighted) arguments.weights = ConstView(weights.data(), Type::f32, shape).in(there);
      entrants.push_back({plan, std::make_unique<DeviceWorkspace>(plan, stream), arguments});
    } catch (const std::exception& e) {
      c.refused(i, e.what());
    }
  std::vector<std::function<void()>> runs{[&] { cudaMemsetAsync(tensor.data(), 0, bytes, stream); }};
  for (const Entrant& e : entrants) runs.push_back([&e] { e.execute(); });
  const auto times = time_shuffled(runs, c.repetitions, stream);
  c.floor(times[0]);
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    check(cudaMemsetAsync(tensor.data(), 0xa5, bytes, stream));
    run_profiled([&] { entrants[i].execute(); }, stream);
    check(cudaStreamSynchronize(stream));
    c.done(entrants[i].workspace->get().algorithm(), times[i + 1],
           [&](std::int64_t bin, std::int64_t x, std::int64_t y, std::int64_t n) {
             return entry(tensor.data(), c.counter, ((n * c.bins + bin) * c.height + y) * c.width + x);
           });
  }
}

void run(const CudaRegions& c) {
  check(cudaSetDevice(c.device));
  const OwnedStream owned = new_stream();
  cudaStream_t const stream = owned.get();
  const Execution execution = on(c.device, stream);
  const MemoryPlace there{MemoryPlace::cuda, c.device};
  const Shape shape{c.width, c.height};
  const auto in_bytes = static_cast<std::size_t>(c.width * c.height);
  const Memory image(in_bytes), regions_there(c.regions.size_bytes()), answers_there(c.answers.size_bytes());
  check(cudaMemcpy(image.data(), c.image, in_bytes, cudaMemcpyHostToDevice));
  check(cudaMemcpy(regions_there.data(), c.regions.data(), c.regions.size_bytes(), cudaMemcpyHostToDevice));
  const auto* const first = static_cast<const Region*>(regions_there.data());
  const Span<const Region> regions(first, c.regions.size(), there);
  auto* const out = static_cast<std::uint64_t*>(answers_there.data());
  const Span<std::uint64_t> answers(out, c.answers.size(), there);
  const auto n = static_cast<std::int64_t>(regions.size()), threads = static_cast<std::int64_t>(answers.size());
  const auto blocks = static_cast<unsigned>((threads + 255) / 256);
  const ConstView pixels = ConstView(image.data(), Type::u8, shape).in(there);

  const auto finish = [&](const std::function<void()>& floor, const std::function<void()>& ours) {
    const auto times = time_shuffled({floor, ours}, c.repetitions, stream);
    check(cudaMemsetAsync(out, 0xa5, answers.size_bytes(), stream));
    run_profiled(ours, stream);  // the timed result is the one that is checked
    check(cudaMemcpy(c.answers.data(), out, answers.size_bytes(), cudaMemcpyDeviceToHost));
    c.done(times[0], times[1]);
  };
  if (c.bins == 0) {
    const SatTable table = sat(pixels, {.types = type_pair("8u32u")}, execution);
    const SatView view = table.view();
    const auto* const entries = static_cast<const std::uint32_t*>(table.sum().data);
    finish([&] { gather<<<blocks, 256, 0, stream>>>(entries, c.width + 1, first, n, out); },
           [&] { region_sums(view, regions, answers, {.execution = execution}); });
    return;
  }
  const HistogramTensor tensor = integral_histogram(pixels, Binning::uniform(c.bins, 0, 256), {}, execution);
  const TensorView view = tensor.view();
  const auto* const entries = static_cast<const std::uint32_t*>(tensor.tensor().data);
  finish(
      [&] {
        gather_bins<<<blocks, 256, 0, stream>>>(entries, c.width, c.height, static_cast<int>(c.bins), first, n, out);
      },
      [&] { region_histograms(view, regions, answers, {.execution = execution}); });
}

using Contestants = std::vector<std::function<void()>>;

/// Other libraries, each of which ran once.
std::vector<DevicePeer> peers_of(const CudaSat& c, std::optional<Type> squares_type, const void* image,
                                 cudaStream_t stream) {
  const Scene scene{c.types, squares_type, c.width, c.height, image, c.device, stream};
  std::vector<DevicePeer> peers;
  for (const auto make : {npp_integral, cub_scan}) try {
      std::string missing;
      std::optional<DevicePeer> peer = make(scene, missing);
      if (!peer) {
        c.note(missing);
        continue;
      }
      peer->run();
      check(cudaStreamSynchronize(stream));
      peers.push_back(std::move(*peer));
    } catch (const std::exception& e) {
      c.note(std::string("a peer of ") + name_of(c.types) + " failed: " + e.what());
    }
  return peers;
}

/// Hands over the peer's times and its table. A table of another layout has another floor.
void finish(const CudaSat& c, const DevicePeer& peer, const std::vector<double>& times,
            const std::vector<double>& floor) {
  const int more = peer.border == Border::zero ? 1 : 0;
  const auto entries = peer.whole ? static_cast<std::size_t>((c.width + more) * (c.height + more)) : 1;
  std::vector<unsigned char> table(entries * size_of(c.types.table)),
      squares(peer.squares ? entries * size_of(*peer.squares) : 0);
  peer.fetch(table.data(), squares.data());
  c.peer({peer.name, times, peer.border != c.border ? std::vector<double>() : floor, peer.border, peer.squares,
          peer.whole, table.data(), squares.data()});
}

void run(const CudaSat& c) {
  check(cudaSetDevice(c.device));
  const Shape shape{c.width, c.height, 1, c.batch};
  const TypePair types = c.types;
  const OwnedStream owned = new_stream();
  cudaStream_t const stream = owned.get();

  struct Prepared {
    SatPlan plan;
    std::unique_ptr<DeviceWorkspace> workspace;
  };
  std::vector<Prepared> prepared;
  for (const std::string& id : c.algorithms) {
    const SatPlan plan(shape, types.input, {.border = c.border, .types = types, .algorithm = id, .squares = c.squares},
                       on(c.device, stream));
    prepared.push_back({plan, std::make_unique<DeviceWorkspace>(plan, stream)});
  }
  const SatPlan& first = prepared.at(0).plan;
  const Shape table_shape = first.table_shape();
  const std::optional<Type> squares_type = first.squares_type();
  const auto in_bytes = static_cast<std::size_t>(c.width * c.height * c.batch) * size_of(types.input);
  const auto entries = static_cast<std::size_t>(table_shape.width * table_shape.height * c.batch);
  const std::size_t out_bytes = entries * size_of(types.table),
                    squares_bytes = squares_type ? entries * size_of(*squares_type) : 0;
  const Memory image(in_bytes), table(out_bytes), squares(squares_bytes);
  check(cudaMemcpy(image.data(), c.image, in_bytes, cudaMemcpyHostToDevice));

  Contestants least;
  for (auto& floor :
       floors({types, squares_type, c.border, c.width, c.height, c.batch, image.data(), table.data(), squares.data()}))
    least.push_back([floor, stream] { floor(stream); });
  Contestants contestants = least;
  SatArguments arguments{ConstView(image.data(), types.input, shape).in(first.memory()),
                         View(table.data(), types.table, table_shape).in(first.memory())};
  if (squares_type) arguments.squares = View(squares.data(), *squares_type, table_shape).in(first.memory());
  for (const Prepared& p : prepared) contestants.push_back([&] { p.plan.execute(arguments, p.workspace->get()); });
  const std::vector<DevicePeer> peers =
      c.peers ? peers_of(c, squares_type, image.data(), stream) : std::vector<DevicePeer>();
  for (const DevicePeer& peer : peers) contestants.push_back(peer.run);
  const auto times = time_shuffled(contestants, c.repetitions, stream);
  const std::vector<double> floor = fastest(times, least.size());
  c.floor(floor);
  // The timed result is the one that is checked.
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    check(cudaMemsetAsync(table.data(), 0xa5, out_bytes, stream));
    check(cudaMemsetAsync(squares.data(), 0xa5, squares_bytes, stream));
    contestants[least.size() + i]();
    check(cudaStreamSynchronize(stream));
    check(cudaMemcpy(c.table, table.data(), out_bytes, cudaMemcpyDeviceToHost));
    if (squares_type) check(cudaMemcpy(c.squares_table, squares.data(), squares_bytes, cudaMemcpyDeviceToHost));
    c.done(prepared[i].workspace->get().algorithm(), times[least.size() + i]);
  }
  for (std::size_t i = 0; i < peers.size(); ++i) finish(c, peers[i], times[least.size() + prepared.size() + i], floor);
}

void run(const CudaRace& race) { run_race(race); }
void run(const CudaSweep& sweep) { run_sweep(sweep); }
void run(const CudaQueries& queries) { run_queries(queries); }
void run(const CudaBoxes& boxes) { run_boxes(boxes); }
void run(const CudaMedians& medians) { run_medians(medians); }
void run(const CudaFilters& filters) { run_filters(filters); }
void run(const CudaTrack& track) { run_track(track); }
void run(const CudaLink& link) { run_link(link); }

}  // namespace
}  // namespace areal::bench

namespace {
/// Exceptions do not cross: returns the text of one, cut to fit, else an empty text.
template <class What>
void run_for(const What& what, char* error, std::size_t size) {
  std::string text;
  try {
    areal::bench::run(what);
  } catch (const std::exception& e) {
    text = e.what();
  }
  std::strncpy(error, text.c_str(), size - 1);
  error[size - 1] = 0;
}
}  // namespace

extern "C" void areal_cuda_bench_sat(const areal::bench::CudaSat* what, char* error, std::size_t size) {
  run_for(*what, error, size);
}
extern "C" void areal_cuda_bench_regions(const areal::bench::CudaRegions* what, char* error, std::size_t size) {
  run_for(*what, error, size);
}
extern "C" void areal_cuda_bench_queries(const areal::bench::CudaQueries* what, char* error, std::size_t size) {
  run_for(*what, error, size);
}
extern "C" void areal_cuda_bench_boxes(const areal::bench::CudaBoxes* what, char* error, std::size_t size) {
  run_for(*what, error, size);
}
extern "C" void areal_cuda_bench_medians(const areal::bench::CudaMedians* what, char* error, std::size_t size) {
  run_for(*what, error, size);
}
extern "C" void areal_cuda_bench_histogram(const areal::bench::CudaHistogram* what, char* error, std::size_t size) {
  run_for(*what, error, size);
}
extern "C" void areal_cuda_bench_race(const areal::bench::CudaRace* what, char* error, std::size_t size) {
  run_for(*what, error, size);
}
extern "C" void areal_cuda_bench_sweep(const areal::bench::CudaSweep* what, char* error, std::size_t size) {
  run_for(*what, error, size);
}
extern "C" void areal_cuda_bench_filters(const areal::bench::CudaFilters* what, char* error, std::size_t size) {
  run_for(*what, error, size);
}
extern "C" void areal_cuda_bench_track(const areal::bench::CudaTrack* what, char* error, std::size_t size) {
  run_for(*what, error, size);
}
extern "C" void areal_cuda_bench_link(const areal::bench::CudaLink* what, char* error, std::size_t size) {
  run_for(*what, error, size);
}
