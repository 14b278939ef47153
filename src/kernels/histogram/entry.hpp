#pragma once
// An algorithm of the family `histogram`, for one counter and one launcher, as functions.

#include <cstddef>
#include "kernels/histogram/request.hpp"

namespace areal::kernels {

template <class Launcher>
struct HistogramKernels {
  std::size_t (*workspace_bytes)(const HistogramRequest&) = nullptr;
  /// Everything has been checked; views and request agree; the rule's tables are where the workspace begins.
  void (*execute)(Launcher&, const HistogramRequest&, const ConstView& image, const ConstView& weights,
                  const View& tensor, void* workspace) = nullptr;
  std::size_t shared_bytes = 0;  ///< of the block that has most
};

}  // namespace areal::kernels
