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

/// What every table of that kind must at least do: read each pixel once, write each entry of the tables once. All on
/// the device, contiguous, as ours have them.
struct LeastWork {
  TypePair types;
  std::optional<Type> squares;  ///< also a table of these
  Border border;
  std::int64_t width, height, batch;
  const void* image;
  void* table;
  void* squares_table;
};

/// Several ways to do it; the fastest counts. Up to three entries at the end are left out, so that stores are whole.
std::vector<std::function<void(cudaStream_t)>> floors(const LeastWork& work);

}  // namespace areal::bench
