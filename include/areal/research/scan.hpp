#pragma once
/// \file scan.hpp Inclusive sums of one line: the papers' prefix-sums on a device, to run, count and compare.

#include <areal/execution.hpp>
#include <areal/plan.hpp>
#include <areal/research/launch_counts.hpp>
#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <string>

namespace areal {

struct ScanOptions {
  /// An id of the catalogue's family `scan`: naive, optimal and sequential-parallel of Nakano 2013; harris,
  /// lee-choe-multiple, lee-choe-shared and lee-choe of Lee, Choe 2014; kogge-stone and ladner-fischer of Chen 2018. On
  /// the CPU scan_line runs `serial`, which is not in that family.
  std::string algorithm = "optimal";
  /// p of naive, optimal and sequential-parallel: threads, in whole blocks. 0: one for each element of work. Other
  /// algorithms ignore it.
  std::int64_t threads = 0;
  /// k of sequential-parallel: elements of a group. 0: p log2 p, at least p; all where p is 0.
  std::int64_t group = 0;
  LaunchReport on_launch = {};  ///< reports each launch
};

/// Fixes line length, types and algorithm in advance. See Plan and Workspace. Only cuda and simt have line sums;
/// Backend::automatic is cuda.
class ScanPlan : public Plan {
 public:
  /// For lines of n elements of the type pair's input, and sums of its table type, which wrap if they are integers.
  /// Throws InvalidArgument for invalid options, Unavailable for a missing backend or device.
  ScanPlan(std::int64_t n, TypePair types, const ScanOptions& options = {}, const Execution& execution = {});

  /// sums[i] = line[0] + .. + line[i]. Both are n x 1, of any alignment, and share no memory. Accepts memory and
  /// completes as SatPlan::execute. O(n).
  /// Throws InvalidArgument for views of another shape, type or memory and for a workspace of another plan; DeviceError
  /// if a launch is refused.
  void execute(const ConstView& line, const View& sums, Workspace& workspace) const;

  std::int64_t length() const noexcept;
  TypePair types() const noexcept;
  const ScanOptions& options() const noexcept;  ///< with the chosen group

  struct State;  // of the library

 private:
  const State& state() const noexcept;
};

/// Inclusive sums of one line, n x 1, on the backend of `execution`; the views' types are the type pair. On the CPU the
/// algorithm is `serial`, one addition after another; on cuda, host lines and sums are copied there and back.
/// Backend::automatic is the CPU for `serial`, cuda for all else. O(n).
/// Throws what a ScanPlan and its execute throw, and OutOfMemory if the device lacks the bytes.
void scan_line(const ConstView& line, const View& sums, const ScanOptions& options = {},
               const Execution& execution = {});

}  // namespace areal
