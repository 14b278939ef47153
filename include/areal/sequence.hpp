#pragma once
/// \file sequence.hpp Sequences of frames: histograms of regions of every frame, computed by several workers and
/// answered in order.

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

/// What computes frames: threads of the CPU, a CUDA device, or the simulated machine.
struct Worker {
  Backend backend = Backend::cpu;  ///< not automatic
  int device = 0;                  ///< number of the CUDA device
  int threads = 0;                 ///< of the CPU; 0: all
  friend bool operator==(const Worker&, const Worker&) = default;
};
/// "cpu", "cpu:8", "cuda:0", "simt".
std::string name_of(const Worker& worker);
/// Parses the same texts, a bare number for a CUDA device, or "all": every CUDA device, or the CPU if there is none;
/// several separated by commas. Throws InvalidArgument for any other text, and for a worker named twice.
std::vector<Worker> workers_named(std::string_view text);

/// One frame of a sequence.
struct Frame {
  int stream = 0;           ///< which of the source's streams, counted from 0
  std::int64_t number = 0;  ///< within its stream
  double seconds = 0;       ///< presentation time
  /// Preset to the slot's own memory. A source with the pixels elsewhere, in host memory or on a device, sets this view
  /// to them and `keep` to their owner until the frame is answered.
  ConstView pixels;
  std::shared_ptr<const void> keep;
  /// For 8u pixels: a table of 256 values that the bytes stand for, or null if they stand for themselves. Frames share
  /// a few tables; a table lives as long as `keep`.
  const std::uint8_t* levels = nullptr;
};

/// The answer to one frame. Valid during the call.
struct FrameAnswer {
  const Frame& frame;
  std::span<const Region> regions;        ///< after clipping
  std::span<const std::uint64_t> counts;  ///< regions x bins
  std::optional<TensorView> tensor;       ///< in host memory, if SequenceOptions::tensors is set
  int worker = 0;                         ///< index of the worker that computed it
};

/// Fills `buffer` (host memory of the sequence's shape and type, page-locked if a worker is a CUDA device), or points
/// frame.pixels elsewhere; sets stream, number and seconds. Returns false at the end. Called by the thread that called
/// `run`.
using FrameSource = std::function<bool(const View& buffer, Frame& frame)>;
/// Appends the frame's regions to an empty vector. Called by the same thread, after the source.
using FrameRegions = std::function<void(const Frame& frame, std::vector<Region>& regions)>;
/// Called by one thread, in the order of the source. Returns false to end the sequence.
using FrameSink = std::function<bool(const FrameAnswer& answer)>;

/// What happens to a new frame if every slot is in use.
enum class WhenFull : std::uint8_t {
  wait,        ///< the source waits: files
  drop_oldest  ///< drops the oldest frame that waits for a worker or for the sink: cameras
};

/// One measured stage of a frame.
struct StageTime {
  enum Stage : std::uint8_t { read, upload, compute, download, sink };
  Stage stage;
  int stream;
  std::int64_t number;
  int worker, lane;   ///< of upload, compute and download; otherwise -1
  double begin, end;  ///< seconds since `run` began
};
std::string_view name_of(StageTime::Stage stage) noexcept;

/// Progress of a run.
struct SequenceProgress {
  std::int64_t produced = 0, answered = 0, dropped = 0;  ///< frames
  StageTime::Stage slowest = StageTime::read;            ///< so far
};

struct SequenceOptions {
  std::vector<Worker> workers = {};  ///< empty: one, all threads of the CPU
  int slots = 4;                     ///< frames in flight; each slot's buffers are allocated once
  WhenFull when_full = WhenFull::wait;
  Outside outside = Outside::error;  ///< for regions that reach outside the frame
  bool tensors = false;              ///< also pass each frame's tensor to the sink
  Border border = Border::none;      ///< of the tensor
  /// Bytes of device memory that a worker may use; 0: nine tenths of the free memory. Tensors that are larger are
  /// computed in groups of bins, one after the other.
  std::uint64_t device_bytes = 0;
  bool timeline = false;  ///< report the times of all stages
  /// Called with one sentence for the user when a worker is lost. Called from any thread, one at a time.
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
  /// By StageTime::Stage, of all frames. Without a timeline a GPU's stages are estimated from some of its frames.
  double stage_seconds[5] = {};
  int lanes = 1;  ///< frames that all workers together process at once
  std::vector<OfWorker> workers;
  std::vector<StageTime> timeline;
  /// The busiest stage; workers' stages are divided by the lanes.
  StageTime::Stage slowest() const noexcept;
};

/// Histograms of regions of the frames of one or several streams, all of one shape and type. All buffers are allocated
/// before the first frame; frames do not wait for their predecessors. The pixels of a frame's regions are counted, or,
/// if the regions are many, a compact store answers them (histogram_store.hpp). Tensors are computed on request.
class HistogramSequence {
 public:
  /// Frames of that shape (batch 1; as many channels as the binning reads) and type. Throws InvalidArgument for invalid
  /// arguments, Unavailable for a missing worker, OutOfMemory if the slots do not fit.
  HistogramSequence(const Shape& frame, Type type, const Binning& binning, SequenceOptions options = {});
  ~HistogramSequence();
  HistogramSequence(HistogramSequence&&) noexcept;
  HistogramSequence& operator=(HistogramSequence&&) noexcept;

  /// Runs until the source or the sink ends the sequence, and returns when every frame is answered. Counts are exact on
  /// every worker. An exception of the source, the regions or the sink, or a worker's second one for the same frame,
  /// ends the run and is rethrown; unless it is the sink's, the frames before are answered first. The other workers
  /// take over the frames of a lost one. Throws DeviceError if none is left. CUDA 13 loses all devices of a process
  /// together. May run again.
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
