// Sums that need other corners than a rectangle's four: boxes of a volume, and rotated rectangles.
#include <areal/region.hpp>
#include <array>
#include "api/region_check.hpp"
#include "api/require.hpp"
#include "api/table_check.hpp"
#include "cpu/region/corner_sums.hpp"

namespace areal {

namespace {

void require_element(const ConstView& view, const char* argument) {
  require(view.type == Type::u32 || view.type == Type::s32 || view.type == Type::u64 || view.type == Type::s64 ||
              view.type == Type::f32 || view.type == Type::f64,
          argument, ": element type ", name_of(view.type), ": a table holds 32u, 32s, 64u, 64s, 32f or 64f");
}

bool within(std::int64_t first, std::int64_t size, std::int64_t extent) {
  return first >= 0 && size >= 0 && first <= extent && size <= extent - first;
}

Box clipped(const Box& box, std::int64_t index, std::int64_t width, std::int64_t height, std::int64_t depth) {
  const Region face = checked_region({box.x, box.y, box.width, box.height}, index, width, height, Outside::clip);
  const Region side = checked_region({box.z, 0, box.depth, 0}, index, depth, 0, Outside::clip);
  return {face.x, face.y, side.x, face.width, face.height, side.width};
}

}  // namespace

void box_sums(const ConstView& volume, Border border, std::span<const Box> boxes, std::span<double> out,
              Outside outside) {
  require(border != Border::exclusive, "border: a volume table is `zero` or `none`, not `exclusive`");
  require_element(volume, "volume");
  require(volume.shape.channels == 1, "volume: ", volume.shape.channels, " channels, it may have one");
  require_readable(volume, "volume");
  require(out.size() == boxes.size(), "out: ", out.size(), " sums for ", boxes.size(), " boxes");
  const std::int64_t zero = border == Border::zero ? 1 : 0, shift = 1 - zero;
  const std::int64_t width = volume.shape.width - zero, height = volume.shape.height - zero,
                     depth = volume.shape.batch - zero;
  require(width >= 0 && height >= 0 && depth >= 0, "volume: ", volume.shape.width, "x", volume.shape.height, "x",
          volume.shape.batch, " lacks the plane, row and column of zeros of border `zero`");
  const auto at = [&](std::int64_t x, std::int64_t y, std::int64_t z) -> const char* {
    if (x < shift || y < shift || z < shift) return cpu::zeros;
    return static_cast<const char*>(volume.row(y - shift, 0, z - shift)) + (x - shift) * volume.column_pitch();
  };
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    Box box = boxes[i];
    if (!within(box.x, box.width, width) || !within(box.y, box.height, height) || !within(box.z, box.depth, depth)) {
      const auto words = [&] {
        return sentence("box ", i, " (x ", box.x, ", y ", box.y, ", z ", box.z, ", width ", box.width, ", height ",
                        box.height, ", depth ", box.depth, ")");
      };
      require(box.width >= 0 && box.height >= 0 && box.depth >= 0, words(), ": an extent may not be negative");
      require(outside == Outside::clip, words(), " reaches outside the volume of ", width, "x", height, "x", depth);
      box = clipped(box, static_cast<std::int64_t>(i), width, height, depth);
    }
    if (box.width == 0 || box.height == 0 || box.depth == 0) {
      out[i] = 0;
      continue;
    }
    std::array<cpu::SignedCorner, 8> corners;
    for (std::size_t c = 0; c < 8; ++c) {
      const bool right = c & 1, bottom = c & 2, back = c & 4;
      corners[c] = {
          at(right ? box.x + box.width : box.x, bottom ? box.y + box.height : box.y, back ? box.z + box.depth : box.z),
          (right + bottom + back) % 2 == 0};
    }
    out[i] = cpu::signed_sum(volume.type, corners.data(), 8);
  }
}

void tilted_sums(const ConstView& tilted, std::span<const Region> regions, std::span<double> out) {
  require_table({tilted, Border::zero}, "tilted");
  require(out.size() == regions.size(), "out: ", out.size(), " sums for ", regions.size(), " regions");
  const std::int64_t image_width = tilted.shape.width - 1, image_height = tilted.shape.height - 1;
  const cpu::Corner corner(tilted, Border::zero);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const auto [x, y, width, height] = regions[i];
    const auto words = [&, r = regions[i]] {
      return sentence("region ", i, " (x ", r.x, ", y ", r.y, ", width ", r.width, ", height ", r.height, ")");
    };
    require(width >= 0 && height >= 0, words(), ": an extent may not be negative");
    const bool inside = x >= height && x <= image_width && width <= image_width - x && y >= 0 && y <= image_height &&
                        width <= image_height - y && height <= image_height - y - width;
    require(inside, words(), ", rotated, reaches outside the image of ", image_width, "x", image_height,
            ": it must have x - height >= 0, x + width <= ", image_width,
            ", y >= 0 and y + width + height <= ", image_height);
    const std::array<cpu::SignedCorner, 4> corners{{{corner.at(x + width - height, y + width + height), false},
                                                    {corner.at(x - height, y + height), true},
                                                    {corner.at(x + width, y + width), true},
                                                    {corner.at(x, y), false}}};
    out[i] = cpu::signed_sum(tilted.type, corners.data(), width == 0 || height == 0 ? 0 : 4);
  }
}

}  // namespace areal
