// The algorithms of Kasagi, Nakano, Ito 2014 on 16 x 16 elements, in tiles of 4 x 4; and a transpose of 8 x 8, one
// tile.

#include "cases.hpp"
#include "kernels/sat/kasagi/1r1w.hpp"
#include "kernels/sat/kasagi/2r1w.hpp"
#include "kernels/sat/kasagi/2r2w.hpp"
#include "kernels/sat/kasagi/4r1w.hpp"
#include "kernels/sat/kasagi/4r4w.hpp"
#include "kernels/sat/kasagi/hybrid-1r1w.hpp"
#include "trace_table.hpp"

namespace areal::simt {
namespace {

constexpr int tile = 4;
constexpr Shape shape{4 * tile, 4 * tile};

void nothing(WarpLog&, const kernels::TableRequest&, void*) {}

void name_transposed(WarpLog& log, const kernels::TableRequest& request, void* workspace) {
  kernels::Workspace from(workspace);
  name(log, "transposed", kernels::transposed<Sum>(request, from), request.image.width);
}

void name_right(WarpLog& log, const kernels::TableRequest& request, void* workspace) {
  kernels::Workspace from(workspace);
  name(log, "right", kernels::right_columns<Sum, tile>(kernels::table_geometry(request.image, request.border), from),
       3);
}

void name_carries(WarpLog& log, const kernels::TableRequest& request, void* workspace) {
  kernels::Workspace from(workspace);
  kernels::Level level;
  level.height = request.image.height, level.width = request.image.width;
  level.tiles_y = level.tiles_x = 4;
  const kernels::Level named = kernels::Levels<Sum, tile>(level, from).level[0];
  name(log, "columns", named.columns, named.corners_y());
  name(log, "rows", named.rows, named.corners_x());
  name(log, "corners", named.corners, named.corners_y());
}

}  // namespace

void trace_kasagi() {
  using namespace kernels;
  Logs logs("kasagi");
  trace_table<TwoReadTwoWrite>(logs, "2r2w", shape, nothing);
  trace_table<FourReadFourWrite<tile>>(logs, "4r4w", shape, name_transposed);
  trace_table<FourReadOneWrite>(logs, "4r1w", shape, nothing);
  trace_table<TwoReadOneWrite<tile>>(logs, "2r1w", shape, name_carries);
  trace_table<OneReadOneWrite<tile>>(logs, "1r1w", shape, name_right);
  trace_table<HybridOneReadOneWrite<tile>>(logs, "hybrid-1r1w", shape, name_right, 6.0 / 16);
  trace_table<FourReadFourWrite<8>>(logs, "diagonal", {8, 8}, name_transposed);
}

}  // namespace areal::simt
