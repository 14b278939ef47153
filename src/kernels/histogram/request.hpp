#pragma once
// The requests for an integral histogram and for a compact store: shape, and the rule from pixels to bins; and for a
// rank store.

#include <areal/border.hpp>
#include <areal/histogram.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
#include "formulas/compact.hpp"
#include "formulas/rank.hpp"
#include "kernels/plan.hpp"
#include "kernels/primitives/pixel_rule.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

struct HistogramRequest {
  std::string id = "reduce-then-scan";  ///< the algorithm
  bool carries = false;                 ///< executes get a carry
  Shape image;
  Type type = Type::u8;
  std::int64_t bins = 0;
  Type counter = Type::u32;
  Border border = Border::none;
  bool weighted = false;
  int tile = 32;             ///< side of the tiles of cw-tis and wf-tis: 16, 32 or 64
  int tile_threads = 0;      ///< threads of a block on such a tile; 0: the default
  PixelRule rule;            ///< without its `data`, which lies in the workspace:
  std::vector<char> tables;  ///< the bytes that `prepare` copies to the begin of the workspace
  std::int64_t table_at[PixelRule::most_channels] = {};  ///< offset in `tables` of each channel's
};

template <class Launcher>
struct HistogramKernels;

/// The subject `histogram` of a DevicePlan; its members are in run.hpp.
struct Histogram {
  using Request = HistogramRequest;
  using Arguments = HistogramArguments;

  template <class Launcher>
  static Found<HistogramKernels<Launcher>> find(const HistogramRequest& request);
  /// Copies the rule's tables to the begin of the workspace.
  template <class Launcher>
  static void prepare(Launcher& launcher, const HistogramRequest& request, void* workspace, std::size_t bytes);
  template <class Launcher>
  static std::string takes(Launcher& launcher, const HistogramKernels<Launcher>& kernels,
                           const HistogramRequest& request);
  template <class Launcher>
  static std::string fits(const HistogramKernels<Launcher>& kernels, const HistogramRequest& request,
                          const HistogramArguments& views);
  template <class Launcher>
  static void run(Launcher& launcher, const HistogramKernels<Launcher>& kernels, const HistogramRequest& request,
                  const HistogramArguments& views, void* workspace);
  template <class Visit>
  static void memory(const HistogramRequest& request, const HistogramArguments& views, void* workspace,
                     std::size_t bytes, Visit&& visit);
  static std::string words(const HistogramRequest& request) {
    return "algorithm " + request.id + " for counter " + std::string(name_of(request.counter));
  }
};

struct CompactRequest {
  Type type = Type::u8;
  formulas::Compact layout;  ///< of images with at most `most_side` rows and columns
  bool masked = false;
  std::uint32_t scale = 0;   ///< if not 0, a pixel's bin is pixel * scale / 65536
  PixelRule rule;            ///< without its `data`, which lies in the workspace:
  std::vector<char> tables;  ///< the bytes that `prepare` copies to the begin of the workspace
  std::int64_t table_at[PixelRule::most_channels] = {};  ///< offset in `tables` of each channel's

  static constexpr std::int64_t most_side = std::int64_t{1} << 22;
};

struct CompactArguments {
  ConstView image, mask;
  void* store = nullptr;  ///< layout.bytes(), aligned to 32
};

template <class Launcher>
struct CompactKernels;

/// The subject of a DevicePlan that builds compact stores; its members are in run.hpp.
struct CompactBuild {
  using Request = CompactRequest;
  using Arguments = CompactArguments;

  template <class Launcher>
  static Found<CompactKernels<Launcher>> find(const CompactRequest& request);
  template <class Launcher>
  static void prepare(Launcher& launcher, const CompactRequest& request, void* workspace, std::size_t bytes);
  template <class Launcher>
  static void run(Launcher& launcher, const CompactKernels<Launcher>& kernels, const CompactRequest& request,
                  const CompactArguments& arguments, void* workspace);
  template <class Visit>
  static void memory(const CompactRequest& request, const CompactArguments& arguments, void* workspace,
                     std::size_t bytes, Visit&& visit);
  static std::string words(const CompactRequest&) { return "a compact store"; }
};

struct RankRequest {
  Type type = Type::u8;
  formulas::Rank layout;  ///< of at most `most_columns` columns of all matrices together
  bool checks = false;    ///< also finds the greatest pixel of unsigned integers

  static constexpr std::int64_t most_columns = std::int64_t{1} << 30;
};

struct RankArguments {
  ConstView image;
  void* store = nullptr;  ///< layout.bytes(), aligned to 32
};

template <class Launcher>
struct RankKernels;

/// The subject of a DevicePlan that builds rank stores; its members are in run.hpp.
struct RankBuild {
  using Request = RankRequest;
  using Arguments = RankArguments;

  template <class Launcher>
  static Found<RankKernels<Launcher>> find(const RankRequest& request);
  template <class Launcher>
  static void prepare(Launcher&, const RankRequest&, void*, std::size_t) {}
  template <class Launcher>
  static void run(Launcher& launcher, const RankKernels<Launcher>& kernels, const RankRequest& request,
                  const RankArguments& arguments, void* workspace);
  template <class Visit>
  static void memory(const RankRequest& request, const RankArguments& arguments, void* workspace, std::size_t bytes,
                     Visit&& visit);
  static std::string words(const RankRequest&) { return "a rank store"; }
  /// Where a run that checks leaves all ones less the greatest pixel.
  static const std::uint64_t* greatest(void* workspace) {
    return reinterpret_cast<const std::uint64_t*>(first_in(workspace));
  }
};

}  // namespace areal::kernels
