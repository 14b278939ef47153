#pragma once
// Summed-area tables on a CUDA device. src/cuda/absent.cpp stands in where this build has no CUDA.

#include <areal/execution.hpp>
#include <areal/research/launch_counts.hpp>
#include <areal/sat_arguments.hpp>
#include <cstddef>
#include <memory>
#include <string_view>
#include "kernels/sat/request.hpp"

namespace areal::cuda {

/// The tables of one request: their kernels, and who has which part of the workspace. Decided once, as the GPU waits
/// while an execute is made ready.
class Sat {
 public:
  /// Throws Unavailable where there is no kernel, or a block needs more shared memory than the device has.
  Sat(std::string_view id, const kernels::SatRequest& request, int device);

  /// Bytes of device memory that an execute needs.
  std::size_t workspace_bytes() const;
  /// Queues the tables on the stream, which belongs to the current device. Views and request agree; all is device
  /// memory. `launched` may be empty.
  void execute(const SatArguments& views, void* workspace, Stream stream, const LaunchReport& launched) const;

 private:
  struct Schedule;
  std::shared_ptr<const Schedule> schedule_;
};

}  // namespace areal::cuda
