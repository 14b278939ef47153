#pragma once
// The tables of window-counts, which `prepare` copies to the begin of the workspace: terms of entropies, and weights of
// bilateral filters.

#include <algorithm>
#include <areal/filter.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <variant>
#include <vector>
#include "formulas/level_statistics.hpp"
#include "formulas/range_weight.hpp"
#include "formulas/window_axis.hpp"
#include "kernels/filter/request.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// Without what lies beyond the image where that is nothing.
inline formulas::WindowAxis cut_for_counts(const formulas::WindowAxis& axis) {
  if (axis.edge != Edge::shrink) return axis;
  formulas::WindowAxis cut = axis;
  cut.before = std::min(axis.before, axis.extent);
  cut.size = cut.before + 1 + std::min(axis.size - 1 - axis.before, axis.extent);
  return cut;
}
/// The most pixels of a window.
inline std::int64_t counted_pixels(const FilterRequest& request) {
  return cut_for_counts(request.columns).size * cut_for_counts(request.rows).size;
}

/// r(d) and d r(d), of 256 differences d.
using RangePair = Vec<double, 2>;

/// Bytes of the request's table; 0 if it has none.
inline std::size_t counts_table_bytes(const FilterRequest& request) {
  if (std::holds_alternative<filter::Entropy>(request.filter))
    return (2 * static_cast<std::size_t>(counted_pixels(request)) + 1) * sizeof(std::int64_t);
  return std::holds_alternative<filter::Bilateral>(request.filter) ? 256 * sizeof(RangePair) : 0;
}

/// Of a request that window-counts takes. For entropies: the term c log2(c) of each count, then what each count but 0
/// adds to the term of the one before.
inline std::vector<char> counts_table(const FilterRequest& request) {
  std::vector<char> table(counts_table_bytes(request));
  const auto put = [&](std::int64_t at, const auto& value) {
    std::memcpy(table.data() + at * static_cast<std::int64_t>(sizeof value), &value, sizeof value);
  };
  if (std::holds_alternative<filter::Entropy>(request.filter)) {
    std::int64_t before = 0;
    for (std::int64_t c = 0, most = counted_pixels(request); c <= most; ++c) {
      const auto term = static_cast<std::int64_t>(formulas::entropy_term(static_cast<std::uint64_t>(c)));
      put(c, term);
      if (c > 0) put(most + c, term - before);
      before = term;
    }
  }
  if (const auto* const one = std::get_if<filter::Bilateral>(&request.filter))
    for (int d = 0; d < 256; ++d) {
      const formulas::RangeWeight of = formulas::range_weight(d, one->sigma_range);
      put(d, RangePair{{of.weight, of.moment}});
    }
  return table;
}

}  // namespace areal::kernels
