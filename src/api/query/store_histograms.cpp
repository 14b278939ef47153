// Histograms of regions from a store: a tensor's are region_histograms.cpp's.
#include <algorithm>
#include <areal/error.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>
#include "api/core/memory.hpp"
#include "api/core/require.hpp"
#include "api/core/store_state.hpp"
#include "api/core/table_check.hpp"
#include "api/query/query_call.hpp"
#include "api/query/region_blocks.hpp"
#include "cpu/histogram/compact.hpp"
#include "cpu/histogram/direct.hpp"
#include "cpu/histogram/streamed.hpp"
#include "cpu/threads.hpp"

namespace areal {
namespace {

using Access = StoreView::Access;

ConstView image_of(ConstView all, std::int64_t n) {
  all.data = all.row(0, 0, n);
  all.shape.batch = 1;
  return all;
}

/// Scratch of one thread, zeros at first: usually on the stack.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes) {
    if (bytes > sizeof few_) many_.resize(bytes + alignment);
    const auto first = reinterpret_cast<std::uintptr_t>(many_.data());
    std::memset(few_, 0, many_.empty() ? bytes : 0);
    data_ = many_.empty() ? few_ : many_.data() + (alignment - first % alignment) % alignment;
  }
  std::byte* data() { return data_; }

 private:
  static constexpr std::size_t alignment = 64;
  alignas(alignment) std::byte few_[4096];
  std::vector<std::byte> many_;
  std::byte* data_;
};

template <class Out>
void from_compact(const StoreView& store, std::span<const Region> regions, Out* answers, const RegionRules& rules,
                  int threads, FirstInvalid& first_invalid) {
  const HistogramStore::State& state = Access::state(store);
  const formulas::Compact& layout = state.plan->layout;
  const auto* const bytes = static_cast<const std::byte*>(state.memory.data());
  const std::int64_t bins = store.bins(), image = Access::image(store);
  const bool counts_invalid = first_invalid.requested();
  const auto body = [&](std::int64_t begin, std::int64_t end) {
    Scratch scratch(cpu::compact_scratch_bytes(layout));
    for (std::int64_t i = begin; i < end; ++i) {
      Region region = regions[static_cast<std::size_t>(i)];
      if (!rules.allow(region)) [[unlikely]] {
        if (!counts_invalid) {
          region = rules.checked(region, i);
        } else if (!rules.take(region)) {
          std::fill_n(answers + i * bins, bins, invalid_answer<Out>());
          first_invalid.found(i);
          continue;
        }
      }
      cpu::compact_counts(layout, bytes, image, region, scratch.data(), answers + i * bins);
    }
  };
  try {
    cpu::parallel_ranges(threads, static_cast<std::int64_t>(regions.size()),
                         std::max<std::int64_t>(1, (1 << 12) / std::max<std::int64_t>(1, bins)), body);
  } catch (const InvalidArgument&) {  // name the first invalid one, for any number of threads
    for (std::size_t i = 0; i < regions.size(); ++i) rules.checked(regions[i], static_cast<std::int64_t>(i));
    throw;
  }
  first_invalid.store();
}

template <class Out>
void from_image(const StoreView& store, std::span<const Region> regions, std::span<Out> answers,
                const RegionRules& rules, int threads, FirstInvalid& first_invalid) {
  const HistogramStore::State& state = Access::state(store);
  const cpu::PixelBins& rule = *state.plan->rule;
  const auto bins = static_cast<std::size_t>(store.bins());
  const ConstView image = image_of(state.arguments.image, Access::image(store));
  std::vector<Region> inside(regions.begin(), regions.end());
  std::vector<std::size_t> invalid;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (!first_invalid.requested()) {
      inside[i] = rules.checked(inside[i], static_cast<std::int64_t>(i));
    } else if (!rules.take(inside[i])) {
      inside[i] = {};
      invalid.push_back(i);
    }
  }
  const auto count = [&](std::span<std::uint64_t> counts) {
    if (state.plan->options.masked)
      return cpu::masked_counts(rule, image, image_of(state.arguments.mask, Access::image(store)), inside, counts,
                                threads);
    if (cpu::has_direct_counts(image.type, image.shape) && cpu::direct_is_less(rule, image.shape, inside))
      return cpu::direct_counts(rule, image, inside, counts, threads);
    const std::uint64_t bytes =
        cpu::streamed_bytes(image.shape, store.bins(), static_cast<std::int64_t>(inside.size()), threads);
    if (exceeds_free_memory(bytes))
      throw OutOfMemory(sentence("store none: the column counts of ", bins, " bins over an image ", image.shape.width,
                                 " wide take ", bytes, " bytes, more than are free"),
                        bytes);
    cpu::streamed_counts(rule, image, inside, counts, threads);
  };
  if constexpr (std::is_same_v<Out, std::uint64_t>) {
    count(answers);
  } else if (state.plan->options.weighted) {
    cpu::streamed_weights(rule, image, image_of(state.arguments.weights, Access::image(store)), inside, answers,
                          threads);
  } else {
    std::vector<std::uint64_t> counts(answers.size());
    count(counts);
    std::transform(counts.begin(), counts.end(), answers.begin(),
                   [](std::uint64_t value) { return static_cast<Out>(value); });
  }
  for (const std::size_t i : invalid) {
    first_invalid.found(static_cast<std::int64_t>(i));
    std::fill_n(answers.data() + i * bins, bins, invalid_answer<Out>());
  }
  first_invalid.store();
}

