#pragma once
// Means of bytes by the matrix products of warpgroups, one launch without a workspace.
//
// The products are those of BandMeans: V X U, with bands of ones in U for the columns of each window and in V for its
// rows. A block walks down a strip of columns, a chunk of 64 rows after the other. Four warps copy chunks into a ring
// of tiles in shared memory. Each other warpgroup has 64 columns of outputs. Of a chunk it computes X U, sums of 16
// bits, puts their lower and upper bytes into shared memory, and multiplies V by those of two chunks. Meanwhile the
// tensor cores multiply its part of the next chunk.
//
// Reads: for each segment of S rows and strip, those of S rows and of a window's other rows, columns + 64 columns of
// each. Writes: each output once.

#include <cstdint>
#include "formulas/rounded_mean.hpp"
#include "kernels/filter/walk/tile_walk.hpp"

namespace areal::kernels {

/// Windows whose rows lie in `steps` times 32 rows, of two chunks, for each 64 rows of outputs.
template <int steps_, WalkOutput output_>
struct MeansByTileBands {
  static constexpr int steps = steps_;
  static constexpr WalkOutput output = output_;
};

template <class M, class C>
struct TileBandMeans : TileWalk<M, BandMeansArgs, 3, C::steps, 1, 0> {
  using Base = TileWalk<M, BandMeansArgs, 3, C::steps, 1, 0>;
  using Base::a, Base::chunk, Base::each, Base::group_threads, Base::groups, Base::m, Base::reach, Base::steps,
      Base::workers;
  using Base::make_bars, Base::tile_of;
  using typename Base::Sums, typename Base::Tile, typename Base::Two, typename Base::Vector;

  struct Shared : Base::Tiles {
    Tile sums[groups][2][2][4];  // lower and upper bytes; of two chunks
    Two parts[Base::columns];  // for means of windows of each column that have all their rows: factor; shift + 1 + 256
                               // pixels
  };

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const BandPlace at = this->place_of(m.block());
    this->begin(s, at);
    if (m.thread() >= workers) {
      const auto landed = [&](int number) {
        this->fill_sides(s, at, number);
        m.arrive(s.full[this->stage_of(number)]);
      };
      return this->sided(at) && a.columns.copies() ? this->template load<1>(s, at, landed)
                                                   : this->template load<0>(s, at, landed);
    }
    make_bars(s);
    const bool shrinks = this->shrinks(at);
    if (shrinks) make_parts(s, at);
    m.fence_async();
    m.sync(groups + 1, workers);
    shrinks ? walk<true>(s, at) : walk<false>(s, at);
  }

  AREAL_DEVICE void make_parts(Shared& s, const BandPlace& at) const {
    for (int i = m.thread(); i < Base::columns; i += workers) {
      const formulas::RoundedMean mean(static_cast<std::uint32_t>(a.rows.size * a.columns.inside(at.x + i)));
      m.put(s.parts[i], Two{{mean.factor, mean.pixels << 8 | static_cast<std::uint32_t>(mean.shift + 1)}});
    }
  }

  // ---------------------------------------------------------------- sums

  /// Begins X U of a chunk.
  AREAL_DEVICE void across(Shared& s, int group, int number, Sums& sum) const {
    this->wait_for(s, number);
    m.begin_products();
    AREAL_UNROLL
    for (int step = 0; step < reach / 32; ++step) {
      m.multiply_tiles(sum, tile_of(s.across[0][2 * step]), s.tile.tile(this->stage_of(number), 4 * group + 2 * step),
                       step > 0);
    }
    m.commit_products();
  }
  /// Puts its sums, of 16 bits, once all of the group have read those of two chunks before.
  AREAL_DEVICE void keep(Shared& s, int group, int number, const Sums& sum) const {
    this->give_back(s, number);
    m.sync(group + 1, group_threads);
    Tile *const low = s.sums[group][0][number % 2], *const high = s.sums[group][1][number % 2];
    AREAL_UNROLL
    for (int j = 0; j < 8; j += 2) AREAL_UNROLL
    for (int h = 0; h < 2; ++h) {
      const int n = 4 * j + 2 * h, block = 2 * (m.warp() % 4) + h;
      const Two bytes = this->bytes_of(sum[n], sum[n + 1], sum[n + 4], sum[n + 5]);
      m.put(low[j / 2][block][m.lane()], bytes.at[0]);
      m.put(high[j / 2][block][m.lane()], bytes.at[1]);
    }
    m.fence_async();
    m.sync(group + 1, group_threads);
  }
  /// Begins V (X U) of the chunk of outputs whose windows begin in the chunk before this one.
  AREAL_DEVICE void down(Shared& s, int group, int number, Sums& low, Sums& high) const {
    m.begin_products();
    AREAL_UNROLL
    for (int step = 0; step < steps; ++step) {
      const int slot = (number + 1 + step / 2) % 2, place = 2 * (step % 2);
      m.multiply_tiles(low, tile_of(s.down[0][2 * step]), tile_of(s.sums[group][0][slot][place]), step > 0);
      m.multiply_tiles(high, tile_of(s.down[0][2 * step]), tile_of(s.sums[group][1][slot][place]), step > 0);
    }
    m.commit_products();
  }

