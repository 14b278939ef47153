#include "research/cost_names.hpp"
#include <algorithm>
#include "formulas/triangles.hpp"
#include "kernels/histogram/registry.hpp"
#include "kernels/primitives/line/capacity.hpp"
#include "kernels/sat/request.hpp"
#include "simt/engine/options.hpp"

namespace areal {
namespace {

constexpr std::int64_t table_tile = 32;

std::int64_t tiles_of(std::int64_t length, std::int64_t side) { return (length + side - 1) / side; }

/// Elements of a line that a block holds.
double capacity(std::string_view id, Type sums) {
  const bool several = id == "lee-choe" || id == "lee-choe-multiple";
  const std::size_t term = std::max<std::size_t>(4, size_of(sums));  // 16-bit counters are summed in 32 bits
  return kernels::most_line_threads * kernels::elements_a_thread(several, term);
}

/// Rows of a band of count-then-write on the simulated machine.
std::int64_t band_rows(const AlgorithmRequest& request) {
  kernels::HistogramRequest tensor;
  tensor.image = {request.width, request.height};
  tensor.bins = request.bins;
  kernels::CountThenWritePlan<std::uint32_t> plan(tensor);
  const int held = simt::Options().together;  // as the launcher tells of both launches
  plan.cut(held, held);
  return plan.args.rows;
}

}  // namespace

std::int64_t recursion_levels(std::int64_t tiles_y, std::int64_t tiles_x, std::int64_t side) {
  const std::int64_t y = tiles_y - 1, x = tiles_x - 1;
  if (y < 1 || x < 1 || (y <= side && x <= side)) return 0;
  return 1 + recursion_levels(tiles_of(y, side), tiles_of(x, side), side);
}

std::int64_t triangle_levels(std::int64_t k, std::int64_t side) {
  return recursion_levels(k, k, side) + recursion_levels(k + 1, k + 1, side);
}

CostNames cost_names(const Algorithm& row, const AlgorithmRequest& request, std::int64_t group) {
  const auto uses = [&row](char name) {
    return CostFormula::uses(row.reads_per_element, name) || CostFormula::uses(row.writes_per_element, name) ||
           CostFormula::uses(row.barrier_steps, name);
  };
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  CostNames names;
  const bool is_tensor = row.family == "histogram";
  if (uses('C')) names.C = capacity(row.id, is_tensor ? request.counter : request.types.table);
  if (row.family == "scan") {
    names.n = number(request.width);
    if (uses('k')) names.k = number(std::min(group, request.width));
    return names;
  }
  names.h = number(request.height), names.w = number(request.width), names.b = number(request.bins);
  // thin's lines, and the rows of a band, correspond to tiles.
  const std::int64_t side = row.id == "thin"               ? kernels::thin_lines
                            : row.id == "count-then-write" ? band_rows(request)
                            : is_tensor                    ? request.tile
                                                           : table_tile;
  const std::int64_t y = tiles_of(request.height, side), x = tiles_of(request.width, side);
  if (uses('T')) names.T = number(side);
  if (row.takes.r) {
    const std::int64_t k = formulas::triangle_side(request.r, y, x);
    names.r = formulas::share_of(k, y, x), names.k = number(k), names.d = number(triangle_levels(k, side));
  } else if (uses('d')) {
    names.d = number(recursion_levels(y, x, side));
  }
  return names;
}

}  // namespace areal
