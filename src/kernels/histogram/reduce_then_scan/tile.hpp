#pragma once
// reduce-then-scan, first launch: the bin numbers of each tile's pixels, and the counts (or weights) of each bin in
// each of its rows and columns.

#include <cstdint>
#include <type_traits>
#include "kernels/histogram/bin_numbers.hpp"
#include "kernels/histogram/reduce_then_scan/carry.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/pixel_bin.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// Tiles of the tensor and of the workspace's arrays. The width follows from a word of numbers for a lane's 4 columns;
/// the height lets their counts of a bin fit a byte, as a row's do.
inline constexpr int tile_width = 4 * warp_size, tile_height = 64, tile_squares = tile_height / 4;
/// The arguments that the three launches share. A: the type of the sums.
template <class A>
struct ReduceThenScanArgs {
  /// A row's or column's sum of a bin within a tile.
  using Part = std::conditional_t<std::is_integral_v<A>, std::uint8_t, A>;

  const char* image;
  const char* weights;
  char* tensor;  ///< where the first sum goes
  Strides in, weight_in, out;
  PixelRule rule;
  Type weight;
  bool edge;                   ///< zeros go left of and above the first sum
  bool corners_along_columns;  ///< see ReduceThenScanWalk
  std::int64_t width, height;  ///< of what is summed
  std::int64_t images;
  int tiles_x, tiles_y, bins;
  int groups;           ///< of bins that are counted at once
  int tiles_per_block;  ///< adjacent tiles that a block writes, each with 8 / tiles_per_block bins
  int tiles_per_warp;   ///< tiles that a warp writes one below the other
  TensorCarryArgs carry;
  // The workspace. A plane is a bin of an image.
  Square* numbers;  ///< [image][group][tile][square][lane]
  A* terms;         ///< [image][tile][tile height][tile width] weights, if any
  Part* rows;       ///< [plane][tile][tile height]
  Part* columns;    ///< [plane][tile][tile width]
  void* left;       ///< [plane][tile][tile height] sums left of the tile in a row; type: see ReduceThenScanSums
  void* above;  ///< [plane][tile][tile width] sums above the tile in a column, for every tiles_per_warp-th tile of the
                ///< column
  A* corners;   ///< [plane][..][..] the totals of a tile's `left` or `above`
};

/// A tile of one image, and a group of bins.
struct ReduceThenScanSpot {
  std::int64_t image, x, y;  ///< of the tile's first pixel
  std::int64_t tile;         ///< of all images
  std::int64_t tile_of_group;
  int first, count;  ///< bins of the group
  bool whole;
};

template <class A>
AREAL_DEVICE ReduceThenScanSpot spot_of_block(const ReduceThenScanArgs<A>& a, std::int64_t block, int group) {
  const auto tiles_x = static_cast<std::uint32_t>(a.tiles_x), tiles_y = static_cast<std::uint32_t>(a.tiles_y);
  const auto groups = static_cast<std::uint32_t>(a.groups);
  auto at = static_cast<std::uint32_t>(block);  // a grid has fewer blocks than 2^31
  ReduceThenScanSpot spot;
  spot.tile_of_group = block;
  spot.x = static_cast<std::int64_t>(at % tiles_x) * tile_width;
  at /= tiles_x;
  spot.y = static_cast<std::int64_t>(at % tiles_y) * tile_height;
  at /= tiles_y;
  spot.first = static_cast<int>(at % groups) * group;
  spot.image = at / groups;
  spot.tile = (spot.image * a.tiles_y + spot.y / tile_height) * a.tiles_x + spot.x / tile_width;
  spot.count = a.bins - spot.first < group ? a.bins - spot.first : group;
  spot.whole = spot.x + tile_width <= a.width && spot.y + tile_height <= a.height;
  return spot;
}

/// Reads a tile's pixels as bin numbers.
template <class M, class A, class In>
struct ReduceThenScanPixels {
  const M& m;
  const ReduceThenScanArgs<A>& a;
  const ReduceThenScanSpot& spot;
  const std::uint8_t* number_of;  ///< in shared memory, of each value of 8 bits; or null

