#pragma once
// What a lane of a worker needs for a tile of a table.

#include <areal/sat.hpp>
#include <cstdint>
#include "cluster/tiled_sat.hpp"

namespace areal::cluster {

/// Tiles that a worker has in hand at once: on CUDA one is uploaded, one downloaded and one delivered.
inline int sat_lanes(const Worker& worker) { return worker.backend == Backend::cuda ? 3 : 1; }

/// A plan for the tiles of that size.
SatPlan sat_tile_plan(const TiledSatWork& work, const Worker& worker, std::int64_t width, std::int64_t height);

/// Bytes of the worker's memory: pixels, tables, carries, workspace.
std::uint64_t sat_lane_bytes(const TiledSatWork& work, const SatPlan& plan);

}  // namespace areal::cluster
