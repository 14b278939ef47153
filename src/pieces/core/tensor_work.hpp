#pragma once
// Tensors of parts by a HistogramPlan, of some of the bins.

#include <areal/histogram.hpp>
#include "pieces/core/work.hpp"

namespace areal::pieces {

/// What all groups of bins have in common.
struct TensorSubject {
  Shape image;
  Type type;
  Binning binning;
  HistogramOptions options;  ///< of a part: border `zero` or `none`; with `carries` where parts take over sums
  Type weights;              ///< of options.weighted
};

/// Throws InvalidArgument for a type that weights cannot have.
void require_weights(const HistogramOptions& options, Type weights);

class TensorWork final : public Work {
 public:
  /// `bins` is a slice of the subject's binning. Throws as HistogramPlan.
  TensorWork(const TensorSubject& subject, const Binning& bins, const Execution& execution);

  std::size_t workspace_bytes(std::int64_t width, std::int64_t height) const override;
  std::unique_ptr<Step> plan(std::int64_t width, std::int64_t height, Stream stream) const override;

 private:
  HistogramPlan plan_of(std::int64_t width, std::int64_t height) const;

  TensorSubject subject_;
  Binning bins_;
};

}  // namespace areal::pieces