  // ---------------------------------------------------------------- outputs

  /// Of a window that extends beyond the edge. The estimate differs from the quotient by at most one.
  AREAL_DEVICE std::uint32_t mean_inside(int x, int down, std::uint32_t sum) const {
    const auto n = static_cast<std::uint32_t>(down * a.columns.inside(x)), more = sum + n / 2;
    auto quotient = static_cast<std::uint32_t>(static_cast<float>(more) * m.inverse_estimate(static_cast<float>(n)));
    const std::uint32_t rest = more - quotient * n;
    if (static_cast<std::int32_t>(rest) < 0)
      --quotient;
    else if (rest >= n)
      ++quotient;
    if (n % 2 == 0 && quotient * n == more) quotient -= quotient & 1;
    return quotient;
  }
  template <class F>
  AREAL_DEVICE static Vector each_mean(const F& mean_of) {
    Vector vector{};
    AREAL_UNROLL
    for (int i = 0; i < 16; ++i) vector.at[i / 4] |= (mean_of(i) & 0xffu) << (8 * (i % 4));
    return vector;
  }
  /// Of two rows of 16 windows.
  template <bool shrinks>
  AREAL_DEVICE void output(const Shared& s, const BandPlace& at, int x, int row, const Sums& low, const Sums& high,
                           char* to) const {
    AREAL_UNROLL
    for (int h = 0; h < 2; ++h, row += 8, to += 8 * a.to.row) {
      const auto sum = [&](int i) {
        const int n = i / 2 * 4 + 2 * h + i % 2;
        return low[n] + (high[n] << 8);
      };
      Vector vector;
      AREAL_UNROLL
      for (int w = 0; w < 4; ++w) vector.at[w] = four_means<C::output>(m, a, [&](int i) { return sum(4 * w + i); });
      if constexpr (shrinks) {
        const int inside = a.rows.inside(at.y + row);
        if (inside != a.rows.size)
          vector = each_mean([&](int i) { return mean_inside(x + i, inside, sum(i)); });
        else if (x < a.columns.before || x + 15 + a.columns.after() >= a.columns.extent)
          vector = each_mean([&](int i) {
            const Two part = m.get(s.parts[x - at.x + i]);
            formulas::RoundedMean mean;
            mean.factor = part.at[0], mean.shift = static_cast<int>(part.at[1] & 0xffu) - 1,
            mean.pixels = part.at[1] >> 8;
            return mean(sum(i));
          });
      }
      if (row < at.rows) this->store(to, vector, a.columns.outputs - x);
    }
  }
  /// `shrinks`: some of the windows may lie beyond the edge in part.
  template <bool shrinks>
  AREAL_DEVICE void walk(Shared& s, const BandPlace& at) const {
    const int group = m.shuffle(m.warp() / 4, 0);  // the same for all lanes, which the compiler then knows
    const int x = at.x + each * group + 16 * (m.lane() % 4);
    int row = 16 * (m.warp() % 4) + m.lane() / 4;
    char* to = at.out + static_cast<std::int64_t>(at.y + row) * a.to.row + x * a.to.column;
    Sums next, low, high;
    across(s, group, 0, next);
    m.template wait_products<0>(next);
    keep(s, group, 0, next);
    across(s, group, 1, next);
    m.template wait_products<0>(next);
    AREAL_NO_UNROLL
    for (int number = 1; number < at.chunks; ++number, row += chunk, to += chunk * a.to.row) {
      keep(s, group, number, next);
      down(s, group, number, low, high);
      // The assembler follows products only within a branch.
      if (number + 1 < at.chunks) {
        across(s, group, number + 1, next);
        m.template wait_products<1>(low, high);
        output<shrinks>(s, at, x, row, low, high, to);
        m.template wait_products<0>(next);
      } else {
        m.template wait_products<0>(low, high);
        output<shrinks>(s, at, x, row, low, high, to);
      }
    }
  }
};

}  // namespace areal::kernels
