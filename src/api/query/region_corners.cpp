// Sums from other corners than a rectangle's four: boxes of a volume, and rotated rectangles.
#include <areal/region.hpp>
#include <array>
#include "api/core/table_check.hpp"
#include "api/query/invalid_regions.hpp"
#include "api/query/query_call.hpp"
#include "api/query/region_check.hpp"
#include "cpu/query/corner_sums.hpp"
#include "cpu/threads.hpp"
#include "formulas/corners.hpp"

namespace areal {

namespace {

// out[i] = sum(part inside of region i) on the CPU. check(i) returns that part or throws; with `first_invalid` it is
// not called for regions whose answers(i) is false.
template <class R, class Answers, class Check, class Sum>
void sum_each(QueryCall& call, Span<const R> regions, const char* name, Span<double> out, const QueryOptions& options,
              const Answers& answers, const Check& check, const Sum& sum) {
  const R* const first = call.in(regions, name);
  double* const values = call.out(out, "out");
  FirstInvalid first_invalid(call, options);
  // On one thread, so that the first invalid one throws.
  cpu::parallel_ranges(1, static_cast<std::int64_t>(regions.size()), 1024, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (first_invalid.requested() && !answers(first[i])) {
        first_invalid.found(i);
        values[i] = invalid_answer<double>();
      } else {
        values[i] = sum(check(first[i], i));
      }
    }
  });
  first_invalid.store();
}

}  // namespace

void box_sums(const SatView& table, Span<const Box> boxes, Span<double> out, const QueryOptions& options) {
  const ConstView& volume = table.sum.view;
  const Border border = table.sum.border;
  const formulas::Extents extents = require_volume(volume, border);
  require_answer_each(out.size(), boxes.size(), "sums", "boxes");
  QueryCall call(options.execution, {{"volume", volume.memory}});
  const auto check = [&](const Box& box, std::int64_t i) { return checked_box(box, i, extents, options.outside); };
  if (!call.on_cpu()) {
    const kernels::BoxList list =
        listed(call, boxes, "boxes", options, [&](std::int64_t i) { check(boxes[static_cast<std::size_t>(i)], i); });
    return call.answer(kernels::BoxesRequest{volume, border, extents, list, call.out(out, "out")});
  }
  const std::int64_t shift = border == Border::none ? 1 : 0;
  const auto at = [&](const formulas::SignedPoint& p) -> const char* {
    if (p.x < shift || p.y < shift || p.z < shift) return cpu::zeros;
    return static_cast<const char*>(volume.row(p.y - shift, 0, p.z - shift)) + (p.x - shift) * volume.column_pitch();
  };
  const auto answers = [&](const Box& box) {
    return formulas::lies_inside(box, extents) ||
           (options.outside == Outside::clip && box.width >= 0 && box.height >= 0 && box.depth >= 0);
  };
  sum_each(call, boxes, "boxes", out, options, answers, check, [&](const Box& box) {
    std::array<cpu::SignedCorner, 8> corners;
    const bool empty = box.width == 0 || box.height == 0 || box.depth == 0;
    for (int c = 0; c < 8 && !empty; ++c) {
      const formulas::SignedPoint point = formulas::box_point(box, c);
      corners[static_cast<std::size_t>(c)] = {at(point), point.minus};
    }
    return cpu::signed_sum(volume.type, corners.data(), empty ? 0 : 8);
  });
}

void tilted_sums(const ConstView& tilted, Span<const Region> regions, Span<double> out, const QueryOptions& options) {
  require_table({tilted, Border::zero}, "tilted");
  require_answer_each(out.size(), regions.size(), "sums", "regions");
  require(options.outside == Outside::error, "outside: rotated rectangles are not clipped, it may be `error`");
  QueryCall call(options.execution, {{"tilted", tilted.memory}});
  const std::int64_t width = tilted.shape.width - 1, height = tilted.shape.height - 1;
  const auto check = [&](const Region& region, std::int64_t i) {
    require_rotated(region, i, width, height);
    return region;
  };
  if (!call.on_cpu()) {
    const kernels::RegionList list = listed(call, regions, "regions", options,
                                            [&](std::int64_t i) { check(regions[static_cast<std::size_t>(i)], i); });
    return call.answer(kernels::RotatedRequest{tilted, list, call.out(out, "out")});
  }
  const cpu::Corner corner(tilted, Border::zero);
  const auto answers = [&](const Region& region) { return formulas::lies_inside_rotated(region, width, height); };
  sum_each(call, regions, "regions", out, options, answers, check, [&](const Region& region) {
    std::array<cpu::SignedCorner, 4> corners;
    for (int c = 0; c < 4; ++c) {
      const formulas::SignedPoint point = formulas::rotated_point(region, c);
      corners[static_cast<std::size_t>(c)] = {corner.at(point.x, point.y), point.minus};
    }
    return cpu::signed_sum(tilted.type, corners.data(), region.width == 0 || region.height == 0 ? 0 : 4);
  });
}

void tilted_sums(const SatView& table, Span<const Region> regions, Span<double> out, const QueryOptions& options) {
  require(table.tilted.has_value(),
          "tilted: rotated rectangles need the tilted table, which this table lacks: make it ", "with tilted sums");
  tilted_sums(*table.tilted, regions, out, options);
}

}  // namespace areal
