#pragma once
// The request for sums of a line: everything known before the data is there.

#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include "kernels/plan.hpp"

namespace areal::kernels {

struct ScanRequest {
  std::string id;
  TypePair types;
  std::int64_t n = 0;
  std::int64_t p = 0;  ///< threads, 0 for one for each element of work
  std::int64_t k = 1;  ///< elements of a group of sequential-parallel
};

struct ScanArguments {
  ConstView line;
  View sums;
};

template <class Launcher>
struct ScanKernels;

/// The subject `scan` of a DevicePlan; its members are in run.hpp.
struct Scan {
  using Request = ScanRequest;
  using Arguments = ScanArguments;

  template <class Launcher>
  static Found<ScanKernels<Launcher>> find(const ScanRequest& request);
  template <class Launcher>
  static void prepare(Launcher& launcher, const ScanRequest& request, void* workspace, std::size_t bytes);
  template <class Launcher>
  static void run(Launcher& launcher, const ScanKernels<Launcher>& kernels, const ScanRequest& request,
                  const ScanArguments& views, void* workspace);
  template <class Visit>
  static void memory(const ScanRequest& request, const ScanArguments& views, void* workspace, std::size_t bytes,
                     Visit&& visit);
  static std::string words(const ScanRequest& request) {
    return "scan " + request.id + " for types " + name_of(request.types);
  }
};

}  // namespace areal::kernels
