// Integral histograms: checks, choice of the algorithm, the call.
#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/info.hpp>
#include <atomic>
#include <mutex>
#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "api/histogram/histogram_device.hpp"
#include "api/sat/sat_device.hpp"
#include "cpu/histogram/fused.hpp"
#include "cpu/histogram/recurrence.hpp"
#include "formulas/tile_threads.hpp"

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
  else if (options.counter == Type::u16) {
    if (options.backend == Backend::cpu)
      throw Unavailable("counter 16u: the backend cpu has none yet, choose 32u, 64u, or the backend cuda or simt");
  } else
    require(options.counter == Type::u32 || options.counter == Type::u64, "counter ", name_of(options.counter),
            " does not count pixels: it may be 16u, 32u or 64u");
}

void check_tile(const HistogramOptions& options) {
  const std::span<const int> all = tile_threads(options.tile);
  require(!all.empty(), "tile ", options.tile, ": it may be 16, 32 or 64");
  const int asked = options.tile_threads, usual = default_tile_threads(options.tile);
  if (asked == 0 || asked == usual) return;
  std::string list;
  for (const int threads : all)
    list += (list.empty() ? "" : threads == all.back() ? " or " : ", ") + std::to_string(threads);
  require(std::find(all.begin(), all.end(), asked) != all.end(), "tile_threads ", asked, ": it may be ", list,
          " on tiles of ", options.tile);
  require(options.counter == Type::u32, "tile_threads ", asked, " with counter ", name_of(options.counter),
          ": it may be ", usual, " on tiles of ", options.tile, "; only counters of 32u have blocks of ", list);
}

// Tells the callback of each finished piece of work, one thread at a time.
class Reporter {
 public:
  Reporter(const Progress& progress, std::int64_t total) : progress_(progress), total_(total) {}
  void finished() {
    if (!progress_) return;
    const std::scoped_lock lock(mutex_);
    // Asked once to stop, it is not called again by the threads that were still at work.
    stopped_ = stopped_ || !progress_(++done_, total_);
    if (stopped_) throw Cancelled("the integral histogram was cancelled");
  }

 private:
  const Progress& progress_;
  std::mutex mutex_;
  std::int64_t done_ = 0;
  const std::int64_t total_;
  bool stopped_ = false;
};

}  // namespace

std::span<const int> tile_threads(int tile) noexcept { return formulas::tile_threads(tile); }
int default_tile_threads(int tile) noexcept { return formulas::default_tile_threads(tile); }

struct HistogramPlan::State {
  Shape image, tensor;
  Type type;
  Binning binning;
  HistogramOptions options;
  std::string algorithm, reason;
  std::uint64_t tensor_bytes = 0;
  cpu::PixelBins rule;
  std::optional<cpu::FusedHistogram> fused;  // ours, or
  std::optional<DeviceHistogram> device;     // on cuda or simt, or else one of the papers'

  void check(const HistogramArguments& arguments) const;
};

HistogramPlan::HistogramPlan(const Shape& image, Type type, const Binning& binning, const HistogramOptions& asked_for) {
  HistogramOptions options = asked_for;
  if (options.backend == Backend::automatic) options.backend = Backend::cpu;
  const bool on_cpu = options.backend == Backend::cpu;
  check_shape("image", image, type);
  require(options.threads >= 0, "threads ", options.threads, ": it may be 0 (all) or more");
  check_tile(options);
  check_counter(options);
  require_launches(options.launched, options.backend);
  const std::int64_t more = options.border == Border::zero ? 1 : 0;
  auto state = std::make_shared<State>(State{image,
                                             {},
                                             type,
                                             binning,
                                             options,
                                             options.algorithm != "auto" ? options.algorithm
                                             : on_cpu                    ? "fused"
                                                                         : "reduce-then-scan",
                                             "asked for",
                                             0,
                                             pixel_bins(binning, type, image.channels),
                                             {},
                                             {}});
  state->tensor = {image.width + more, image.height + more, binning.bins(), image.batch, Layout::planar};
  check_shape("tensor", state->tensor, options.counter);
  state->tensor_bytes = bytes_of(state->tensor, options.counter);

  const Algorithm* const row = find_algorithm("histogram", state->algorithm);
  require(row != nullptr && runs_on(*row, options.backend), "algorithm ", options.algorithm, " is not one of ",
          known_algorithms(options.backend), on_cpu ? "" : sentence(" on backend ", name_of(options.backend)));
  if (options.algorithm == "auto")
    state->reason = on_cpu ? "the fastest on a CPU for every size and number of bins measured"
                           : "the algorithm of ours on a device";
  if (row->plain_only)
    require(image.channels == 1 && image.batch <= 1 && !options.weighted, "algorithm ", state->algorithm,
            " counts one single-channel image without weights; for more choose auto or ",
            on_cpu ? "fused" : "reduce-then-scan");
  if (!on_cpu) {
    state->device.emplace(image, state->rule, options, state->algorithm);
  } else if (!row->plain_only) {
    cpu::FusedHistogram asked;
    asked.image = image;
    asked.bins = binning.bins();
    asked.counter = options.counter;
    asked.border = options.border;
    asked.weighted = options.weighted;
    asked.threads = options.threads;
    state->fused = cpu::plan_fused(asked);
  }
  state_ = std::move(state);
}

