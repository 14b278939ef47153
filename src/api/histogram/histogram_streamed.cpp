// Histograms of regions straight from the image: checks, and the call.
#include <algorithm>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/info.hpp>
#include <vector>
#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "api/query/region_check.hpp"
#include "cpu/histogram/streamed.hpp"

namespace areal {
namespace {

struct Request {
  cpu::PixelBins rule;
  std::vector<Region> regions;  // inside the image
};

Request checked(const ConstView& image, const Binning& binning, std::span<const Region> regions, std::size_t out,
                Outside outside, int threads) {
  check_view("image", image, image.shape, image.type);
  check_shape("image", image.shape, image.type);
  require(image.shape.batch == 1, "image of a batch of ", image.shape.batch,
          ": regions are answered for one image at a time");
  require(threads >= 0, "threads ", threads, ": it may be 0 (all) or more");
  Request request{pixel_bins(binning, image.type, image.shape.channels), {}};
  const std::int64_t count = static_cast<std::int64_t>(regions.size()), bins = binning.bins();
  std::int64_t wanted = 0;
  require(!__builtin_mul_overflow(count, bins, &wanted) && static_cast<std::size_t>(wanted) == out, "output of ", out,
          " elements: ", count, " regions of ", bins, " bins need ", count, " x ", bins);
  request.regions.reserve(regions.size());
  for (std::int64_t i = 0; i < count; ++i)
    request.regions.push_back(
        checked_region(regions[static_cast<std::size_t>(i)], i, image.shape.width, image.shape.height, outside));
  const std::uint64_t bytes = cpu::streamed_bytes(image.shape, bins, count, threads), limit = free_memory();
  if (bytes > limit)
    throw OutOfMemory(sentence("the column counts of ", bins, " bins over an image ", image.shape.width, " wide take ",
                               bytes, " bytes, more than the ", limit, " that are free"),
                      bytes);
  return request;
}

}  // namespace

void region_histograms(const ConstView& image, const Binning& binning, std::span<const Region> regions,
                       std::span<std::uint64_t> out, Outside outside, int threads) {
  const Request request = checked(image, binning, regions, out.size(), outside, threads);
  cpu::streamed_counts(request.rule, image, request.regions, out, threads);
}

void region_histograms(const ConstView& image, const Binning& binning, const ConstView& weights,
                       std::span<const Region> regions, std::span<double> out, Outside outside, int threads) {
  const Request request = checked(image, binning, regions, out.size(), outside, threads);
  check_weights(weights, image.shape);
  cpu::streamed_weights(request.rule, image, weights, request.regions, out, threads);
}

}  // namespace areal
