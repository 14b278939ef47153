#pragma once
// What the papers' algorithms share: one image of one channel, and inclusive sums of its own size. The border is an
// offset of the table and a separate launch that writes zeros; a paper's counts are those of border none.

#include <areal/view.hpp>
#include <cstdint>
#include "kernels/primitives/fill_border.hpp"
#include "kernels/primitives/matrix.hpp"
#include "kernels/primitives/strides.hpp"
#include "kernels/primitives/table_geometry.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/sat/request.hpp"

namespace areal::kernels {

/// Views and request agree.
inline Plain plain(const TableRequest& request, const ConstView& image, const View& table) {
  const TableGeometry p = table_geometry(request.image, request.border);
  const auto matrix = [](const void* first, const auto& view, std::int64_t offset) {
    const auto size = static_cast<std::int64_t>(size_of(view.type));
    Strides s = strides(view);
    s.batch = 0;
    Matrix all{static_cast<char*>(const_cast<void*>(first)) + offset * (s.row + size), s.row, true};
    all.aligned = alignment_of(all.first, s, size_of(view.type), size_of(view.type)) != Alignment::bytes;
    return all;
  };
  return {matrix(image.data, image, 0), matrix(table.data, table, p.offset), p.width, p.height};
}

/// The zeros of the border; then `sums(launcher, plain)`, where there are any.
template <class T, class Launcher, class Sums>
void with_border(Launcher& launcher, const TableRequest& request, const ConstView& image, const View& table,
                 const Sums& sums) {
  if (request.border != Border::none) fill_border<T>(launcher, table);
  if (image.shape.empty()) return;  // whose data may be null
  const Plain p = plain(request, image, table);
  if (p.width > 0 && p.height > 0) sums(launcher, p);
}

/// A transposed table in the workspace.
template <class T>
Matrix transposed(const TableRequest& request, Workspace& from) {
  const TableGeometry p = table_geometry(request.image, request.border);
  T* first = nullptr;
  from.take(first, p.height * p.width);
  return {reinterpret_cast<char*>(first), p.height * static_cast<std::int64_t>(sizeof(T)), true};
}

/// For a workspace that holds only this.
template <class T>
std::size_t transposed_bytes(const TableRequest& request) {
  Workspace from(nullptr);
  transposed<T>(request, from);
  return from.bytes();
}

}  // namespace areal::kernels
