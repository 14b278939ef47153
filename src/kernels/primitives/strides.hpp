#pragma once
// Addresses of a view's elements, for a kernel.

#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace areal::kernels {

/// How elements can be accessed.
enum class Alignment : std::uint8_t { bytes, elements, vectors };

/// Elements of one view, for a kernel: bytes between consecutive ones, 0 if there is only one.
struct Strides {
  std::int64_t row = 0, column = 0, channel = 0, batch = 0;
  Alignment alignment = Alignment::bytes;
};
template <class Void>
Strides strides(const BasicView<Void>& view) {
  const auto size = static_cast<std::int64_t>(size_of(view.type));
  const Shape& shape = view.shape;
  return {view.row_pitch, view.column_pitch(),
          shape.channels == 1              ? 0
          : shape.layout == Layout::planar ? view.plane_pitch
                                           : size,
          shape.batch == 1 ? 0 : view.batch_pitch};
}
/// The view's first element and its strides; with `reverse`, of a view whose columns are walked from the last
/// backwards.
template <bool reverse, class Void>
auto* first_element(const BasicView<Void>& view, Strides& s) {
  using Byte = std::conditional_t<std::is_const_v<Void>, const char, char>;
  s = strides(view);
  auto* const first = static_cast<Byte*>(view.data);
  if (!reverse) return first;
  s.column = -s.column;
  return view.shape.width == 0 ? first : first - (view.shape.width - 1) * s.column;
}
/// How vectors of `bytes` can be accessed from `first` on; with columns walked backwards, up to it.
inline Alignment alignment_of(const void* first, const Strides& s, std::size_t element, std::size_t vector) {
  const bool backwards = s.column < 0;
  const auto lowest = reinterpret_cast<std::uintptr_t>(first) - (backwards ? vector - element : 0);
  const auto all = lowest | static_cast<std::uintptr_t>(s.row | s.channel | s.batch);
  if (all % vector == 0 && (backwards ? -s.column : s.column) == static_cast<std::int64_t>(element))
    return Alignment::vectors;
  return (all | static_cast<std::uintptr_t>(s.column)) % element == 0 ? Alignment::elements : Alignment::bytes;
}

}  // namespace areal::kernels
