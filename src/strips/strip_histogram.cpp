// StripHistogram: integral histogram tensors strip by strip; groups of bins one after another.

#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include "api/core/pixel_rule.hpp"
#include "api/core/planned.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "cluster/tile_grid.hpp"
#include "strips/bordered.hpp"
#include "strips/push_state.hpp"

namespace areal {
namespace strips {
namespace {

constexpr std::int64_t least_rows = 16;  // below, the row above adds much to what is written: groups are better

class HistogramStripPlan final : public StripPlan {
 public:
  HistogramStripPlan(HistogramPlan plan, Stream stream) : planned_(std::move(plan), stream) {}

  void execute(const std::vector<ConstView>& inputs, const std::vector<View>& tables,
               const std::vector<ConstView>& above) override {
    HistogramArguments arguments{inputs[0], tables[0], {}, {above[0], {}}};
    if (inputs.size() > 1) arguments.weights = inputs[1];
    planned_.plan.execute(arguments, planned_.workspace);
  }

 private:
  Planned<HistogramPlan> planned_;
};

struct HistogramSubject {
  Shape image;
  Type type;
  Binning binning;
  HistogramOptions options;  // of a strip
  Type weights;
};

StripWork histogram_work(const HistogramSubject& subject, const Binning& bins, const Execution& execution) {
  const Shape& image = subject.image;
  const auto of_rows = [&subject, bins](std::int64_t rows, const Execution& on) {
    const Shape& whole = subject.image;
    return HistogramPlan({whole.width, rows, whole.channels, 1, whole.layout}, subject.type, bins, subject.options, on);
  };
  StripWork work;
  work.width = image.width, work.height = image.height;
  work.default_memory = std::uint64_t{256} << 20;  // to read an image again takes longer
  work.carry_lead = 1;  // a tensor's carry has one entry more than its rows, the border's included
  work.execution = of_rows(std::min<std::int64_t>(image.height, least_rows), execution).execution();
  work.inputs.push_back({subject.type, image.channels, image.layout});
  if (subject.options.weighted) work.inputs.push_back({subject.weights, 1, Layout::interleaved});
  work.tables.push_back({subject.options.counter, bins.bins(), Layout::planar});
  work.workspace_bytes = [of_rows, on = work.execution](std::int64_t rows) {
    return of_rows(rows, on).workspace_bytes();
  };
  work.plan = [of_rows, on = work.execution](std::int64_t rows, Stream stream) -> std::unique_ptr<StripPlan> {
    return std::make_unique<HistogramStripPlan>(of_rows(rows, on), stream);
  };
  return work;
}

}  // namespace

struct PushedTensor {
  TensorStripSink sink;
  std::int64_t group = 0;
  StripWork work;  // of this group
  std::optional<PushState> image;
};

}  // namespace strips

struct StripHistogram::State {
  strips::HistogramSubject subject;
  Border border;
  StripOptions options;
  Shape tensor;
  Execution execution;
  std::int64_t group = 0, groups = 0, height = 0;
  std::uint64_t bytes = 0;

  std::optional<strips::PushedTensor> pushed;

  State(const Shape& image, Type type, const Binning& binning, const HistogramOptions& of, const StripOptions& strips,
        std::int64_t group_bins, Type weights)
      : subject{image, type, binning, of, weights}, border(of.border), options(strips) {
    const HistogramPlan whole(image, type, binning, of_whole(of), {.backend = Backend::cpu});
    tensor = whole.tensor_shape();
    subject.options.border = Border::zero;
    subject.options.memory_limit = 0, subject.options.progress = {};
    strips::StripWork work = strips::histogram_work(subject, binning, options.execution);
    execution = work.execution;
    group = group_bins > 0 ? std::min(group_bins, binning.bins()) : chosen_bins();
    groups = (binning.bins() + group - 1) / group;
    for (std::int64_t g = 1; g < groups; ++g) static_cast<void>(bins_of(g));  // throws for a rule that has no slices
    work = strips::histogram_work(subject, bins_of(0), execution);
    height = strips::strip_height(work, options);
    bytes = strips::strip_bytes(work, height, options.tile_height)->computing;
  }
  static HistogramOptions of_whole(HistogramOptions options) {
    options.algorithm = "auto", options.memory_limit = 0, options.progress = {};
    if (options.counter == Type::u16) options.counter = Type::u32;  // which the CPU lacks; shapes are the same
    return options;
  }

  Binning bins_of(std::int64_t g) const {
    return subject.binning.slice(g * group, std::min(group, subject.binning.bins() - g * group));
  }

