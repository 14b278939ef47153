#pragma once
// The integral histogram of Lee and Choe 2014: scan, transpose, scan, transpose. 4 launches and those of longer lines
// (blocked_prescan.hpp). Reads 4, writes 4 per element, all coalesced but for the ends of rows. Workspace: the
// transposed tensor, and the sums of blocks.

#include "kernels/histogram/transpose_planes.hpp"
#include "kernels/primitives/line/blocked_prescan.hpp"
#include "kernels/primitives/planes.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

template <class T, class Map, bool several, int most = most_line_threads>
class ScanTranspose {
 public:
  /// The request has nothing that these algorithms read.
  template <class Request>
  ScanTranspose(const Request&, const TensorSize& size, Workspace& from)
      : size_(size),
        transposed_(take_planes<T>(from, size.bins, size.width, size.height)),
        rows_(size.bins, size.height, size.width, from),
        columns_(size.bins, size.width, size.height, from) {}

  template <class Launcher>
  void run(Launcher& launcher, const Planes& tensor) const {
    const auto [width, height, bins] = size_;
    rows_.run(launcher, tensor);
    transpose_planes<T, TransposePlanes>(launcher, tensor, transposed_, height, width, 0, bins);
    columns_.run(launcher, transposed_);
    transpose_planes<T, TransposePlanes>(launcher, transposed_, tensor, width, height, 0, bins);
  }

 private:
  TensorSize size_;
  Planes transposed_;
  BlockedPrescan<T, Map, several, most> rows_, columns_;
};

}  // namespace areal::kernels
