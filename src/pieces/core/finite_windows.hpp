#pragma once
// NaN and infinities under windows. In a table they would spread to every window right and below: the table is of 0 in
// their place, and windows of their marks say which windows hold them.

#include <areal/array.hpp>
#include <areal/window.hpp>

namespace areal::pieces {

class FiniteWindows {
 public:
  /// Of an image of floats in host memory. What the mask (8u; none where it has no data) or `ignore_nan` leaves out is
  /// kept, and not marked.
  FiniteWindows(const ConstView& image, const ConstView& mask, bool ignore_nan, const Window& window,
                const Execution& execution);

  /// The image with 0 for what is not finite.
  ConstView pixels() const { return pixels_.view(); }
  /// Sums or means (or `spread`: variances, deviations) of the finite pixels become NaN or infinity where the window
  /// holds it, or what an output of integers has in their place.
  void mark(const View& values, bool spread) const;

 private:
  Array pixels_;
  Array counts_;  // of each window: marks of each kind; the channels are a batch
};

}  // namespace areal::pieces
