#include "cuda_boxes.hpp"

#include <cuda_runtime.h>
#include <algorithm>
#include <areal/histogram.hpp>
#include <areal/histogram_store.hpp>
#include <areal/region_histogram.hpp>
#include <areal/region_quantile.hpp>
#include <cstdint>
#include <functional>
#include <vector>
#include "cuda_device.hpp"
#include "profiled.cuh"

namespace areal::bench {
namespace {

constexpr int parts = 8;  ///< blocks of a box

/// The floor: reads the aligned vectors of 16 bytes that hold the boxes' pixels.
__global__ void read_boxes(const std::uint8_t* image, std::int64_t width, const Region* boxes, std::uint32_t* never) {
  const Region box = boxes[blockIdx.x / parts];
  const std::int64_t rows = (box.height + parts - 1) / parts, first = blockIdx.x % parts * rows;
  const std::int64_t left = box.x & ~std::int64_t{15}, vectors = (box.x + box.width - left + 15) / 16;
  const std::int64_t n = (box.height - first < rows ? box.height - first : rows) * vectors;
  std::uint32_t sum = 0;
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const std::int64_t y = box.y + first + i / vectors, x = left + i % vectors * 16;
    const uint4 four = *reinterpret_cast<const uint4*>(image + y * width + x);
    sum += four.x ^ four.y ^ four.z ^ four.w;
  }
  if (sum == 0x9e3779b9u) *never = sum;  // keeps the loads
}

/// The floor of medians: a warp a box reads `sectors` of 32 bytes, each at random.
__global__ void read_sectors(const uint4* store, std::uint64_t count, int sectors, std::uint32_t* never) {
  std::uint64_t at = (std::uint64_t{blockIdx.x} * 32 + threadIdx.x) * 0x9e3779b97f4a7c15u;
  std::uint32_t sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < sectors; i += 32) {
    at = at * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t sector = (at >> 20) % count;
    const uint4 a = store[2 * sector], b = store[2 * sector + 1];
    sum += a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w;
  }
  if (sum == 0x9e3779b9u) *never = sum;  // keeps the loads
}

}  // namespace

void run_boxes(const CudaBoxes& c) {
  check(cudaSetDevice(c.device));
  const OwnedStream owned = new_stream();
  cudaStream_t const stream = owned.get();
  const Execution execution{.backend = Backend::cuda, .device = c.device, .stream = Stream::cuda(stream)};
  const MemoryPlace there{MemoryPlace::cuda, c.device};
  const Shape shape{c.width, c.height};
  const auto pixels = static_cast<std::size_t>(c.width * c.height);
  const Memory image(pixels + 16), boxes_there(c.boxes.size_bytes()), answers_there(c.answers.size_bytes());
  check(cudaMemcpy(image.data(), c.image, pixels, cudaMemcpyHostToDevice));
  check(cudaMemcpy(boxes_there.data(), c.boxes.data(), c.boxes.size_bytes(), cudaMemcpyHostToDevice));
  const Span<const Region> boxes(static_cast<const Region*>(boxes_there.data()), c.boxes.size(), there);
  const Span<std::uint64_t> answers(static_cast<std::uint64_t*>(answers_there.data()), c.answers.size(), there);
  const ConstView view = ConstView(image.data(), Type::u8, shape).in(there);
  const Binning binning = Binning::uniform(c.bins, 0, 256);

  const RegionHistogramPlan direct(shape, Type::u8, binning, static_cast<std::int64_t>(boxes.size()), {}, execution);
  DeviceWorkspace of_direct(direct, stream);
  const HistogramPlan whole(shape, Type::u8, binning, {}, execution);
  DeviceWorkspace of_whole(whole, stream);
  HistogramTensor tensor = whole.allocate();

  const std::function<void()> floor = [&] {
    read_boxes<<<static_cast<unsigned>(boxes.size()) * parts, 256, 0, stream>>>(
        static_cast<const std::uint8_t*>(image.data()), c.width, boxes.data(),
        static_cast<std::uint32_t*>(answers_there.data()));
  };
  const std::function<void()> from_pixels = [&] { direct.execute(view, boxes, answers, of_direct.get()); };
  const std::function<void()> from_tensor = [&] {
    whole.execute(view, tensor, of_whole.get());
    region_histograms(tensor.view(), boxes, answers, {.execution = execution});
  };
  const StorePlan compact(shape, Type::u8, binning, {.store = Store::compact}, execution);
  HistogramStore store = compact.build({view});
  const std::size_t store_bytes = store.bytes();
  const Memory as_large(store_bytes);
  const std::function<void()> build = [&] { compact.build({view}, store); };
  const std::function<void()> from_store = [&] { region_histograms(store, boxes, answers, {.execution = execution}); };
  const std::function<void()> from_new_store = [&] { build(), from_store(); };
  const std::function<void()> fill = [&] { check(cudaMemsetAsync(as_large.data(), 0, store_bytes, stream)); };

  const auto times =
      time_shuffled({floor, from_pixels, from_tensor, fill, build, from_store, from_new_store}, c.repetitions, stream);
  const auto finish = [&](const char* query, const std::function<void()>& ours, const std::vector<double>& taken,
                          const std::vector<double>& least) {
    check(cudaMemsetAsync(answers_there.data(), 0xa5, c.answers.size_bytes(), stream));
    run_profiled(ours, stream);  // the timed result is the one that is checked
    check(cudaMemcpy(c.answers.data(), answers_there.data(), c.answers.size_bytes(), cudaMemcpyDeviceToHost));
    c.done(query, taken, least);
  };
  finish(CudaBoxes::of_pixels, from_pixels, times[1], times[0]);
  finish(CudaBoxes::of_tensor, from_tensor, times[2], times[0]);
  finish(CudaBoxes::of_new_store, from_new_store, times[6], times[0]);
  finish("boxes of a compact store", from_store, times[5], times[0]);
  finish(CudaBoxes::build, from_new_store, times[4], times[3]);
}

