#pragma once
// (1+r)R1W (Kasagi 2014, VII). 2R1W sums the tiles of the upper left and of the lower right triangle, k to a side, 1R1W
// those between: 2d + 6 launches for the triangles, d being the levels of recursion of both together, and one for each
// of the h/w + w/w - 1 - 2k anti-diagonals between; one less if k = 1. Reads 1 + r, writes 1 per element, and about 4/w
// of either; all coalesced. r, the share of the triangles' tiles, is k(k + 1) over all tiles, k at most one less than
// the tiles of the shorter side. The lower triangle begins with the sums that 1R1W left around it. Blocks of 128
// threads. Floats have the same bits every run; because of the subtractions, sums next to an infinity are NaN.

#include "formulas/triangles.hpp"
#include "kernels/primitives/table_geometry.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/sat/kasagi/carries.hpp"
#include "kernels/sat/kasagi/stages.hpp"
#include "kernels/sat/plain.hpp"

namespace areal::kernels {

template <int w = warp_size>
struct HybridOneReadOneWrite {
  template <class T>
  static std::size_t workspace_bytes(const TableRequest& request) {
    Workspace from(nullptr);
    const TableGeometry p = table_geometry(request.image, request.border);
    Geometry<T>(request, {{}, {}, p.width, p.height}, from);
    return from.bytes();
  }

  template <class In, class T, class Launcher>
  static void sums(Launcher& launcher, const TableRequest& request, const Plain& p, void* workspace) {
    using C = PlainConfig<In, T, w>;
    Workspace from(workspace);
    const Geometry<T> g(request, p, from);
    if (g.side > 0) g.upper.template run<In>(launcher);
    sum_stages<C>(launcher, p, g.right, g.side, g.stages - g.side);
    if (g.side > 0) g.lower.template run<In>(launcher);
  }

 private:
  template <class T>
  struct Geometry {
    Geometry(const TableRequest& request, const Plain& p, Workspace& from)
        : tiles_y(blocks_of(p.height, w)),
          tiles_x(blocks_of(p.width, w)),
          stages(tiles_y + tiles_x - 1),
          side(formulas::triangle_side(request.r, tiles_y, tiles_x)),
          right(right_columns<T, w>(table_geometry(request.image, request.border), from)),
          upper(triangle(p, Part::upper), from),
          lower(triangle(p, Part::lower), from) {}

    Level triangle(const Plain& p, Part part) const {
      Level level;
      level.from = p.in, level.to = p.out, level.right = right;
      level.height = p.height, level.width = p.width;
      level.tiles_y = level.tiles_x = side;
      level.part = part;
      if (part == Part::lower) level.tile_y = tiles_y - side, level.tile_x = tiles_x - side;
      return level;
    }

    std::int64_t tiles_y, tiles_x, stages, side;
    Matrix right;
    Levels<T, w> upper, lower;
  };
};

}  // namespace areal::kernels
