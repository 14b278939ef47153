#pragma once
// A transposed table in the workspace.

#include "kernels/device/workspace.hpp"
#include "kernels/sat/plain.hpp"

namespace areal::kernels {

template <class T>
Matrix transposed(const TableRequest& request, Workspace& from) {
  const Placed p = placed(request.image, request.border);
  T* first = nullptr;
  from.take(first, p.height * p.width);
  return {reinterpret_cast<char*>(first), p.height * static_cast<std::int64_t>(sizeof(T)), true};
}

/// Of a workspace that holds nothing else.
template <class T>
std::size_t transposed_bytes(const TableRequest& request) {
  Workspace from(nullptr);
  transposed<T>(request, from);
  return from.bytes();
}

}  // namespace areal::kernels
