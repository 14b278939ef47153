// FragmentTrackers on a GPU: the CPU's boxes, bit for bit; steps that are queued behind the tensor's kernel, and a
// captured step. All is skipped without a GPU.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <areal/array.hpp>
#include <areal/info.hpp>
#include <functional>
#include <memory>
#include "cuda/device.hpp"
#include "device_track_cases.hpp"

namespace areal {
namespace {

using namespace device_track_cases;

#define REQUIRE_CUDA(call) ASSERT_EQ((call), cudaSuccess) << cudaGetErrorString(cudaGetLastError())

/// Copies in device memory.
class Bed {
 public:
  static constexpr MemoryPlace memory{MemoryPlace::cuda, 0};

  template <class T>
  Span<const T> in(const std::vector<T>& values) {
    return {static_cast<const T*>(twin(values.data(), values.size() * sizeof(T))), values.size(), memory};
  }
  template <class T>
  Span<T> out(std::vector<T>& values) {
    const std::size_t bytes = values.size() * sizeof(T);
    void *const host = values.data(), *const device = twin(host, bytes);
    copies_.push_back([=, this] { cuda::copy_out(host, device, bytes, stream_.get()); });
    return {static_cast<T*>(device), values.size(), memory};
  }
  void back() {
    for (const auto& copy : copies_) copy();
    stream_.synchronize();
  }

 private:
  void* twin(const void* host, std::size_t bytes) {
    memory_.push_back(std::make_unique<cuda::Memory>(bytes));
    cuda::copy_in(memory_.back()->data(), host, bytes, stream_.get());
    return memory_.back()->data();
  }
  std::vector<std::unique_ptr<cuda::Memory>> memory_;
  std::vector<std::function<void()>> copies_;
  cuda::OwnedStream stream_;

 public:
  Execution on{.backend = Backend::cuda, .stream = stream_.get()};
};

class CudaTrack : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
  }
};

TEST_F(CudaTrack, AChangedCountIsSeen) { a_changed_count_is_seen<Bed>(); }
TEST_F(CudaTrack, BoxesAreTheCpus) {
  boxes_are_the_cpus<Bed, std::uint32_t>({16, 1, 5, 256});
  boxes_are_the_cpus<Bed, std::uint16_t>({16, 7});
  boxes_are_the_cpus<Bed, std::uint64_t>({16, 7});
  boxes_are_the_cpus<Bed, float>({16, 7});
  boxes_are_the_cpus<Bed, double>({16, 7});
}
TEST_F(CudaTrack, EveryRadius) { every_radius<Bed>(); }
TEST_F(CudaTrack, BoxesAtTheEdges) { boxes_at_the_edges<Bed>(); }
TEST_F(CudaTrack, EveryOption) { every_option<Bed>(); }
TEST_F(CudaTrack, TiesAreBrokenAlike) { ties_are_broken_alike<Bed>(); }
TEST_F(CudaTrack, PixelsInNoBin) { pixels_in_no_bin<Bed>(); }
TEST_F(CudaTrack, TensorsOfAnything) { tensors_of_anything<Bed>(); }
TEST_F(CudaTrack, TensorsAtAnyAddress) { tensors_at_any_address<Bed>(); }
TEST_F(CudaTrack, WrongUseIsRefused) { wrong_use_is_refused<Bed>(); }

TEST_F(CudaTrack, AnotherMemoryOrStreamIsRefused) {
  const auto frames = frames_of<std::uint32_t>({.frames = 1}, Border::none);
  Bed bed;
  const std::vector<Region> boxes{{0, 0, 20, 20}};
  FragmentTrackers on_device({.backend = Backend::cuda}), on_stream({.stream = Stream::host()});
  EXPECT_EQ(test::sentence_of<InvalidArgument>([&] { on_device.start(frames.host(0), boxes); }),
            "tensor: is in host memory, which backend cuda does not read");
  EXPECT_EQ(test::sentence_of<InvalidArgument>([&] { on_stream.start(frames.there(bed, 0), boxes); }),
            "stream: Stream::host(), but the tensor is in memory of CUDA device 0");
  FragmentTrackers anywhere;  // where the tensor is; done when a call returns
  anywhere.start(frames.there(bed, 0), boxes);
  EXPECT_EQ(anywhere.boxes().memory(), Bed::memory);
  std::vector<TrackedBox> row(1);
  EXPECT_EQ(test::sentence_of<InvalidArgument>([&] { anywhere.step(frames.there(bed, 0), row); }),
            "into: is in host memory, the boxes are in memory of CUDA device 0");
}

