// Scatters values to the corners of regions: checks, then row by row, or a device's request.
#include <areal/scatter.hpp>
#include <cstring>
#include <vector>
#include "api/core/table_check.hpp"
#include "api/query/query_call.hpp"
#include "api/query/region_blocks.hpp"
#include "formulas/scatter.hpp"

namespace areal {

namespace {

using formulas::CornerGrid;

// The regions with corners in each row of the array, in their order, sorted by counting.
class CornersOfRows {
 public:
  CornersOfRows(std::span<const Region> regions, const RegionRules& rules, const CornerGrid& grid,
                FirstInvalid& first_invalid)
      : regions_(regions), rules_(rules), first_(static_cast<std::size_t>(grid.height + 1)) {
    for (std::size_t i = 0; i < regions.size(); ++i) {
      const auto index = static_cast<std::int64_t>(i);
      if (Region region = regions[i]; !rules.allow(region)) {
        if (!first_invalid.requested())
          rules.checked(region, index);
        else if (!rules.take(region))
          first_invalid.found(index);
      }
      for_each_row(i, grid, [&](std::size_t row, bool) { ++first_[row + 1]; });
    }
    for (std::size_t row = 1; row < first_.size(); ++row) first_[row] += first_[row - 1];
    corners_.resize(first_.back());
    std::vector<std::size_t> next(first_);
    for (std::size_t i = 0; i < regions.size(); ++i)
      for_each_row(i, grid, [&](std::size_t row, bool bottom) {
        corners_[next[row]++] = static_cast<std::uint32_t>(2 * i + (bottom ? 1 : 0));
      });
  }

  /// f(index, region, bottom) for the regions of a row.
  template <class F>
  void of_row(std::int64_t row, const F& f) const {
    const auto at = static_cast<std::size_t>(row);
    for (std::size_t k = first_[at]; k < first_[at + 1]; ++k)
      f(static_cast<std::int64_t>(corners_[k] / 2), valid_region(corners_[k] / 2), corners_[k] % 2 == 1);
  }

 private:
  /// As for a device: empty if invalid.
  Region valid_region(std::size_t i) const {
    Region region = regions_[i];
    return rules_.allow(region) || rules_.take(region) ? region : Region{};
  }
  template <class F>
  void for_each_row(std::size_t i, const CornerGrid& grid, const F& f) const {
    const Region region = valid_region(i);
    if (region.width == 0 || region.height == 0) return;
    for (const bool bottom : {false, true}) {
      const std::int64_t y = region.y + (bottom ? region.height : 0);
      if (grid.has_row(y)) f(static_cast<std::size_t>(y - grid.shift), bottom);
    }
  }

  std::span<const Region> regions_;
  RegionRules rules_;
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> corners_;
};

// Value: the type of the sums.
template <class T, class Value>
void scatter(const CornersOfRows& corners, const Value* values, const View& out, const CornerGrid& grid, int threads) {
  const std::int64_t planes = planes_of(out.shape);
  if (out.shape.empty()) return;
  const std::int64_t grain = std::max<std::int64_t>(1, (std::int64_t{1} << 15) / grid.width);
  cpu::parallel_ranges(threads, planes * grid.height, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Value> sums(static_cast<std::size_t>(grid.width));
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t p = i / grid.height, y = i % grid.height;
      std::fill(sums.begin(), sums.end(), Value{0});
      corners.of_row(y, [&](std::int64_t index, const Region& region, bool bottom) {
        const Value value = values[index * planes + p];
        for (const bool right : {false, true}) {
          const std::int64_t x = region.x + (right ? region.width : 0);
          if (!grid.has_column(x)) continue;
          Value& sum = sums[static_cast<std::size_t>(x - grid.shift)];
          sum = formulas::is_minus_corner((right ? 1 : 0) + (bottom ? 2 : 0)) ? sum - value : sum + value;
        }
      });
      const View plane = with_plane(out, p);
      char* const row = static_cast<char*>(plane.row(y));
      for (std::int64_t x = 0; x < grid.width; ++x) {
        const auto element = static_cast<T>(sums[static_cast<std::size_t>(x)]);
        std::memcpy(row + x * plane.column_pitch(), &element, sizeof element);
      }
    }
  });
}

