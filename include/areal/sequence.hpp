#pragma once
/// \file sequence.hpp Sequences of frames: histograms of regions of every frame, by several workers at once, answered
/// in order.

#include <areal/binning.hpp>
#include <areal/execution.hpp>
#include <areal/histogram.hpp>
#include <areal/region.hpp>
#include <areal/table.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace areal {

/// What takes frames: threads of the CPU, a CUDA device, or the simulated machine.
struct Worker {
  Backend backend = Backend::cpu;  ///< not automatic
  int device = 0;                  ///< number of the CUDA device
  int threads = 0;                 ///< of the CPU; 0: all
  friend bool operator==(const Worker&, const Worker&) = default;
};
/// "cpu", "cpu:8", "cuda:0", "simt".
std::string name_of(const Worker& worker);
/// From the same texts, a bare number for a CUDA device, or "all": every CUDA device, or the CPU where there is none;
/// several separated by commas. Throws InvalidArgument for what is none of these, and for a worker named twice.
std::vector<Worker> workers_named(std::string_view text);

/// One frame on its way.
struct Frame {
  int stream = 0;           ///< which of the source's streams, counted from 0
  std::int64_t number = 0;  ///< in its stream
  double seconds = 0;       ///< presentation time
  /// Set before the source is called to the slot's own memory. A source that has the pixels elsewhere, in host memory
  /// or on a device, points at them instead, and `keep` owns them until the frame has been answered.
  ConstView pixels;
  std::shared_ptr<const void> keep;
  /// Of 8u pixels: the value that each byte stands for, 256 of them, or null where it is the byte itself. Frames share
  /// a few tables; a table lives as long as `keep`.
  const std::uint8_t* levels = nullptr;
};

/// What is known of a frame when it has been answered. Valid during the call.
struct FrameAnswer {
  const Frame& frame;
  std::span<const Region> regions;        ///< as clipped
  std::span<const std::uint64_t> counts;  ///< regions x bins
  std::optional<TensorView> tensor;       ///< in host memory, where SequenceOptions::tensors asks for it
  int worker = 0;                         ///< who answered it
};

/// Fills `room` (host memory of the sequence's shape and type, page-locked where a worker is a CUDA device), or points
/// frame.pixels elsewhere; sets stream, number and seconds. False at the end. Called by the thread that called `run`.
using FrameSource = std::function<bool(const View& room, Frame& frame)>;
/// Appends the frame's regions to an empty vector. Called by the same thread, after the source.
using FrameRegions = std::function<void(const Frame& frame, std::vector<Region>& regions)>;
/// Called by one thread, in the order of the source. False ends the sequence.
using FrameSink = std::function<bool(const FrameAnswer& answer)>;

/// What happens where a frame comes and every slot is in use.
enum class WhenFull : std::uint8_t {
  wait,        ///< the source waits: files
  drop_oldest  ///< the oldest frame that waits for a worker or for the sink is dropped: cameras
};

/// A stage of a frame's way, as it was measured.
struct StageTime {
  enum Stage : std::uint8_t { read, upload, compute, download, sink };
  Stage stage;
  int stream;
  std::int64_t number;
  int worker, lane;   ///< of upload, compute and download; otherwise -1
  double begin, end;  ///< seconds since `run` began
};
std::string_view name_of(StageTime::Stage stage) noexcept;

/// How far a run is.
struct SequenceProgress {
  std::int64_t produced = 0, answered = 0, dropped = 0;  ///< frames
  StageTime::Stage slowest = StageTime::read;            ///< so far
};

struct SequenceOptions {
  std::vector<Worker> workers = {};  ///< empty: one, all threads of the CPU
  int slots = 4;                     ///< frames on their way at once; each has its buffers, allocated once
  WhenFull when_full = WhenFull::wait;
  Outside outside = Outside::error;  ///< for regions that reach outside the frame
  bool tensors = false;              ///< hand each frame's tensor to the sink, too
  Border border = Border::none;      ///< of the tensor
  /// Bytes of its device that a worker may take; 0: nine tenths of what is free. A frame whose tensor takes more is
  /// done in groups of bins, one after the other.
  std::uint64_t device_bytes = 0;
  bool timeline = false;  ///< keep the times of all stages in the report
  /// One sentence that a user should read: a worker was lost. Called from any thread, one at a time.
  std::function<void(const std::string& sentence)> note = {};
  /// Called by the sink's thread after each answer.
  std::function<void(const SequenceProgress& so_far)> progress = {};
};

struct SequenceReport {
  struct OfWorker {
    std::string name;
    std::int64_t frames = 0;  ///< answered
    double busy_seconds = 0;
    std::string lost;  ///< why, or empty
  };
  std::int64_t produced = 0, answered = 0, dropped = 0;  ///< frames
  double seconds = 0;                                    ///< of the whole run
  double stage_seconds[5] = {};                          ///< by StageTime::Stage, of all frames
  int lanes = 1;                                         ///< frames that all workers together take at once
  std::vector<OfWorker> workers;
  std::vector<StageTime> timeline;
  /// The stage that was busiest, those of workers divided by the lanes.
  StageTime::Stage slowest() const noexcept;
};

/// Histograms of regions of the frames of one or several streams, all of one shape and type. Everything that a frame
/// needs is allocated before the first one comes; no frame waits for the one before it. Tensors are computed where that
/// is less work than streaming the rows that regions touch, or where they are asked for.
class HistogramSequence {
 public:
  /// Frames of that shape (batch 1; as many channels as the binning reads) and type. Throws InvalidArgument for what
  /// cannot be, Unavailable for a worker that is not there, OutOfMemory where the slots do not fit.
  HistogramSequence(const Shape& frame, Type type, const Binning& binning, SequenceOptions options = {});
  ~HistogramSequence();
  HistogramSequence(HistogramSequence&&) noexcept;
  HistogramSequence& operator=(HistogramSequence&&) noexcept;

  /// Runs until the source or the sink says that it is the end, and returns when every frame has been answered. Counts
  /// are exact, whoever works. What the source, the regions or the sink throw ends the run and is thrown again, as is
  /// what a worker throws twice for one frame; of those but the sink, the frames before are answered first. A worker
  /// that is lost gives its frames to the others; DeviceError where none is left. CUDA 13 loses all devices of a
  /// process together. May run again.
  SequenceReport run(const FrameSource& source, const FrameRegions& regions, const FrameSink& sink);

  const Shape& frame_shape() const noexcept;
  const Binning& binning() const noexcept;
  const SequenceOptions& options() const noexcept;
  std::uint64_t bytes() const noexcept;  ///< of all slots, in host memory

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace areal
