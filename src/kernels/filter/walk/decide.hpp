#pragma once
// Which bytes are above their local thresholds: decided by floats where these leave no doubt, else in double. Outputs
// are those of FilterFinish.

#include <cmath>
#include <cstdint>
#include <limits>
#include "formulas/local_threshold.hpp"
#include "formulas/rounding.hpp"
#include "kernels/filter/axis.hpp"
#include "kernels/filter/finish.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// The threshold of a window of n pixels with the sum S1 and the sum of squares S2 is
///   S1 (mean + cross root) + by_root root + shift,   root^2 = n S2 - S1^2 + more S1^2.
/// It differs from the one in double by less than `bound`: each operation errs by at most 2^-24 of its result, root by
/// 2^-21, and the bound is 2^-19 of all terms' greatest sizes.
struct WalkDecide {
  float mean = 0, cross = 0, by_root = 0, shift = 0, more = 0, bound = 0, from = 0;
  bool simple = true;                   ///< by_root and more are 0, and `from` is shift + 2^23
  bool whole = false;                   ///< S1 - n offset is a whole number, with which n times the pixel is compared
  std::int32_t offset = 0;              ///< n offset, if `whole`
  std::int32_t pixels = 0, middle = 0;  ///< n, 128 n
  std::uint32_t above = 0, below = 0;   ///< the outputs, each four times
  std::uint32_t magic = 0x4b000000;     ///< the bits of 2^23
  int centre_after = 0;                 ///< columns from a window's pixel to its last one

  WalkDecide() = default;
  WalkDecide(const FilterFinish& finish, std::uint32_t n, int after) : centre_after(after) {
    using filter::Local;
    static constexpr double most = 255, most_deviation = 127.5;
    const formulas::LocalThreshold& local = finish.local;
    const double per_pixel = 1.0 / n, strength = std::abs(local.k);
    pixels = static_cast<std::int32_t>(n), middle = 128 * pixels;
    double terms = most + std::abs(local.offset), at_sum = per_pixel, at_root = 0;
    if (local.method == Local::bradley) {
      at_sum = (1 - local.k) * per_pixel, terms += most * strength;
    } else if (local.method == Local::sauvola) {
      at_sum = (1 - local.k) * per_pixel, cross = static_cast<float>(local.k / local.r * per_pixel * per_pixel);
      terms += most * strength * (1 + most_deviation / local.r);
    } else if (local.needs_squares()) {
      at_root = local.k * per_pixel, terms += 2 * most * strength;
      if (local.method == Local::nick) more = static_cast<float>(1 - per_pixel);
    }
    simple = at_root == 0 && std::abs(local.offset) < 0x1p21 && local.offset == std::nearbyint(local.offset);
    const double all = local.offset * n;
    whole = local.method == Local::mean && std::abs(all) < 0x1p29 && all == std::nearbyint(all);
    if (whole) offset = static_cast<std::int32_t>(all);
    mean = static_cast<float>(at_sum), by_root = static_cast<float>(at_root);
    shift = static_cast<float>(0 - local.offset), from = static_cast<float>(0x1p23 - local.offset),
    bound = static_cast<float>(terms * 0x1.01p-19);
    above = 0x01010101u * formulas::rounded<std::uint8_t>(finish.above);
    below = 0x01010101u * formulas::rounded<std::uint8_t>(finish.below);
  }

