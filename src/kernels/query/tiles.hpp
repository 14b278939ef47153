#pragma once
// Dense output: a thread an element, a warp 32 consecutive ones of a row, a block 8 rows.

#include <areal/view.hpp>
#include <cstdint>
#include "formulas/rounding.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

struct OutputArgs {
  char* data;
  std::int64_t row, column;
  std::int64_t width, height;
  std::int64_t tiles_x;
  Type type;  ///< 64f, 32f, 8u, 8s, 16u, 16s or 32s
  bool aligned;
  std::int64_t channel, batch;  ///< bytes between planes
};
inline constexpr int output_tile_height = 8;

inline OutputArgs output_args(const View& out) {
  const Strides s = strides(out);
  const std::size_t size = size_of(out.type);
  return {static_cast<char*>(out.data),
          s.row,
          s.column,
          out.shape.width,
          out.shape.height,
          (out.shape.width + warp_size - 1) / warp_size,
          out.type,
          alignment_of(out.data, s, size, size) != Alignment::bytes,
          s.channel,
          s.batch};
}
/// Of one plane.
inline std::int64_t output_blocks(const OutputArgs& out) {
  return out.tiles_x * ((out.height + output_tile_height - 1) / output_tile_height);
}

/// The tile of a block in rows of `across` tiles. A grid has fewer blocks than 2^31, and a 32-bit division takes fewer
/// instructions.
struct TilePlace {
  std::int64_t column, row;
};
AREAL_DEVICE TilePlace tile_place(std::int64_t block, std::int64_t across) {
  const auto tile = static_cast<std::uint32_t>(block), wide = static_cast<std::uint32_t>(across);
  return {std::int64_t{tile % wide}, std::int64_t{tile / wide}};
}

/// The position of a thread's element; may be beyond the last one.
struct OutputPlace {
  std::int64_t x, y;
};
template <class M>
AREAL_DEVICE OutputPlace output_place(const M& m, const OutputArgs& out, std::int64_t block) {
  const TilePlace tile = tile_place(block, out.tiles_x);
  return {tile.column * warp_size + m.lane(), tile.row * output_tile_height + m.warp()};
}

AREAL_DEVICE char* output_at(const OutputArgs& out, const OutputPlace& at, std::int64_t plane) {
  return out.data + plane + at.y * out.row + at.x * out.column;
}
/// Stores N elements one below the other, the first one at `to`, with one branch on their type.
template <int N, class M>
AREAL_DEVICE void write_outputs(const M& m, const OutputArgs& out, char* to, const double (&value)[N],
                                Site site = AREAL_HERE) {
  const auto store = [&](const auto& converted) {
    AREAL_UNROLL
    for (int r = 0; r < N; ++r) store_element(m, to + r * out.row, converted(value[r]), out.aligned, site);
  };
  switch (out.type) {
    case Type::u8:
      return store([](double x) { return formulas::rounded<std::uint8_t>(x); });
    case Type::s8:
      return store([](double x) { return formulas::rounded<std::int8_t>(x); });
    case Type::u16:
      return store([](double x) { return formulas::rounded<std::uint16_t>(x); });
    case Type::s16:
      return store([](double x) { return formulas::rounded<std::int16_t>(x); });
    case Type::s32:
      return store([](double x) { return formulas::rounded<std::int32_t>(x); });
    case Type::f32:
      return store([](double x) { return static_cast<float>(x); });
    default:
      return store([](double x) { return x; });
  }
}
template <class M>
AREAL_DEVICE void write_output(const M& m, const OutputArgs& out, const OutputPlace& at, double value,
                               std::int64_t plane = 0, Site site = AREAL_HERE) {
  const double one[] = {value};
  write_outputs(m, out, output_at(out, at, plane), one, site);
}

}  // namespace areal::kernels
