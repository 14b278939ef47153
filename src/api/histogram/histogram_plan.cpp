// Plans of integral histograms: checks, and the choice of the algorithm.
#include "api/histogram/histogram_plan.hpp"
#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <string>
#include <string_view>
#include <vector>
#include "api/core/automatic.hpp"
#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "api/histogram/histogram_request.hpp"
#include "formulas/tile_threads.hpp"
#include "policy/histogram_choice.hpp"

namespace areal {
namespace {

bool runs_on(const Algorithm& row, Backend backend) {
  return backend == Backend::cuda ? row.cuda : backend == Backend::simt ? row.simt : row.cpu;
}

std::string known_algorithms(Backend backend) {
  std::string list = "auto";
  for (const Algorithm& row : algorithms())
    if (row.family == "histogram" && runs_on(row, backend)) list += ", " + std::string(row.id);
  return list;
}

void check_counter(const HistogramOptions& options) {
  if (options.weighted)
    require(is_float(options.counter) && options.counter != Type::f16, "counter ", name_of(options.counter),
            " cannot hold weights: it may be 32f or 64f");
  else
    require(options.counter == Type::u16 || options.counter == Type::u32 || options.counter == Type::u64, "counter ",
            name_of(options.counter), " does not count pixels: it may be 16u, 32u or 64u");
}

void check_tile(const research::HistogramParameters& parameters, Type counter) {
  const std::span<const int> all = formulas::tile_threads(parameters.tile);
  require(!all.empty(), "tile ", parameters.tile, ": it may be 16, 32 or 64");
  const int threads = parameters.tile_threads, usual = formulas::default_tile_threads(parameters.tile);
  if (threads == 0 || threads == usual) return;
  std::string list;
  for (const int possible : all)
    list += (list.empty() ? "" : possible == all.back() ? " or " : ", ") + std::to_string(possible);
  require(std::find(all.begin(), all.end(), threads) != all.end(), "tile_threads ", threads, ": it may be ", list,
          " on tiles of ", parameters.tile);
  require(counter == Type::u32, "tile_threads ", threads, " with counter ", name_of(counter), ": it may be ", usual,
          " on tiles of ", parameters.tile, "; only counters of 32u have blocks of ", list);
}

kernels::HistogramRequest device_request(const HistogramPlan::State& s,
                                         const research::HistogramParameters& parameters) {
  return histogram_request(s.image, s.rule, s.options, parameters, {});
}

/// A device's candidates, best first.
std::vector<std::string_view> device_ids(const HistogramPlan::State& s) {
  const HistogramOptions& o = s.options;
  if (o.algorithm != "auto") return {o.algorithm};
  return policy::ranked_histograms({s.image, s.type, o.counter, s.binning.bins(), o.border, o.weighted});
}

/// The plan's part on the device. Its algorithm is the one for contiguous images and tensors from `allocate`.
void choose(HistogramPlan::State& s, const research::HistogramParameters& parameters) {
  s.on_launch = parameters.on_launch;
  s.device.emplace(s.execution, device_request(s, parameters), device_ids(s));
  s.workspace_bytes = s.device->workspace_bytes();
  s.algorithm = s.device->algorithm(
      {ConstView(allocated(), s.type, s.image), View(allocated(), s.options.counter, s.tensor), {}, {}});
}

/// The state on a named backend.
std::shared_ptr<HistogramPlan::State> plan_on(const HistogramPlan::State& base, const Execution& execution,
                                              const research::HistogramParameters& parameters) {
  auto state = std::make_shared<HistogramPlan::State>(base);
  const HistogramOptions& options = state->options;
  const Shape& image = state->image;
  const bool on_cpu = execution.backend == Backend::cpu;
  const bool is_auto = options.algorithm == "auto";
  state->execution = execution;
  require_stream_of(execution);
  require_launches(parameters.on_launch, execution.backend);
  if (on_cpu && options.counter == Type::u16)
    throw Unavailable("counter 16u: the backend cpu has none yet, choose 32u, 64u, or the backend cuda or simt");
  if (!on_cpu && is_auto) {
    require_backend(execution.backend, execution.device);
    choose(*state, parameters);
    state->reason = "the fastest on a device for such shapes, types and numbers of bins";
    if (!state->device->passed_over().empty())
      state->reason = "the fastest on a device that takes this; " + state->device->passed_over();
    return state;
  }
  state->algorithm = is_auto ? "fused" : options.algorithm;
  const Algorithm* const row = find_algorithm("histogram", state->algorithm);
  require(row != nullptr && runs_on(*row, execution.backend), "algorithm ", options.algorithm, " is not one of ",
          known_algorithms(execution.backend), on_cpu ? "" : sentence(" on backend ", name_of(execution.backend)));
  state->reason = is_auto ? "the fastest on a CPU for every size and number of bins measured" : "requested";
  if (row->plain_only)
    require(image.channels == 1 && image.batch <= 1 && !options.weighted && !options.carries, "algorithm ",
            state->algorithm, " counts one single-channel image without weights or carries; for more choose auto or ",
            on_cpu ? "fused" : "reduce-then-scan");
  if (!on_cpu) {
    require_backend(execution.backend, execution.device);
    choose(*state, parameters);
  } else if (!row->plain_only) {
    cpu::FusedHistogram fused;
    fused.image = image;
    fused.bins = state->binning.bins();
    fused.counter = options.counter;
    fused.border = options.border;
    fused.weighted = options.weighted;
    fused.threads = execution.threads;
    state->fused = cpu::plan_fused(fused);
    state->workspace_bytes = state->fused->workspace_bytes;
  }
  return state;
}

}  // namespace

std::shared_ptr<HistogramPlan::State> plan_histogram(const Shape& image, Type type, const Binning& binning,
                                                     const HistogramOptions& options, const Execution& execution,
                                                     const research::HistogramParameters& parameters) {
  check_shape("image", image, type);
  require(execution.threads >= 0, "threads ", execution.threads, ": it may be 0 (all) or more");
  check_tile(parameters, options.counter);
  check_counter(options);
  const std::int64_t more = options.border == Border::zero ? 1 : 0;
  HistogramPlan::State state(image, type, binning, options);
  state.rule = pixel_bins(binning, type, image.channels);
  state.tensor = {image.width + more, image.height + more, binning.bins(), image.batch, Layout::planar};
  check_shape("tensor", state.tensor, options.counter);
  state.tensor_bytes = bytes_of(state.tensor, options.counter);
  const auto make = [&](const Execution& named) { return plan_on(state, named, parameters); };
  if (execution.backend != Backend::automatic) return make(execution);

  policy::BackendQuestion question;
  question.read = bytes_of(image, type);
  // The weights' type is not known yet: assume the widest.
  if (options.weighted) question.read += bytes_of({image.width, image.height, 1, image.batch}, Type::f64);
  question.written = state.tensor_bytes;
  question.must_launch = static_cast<bool>(parameters.on_launch);
  question.has_progress = static_cast<bool>(options.progress);
  const auto lacks = [&](const Execution& named) {
    return Choice<kernels::Histogram>::lacks(named, device_request(state, parameters), device_ids(state));
  };
  return automatic_plan("histogram", options.algorithm, execution, question, lacks, make);
}

HistogramPlan::HistogramPlan(const Shape& image, Type type, const Binning& binning, const HistogramOptions& options,
                             const Execution& execution)
    : HistogramPlan(plan_histogram(image, type, binning, options, execution)) {}
HistogramPlan::HistogramPlan(std::shared_ptr<const State> state) noexcept : Plan(std::move(state)) {}

const HistogramPlan::State& HistogramPlan::state() const noexcept { return static_cast<const State&>(*state_); }
std::uint64_t HistogramPlan::tensor_bytes() const noexcept { return state().tensor_bytes; }
const Shape& HistogramPlan::image_shape() const noexcept { return state().image; }
Type HistogramPlan::image_type() const noexcept { return state().type; }
Shape HistogramPlan::tensor_shape() const noexcept { return state().tensor; }
const Binning& HistogramPlan::binning() const noexcept { return state().binning; }
const HistogramOptions& HistogramPlan::options() const noexcept { return state().options; }

void HistogramPlan::require_fit() const {
  const bool has_limit = state().options.memory_limit != 0;
  const std::uint64_t limit = has_limit ? state().options.memory_limit : free_memory(), bytes = state().tensor_bytes;
  if (bytes <= limit) return;
  const Shape& t = state().tensor;
  throw OutOfMemory(
      sentence("an integral histogram of ", t.channels, "x", t.height, "x", t.width,
               t.batch == 1 ? "" : sentence(", batch ", t.batch), " of ", name_of(state().options.counter), " takes ",
               bytes, " bytes, more than the ", limit, has_limit ? " bytes of memory_limit" : " bytes that are free",
               "; region_histograms answers regions without it"),
      bytes);
}

}  // namespace areal
