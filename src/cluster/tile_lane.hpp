#pragma once
// What a lane of a worker has for parts of a tensor, one after the other, and keeps for the next call: the pixels, the
// tensor and the workspace where it computes, and on CUDA pinned buffers.

#include <areal/histogram.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>
#include "api/core/memory.hpp"
#include "cluster/tile_grid.hpp"
#include "cuda/device.hpp"

namespace areal::cluster {

/// The rows of an image, as the caller hands them out.
class TileReader {
 public:
  TileReader(const ImageRows& rows, const TiledSubject& subject) : rows_(rows), subject_(subject) {}
  /// Calls use(pixels) with the pixels of a tile; of the whole image they stay until the reader's end, otherwise until
  /// `use` returns. Throws what `rows` throws, and InvalidArgument for rows of another shape.
  void read(const Region& tile, const std::function<void(const ConstView& pixels)>& use);

 private:
  ConstView rows_of(const Region& tile) const;

  const ImageRows& rows_;
  const TiledSubject& subject_;
  std::mutex reading_;
  std::optional<ConstView> whole_;
};

class TileLane {
 public:
  /// The worker's device is current, here and in every call.
  TileLane(const TiledSubject& subject, const Worker& worker);

  bool on_cuda() const noexcept { return stream_.has_value(); }
  Stream stream() const noexcept { return stream_ ? stream_->get() : Stream::host(); }
  /// The pixels of a part's tile where the worker computes; queued. `call` is another one for each call: within one,
  /// pixels that are there already stay.
  ConstView bring(TileReader& reader, const Region& tile, std::uint64_t call);
  /// The part's tensor, where the worker computes; queued. The sums of a carry lie in host memory, without gaps.
  View compute(const TensorPart& part, const ConstView& pixels, Type counter, const Carry& carry);

  /// Pinned buffers, each with an event.
  struct Buffer {
    Memory memory = Memory::of_host(0, true);
    std::optional<cuda::Event> event;
    bool in_flight = false;

    char* data() const noexcept { return static_cast<char*>(memory.data()); }
    void queued(Stream stream) {
      event->record(stream);
      in_flight = true;
    }
    void wait() {
      if (in_flight) event->synchronize();
      in_flight = false;
    }
  };
  static constexpr int buffers = 3;
  Buffer& buffer(std::int64_t number, std::size_t bytes);

 private:
  void upload(const ConstView& pixels, char* to);
  ConstView carried(const ConstView& sums, Memory& memory);

  const TiledSubject& subject_;
  Worker worker_;
  std::optional<cuda::OwnedStream> stream_;
  Array room_;  // pixels of a tile in host memory
  Memory image_, tensor_, workspace_memory_, above_, left_;
  Buffer ring_[buffers];
  // Of the part before.
  std::optional<HistogramPlan> plan_;
  std::optional<Workspace> workspace_;
  std::int64_t width_ = -1, height_ = -1, first_bin_ = -1, bins_ = -1;
  Type counter_ = Type::u32;
  std::uint64_t call_ = 0;
  Region tile_{};
  ConstView pixels_;
};

/// Lanes that wait for the next call. Thread-safe.
class TileLanePool {
 public:
  /// A lane of that worker, the worker's device being current.
  std::unique_ptr<TileLane> take(const TiledSubject& subject, std::size_t worker);
  void give_back(std::size_t worker, std::unique_ptr<TileLane> lane);

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::unique_ptr<TileLane>>> waiting_;
};

}  // namespace areal::cluster