  // All bins where their strips are not too flat; else as many as leave strips of that many rows, or one.
  std::int64_t chosen_bins() const {
    const Binning& all = subject.binning;
    const std::int64_t rows = std::min(options.height > 0 ? options.height : strips::least_rows,
                                       std::max<std::int64_t>(1, subject.image.height));
    const auto fits = [&](const Binning& bins) {
      const strips::StripWork work = strips::histogram_work(subject, bins, execution);
      const std::uint64_t limit = options.memory > 0 ? options.memory : work.default_memory;
      const auto taken = strips::strip_bytes(work, rows, options.tile_height);
      return taken && taken->most() <= limit;
    };
    if ((options.memory == 0 && options.height > 0) || fits(all)) return all.bins();
    // Of joint bins, groups are whole planes of the first channel.
    const std::int64_t unit = all.kind() == Binning::Kind::joint ? all.bins() / all.parts()[0].bins() : 1;
    try {
      const std::int64_t most =
          cluster::largest(all.bins() / unit, [&](std::int64_t n) { return fits(all.slice(0, n * unit)); });
      return std::max<std::int64_t>(1, most) * unit;
    } catch (const InvalidArgument&) {  // a rule that has no slices: labels around an ignored one
      return all.bins();
    }
  }

  strips::StripUse use(std::int64_t g, const TensorStripSink& sink) const {
    return {.give = [this, g, &sink](const strips::Strip& strip, const std::vector<ConstView>& tables) {
      const strips::Bordered rows(border, strip.y);
      const TensorStrip given{g * group, rows.y, rows.of(tables[0])};
      return given.tensor.shape.empty() || sink(given);
    }};
  }
  std::function<void(std::int64_t)> told(std::int64_t g) const {
    const std::int64_t rows = subject.image.height;
    return [progress = strips::told(options.progress, rows * groups), before = g * rows](std::int64_t done) {
      if (progress) progress(before + done);
    };
  }
  // False where the sink has ended it.
  bool run_group(std::int64_t g, const std::vector<ImageReader>& readers, const TensorStripSink& sink) const {
    const strips::StripWork work = strips::histogram_work(subject, bins_of(g), execution);
    return strips::run_strips(work, height, readers, use(g, sink), told(g));
  }
  void begin_group(std::int64_t g) {
    strips::PushedTensor& p = *pushed;
    p.image.reset();
    p.group = g, p.work = strips::histogram_work(subject, bins_of(g), execution);
    p.image.emplace(p.work, subject.image, height, "weights", options, use(g, p.sink), told(g));
  }
  strips::PushState& begun() {
    require(pushed && pushed->image, "nothing has begun: begin comes before push and finish");
    return *pushed->image;
  }
};

StripHistogram::StripHistogram(const Shape& image, Type type, const Binning& binning, const HistogramOptions& options,
                               const StripOptions& strips, std::int64_t group_bins, Type weights) {
  check_shape("image", image, type);
  require(image.batch == 1, "image of batch ", image.batch, ": tensors by strips are of one image");
  require(group_bins >= 0, "group_bins ", group_bins, ": a group has 0 (memory decides) or more bins");
  require(
      !options.weighted || weights == Type::u8 || weights == Type::u16 || weights == Type::f32 || weights == Type::f64,
      "weights of ", name_of(weights), ": they may be 8u, 16u, 32f or 64f");
  if (const Algorithm* const row = find_algorithm("histogram", options.algorithm))
    require(!row->plain_only, "algorithm ", options.algorithm,
            " takes no carries, so it makes no tensors by strips; choose auto");
  pixel_bins(binning, type, image.channels);  // what does not belong together throws here
  state_ = std::make_unique<State>(image, type, binning, options, strips, group_bins, weights);
}
StripHistogram::~StripHistogram() = default;
StripHistogram::StripHistogram(StripHistogram&&) noexcept = default;
StripHistogram& StripHistogram::operator=(StripHistogram&&) noexcept = default;

void StripHistogram::run(const ImageReader& read, const TensorStripSink& sink, const ImageReader& read_weights) const {
  const State& s = *state_;
  std::vector<ImageReader> readers{read};
  const bool weighted = s.subject.options.weighted;
  require(static_cast<bool>(read) && static_cast<bool>(sink), "read and sink are both needed");
  require(weighted == static_cast<bool>(read_weights), "read_weights ",
          weighted ? "is missing, and the options ask for weights" : "was given, but the options ask for no weights");
  if (weighted) readers.push_back(read_weights);
  for (std::int64_t g = 0; g < s.groups; ++g)
    if (!s.run_group(g, readers, sink)) return;
}

void StripHistogram::begin(TensorStripSink sink) {
  require(static_cast<bool>(sink), "sink: there is none");
  state_->pushed.reset();
  state_->pushed.emplace().sink = std::move(sink);
  state_->begin_group(0);
}
bool StripHistogram::push(std::int64_t x, std::int64_t y, const ConstView& block, const ConstView& weights) {
  return state_->begun().push(x, y, block, weights);
}
bool StripHistogram::finish() {
  State& s = *state_;
  s.begun().finish();
  const std::int64_t next = s.pushed->group + 1;
  if (s.begun().ended_by_sink() || next == s.groups) return false;
  s.begin_group(next);
  return true;
}

std::int64_t StripHistogram::groups() const noexcept { return state_->groups; }
std::int64_t StripHistogram::group_bins() const noexcept { return state_->group; }
std::int64_t StripHistogram::strip_height() const noexcept { return state_->height; }
std::uint64_t StripHistogram::memory_bytes() const noexcept { return state_->bytes; }
Backend StripHistogram::backend() const noexcept { return state_->execution.backend; }
Shape StripHistogram::tensor_shape() const noexcept { return state_->tensor; }

}  // namespace areal
