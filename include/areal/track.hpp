#pragma once
/// \file track.hpp Trackers: follow a box from frame to frame by the histograms of its content.

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

/// The box that a tracker found: left and top edge and extents in pixels, with fractions, since scales multiply.
/// Rounded to whole pixels it lies inside the image.
struct TrackedBox {
  double x = 0, y = 0, width = 0, height = 0;
  double distance = 0;  ///< from the box's content in the first frame; see the tracker for its scale

  /// The same in whole pixels: left, top and extents are rounded, halves up.
  Region region() const noexcept;
};

/// Options of the trackers that search.
struct TrackerOptions {
  std::int64_t radius = 7;  ///< how far the box may move between two frames, in pixels along each axis; 0 to 4096
  /// The factors by which width and height may change between two frames: 0.5 to 2, 1 among them.
  std::vector<double> scales = {0.95, 1, 1.05};
  double scale_cost = 0.05;  ///< a changed scale's distance is multiplied by 1 + this; not negative
  double quantile = 0.25;    ///< of the fragments' distances, their vote; above 0, up to 1
};

/// One frame: its integral histogram, the image itself, or both. Each tracker documents what it reads.
struct TrackerFrame {
  std::optional<TensorView> tensor = {};
  ConstView image = {};

  TrackerFrame(const TensorView& tensor_, const ConstView& image_ = {})  // NOLINT: implicit on purpose
      : tensor(tensor_), image(image_) {}
  TrackerFrame(const HistogramTensor& tensor_, const ConstView& image_ = {})  // NOLINT: implicit on purpose
      : tensor(TensorView(tensor_)), image(image_) {}
  TrackerFrame(const ConstView& image_) : image(image_) {}  // NOLINT: implicit on purpose
};

/// A tracker of one box. It compares the box's content in the first frame with every later frame. Boxes stay inside the
/// image: places where the box would reach outside are skipped. Of equally good places the tracker prefers the one
/// without a change of scale, then the nearest, then the uppermost, then the leftmost. The same frames give the same
/// boxes. A step does not allocate.
class Tracker {
 public:
  virtual ~Tracker();
  /// Starts with a box of this frame. Throws InvalidArgument for a box that reaches outside the image or is smaller
  /// than the tracker's minimum, for a frame without the tensor or image that the tracker reads, and for a frame
  /// outside host memory.
  virtual void start(const TrackerFrame& frame, const Region& box) = 0;
  /// Finds the box in the next frame. Throws InvalidArgument before `start`, for a frame of another size or number of
  /// bins than the first, and as `start`.
  virtual TrackedBox step(const TrackerFrame& frame) = 0;
  /// The box found last. O(1).
  virtual TrackedBox box() const = 0;
  virtual bool reads_tensor() const noexcept = 0;
  virtual bool reads_image() const noexcept = 0;
};

/// The tracker of Adam, Rivlin and Shimshoni 2006, "Robust fragments-based tracking using the integral histogram". 40
/// fragments cover the box twice: a tenth of its width by half its height, and half its width by a tenth of its height.
/// Each fragment votes on every place within the radius by the earth mover's distance between its histogram there and
/// in the first frame (Distance::emd, in bins); the place's distance is the quantile of the votes, so that hidden
/// fragments do not count. Scales are added to the paper's method. Boxes have at least 10 x 10 pixels, also when they
/// shrink. Reads the tensor: any number of bins, any element type, border `zero` or `none`. A step is O(places *
/// fragments * bins), the places being (2 radius + 1)^2 for each scale.
class FragmentTracker final : public Tracker {
 public:
  static constexpr int fragments = 40;
  static constexpr std::int64_t least_side = 10;  ///< of a box

  /// Throws InvalidArgument for invalid options.
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

/// Several boxes, each followed as by a FragmentTracker, with the same boxes, bit for bit, on every backend. On CUDA a
/// step queues two launches without waiting; the boxes stay on the device until they are read. For one call at a time.
class FragmentTrackers {
 public:
  /// The backend, device and stream of all steps. Without a stream a step on CUDA has ended when it returns, and runs
  /// on the legacy default stream. Backend::automatic is decided by `start`: CUDA for tensors in device memory.
  /// Throws InvalidArgument for options that cannot be.
  explicit FragmentTrackers(const Execution& execution = {}, const TrackerOptions& options = {});
  ~FragmentTrackers();
  FragmentTrackers(FragmentTrackers&&) noexcept;
  FragmentTrackers& operator=(FragmentTrackers&&) noexcept;

  /// Starts with boxes of this frame. The tensor lies in device memory for CUDA, else in host memory; border `zero` or
  /// `none`, any number of bins, any element type. Allocates, and on CUDA waits for, all that steps need.
  /// Throws InvalidArgument as FragmentTracker::start, naming the box, for no box, for a stream of the other kind, and
  /// on a device for more than 2048 scales; Unavailable, OutOfMemory, DeviceError.
  void start(const TensorView& tensor, std::span<const Region> boxes);
  /// Finds the boxes in the next frame, and copies them to `into`, if given, in the tensor's memory: for example a row
  /// of an array of boxes by frame. Does not allocate. A step on a CUDA stream is queued there, and may be captured in
  /// a CUDA graph: a replay is a step. Throws InvalidArgument as FragmentTracker::step, and if `into` has another size
  /// or memory.
  void step(const TensorView& tensor, Span<TrackedBox> into = {});

  std::size_t size() const noexcept;  ///< boxes; 0 before `start`
  /// The boxes of the last step that the stream has completed, in the backend's memory. Valid until the next `start`.
  Span<const TrackedBox> boxes() const noexcept;
  /// The boxes of the last step, in the order of `start`; waits for it. Throws InvalidArgument before `start`.
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
/// kernel, the distance is sqrt(1 - the Bhattacharyya coefficient), 0 to 1. A step climbs to the best place nearby; the
/// scale follows a tenth of the way to the best of three, a tenth apart, unless `scales` is 1 alone. The box is moved
/// back inside the image if the climb leaves it. All but "fragments" need boxes of at least 2 x 2 pixels.
std::span<const std::string_view> tracker_names() noexcept;

/// A tracker by name. `binning` is that of the frames' tensors; only trackers that read images use it.
/// Throws InvalidArgument for another name and for invalid options.
std::unique_ptr<Tracker> make_tracker(std::string_view name, const Binning& binning,
                                      const TrackerOptions& options = {});

}  // namespace areal
