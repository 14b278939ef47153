#pragma once
// Histograms of regions, image by image: from the tensor or streamed, whichever is cheaper.

#include <areal/region_histogram.hpp>
#include <areal/research/histogram.hpp>
#include <optional>
#include <span>
#include <vector>
#include "io/settings.hpp"

namespace areal::command {

/// The number of 64-bit counts in that many histograms. Throws OutOfMemory if they need more memory than is free.
std::uint64_t elements_of_histograms(std::size_t histograms, std::int64_t bins);

class HistogramMaker {
 public:
  /// `needs_tensor`: the tensor will be saved or searched, or the user named its algorithm or a device backend.
  HistogramMaker(HistogramOptions options, research::HistogramParameters parameters, bool needs_tensor)
      : options_(std::move(options)), parameters_(std::move(parameters)), needs_tensor_(needs_tensor) {}

  /// Prepares histograms of `regions`: computes the tensor unless streaming is faster.
  void make(const ConstView& image, const ConstView& weights, const Binning& binning, std::span<const Region> regions,
            const Settings& settings);
  /// Histograms, regions x bins: std::uint64_t counts, or double with weights.
  template <class T>
  std::vector<T> histograms(std::span<const Region> regions, const QueryOptions& query) const;

  const HistogramTensor& tensor() const noexcept { return tensor_; }  ///< in host memory
  const HistogramPlan& plan() const { return *plan_; }
  std::string algorithm() const { return workspace_->algorithm(); }  ///< of the last tensor
  double seconds() const noexcept { return seconds_; }

 private:
  void plan_for(const ConstView& image, const Binning& binning, std::span<const Region> regions,
                const Settings& settings);
  bool wants_tensor(std::span<const Region> regions, const Settings& settings) const;

  HistogramOptions options_;
  research::HistogramParameters parameters_;
  bool needs_tensor_, reported_ = false;
  std::optional<HistogramPlan> plan_;
  std::optional<Workspace> workspace_;  // none if streamed
  std::optional<Binning> binning_;
  ConstView image_, weights_;
  HistogramTensor tensor_;
  double seconds_ = 0;
};

}  // namespace areal::command
