#pragma once
// The part of a SatPlan that runs on a device: cuda, or simt.

#include <areal/execution.hpp>
#include <areal/research/launch_counts.hpp>
#include <areal/sat_arguments.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>
#include "cuda/sat.hpp"
#include "kernels/sat/request.hpp"

namespace areal {

class DeviceSat {
 public:
  /// `id` may be auto; with squares it is always held. Throws Unavailable where the backend, the device or what the
  /// options ask for is not there.
  DeviceSat(const kernels::SatRequest& request, const Execution& execution, const LaunchReport& on_launch,
            std::string id);

  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  const std::string& algorithm() const noexcept { return id_; }
  /// The algorithm is one of smaller tiles than auto would have, for the device's shared memory.
  bool is_smaller() const noexcept { return is_smaller_; }
  /// Makes a new workspace ready.
  void prepare(void* workspace, Stream stream) const;
  /// Arguments have been checked.
  void execute(const SatArguments& arguments, void* workspace, Stream stream) const;

 private:
  void make_cuda(bool chosen);

  kernels::SatRequest request_;
  Backend backend_;
  int device_;
  std::string id_;
  bool is_smaller_ = false;
  LaunchReport on_launch_;
  std::optional<cuda::Sat> cuda_;
  std::size_t workspace_bytes_ = 0;
};

/// Throws Unavailable unless that backend, and its device, can be used.
void require_backend(Backend backend, int device);
/// Throws InvalidArgument where the launches are asked of a backend that has none.
void require_launches(const LaunchReport& on_launch, Backend backend);
/// Hands on what simt counted.
void report(const std::vector<LaunchCounts>& launches, const LaunchReport& on_launch);
/// Throws InvalidArgument unless the stream is one of CUDA's.
void require_stream(Stream stream);

}  // namespace areal
