#pragma once
// The algorithms of the family `scan`, for one launcher, as functions: sums of one line.
//
//   naive, optimal, sequential-parallel    Nakano 2013, 6 and 7
//   harris, lee-choe, its two halves       Lee, Choe 2014: a block scans its piece of the line in shared memory
//   lee-choe-multiple, lee-choe-shared
//   kogge-stone, ladner-fischer            Chen 2018, IV-C: a line is one warp's, 1024 elements at a time
//
// Those that work in place get the line copied first: a launch, 1 read and 1 write per element.

#include <string_view>
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
#include "kernels/scan/request.hpp"

namespace areal::kernels {

/// No functions where that algorithm is not one of these.
template <class Launcher, class In, class T>
ScanKernels<Launcher> scan_entry(std::string_view id) {
  if (id == "naive") return line_entry<Launcher, In, T, NaiveScan>();
  if (id == "optimal") return line_entry<Launcher, In, T, OptimalScan>();
  if (id == "sequential-parallel") return line_entry<Launcher, In, T, SequentialParallelScan>();
  if (id == "harris") return line_entry<Launcher, In, T, HarrisScan>();
  if (id == "lee-choe-multiple") return line_entry<Launcher, In, T, LeeChoeMultipleScan>();
  if (id == "lee-choe-shared") return line_entry<Launcher, In, T, LeeChoeSharedScan>();
  if (id == "lee-choe") return line_entry<Launcher, In, T, LeeChoeScan>();
  if (id == "kogge-stone") return line_entry<Launcher, In, T, KoggeStoneScan>();
  if (id == "ladner-fischer") return line_entry<Launcher, In, T, LadnerFischerScan>();
  return {};
}

/// The type pairs of one group.
template <class Launcher, Group group>
ScanKernels<Launcher> scan_entry_of(const ScanRequest& request) {
#define AREAL_ENTRY(name, in, out)      \
  if constexpr (group_of<out> == group) \
    if (request.types == TypePair{type_of<in>, type_of<out>}) return scan_entry<Launcher, in, Sum<out>>(request.id);
  AREAL_TYPE_PAIRS(AREAL_ENTRY)
#undef AREAL_ENTRY
  return {};
}

}  // namespace areal::kernels
