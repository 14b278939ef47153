// Plans of histograms straight from the pixels.
#include <areal/region_histogram.hpp>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include "api/core/device_plan.hpp"
#include "api/core/execute.hpp"
#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "api/query/invalid_regions.hpp"
#include "api/query/region_blocks.hpp"
#include "api/query/region_counts.hpp"
#include "api/query/region_device.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal {

struct RegionHistogramPlan::State : Plan::State {
  State(const Shape& image_, Type type_, const Binning& binning_, std::int64_t regions_,
        const RegionHistogramOptions& options_)
      : image(image_),
        type(type_),
        binning(binning_),
        regions(regions_),
        options(options_),
        rule(binning_, type_, image_.channels, options_.weighted) {}

  Shape image;
  Type type;
  Binning binning;
  std::int64_t regions;
  RegionHistogramOptions options;
  CountedRule rule;

  /// The arrays of a workspace on a device.
  struct Arrays {
    char* tables = nullptr;
    char* sums = nullptr;
    char* parts = nullptr;
    std::size_t parts_bytes = 0, bytes = 0;
  };
  Arrays arrays(void* memory) const {
    Arrays all;
    kernels::Workspace from(memory);
    const auto tables = static_cast<std::int64_t>(rule.table_bytes());
    const auto sums =
        options.weighted ? 0 : static_cast<std::int64_t>(kernels::CountsRequest::workspace_bytes(regions));
    from.take(all.tables, tables);
    from.take(all.sums, sums);
    if (!options.weighted) all.parts_bytes = kernels::CountsRequest::parts_bytes(binning.bins());
    from.take(all.parts, static_cast<std::int64_t>(all.parts_bytes));
    all.bytes = tables + sums == 0 && all.parts_bytes == 0 ? 0 : from.bytes();
    return all;
  }
  void prepare(void* memory, Stream stream) const override {
    if (execution.backend == Backend::cpu) return;
    const Arrays all = arrays(memory);
    if (on_cuda()) {
      if (all.parts_bytes > 0) cuda::clear(all.parts, all.parts_bytes, stream);
      if (rule.table_bytes() > 0) cuda::copy_in(all.tables, rule.device.tables.data(), rule.table_bytes(), stream);
    } else {
      if (all.parts_bytes > 0) std::memset(all.parts, 0, all.parts_bytes);
      if (rule.table_bytes() > 0) std::memcpy(all.tables, rule.device.tables.data(), rule.table_bytes());
    }
  }
};

