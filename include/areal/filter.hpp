#pragma once
/// \file filter.hpp Filters straight from the pixels: means, deviations, extremes and thresholds of the window around
/// every pixel, guided filters and Gaussians, at nearly the same cost for any window, without a table.

#include <areal/execution.hpp>
#include <areal/plan.hpp>
#include <areal/view.hpp>
#include <areal/window.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace areal {

/// What a window makes of NaN pixels, of each channel by itself. (A table with `SatOptions::ignore_nan` leaves out a
/// pixel of which any channel is NaN.)
enum class Missing : std::uint8_t {
  propagate,  ///< windows that hold a NaN give NaN: sums, means, deviations, extremes and thresholds
  omit        ///< NaN pixels are left out
};

/// The filters. A window holds n valid pixels with sum S1 and sum of squares S2; its mean is m = S1 / n, its variance
/// V = (n S2 - S1^2) / n^2, its standard deviation s, and p is the pixel at its anchor. Pixels beyond the edge are
/// valid, but for `shrink`, and for copies of pixels that a mask or `omit` leaves out.
///
/// Sums of integers are exact. The statistic is computed from them in double, then rounded to the output's type:
/// integers half to even (see Rounding), saturated, and 0 for NaN. Means to integers are those nearest to the quotient,
/// in windows of up to 2^21 pixels of 32 bits, 2^37 of 16 or 2^45 of 8. Floats are added in double, in an order that
/// their positions fix; with k pixels along each axis, d = the sum over both axes of 9 + ceil(k / 8), the error of S1
/// is at most d 2^-53 times the sum of magnitudes. Deviations of 16f and 32f come from sums of squares in double, so
/// that the error of V is at most 3 d 2^-53 times the mean square; those of 64f merge means and squared differences
/// (Chan, Golub and LeVeque 1979). NaN, infinities and outliers change only the windows that hold them, and the
/// thresholds of wolf.
namespace filter {

struct Sum {};    ///< S1
struct Mean {};   ///< m
struct Count {};  ///< n, also where that is below `min_count`
struct Variance {
  int ddof = 0;  ///< n V / (n - ddof); NaN if n <= ddof
};
struct StandardDeviation {
  int ddof = 0;  ///< the square root of Variance
};
struct Minimum {};
struct Maximum {};

/// Local thresholds T, for Threshold.
enum class Local : std::uint8_t {
  mean,     ///< m - offset
  bradley,  ///< m (1 - k), k = 0.15: Bradley and Roth 2007
  niblack,  ///< m + k s, k = -0.2: Niblack 1986
  sauvola,  ///< m (1 + k (s / r - 1)), k = 0.2, r half the range of the type: Sauvola and Pietikainen 2000
  /// m + k (s / smax - 1) (m - pmin), k = 0.5: Wolf and Jolion 2003. smax is the largest s of the windows of
  /// `min_count` pixels and pmin the least pixel of a channel of an image; s / smax is 0 if smax is.
  wolf,
  nick  ///< m + k sqrt((S2 - m^2) / n), k = -0.2: Khurshid et al. 2009
};
/// `high` where p > T, else 0; `inverted` exchanges them. Outputs of 32f and 64f are T itself. No pixel is above a T
/// that is NaN.
struct Threshold {
  Local method = Local::sauvola;
  std::optional<double> k = {};  ///< none: the method's
  std::optional<double> r = {};  ///< of sauvola; none: 128 for 8-bit, 32768 for 16-bit pixels; floats need one
  double offset = 0;             ///< is subtracted from T, by every method
  double high = 255;
  bool inverted = false;
};

/// The guided filter (He, Sun and Tang 2010): smooths p, and keeps the edges of a guide I. In each window q = a I + b
/// is the line with the least squared difference from p, plus eps a^2: a = cov(I, p) / (V(I) + eps), b = m(p) - a m(I).
/// A pixel's q is the mean over all windows that hold it. A guide of 3 channels has an a of 3 numbers, which solve a
/// symmetric system of equations, positive definite as eps is above 0. Images are of 8u, 16u or 32f, outputs of the
/// same type or 32f. Sums of integers are exact; a and b are computed and added in double.
///
/// Edges: a and b lie beyond an edge as pixels do. Beyond `zero` and `constant` a is 0 and b the value, as in a flat
/// image. `valid` is refused. A NaN or an infinity changes the pixels that share a window with it, and no others.
struct Guided {
  double eps;        ///< above 0, in the square of the guide's units: 1e-3 for a guide of 0 to 1 is 65 for one of 8u
  double scale = 1;  ///< 1; others are refused
};

/// The Gaussian with these standard deviations, in pixels. Its window follows from them: FilterOptions::window keeps
/// its size of 1x1. An axis with sigma 0 stays as it is.
///
/// `convolution` (auto up to sigma 8) adds pixels as far as floor(truncate sigma + 1/2), with weights of sum 1, in
/// double. O(sigma) a pixel. Up to 4096 pixels far.
///
/// `extended-boxes` (Gwosdek et al. 2011) repeats a box whose ends have a weight between 0 and 1, so that the variance
/// is exactly sigma^2. O(passes) a pixel; a thread's workspace holds about 8 sigma_y rows. From sigma 2 on, 5 passes
/// differ from the Gaussian by at most 0.022 of the range of pixel values, 3 by 0.040; below, by up to 0.15.
///
/// Edge `shrink` divides by the sum of the weights inside. A NaN or an infinity changes only the windows that hold it.
/// Devices take boxes of up to 512 pixels, of 5 passes up to a sigma of 331, and weights of up to 4082 pixels.
struct Gaussian {
  double sigma_x = 0, sigma_y = 0;  ///< 0 to 1000
  double truncate = 4;
  int passes = 0;  ///< of extended boxes; 0: 5, and convolution for axes with sigma up to 8
};

/// Pixel x(min(n - 1, floor(percent n / 100))) of the window's pixels in order, from x(0) on: of an even number the
/// upper median. -0 is below +0. On devices windows of 3x3 and 5x5
/// pixels, and of 8u and 8s those of up to 256 columns and 65535 pixels; medians of 3x3 and 5x5 are the fastest.
struct Percentile {
  double percent = 50;  ///< 0 to 100
};

/// Of the window's counts by level, c(x) pixels of value x, in images of 8u and 16u: Equalize, Otsu, Entropy and Modal,
/// as scikit-image's filters.rank defines them. Integers are exact. On the CPU they take O(256) a pixel of 8u, and of
/// 16u O(h) in windows of h rows, Otsu also O(min(n, 65536)). Devices take 8u, and windows as of Percentile, in
/// O(w + 256).
///
/// floor((bins - 1) k / n) with the k pixels of the window that are at most p: the rank of p, stretched over the
/// levels. bins is 256 for 8u. For 16u it is the largest pixel of the channel of an image, whether a mask leaves it out
/// or not, plus 1, but at least 4. p has a rank also where a mask leaves it out.
struct Equalize {};
/// The least t that maximises the variance between the pixels up to t and those above (Otsu 1979), (n s - k S1)^2 / (k
/// (n - k)) with their k pixels of sum s up to t, decided exactly; 0 where all pixels are equal.
struct Otsu {
  /// Whether t may be such that the pixels up to it are all 0. scikit-image never parts these from the others; t is
  /// then 0 where nothing else is left.
  bool zeros_alone = true;
};
/// -sum of c(x) / n log2(c(x) / n), in bits, to 32f or 64f; its error is below 3e-13. The terms are added in fixed
/// point, so that the bits are the same everywhere.
struct Entropy {};
struct Modal {};  ///< the most frequent value; the least one if there are several

/// The bilateral filter of a box window (Porikli 2008), which smooths and keeps edges: sum r(b - p) b c(b) / sum r(b -
/// p) c(b) over the levels b of the window, with r(d) = exp(-d^2 / (2 sigma_range^2)), and 0 where that is below 2^-60.
/// Images of 8u; outputs of 8u (half to even), 32f or 64f. p counts in r also where a mask leaves it out; windows whose
/// pixels all have the weight 0 give `fill`. The error of 64f is below 1e-8, and the bits are the same everywhere. At
/// most O(256) a pixel on the CPU; devices take windows as of Percentile, O(w + 256).
struct Bilateral {
  double sigma_range;  ///< above 0, in levels
};

}  // namespace filter

