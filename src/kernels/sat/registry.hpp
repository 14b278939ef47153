#pragma once
// The algorithms of the subject `sat`, for one table and one launcher, as functions.

#include <algorithm>
#include <cstdint>
#include <string>
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

/// Along the depth of a volume, for sums, or for sums and squares.
template <class Launcher, class C>
void depth_of(Launcher& launcher, const TableViews& tables, std::int64_t offset) {
  if constexpr (std::is_arithmetic_v<typename C::T>) {
    depth<typename C::T>(launcher, tables.sum, offset);
  } else {
    depth<decltype(C::T::first)>(launcher, tables.sum, offset);
    depth<decltype(C::T::second)>(launcher, tables.squares, offset);
  }
}

template <class Launcher, class C>
SatKernels<Launcher> lookback_kernels() {
  SatKernels<Launcher> kernels;
  kernels.workspace_bytes = [](const TableRequest& request) {
    return LookbackPlan<C>(request.image, request.border).workspace_bytes;
  };
  kernels.execute = [](Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid& valid,
                       const TableViews& tables, void* workspace) {
    return lookback<C>(launcher, request.border, image, valid, tables, workspace);
  };
  kernels.depth = &depth_of<Launcher, C>;
  kernels.shared_bytes = sizeof(typename Lookback<NoMachine, C>::Shared);
  return kernels;
}

/// The first of several that the device can run: all but the last need all their tiles at once.
template <class Launcher, class... Cs>
SatKernels<Launcher> first_lookback() {
  SatKernels<Launcher> kernels;
  ((kernels = lookback_kernels<Launcher, Cs>()), ...);
  kernels.workspace_bytes = [](const TableRequest& request) {
    return (LookbackPlan<Cs>(request.image, request.border).workspace_bytes + ...);
  };
  kernels.execute = [](Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid& valid,
                       const TableViews& tables, void* workspace) {
    char* own = static_cast<char*>(workspace);
    const auto executed = [&]<class C>() {
      if (lookback<C>(launcher, request.border, image, valid, tables, own)) return true;
      own += LookbackPlan<C>(request.image, request.border).workspace_bytes;
      return false;
    };
    return (executed.template operator()<Cs>() || ...);
  };
  kernels.shared_bytes = std::max({sizeof(typename Lookback<NoMachine, Cs>::Shared)...});
  return kernels;
}

/// lookback: up to about 4096x4096, images of bytes have few enough tiles to run all at once, and gain from it. A
/// device that does not hold all runs them one after another, with the same sums.
template <class Launcher, class In, class T, bool reverse>
SatKernels<Launcher> by_rows_kernels() {
  using InTurn = LookbackConfig<In, T, GatherByRows, reverse>;
  if constexpr (std::is_same_v<In, std::uint8_t> && sizeof(T) == 4 && !reverse)
    return first_lookback<Launcher, LookbackConfig<In, T, GatherByRows, reverse, true>, InTurn>();
  else
    return lookback_kernels<Launcher, InTurn>();
}

/// The kernels of a configuration that needs all its tiles at once.
template <class Launcher, class C>
SatKernels<Launcher> together_kernels() {
  auto kernels = lookback_kernels<Launcher, C>();
  kernels.takes = [](Launcher& launcher, const TableRequest& request) -> std::string {
    const LookbackPlan<C> plan(request.image, request.border);
    const std::int64_t most = launcher.template most_together<Lookback, C>();
    if (!plan.too_many && plan.blocks <= most) return {};
    return "it takes images of as many tiles as the device holds at once, " + std::to_string(most) +
           ", this image has more";
  };
  kernels.together = true;
  return kernels;
}
template <class Launcher, class In, class T, bool reverse>
SatKernels<Launcher> all_partials_kernels(const Shape& image) {
  if constexpr (sizeof(T) == 4)
    if (has_low_tiles(image)) return together_kernels<Launcher, LookbackLowConfig<In, T, reverse>>();
  return together_kernels<Launcher, LookbackConfig<In, T, GatherAllPartials, reverse>>();
}

