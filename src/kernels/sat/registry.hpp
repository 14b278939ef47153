#pragma once
// The algorithms of the subject `sat`, for one table and one launcher, as functions.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include "catalog/with_types.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/type_groups.hpp"
#include "kernels/sat/bands/bands.hpp"
#include "kernels/sat/chen/brlt-scanrow.hpp"
#include "kernels/sat/chen/scanrow-brlt.hpp"
#include "kernels/sat/chen/scanrow-column.hpp"
#include "kernels/sat/kasagi/1r1w.hpp"
#include "kernels/sat/kasagi/2r1w.hpp"
#include "kernels/sat/kasagi/2r2w.hpp"
#include "kernels/sat/kasagi/4r1w.hpp"
#include "kernels/sat/kasagi/4r4w.hpp"
#include "kernels/sat/kasagi/hybrid-1r1w.hpp"
#include "kernels/sat/lookback/all-partials.hpp"
#include "kernels/sat/lookback/lookback-diagonal.hpp"
#include "kernels/sat/lookback/lookback.hpp"
#include "kernels/sat/nakano/umm-optimal.hpp"
#include "kernels/sat/plain.hpp"
#include "kernels/sat/relay/relay.hpp"
#include "kernels/sat/run.hpp"
#include "kernels/sat/thin/thin.hpp"
#include "kernels/sat/tilted/tilted.hpp"
#include "kernels/sat/volume/depth.hpp"

