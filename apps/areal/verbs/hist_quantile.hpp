#pragma once
// `areal hist --quantile` and `areal query --quantile`: exact quantiles of regions, without bins.

#include <areal/region_quantile.hpp>
#include <functional>
#include <string>
#include <vector>
#include "io/regions.hpp"
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

  /// A row for each region and channel: the cells of `prefix`, the channel if `shows_channels`, the region, the
  /// quantiles.
  void write(RowWriter& rows, const std::function<void(RowWriter&)>& prefix, const StoreView& store,
             const std::vector<media::NamedRegion>& regions, std::int64_t channels, bool shows_channels,
             const QueryOptions& query) const;

  std::vector<std::string> names;  ///< of the columns
  std::vector<double> quantiles;
  QuantileMethod method = QuantileMethod::linear;
};

/// Writes the store of one image to the file of -o.
void write_store_file(const HistRequest& request, const StorePlan& plan, const HistogramStore& store,
                      const Settings& settings);

/// Writes a row for each region of each image, and with -o the rank store of one image. Throws InvalidArgument for
/// options of histograms.
void run_quantiles(HistRequest& request, const std::vector<GivenOption>& options, const Settings& settings);

}  // namespace areal::command