/// The tables for which bands has a kernel: those for which it is faster.
template <class In, class T>
inline constexpr bool has_bands = sizeof(In) == 4 && sizeof(T) == 4 ? !std::is_same_v<In, std::int32_t>
                                  : sizeof(T) == 4
                                      ? std::is_same_v<In, std::uint8_t> || std::is_same_v<In, std::uint16_t>
                                      : std::is_same_v<T, double> &&
                                            (std::is_same_v<In, float> || std::is_same_v<In, double>);

template <class Launcher, class In, class T, bool reverse>
SatKernels<Launcher> bands_kernels() {
  SatKernels<Launcher> kernels;
  if constexpr (has_bands<In, T>) {
    using Plan = BandsPlanOf<In, T, reverse>;
    kernels.workspace_bytes = [](const TableRequest& request) {
      return Plan(request.image, bands_grid(Launcher::largest_cluster)).workspace_bytes;
    };
    kernels.execute = [](Launcher& launcher, const TableRequest&, const ConstView& image, const Valid&,
                         const TableViews& tables,
                         void* workspace) { return bands<Plan>(launcher, image, tables, workspace); };
    kernels.depth = &depth_of<Launcher, typename Plan::Flat>;
    kernels.takes = &bands_takes<Plan, Launcher>;
    kernels.fits = &bands_fits<Plan>;
    kernels.together = true;
    kernels.shared_bytes =
        std::max(sizeof(typename Plan::FlatKernel::Shared), sizeof(typename Plan::HighKernel::Shared));
  } else {
    kernels.takes = [](Launcher&, const TableRequest& request) {
      return "it takes pixels of 8u, 16u and 32 bits with sums of 32 bits, and of 32f and 64f with sums of 64f; these "
             "types are " +
             name_of(request.types);
    };
  }
  return kernels;
}

/// The tables for which relay has a kernel.
template <class In, class T>
inline constexpr bool has_relay = std::is_same_v<In, std::uint8_t> && sizeof(T) == 4;

template <class Launcher, class In, class T, bool reverse>
SatKernels<Launcher> relay_kernels() {
  SatKernels<Launcher> kernels;
  if constexpr (has_relay<In, T>) {
    using Low = RelayPlanOf<T, 32, reverse>;
    using High = RelayPlanOf<T, 64, reverse>;
    kernels.workspace_bytes = &relay_workspace_bytes<T, reverse>;
    kernels.execute = [](Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid&,
                         const TableViews& tables, void* workspace) {
      return has_high_units(request.image) ? relay<High>(launcher, request.border, image, tables, workspace)
                                           : relay<Low>(launcher, request.border, image, tables, workspace);
    };
    kernels.depth = &depth_of<Launcher, typename Low::Aligned>;
    kernels.takes = [](Launcher& launcher, const TableRequest& request) {
      return has_high_units(request.image) ? relay_takes<High>(launcher, request) : relay_takes<Low>(launcher, request);
    };
    kernels.fits = &relay_fits<Low>;
    kernels.together = true;
    kernels.shared_bytes = std::max({sizeof(typename Relay<NoMachine, typename Low::Aligned>::Shared),
                                     sizeof(typename Relay<NoMachine, typename Low::Shifted>::Shared),
                                     sizeof(typename Relay<NoMachine, typename High::Aligned>::Shared),
                                     sizeof(typename Relay<NoMachine, typename High::Shifted>::Shared)});
  } else {
    kernels.takes = [](Launcher&, const TableRequest& request) {
      return "it takes pixels of 8u with sums of 32 bits; these types are " + name_of(request.types);
    };
  }
  return kernels;
}

template <class Launcher, class C>
SatKernels<Launcher> thin_kernels() {
  SatKernels<Launcher> kernels;
  kernels.workspace_bytes = [](const TableRequest& request) { return ThinPlan<C>(request).workspace_bytes; };
  kernels.execute = [](Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid& valid,
                       const TableViews& tables, void* workspace) {
    thin<C>(launcher, request, image, valid, tables, workspace);
    return true;
  };
  kernels.depth = &depth_of<Launcher, C>;
  kernels.shared_bytes = sizeof(typename Thin<NoMachine, C>::Shared);
  return kernels;
}