namespace {

/// An execute's arguments, as views for the copies of those in host memory.
struct CountArguments {
  ConstView image, weights, regions;
  View out, first_invalid;
};
constexpr ArgumentViews<CountArguments, 3, 2> count_views{
    {{{"image", &CountArguments::image}, {"weights", &CountArguments::weights}, {"regions", &CountArguments::regions}}},
    {{{"out", &CountArguments::out}, {"first_invalid", &CountArguments::first_invalid}}}};

template <class V, class T>
V view_of(Span<T> span, Type type, std::int64_t width) {
  if (span.empty()) return V();
  V view(span.data(), type, Shape{width, static_cast<std::int64_t>(span.size_bytes() / 8) / width});
  return view.in(span.memory());
}
template <class T>
void check_span(Span<T> span, const char* name) {
  if (span.empty()) return;
  require(span.data() != nullptr, name, ": a null pointer for ", span.size(), " elements");
  require(reinterpret_cast<std::uintptr_t>(span.data()) % 8 == 0, name, ": its address is no multiple of 8");
}

template <class Out>
void run(const RegionHistogramPlan& plan, const RegionHistogramPlan::State& s, const ConstView& image,
         const ConstView* weights, Span<const Region> regions, Span<Out> out, Workspace& workspace,
         Span<std::int64_t> first_invalid) {
  Workspace::State& w = require_workspace(s, workspace);
  check_view("image", image, s.image, s.type);
  require(s.options.weighted == (weights != nullptr), s.options.weighted
                                                          ? "weights: the plan was made for them"
                                                          : "weights were given, but the plan was not made for them");
  if (weights != nullptr) check_weights(*weights, s.image);
  const auto count = static_cast<std::int64_t>(regions.size());
  require(count <= s.regions, "regions: ", count, ", the plan was made for up to ", s.regions);
  require_histograms_of(count, s.binning.bins(), out.size());
  check_span(regions, "regions");
  check_span(out, "out");
  check_span(first_invalid, "first_invalid");
  const QueryOptions query{s.options.outside, s.execution, first_invalid};
  require_first_invalid(query);
  CountArguments arguments{
      image, weights != nullptr ? *weights : ConstView(), view_of<ConstView>(regions, Type::s64, 4),
      view_of<View>(out, type_of<Out>, s.binning.bins()), view_of<View>(first_invalid, Type::s64, 1)};
  require_memories(plan, count_views, arguments, true);
  if (w.borrowed) require_memories(plan, count_views, arguments, false);
  w.ran = s.algorithm;
  if (s.execution.backend == Backend::cpu) {
    if constexpr (std::is_same_v<Out, double>)
      return region_histograms(image, s.binning, *weights, regions, out, query);
    else
      return region_histograms(image, s.binning, regions, out, query);
  }
  if (first_invalid.empty() && regions.memory().is_host()) {
    const RegionRules rules{s.image.width, s.image.height, s.options.outside, false};
    for (std::int64_t i = 0; i < count; ++i)
      if (const Region& region = regions[static_cast<std::size_t>(i)]; !rules.allow(region)) rules.checked(region, i);
  }
  execute_in(w, count_views, arguments, [&](const CountArguments& there, void* memory, Stream stream) {
    const auto arrays = s.arrays(memory);
    kernels::CountsRequest request = s.rule.request(there.image, arrays.tables);
    request.regions = {static_cast<const Region*>(there.regions.data), count, s.options.outside,
                       static_cast<std::int64_t*>(there.first_invalid.data)};
    request.out = there.out.data;
    if (weights != nullptr) request.weights = there.weights;
    request.workspace = arrays.sums;
    if (arrays.parts_bytes > 0) request.parts = arrays.parts;
    answer({s.execution.backend, s.execution.device, stream}, request);
  });
}

}  // namespace

RegionHistogramPlan::RegionHistogramPlan(const Shape& image, Type type, const Binning& binning, std::int64_t regions,
                                         const RegionHistogramOptions& options, const Execution& execution)
    : Plan([&] {
        check_shape("image", image, type);
        require_one_image(image);
        require(regions >= 0, "regions: ", regions, ", it may be 0 or more");
        require(execution.threads >= 0, "threads ", execution.threads, ": it may be 0 (all) or more");
        auto state = std::make_shared<State>(image, type, binning, regions, options);
        state->execution = execution;
        state->algorithm = "none";
        state->reason = "the regions are counted straight from the pixels";
        Backend& backend = state->execution.backend;
        if (backend == Backend::automatic)
          backend = execution.stream && !execution.stream->is_host() ? Backend::cuda : Backend::cpu;
        require_stream_of(state->execution);
        require_backend(backend, execution.device);
        if (backend != Backend::cpu) state->workspace_bytes = state->arrays(nullptr).bytes;
        return state;
      }()) {}

const RegionHistogramPlan::State& RegionHistogramPlan::state() const noexcept {
  return static_cast<const State&>(*state_);
}
const Shape& RegionHistogramPlan::image_shape() const noexcept { return state().image; }
Type RegionHistogramPlan::image_type() const noexcept { return state().type; }
const Binning& RegionHistogramPlan::binning() const noexcept { return state().binning; }
std::int64_t RegionHistogramPlan::regions() const noexcept { return state().regions; }
const RegionHistogramOptions& RegionHistogramPlan::options() const noexcept { return state().options; }

void RegionHistogramPlan::execute(const ConstView& image, Span<const Region> regions, Span<std::uint64_t> out,
                                  Workspace& workspace, Span<std::int64_t> first_invalid) const {
  run(*this, state(), image, nullptr, regions, out, workspace, first_invalid);
}
void RegionHistogramPlan::execute(const ConstView& image, const ConstView& weights, Span<const Region> regions,
                                  Span<double> out, Workspace& workspace, Span<std::int64_t> first_invalid) const {
  run(*this, state(), image, &weights, regions, out, workspace, first_invalid);
}

}  // namespace areal