  AREAL_DEVICE std::uint32_t number(int bin) const {
    const auto n = static_cast<std::uint32_t>(bin - spot.first);
    return n < static_cast<std::uint32_t>(spot.count) ? n : no_number;
  }
  AREAL_DEVICE std::uint32_t number_of_value(In value) const {
    if constexpr (sizeof(In) == 1)
      if (number_of) return m.get(number_of[value]);
    return number(bin_of_value<In>(m, a.rule.channel[0], value));
  }
  AREAL_DEVICE const char* pixel(int x, int y) const {
    return a.image + spot.image * a.in.batch + (spot.y + y) * a.in.row + (spot.x + x) * a.in.column;
  }

  /// 4 columns from the lane's first one on, 4 rows from y on; pixels outside the image are in no bin.
  AREAL_DEVICE Square square(int y) const {
    const int x = m.lane() * 4;
    Square numbers;
    if constexpr (sizeof(In) <= 4)
      if (spot.whole && a.in.alignment == Alignment::vectors) {
        Vec<In, 4> values[4];
        AREAL_UNROLL
        for (int i = 0; i < 4; ++i) values[i] = m.load(reinterpret_cast<const Vec<In, 4>*>(pixel(x, y + i)));
        AREAL_UNROLL
        for (int i = 0; i < 4; ++i) {
          std::uint32_t word = 0;
          AREAL_UNROLL
          for (int v = 0; v < 4; ++v) word |= number_of_value(values[i].at[v]) << (8 * v);
          numbers.at[i] = word;
        }
        return numbers;
      }
    const bool aligned = a.in.alignment != Alignment::bytes;
    for (int i = 0; i < 4; ++i) {
      std::uint32_t word = no_number * 0x01010101u;
      if (spot.y + y + i < a.height)
        for (int v = 0; v < 4; ++v)
          if (spot.x + x + v < a.width) {
            const int bin = bin_of_pixel<In>(m, a.rule, pixel(x + v, y + i), a.in.channel, aligned);
            word ^= (number(bin) ^ no_number) << (8 * v);
          }
      numbers.at[i] = word;
    }
    return numbers;
  }
};

/// Counts. Shared memory adds of adjacent lanes never conflict: a lane counts its own 4 columns, then its own 2 rows.
template <class M, class C>
struct ReduceThenScanCount {
  using In = typename C::In;
  using A = typename C::A;
  using Args = ReduceThenScanArgs<A>;
  static constexpr int warps = 8, threads = warps * warp_size, resident = 4;

