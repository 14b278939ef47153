#pragma once
// What a lane of a worker has for tiles, one after another, and keeps for the next run: inputs, outputs, carries and
// steps where it computes. On CUDA it has a stream, and page-locked buffers through which outputs leave in chunks.

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>
#include "api/core/memory.hpp"
#include "cuda/device.hpp"
#include "pieces/core/edge_carries.hpp"
#include "pieces/tiles/tile_job.hpp"

namespace areal::pieces {

/// A tile's pixels in host memory: those of one run stay where a lane has them.
struct TilePixels {
  std::uint64_t run;
  std::int64_t tile;
  std::vector<ConstView> inputs;
};

/// The worker's device is current, here and in every call.
class TileLane {
 public:
  explicit TileLane(const Worker& worker);

  bool on_cuda() const noexcept { return stream_.has_value(); }
  Stream stream() const noexcept { return stream_ ? stream_->get() : Stream::host(); }

  /// The part's outputs, where the worker computes; queued. Its carries are blocks of a CarryLayout in host memory, or
  /// null, which stay until the part is finished.
  const std::vector<ConstView>& compute(const TileJob& job, const Part& part, const TilePixels& pixels,
                                        void* above = nullptr, void* left = nullptr);
  /// The last row and column of those outputs. Waits for them.
  Edges edges(const Part& part, void* left, bool has_below, bool has_right);

  /// Chunks leave one after another, the next `buffers` - 1 on their way.
  static constexpr std::int64_t buffers = 3;
  /// Queues the copy of views of outputs to host memory.
  void fetch(std::int64_t chunk, const std::vector<ConstView>& from);
  /// Waits for them. On the host, where nothing is copied, they are what they were.
  std::vector<ConstView> fetched(std::int64_t chunk, const std::vector<ConstView>& from);

 private:
  struct Buffer {
    Memory memory = Memory::of_host(0, true);
    std::optional<cuda::Event> event;
    std::vector<ConstView> views;
    bool in_flight = false;

    void wait();
  };
  void* on_worker(void* host, std::size_t bytes, Memory& memory) const;
  Step& step_for(const TileJob& job, const Part& part);
  void grow(std::vector<Memory>& memories, std::size_t n, std::size_t bytes);

  Worker worker_;
  MemoryPlace place_;
  std::optional<cuda::OwnedStream> stream_;
  std::optional<cuda::Event> handed_on_;
  std::vector<Memory> inputs_, output_memory_;
  Memory above_, left_;  // carries, on a device
  Memory edge_row_ = Memory::of_host(0, true), edge_column_ = Memory::of_host(0, true);
  std::array<Buffer, buffers> ring_;
  std::vector<ConstView> outputs_;
  // Of the part before.
  const TileJob* job_ = nullptr;
  std::int64_t group_ = -1;
  std::unique_ptr<const Work> work_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<Step>> steps_;  // by extent: at most four
  std::uint64_t run_ = 0;
  std::int64_t tile_ = -1;
  std::vector<ConstView> pixels_;
};

}  // namespace areal::pieces