using Filter =
    std::variant<filter::Sum, filter::Mean, filter::Count, filter::Variance, filter::StandardDeviation, filter::Minimum,
                 filter::Maximum, filter::Threshold, filter::Guided, filter::Gaussian, filter::Percentile,
                 filter::Equalize, filter::Otsu, filter::Entropy, filter::Modal, filter::Bilateral>;

struct FilterOptions {
  Window window;  ///< its edge may be any; `value` is beyond the edge with `constant`
  Missing nan = Missing::propagate;
  bool mask = false;  ///< executes get a mask: pixels where it is 0 are left out
  /// Windows with fewer valid pixels give `fill`. 0: none; a minimum of no pixels is then infinity, or the type's
  /// largest value, and a maximum the opposite.
  std::int64_t min_count = 1;
  std::optional<double> fill = {};  ///< none: NaN for floats, 0 for integers
  /// Of Guided: the channels of the guide that executes get, 1 or 3; 0: each channel of the image guides itself.
  std::int64_t guide = 0;
  std::optional<Type> guide_type = {};  ///< 8u, 16u or 32f; none: the image's
  /// Executes get sizes: each pixel has a window of its own. For Sum, Mean, Count, Variance, StandardDeviation and
  /// thresholds but wolf's, on the CPU, which answers them from a table of a plane in the workspace, of 8 to 48 bytes a
  /// pixel, O(1) a pixel. `window` keeps its size of 1x1, and its edge is shrink, the default.
  bool sizes = false;
  std::string algorithm = "auto";  ///< an id of the family `filter`
};

