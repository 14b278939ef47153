#pragma once
// What `areal bench` asks of its CUDA plug-in.

#include <areal/border.hpp>
#include <areal/lane.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace areal::bench {

/// Tables of one image, of every algorithm beside the floor; all in turns, one execute between two events.
struct CudaSat {
  Lane lane;
  Border border;
  std::int64_t width, height, batch;
  const void* image;  ///< host, contiguous
  void* table;        ///< host, contiguous: what `done` may look at
  std::vector<std::string> algorithms;
  int repetitions, device;
  std::function<void(const std::vector<double>&)> floor;  ///< microseconds of the fastest floor
  /// Each algorithm's microseconds, its table being there.
  std::function<void(const std::string& id, const std::vector<double>&)> done;
};

/// The integral histogram of one image (8u, uniform bins over 0 to 256, 32u) beside a memset of its tensor.
struct CudaHistogram {
  std::int64_t width, height, batch, bins;
  const void* image;  ///< host, contiguous
  int repetitions, device;
  std::function<void(const std::vector<double>&)> floor;  ///< microseconds of the memset
  /// The algorithm's microseconds. `at(bin, x, y, n)` is an entry of its tensor.
  std::function<void(const std::string& id, const std::vector<double>&,
                     const std::function<std::uint32_t(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& at)>
      done;
};

using CudaBenchHistogram = void (*)(const CudaHistogram* what, char* error, std::size_t size);
using CudaBenchSat = void (*)(const CudaSat* what, char* error, std::size_t size);

}  // namespace areal::bench
