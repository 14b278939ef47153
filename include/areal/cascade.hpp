#pragma once
/// \file cascade.hpp OpenCV's cascades of boosted Haar and LBP features: faces, eyes, number plates.

#include <areal/execution.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace areal {

/// What a cascade compares: sums of weighted rectangles, or local binary patterns of blocks.
enum class CascadeKind : std::uint8_t { haar, lbp };

std::string_view name_of(CascadeKind kind) noexcept;  ///< "haar", "lbp"

/// Columns and rows of a window or a box.
struct BoxSize {
  std::int64_t width = 0, height = 0;
  friend bool operator==(const BoxSize&, const BoxSize&) = default;
};

/// A trained detector in OpenCV's XML: `opencv-cascade-classifier` (Haar, tilted Haar and LBP features; stumps and
/// trees) and the older `opencv-haar-classifier`. Immutable: copies share it, and threads may use one at once.
class Cascade {
 public:
  struct State;  // of the library

  /// Reads an XML file of up to 64 MiB. Throws IoError for a file that cannot be read; what `parse` throws, with the
  /// file's name.
  static Cascade load(const std::string& path);
  /// Reads XML. Throws InvalidArgument for text that is no cascade, with what is wrong; Unavailable in a library built
  /// without pugixml.
  ///
  /// Numbers are read as doubles and rounded to floats, as OpenCV does. Refused are numbers that are not finite,
  /// features that leave the window, indices out of range, trees whose nodes do not come after their parents, stages
  /// without trees, cascades without stages, and Haar windows of more than 66,051 pixels, whose squares pass 32 bits.
  static Cascade parse(std::string_view text);

  BoxSize window() const noexcept;  ///< the size of the smallest objects
  CascadeKind kind() const noexcept;
  std::int64_t stages() const noexcept;
  std::int64_t features() const noexcept;
  bool has_tilted() const noexcept;  ///< some features are sums of rectangles at 45 degrees

  const State& state() const noexcept;  // of the library

 private:
  explicit Cascade(std::shared_ptr<const State> state) noexcept;
  std::shared_ptr<const State> state_;
};

/// A box, and how many windows agreed on it.
struct Detection {
  std::int64_t x = 0, y = 0, width = 0, height = 0;
  std::int64_t neighbors = 1;
  friend bool operator==(const Detection&, const Detection&) = default;
};

struct DetectOptions {
  double scale_factor = 1.1;       ///< between the sizes of windows, above 1
  std::int64_t min_neighbors = 3;  ///< boxes need more windows than this; 0: every window is a box
  BoxSize min_size = {};           ///< windows are at least so large; 0: any
  BoxSize max_size = {};           ///< windows are at most so large; 0 columns or rows: any
};

/// The objects in one 8-bit image of one channel in host memory: the boxes of OpenCV 4's
/// `CascadeClassifier::detectMultiScale`, exactly, for any number of threads.
///
/// The image shrinks by powers of `scale_factor`, by OpenCV's INTER_LINEAR_EXACT, and the window visits every column
/// and row of each size, every second one while the scale is below 2. Where the first stage refuses a position, the
/// next one of the row is not visited. Haar features are divided by the deviation of the window less a rim of one
/// pixel; windows whose deviation is at most 10 hold nothing. Sums are exact, from summed-area tables.
///
/// Windows whose sides differ by at most a fifth of their size form a group, also through others: the box is their
/// mean. A box inside one with more windows is left out. If no size lies between min_size and max_size, the one nearest
/// to min_size is searched, as in OpenCV.
///
/// Boxes are in the order of their first window: by size, row and column. OpenCV has that order on one thread; on
/// several its order varies.
///
/// Throws InvalidArgument for another type, several channels or images, a scale_factor that is not above 1 or makes
/// more than 65,536 sizes, negative sizes, and images too wide for 32-bit offsets (27 million columns, for windows of
/// 24 rows).
/// O(H W) and the stages that windows pass. Memory: a few rows of tables for each thread.
std::vector<Detection> detect(const Cascade& cascade, const ConstView& image, const DetectOptions& options = {},
                              const Execution& execution = {});

}  // namespace areal
