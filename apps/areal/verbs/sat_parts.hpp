#pragma once
// `areal sat -o FILE` for tables that are never in memory as a whole: by strips, by tiles, and chunked.

#include "io/input_image.hpp"
#include "io/routing.hpp"
#include "sat_request.hpp"

namespace areal::command {

/// Writes T.npy by strips or by tiles. Throws OutOfMemory if --memory is too small.
void table_by_parts(Way way, const SatRequest& request, const TableRequest& table, const InputImage& image,
                    const Limits& limits, const Settings& settings);

/// Writes T.zarr.
void chunked_table(const SatRequest& request, const InputImage& image, const Limits& limits, const Settings& settings);

/// The workers for tiles, from --devices or --backend.
std::vector<Worker> tile_workers(const SatRequest& request, const Settings& settings);

}  // namespace areal::command
