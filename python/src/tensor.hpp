#pragma once
// The integral histogram of an array, as Python holds it.

#include <areal/binning.hpp>
#include <areal/histogram_measures.hpp>
#include <areal/histogram_tensor.hpp>
#include <areal/table.hpp>
#include <memory>
#include <string_view>
#include "arrays.hpp"
#include "planned.hpp"

namespace areal::python {

struct Tensor {
  HistogramTensor owned;       ///< empty where the memory is of `array`
  ConstView view;              ///< planar: channels = bins
  nb::object array;            ///< given as `out`, or loaded; else null
  nb::object binning;          ///< areal.Binning
  const Axes* axes = nullptr;  ///< of the array of pixels
  Order order;
  Border border = Border::none;
  Type input = Type::u8;
  Shape image;  ///< as areal saw it
  std::shared_ptr<const Origin> origin;

  /// bins H W, with N before them where the pixels have it.
  const Axes& tensor_axes() const { return Axes::of(axes->n >= 0 ? "NCHW" : "CHW", axes->n >= 0 ? 4 : 3); }
  TensorView view_of(std::int64_t n) const {
    const Shape one{view.shape.width, view.shape.height, view.shape.channels, 1, Layout::planar};
    return {ConstView(view.row(0, 0, n), view.type, one, view.row_pitch, view.plane_pitch).in(view.memory), border};
  }
};

/// Throws InvalidArgument, listing the choices.
Distance distance_of(std::string_view name);

/// A new areal.IntegralHistogram.
nb::object tensor_object(Tensor&& tensor);

}  // namespace areal::python