  /// If `whole`: S1 - n offset less n times the pixel.
  AREAL_DEVICE std::uint32_t whole_apart(std::uint32_t sum, std::uint32_t pixel) const {
    return sum - static_cast<std::uint32_t>(offset) - static_cast<std::uint32_t>(pixels) * pixel;
  }
  /// The bits of the threshold less the pixel, whose highest is set where the pixel is above. `pixel` has the bits of
  /// 2^23 more. That may be wrong where the threshold is less than `bound` away: `least` is the least such distance. n
  /// S2 is n (128 S1 + squares) + more_squares: see ByteSquares.
  template <bool has_squares, bool simple_, class M>
  AREAL_DEVICE std::uint32_t apart(const M& m, std::uint32_t sum, std::uint32_t squares, std::int64_t more_squares,
                                   std::uint32_t pixel, float& least) const {
    const auto s = static_cast<float>(sum), raised = __builtin_bit_cast(float, pixel);
    float factor = mean, addend = simple_ ? from - raised : shift - (raised - 0x1p23f);
    if constexpr (has_squares) {
      const auto s1 = static_cast<std::int32_t>(sum), s2 = static_cast<std::int32_t>(squares);
      const std::int64_t top = m.multiply_wide(s2, pixels, m.multiply_wide(s1, middle - s1, more_squares));
      auto radicand = static_cast<float>(top);
      if constexpr (!simple_) radicand = std::fma(s * more, s, radicand);
      const float root = m.root_estimate(radicand);
      factor = std::fma(cross, root, factor);
      if constexpr (!simple_) addend = std::fma(by_root, root, addend);
    }
    const float apart = std::fma(s, factor, addend);
    least = std::fmin(least, std::abs(apart));
    return __builtin_bit_cast(std::uint32_t, apart);
  }
};

/// Four outputs: `above` where the sign bit of `apart` is set, else `below`, each of which has an output four times.
template <class M>
AREAL_DEVICE std::uint32_t outputs_by_sign(const M& m, const std::uint32_t (&apart)[4], std::uint32_t above,
                                           std::uint32_t below) {
  const std::uint32_t signs =
      m.permute(m.permute_signs(apart[0], apart[1], 0xfbfb), m.permute_signs(apart[2], apart[3], 0xfbfb), 0x5410);
  return (above & signs) | (below & ~signs);
}

/// 16 windows of a lane. `doubtful` has those that are decided in double: floats may be wrong there, or a part of the
/// window lies beyond the edge.
struct Doubtful {
  static constexpr int V = 16;
  using Part = Vec<std::uint32_t, 4>;
  FilterFinish finish;
  FilterAxis columns;
  std::uint32_t sum[V], squares[V];
  Part pixels, part;       ///< bytes; outputs by floats
  std::uint32_t doubtful;  ///< a bit each
  int x, down;             ///< column of the first one; rows of the windows
  bool whole;              ///< they have all their columns

  /// All outputs.
  AREAL_DEVICE_CALL Part exactly() const {
    Part to = part;
    AREAL_NO_UNROLL
    for (int i = 0; i < V; ++i) {
      std::uint32_t byte = to.at[0] & 0xff;
      if (doubtful >> i & 1) {
        const std::int64_t n = std::int64_t{down} * (whole ? columns.size : columns.inside(x + i));
        const auto pixel = [&] { return static_cast<double>(pixels.at[i / 4] >> (8 * (i % 4)) & 0xff); };
        byte = formulas::rounded<std::uint8_t>(finish(sum[i], false, squares[i], static_cast<std::uint64_t>(n), pixel));
      }
      AREAL_UNROLL
      for (int k = 0; k < 4; ++k) to.at[k] = to.at[k] >> 8 | (k < 3 ? to.at[k + 1] << 24 : 0);
      to.at[3] |= byte << 24;
    }
    return to;
  }
};

/// A lane's 16 windows.
template <class M, class Squares>
struct Decision {
  static constexpr int V = 16;
  static constexpr bool has_squares = requires { Squares::squares(0u, 0u); };
  static constexpr int squares = has_squares ? V + 1 : 1;  // the last one: what the others lack
  using Part = Vec<std::uint32_t, 4>;
  using Sums = std::uint32_t[V];
  using SquareSums = std::uint32_t[squares];

  const M& m;
  const WalkDecide& a;

