#pragma once
// 1R1W (Kasagi 2014, VI). One launch for each anti-diagonal of tiles: h/w + w/w - 1 of them, h/w + w/w - 2 barrier
// steps. Reads 1 and 2/w + 1/w^2, writes 1 and 1/w per element, all coalesced: a tile's carries are differences of the
// finished sums around it, the row above it and the column to its left, which its neighbour saved. Blocks of 128
// threads, a tile each. Workspace: the saved columns. Floats have the same bits every run; because of the subtractions,
// sums next to an infinity are NaN.

#include "kernels/primitives/table_geometry.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/sat/kasagi/stages.hpp"
#include "kernels/sat/plain.hpp"

namespace areal::kernels {

template <int w = warp_size>
struct OneReadOneWrite {
  template <class T>
  static std::size_t workspace_bytes(const TableRequest& request) {
    Workspace from(nullptr);
    right_columns<T, w>(table_geometry(request.image, request.border), from);
    return from.bytes();
  }

  template <class In, class T, class Launcher>
  static void sums(Launcher& launcher, const TableRequest& request, const Plain& p, void* workspace) {
    Workspace from(workspace);
    const Matrix right = right_columns<T, w>(table_geometry(request.image, request.border), from);
    sum_stages<PlainConfig<In, T, w>>(launcher, p, right, 0, blocks_of(p.height, w) + blocks_of(p.width, w) - 1);
  }
};

}  // namespace areal::kernels
