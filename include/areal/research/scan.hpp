#pragma once
/// \file scan.hpp Inclusive sums of one line: the prefix-sums of the papers on a device, to run, count and compare.

#include <areal/execution.hpp>
#include <areal/research/launch_counts.hpp>
#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace areal {

struct ScanOptions {
  /// An id of the catalogue's family `scan`: naive, optimal and sequential-parallel of Nakano 2013; harris,
  /// lee-choe-multiple, lee-choe-shared and lee-choe of Lee, Choe 2014; kogge-stone and ladner-fischer of Chen 2018.
  /// On the CPU scan_line takes `serial`, which is not in that family.
  std::string algorithm = "optimal";
  Backend backend = Backend::cuda;  ///< cuda or simt, for scan_line cpu, too; automatic is cuda
  int device = 0;                   ///< number of the device, for cuda
  /// p of naive, optimal and sequential-parallel: threads, in whole blocks. 0: as many as there is work. Others have no
  /// choice.
  std::int64_t threads = 0;
  /// k of sequential-parallel: elements of a group. 0: p log2 p, at least p; all where p is 0.
  std::int64_t group = 0;
  LaunchReport launched = {};  ///< told of each launch
};

/// Everything decided before the data is there. Cheap to copy, thread-safe, and may execute at once on several streams
/// with a workspace each.
class ScanPlan {
 public:
  /// For lines of n elements of the type pair's input, and sums of its table type, which wrap where they are integers.
  /// Throws InvalidArgument for what cannot be, Unavailable for a backend or device that is not there.
  ScanPlan(std::int64_t n, TypePair types, const ScanOptions& options = {});

  /// Bytes of workspace that an execute needs (any alignment; 0 is possible).
  std::size_t workspace_bytes() const noexcept;
  /// Makes a new workspace ready. Once per workspace, not per execute.
  void prepare(void* workspace, Stream stream = Stream::host()) const;
  /// sums[i] = line[0] + .. + line[i]. Both are n x 1, of any alignment, and share no memory; it is the backend's. On
  /// cuda it queues its work on the stream and returns, and may be captured in a CUDA graph. Throws DeviceError where a
  /// launch is refused.
  void execute(const ConstView& line, const View& sums, void* workspace, Stream stream = Stream::host()) const;

  std::int64_t length() const noexcept;
  TypePair types() const noexcept;
  const ScanOptions& options() const noexcept;  ///< with the backend and the group that were chosen
  Backend backend() const noexcept;             ///< cuda or simt
  const std::string& algorithm() const noexcept;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// Inclusive sums of one line of the host, n x 1, wherever the options say; their type pair is that of the two views'
/// types. On the CPU the algorithm is `serial`, one addition after another; on cuda the line is copied to the device
/// and the sums back. `automatic` is the CPU for `serial`, cuda for all else. Throws what a ScanPlan throws, and
/// OutOfMemory where the device lacks the bytes.
void scan_line(const ConstView& line, const View& sums, const ScanOptions& options = {});

}  // namespace areal
