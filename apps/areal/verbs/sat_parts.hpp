#pragma once
// Tables of `areal sat -o FILE` that are never in memory as a whole: by strips, by tiles, and chunked.

#include "io/input_image.hpp"
#include "io/routing.hpp"
#include "sat_request.hpp"

namespace areal::command {

/// T.npy by strips or by tiles. `table` is what the request says of tables. Throws OutOfMemory where --memory is too
/// little.
void table_by_parts(Way way, const SatRequest& request, const TableRequest& table, const InputImage& image,
                    const Limits& limits, const Settings& settings);

/// T.zarr.
void chunked_table(const SatRequest& request, const InputImage& image, const Limits& limits, const Settings& settings);

/// Who makes tables by tiles: --devices, or --backend.
std::vector<Worker> tile_workers(const SatRequest& request, const Settings& settings);

}  // namespace areal::command
