#include "api/query/region_counts.hpp"

#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"

namespace areal {

CountedRule::CountedRule(const Binning& binning, Type type, std::int64_t channels, bool weighted)
    : bins(pixel_bins(binning, type, channels)), device(device_rule(bins)), scale(weighted ? 0 : bin_scale(bins)) {}

kernels::CountsRequest CountedRule::request(const ConstView& image, const char* tables) const {
  kernels::CountsRequest request;
  request.image = image;
  request.rule = size_of(bins.type) == 1 ? device.at(device.tables.data()) : device.rule;
  if (table_bytes() > 0) request.rule = device.at(tables);
  request.bins = static_cast<int>(bins.bins);
  request.scale = scale;
  return request;
}

void require_histograms_of(std::int64_t regions, std::int64_t bins, std::size_t out) {
  std::int64_t wanted = 0;
  require(!__builtin_mul_overflow(regions, bins, &wanted) && static_cast<std::size_t>(wanted) == out, "output of ", out,
          " elements: ", regions, " regions of ", bins, " bins need ", regions, " x ", bins);
}

void require_one_image(const Shape& image) {
  require(image.batch == 1, "image of a batch of ", image.batch, ": regions are answered for one image at a time");
}

}  // namespace areal
