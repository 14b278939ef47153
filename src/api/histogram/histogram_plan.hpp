#pragma once
// The states of HistogramPlan and HistogramTensor.

#include <areal/histogram.hpp>
#include <areal/research/histogram.hpp>
#include <memory>
#include <optional>
#include "api/core/choice.hpp"
#include "api/core/owned_view.hpp"
#include "api/core/plan_state.hpp"
#include "cpu/histogram/fused.hpp"
#include "cpu/histogram/pixel_bins.hpp"
#include "kernels/histogram/request.hpp"

namespace areal {

struct HistogramPlan::State : Plan::State {
  State(const Shape& image_, Type type_, const Binning& binning_, const HistogramOptions& options_)
      : image(image_), type(type_), binning(binning_), options(options_) {}

  Shape image, tensor;
  Type type;
  Binning binning;
  HistogramOptions options;
  std::uint64_t tensor_bytes = 0;
  cpu::PixelBins rule;
  std::optional<cpu::FusedHistogram> fused;          // areal's, on the CPU, or
  std::optional<Choice<kernels::Histogram>> device;  // on cuda or simt, or else a paper's on the CPU
  LaunchReport on_launch;                            // may be empty

  void prepare(void* memory, Stream stream) const override;
  /// Runs on views of memory where the plan runs.
  std::string_view run(const HistogramArguments& arguments, void* memory,
                       Stream stream) const;  ///< returns the algorithm
};

/// The plan; chooses the backend for Backend::automatic.
std::shared_ptr<HistogramPlan::State> plan_histogram(const Shape& image, Type type, const Binning& binning,
                                                     const HistogramOptions& options, const Execution& execution,
                                                     const research::HistogramParameters& parameters = {});

struct HistogramTensor::State {
  Shape image;
  Binning binning;
  Border border;
  MemoryPlace memory;
  OwnedView tensor;
};

}  // namespace areal