  struct Shared {
    std::uint32_t tile[tile_height][tile_width / 4 + 1];  // 33 words: lanes also read down a column
    // A cell for each number and lane; the last is for no bin, as an add is cheaper than a branch.
    std::uint32_t columns[(C::group + 1) * warp_size];  // a byte for each of a lane's columns
    std::uint32_t rows[(C::group + 1) * warp_size];     // 16 bits for each row lane, lane + 32
    std::uint8_t number_of[256];
  };

  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    m.trigger_next_launch();
    const ReduceThenScanSpot spot = spot_of_block(a, m.block(), C::group);
    const bool by_value = sizeof(In) == 1 && a.rule.channels == 1;
    const ReduceThenScanPixels<M, A, In> pixels{m, a, spot, by_value ? s.number_of : nullptr};
    if (by_value) {
      const auto value = static_cast<In>(m.thread());
      const std::uint32_t number = pixels.number(bin_of_value<In>(m, a.rule.channel[0], value));
      m.put(s.number_of[m.thread()], static_cast<std::uint8_t>(number));
    }
    for (int bin = m.warp(); bin <= C::group; bin += warps) {
      m.put(s.columns[bin * warp_size + m.lane()], 0u);
      m.put(s.rows[bin * warp_size + m.lane()], 0u);
    }
    m.sync();
    AREAL_UNROLL
    for (int i = 0; i < tile_squares / warps; ++i) count_columns(s, spot, m.warp() + i * warps, pixels);
    m.sync();
    count_rows(s);
    m.sync();
    store(s, spot);
  }

  AREAL_DEVICE void count_columns(Shared& s, const ReduceThenScanSpot& spot, int square,
                                  const ReduceThenScanPixels<M, A, In>& pixels) {
    const Square numbers = pixels.square(square * 4);
    m.store(a.numbers + (spot.tile_of_group * tile_squares + square) * warp_size + m.lane(), numbers);
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) {
      m.put(s.tile[square * 4 + i][m.lane()], numbers.at[i]);
      AREAL_UNROLL
      for (int v = 0; v < 4; ++v) {
        count(s.columns, numbers.at[i] >> (8 * v) & 0xffu, 1u << (8 * v));
      }
    }
  }

  AREAL_DEVICE void count(std::uint32_t* cells, std::uint32_t number, std::uint32_t one) {
    static constexpr std::uint32_t none = C::group;
    std::uint32_t* const of_lane = cells + m.lane();
    m.shared_add(of_lane[(number < none ? number : none) * warp_size], one);
  }

  AREAL_DEVICE void count_rows(Shared& s) {
    static constexpr int words = tile_width / 4 / (warps / 2);  // of a thread
    const int half = m.warp() % 2, from = m.warp() / 2 * words;
    AREAL_UNROLL
    for (int i = 0; i < words; ++i) {
      const std::uint32_t numbers = m.get(s.tile[half * warp_size + m.lane()][from + i]);
      AREAL_UNROLL
      for (int v = 0; v < 4; ++v) {
        count(s.rows, numbers >> (8 * v) & 0xffu, 1u << (16 * half));
      }
    }
  }

  AREAL_DEVICE void store(Shared& s, const ReduceThenScanSpot& spot) {
    const std::int64_t tiles = static_cast<std::int64_t>(a.tiles_x) * a.tiles_y;
    for (int bin = m.warp(); bin < spot.count; bin += warps) {
      const std::int64_t at =
          ((spot.image * a.bins + spot.first + bin) * tiles + spot.tile - spot.image * tiles) * warp_size + m.lane();
      m.store(reinterpret_cast<std::uint32_t*>(a.columns) + at, m.get(s.columns[bin * warp_size + m.lane()]));
      const std::uint32_t both = m.get(s.rows[bin * warp_size + m.lane()]);
      m.store(reinterpret_cast<std::uint16_t*>(a.rows) + at, static_cast<std::uint16_t>((both & 0xffu) | both >> 8));
    }
  }
};

/// Adds weights, each row and each column by one thread from end to end: a fixed order.
template <class M, class C>
struct ReduceThenScanWeigh {
  using In = typename C::In;
  using A = typename C::A;
  using Args = ReduceThenScanArgs<A>;
  static constexpr int warps = 8, threads = warps * warp_size, resident = 2;

