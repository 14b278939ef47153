#pragma once
// Histograms of the regions of one image after another: from the tensor or streamed, whichever is right.

#include <areal/histogram.hpp>
#include <optional>
#include <span>
#include <vector>
#include "io/settings.hpp"

namespace areal::command {

class HistogramMaker {
 public:
  /// `needs_tensor`: it is to be saved or searched, or its algorithm or a device backend was named.
  HistogramMaker(const HistogramOptions& options, bool needs_tensor) : options_(options), needs_tensor_(needs_tensor) {}

  /// Makes ready for the image: computes the tensor where that is the way. `regions` are those to be asked about.
  void make(const ConstView& image, const ConstView& weights, const Binning& binning, std::span<const Region> regions,
            const Settings& settings);
  /// Counts of the regions, regions x bins; weighted ones are doubles.
  std::vector<std::uint64_t> counts(std::span<const Region> regions, Outside outside) const;
  std::vector<double> weights(std::span<const Region> regions, Outside outside) const;

  const Array& tensor() const noexcept { return tensor_; }
  TensorView tensor_view() const { return {tensor_.view(), options_.border}; }
  const HistogramPlan& plan() const { return *plan_; }
  double seconds() const noexcept { return seconds_; }

 private:
  void plan_for(const ConstView& image, const Binning& binning, std::span<const Region> regions,
                const Settings& settings);
  bool wants_tensor(std::span<const Region> regions, const Settings& settings) const;
  template <class T>
  std::vector<T> room(std::size_t regions) const;

  HistogramOptions options_;
  bool needs_tensor_, told_ = false;
  std::optional<HistogramPlan> plan_;
  std::optional<HistogramRunner> runner_;  // where the tensor is computed
  std::optional<Binning> binning_;
  ConstView image_, weights_;
  Array tensor_;
  double seconds_ = 0;
};

}  // namespace areal::command