std::uint64_t HistogramPlan::tensor_bytes() const noexcept { return state_->tensor_bytes; }
std::size_t HistogramPlan::workspace_bytes() const noexcept {
  if (state_->device) return state_->device->workspace_bytes();
  return state_->fused ? state_->fused->workspace_bytes : 0;
}
const Shape& HistogramPlan::image_shape() const noexcept { return state_->image; }
Type HistogramPlan::image_type() const noexcept { return state_->type; }
Backend HistogramPlan::backend() const noexcept { return state_->options.backend; }
Shape HistogramPlan::tensor_shape() const noexcept { return state_->tensor; }
const Binning& HistogramPlan::binning() const noexcept { return state_->binning; }
const HistogramOptions& HistogramPlan::options() const noexcept { return state_->options; }
const std::string& HistogramPlan::algorithm() const noexcept { return state_->algorithm; }
const std::string& HistogramPlan::reason() const noexcept { return state_->reason; }

void HistogramPlan::require_fit() const {
  const bool asked = state_->options.memory_limit != 0;
  const std::uint64_t limit = asked ? state_->options.memory_limit : free_memory(), bytes = state_->tensor_bytes;
  if (bytes <= limit) return;
  const Shape& t = state_->tensor;
  throw OutOfMemory(
      sentence("an integral histogram of ", t.channels, "x", t.height, "x", t.width,
               t.batch == 1 ? "" : sentence(", batch ", t.batch), " of ", name_of(state_->options.counter), " takes ",
               bytes, " bytes, more than the ", limit, asked ? " bytes of memory_limit" : " bytes that are free",
               "; region_histograms answers regions without it"),
      bytes);
}

void HistogramPlan::State::check(const HistogramArguments& arguments) const {
  check_view("image", arguments.image, image, type);
  check_view("tensor", arguments.tensor, tensor, options.counter);
  if (options.weighted)
    check_weights(arguments.weights, image);
  else
    require(arguments.weights.data == nullptr, "weights were given, but the plan was not made for them");
  require(!may_overlap(arguments.tensor, arguments.image), "the image and the tensor share memory");
  require(!may_overlap(arguments.tensor, arguments.weights), "the weights and the tensor share memory");
}

static void check_workspace(const void* workspace, std::size_t bytes) {
  require(workspace != nullptr || bytes == 0, "workspace is a null pointer: this plan needs ", bytes, " bytes");
}

void HistogramPlan::prepare(void* workspace, Stream stream) const {
  check_workspace(workspace, workspace_bytes());
  if (state_->device) state_->device->prepare(workspace, stream);
}

void HistogramPlan::check(const HistogramArguments& arguments) const { state_->check(arguments); }

void HistogramPlan::execute(const HistogramArguments& arguments, void* workspace, Stream stream) const {
  const State& s = *state_;
  check_workspace(workspace, workspace_bytes());
  check(arguments);
  if (s.tensor.empty()) return;
  if (s.device) {
    s.device->execute(arguments, workspace, stream);
    return;
  }
  const std::int64_t total = s.fused ? s.fused->tiles() : s.tensor.channels;
  Reporter reporter(s.options.progress, total);
  const auto finished = [&] { reporter.finished(); };
  if (s.fused)
    cpu::run_fused(*s.fused, s.rule, arguments.image, arguments.weights, arguments.tensor, workspace, finished);
  else
    cpu::recurrence(s.rule, arguments.image, arguments.tensor, s.options.border,
                    s.algorithm == "serial" ? 1 : s.options.threads, finished);
}

}  // namespace areal