  /// The outputs, and whether one of them may be wrong.
  AREAL_DEVICE Part of(const Sums& sum, const SquareSums& square, const Part& pixels, bool& doubt) const {
    if (!has_squares && a.whole) return by<Apart::whole>(sum, square, pixels, doubt);
    if (!has_squares || a.simple) return by<Apart::simple>(sum, square, pixels, doubt);
    return by<Apart::general>(sum, square, pixels, doubt);
  }
  /// The same in double where floats leave a doubt, and for windows of `down` rows of which a part lies beyond the
  /// edge. The first one is that of column x.
  AREAL_DEVICE Part exactly(const Sums& sum, const SquareSums& square, const Part& pixels, const FilterFinish& finish,
                            const FilterAxis& columns, int down, bool whole, int x) const {
    Doubtful lane;
    AREAL_UNROLL
    for (int i = 0; i < V; ++i) {
      lane.sum[i] = sum[i], lane.squares[i] = 0;
      if constexpr (has_squares) lane.squares[i] = Squares::squares(square[i] + square[V], sum[i]);
    }
    lane.finish = finish, lane.columns = columns, lane.pixels = pixels, lane.part = {}, lane.doubtful = 0xffff;
    lane.down = down, lane.x = x, lane.whole = whole;
    return lane.exactly();
  }
  /// The pixels of the lane's windows, from the vector that it has and the lane's before.
  AREAL_DEVICE Part centre_of(const Part& vector) const {
    const int bytes = a.centre_after % V;
    switch ((bytes + 3) / 4) {
      case 0:
        return vector;
      case 1:
        return behind<1>(vector, bytes);
      case 2:
        return behind<2>(vector, bytes);
      case 3:
        return behind<3>(vector, bytes);
      default:
        return behind<4>(vector, bytes);
    }
  }

 private:
  enum class Apart : std::uint8_t { whole, simple, general };

  template <Apart how>
  AREAL_DEVICE Part by(const Sums& sum, const SquareSums& square, const Part& pixels, bool& doubt) const {
    float least = std::numeric_limits<float>::max();
    std::int64_t more = 0;
    if constexpr (has_squares) more = m.multiply_wide(static_cast<std::int32_t>(square[V]), a.pixels, 0);
    Part part;
    AREAL_UNROLL
    for (int k = 0; k < 4; ++k) {
      std::uint32_t apart[4];
      AREAL_UNROLL
      for (int b = 0; b < 4; ++b) {
        const int i = 4 * k + b;
        const auto place = static_cast<std::uint32_t>(b);
        if constexpr (how == Apart::whole)
          apart[b] = a.whole_apart(sum[i], m.permute(pixels.at[k], 0, 0x4440 + place));
        else
          apart[b] = a.template apart<has_squares, how == Apart::simple>(
              m, sum[i], square[has_squares ? i : 0], more, m.permute(pixels.at[k], a.magic, 0x7440 + place), least);
      }
      part.at[k] = outputs_by_sign(m, apart, a.above, a.below);
    }
    doubt = least < a.bound;
    if (doubt) {
      std::uint32_t any = 0;
      AREAL_UNROLL
      for (int i = 0; i < V; ++i) any |= sum[i];
      doubt = any != 0;  // black windows have the threshold `shift`
    }
    return part;
  }
  /// The 16 bytes that begin so many bytes before the lane's, n words of the lane before.
  template <int n>
  AREAL_DEVICE Part behind(const Part& part, int bytes) const {
    std::uint32_t word[4 + n + 1];
    AREAL_UNROLL
    for (int i = 0; i < n; ++i) word[i] = m.shuffle_up(part.at[4 - n + i], 1);
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) word[n + i] = part.at[i];
    word[n + 4] = 0;
    const std::uint32_t selector = 0x3210 + 0x1111 * static_cast<std::uint32_t>(4 * n - bytes);
    Part to;
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) to.at[i] = m.permute(word[i], word[i + 1], selector);
    return to;
  }
};

}  // namespace areal::kernels
