// Trackers on a GPU: the tensor of a frame and a step, against the tensor and only the step's loads.
#include <cuda_runtime.h>
#include <areal/histogram.hpp>
#include <cstdint>
#include "cuda_device.hpp"
#include "cuda_track.hpp"

namespace areal::bench {
namespace {

constexpr int bins = 16, radius = 7, side = 2 * radius + 1, scales = 3, lanes = 16, edges = 11;
constexpr int threads = 2 * edges * lanes;

// A block per box, scale and row of places; a thread per place and edge of the tenths. The thread loads the three
// points on the edges of the halves, for each bin. 32u, border none.
__global__ void __launch_bounds__(threads)
    load_points(const std::uint32_t* tensor, int width, std::int64_t plane, const Region* boxes, std::uint32_t* out) {
  const int row = static_cast<int>(blockIdx.x) % side, scale = static_cast<int>(blockIdx.x) / side % scales;
  const Region box = boxes[blockIdx.x / (side * scales)];
  const int place = static_cast<int>(threadIdx.x) % lanes, line = static_cast<int>(threadIdx.x) / lanes;
  const bool is_line = line >= edges;
  const int edge = is_line ? line - edges : line;
  const float factor = scale == 0 ? 1.0f : scale == 1 ? 0.95f : 1.05f;
  const float w = static_cast<float>(box.width) * factor, h = static_cast<float>(box.height) * factor;
  const float x0 = static_cast<float>(box.x) + (static_cast<float>(box.width) - w) / 2;
  const float y0 = static_cast<float>(box.y) + (static_cast<float>(box.height) - h) / 2;
  if (place >= side) return;
  std::int64_t at[3];
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const float along = static_cast<float>(edge) / (edges - 1), across = static_cast<float>(k) / 2;
    const int x = static_cast<int>(x0 + w * (is_line ? across : along)) + place - radius - 1;
    const int y = static_cast<int>(y0 + h * (is_line ? along : across)) + row - radius - 1;
    at[k] = static_cast<std::int64_t>(y) * width + x;
  }
  std::uint32_t sum = 0;
#pragma unroll
  for (int bin = 0; bin < bins; ++bin)
#pragma unroll
    for (int k = 0; k < 3; ++k) sum += tensor[bin * plane + at[k]];
  out[static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x] = sum;
}

}  // namespace

void run_track(const CudaTrack& c) {
  check(cudaSetDevice(c.device));
  const OwnedStream owned = new_stream();
  cudaStream_t const stream = owned.get();
  const Execution on{.backend = Backend::cuda, .device = c.device, .stream = Stream::cuda(stream)};
  const Shape shape{c.width, c.height};
  const HistogramPlan plan(shape, Type::u8, Binning::of_type(Type::u8, bins), {}, on);
  DeviceWorkspace workspace(plan, stream);
  const auto image_bytes = static_cast<std::size_t>(c.width * c.height);
  const Memory image(image_bytes), memory(plan.tensor_bytes()), boxes_there(c.boxes.size_bytes());
  const HistogramArguments arguments{ConstView(image.data(), Type::u8, shape).in(plan.memory()),
                                     View(memory.data(), Type::u32, plan.tensor_shape()).in(plan.memory())};
  const TensorView tensor(arguments.tensor, Border::none);
  FragmentTrackers trackers(on);
  const std::size_t n = c.boxes.size();
  const Memory found(c.found.size_bytes());
  for (std::size_t frame = 0; frame < c.frames.size(); ++frame) {
    check(cudaMemcpyAsync(image.data(), c.frames[frame], image_bytes, cudaMemcpyHostToDevice, stream));
    plan.execute(arguments, workspace.get());
    if (frame == 0)
      trackers.start(tensor, c.boxes);
    else
      trackers.step(tensor, {static_cast<TrackedBox*>(found.data()) + (frame - 1) * n, n, plan.memory()});
  }
  check(cudaMemcpyAsync(c.found.data(), found.data(), c.found.size_bytes(), cudaMemcpyDeviceToHost, stream));
  check(cudaMemcpyAsync(boxes_there.data(), c.boxes.data(), c.boxes.size_bytes(), cudaMemcpyHostToDevice, stream));
  check(cudaStreamSynchronize(stream));
  const auto blocks = static_cast<unsigned>(n) * side * scales;
  const Memory sums(static_cast<std::size_t>(blocks) * threads * sizeof(std::uint32_t));
  const auto make_tensor = [&] { plan.execute(arguments, workspace.get()); };
  const auto times = time_shuffled({make_tensor,
                                    [&] {
                                      make_tensor();
                                      load_points<<<blocks, threads, 0, stream>>>(
                                          static_cast<const std::uint32_t*>(memory.data()), static_cast<int>(c.width),
                                          c.width * c.height, static_cast<const Region*>(boxes_there.data()),
                                          static_cast<std::uint32_t*>(sums.data()));
                                    },
                                    [&] {
                                      make_tensor();
                                      trackers.step(tensor);
                                    }},
                                   c.repetitions, stream);
  c.done(times[0], times[1], times[2]);
}

}  // namespace areal::bench
