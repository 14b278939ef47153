#pragma once
// The floors of tables on a GPU.

#include <cuda_runtime_api.h>
#include <areal/border.hpp>
#include <areal/type_pair.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace areal::bench {

/// The least work of every table of that kind: read each pixel once, write each entry of the tables once. All on the
/// device, contiguous, like areal's.
struct LeastWork {
  TypePair types;
  std::optional<Type> squares;  ///< also a table of these
  Border border;
  std::int64_t width, height, batch;
  const void* image;
  void* table;
  void* squares_table;
};

/// Several variants, of which the fastest counts. They skip up to three entries at the end, so that all stores are
/// whole vectors.
std::vector<std::function<void(cudaStream_t)>> floors(const LeastWork& work);

}  // namespace areal::bench