  struct Shared {
    A weights[tile_height][tile_width + 1];
    A columns[C::group][tile_width];
    A rows[C::group][tile_height];
    std::uint32_t tile[tile_height][tile_width / 4 + 1];
  };

  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    m.trigger_next_launch();
    const ReduceThenScanSpot spot = spot_of_block(a, m.block(), C::group);
    const ReduceThenScanPixels<M, A, In> pixels{m, a, spot, nullptr};
    for (int bin = m.warp(); bin < spot.count; bin += warps) {
      for (int x = m.lane(); x < tile_width; x += warp_size) m.put(s.columns[bin][x], A(0));
      for (int y = m.lane(); y < tile_height; y += warp_size) m.put(s.rows[bin][y], A(0));
    }
    for (int square = m.warp(); square < tile_squares; square += warps) {
      const Square numbers = pixels.square(square * 4);
      m.store(a.numbers + (spot.tile_of_group * tile_squares + square) * warp_size + m.lane(), numbers);
      AREAL_UNROLL
      for (int i = 0; i < 4; ++i) m.put(s.tile[square * 4 + i][m.lane()], numbers.at[i]);
    }
    load_weights(s, spot);
    m.sync();
    static_assert(tile_height + tile_width <= threads);
    if (m.thread() < tile_height)
      add_row(s, m.thread());
    else if (m.thread() < tile_height + tile_width)
      add_column(s, m.thread() - tile_height);
    m.sync();
    store(s, spot);
  }

  AREAL_DEVICE void load_weights(Shared& s, const ReduceThenScanSpot& spot) {
    switch (a.weight) {
      case Type::u8:
        return load_weights_of<std::uint8_t>(s, spot);
      case Type::u16:
        return load_weights_of<std::uint16_t>(s, spot);
      case Type::f32:
        return load_weights_of<float>(s, spot);
      default:
        return load_weights_of<double>(s, spot);
    }
  }
  /// Two rows of a warp at once.
  template <class Weight>
  AREAL_DEVICE void load_weights_of(Shared& s, const ReduceThenScanSpot& spot) {
    static constexpr int rows = 2, across = tile_width / warp_size;
    const bool aligned = a.weight_in.alignment != Alignment::bytes;
    for (int first = m.warp() * rows; first < tile_height; first += warps * rows) {
      A terms[rows][across] = {};
      AREAL_UNROLL
      for (int i = 0; i < rows; ++i) AREAL_UNROLL
      for (int j = 0; j < across; ++j) {
        const std::int64_t x = spot.x + j * warp_size + m.lane(), y = spot.y + first + i;
        const char* const from =
            a.weights + spot.image * a.weight_in.batch + y * a.weight_in.row + x * a.weight_in.column;
        if (y < a.height && x < a.width) terms[i][j] = static_cast<A>(load_element<M, Weight>(m, from, aligned));
      }
      AREAL_UNROLL
      for (int i = 0; i < rows; ++i) AREAL_UNROLL
      for (int j = 0; j < across; ++j) {
        const int x = j * warp_size + m.lane(), y = first + i;
        m.put(s.weights[y][x], terms[i][j]);
        if (spot.first == 0) m.store(a.terms + (spot.tile * tile_height + y) * tile_width + x, terms[i][j]);
      }
    }
  }

  /// Four pixels of a line in turn, whose weights are loaded already.
  AREAL_DEVICE void add(A& of_number_0, int stride, const std::uint32_t (&numbers)[4], const A (&terms)[4]) {
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (numbers[i] == no_number) continue;
      A& cell = (&of_number_0)[static_cast<int>(numbers[i]) * stride];
      m.put(cell, m.get(cell) + terms[i]);
    }
  }
  AREAL_DEVICE void add_row(Shared& s, int y) {
    for (int x = 0; x < tile_width; x += 4) {
      const std::uint32_t all = m.get(s.tile[y][x / 4]);
      std::uint32_t numbers[4];
      A terms[4];
      AREAL_UNROLL
      for (int i = 0; i < 4; ++i) numbers[i] = all >> (8 * i) & 0xffu, terms[i] = m.get(s.weights[y][x + i]);
      add(s.rows[0][y], tile_height, numbers, terms);
    }
  }
  AREAL_DEVICE void add_column(Shared& s, int x) {
    for (int y = 0; y < tile_height; y += 4) {
      std::uint32_t numbers[4];
      A terms[4];
      AREAL_UNROLL
      for (int i = 0; i < 4; ++i)
        numbers[i] = m.get(s.tile[y + i][x / 4]) >> (x % 4 * 8) & 0xffu, terms[i] = m.get(s.weights[y + i][x]);
      add(s.columns[0][x], tile_width, numbers, terms);
    }
  }

  AREAL_DEVICE void store(Shared& s, const ReduceThenScanSpot& spot) {
    const std::int64_t tiles = static_cast<std::int64_t>(a.tiles_x) * a.tiles_y;
    for (int bin = m.warp(); bin < spot.count; bin += warps) {
      const std::int64_t at = (spot.image * a.bins + spot.first + bin) * tiles + spot.tile - spot.image * tiles;
      for (int x = m.lane(); x < tile_width; x += warp_size)
        m.store(a.columns + at * tile_width + x, m.get(s.columns[bin][x]));
      for (int y = m.lane(); y < tile_height; y += warp_size)
        m.store(a.rows + at * tile_height + y, m.get(s.rows[bin][y]));
    }
  }
};

}  // namespace areal::kernels
