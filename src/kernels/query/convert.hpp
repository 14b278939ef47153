#pragma once
// A table in another border. 1 launch. Reads and writes each element once, coalesced. The first block computes the row
// and column that an exclusive table lacks from the image's last ones: a warp each, in the CPU's order, as floats
// round; reads each of their pixels and adjacent elements once.

#include "kernels/query/corners.hpp"
#include "kernels/query/launches.hpp"
#include "kernels/query/request.hpp"
#include "kernels/query/tiles.hpp"

namespace areal::kernels {

/// The image's last row and column, if needed.
struct LastArgs {
  const char* data = nullptr;
  std::int64_t row = 0, column = 0;
  Type type = Type::u8;
  bool aligned = false;
};

struct ConvertArgs {
  TableArgs from, to;
  char* out;  ///< the memory of `to`
  LastArgs image;
  std::int64_t width, height;       ///< of the image
  std::int64_t stored_x, stored_y;  ///< `from` has the elements from its shift up to here
  std::int64_t columns, rows;       ///< of `to`
  std::int64_t tiles_x;
};
inline constexpr int convert_threads = 256;
inline constexpr int convert_rows = 4;  // rows of a thread: their loads are in flight together

template <class M, class C>
struct ConvertBorder {
  using T = typename C::T;
  using Sum = Difference<T>;
  using Args = ConvertArgs;
  struct Shared {
    Sum above;  ///< the element above the last one
  };
  static constexpr int threads = convert_threads, resident = 5;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const bool completes = a.image.data != nullptr;
    if (completes && m.block() == 0)
      add_last();
    else
      copy(m.block() - (completes ? 1 : 0));
  }

  // Elements (x, y) are those of border `zero`: the sums of rows < y and columns < x.

  AREAL_DEVICE std::int64_t offset(const TableArgs& table, std::int64_t x, std::int64_t y) {
    return (y - table.shift) * table.row + (x - table.shift) * table.column;
  }
  AREAL_DEVICE T load(std::int64_t x, std::int64_t y) {
    return load_element<M, T>(m, a.from.data + offset(a.from, x, y), a.from.aligned);
  }
  AREAL_DEVICE void store(std::int64_t x, std::int64_t y, T value) {
    store_element(m, a.out + offset(a.to, x, y), value, a.to.aligned);
  }

  AREAL_DEVICE void copy(std::int64_t block) {
    constexpr int warps = threads / warp_size;
    const TilePlace tile = tile_place(block, a.tiles_x);
    const std::int64_t x = tile.column * warp_size + m.lane() + a.to.shift;
    const std::int64_t y = tile.row * (warps * convert_rows) + m.warp() + a.to.shift;
    if (x >= a.columns + a.to.shift) return;
    T element[convert_rows] = {};
    const std::int64_t last = y + (convert_rows - 1) * warps;
    if (stored(x, y) && last < a.stored_y && last < a.rows + a.to.shift) {  // as nearly all: no test for each element
      const char* const in = a.from.data + offset(a.from, x, y);
      char* const out = a.out + offset(a.to, x, y);
      AREAL_UNROLL
      for (int r = 0; r < convert_rows; ++r)
        element[r] = load_element<M, T>(m, in + r * warps * a.from.row, a.from.aligned);
      AREAL_UNROLL
      for (int r = 0; r < convert_rows; ++r) store_element(m, out + r * warps * a.to.row, element[r], a.to.aligned);
      return;
    }
    AREAL_UNROLL
    for (int r = 0; r < convert_rows; ++r)
      if (stored(x, y + r * warps)) element[r] = load(x, y + r * warps);
    AREAL_UNROLL
    for (int r = 0; r < convert_rows; ++r) {
      const std::int64_t down = y + r * warps;
      if (down < a.rows + a.to.shift && (stored(x, down) || x == 0 || down == 0)) store(x, down, element[r]);
    }
  }
  AREAL_DEVICE bool stored(std::int64_t x, std::int64_t y) {
    return x >= a.from.shift && y >= a.from.shift && x < a.stored_x && y < a.stored_y;
  }