void run_medians(const CudaMedians& c) {
  check(cudaSetDevice(c.device));
  const OwnedStream owned = new_stream();
  cudaStream_t const stream = owned.get();
  const Execution execution{.backend = Backend::cuda, .device = c.device, .stream = Stream::cuda(stream)};
  const MemoryPlace there{MemoryPlace::cuda, c.device};
  const auto bytes = static_cast<std::size_t>(c.width * c.height) * size_of(c.type);
  const Memory image(bytes), boxes_there(c.boxes.size_bytes()), answers_there(c.answers.size_bytes());
  check(cudaMemcpy(image.data(), c.image, bytes, cudaMemcpyHostToDevice));
  check(cudaMemcpy(boxes_there.data(), c.boxes.data(), c.boxes.size_bytes(), cudaMemcpyHostToDevice));
  const Span<const Region> boxes(static_cast<const Region*>(boxes_there.data()), c.boxes.size(), there);
  const Span<double> answers(static_cast<double*>(answers_there.data()), c.answers.size(), there);
  const ConstView view = ConstView(image.data(), c.type, {c.width, c.height}).in(there);

  const StorePlan plan({c.width, c.height}, c.type, {.store = Store::rank}, execution);
  HistogramStore store = plan.build({view});
  const std::size_t store_bytes = store.bytes();
  const Memory as_large(store_bytes);
  const std::vector<double> half{0.5};
  // A sector for each of 2 ends of 11 panels and each plane, as a box of an image of 4096 columns has on average.
  const int sectors = 2 * 11 * 8 * static_cast<int>(size_of(c.type));
  const std::function<void()> fill = [&] { check(cudaMemsetAsync(as_large.data(), 0, store_bytes, stream)); };
  const std::function<void()> gather = [&] {
    read_sectors<<<static_cast<unsigned>(boxes.size()), 32, 0, stream>>>(
        static_cast<const uint4*>(as_large.data()), store_bytes / 32, sectors,
        static_cast<std::uint32_t*>(answers_there.data()));
  };
  const std::function<void()> build = [&] { plan.build({view}, store); };
  const std::function<void()> from_store = [&] {
    region_quantiles(store, boxes, half, answers, QuantileMethod::linear, {.execution = execution});
  };
  const std::function<void()> from_new_store = [&] { build(), from_store(); };
  const auto times = time_shuffled({fill, gather, build, from_store, from_new_store}, c.repetitions, stream);
  const auto finish = [&](const char* query, const std::function<void()>& ours, const std::vector<double>& taken,
                          const std::vector<double>& least) {
    check(cudaMemsetAsync(answers_there.data(), 0xa5, c.answers.size_bytes(), stream));
    run_profiled(ours, stream);  // the timed result is the one that is checked
    check(cudaMemcpy(c.answers.data(), answers_there.data(), c.answers.size_bytes(), cudaMemcpyDeviceToHost));
    c.done(query, taken, least);
  };
  finish(CudaMedians::from_store, from_store, times[3], times[1]);
  finish("medians of a new rank store", from_new_store, times[4], times[0]);
  finish(CudaMedians::build, from_new_store, times[2], times[0]);
}

}  // namespace areal::bench
