#pragma once
// Runs a paper's algorithm for tables of 32-bit sums on a small image, and logs it.

#include <vector>
#include "kernels/sat/plain.hpp"
#include "warp_log.hpp"

namespace areal::simt {

using Sum = std::uint32_t;

inline void name(WarpLog& log, const char* name, const kernels::Matrix& matrix, std::int64_t rows) {
  log.name(name, matrix.first, matrix.pitch / static_cast<std::int64_t>(sizeof(Sum)), rows);
}

/// `name_workspace(log, request, workspace)` names what is of interest there. r: of hybrid-1r1w.
template <class Algorithm, class NameWorkspace>
void trace_table(Logs& logs, const char* id, const Shape& shape, const NameWorkspace& name_workspace, double r = 0) {
  const std::int64_t width = shape.width, height = shape.height;
  std::vector<Sum> image(static_cast<std::size_t>(width * height), 1), table(image.size());
  const kernels::TableRequest request{id, kernels::TableKind::pixels, {Type::u32, Type::u32}, shape, Border::none, {},
                                      r};
  std::vector<char> workspace(Algorithm::template workspace_bytes<Sum>(request));
  const auto matrix = [&](std::vector<Sum>& of) {
    return kernels::Matrix{reinterpret_cast<char*>(of.data()), width * static_cast<std::int64_t>(sizeof(Sum)), true};
  };
  const kernels::Plain plain{matrix(image), matrix(table), width, height};
  WarpLog log;
  name(log, "image", plain.in, height);
  name(log, "table", plain.out, height);
  name_workspace(log, request, workspace.data());
  Launcher launcher(log.options());
  Algorithm::template sums<Sum, Sum>(launcher, request, plain, workspace.data());
  logs.add(log, id);
}

}  // namespace areal::simt
