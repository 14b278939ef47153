#pragma once
// `areal hist --quantile`: exact quantiles of regions, without bins.

#include <areal/region_quantile.hpp>
#include <string>
#include <vector>
#include "io/route.hpp"
#include "io/settings.hpp"

namespace CLI {
class App;
}

namespace areal::command {

struct HistRequest;

struct QuantileOptions {
  std::vector<std::string> texts;  ///< each one or more, with commas
  std::string method_text = "linear";

  void add_to(CLI::App& verb);
  /// Throws InvalidArgument for a quantile outside [0, 1], for an unknown method, and for one without quantiles.
  void resolve();
  bool given() const noexcept { return !texts.empty(); }

  std::vector<std::string> names;  ///< of the columns
  std::vector<double> quantiles;
  QuantileMethod method = QuantileMethod::linear;
};

/// Writes a row for each region of each image. Throws InvalidArgument for options of histograms.
void run_quantiles(HistRequest& request, const std::vector<GivenOption>& options, const Settings& settings);

}  // namespace areal::command
