// Histograms of regions from a tensor: checks, then one pass of blocks over its corners, or a device's request.
#include <algorithm>
#include <areal/region_histogram.hpp>
#include "api/core/table_check.hpp"
#include "api/query/query_call.hpp"
#include "api/query/region_blocks.hpp"
#include "cpu/query/bin_sums.hpp"

namespace areal {

namespace {

template <class Out>
void histograms(const TensorView& tensor, Span<const Region> regions, Span<Out> out, const QueryOptions& options) {
  require_tensor(tensor);
  const std::int64_t bins = tensor.bins(), pitch = tensor.view.plane_pitch;
  require_histograms(out.size(), regions.size(), bins);
  require_counts(tensor, type_of<Out>);
  QueryCall call(options.execution, {{"tensor", tensor.memory()}});
  const RegionRules rules = rules_of(tensor, options.outside);
  if (!call.on_cpu()) {
    const kernels::RegionList list = listed(call, regions, options, rules);
    return call.answer(kernels::HistogramsRequest{tensor, list, call.out(out, "out"), std::is_same_v<Out, double>});
  }
  const Region* const first = call.in(regions, "regions");
  Out* const answers = call.out(out, "out");
  FirstInvalid first_invalid(call, options);
  const auto add = cpu::bin_sums<Out>(tensor.view.type);
  for_each_region_block<1>(
      {first, regions.size()}, rules, {cpu::Corner(tensor.view, tensor.border)}, call.threads(), first_invalid,
      [&](const RegionBlock<1>& block) {
        for (std::int64_t i = 0; i < block.count; ++i)
          add(block.corners[0][i], pitch, bins, answers + (block.first + i) * bins);
      },
      [&](std::int64_t i) { std::fill_n(answers + i * bins, bins, invalid_answer<Out>()); },
      std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, bins)));
}

}  // namespace

void region_histograms(const TensorView& tensor, Span<const Region> regions, Span<std::uint64_t> out,
                       const QueryOptions& options) {
  histograms(tensor, regions, out, options);
}

void region_histograms(const TensorView& tensor, Span<const Region> regions, Span<double> out,
                       const QueryOptions& options) {
  histograms(tensor, regions, out, options);
}

}  // namespace areal
