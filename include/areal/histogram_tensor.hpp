#pragma once
/// \file histogram_tensor.hpp HistogramTensor: an owned integral histogram.

#include <areal/binning.hpp>
#include <areal/border.hpp>
#include <areal/execution.hpp>
#include <areal/table.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <memory>

namespace areal {

/// The b x h x w tensor of an image, or one for each image of a batch, in host memory or on a device. Made by
/// `areal::integral_histogram` and by `HistogramPlan::allocate`. Move-only: see `copy_to`. A moved-from tensor is
/// empty.
class HistogramTensor {
 public:
  HistogramTensor() noexcept;
  ~HistogramTensor();
  HistogramTensor(HistogramTensor&&) noexcept;
  HistogramTensor& operator=(HistogramTensor&&) noexcept;

  /// All bins (planar channels) of all images (the batch). O(1).
  View tensor() noexcept;
  ConstView tensor() const noexcept;
  /// One image's tensor for queries. O(1). Throws InvalidArgument for an image out of range.
  TensorView view(std::int64_t image = 0) const;
  /// The only image's. Throws InvalidArgument if there are several.
  operator TensorView() const;  // NOLINT: implicit on purpose

  Border border() const noexcept;
  Type counter() const noexcept;  ///< of the tensor's elements
  /// Throws InvalidArgument for a moved-from tensor.
  const Binning& binning() const;
  MemoryPlace memory() const noexcept;
  const Shape& image_shape() const noexcept;  ///< of the images, not of the tensor

  /// As SatTable::copy_to.
  HistogramTensor copy_to(MemoryPlace place, const Execution& execution = {}) const;
  /// The same tensor with another border, in the same memory, complete on return. O(b H W); a device's tensor is
  /// converted on the host. Throws InvalidArgument from `exclusive`, which lacks the last row and column, and for
  /// counters of 16u.
  HistogramTensor with_border(Border border, const Execution& execution = {}) const;

  struct State;  // of the library
  explicit HistogramTensor(std::unique_ptr<State> state) noexcept;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace areal