template <class Value>
void scatter_values(Span<const Region> regions, Span<const Value> values, const View& out, Border border,
                    const QueryOptions& options, Span<std::byte> workspace) {
  const TableView shaped(out, border);
  require_tables(shaped, "out");
  require(is_float(out.type) == std::is_same_v<Value, double> &&
              is_signed_integer(out.type) == std::is_same_v<Value, std::int64_t>,
          "values: ", name_of(type_of<Value>), " for an output of ", name_of(out.type),
          ": 64f goes to 32f and 64f, 64u to 32u and 64u, 64s to 32s and 64s");
  require(regions.size() < std::size_t{1} << 30, "regions: ", regions.size(), ", they may be 2^30 - 1");
  std::int64_t wanted = 0;
  require(!__builtin_mul_overflow(static_cast<std::int64_t>(regions.size()), planes_of(out.shape), &wanted) &&
              static_cast<std::int64_t>(values.size()) == wanted,
          "values: ", values.size(), " of them, there must be ", regions.size(), " regions times batch ",
          out.shape.batch, " times ", out.shape.channels, " channels");
  QueryCall call(options.execution, {{"out", out.memory}});
  const RegionRules rules{shaped.image_width(), shaped.image_height(), options.outside, false};
  if (!call.on_cpu()) {
    const kernels::RegionList list = listed(call, regions, options, rules);
    const Value* const there = call.in(values, "values");
    return call.answer(kernels::ScatterRequest{
        list, there, out, border, call.workspace(workspace, kernels::ScatterRequest::workspace_bytes(list.count))});
  }
  require(workspace.empty(), "workspace: ", workspace.size(), " bytes, but the CPU works in none");
  const std::span<const Region> all(call.in(regions, "regions"), regions.size());
  const Value* const from = call.in(values, "values");
  FirstInvalid first_invalid(call, options);
  const auto grid = CornerGrid::of(out.shape.width, out.shape.height, border);
  const CornersOfRows corners(all, rules, grid, first_invalid);
  first_invalid.store();
  if constexpr (std::is_same_v<Value, double>)
    (out.type == Type::f32 ? scatter<float, double> : scatter<double, double>)(corners, from, out, grid,
                                                                               call.threads());
  else  // signed and unsigned alike, by bits
    (size_of(out.type) == 4 ? scatter<std::uint32_t, std::uint64_t>
                            : scatter<std::uint64_t, std::uint64_t>)(corners,
                                                                     reinterpret_cast<const std::uint64_t*>(from), out,
                                                                     grid, call.threads());
}

}  // namespace

std::size_t scatter_workspace_bytes(std::size_t regions) {
  require(regions < std::size_t{1} << 30, "regions: ", regions, ", they may be 2^30 - 1");
  return kernels::ScatterRequest::workspace_bytes(static_cast<std::int64_t>(regions));
}

void scatter_corners(Span<const Region> regions, Span<const double> values, const View& out, Border border,
                     const QueryOptions& options, Span<std::byte> workspace) {
  scatter_values(regions, values, out, border, options, workspace);
}

void scatter_corners(Span<const Region> regions, Span<const std::uint64_t> values, const View& out, Border border,
                     const QueryOptions& options, Span<std::byte> workspace) {
  scatter_values(regions, values, out, border, options, workspace);
}

void scatter_corners(Span<const Region> regions, Span<const std::int64_t> values, const View& out, Border border,
                     const QueryOptions& options, Span<std::byte> workspace) {
  scatter_values(regions, values, out, border, options, workspace);
}

}  // namespace areal
