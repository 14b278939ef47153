#pragma once
// Regions in blocks: checked, and their corners' addresses computed, just before the loop that adds.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include "api/core/planes.hpp"
#include "api/core/require.hpp"
#include "api/query/invalid_regions.hpp"
#include "api/query/region_check.hpp"
#include "cpu/query/corners.hpp"
#include "cpu/threads.hpp"
#include "formulas/region.hpp"

namespace areal {

/// A million random regions of an 8192^2 table of 32u: 0.9 to 0.98 of a plain loop of four loads for 8 to 64, with
/// prefetches one block ahead or without (Xeon at 2.5 GHz, virtual): the page walks decide.
inline constexpr std::int64_t regions_per_block = 32;

/// Checks regions against one image, and against borders that lack the last row and column.
struct RegionRules {
  std::int64_t image_width, image_height;
  Outside outside;
  bool lacks_last;  ///< a border is exclusive

  /// True if the region needs no `checked`, as nearly all.
  bool allow(const Region& region) const noexcept {
    return !lacks_last && formulas::lies_inside(region, image_width, image_height);
  }
  /// Out of line, to keep the throwing code out of the loop.
  [[gnu::noinline]] Region checked(const Region& region, std::int64_t index) const {
    return checked_region(region, index, image_width, image_height, outside,
                          lacks_last ? Border::exclusive : Border::zero);
  }
  /// True unless `checked` throws; the region becomes its result.
  [[gnu::noinline]] bool take(Region& region) const noexcept {
    if (!formulas::lies_inside(region, image_width, image_height)) {
      if (outside == Outside::error || region.width < 0 || region.height < 0) return false;
      region = formulas::clipped(region, image_width, image_height);
    }
    return !lacks_last || !formulas::needs_last(region, image_width, image_height);
  }
};
/// For tables that answer together; missing tables are ignored.
inline RegionRules rules_of(const TableView& table, Outside outside, const std::optional<TableView>& squares = {},
                            const std::optional<TableView>& count = {}) {
  const auto lacks_last = [](const std::optional<TableView>& t) { return t && t->border == Border::exclusive; };
  return {table.image_width(), table.image_height(), outside,
          table.border == Border::exclusive || lacks_last(squares) || lacks_last(count)};
}
inline RegionRules rules_of(const TensorView& tensor, Outside outside) {
  return {tensor.image_width(), tensor.image_height(), outside, tensor.border == Border::exclusive};
}

/// The regions of a device's request.
inline kernels::RegionList listed(QueryCall& call, Span<const Region> regions, const QueryOptions& options,
                                  const RegionRules& rules) {
  return listed(call, regions, "regions", options, [&](std::int64_t i) {
    const Region& region = regions[static_cast<std::size_t>(i)];
    if (!rules.allow(region)) [[unlikely]]
      rules.checked(region, i);
  });
}

/// The corners of some consecutive regions, in each of some tables, and their numbers of pixels.
template <std::size_t Tables>
struct RegionBlock {
  std::int64_t first = 0, count = 0;
  std::uint32_t invalid = 0;  ///< bit i: region i is invalid, and empty here
  std::array<std::array<cpu::Corners, regions_per_block>, Tables> corners;
  std::array<std::uint64_t, regions_per_block> pixels;
};

/// Answers for one of several planes: a region's answers for all planes are adjacent.
template <class Out>
struct PlaneAnswers {
  Out* data;
  std::int64_t planes, plane;

  /// Stores answer(values) for a block.
  template <std::size_t Tables, class Answer>
  void put(const RegionBlock<Tables>& block, const Answer& answer) const {
    if (planes == 1) return answer(data + block.first);
    std::array<Out, regions_per_block> values;
    answer(values.data());
    for (std::int64_t i = 0; i < block.count; ++i) data[(block.first + i) * planes + plane] = values[i];
  }
  /// Region i is invalid.
  void put_invalid(std::int64_t i) const { data[i * planes + plane] = invalid_answer<Out>(); }
};

/// The corners of plane p of sums with that many channels. A table with one channel serves all of them.
inline cpu::Corner plane_corner(const TableView& table, std::int64_t p, std::int64_t channels) {
  const std::int64_t own = table.view.shape.channels == channels ? p : p / channels;
  return {with_plane(table.view, own), table.border};
}

/// add(block) for blocks that cover the regions; then, with `first_invalid`, invalid(i) for invalid regions. Without it
/// an exception names the first of them, for any number of threads.
template <std::size_t Tables, class Add, class Invalid>
void for_each_region_block(std::span<const Region> regions, const RegionRules& rules,
                           const std::array<cpu::Corner, Tables>& tables, int threads, FirstInvalid& first_invalid,
                           const Add& add, const Invalid& invalid, std::int64_t grain = 128 * regions_per_block) {
  static_assert(regions_per_block <= 32, "a bit each");
  const bool counts = first_invalid.requested();
  const auto fill = [&](RegionBlock<Tables>& block, std::int64_t first, std::int64_t end) {
    block.first = first;
    block.count = std::min(regions_per_block, end - first);
    block.invalid = 0;
    for (std::int64_t i = 0; i < block.count; ++i) {
      Region region = regions[first + i];
      if (!rules.allow(region)) [[unlikely]] {
        if (!counts) {
          region = rules.checked(region, first + i);
        } else if (!rules.take(region)) {
          region = {};
          block.invalid |= std::uint32_t{1} << i;
        }
      }
      block.pixels[i] = static_cast<std::uint64_t>(region.width) * static_cast<std::uint64_t>(region.height);
      for (std::size_t t = 0; t < Tables; ++t) block.corners[t][i] = tables[t].of(region);
    }
  };
  const auto body = [&](std::int64_t begin, std::int64_t end) {
    RegionBlock<Tables> block;
    for (std::int64_t first = begin; first < end; first += regions_per_block) {
      fill(block, first, end);
      add(block);
      for (std::int64_t i = 0; block.invalid >> i != 0 && i < block.count; ++i)
        if (block.invalid >> i & 1) {
          invalid(first + i);
          first_invalid.found(first + i);
        }
    }
  };
  try {
    cpu::parallel_ranges(threads, static_cast<std::int64_t>(regions.size()), grain, body);
  } catch (const InvalidArgument&) {
    for (std::size_t i = 0; i < regions.size(); ++i) rules.checked(regions[i], static_cast<std::int64_t>(i));
    throw;
  }
  first_invalid.store();
}

}  // namespace areal
