#pragma once
// Which bytes are above their local thresholds with a deviation, by the matrix products of warpgroups; one launch
// without a workspace. Outputs are those of FilterFinish.
//
// The sums of windows are those of TileBandMeans. Sums of squares are made alike, of (p - 128)^2 = low + 128 high: the
// loaders write these two planes of bytes beside each chunk. A band can have the weight 128, so that both planes share
// the sums of one product. X U gives 15 bits for pixels and 21 for squares. Workers store them in shared memory as
// bytes, in two planes for pixels and three for squares. The products by V then give one sum for pixels, and for
// squares two, A and B, whose total is A + 256 B.
//
// Sums are below 2^24. The decision reads them as denormal floats, which takes neither conversions nor integers of 64
// bits: see TileDecide. Pixels too close to their threshold are decided in double.
//
// Reads: for each segment of S rows and strip, those of S rows and of a window's other rows, columns + 64 columns of
// each, and the pixels of the outputs again. Writes: each output once.

#include <cmath>
#include <cstdint>
#include "kernels/filter/walk/decide.hpp"
#include "kernels/filter/walk/tile_walk.hpp"

namespace areal::kernels {

/// `simple`: the threshold has neither by_root nor more of WalkDecide.
template <int steps_, bool simple_>
struct DecidesByTileBands {
  static constexpr int steps = steps_;
  static constexpr bool simple = simple_;
};

/// WalkDecide for sums that are read as denormal floats, 2^-149 times their value. The threshold less the pixel is
/// 2^-40 times its value, roots 2^-22, squares 2^-44. n^2 times the variance is n (A + 256 B) - (S1 - 128 n)^2, which
/// cancels: it is wrong by less than 2^-22 of A n <= 255 n^2 / columns, and a root by the root of that.
struct TileDecide {
  float mean = 0, cross = 0, by_root = 0, shift = 0, more = 0, bound = 0;
  float centre = 0, by_low = 0, by_high = 0;  ///< of S1 - 128 n; n for A, and for B
  std::uint32_t above = 0, below = 0;         ///< the outputs, each four times
  std::uint32_t least_word = 0;               ///< words of four pixels below it are never in doubt

  TileDecide() = default;
  TileDecide(const FilterFinish& finish, std::uint32_t n, int columns) {
    const WalkDecide walk(finish, n, 0);
    const formulas::LocalThreshold& local = finish.local;
    const bool sauvola = local.method == filter::Local::sauvola;
    const double deviation = std::sqrt(0x1p-22 * 255 / columns + 1e-9);
    const double doubt = deviation * std::abs(local.k) * (sauvola ? 255 / local.r : 1);
    mean = walk.mean * 0x1p109f, cross = static_cast<float>(static_cast<double>(walk.cross) * 0x1p131);
    by_root = walk.by_root * 0x1p-18f, shift = walk.shift * 0x1p-40f, more = walk.more;
    bound = static_cast<float>((static_cast<double>(walk.bound) + doubt) * 0x1p-40);
    const auto pixels = static_cast<float>(n);
    centre = pixels * -0x1p-15f, by_low = pixels * 0x1p105f, by_high = pixels * 0x1p113f;
    above = walk.above, below = walk.below;
    // No threshold is negative, so that pixels of 0 are not above theirs, by floats either.
    if (local.offset <= 0 && local.k >= 0 && (!sauvola || local.k <= 1)) least_word = 1;
  }
  bool finite() const { return std::isfinite(cross) && std::isfinite(bound); }

  template <bool simple, class M>
  AREAL_DEVICE float apart(const M& m, std::uint32_t sum, std::uint32_t low, std::uint32_t high,
                           std::uint32_t pixel) const {
    const auto real = [](std::uint32_t bits) { return __builtin_bit_cast(float, bits); };
    const float s = real(sum), c = std::fma(s, 0x1p127f, centre), square = c * c, rest = std::fma(c, c, -square);
    float radicand = std::fma(real(low), by_low, std::fma(real(high), by_high, -square)) - rest;
    float addend = std::fma(real(pixel), -0x1p109f, shift);
    if constexpr (!simple) {
      const float size = c - centre;
      radicand = std::fma(size * more, size, radicand);
    }
    const float root = m.root_estimate(std::abs(radicand));
    if constexpr (!simple) addend = std::fma(by_root, root, addend);
    return std::fma(s, std::fma(cross, root, mean), addend);
  }
};

struct TileDecideArgs : BandMeansArgs {
  FilterFinish finish;
  TileDecide decide;
};

template <class M, class C>
struct TileBandDecide : TileWalk<M, TileDecideArgs, 2, C::steps, 2, 4> {
  using Base = TileWalk<M, TileDecideArgs, 2, C::steps, 2, 4>;
  using Base::a, Base::chunk, Base::each, Base::group_threads, Base::groups, Base::m, Base::quarter, Base::reach,
      Base::stages, Base::steps, Base::vectors, Base::workers;
  using Base::make_bars, Base::stage_of, Base::tile_of;
  using typename Base::Sums, typename Base::Tile, typename Base::Vector;
  static constexpr int late = 2;    // chunks in flight behind the one whose squares are made
  static constexpr int planes = 5;  // of sums along rows: two bytes of pixels, three of squares; the highest doubled

