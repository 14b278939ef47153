// Sums that need other corners than a rectangle's four: boxes of a volume, and rotated rectangles.
#include <areal/region.hpp>
#include <array>
#include "api/core/table_check.hpp"
#include "api/query/region_check.hpp"
#include "cpu/query/corner_sums.hpp"
#include "formulas/corners.hpp"

namespace areal {

void box_sums(const ConstView& volume, Border border, std::span<const Box> boxes, std::span<double> out,
              Outside outside) {
  const formulas::Extents extents = require_volume(volume, border);
  require_sum_each(out.size(), boxes.size(), "boxes");
  const std::int64_t shift = border == Border::none ? 1 : 0;
  const auto at = [&](const formulas::SignedPoint& p) -> const char* {
    if (p.x < shift || p.y < shift || p.z < shift) return cpu::zeros;
    return static_cast<const char*>(volume.row(p.y - shift, 0, p.z - shift)) + (p.x - shift) * volume.column_pitch();
  };
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Box box = checked_box(boxes[i], static_cast<std::int64_t>(i), extents, outside);
    std::array<cpu::SignedCorner, 8> corners;
    const bool empty = box.width == 0 || box.height == 0 || box.depth == 0;
    for (int c = 0; c < 8 && !empty; ++c) {
      const formulas::SignedPoint point = formulas::box_point(box, c);
      corners[static_cast<std::size_t>(c)] = {at(point), point.minus};
    }
    out[i] = cpu::signed_sum(volume.type, corners.data(), empty ? 0 : 8);
  }
}

void tilted_sums(const ConstView& tilted, std::span<const Region> regions, std::span<double> out) {
  require_table({tilted, Border::zero}, "tilted");
  require_sum_each(out.size(), regions.size(), "regions");
  const cpu::Corner corner(tilted, Border::zero);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Region& region = regions[i];
    require_rotated(region, static_cast<std::int64_t>(i), tilted.shape.width - 1, tilted.shape.height - 1);
    std::array<cpu::SignedCorner, 4> corners;
    for (int c = 0; c < 4; ++c) {
      const formulas::SignedPoint point = formulas::rotated_point(region, c);
      corners[static_cast<std::size_t>(c)] = {corner.at(point.x, point.y), point.minus};
    }
    out[i] = cpu::signed_sum(tilted.type, corners.data(), region.width == 0 || region.height == 0 ? 0 : 4);
  }
}

}  // namespace areal
