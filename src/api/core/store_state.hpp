#pragma once
// The states of StorePlan and HistogramStore.

#include <areal/histogram.hpp>
#include <areal/histogram_store.hpp>
#include <memory>
#include <optional>
#include "api/core/memory.hpp"
#include "api/core/plan_state.hpp"
#include "cpu/histogram/pixel_bins.hpp"
#include "formulas/compact.hpp"
#include "formulas/rank.hpp"
#include "kernels/histogram/request.hpp"

namespace areal {

struct StorePlan::State : Plan::State {
  State(const Shape& image_, Type type_, const Binning& binning_, const StoreOptions& options_)
      : image(image_), type(type_), binning(binning_), options(options_) {}

  Shape image;
  Type type;
  Binning binning;
  StoreOptions options;
  Store store = Store::none;
  std::shared_ptr<const cpu::PixelBins> rule;                                   // none and compact
  formulas::Compact layout;                                                     // compact
  std::unique_ptr<const kernels::AnyDevicePlan<kernels::CompactBuild>> device;  // compact, on cuda or simt
  std::optional<HistogramPlan> tensor;
  bool has_bins = true;  // else `binning` means nothing, and the store is none or rank
  formulas::Rank rank;   // rank
  std::unique_ptr<const kernels::AnyDevicePlan<kernels::RankBuild>> rank_device;  // rank, on cuda or simt

  void prepare(void* memory, Stream stream) const override;
};

struct HistogramStore::State {
  explicit State(std::shared_ptr<const StorePlan::State> plan_) : plan(std::move(plan_)) {}

  std::shared_ptr<const StorePlan::State> plan;
  StoreArguments arguments;            // none
  Memory memory;                       // compact and rank
  HistogramTensor tensor;              // tensor
  std::optional<Workspace> workspace;  // tensor; compact and rank, on cuda or simt
  bool may_have_nan = false;           // rank
};

/// Builds a rank store, of checked views, into memory that was allocated or is still empty.
void build_rank_store(const StorePlan& plan, const StorePlan::State& state, const ConstView& image,
                      HistogramStore::State& store);
/// True if an image of floats, whose rank store has those bytes in host memory, has NaN.
bool has_nan(const StorePlan::State& state, const std::byte* store);

/// For the library, of a store other than a tensor: its state and its image.
struct StoreView::Access {
  static StoreView made(const HistogramStore::State& state, std::int64_t image);
  static const HistogramStore::State& state(const StoreView& view) {
    return *static_cast<const HistogramStore::State*>(view.state_);
  }
  static std::int64_t image(const StoreView& view) { return view.image_; }
};

}  // namespace areal