  AREAL_DEVICE void add_last() {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0 && a.height == 1) m.put(s.above, Sum{0});
    if (m.warp() == 0)
      walk(
          a.height - 1, [&](std::int64_t i) { return pixel(a.width - 1, i); },
          [&](std::int64_t i) { return before(a.width - 1, i + 1); },
          [&](std::int64_t i, T value) {
            store(a.width, i + 1, value);
            if (i + 2 == a.height) m.put(s.above, static_cast<Sum>(value));
          });
    Sum run = 0;
    if (m.warp() == 1)
      run = walk(
          a.width, [&](std::int64_t i) { return pixel(i, a.height - 1); },
          [&](std::int64_t i) { return i + 1 < a.width ? before(i + 1, a.height - 1) : Sum{0}; },
          [&](std::int64_t i, T value) {
            if (i + 1 < a.width) store(i + 1, a.height, value);
          });
    m.sync();
    if (m.warp() == 1 && m.lane() == 0) store(a.width, a.height, static_cast<T>(m.get(s.above) + run));
  }

  /// An element that both `from` and `to` have.
  AREAL_DEVICE Sum before(std::int64_t x, std::int64_t y) {
    if (x < a.to.shift || y < a.to.shift) return 0;
    return static_cast<Sum>(load(x, y));
  }

  /// By a warp: store(i, before(i) + the first i + 1 terms) for i < n; returns the sum of all terms.
  template <class Term, class Before, class Store>
  AREAL_DEVICE Sum walk(std::int64_t n, const Term& term, const Before& before, const Store& store) {
    Sum run = 0, next = 0, next_before = 0;
    const auto fetch = [&](std::int64_t i) {
      next = i < n ? term(i) : Sum{0};
      next_before = i < n ? before(i) : Sum{0};
    };
    fetch(m.lane());
    for (std::int64_t first = 0; first < n; first += warp_size) {
      const std::int64_t i = first + m.lane();
      const Sum mine = next, mine_before = next_before;
      fetch(i + warp_size);  // in flight while these are added
      Sum up_to_mine = 0;
      AREAL_UNROLL
      for (int k = 0; k < warp_size; ++k) {
        run += m.shuffle(mine, k, full_mask);
        if (k == m.lane()) up_to_mine = run;
      }
      if (i < n) store(i, static_cast<T>(mine_before + up_to_mine));
    }
    return run;
  }

  /// A pixel as a term: modulo 2^k in tables of integers, in double in others.
  AREAL_DEVICE Sum pixel(std::int64_t x, std::int64_t y) {
    const char* const from = a.image.data + y * a.image.row + x * a.image.column;
    switch (a.image.type) {
      case Type::u8:
        return as<std::uint8_t>(from);
      case Type::s8:
        return as<std::int8_t>(from);
      case Type::u16:
        return as<std::uint16_t>(from);
      case Type::s16:
        return as<std::int16_t>(from);
      case Type::u32:
        return as<std::uint32_t>(from);
      case Type::s32:
        return as<std::int32_t>(from);
      case Type::u64:
        return as<std::uint64_t>(from);
      case Type::s64:
        return as<std::int64_t>(from);
      default:
        break;
    }
    if constexpr (!std::is_integral_v<T>) {  // tables of integers have no float images
      if (a.image.type == Type::f16) return float_of(load_element<M, Half>(m, from, a.image.aligned));
      return a.image.type == Type::f32 ? as<float>(from) : as<double>(from);
    }
    return 0;
  }
  template <class Pixel>
  AREAL_DEVICE Sum as(const char* from) {
    return static_cast<Sum>(load_element<M, Pixel>(m, from, a.image.aligned));
  }
};

template <class Launcher>
void run_query(Launcher& launcher, const ConvertRequest& request) {
  const TableView& from = request.from;
  const std::int64_t width = from.image_width(), height = from.image_height();
  const bool nothing = width == 0 || height == 0;
  const std::int64_t more = from.border == Border::exclusive ? 0 : 1;
  const Shape& shape = request.to.shape;
  ConvertArgs a{table_args(from.view, from.border),
                table_args(request.to, request.to_border),
                static_cast<char*>(request.to.data),
                {},
                width,
                height,
                nothing ? 0 : width + more,
                nothing ? 0 : height + more,
                shape.width,
                shape.height,
                (shape.width + warp_size - 1) / warp_size};
  if (request.image) {
    const Strides s = strides(*request.image);
    const std::size_t size = size_of(request.image->type);
    a.image = {static_cast<const char*>(request.image->data), s.row, s.column, request.image->type,
               alignment_of(request.image->data, s, size, size) != Alignment::bytes};
  }
  constexpr std::int64_t tile_rows = convert_threads / warp_size * convert_rows;
  const std::int64_t tiles = a.tiles_x * ((shape.height + tile_rows - 1) / tile_rows);
  launch_each_of<ConvertBorder>(launcher, from.view.type, (tiles + (request.image ? 1 : 0)) * convert_threads, a);
}

}  // namespace areal::kernels
