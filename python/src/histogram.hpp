#pragma once
// The array of an integral histogram, for queries.

#include <areal/table.hpp>
#include "python_array.hpp"

namespace areal::python {

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

}  // namespace areal::python