/// Of a plan on a device.
template <class Out>
void from_device_image(const StoreView& store, Span<const Region> regions, Span<Out> out, const QueryOptions& options) {
  const HistogramStore::State& state = Access::state(store);
  const StorePlan::State& plan = *state.plan;
  QueryOptions query = options;
  Execution& execution = query.execution;
  if (execution.backend == Backend::automatic)
    execution.backend = plan.execution.backend, execution.device = plan.execution.device;
  require(execution.backend == plan.execution.backend, "store none: it was planned for the backend ",
          name_of(plan.execution.backend), ", not for ", name_of(execution.backend));
  if (!execution.stream) execution.stream = plan.execution.stream;
  const ConstView image = image_of(state.arguments.image, Access::image(store));
  if constexpr (std::is_same_v<Out, std::uint64_t>) {
    region_histograms(image, plan.binning, regions, out, query);
  } else if (plan.options.weighted) {
    region_histograms(image, plan.binning, image_of(state.arguments.weights, Access::image(store)), regions, out,
                      query);
  } else {
    require(out.memory().is_host() && options.first_invalid.empty(),
            "out of 64f: from an image on a device counts are 64u, unless they go to host memory and all regions are "
            "valid");
    const std::vector<std::uint64_t> counts = region_histograms(image, plan.binning, regions, query);
    std::transform(counts.begin(), counts.end(), out.data(),
                   [](std::uint64_t value) { return static_cast<double>(value); });
  }
}

template <class Out>
void histograms(const StoreView& store, Span<const Region> regions, Span<Out> out, const QueryOptions& options) {
  if (store.store() == Store::tensor) return region_histograms(store.tensor(), regions, out, options);
  require(Access::state(store).plan->has_bins, "store ", name_of(store.store()),
          ": it was made without a binning and has no histograms, only values");
  require_histograms(out.size(), regions.size(), store.bins());
  require(std::is_same_v<Out, double> || !Access::state(store).plan->options.weighted,
          "out of 64u: this store has weights, whose sums are 64f");
  if (store.store() == Store::none && Access::state(store).plan->execution.backend != Backend::cpu)
    return from_device_image(store, regions, out, options);
  const StorePlan::State& plan = *Access::state(store).plan;
  const bool is_compact = store.store() == Store::compact;
  Execution execution = options.execution;
  if (is_compact && execution.backend == Backend::automatic)
    execution.backend = plan.execution.backend, execution.device = plan.execution.device;
  if (is_compact && !execution.stream && execution.backend == plan.execution.backend)
    execution.stream = plan.execution.stream;
  QueryCall call(execution, {{"store", store.memory()}});
  const RegionRules rules{store.image_width(), store.image_height(), options.outside, false};
  if (is_compact && !call.on_cpu()) {
    constexpr std::int64_t most = kernels::CompactRequest::most_side;
    require(plan.image.width <= most && plan.image.height <= most, "store compact of ", plan.image.width, "x",
            plan.image.height, ": only the backend cpu reads more than ", most, " rows or columns");
    kernels::CompactCountsRequest request;
    request.layout = plan.layout;
    request.store = Access::state(store).memory.data();
    request.image = Access::image(store);
    request.regions = listed(call, regions, options, rules);
    request.out = call.out(out, "out");
    request.real = std::is_same_v<Out, double>;
    return call.answer(request);
  }
  require(call.on_cpu(), "store none: it was planned for the backend cpu, not for ", name_of(execution.backend));
  const std::span<const Region> all(call.in(regions, "regions"), regions.size());
  Out* const answers = call.out(out, "out");
  FirstInvalid first_invalid(call, options);
  if (is_compact)
    from_compact(store, all, answers, rules, call.threads(), first_invalid);
  else
    from_image(store, all, std::span<Out>(answers, out.size()), rules, call.threads(), first_invalid);
}

}  // namespace

void region_histograms(const StoreView& store, Span<const Region> regions, Span<std::uint64_t> out,
                       const QueryOptions& options) {
  histograms(store, regions, out, options);
}

void region_histograms(const StoreView& store, Span<const Region> regions, Span<double> out,
                       const QueryOptions& options) {
  histograms(store, regions, out, options);
}

}  // namespace areal