template <class Launcher, class In, class T>
SatKernels<Launcher> tilted_kernels() {
  SatKernels<Launcher> kernels;
  kernels.workspace_bytes = [](const TableRequest& request) { return TiltedPlan<T>(request.image).workspace_bytes; };
  kernels.execute = [](Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid& valid,
                       const TableViews& tables, void* workspace) {
    tilted<In, T>(launcher, request, image, valid, tables, workspace);
    return true;
  };
  return kernels;
}

/// No functions unless the algorithm is one of these.
template <class Launcher, class In, class T, bool reverse = false>
SatKernels<Launcher> sum_kernels(const TableRequest& request) {
  const std::string_view id = request.id;
  if (id == "lookback") return by_rows_kernels<Launcher, In, T, reverse>();
  if (id == "lookback-diagonal")
    return lookback_kernels<Launcher, LookbackConfig<In, T, GatherAlongDiagonals, reverse>>();
  if (id == "bands") return bands_kernels<Launcher, In, T, reverse>();
  if (id == "relay") return relay_kernels<Launcher, In, T, reverse>();
  if (id == "all-partials") return all_partials_kernels<Launcher, In, T, reverse>(request.image);
  if (id == "thin") return thin_kernels<Launcher, ThinConfig<In, T, reverse>>();
  return {};
}
template <class Launcher, class In, class T>
SatKernels<Launcher> product_kernels(const TableRequest& request) {
  if (request.what == TableKind::tilted) return tilted_kernels<Launcher, In, T>();
  return sum_kernels<Launcher, In, T>(request);
}

/// The sum with squares. Small images of bytes with integer tables run all their tiles at once, and gather as
/// all-partials does; the sums are the same.
template <class Launcher, class In, class T, class Squares, bool reverse>
SatKernels<Launcher> sum_and_squares_kernels() {
  using InTurn = LookbackSquaresConfig<In, T, Squares, GatherByRows, reverse>;
  if constexpr (std::is_same_v<In, std::uint8_t> && std::is_integral_v<T> && sizeof(T) == 4 &&
                std::is_integral_v<Squares> && !reverse)
    return first_lookback<Launcher, LookbackSquaresAtOnce<In, T, Squares, 4>, LookbackSquaresAtOnce<In, T, Squares, 8>,
                          InTurn>();
  else
    return lookback_kernels<Launcher, InTurn>();
}
/// The same in a type that holds such pixels' squares.
template <class Launcher, class In, class T, bool reverse = false>
SatKernels<Launcher> squares_kernels(Type squares) {
  if constexpr (std::is_integral_v<In>) {
    if constexpr (sizeof(In) <= 2)
      if (squares == Type::u32) return sum_and_squares_kernels<Launcher, In, T, std::uint32_t, reverse>();
    using Bits = std::conditional_t<sizeof(In) == 8, T, In>;  // squares modulo 2^64 are the same for both signs
    if (squares == Type::u64) return sum_and_squares_kernels<Launcher, Bits, T, std::uint64_t, reverse>();
  }
  if constexpr (sizeof(In) == 1 || std::is_same_v<In, Half> || std::is_same_v<In, float>)
    if (squares == Type::f32) return sum_and_squares_kernels<Launcher, In, T, float, reverse>();
  if (squares == Type::f64) return sum_and_squares_kernels<Launcher, In, T, double, reverse>();
  return {};
}

/// Algorithm: workspace_bytes(request); sums<In, T>(launcher, request, plain, workspace).
template <class Launcher, class In, class T, class Algorithm>
SatKernels<Launcher> plain_kernels() {
  SatKernels<Launcher> kernels;  // its blocks fit the shared memory of every device
  kernels.workspace_bytes = &Algorithm::template workspace_bytes<T>;
  kernels.execute = [](Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid&,
                       const TableViews& tables, void* workspace) {
    with_border<T>(launcher, request, image, tables.sum,
                   [&](Launcher& l, const Plain& p) { Algorithm::template sums<In, T>(l, request, p, workspace); });
    return true;
  };
  return kernels;
}

/// No functions unless the algorithm is one of these.
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

/// f.operator()<In, T>() if the types are a pair of that group; T is the type of sums.
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
/// The pixel type for plain sums: integers of the sum's width are added as unsigned ones.
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
                                             : sum_kernels<Launcher, AddedAs<In, T>, T, true>(request);
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
