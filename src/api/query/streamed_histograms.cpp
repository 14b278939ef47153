// Histograms of regions straight from the image: checks, and the call on the CPU or on the device of the image.
#include <algorithm>
#include <areal/error.hpp>
#include <areal/region_histogram.hpp>
#include <type_traits>
#include <vector>
#include "api/core/memory.hpp"
#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "api/query/query_call.hpp"
#include "api/query/region_blocks.hpp"
#include "api/query/region_counts.hpp"
#include "cpu/histogram/direct.hpp"
#include "cpu/histogram/streamed.hpp"

namespace areal {
namespace {

struct Request {
  cpu::PixelBins rule;
  std::vector<Region> regions = {};        // inside the image; invalid ones are empty
  std::vector<std::int64_t> invalid = {};  // numbers of the invalid ones
};

Request checked(const QueryCall& call, const ConstView& image, const Binning& binning, std::span<const Region> regions,
                std::size_t out, const QueryOptions& options, bool counts_invalid) {
  check_view("image", image, image.shape, image.type);
  check_shape("image", image.shape, image.type);
  require_one_image(image.shape);
  Request request{pixel_bins(binning, image.type, image.shape.channels)};
  const std::int64_t count = static_cast<std::int64_t>(regions.size()), bins = binning.bins();
  require_histograms_of(count, bins, out);
  const RegionRules rules{image.shape.width, image.shape.height, options.outside, false};
  request.regions.assign(regions.begin(), regions.end());
  for (std::int64_t i = 0; i < count; ++i) {
    Region& region = request.regions[static_cast<std::size_t>(i)];
    if (!counts_invalid) {
      region = rules.checked(region, i);
    } else if (!rules.take(region)) {
      region = {};
      request.invalid.push_back(i);
    }
  }
  const std::uint64_t bytes = cpu::streamed_bytes(image.shape, bins, count, call.threads());
  if (exceeds_free_memory(bytes))
    throw OutOfMemory(sentence("the column counts of ", bins, " bins over an image ", image.shape.width, " wide take ",
                               bytes, " bytes, more than are free"),
                      bytes);
  return request;
}

/// Copies the image to the device that the execution names.
template <class Out>
void staged(const ConstView& image, const Binning& binning, const ConstView* weights, Span<const Region> regions,
            Span<Out> out, const QueryOptions& options) {
  const RegionHistogramPlan plan(image.shape, image.type, binning, static_cast<std::int64_t>(regions.size()),
                                 {options.outside, weights != nullptr}, options.execution);
  Workspace workspace(plan);
  if constexpr (std::is_same_v<Out, double>)
    plan.execute(image, *weights, regions, out, workspace, options.first_invalid);
  else
    plan.execute(image, regions, out, workspace, options.first_invalid);
  workspace.wait();
}

/// On the device of the image, or on simt.
template <class Out>
void answer(QueryCall& call, const ConstView& image, const Binning& binning, const ConstView* weights,
            Span<const Region> regions, Span<Out> out, const QueryOptions& options) {
  check_view("image", image, image.shape, image.type);
  check_shape("image", image.shape, image.type);
  require_one_image(image.shape);
  const CountedRule rule(binning, image.type, image.shape.channels, weights != nullptr);
  if (weights != nullptr) check_weights(*weights, image.shape);
  require_histograms_of(static_cast<std::int64_t>(regions.size()), binning.bins(), out.size());
  const Span<const char> tables(rule.device.tables.data(), rule.table_bytes());
  kernels::CountsRequest request = rule.request(image, call.in(tables, "binning"));
  request.regions = listed(call, regions, options, {image.shape.width, image.shape.height, options.outside, false});
  request.out = call.out(out, "out");
  if (weights != nullptr) request.weights = *weights;
  if (const std::size_t bytes = kernels::CountsRequest::workspace_bytes(request.regions.count);
      bytes > 0 && weights == nullptr)
    request.workspace = call.workspace({}, bytes);
  call.answer(request);
}

/// Calls fill(request, answers), then stores the answers of invalid regions.
template <class Out, class Fill>
void histograms(const ConstView& image, const Binning& binning, Span<const Region> regions, Span<Out> out,
                const QueryOptions& options, const ConstView* weights, const Fill& fill) {
  if (image.memory.is_host() && options.execution.backend == Backend::cuda)
    return staged(image, binning, weights, regions, out, options);
  QueryCall call(options.execution,
                 {{"image", image.memory}, {"weights", weights ? std::optional(weights->memory) : std::nullopt}});
  if (!call.on_cpu()) return answer(call, image, binning, weights, regions, out, options);
  const std::span<const Region> all(call.in(regions, "regions"), regions.size());
  const std::span<Out> answers(call.out(out, "out"), out.size());
  FirstInvalid first_invalid(call, options);
  const Request request = checked(call, image, binning, all, out.size(), options, first_invalid.requested());
  fill(request, answers, call.threads());
  const auto bins = static_cast<std::size_t>(binning.bins());
  for (const std::int64_t i : request.invalid) {
    first_invalid.found(i);
    std::fill_n(answers.data() + static_cast<std::size_t>(i) * bins, bins, invalid_answer<Out>());
  }
  first_invalid.store();
}

/// Memory for the answers. Throws OutOfMemory if they are too many.
template <class Out>
std::vector<Out> buffer_for(Span<const Region> regions, const Binning& binning) {
  std::size_t values = 0;
  require(!__builtin_mul_overflow(regions.size(), static_cast<std::size_t>(binning.bins()), &values),
          "regions: ", regions.size(), " histograms of ", binning.bins(), " bins do not fit 64 bits");
  return std::vector<Out>(values);
}

}  // namespace

void region_histograms(const ConstView& image, const Binning& binning, Span<const Region> regions,
                       Span<std::uint64_t> out, const QueryOptions& options) {
  histograms(image, binning, regions, out, options, nullptr,
             [&](const Request& request, std::span<std::uint64_t> answers, int threads) {
               if (cpu::has_direct_counts(image.type, image.shape) &&
                   cpu::direct_is_less(request.rule, image.shape, request.regions))
                 cpu::direct_counts(request.rule, image, request.regions, answers, threads);
               else
                 cpu::streamed_counts(request.rule, image, request.regions, answers, threads);
             });
}

void region_histograms(const ConstView& image, const Binning& binning, const ConstView& weights,
                       Span<const Region> regions, Span<double> out, const QueryOptions& options) {
  histograms(image, binning, regions, out, options, &weights,
             [&](const Request& request, std::span<double> answers, int threads) {
               check_weights(weights, image.shape);
               cpu::streamed_weights(request.rule, image, weights, request.regions, answers, threads);
             });
}

std::vector<std::uint64_t> region_histograms(const ConstView& image, const Binning& binning, Span<const Region> regions,
                                             const QueryOptions& options) {
  std::vector<std::uint64_t> out = buffer_for<std::uint64_t>(regions, binning);
  region_histograms(image, binning, regions, Span<std::uint64_t>(out), options);
  return out;
}

std::vector<double> region_histograms(const ConstView& image, const Binning& binning, const ConstView& weights,
                                      Span<const Region> regions, const QueryOptions& options) {
  std::vector<double> out = buffer_for<double>(regions, binning);
  region_histograms(image, binning, weights, regions, Span<double>(out), options);
  return out;
}

}  // namespace areal
