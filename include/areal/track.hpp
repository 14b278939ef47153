#pragma once
/// \file track.hpp Trackers: a box followed from frame to frame by histograms of what it holds.

#include <areal/binning.hpp>
#include <areal/execution.hpp>
#include <areal/histogram_tensor.hpp>
#include <areal/region.hpp>
#include <areal/span.hpp>
#include <areal/table.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace areal {

/// Where a tracker has found its box: the left and top edge and the extents in pixels, with fractions, since scales
/// multiply. In whole pixels it lies inside the image.
struct TrackedBox {
  double x = 0, y = 0, width = 0, height = 0;
  double distance = 0;  ///< from what the box held in the first frame; see the tracker for its scale

  /// The same in whole pixels: left, top and extents are rounded, halves up.
  Region region() const noexcept;
};

/// How the trackers that search do it.
struct TrackerOptions {
  std::int64_t radius = 7;  ///< how far the box may move between two frames, in pixels along each axis; 0 to 4096
  /// The factors by which width and height may change between two frames: 0.5 to 2, 1 among them.
  std::vector<double> scales = {0.95, 1, 1.05};
  double scale_cost = 0.05;  ///< the distance of a changed scale counts this much more; not negative
  double quantile = 0.25;    ///< of the fragments' distances, their vote; above 0, up to 1
};

/// One frame: its integral histogram, or the image itself, or both. Trackers say what they read.
struct TrackerFrame {
  std::optional<TensorView> tensor = {};
  ConstView image = {};

  TrackerFrame(const TensorView& tensor_, const ConstView& image_ = {})  // NOLINT: implicit on purpose
      : tensor(tensor_), image(image_) {}
  TrackerFrame(const HistogramTensor& tensor_, const ConstView& image_ = {})  // NOLINT: implicit on purpose
      : tensor(TensorView(tensor_)), image(image_) {}
  TrackerFrame(const ConstView& image_) : image(image_) {}  // NOLINT: implicit on purpose
};

/// A tracker of one box. It remembers what the box held in the first frame, which it compares with every later one.
/// Boxes stay inside the image: a place where the box would reach outside is not looked at. Of places that are equally
/// good the tracker takes the one without a change of scale, then the nearest, then the uppermost, then the leftmost.
/// The same frames give the same boxes. A step allocates nothing.
class Tracker {
 public:
  virtual ~Tracker();
  /// Begins with a box of this frame. Throws InvalidArgument for a box that reaches outside the image or is smaller
  /// than the tracker can work with, for a frame that lacks what the tracker reads, and for a frame that is not in
  /// host memory.
  virtual void start(const TrackerFrame& frame, const Region& box) = 0;
  /// Finds the box in the next frame. Throws InvalidArgument before `start`, for a frame of another size or number of
  /// bins than the first, and as `start`.
  virtual TrackedBox step(const TrackerFrame& frame) = 0;
  /// Where the box was found last. O(1).
  virtual TrackedBox box() const = 0;
  virtual bool reads_tensor() const noexcept = 0;
  virtual bool reads_image() const noexcept = 0;
};

/// The tracker of Adam, Rivlin and Shimshoni 2006, "Robust fragments-based tracking using the integral histogram".
/// 40 fragments cover the box twice: a tenth of its width by half its height, and half its width by a tenth of its
/// height. Each fragment votes on every place within the radius by the earth mover's distance between its histogram
/// there and in the first frame (Distance::emd, in bins); the place's distance is the quantile of the votes, so
/// that fragments that are hidden do not count. Ours beside the paper: the scales. Boxes have at least 10 x 10 pixels,
/// also when they shrink. Reads the tensor: any number of bins, any element type, border `zero` or `none`.
/// A step is O(places * fragments * bins), the places being (2 radius + 1)^2 for each scale.
class FragmentTracker final : public Tracker {
 public:
  static constexpr int fragments = 40;
  static constexpr std::int64_t least_side = 10;  ///< of a box

  /// Throws InvalidArgument for options that cannot be.
  explicit FragmentTracker(const TrackerOptions& options = {});
  ~FragmentTracker() override;

  void start(const TrackerFrame& frame, const Region& box) override;
  TrackedBox step(const TrackerFrame& frame) override;
  TrackedBox box() const override;
  bool reads_tensor() const noexcept override { return true; }
  bool reads_image() const noexcept override { return false; }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Boxes that are followed at once, each as by a FragmentTracker: the same boxes, bit for bit, whoever works. On CUDA a
/// step queues two launches and waits for nothing: the boxes stay on the device, where they are read when they are
/// wanted. For one call at a time.
class FragmentTrackers {
 public:
  /// The backend, device and stream of all steps. Without a stream a step on CUDA has ended when it returns, and runs
  /// on the legacy default stream. Backend::automatic is decided by `start`: CUDA for tensors in device memory.
  /// Throws InvalidArgument for options that cannot be.
  explicit FragmentTrackers(const Execution& execution = {}, const TrackerOptions& options = {});
  ~FragmentTrackers();
  FragmentTrackers(FragmentTrackers&&) noexcept;
  FragmentTrackers& operator=(FragmentTrackers&&) noexcept;

  /// Begins with boxes of this frame. The tensor lies where the backend works: in device memory for CUDA, else in host
  /// memory; border `zero` or `none`, any number of bins, any element type. Allocates, and on CUDA waits, all that
  /// steps need. Throws InvalidArgument as FragmentTracker::start, naming the box, for no box, for a stream of the
  /// other kind, and on a device for more than 2048 scales; Unavailable, OutOfMemory, DeviceError.
  void start(const TensorView& tensor, std::span<const Region> boxes);
  /// Finds the boxes in the next frame. Of them `into`, where given, gets a copy, in the memory that the tensor lies
  /// in: a row of an array of boxes by frame. Allocates nothing. A step of a CUDA stream is queued there, and may be
  /// captured in a CUDA graph: a replay is a step. Throws InvalidArgument as FragmentTracker::step, and where `into`
  /// has another size or memory.
  void step(const TensorView& tensor, Span<TrackedBox> into = {});

  std::size_t size() const noexcept;  ///< boxes; 0 before `start`
  /// Where the boxes lie, whose values are those of the last step that the stream has done. Until the next `start`.
  Span<const TrackedBox> boxes() const noexcept;
  /// The boxes, by their number, of the last step; waits for it. Throws InvalidArgument before `start`.
  std::vector<TrackedBox> fetch() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The names that `make_tracker` knows:
/// "fragments": FragmentTracker.
/// "window": one histogram of the whole box instead of the fragments' 40, otherwise the same.
/// "exhaustive" (Porikli 2005): that histogram at every place of the image, in one scale. O(W H bins) a step.
/// "mean-shift" (Comaniciu, Ramesh and Meer 2003): reads the image. The histogram is weighted by the Epanechnikov
/// kernel, the distance is sqrt(1 - the Bhattacharyya coefficient), 0 to 1. A step climbs to the best place nearby;
/// the scale follows a tenth of the way to the best of three, a tenth apart, unless `scales` is 1 alone. The box is
/// moved inside the image where the climb leaves it.
/// All but "fragments" take boxes of 2 x 2 pixels or more.
std::span<const std::string_view> tracker_names() noexcept;

/// A tracker by its name. `binning` is what the frames' tensors were made with; only trackers that read images use it.
/// Throws InvalidArgument for another name and for options that cannot be.
std::unique_ptr<Tracker> make_tracker(std::string_view name, const Binning& binning,
                                      const TrackerOptions& options = {});

}  // namespace areal
