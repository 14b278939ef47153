#include "api/histogram/histogram_request.hpp"

#include <algorithm>
#include <utility>
#include "api/core/device_rule.hpp"

namespace areal {
kernels::HistogramRequest histogram_request(const Shape& image, const cpu::PixelBins& rule,
                                            const HistogramOptions& options,
                                            const research::HistogramParameters& parameters, std::string id) {
  kernels::HistogramRequest request;
  request.id = std::move(id);
  request.image = image;
  request.type = rule.type;
  request.bins = rule.bins;
  request.counter = options.counter;
  request.border = options.border;
  request.weighted = options.weighted;
  request.carries = options.carries;
  request.tile = parameters.tile;
  request.tile_threads = parameters.tile_threads;
  DeviceRule device = device_rule(rule);
  request.rule = device.rule;
  request.tables = std::move(device.tables);
  std::copy(std::begin(device.table_at), std::end(device.table_at), request.table_at);
  return request;
}

}  // namespace areal