/// 16 boxes at 1080p: frames whose tensors are computed on the stream, each followed by its step, the next frame's
/// tensor in the same memory, and a row of boxes a frame; nothing waits. The CPU follows the same frames.
TEST_F(CudaTrack, StepsAreQueuedBehindTheTensors) {
  const Scene scene{.width = 1920, .height = 1080, .seed = 21, .frames = 6, .dx = 4, .dy = 3};
  const Shape shape{scene.width, scene.height};
  const Binning binning = Binning::of_type(Type::u8, 16);
  std::vector<Region> boxes;
  for (std::int64_t i = 0; i < 16; ++i) boxes.push_back({i % 4 * 460, i / 4 * 250, 12 + i * 20, 10 + i * 16});
  cuda::OwnedStream stream;
  const Execution on{.backend = Backend::cuda, .stream = stream.get()};
  const HistogramPlan plan(shape, Type::u8, binning, {}, on);
  cuda::Memory memory(std::max<std::size_t>(1, plan.workspace_bytes())), rows(scene.frames * 16 * sizeof(TrackedBox));
  Workspace workspace(plan, {static_cast<std::byte*>(memory.data()), plan.workspace_bytes(), plan.memory()},
                      stream.get());
  HistogramTensor tensor = plan.allocate();
  std::vector<DeviceArray> images;
  std::deque<std::vector<std::uint8_t>> pictures;
  for (std::size_t frame = 0; frame < scene.frames; ++frame) {
    pictures.push_back(picture(scene, frame));
    images.push_back(DeviceArray::copy_of(ConstView(pictures.back().data(), scene.width, scene.height), on));
  }
  FragmentTrackers trackers(on);
  for (std::size_t frame = 0; frame < scene.frames; ++frame) {
    plan.execute(images[frame].view(), tensor, workspace);
    if (frame == 0)
      trackers.start(tensor, boxes);
    else
      trackers.step(tensor, {static_cast<TrackedBox*>(rows.data()) + frame * 16, 16, plan.memory()});
  }
  const std::vector<TrackedBox> last = trackers.fetch();
  std::vector<TrackedBox> got(scene.frames * 16);
  cuda::copy_out(got.data(), rows.data(), got.size() * sizeof(TrackedBox), stream.get());
  stream.synchronize();
  std::deque<FragmentTracker> on_cpu(16);
  std::size_t wrong = 0, moved = 0;
  for (std::size_t frame = 0; frame < scene.frames; ++frame) {
    const HistogramTensor host = integral_histogram(ConstView(pictures[frame].data(), scene.width, scene.height),
                                                    binning, {}, {.backend = Backend::cpu});
    for (std::size_t i = 0; i < 16; ++i) {
      if (frame == 0) {
        on_cpu[i].start(host, boxes[i]);
        continue;
      }
      const Region before = on_cpu[i].box().region();
      const TrackedBox want = on_cpu[i].step(host);
      moved += before != want.region();
      wrong += numbers(got[frame * 16 + i]) != numbers(want);
      if (frame + 1 == scene.frames) wrong += numbers(last[i]) != numbers(want);
    }
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(moved, 40u);
}

/// A replay is a step: the box on the device moves on.
TEST_F(CudaTrack, AGraphIsReplayed) {
  const auto frames = frames_of<std::uint32_t>({.seed = 23, .frames = 2}, Border::none);
  Bed bed;
  FragmentTrackers trackers(bed.on, {.radius = 2});
  const std::vector<Region> boxes = some_boxes();
  trackers.start(frames.there(bed, 0), boxes);
  const TensorView second = frames.there(bed, 1);
  auto* const stream = static_cast<cudaStream_t>(bed.on.stream->handle());
  std::vector<TrackedBox> row(boxes.size());
  const auto row_there = bed.out(row);
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  REQUIRE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  trackers.step(second, row_there);
  REQUIRE_CUDA(cudaStreamEndCapture(stream, &graph));
  REQUIRE_CUDA(cudaGraphInstantiate(&replay, graph, 0));
  EXPECT_EQ(trackers.fetch()[0].region(), boxes[0]);  // nothing has run
  for (int i = 0; i < 4; ++i) REQUIRE_CUDA(cudaGraphLaunch(replay, stream));
  const std::vector<TrackedBox> got = trackers.fetch();
  bed.back();
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    FragmentTracker tracker({.radius = 2});
    tracker.start(frames.host(0), boxes[i]);
    for (int step = 0; step < 4; ++step) tracker.step(frames.host(1));
    EXPECT_EQ(numbers(got[i]), numbers(tracker.box())) << i;
    EXPECT_EQ(numbers(row[i]), numbers(tracker.box())) << i;
  }
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
}

}  // namespace
}  // namespace areal
