#pragma once
// The request for tables: everything known before the data is there.

#include <areal/border.hpp>
#include <areal/carry.hpp>
#include <areal/research/warp_scan.hpp>
#include <areal/sat.hpp>
#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include "kernels/plan.hpp"

namespace areal::kernels {

/// The most lines that `thin` takes (thin.hpp).
inline constexpr int thin_lines = 16;

/// All tables of one execute.
struct SatRequest {
  Shape image;
  TypePair types;
  Border border = Border::zero;
  std::optional<Type> squares = {};
  bool tilted = false, mask = false, ignore_nan = false, volume = false, reverse = false;
  double r = 0.25;                        ///< of hybrid-1r1w
  WarpScan scan = WarpScan::kogge_stone;  ///< of scanrow-brlt and scanrow-column
  std::string id = "lookback";            ///< the algorithm
  bool carries = false;                   ///< executes get carries

  bool counts() const { return mask || ignore_nan; }
};

/// The pixels over which a table sums.
enum class TableKind : std::uint8_t { pixels, tilted };

/// The output of one schedule, a table or the sum with its squares: names a kernel, and gives its parameters.
struct TableRequest {
  std::string_view id;  ///< the algorithm for pixels; tilted tables and sums with squares have only one
  TableKind what = TableKind::pixels;
  TypePair types;  ///< elements that are read, and sums
  Shape image;
  Border border = Border::zero;
  std::optional<Type> squares = {};
  double r = 0.25;                        ///< of hybrid-1r1w
  WarpScan scan = WarpScan::kogge_stone;  ///< of scanrow-brlt and scanrow-column
  bool reverse = false;                   ///< from the last row and column on
  bool counts = false;                    ///< some pixels are invalid
  bool carries = false;                   ///< executes get carries
};
struct TableViews {
  View sum, squares = {};
  Carry carry = {}, squares_carry = {};
};

template <class Launcher>
struct SatWork;

/// The subject `sat` of a DevicePlan; its members are in run.hpp.
struct Sat {
  using Request = SatRequest;
  using Arguments = SatArguments;

  template <class Launcher>
  static Found<SatWork<Launcher>> find(const SatRequest& request);
  template <class Launcher>
  static void prepare(Launcher& launcher, const SatRequest& request, void* workspace, std::size_t bytes);
  template <class Launcher>
  static std::string takes(Launcher& launcher, const SatWork<Launcher>& tables, const SatRequest& request);
  template <class Launcher>
  static std::string fits(const SatWork<Launcher>& tables, const SatRequest& request, const SatArguments& views);
  template <class Launcher>
  static bool run(Launcher& launcher, const SatWork<Launcher>& tables, const SatRequest& request,
                  const SatArguments& views, void* workspace);
  template <class Visit>
  static void memory(const SatRequest& request, const SatArguments& views, void* workspace, std::size_t bytes,
                     Visit&& visit);
  static std::string words(const SatRequest& request) {
    return "algorithm " + request.id + " for types " + name_of(request.types);
  }
};

}  // namespace areal::kernels