  struct Shared : Base::Tiles {
    Tile sums[groups][planes][2][4];
  };

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const BandPlace at = this->place_of(m.block());
    this->begin(s, at);
    if (m.thread() >= workers) {
      const bool fills = this->sided(at) && a.columns.copies();
      return this->template load<late>(s, at, [&](int number) {
        if (fills) {
          this->fill_sides(s, at, number);
          m.sync_warp();
        }
        make_squares(s, number);
      });
    }
    make_bars(s);
    m.fence_async();
    m.sync(groups + 1, workers);
    walk(s, at);
  }

  // ---------------------------------------------------------------- squares

  /// Where the lower or the higher parts of a chunk's squares lie.
  AREAL_DEVICE static int plane_of(int number, int plane) { return stages + number % 2 * 2 + plane; }
  /// Of the warp's rows of a chunk, which it passes on.
  AREAL_DEVICE void make_squares(Shared& s, int number) const {
    if (number >= 2) m.wait(s.empty[stage_of(number - 2)], this->parity_of(number - 2));
    static constexpr int turns = quarter * vectors / warp_size;
    const auto cell = [&](int stage, int turn) -> Vector& {
      const int n = m.lane() + turn * warp_size;
      return s.tile.cell(stage, quarter * this->loader() + n / vectors, n % vectors);
    };
    Vector pixels[turns];
    AREAL_UNROLL
    for (int i = 0; i < turns; ++i) pixels[i] = m.get(cell(stage_of(number), i));
    AREAL_UNROLL
    for (int i = 0; i < turns; ++i) {
      Vector low, high;
      AREAL_UNROLL
      for (int w = 0; w < 4; ++w) squares_of(pixels[i].at[w], low.at[w], high.at[w]);
      m.put(cell(plane_of(number, 0), i), low);
      m.put(cell(plane_of(number, 1), i), high);
    }
    m.arrive(s.full[stage_of(number)]);
  }
  /// (p - 128)^2 = low + 128 high of four bytes.
  AREAL_DEVICE void squares_of(std::uint32_t word, std::uint32_t& low, std::uint32_t& high) const {
    // |p - 128|: p - 128 from 128 on, else 127 - p + 1.
    const std::uint32_t below = ~m.permute_signs(word, 0, 0xba98);
    const std::uint32_t size = ((word ^ below) & 0x7f7f7f7fu) + (below & 0x01010101u);
    std::uint32_t square[4];
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) square[i] = m.dot4(size & 0xffu << (8 * i), size, 0);
    const auto bytes = this->bytes_of(square[0], square[1], square[2], square[3]);
    low = bytes.at[0], high = bytes.at[1] << 1;
  }

  // ---------------------------------------------------------------- sums

  /// Begins X U of a chunk.
  AREAL_DEVICE void across(Shared& s, int group, int number, Sums& sum, Sums& square) const {
    this->wait_for(s, number);
    m.begin_products();
    AREAL_UNROLL
    for (int step = 0; step < reach / 32; ++step) {
      const int vector = 4 * group + 2 * step;
      m.multiply_tiles(sum, tile_of(s.across[0][2 * step]), s.tile.tile(stage_of(number), vector), step > 0);
      m.multiply_tiles(square, tile_of(s.across[0][2 * step]), s.tile.tile(plane_of(number, 0), vector), step > 0);
      m.multiply_tiles(square, tile_of(s.across[1][2 * step]), s.tile.tile(plane_of(number, 1), vector), true);
    }
    m.commit_products();
  }
  /// Puts its sums, once all of the group have read those of two chunks before.
  AREAL_DEVICE void keep(Shared& s, int group, int number, const Sums& sum, const Sums& square) const {
    this->give_back(s, number);
    m.sync(group + 1, group_threads);
    AREAL_UNROLL
    for (int j = 0; j < 8; j += 2) AREAL_UNROLL
    for (int h = 0; h < 2; ++h) {
      const int n = 4 * j + 2 * h, block = 2 * (m.warp() % 4) + h;
      const auto put = [&](int plane, std::uint32_t word) {
        m.put(s.sums[group][plane][number % 2][j / 2][block][m.lane()], word);
      };
      const auto sums = this->bytes_of(sum[n], sum[n + 1], sum[n + 4], sum[n + 5]);
      put(0, sums.at[0]), put(1, sums.at[1] << 1);
      const auto squares = this->bytes_of(square[n], square[n + 1], square[n + 4], square[n + 5]);
      put(2, squares.at[0]), put(3, squares.at[1]);
      put(4, m.permute(m.permute(square[n], square[n + 1], 0x0062), m.permute(square[n + 4], square[n + 5], 0x0062),
                       0x5410)
                 << 1);
    }
    m.fence_async();
    m.sync(group + 1, group_threads);
  }
  /// Begins V (X U) of the chunk of outputs whose windows begin in the chunk before this one.
  AREAL_DEVICE void down(Shared& s, int group, int number, Sums& sum, Sums& low, Sums& high) const {
    m.begin_products();
    AREAL_UNROLL
    for (int step = 0; step < steps; ++step) {
      const auto right = [&](int plane) {
        return tile_of(s.sums[group][plane][(number + 1 + step / 2) % 2][2 * (step % 2)]);
      };
      const ByteTile ones = tile_of(s.down[0][2 * step]), more = tile_of(s.down[1][2 * step]);
      m.multiply_tiles(sum, ones, right(0), step > 0);
      m.multiply_tiles(low, ones, right(2), step > 0);
      m.multiply_tiles(high, ones, right(3), step > 0);
      m.multiply_tiles(sum, more, right(1), true);
      m.multiply_tiles(high, more, right(4), true);
    }
    m.commit_products();
  }

  // ---------------------------------------------------------------- outputs

  /// The outputs of 16 windows; `doubtful`: those that may be wrong.
  template <int h>
  AREAL_DEVICE Vector decided(const Sums& sum, const Sums& low, const Sums& high, const Vector& pixels,
                              std::uint32_t& doubtful) const {
    Vector part;
    AREAL_UNROLL
    for (int k = 0; k < 4; ++k) {
      float apart[4];
      AREAL_UNROLL
      for (int b = 0; b < 4; ++b) {
        const int n = 4 * (2 * k + b / 2) + 2 * h + b % 2;
        apart[b] = a.decide.template apart<C::simple>(m, sum[n], low[n], high[n],
                                                      m.permute(pixels.at[k], 0, 0x4440u + static_cast<unsigned>(b)));
      }
      const float least = std::fmin(std::fmin(std::abs(apart[0]), std::abs(apart[1])),
                                    std::fmin(std::abs(apart[2]), std::abs(apart[3])));
      if (least < a.decide.bound && pixels.at[k] >= a.decide.least_word) doubtful |= 0xfu << (4 * k);
      const auto bits = [&](int b) { return __builtin_bit_cast(std::uint32_t, apart[b]); };
      part.at[k] = outputs_by_sign(m, {bits(0), bits(1), bits(2), bits(3)}, a.decide.above, a.decide.below);
    }
    return part;
  }
  /// Of a row of 16 windows.
  template <int h>
  AREAL_DEVICE void output(const Sums& sum, const Sums& low, const Sums& high, const Vector& pixels, int count,
                           char* to) const {
    std::uint32_t doubtful = 0;
    Vector part = decided<h>(sum, low, high, pixels, doubtful);
    if (count <= 0) return;
    if (doubtful != 0) {
      Doubtful lane;
      const auto n = static_cast<std::uint32_t>(a.columns.size * a.rows.size);
      AREAL_UNROLL
      for (int i = 0; i < 16; ++i) {
        const int at = 4 * (i / 2) + 2 * h + i % 2;
        lane.sum[i] = sum[at], lane.squares[i] = low[at] + ((high[at] + sum[at]) << 8) - 16384 * n;
      }
      lane.finish = a.finish, lane.columns = a.columns, lane.pixels = pixels, lane.part = part;
      lane.doubtful = doubtful, lane.x = 0, lane.down = a.rows.size, lane.whole = true;
      part = lane.exactly();
    }
    this->store(to, part, count);
  }

  AREAL_DEVICE void walk(Shared& s, const BandPlace& at) const {
    const int group = m.shuffle(m.warp() / 4, 0);  // the same for all lanes, which the compiler then knows
    const int x = at.x + each * group + 16 * (m.lane() % 4);
    int row = 16 * (m.warp() % 4) + m.lane() / 4;
    char* to = at.out + static_cast<std::int64_t>(at.y + row) * a.to.row + x * a.to.column;
    const char* from = at.image + (std::int64_t{at.y} + row + a.finish.centre_y) * a.from.row + x;
    Sums one, two, three;
    AREAL_NO_UNROLL
    for (int number = 0; number < at.chunks; ++number) {
      across(s, group, number, one, two);
      m.template wait_products<0>(one, two);
      keep(s, group, number, one, two);
      if (number == 0) continue;
      down(s, group, number, one, two, three);
      Vector pixels[2] = {};
      int count[2];
      AREAL_UNROLL
      for (int h = 0; h < 2; ++h) {
        count[h] = row + 8 * h < at.rows ? a.columns.outputs - x : 0;
        if (count[h] > 0) pixels[h] = m.load(reinterpret_cast<const Vector*>(from + 8 * h * a.from.row));
      }
      m.template wait_products<0>(one, two, three);
      output<0>(one, two, three, pixels[0], count[0], to);
      output<1>(one, two, three, pixels[1], count[1], to + 8 * a.to.row);
      row += chunk, to += chunk * a.to.row, from += chunk * a.from.row;
    }
  }
};

}  // namespace areal::kernels
