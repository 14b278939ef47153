#pragma once
// The algorithms of the subject `scan`, for one launcher, as functions: sums of one line.
//
//   naive, optimal, sequential-parallel    Nakano 2013, 6 and 7
//   harris, lee-choe, its two halves       Lee, Choe 2014: a block scans its piece of the line in shared memory
//   lee-choe-multiple, lee-choe-shared
//   kogge-stone, ladner-fischer            Chen 2018, IV-C: a line is one warp's, 1024 elements at a time
//
// Those that work in place get the line copied first: a launch, 1 read and 1 write per element.

#include <string_view>
#include "catalog/with_types.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/type_groups.hpp"
#include "kernels/scan/chen/kogge-stone.hpp"
#include "kernels/scan/chen/ladner-fischer.hpp"
#include "kernels/scan/lee_choe/harris.hpp"
#include "kernels/scan/lee_choe/lee-choe-multiple.hpp"
#include "kernels/scan/lee_choe/lee-choe-shared.hpp"
#include "kernels/scan/lee_choe/lee-choe.hpp"
#include "kernels/scan/nakano/naive.hpp"
#include "kernels/scan/nakano/optimal.hpp"
#include "kernels/scan/nakano/sequential-parallel.hpp"
#include "kernels/scan/plain.hpp"
#include "kernels/scan/run.hpp"

namespace areal::kernels {

/// No functions unless the algorithm is one of these.
template <class Launcher, class In, class T>
ScanKernels<Launcher> scan_kernels(std::string_view id) {
  if (id == "naive") return line_kernels<Launcher, In, T, NaiveScan>();
  if (id == "optimal") return line_kernels<Launcher, In, T, OptimalScan>();
  if (id == "sequential-parallel") return line_kernels<Launcher, In, T, SequentialParallelScan>();
  if (id == "harris") return line_kernels<Launcher, In, T, HarrisScan>();
  if (id == "lee-choe-multiple") return line_kernels<Launcher, In, T, LeeChoeMultipleScan>();
  if (id == "lee-choe-shared") return line_kernels<Launcher, In, T, LeeChoeSharedScan>();
  if (id == "lee-choe") return line_kernels<Launcher, In, T, LeeChoeScan>();
  if (id == "kogge-stone") return line_kernels<Launcher, In, T, KoggeStoneScan>();
  if (id == "ladner-fischer") return line_kernels<Launcher, In, T, LadnerFischerScan>();
  return {};
}

template <class Launcher, TypeGroup group>
ScanKernels<Launcher> LineScans::find(const ScanRequest& request) {
  return with_common_types(request.types, [&](auto pair) -> ScanKernels<Launcher> {
    using Pair = decltype(pair);
    if constexpr (group_of<typename Pair::Table> == group)
      return scan_kernels<Launcher, typename Pair::Input, Sum<typename Pair::Table>>(request.id);
    else
      return {};
  });
}

}  // namespace areal::kernels
