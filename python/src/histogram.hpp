#pragma once
// Integral histograms' arrays, and arrays of histograms.

#include <areal/table.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>
#include "boxes.hpp"
#include "python_array.hpp"

namespace areal::python {

/// Axes::of. Throws InvalidArgument for a volume.
const Axes& histogram_axes(std::string_view letters, std::size_t dimensions);

/// The n-th image of a batch.
inline ConstView image_of(ConstView all, std::int64_t n) {
  all.data = all.row(0, 0, n);
  all.shape.batch = 1;
  return all;
}

/// bins x H x W, or N x bins x H x W.
class HistogramArray {
 public:
  /// Reads the call's first array; copies it if it is not stored in planes.
  HistogramArray(CallArrays& arrays, nb::handle tensor, Border border);
  TensorView view(std::int64_t n) const {
    const Shape one{view_.shape.width, view_.shape.height, view_.shape.channels, 1, Layout::planar};
    return {ConstView(view_.row(0, 0, n), view_.type, one, view_.row_pitch, view_.plane_pitch).in(view_.memory),
            border_};
  }
  Type type() const noexcept { return view_.type; }
  std::int64_t bins() const noexcept { return view_.shape.channels; }
  std::int64_t images() const noexcept { return view_.shape.batch; }
  bool has_batch() const noexcept { return array_.ref().dimensions == 4; }
  bool is_transposed() const noexcept { return order_.transposed; }  ///< on the host alone

 private:
  PythonArray array_;
  Border border_;
  Order order_;
  ConstView view_;  ///< with unsigned counters: the same bits
};

/// Arrays of images x boxes x bins, int64 or NumPy's uint64, or double: `fill(image, span, options)`.
template <class Fill>
nb::object histograms_answered(const CallArrays& arrays, bool as_double, bool has_batch, std::int64_t images,
                               std::size_t boxes, std::int64_t bins, bool clip, bool refused, int threads,
                               const Fill& fill) {
  std::vector<std::int64_t> extents{static_cast<std::int64_t>(boxes), bins};
  if (has_batch) extents.insert(extents.begin(), images);
  std::int64_t size = 0;
  if (__builtin_mul_overflow(extents[0], extents[1], &size) || (has_batch && __builtin_mul_overflow(size, bins, &size)))
    throw InvalidArgument("boxes: their answers do not fit 64 bits");
  const std::size_t each = boxes * static_cast<std::size_t>(bins);
  const Type type = as_double ? Type::f64 : arrays.framework().is_numpy() ? Type::u64 : Type::s64;
  return answered(arrays, type, extents, clip, refused, threads, [&](void* data, const QueryOptions& options) {
    for (std::int64_t n = 0; n < images; ++n) {
      const std::size_t first = static_cast<std::size_t>(n) * each;
      if (as_double)
        fill(n, Span<double>(static_cast<double*>(data) + first, each, arrays.place().memory), options);
      else
        fill(n, Span<std::uint64_t>(static_cast<std::uint64_t*>(data) + first, each, arrays.place().memory), options);
    }
  });
}

}  // namespace areal::python
