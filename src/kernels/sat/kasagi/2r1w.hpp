#pragma once
// 2R1W (Kasagi 2014, V, after Nehab 2011). 2d + 3 launches for d levels of recursion, 2d + 2 barrier steps; one less
// for a single tile. Reads 2 and about 4/w, writes 1 and about 4/w per element, all coalesced. Tiles of w x w are
// summed, their sums scanned, and each tile read again together with the sums above and left of it: carries.hpp. Blocks
// of 128 threads. Workspace: the carries. Floats have the same bits every run.

#include "kernels/primitives/table_geometry.hpp"
#include "kernels/sat/kasagi/carries.hpp"
#include "kernels/sat/plain.hpp"

namespace areal::kernels {

template <int w = warp_size>
struct TwoReadOneWrite {
  template <class T>
  static std::size_t workspace_bytes(const TableRequest& request) {
    const TableGeometry p = table_geometry(request.image, request.border);
    Workspace from(nullptr);
    Levels<T, w>(first({{}, {}, p.width, p.height}), from);
    return from.bytes();
  }

  template <class In, class T, class Launcher>
  static void sums(Launcher& launcher, const TableRequest&, const Plain& p, void* workspace) {
    Workspace from(workspace);
    Levels<T, w>(first(p), from).template run<In>(launcher);
  }

 private:
  static Level first(const Plain& p) {
    Level level;
    level.from = p.in, level.to = p.out;
    level.height = p.height, level.width = p.width;
    level.tiles_y = blocks_of(p.height, w), level.tiles_x = blocks_of(p.width, w);
    return level;
  }
};

}  // namespace areal::kernels
