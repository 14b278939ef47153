#pragma once
// Histograms of regions, image by image, from the store that was named or that is expected to be the fastest.

#include <areal/histogram_store.hpp>
#include <areal/region_histogram.hpp>
#include <areal/research/histogram.hpp>
#include <optional>
#include <span>
#include <vector>
#include "io/settings.hpp"

namespace areal::command {

/// The number of 64-bit counts in that many histograms. Throws OutOfMemory if they need more memory than is free.
std::uint64_t elements_of_histograms(std::size_t histograms, std::int64_t bins);

/// Pixels of all regions together, of each at most the image.
std::int64_t area_of(std::span<const Region> regions, const Shape& image);

class HistogramMaker {
 public:
  /// `store`: tensor if the tensor will be saved or searched, or if the user named its algorithm, or its
  /// counter on a device, or counts its launches.
  HistogramMaker(HistogramOptions options, research::HistogramParameters parameters, Store store)
      : options_(std::move(options)), parameters_(std::move(parameters)), store_(store) {}

  /// Prepares histograms of `regions`: builds the store. A store of none reads `image` and `weights` later.
  void make(const ConstView& image, const ConstView& weights, const Binning& binning, std::span<const Region> regions,
            const Settings& settings);
  /// Histograms, regions x bins: std::uint64_t counts, or double with weights.
  template <class T>
  std::vector<T> histograms(std::span<const Region> regions, const QueryOptions& query) const;

  /// \name Of the last store other than a tensor.
  /// @{
  const StorePlan& store_plan() const { return *store_plan_; }
  const HistogramStore& store() const noexcept { return stored_; }
  ///@}
  const HistogramTensor& tensor() const noexcept { return tensor_; }  ///< in host memory
  const HistogramPlan& plan() const { return *plan_; }
  std::string algorithm() const { return workspace_->algorithm(); }  ///< of the last tensor
  double seconds() const noexcept { return seconds_; }

 private:
  void plan_for(const ConstView& image, const Binning& binning, std::span<const Region> regions,
                const Settings& settings);

  HistogramOptions options_;
  research::HistogramParameters parameters_;
  Store store_;
  bool reported_ = false;
  std::optional<StorePlan> store_plan_;  // of stores without a tensor, or
  HistogramStore stored_;
  std::optional<HistogramPlan> plan_;  // of the tensor
  std::optional<Workspace> workspace_;
  HistogramTensor tensor_;
  Shape shape_;
  Type type_ = Type::u8;
  std::int64_t bins_ = 0;
  double seconds_ = 0;
};

}  // namespace areal::command
