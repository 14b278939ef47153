#pragma once
// The boxes of a query, in host or device memory.

#include <areal/region.hpp>
#include <areal/span.hpp>
#include <string_view>
#include <type_traits>
#include <vector>
#include "process.hpp"
#include "python_array.hpp"
#include "regions.hpp"

namespace areal::python {

/// Host boxes in any format, or device boxes as x, y, width, height. Item is Region, or Box for a volume.
template <class Item>
class Boxes {
 public:
  Boxes(nb::handle boxes, std::string_view format, bool transposed, const CallArrays& arrays) {
    if (!arrays.on_host() && is_on_device(boxes)) {
      if (format != "xywh" || transposed)
        throw InvalidArgument("format " + std::string(format) + ": boxes on the device are x, y, width, height");
      array_ = PythonArray(boxes, arrays.stream(), "boxes");
      if (array_.ref().dimensions != 2 || array_.ref().extents[1] != numbers)
        throw InvalidArgument("boxes: they must be N x " + std::to_string(numbers) + " numbers");
      const Span<const std::int64_t> all = array_.span<const std::int64_t>();
      span_ = Span<const Item>(reinterpret_cast<const Item*>(all.data()), all.size() / numbers, all.memory());
      return;
    }
    array_ = PythonArray(boxes, std::nullopt, "boxes");
    if (!array_.is_readable()) throw InvalidArgument("boxes: their numbers must be int64");
    if constexpr (std::is_same_v<Item, Region>)
      host_ = regions_of(array_.ref(), format, transposed);
    else
      host_ = volume_boxes_of(array_.ref(), format, transposed);
    span_ = Span<const Item>(host_.data(), host_.size());
  }
  Span<const Item> span() const noexcept { return span_; }

 private:
  static constexpr std::size_t numbers = sizeof(Item) / sizeof(std::int64_t);
  static bool is_on_device(nb::handle boxes) {
    if (!nb::hasattr(boxes, "__dlpack_device__")) return nb::hasattr(boxes, "__cuda_array_interface__");
    const auto device = nb::cast<std::pair<int, int>>(boxes.attr("__dlpack_device__")());
    return device.first == dl::cuda || device.first == dl::cuda_managed;
  }

  PythonArray array_;
  std::vector<Item> host_;
  Span<const Item> span_;
};

/// The execution of a query on the device of its arrays.
inline Execution execution_where(const CallArrays& arrays, int threads) {
  Execution made = execution_of("auto", 0, threads);
  if (const auto stream = arrays.stream()) made.stream = *stream;
  return made;
}

/// The result of a query, an array of those extents: `run(data, options)`. With `refused` a pair with the index of the
/// first invalid box, -1 for none: an int with NumPy, else an array on the result's device.
template <class Run>
nb::object answered(const CallArrays& arrays, Type type, const std::vector<std::int64_t>& extents, bool clip,
                    bool refused, int threads, const Run& run) {
  QueryOptions options;
  options.outside = clip ? Outside::clip : Outside::error;
  options.execution = execution_where(arrays, threads);
  NewArray answers = arrays.empty(type, extents), first;
  if (refused) {
    first = arrays.empty(Type::s64, {1});
    options.first_invalid = Span<std::int64_t>(static_cast<std::int64_t*>(first.data()), 1, arrays.place().memory);
  }
  without_gil(arrays.on_host(), [&] { run(answers.data(), options); });
  if (!refused) return answers.take();
  const nb::object index =
      arrays.framework().is_numpy() ? nb::object(nb::int_(*options.first_invalid.data())) : first.take()[nb::int_(0)];
  return nb::make_tuple(answers.take(), index);
}

}  // namespace areal::python
