#pragma once
// The papers' algorithms of the family `sat`, for one table and one launcher, as functions.

#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/type_groups.hpp"
#include "kernels/sat/chen/brlt-scanrow.hpp"
#include "kernels/sat/chen/scanrow-brlt.hpp"
#include "kernels/sat/chen/scanrow-column.hpp"
#include "kernels/sat/kasagi/1r1w.hpp"
#include "kernels/sat/kasagi/2r1w.hpp"
#include "kernels/sat/kasagi/2r2w.hpp"
#include "kernels/sat/kasagi/4r1w.hpp"
#include "kernels/sat/kasagi/4r4w.hpp"
#include "kernels/sat/kasagi/hybrid-1r1w.hpp"
#include "kernels/sat/nakano/umm-optimal.hpp"
#include "kernels/sat/plain.hpp"

namespace areal::kernels {

/// Algorithm: workspace_bytes(request); sums<In, T>(launcher, request, plain, workspace).
template <class Launcher, class In, class T, class Algorithm>
SatKernels<Launcher> plain_entry() {
  SatKernels<Launcher> entry;  // its blocks have no more shared memory than every device gives
  entry.workspace_bytes = &Algorithm::template workspace_bytes<T>;
  entry.execute = [](Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid&,
                     const TableViews& tables, void* workspace) {
    with_border<T>(launcher, request, image, tables.sum,
                   [&](Launcher& l, const Plain& p) { Algorithm::template sums<In, T>(l, request, p, workspace); });
  };
  return entry;
}

/// No functions where that algorithm is not one of these.
template <class Launcher, class In, class T>
SatKernels<Launcher> paper_entry(std::string_view id) {
  if (id == "2r2w") return plain_entry<Launcher, In, T, TwoReadTwoWrite>();
  if (id == "4r4w") return plain_entry<Launcher, In, T, FourReadFourWrite<>>();
  if (id == "4r1w") return plain_entry<Launcher, In, T, FourReadOneWrite>();
  if (id == "2r1w") return plain_entry<Launcher, In, T, TwoReadOneWrite<>>();
  if (id == "1r1w") return plain_entry<Launcher, In, T, OneReadOneWrite<>>();
  if (id == "hybrid-1r1w") return plain_entry<Launcher, In, T, HybridOneReadOneWrite<>>();
  if (id == "scanrow-brlt") return plain_entry<Launcher, In, T, ScanRowBrltTwice>();
  if (id == "brlt-scanrow") return plain_entry<Launcher, In, T, BrltScanRowTwice>();
  if (id == "scanrow-column") return plain_entry<Launcher, In, T, ScanRowColumn>();
  if (id == "umm-optimal") return plain_entry<Launcher, In, T, UmmOptimal<>>();
  return {};
}

/// The type pairs of one group.
template <class Launcher, Group group>
SatKernels<Launcher> paper_entry_of(const TableRequest& request) {
  if (request.what != TableKind::pixels) return {};
#define AREAL_ENTRY(name, in, out)      \
  if constexpr (group_of<out> == group) \
    if (request.types == TypePair{type_of<in>, type_of<out>}) return paper_entry<Launcher, in, Sum<out>>(request.id);
  AREAL_TYPE_PAIRS(AREAL_ENTRY)
#undef AREAL_ENTRY
  return {};
}

}  // namespace areal::kernels
