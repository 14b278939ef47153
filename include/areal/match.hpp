#pragma once
/// \file match.hpp Template matching: the score of a template at every position of an image, the peaks of scores, and
/// hits over several scales.

#include <areal/execution.hpp>
#include <areal/plan.hpp>
#include <areal/span.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace areal {

/// The scores, with OpenCV's numbers. I is the window of the image at a position and T the template; sums are over all
/// pixels and channels, I' and T' are less the mean of their channel.
enum class MatchMethod : std::uint8_t {
  sqdiff,         ///< sum (I - T)^2; the best is the least
  sqdiff_normed,  ///< sqdiff / sqrt(sum I^2 sum T^2), at most 1
  ccorr,          ///< sum I T
  ccorr_normed,   ///< sum I T / sqrt(sum I^2 sum T^2)
  ccoeff,         ///< sum I' T'
  ccoeff_normed   ///< sum I' T' / sqrt(sum I'^2 sum T'^2), the correlation coefficient: -1 to 1
};

std::string_view name_of(MatchMethod method) noexcept;  ///< "sqdiff", "sqdiff-normed", ..
std::optional<MatchMethod> match_method_named(std::string_view name) noexcept;

struct MatchOptions {
  MatchMethod method = MatchMethod::ccoeff_normed;
  std::string algorithm = "auto";  ///< fft or direct
};

/// What an execute reads and writes. The memory of `out` may not overlap the inputs'.
struct MatchArguments {
  ConstView image;
  ConstView templ;  ///< of one image, with the image's type and channels, in any layout
  View out;         ///< 32f or 64f, of one channel, of (W - w + 1) x (H - h + 1) positions
};

/// The scores of templates of one shape in images of one shape, of 8u, 16u, 32f or 64f. Each image of a batch gets
/// scores of its own. On the CPU; the scores do not depend on the number of threads.
///
/// Every sum of integers is exact, so that a score is the quotient of exact numbers, rounded once per operation. `fft`
/// rounds its sums of products to integers, and the plan refuses shapes for which their error could reach 1/4. Sums of
/// floats are computed in double, products and deviations of pixels less a mean: the error of a sum of products is at
/// most 2^-29 times the denominator of its normed method, because a window where it could be larger is computed again,
/// pixel by pixel. A flat window has denominator 0 in ccoeff_normed.
///
/// Where a denominator is 0 the score is 0, but for sqdiff_normed of a window that differs from the template, which
/// is 1. A window that holds a NaN or an infinity scores NaN, and no other does; so does every window if the template
/// holds one.
///
/// `fft`: O(log) a pixel, in tiles, with the FFT of kissfft. `direct`: O(w h) a pixel, for small templates.
class MatchPlan : public Plan {
 public:
  struct State;  // of the library

  /// Throws InvalidArgument, for a template larger than the image among others; Unavailable for `fft` in a library
  /// built without kissfft; OutOfMemory.
  MatchPlan(const Shape& image, const Shape& templ, Type in, Type out, const MatchOptions& options,
            const Execution& execution = {});

  void execute(const MatchArguments& arguments, Workspace& workspace) const;

  const Shape& image_shape() const noexcept;
  const Shape& template_shape() const noexcept;
  Shape out_shape() const noexcept;
  Type in() const noexcept;
  Type out() const noexcept;
  const MatchOptions& options() const noexcept;

  const State& state() const noexcept;  // of the library
};

/// One template in one image, in a plan and workspace of its own.
void match_template(const ConstView& image, const ConstView& templ, const View& out, const MatchOptions& options = {},
                    const Execution& execution = {});

/// A position whose score no other within the distance exceeds.
struct Peak {
  std::int64_t x = 0, y = 0;
  double score = 0;
  friend bool operator==(const Peak&, const Peak&) = default;
};

struct PeakOptions {
  std::optional<double> threshold = {};  ///< peaks reach it
  std::int64_t top = 0;                  ///< so many, the best; 0: all
  std::int64_t distance = 1;             ///< columns and rows to each side in which a peak is the best
  bool minima = false;                   ///< the best scores are the least: sqdiff, sqdiff_normed
};

/// The peaks of 32f or 64f scores in host memory, of one channel and one image, best first. Of equal scores within the
/// distance only the first, row by row, can be a peak; equal peaks are in that order, too. NaN scores are left out.
/// O(1) a position, and O(distance^2) a peak.
std::vector<Peak> peaks(const ConstView& scores, const PeakOptions& options, const Execution& execution = {});

/// The image at the size of `out`, which has its type, 8u, 16u, 32f or 64f, channels and batch. Along each axis, with
/// scale s = new size / old size and k = min(s, 1), pixel x is the mean of pixels i with weights max(0, 1 - k |i + 1/2
/// - (x + 1/2) / s|): linear interpolation to larger sizes, its kernel widened by 1/s to smaller ones, as Pillow's
/// BILINEAR. In double, rows first; integers are rounded half to even.
void resize(const ConstView& image, const View& out);

/// Where a template was found, and the size in which it was.
struct Hit {
  std::int64_t x = 0, y = 0, width = 0, height = 0;
  double scale = 1, score = 0;
  friend bool operator==(const Hit&, const Hit&) = default;
};

struct HitOptions {
  MatchMethod method = MatchMethod::ccoeff_normed;  ///< normed, for scales other than 1
  std::optional<double> threshold = {};             ///< hits reach it
  std::int64_t top = 0;                             ///< so many, the best; 0: all
  /// A hit is the best of those whose centres are no more columns and rows away. None: half the template's smaller
  /// side, at least 1.
  std::optional<std::int64_t> distance = {};
  std::string algorithm = "auto";
};

/// The hits of a template, resized to each scale, in one image in host memory, best first: the peaks of each scale,
/// from the best on, less those near one that is kept. Equal hits are in the order of scales, then row by row. Scales
/// at which the template is larger than the image or smaller than one pixel are left out.
std::vector<Hit> match_hits(const ConstView& image, const ConstView& templ, Span<const double> scales,
                            const HitOptions& options = {}, const Execution& execution = {});

}  // namespace areal
