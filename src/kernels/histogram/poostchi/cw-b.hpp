#pragma once
// CW-B, the cross-weave baseline (Poostchi 2017, 3.2 and Algorithm 2). b h + b + b w launches, and two more: one sets
// the tensor to 0 and 1 before, one transposes it back after, as the algorithm ends with b x w x h. b h + b w + b + 1
// barrier steps. Reads 3 and 1/b, writes 4 per element; 4 and 5 with the last transpose; all coalesced but for the ends
// of rows. A launch of one block scans each row of each bin, a launch transposes each bin, and each column is then
// scanned as a row. Workspace: the transposed tensor.
//
// The scan is Harris' from the CUDA SDK, exclusive, with his padding; the element is added back from its register. The
// paper leaves open rows longer than the 2048 elements of a block of 1024 threads. Here the block scans them piece by
// piece, each beginning with the sum of those before, so that the number of launches is the same. Blocks have 64, 256,
// 512 or 1024 threads.

#include "kernels/histogram/request.hpp"
#include "kernels/histogram/transpose_planes.hpp"
#include "kernels/primitives/line/prescan.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

template <class T, int most = 1024>
class CrossWeaveBaseline {
 public:
  CrossWeaveBaseline(const HistogramRequest&, const TensorSize& size, Workspace& from)
      : size_(size), transposed_(take_planes<T>(from, size.bins, size.width, size.height)) {}

  template <class Launcher>
  void run(Launcher& launcher, const Planes& tensor) const {
    const auto [width, height, bins] = size_;
    for (std::int64_t row = 0; row < bins * height; ++row) prescan<T, most>(launcher, tensor, height, width, row, 1);
    for (std::int64_t bin = 0; bin < bins; ++bin)
      transpose_planes<T, TransposePlanes>(launcher, tensor, transposed_, height, width, bin, 1);
    for (std::int64_t row = 0; row < bins * width; ++row)
      prescan<T, most>(launcher, transposed_, width, height, row, 1);
    transpose_planes<T, TransposeBack>(launcher, transposed_, tensor, width, height, 0, bins);
  }

 private:
  TensorSize size_;
  Planes transposed_;
};

template <class T>
using CwB = CrossWeaveBaseline<T>;

}  // namespace areal::kernels