namespace areal::kernels {

template <class Launcher, class C>
SatKernels<Launcher> lookback_kernels() {
  return {[](const TableRequest& request) { return LookbackPlan<C>(request.image, request.border).workspace_bytes; },
          [](Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid& valid,
             const TableViews& tables, void* workspace) -> std::string_view {
            lookback<C>(launcher, request.border, image, valid, tables, workspace);
            return request.id;
          },
          [](Launcher& launcher, const TableViews& tables, std::int64_t offset) {
            if constexpr (C::both) {
              depth<decltype(C::T::first)>(launcher, tables.sum, offset);
              depth<decltype(C::T::second)>(launcher, tables.squares, offset);
            } else {
              depth<typename C::T>(launcher, tables.sum, offset);
            }
          },
          sizeof(typename Lookback<NoMachine, C>::Shared)};
}
/// All tiles at once where the device holds them, else one after another, which is the same algorithm or `lookback`.
template <class Launcher, class Together, class InTurn>
SatKernels<Launcher> together_kernels() {
  auto kernels = lookback_kernels<Launcher, InTurn>();
  kernels.workspace_bytes = [](const TableRequest& request) {
    return LookbackPlan<Together>(request.image, request.border).workspace_bytes +
           LookbackPlan<InTurn>(request.image, request.border).workspace_bytes;
  };
  kernels.execute = [](Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid& valid,
                       const TableViews& tables, void* workspace) -> std::string_view {
    if (lookback<Together>(launcher, request.border, image, valid, tables, workspace)) return request.id;
    if (request.id == "all-partials")
      require_unnamed(request, "the device does not hold all tiles of this image at once; choose auto or lookback");
    const LookbackPlan<Together> own(request.image, request.border);
    lookback<InTurn>(launcher, request.border, image, valid, tables,
                     static_cast<char*>(workspace) + own.workspace_bytes);
    return "lookback";
  };
  kernels.shared_bytes = std::max(sizeof(typename Lookback<NoMachine, Together>::Shared),
                                  sizeof(typename Lookback<NoMachine, InTurn>::Shared));
  return kernels;
}

/// lookback: bytes are few enough up to some 4096x4096 to run all at once, and gain from it.
template <class Launcher, class In, class T, bool reverse>
SatKernels<Launcher> by_rows_kernels() {
  using ByRows = LookbackConfig<In, T, GatherByRows, reverse>;
  if constexpr (std::is_same_v<In, std::uint8_t> && sizeof(T) == 4 && !reverse)
    return together_kernels<Launcher, LookbackConfig<In, T, GatherByRows, reverse, true>, ByRows>();
  else
    return lookback_kernels<Launcher, ByRows>();
}

/// Which tables have a kernel of bands: those that it is faster for.
template <class In, class T>
inline constexpr bool has_bands = sizeof(In) == 4 && sizeof(T) == 4 ? !std::is_same_v<In, std::int32_t>
                                  : sizeof(T) == 4
                                      ? std::is_same_v<In, std::uint8_t> || std::is_same_v<In, std::uint16_t>
                                      : std::is_same_v<T, double> &&
                                            (std::is_same_v<In, float> || std::is_same_v<In, double>);

/// Whatever bands does not take has tiles.
template <class Launcher, class In, class T, bool reverse>
SatKernels<Launcher> bands_kernels() {
  using ByRows = LookbackConfig<In, T, GatherByRows, reverse>;
  using Diagonal = LookbackConfig<In, T, GatherAlongDiagonals, reverse>;
  auto kernels = lookback_kernels<Launcher, Diagonal>();
  static constexpr bool here = has_bands<In, T>;
  using Plan = BandsPlanOf<In, T, reverse>;
  kernels.workspace_bytes = [](const TableRequest& request) {
    std::size_t bytes = std::max(LookbackPlan<ByRows>(request.image, request.border).workspace_bytes,
                                 LookbackPlan<Diagonal>(request.image, request.border).workspace_bytes);
    if constexpr (here) bytes += Plan(request.image, bands_grid(Launcher::largest_cluster)).workspace_bytes;
    return bytes;
  };
  kernels.execute = [](Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid& valid,
                       const TableViews& tables, void* workspace) -> std::string_view {
    if constexpr (here) {
      if (bands<Plan>(launcher, request.border, image, valid, tables, workspace)) return request.id;
      require_unnamed(request,
                      "it takes rows of pixels and of entries that begin at multiples of 16 bytes, no carries, and "
                      "devices with clusters of blocks; choose auto");
      const Plan own(request.image, bands_grid(Launcher::largest_cluster));
      workspace = static_cast<char*>(workspace) + own.workspace_bytes;
    }
    const bool by_rows = std::min(request.image.width, request.image.height) < bands_diagonal_from(sizeof(In));
    if (by_rows)
      lookback<ByRows>(launcher, request.border, image, valid, tables, workspace);
    else
      lookback<Diagonal>(launcher, request.border, image, valid, tables, workspace);
    return by_rows ? "lookback" : "lookback-diagonal";
  };
  kernels.declines = [](const TableRequest& request) -> std::string {
    if constexpr (!here)
      return "it has no kernel for types " + name_of(request.types);
    else
      return bands_declines<Plan>(request);
  };
  kernels.shared_bytes = std::max(sizeof(typename Lookback<NoMachine, ByRows>::Shared),
                                  sizeof(typename Lookback<NoMachine, Diagonal>::Shared));
  return kernels;
}
/// Which tables have a kernel of relay.
template <class In, class T>
inline constexpr bool has_relay = std::is_same_v<In, std::uint8_t> && sizeof(T) == 4;

/// Whatever relay does not take has tiles.
template <class Launcher, class In, class T, bool reverse>
SatKernels<Launcher> relay_kernels() {
  using Diagonal = LookbackConfig<In, T, GatherAlongDiagonals, reverse>;
  auto kernels = lookback_kernels<Launcher, Diagonal>();
  static constexpr bool here = has_relay<In, T>;
  kernels.workspace_bytes = [](const TableRequest& request) {
    std::size_t bytes = std::max(by_rows_kernels<Launcher, In, T, reverse>().workspace_bytes(request),
                                 LookbackPlan<Diagonal>(request.image, request.border).workspace_bytes);
    if constexpr (here) bytes += relay_workspace_bytes<T, reverse>(request.image, request.border);
    return bytes;
  };
  kernels.execute = [](Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid& valid,
                       const TableViews& tables, void* workspace) -> std::string_view {
    if constexpr (here) {
      if (has_high_units(request.image)
              ? relay<RelayPlanOf<T, 64, reverse>>(launcher, request.border, image, valid, tables, workspace)
              : relay<RelayPlanOf<T, 32, reverse>>(launcher, request.border, image, valid, tables, workspace))
        return request.id;
      require_unnamed(request,
                      "it takes rows of pixels that begin at multiples of 16 bytes, no carries, and devices with a "
                      "block for each strip of 256 columns; choose auto");
      workspace = static_cast<char*>(workspace) + relay_workspace_bytes<T, reverse>(request.image, request.border);
    }
    const bool by_rows = std::min(request.image.width, request.image.height) < relay_diagonal_from;
    if (by_rows)
      by_rows_kernels<Launcher, In, T, reverse>().execute(launcher, request, image, valid, tables, workspace);
    else
      lookback<Diagonal>(launcher, request.border, image, valid, tables, workspace);
    return by_rows ? "lookback" : "lookback-diagonal";
  };
  kernels.declines = [](const TableRequest& request) -> std::string {
    if constexpr (!here)
      return "it has no kernel for types " + name_of(request.types);
    else
      return relay_declines<RelayPlanOf<T, 32, reverse>>(request);
  };
  kernels.shared_bytes = std::max(by_rows_kernels<Launcher, In, T, reverse>().shared_bytes, kernels.shared_bytes);
  return kernels;
}
template <class Launcher, class C>
SatKernels<Launcher> thin_kernels() {
  return {[](const TableRequest& request) { return ThinPlan<C>(request).workspace_bytes; },
          [](Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid& valid,
             const TableViews& tables, void* workspace) -> std::string_view {
            thin<C>(launcher, request, image, valid, tables, workspace);
            return request.id;
          },
          [](Launcher& launcher, const TableViews& tables, std::int64_t offset) {
            depth<typename C::T>(launcher, tables.sum, offset);
          },
          sizeof(typename Thin<NoMachine, C>::Shared)};
}

template <class Launcher, class In, class T>
SatKernels<Launcher> tilted_kernels() {
  return {[](const TableRequest& request) { return TiltedPlan<T>(request.image).workspace_bytes; },
          [](Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid& valid,
             const TableViews& tables, void* workspace) -> std::string_view {
            tilted<In, T>(launcher, request, image, valid, tables, workspace);
            return request.id;
          }};
}

/// No functions where that algorithm is not one of these.
template <class Launcher, class In, class T, bool reverse = false>
SatKernels<Launcher> sum_kernels(std::string_view id) {
  if (id == "lookback") return by_rows_kernels<Launcher, In, T, reverse>();
  if (id == "lookback-diagonal")
    return lookback_kernels<Launcher, LookbackConfig<In, T, GatherAlongDiagonals, reverse>>();
  if (id == "bands") return bands_kernels<Launcher, In, T, reverse>();
  if (id == "relay") return relay_kernels<Launcher, In, T, reverse>();
  if (id == "all-partials")
    return together_kernels<Launcher, LookbackConfig<In, T, GatherAllPartials, reverse>,
                            LookbackConfig<In, T, GatherByRows, reverse>>();
  if (id == "thin") return thin_kernels<Launcher, ThinConfig<In, T, reverse>>();
  return {};
}
template <class Launcher, class In, class T>
SatKernels<Launcher> product_kernels(const TableRequest& request) {
  if (request.what == TableKind::tilted) return tilted_kernels<Launcher, In, T>();
  return sum_kernels<Launcher, In, T>(request.id);
}

/// The sum with squares in a type that holds those of such pixels.
template <class Launcher, class In, class T, bool reverse = false>
SatKernels<Launcher> squares_kernels(Type squares) {
  if constexpr (std::is_integral_v<In>) {
    if constexpr (sizeof(In) <= 2)
      if (squares == Type::u32)
        return lookback_kernels<Launcher, LookbackSquaresConfig<In, T, std::uint32_t, GatherByRows, reverse>>();
    using Bits = std::conditional_t<sizeof(In) == 8, T, In>;  // squares modulo 2^64 are those of either sign
    if (squares == Type::u64)
      return lookback_kernels<Launcher, LookbackSquaresConfig<Bits, T, std::uint64_t, GatherByRows, reverse>>();
  }
  if constexpr (sizeof(In) == 1 || std::is_same_v<In, Half> || std::is_same_v<In, float>)
    if (squares == Type::f32)
      return lookback_kernels<Launcher, LookbackSquaresConfig<In, T, float, GatherByRows, reverse>>();
  if (squares == Type::f64)
    return lookback_kernels<Launcher, LookbackSquaresConfig<In, T, double, GatherByRows, reverse>>();
  return {};
}

/// Algorithm: workspace_bytes(request); sums<In, T>(launcher, request, plain, workspace).
template <class Launcher, class In, class T, class Algorithm>
SatKernels<Launcher> plain_kernels() {
  SatKernels<Launcher> kernels;  // its blocks have no more shared memory than every device gives
  kernels.workspace_bytes = &Algorithm::template workspace_bytes<T>;
  kernels.execute = [](Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid&,
                       const TableViews& tables, void* workspace) -> std::string_view {
    with_border<T>(launcher, request, image, tables.sum,
                   [&](Launcher& l, const Plain& p) { Algorithm::template sums<In, T>(l, request, p, workspace); });
    return request.id;
  };
  return kernels;
}

/// No functions where that algorithm is not one of these.
template <class Launcher, class In, class T>
SatKernels<Launcher> paper_kernels(std::string_view id) {
  if (id == "2r2w") return plain_kernels<Launcher, In, T, TwoReadTwoWrite>();
  if (id == "4r4w") return plain_kernels<Launcher, In, T, FourReadFourWrite<>>();
  if (id == "4r1w") return plain_kernels<Launcher, In, T, FourReadOneWrite>();
  if (id == "2r1w") return plain_kernels<Launcher, In, T, TwoReadOneWrite<>>();
  if (id == "1r1w") return plain_kernels<Launcher, In, T, OneReadOneWrite<>>();
  if (id == "hybrid-1r1w") return plain_kernels<Launcher, In, T, HybridOneReadOneWrite<>>();
  if (id == "scanrow-brlt") return plain_kernels<Launcher, In, T, ScanRowBrltTwice>();
  if (id == "brlt-scanrow") return plain_kernels<Launcher, In, T, BrltScanRowTwice>();
  if (id == "scanrow-column") return plain_kernels<Launcher, In, T, ScanRowColumn>();
  if (id == "umm-optimal") return plain_kernels<Launcher, In, T, UmmOptimal<>>();
  return {};
}

/// f.operator()<In, T>() where the types are a pair of that group; T is what is added up.
template <class Launcher, TypeGroup group, class F>
auto in_group(F&& f) {
  return [f](auto pair) -> SatKernels<Launcher> {
    using Pair = decltype(pair);
    if constexpr (group_of<typename Pair::Table> == group)
      return f.template operator()<typename Pair::Input, Sum<typename Pair::Table>>();
    else
      return {};
  };
}
/// Pixels as sums alone see them: integers of the sum's width add as unsigned ones.
template <class In, class T>
using AddedAs = std::conditional_t<std::is_integral_v<In> && sizeof(In) == sizeof(T), T, In>;

template <class Launcher, TypeGroup group>
SatKernels<Launcher> ProductTables::find(const TableRequest& request) {
  return with_types(request.types, in_group<Launcher, group>([&]<class In, class T>() {
                      return product_kernels<Launcher, AddedAs<In, T>, T>(request);
                    }));
}
template <class Launcher, TypeGroup group>
SatKernels<Launcher> ReversedTables::find(const TableRequest& request) {
  return with_types(request.types, in_group<Launcher, group>([&]<class In, class T>() {
                      return request.squares ? squares_kernels<Launcher, In, T, true>(*request.squares)
                                             : sum_kernels<Launcher, AddedAs<In, T>, T, true>(request.id);
                    }));
}
template <class Launcher, TypeGroup group>
SatKernels<Launcher> SquaresTables::find(const TableRequest& request) {
  return with_types(request.types, in_group<Launcher, group>([&]<class In, class T>() {
                      return squares_kernels<Launcher, In, T>(*request.squares);
                    }));
}
template <class Launcher, TypeGroup group>
SatKernels<Launcher> PaperTables::find(const TableRequest& request) {
  if (request.what != TableKind::pixels) return {};
  return with_common_types(request.types, in_group<Launcher, group>([&]<class In, class T>() {
                             return paper_kernels<Launcher, AddedAs<In, T>, T>(request.id);
                           }));
}

}  // namespace areal::kernels
