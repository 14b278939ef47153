#pragma once
// Writes the statistics of regions, computed from tables, as rows.

#include <areal/region.hpp>
#include <functional>
#include <string>
#include <vector>
#include "regions.hpp"
#include "stats.hpp"

namespace areal::command {

/// One row per region: the cells of `prefix`, the region, then the stats in their order. `tables` have one channel, are
/// in host memory and include every table that a stat needs.
void write_answers(RowWriter& rows, const std::function<void(RowWriter&)>& prefix, const SatView& tables,
                   const std::vector<media::NamedRegion>& regions, const std::vector<Stat>& stats,
                   const QueryOptions& options);

/// Throws InvalidArgument for the border of a volume's table that has no sums of the whole depth.
void require_last_frame(const std::string& what, Border border);
/// The table of the sums over the whole depth: the last image of a volume's. It has the table's own type, where
/// box_sums would round to doubles.
TableView over_depth(const TableView& volume);
/// One row per region: its sum over the whole depth of the volume.
void write_volume_answers(RowWriter& rows, const TableView& table, const std::vector<media::NamedRegion>& regions,
                          const QueryOptions& options);

/// One region that covers the whole image.
std::vector<media::NamedRegion> whole(std::int64_t width, std::int64_t height);

}  // namespace areal::command
