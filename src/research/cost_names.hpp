#pragma once
// The values of the names in a catalogue row's formulas for a request (<areal/catalog.hpp>).

#include <areal/catalog.hpp>
#include <areal/research/model.hpp>
#include <cstdint>
#include "research/cost_formula.hpp"

namespace areal {

/// d of 2r1w: levels of the recursion for that many tiles. The corners between tiles are a table, which is one tile if
/// it has no more than `side` of them either way.
std::int64_t recursion_levels(std::int64_t tiles_y, std::int64_t tiles_x, std::int64_t side);
/// d of hybrid-1r1w, whose triangles have k tiles to a side: of both together. The upper one has the corners between
/// its tiles, k - 1 each way, the lower one those above and to the left too: k.
std::int64_t triangle_levels(std::int64_t k, std::int64_t side);

/// `group`: the elements of a group of sequential-parallel.
CostNames cost_names(const Algorithm& row, const AlgorithmRequest& request, std::int64_t group);

}  // namespace areal
