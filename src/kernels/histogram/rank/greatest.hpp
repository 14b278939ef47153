#pragma once
// The rank store: the greatest pixel of unsigned integers.

#include <cstdint>
#include "kernels/histogram/rank/tile.hpp"

namespace areal::kernels {

/// A warp has a row of a matrix at a time. Reads each pixel once; an atomic minimum for each warp.
template <class M, class C>
struct RankGreatest {
  using Args = RankArgs;
  using Shared = NoShared;
  using Pixel = typename C::Pixel;
  static constexpr int threads = 256, resident = 4, warps = threads / warp_size;
  M m;
  const Args& a;

  AREAL_DEVICE void operator()() {
    std::uint64_t greatest = 0;
    AREAL_NO_UNROLL
    for (std::int64_t row = m.block() * warps + m.warp(); row < a.r.matrices * a.r.height; row += m.blocks() * warps) {
      const std::int64_t matrix = row / a.r.height, image = matrix / a.channels;
      const char* const first = a.image + image * a.in.batch + (matrix - image * a.channels) * a.in.channel +
                                (row - matrix * a.r.height) * a.in.row;
      for (std::int64_t x = m.lane(); x < a.r.width; x += warp_size) {
        const std::uint64_t pixel = load_element<M, Pixel>(m, first + x * a.in.column, a.aligned);
        if (pixel > greatest) greatest = pixel;
      }
    }
    AREAL_UNROLL
    for (int n = warp_size / 2; n > 0; n /= 2) {
      const std::uint64_t other = m.shuffle_xor(greatest, n);
      if (other > greatest) greatest = other;
    }
    if (m.lane() == 0) m.atomic_min(a.greatest, ~greatest);
  }
};

}  // namespace areal::kernels