/// What an execute reads and writes. `out` has the image's channels and batch, in any layout, and the extent of
/// `window_shape`; its memory may not overlap the inputs'.
struct FilterArguments {
  ConstView image;
  View out;
  ConstView mask = {};  ///< 8u, of one channel; with `FilterOptions::mask`
  /// Of the image's extent and batch; with `FilterOptions::guide`. One guide serves all channels of the image.
  ConstView guide = {};
  /// Of 16u or 32s, of the image's width, height and batch; with `FilterOptions::sizes`. One channel: the rows and
  /// columns k of the pixel's window. Two: its rows h, then its columns w. The window's cell (w/2, h/2) is the pixel,
  /// and the cells beyond the image are left out. A window of 0 or fewer rows or columns has no pixels.
  ConstView sizes = {};
};

/// A filter of images of one shape and type. O(1) a pixel for every window on the CPU, but where a filter says
/// otherwise. On GPUs large windows take longer, means of bytes beyond 65x65, as each segment of the image first reads
/// a window's rows; percentiles beyond 5x5 and counts by level take O(width) a pixel. `execute` allocates nothing, and
/// may be captured in a CUDA graph.
///
/// Images may be of 8u, 8s, 16u, 16s, 32u, 32s, 16f, 32f or 64f, outputs of 8u, 8s, 16u, 16s, 32s, 32f or 64f. Minimum,
/// Maximum and Percentile take every type and give the same one; Equalize, Otsu and Modal take 8u and 16u and give the
/// same, Entropy gives 32f or 64f; Bilateral takes 8u. Windows of floats other than for Minimum and Maximum, and all
/// windows of Percentile, Equalize, Otsu, Entropy, Modal, Bilateral and Guided, may reach beyond an edge by the image's
/// extent, or by 1024 if that is more, but for `shrink` and `valid`; so may those of extremes with a mask or `omit` and
/// a min_count above 1. Rows of floats, for extremes and these have up to 2^31 - 1 pixels. Guided by guides of 3
/// channels, and Equalize, Otsu, Entropy and Modal of 16u, run on the CPU. Guided and Gaussian take no masks, and every
/// pixel is valid.
///
/// With `FilterOptions::sizes` planes have up to 2^32 - 1 pixels, of 32-bit integers 2^31. Sums of integers are exact.
/// Floats are added as pairs of doubles: in planes of w x h = N pixels up to a magnitude M, the error of S1 is at most
/// 2^-52 |S1| + 2^-100 (w + h) N M, that of V 2^-50 V + 2^-98 (w + h) N M^2. NaN and infinities change only the windows
/// that hold them.
class FilterPlan : public Plan {
 public:
  struct State;  // of the library

  /// Throws InvalidArgument for what the filter does not take, in a sentence that says what it takes; Unavailable
  /// without a device; OutOfMemory.
  FilterPlan(const Shape& image, Type in, Type out, const Filter& filter, const FilterOptions& options,
             const Execution& execution = {});

  void execute(const FilterArguments& arguments, Workspace& workspace) const;

  const Shape& image_shape() const noexcept;
  Shape out_shape() const noexcept;
  Type in() const noexcept;
  Type out() const noexcept;
  const FilterOptions& options() const noexcept;

  const State& state() const noexcept;  // of the library
};

/// One filter of one image, in a plan and workspace of its own: `apply(filter::Mean{}, image, out, {.window = {15,
/// 15}})`.
void apply(const Filter& filter, const ConstView& image, const View& out, const FilterOptions& options,
           const Execution& execution = {});
void apply(const Filter& filter, const FilterArguments& arguments, const FilterOptions& options,
           const Execution& execution = {});

}  // namespace areal
