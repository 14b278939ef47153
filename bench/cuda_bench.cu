// The GPU's half of `areal bench`: device memory, events, and the floors as plain kernels. A plug-in of its own, so
// that the command needs no CUDA.
#include <cuda_runtime.h>
#include <algorithm>
#include <areal/device_region.hpp>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/sat.hpp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include "areal/bench/cuda_bench.hpp"

namespace areal::bench {
namespace {

void check(cudaError_t answer) {
  if (answer != cudaSuccess) throw Error(cudaGetErrorString(answer));
}

class Memory {
 public:
  explicit Memory(std::size_t bytes) { check(cudaMalloc(&data_, std::max<std::size_t>(bytes, 1))); }
  ~Memory() { cudaFree(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

// Some pixels to as many entries a thread: one store of 16 bytes, or several. `once` says that neither is wanted again
// (ld.cs, st.cs).
template <class In, class T, int each, bool once>
__global__ void widen(const In* in, T* out, std::int64_t n) {
  const std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * each;
  if (i >= n) return;
  struct alignas(sizeof(In) * each) Pixels {
    In at[each];
  };
  static constexpr int a_store = 16 / sizeof(T);
  struct alignas(16) Entries {
    T at[a_store];
  };
  const Pixels pixels = *reinterpret_cast<const Pixels*>(in + i);
#pragma unroll
  for (int from = 0; from < each; from += a_store) {
    Entries entries;
#pragma unroll
    for (int k = 0; k < a_store; ++k) entries.at[k] = static_cast<T>(pixels.at[from + k]);
    if constexpr (once)
      __stcs(reinterpret_cast<int4*>(out + i + from), *reinterpret_cast<const int4*>(&entries));
    else
      *reinterpret_cast<Entries*>(out + i + from) = entries;
  }
}
template <bool once>
__global__ void copy(const int4* in, int4* out, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if constexpr (once)
    __stcs(out + i, __ldcs(in + i));
  else
    out[i] = in[i];
}

/// The floors of a lane: all of them; the fastest counts. Multiples of four elements.
std::vector<std::function<void(cudaStream_t)>> floors(Lane lane, const void* in, void* out, std::int64_t n) {
  std::vector<std::function<void(cudaStream_t)>> all;
  if (size_of(lane.input) == size_of(lane.table)) {
    const auto bytes = static_cast<std::size_t>(n) * size_of(lane.table);
    const auto words = static_cast<std::int64_t>(bytes / 16);
    const auto blocks = static_cast<unsigned>((words + 255) / 256);
    all.push_back([=](cudaStream_t s) { cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, s); });
    all.push_back([=](cudaStream_t s) {
      copy<false><<<blocks, 256, 0, s>>>(static_cast<const int4*>(in), static_cast<int4*>(out), words);
    });
    all.push_back([=](cudaStream_t s) {
      copy<true><<<blocks, 256, 0, s>>>(static_cast<const int4*>(in), static_cast<int4*>(out), words);
    });
    return all;
  }
  const auto add = [&](auto input, auto table) {
    using In = decltype(input);
    using T = decltype(table);
    const auto kernel = [&](auto run, int each) {
      const auto blocks = static_cast<unsigned>((n / each + 255) / 256);
      all.push_back(
          [=](cudaStream_t s) { run<<<blocks, 256, 0, s>>>(static_cast<const In*>(in), static_cast<T*>(out), n); });
    };
    kernel(widen<In, T, 4, false>, 4);
    kernel(widen<In, T, 4, true>, 4);
    if constexpr (sizeof(T) == 8) {
      kernel(widen<In, T, 2, false>, 2);
      kernel(widen<In, T, 2, true>, 2);
    }
  };
  // By sizes: how the bits convert does not change the traffic.
  const auto to = [&](auto input) {
    if (lane.table == Type::f32)
      add(input, float{});
    else if (lane.table == Type::f64)
      add(input, double{});
    else if (size_of(lane.table) == 4)
      add(input, std::uint32_t{});
    else
      add(input, std::uint64_t{});
  };
  if (size_of(lane.input) == 1)
    to(std::uint8_t{});
  else if (size_of(lane.input) == 2)
    to(std::uint16_t{});
  else
    to(std::uint32_t{});
  return all;
}

// The floors of regions: the same loads, with nothing checked. A table of 32u with border zero, row_entries wide.
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

class Event {
 public:
  Event() { check(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Microseconds of each between two events, in turns.
std::vector<std::vector<double>> time_all(const std::vector<std::function<void()>>& contestants, int repetitions,
                                          cudaStream_t stream) {
  const Event begin, end;
  std::vector<std::vector<double>> times(contestants.size());
  for (int round = -2; round < repetitions; ++round)
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      check(cudaEventRecord(begin.get(), stream));
      contestants[i]();
      check(cudaEventRecord(end.get(), stream));
      check(cudaEventSynchronize(end.get()));
      check(cudaGetLastError());
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin.get(), end.get()));
      if (round >= 0) times[i].push_back(1000.0 * ms);
    }
  return times;
}

using OwnedStream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, void (*)(cudaStream_t)>;
OwnedStream new_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return {stream, [](cudaStream_t s) { cudaStreamDestroy(s); }};
}

void run(const CudaHistogram& c) {
  check(cudaSetDevice(c.device));
  const OwnedStream owned = new_stream();
  cudaStream_t const stream = owned.get();
  const Shape shape{c.width, c.height, 1, c.batch};
  HistogramOptions options;
  options.backend = Backend::cuda;
  options.device = c.device;
  const HistogramPlan plan(shape, Type::u8, Binning::uniform(c.bins, 0, 256), options);
  const std::uint64_t bytes = plan.tensor_bytes();
  const auto in_bytes = static_cast<std::size_t>(c.width * c.height * c.batch);
  const Memory image(in_bytes), tensor(bytes), workspace(plan.workspace_bytes());
  check(cudaMemcpy(image.data(), c.image, in_bytes, cudaMemcpyHostToDevice));
  plan.prepare(workspace.data(), Stream::cuda(stream));
  const auto times = time_all(
      {[&] { cudaMemsetAsync(tensor.data(), 0, bytes, stream); },
       [&] {
         plan.execute({ConstView(image.data(), Type::u8, shape), View(tensor.data(), Type::u32, plan.tensor_shape())},
                      workspace.data(), Stream::cuda(stream));
       }},
      c.repetitions, stream);
  check(cudaStreamSynchronize(stream));
  c.floor(times[0]);
  c.done(plan.algorithm(), times[1], [&](std::int64_t bin, std::int64_t x, std::int64_t y, std::int64_t n) {
    std::uint32_t value = 0;
    const auto* const first = static_cast<const std::uint32_t*>(tensor.data());
    check(cudaMemcpy(&value, first + ((n * c.bins + bin) * c.height + y) * c.width + x, sizeof value,
                     cudaMemcpyDeviceToHost));
    return value;
  });
}

void run(const CudaRegions& c) {
  check(cudaSetDevice(c.device));
  const OwnedStream owned = new_stream();
  cudaStream_t const stream = owned.get();
  const Place on{Backend::cuda, c.device, Stream::cuda(stream)};
  const Shape shape{c.width, c.height};
  const auto in_bytes = static_cast<std::size_t>(c.width * c.height);
  const Memory image(in_bytes), regions_there(c.regions.size_bytes()), answers_there(c.answers.size_bytes());
  check(cudaMemcpy(image.data(), c.image, in_bytes, cudaMemcpyHostToDevice));
  check(cudaMemcpy(regions_there.data(), c.regions.data(), c.regions.size_bytes(), cudaMemcpyHostToDevice));
  const auto* const first = static_cast<const Region*>(regions_there.data());
  const std::span<const Region> regions(first, c.regions.size());
  auto* const out = static_cast<std::uint64_t*>(answers_there.data());
  const std::span<std::uint64_t> answers(out, c.answers.size());
  const auto n = static_cast<std::int64_t>(regions.size()), threads = static_cast<std::int64_t>(answers.size());
  const auto blocks = static_cast<unsigned>((threads + 255) / 256);
  const ConstView pixels(image.data(), Type::u8, shape);

  // Plan, workspace, and the table or tensor that stays.
  const auto made = [&](const auto& plan, std::uint64_t bytes, const auto& arguments) {
    const Memory workspace(plan.workspace_bytes());
    auto memory = std::make_unique<Memory>(bytes);
    plan.prepare(workspace.data(), Stream::cuda(stream));
    plan.execute(arguments(memory->data()), workspace.data(), Stream::cuda(stream));
    check(cudaStreamSynchronize(stream));
    return memory;
  };
  const auto finish = [&](const std::function<void()>& floor, const std::function<void()>& ours) {
    const auto times = time_all({floor, ours}, c.repetitions, stream);
    check(cudaMemsetAsync(out, 0xa5, answers.size_bytes(), stream));
    ours();  // what was timed is what is checked
    check(cudaStreamSynchronize(stream));
    check(cudaMemcpy(c.answers.data(), out, answers.size_bytes(), cudaMemcpyDeviceToHost));
    c.done(times[0], times[1]);
  };
  if (c.bins == 0) {
    SatOptions options;
    options.backend = Backend::cuda, options.device = c.device;
    const SatPlan plan(shape, Lane{Type::u8, Type::u32}, options);
    const auto table = made(plan, plan.table_bytes(), [&](void* data) {
      return SatArguments{pixels, View(data, Type::u32, plan.table_shape())};
    });
    const auto* const entries = static_cast<const std::uint32_t*>(table->data());
    const TableView view{ConstView(table->data(), Type::u32, plan.table_shape()), Border::zero};
    finish([&] { gather<<<blocks, 256, 0, stream>>>(entries, c.width + 1, first, n, out); },
           [&] { region_sums(on, view, regions, answers); });
    return;
  }
  HistogramOptions options;
  options.backend = Backend::cuda, options.device = c.device;
  const HistogramPlan plan(shape, Type::u8, Binning::uniform(c.bins, 0, 256), options);
  const auto tensor = made(plan, plan.tensor_bytes(), [&](void* data) {
    return HistogramArguments{pixels, View(data, Type::u32, plan.tensor_shape())};
  });
  const auto* const entries = static_cast<const std::uint32_t*>(tensor->data());
  const TensorView view{ConstView(tensor->data(), Type::u32, plan.tensor_shape()), Border::none};
  finish(
      [&] {
        gather_bins<<<blocks, 256, 0, stream>>>(entries, c.width, c.height, static_cast<int>(c.bins), first, n, out);
      },
      [&] { region_histograms(on, view, regions, answers); });
}

void run(const CudaSat& c) {
  check(cudaSetDevice(c.device));
  const Shape shape{c.width, c.height, 1, c.batch};
  const Lane lane = c.lane;
  const OwnedStream owned = new_stream();
  cudaStream_t const stream = owned.get();

  struct Prepared {
    SatPlan plan;
    std::unique_ptr<Memory> workspace;
  };
  std::vector<Prepared> prepared;
  for (const std::string& id : c.algorithms) {
    SatOptions options;
    options.backend = Backend::cuda;
    options.device = c.device;
    options.border = c.border;
    options.algorithm = id;
    SatPlan plan(shape, lane, options);
    auto workspace = std::make_unique<Memory>(plan.workspace_bytes());
    plan.prepare(workspace->data(), Stream::cuda(stream));
    prepared.push_back({std::move(plan), std::move(workspace)});
  }
  const Shape table_shape = prepared.at(0).plan.table_shape();
  const std::int64_t elements = c.width * c.height * c.batch;
  const auto in_bytes = static_cast<std::size_t>(elements) * size_of(lane.input);
  const auto out_bytes =
      static_cast<std::size_t>(table_shape.width * table_shape.height * c.batch) * size_of(lane.table);
  const Memory image(in_bytes), table(out_bytes);
  check(cudaMemcpy(image.data(), c.image, in_bytes, cudaMemcpyHostToDevice));

  std::vector<std::function<void()>> contestants;
  const auto all = floors(lane, image.data(), table.data(), elements / 4 * 4);
  for (const auto& floor : all) contestants.push_back([&floor, stream] { floor(stream); });
  for (const Prepared& p : prepared)
    contestants.push_back([&p, &image, &table, &shape, &table_shape, stream, lane] {
      p.plan.execute({ConstView(image.data(), lane.input, shape), View(table.data(), lane.table, table_shape)},
                     p.workspace->data(), Stream::cuda(stream));
    });
  const auto times = time_all(contestants, c.repetitions, stream);
  const auto median = [](const std::vector<double>& t) {
    std::vector<double> sorted(t);
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
    return sorted[sorted.size() / 2];
  };
  const auto fastest = std::min_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(all.size()),
                                        [&](const auto& a, const auto& b) { return median(a) < median(b); });
  c.floor(*fastest);
  // What was timed is what is checked.
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    check(cudaMemsetAsync(table.data(), 0xa5, out_bytes, stream));
    contestants[all.size() + i]();
    check(cudaStreamSynchronize(stream));
    check(cudaMemcpy(c.table, table.data(), out_bytes, cudaMemcpyDeviceToHost));
    c.done(prepared[i].plan.algorithm(), times[all.size() + i]);
  }
}

}  // namespace
}  // namespace areal::bench

namespace {
/// Exceptions do not cross: the sentence of one, cut to fit, else an empty text.
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
extern "C" void areal_cuda_bench_histogram(const areal::bench::CudaHistogram* what, char* error, std::size_t size) {
  run_for(*what, error, size);
}
