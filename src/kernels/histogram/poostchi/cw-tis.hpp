#pragma once
// CW-TiS, the cross-weave tiled scan (Poostchi 2017, 3.4 and Algorithm 4), on tiles of T x T. w/T + h/T launches, each
// rounded up, and one that sets the tensor to 0 and 1 before; w/T + h/T barrier steps. Reads 2, 1/T for the sums of the
// strip before in each scan, and 1/b; writes 3 per element. A launch scans a strip of all bins: first the vertical
// strips from left to right, each row beginning with the last sum of the strip before, then the horizontal ones from
// top to bottom. All is coalesced but for the columns of sums. No workspace. How threads share a tile: square_tile.hpp.

#include "kernels/histogram/plain.hpp"
#include "kernels/histogram/poostchi/square_tile.hpp"
#include "kernels/primitives/planes.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

struct StripArgs {
  Planes tensor;
  std::int64_t width = 0, height = 0;
  std::int64_t strip = 0;
  std::int64_t tiles = 0;  ///< of a strip
};

/// A tile of a vertical strip; a thread a row.
template <class M, class C>
struct TiledHorizontalScan {
  using T = typename C::T;
  using Args = StripArgs;
  using Tile = Square2D<M, C>;
  using Shared = typename Tile::Shared;
  static constexpr int threads = C::threads, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const Tile tile(m, a.tensor, m.block() / a.tiles, m.block() % a.tiles, a.strip, a.height, a.width);
    const auto& at = tile.at;
    tile.load_tile();
    m.sync();
    if (const int i = m.thread(); i < at.rows)
      tile.across(at.x > 0 ? load<Added<T>, T>(m, tile.matrix, at.y + i, at.x - 1) : 0);
    m.sync();
    tile.store_tile();
  }
};

/// A tile of a horizontal strip; a thread a column.
template <class M, class C>
struct TiledVerticalScan {
  using T = typename C::T;
  using Args = StripArgs;
  using Tile = Square2D<M, C>;
  using Shared = typename Tile::Shared;
  static constexpr int threads = C::threads, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const Tile tile(m, a.tensor, m.block() / a.tiles, a.strip, m.block() % a.tiles, a.height, a.width);
    const auto& at = tile.at;
    tile.load_tile();
    m.sync();
    if (const int j = m.thread(); j < at.columns)
      tile.down(at.y > 0 ? load<Added<T>, T>(m, tile.matrix, at.y - 1, at.x + j) : 0);
    m.sync();
    tile.store_tile();
  }
};

template <class T>
class CrossWeaveTiled {
 public:
  CrossWeaveTiled(const HistogramRequest& request, const TensorSize& size, Workspace&)
      : size_(size), tile_(tile_choice(request)) {}

  template <class Launcher>
  void run(Launcher& launcher, const Planes& tensor) const {
    with_tile<T>(tile_, [&]<class C>() {
      const std::int64_t across = blocks_of(size_.width, C::side), down = blocks_of(size_.height, C::side);
      StripArgs a{tensor, size_.width, size_.height, 0, down};
      for (; a.strip < across; ++a.strip)
        launcher.template launch<TiledHorizontalScan, C>(size_.bins * a.tiles, a, false);
      a.tiles = across;
      for (a.strip = 0; a.strip < down; ++a.strip)
        launcher.template launch<TiledVerticalScan, C>(size_.bins * a.tiles, a, false);
    });
  }

 private:
  TensorSize size_;
  TileChoice tile_;
};

}  // namespace areal::kernels
