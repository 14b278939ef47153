#pragma once
// WF-TiS, the wave-front tiled scan (Poostchi 2017, 3.5 and Algorithm 5), on tiles of T x T. w/T + h/T - 1 launches,
// the quotients rounded up, one for each anti-diagonal of tiles of all bins, and one that sets the tensor to 0 and 1
// before; w/T + h/T - 1 barrier steps. Reads 1, 2/T for the sums of the tiles above and to the left, and 1/b; writes 2
// and 1/T per element, all coalesced. A tile first sums its rows, each beginning with the sum that the tile to the left
// saved; it saves their last sums, then sums its columns, each beginning with the finished sum above. Workspace: b h,
// the saved columns, as all bins run at once. How threads share a tile: square_tile.hpp.

#include <algorithm>
#include "kernels/histogram/plain.hpp"
#include "kernels/histogram/poostchi/square_tile.hpp"
#include "kernels/primitives/planes.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

struct WavefrontArgs {
  Planes tensor;
  Matrix saved;  ///< [bin][y]: the rows' sums up to the last tile
  std::int64_t width = 0, height = 0;
  std::int64_t diagonal = 0;  ///< tile y + tile x
  std::int64_t first = 0;     ///< the least tile y
  std::int64_t tiles = 0;     ///< of the diagonal
};

template <class M, class C>
struct TiledWavefrontScan {
  using T = typename C::T;
  using A = Added<T>;
  using Args = WavefrontArgs;
  using Tile = Square2D<M, C>;
  using Shared = typename Tile::Shared;
  static constexpr int threads = C::threads, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t bin = m.block() / a.tiles, tile_y = a.first + m.block() % a.tiles;
    const Tile tile(m, a.tensor, bin, tile_y, a.diagonal - tile_y, a.height, a.width);
    const auto& at = tile.at;
    const int k = m.thread();
    tile.load_tile();
    m.sync();
    if (k < at.rows) {
      const A sum = tile.across(at.x > 0 ? load<A, T>(m, a.saved, bin, at.y + k) : 0);
      if (at.x + C::side < a.width) store(m, a.saved, bin, at.y + k, static_cast<T>(sum));
    }
    m.sync();
    if (k < at.columns) tile.down(at.y > 0 ? load<A, T>(m, tile.matrix, at.y - 1, at.x + k) : 0);
    m.sync();
    tile.store_tile();
  }
};

template <class T>
class WavefrontTiled {
 public:
  WavefrontTiled(const HistogramRequest& request, const TensorSize& size, Workspace& from)
      : size_(size), saved_(take_planes<T>(from, 1, size.bins, size.height).of(0)), tile_(tile_choice(request)) {}

  template <class Launcher>
  void run(Launcher& launcher, const Planes& tensor) const {
    with_tile<T>(tile_, [&]<class C>() {
      const std::int64_t across = blocks_of(size_.width, C::side), down = blocks_of(size_.height, C::side);
      WavefrontArgs a{tensor, saved_, size_.width, size_.height, 0, 0, 0};
      for (; a.diagonal < across + down - 1; ++a.diagonal) {
        a.first = std::max<std::int64_t>(0, a.diagonal - across + 1);
        a.tiles = std::min(a.diagonal, down - 1) - a.first + 1;
        launcher.template launch<TiledWavefrontScan, C>(size_.bins * a.tiles, a, false);
      }
    });
  }

 private:
  TensorSize size_;
  Matrix saved_;
  TileChoice tile_;
};

}  // namespace areal::kernels
