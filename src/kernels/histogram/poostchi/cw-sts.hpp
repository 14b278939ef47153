#pragma once
// CW-STS, scan, transpose, scan (Poostchi 2017, 3.3 and Algorithm 3). 3 launches, and two more: one sets the tensor to
// 0 and 1 before, one transposes it back after, as the algorithm ends with b x w x h. 4 barrier steps. Reads 3 and 1/b,
// writes 4 per element; 4 and 5 with the last transpose. The first launch scans all rows of all bins, a block each (the
// paper's grid, if a row has two elements for each thread of a block), the second transposes all bins, the third scans
// all columns as rows. Workspace: the transposed tensor. Scans and their blocks are those of cw-b.hpp.

#include "kernels/histogram/request.hpp"
#include "kernels/histogram/transpose_planes.hpp"
#include "kernels/primitives/line/prescan.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

template <class T, int most = 1024>
class ScanTransposeScan {
 public:
  ScanTransposeScan(const HistogramRequest&, const TensorSize& size, Workspace& from)
      : size_(size), transposed_(take_planes<T>(from, size.bins, size.width, size.height)) {}

  template <class Launcher>
  void run(Launcher& launcher, const Planes& tensor) const {
    const auto [width, height, bins] = size_;
    prescan<T, most>(launcher, tensor, height, width, 0, bins * height);
    transpose_planes<T, TransposePlanes>(launcher, tensor, transposed_, height, width, 0, bins);
    prescan<T, most>(launcher, transposed_, width, height, 0, bins * width);
    transpose_planes<T, TransposeBack>(launcher, transposed_, tensor, width, height, 0, bins);
  }

 private:
  TensorSize size_;
  Planes transposed_;
};

template <class T>
using CwSts = ScanTransposeScan<T>;

}  // namespace areal::kernels
