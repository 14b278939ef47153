#pragma once
// 4R4W (Kasagi 2014, IV). 4 launches, 3 barrier steps. Reads 4, writes 4 per element (4n and 4n - h), all coalesced:
// columns, transpose, columns, transpose. Blocks of 64 threads. Workspace: the transposed table. Floats are the same
// every run.

#include "kernels/sat/kasagi/diagonal.hpp"
#include "kernels/sat/kasagi/scan_lines.hpp"
#include "kernels/sat/plain.hpp"

namespace areal::kernels {

struct TransposeArgs {
  Matrix from, to;
  std::int64_t height = 0, width = 0;  ///< of `from`
  std::int64_t tiles_x = 0;
};

/// A block moves a tile of w x w elements across the diagonal.
template <class M, class C>
struct Transpose {
  using T = typename C::T;
  static constexpr int w = C::w;
  using Args = TransposeArgs;
  using Shared = DiagonalTile<T, w>;
  static constexpr int threads = 64, resident = 1;
  static_assert(threads % w == 0);
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& tile = m.template shared<Shared>();
    const std::int64_t y = m.block() / a.tiles_x * w, x = m.block() % a.tiles_x * w;
    const int j = m.thread() % w;
    for (int i = m.thread() / w; i < w; i += threads / w)
      if (y + i < a.height && x + j < a.width) m.put(tile.at(i, j), load<T, T>(m, a.from, y + i, x + j));
    m.sync();
    for (int i = m.thread() / w; i < w; i += threads / w)
      if (x + i < a.width && y + j < a.height) store(m, a.to, x + i, y + j, m.get(tile.at(j, i)));
  }
};

template <class C, class Launcher>
void transpose(Launcher& launcher, const Matrix& from, const Matrix& to, std::int64_t height, std::int64_t width) {
  const std::int64_t tiles_x = blocks_of(width, C::w);
  launcher.template launch<Transpose, C>(tiles_x * blocks_of(height, C::w), {from, to, height, width, tiles_x}, false);
}

template <int w = warp_size>
struct FourReadFourWrite {
  template <class T>
  static std::size_t workspace_bytes(const TableRequest& request) {
    return transposed_bytes<T>(request);
  }

  template <class In, class T, class Launcher>
  static void sums(Launcher& launcher, const TableRequest& request, const Plain& p, void* workspace) {
    using C = PlainConfig<T, T, w>;
    Workspace from(workspace);
    const Matrix flat = transposed<T>(request, from);
    scan_lines<PlainConfig<In, T>>(launcher, {p.in, p.out, p.width, p.height, false, false});
    transpose<C>(launcher, p.out, flat, p.height, p.width);
    scan_lines<C>(launcher, {flat, flat, p.height, p.width, false, true});
    transpose<C>(launcher, flat, p.out, p.width, p.height);
  }
};

}  // namespace areal::kernels
