// StripHistogram: integral histogram tensors strip by strip; groups of bins one after another.

#include <algorithm>
#include <areal/error.hpp>
#include <memory>
#include <optional>
#include <utility>
#include "api/core/largest.hpp"
#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "pieces/core/frame.hpp"
#include "pieces/core/tensor_work.hpp"
#include "pieces/strips/driver.hpp"

namespace areal {
namespace {

constexpr std::int64_t least_rows = 16;  // below, the row above adds much to what is written: groups are better

HistogramOptions of_whole(HistogramOptions options) {
  options.algorithm = "auto", options.memory_limit = 0, options.progress = {};
  if (options.counter == Type::u16) options.counter = Type::u32;  // which the CPU lacks; shapes are the same
  return options;
}

HistogramOptions of_strip(HistogramOptions options) {
  options.border = Border::zero, options.memory_limit = 0, options.progress = {}, options.carries = true;
  return options;
}

/// A push of the whole image for each group of bins.
struct PushedTensor {
  PieceSink sink;
  std::int64_t group = 0;
  std::optional<pieces::StripDriver> driver;  // of this group
};

}  // namespace

struct StripHistogram::State {
  pieces::TensorSubject subject;
  Border border;
  PieceOptions options;
  Shape tensor;
  Execution execution;
  std::int64_t group = 0, groups = 0, height = 0;
  std::uint64_t bytes = 0;
  std::optional<PushedTensor> pushed;

  State(const Shape& image, Type type, const Binning& binning, const HistogramOptions& of, const PieceOptions& strips,
        Type weights)
      : subject{image, type, binning, of_strip(of), weights}, border(of.border), options(strips) {
    tensor = HistogramPlan(image, type, binning, of_whole(of), {.backend = Backend::cpu}).tensor_shape();
    execution = pieces::TensorWork(subject, binning, pieces::strips_on(options)).execution();
    group = options.bins > 0 ? std::min(options.bins, binning.bins()) : chosen_bins();
    groups = (binning.bins() + group - 1) / group;
    for (std::int64_t g = 1; g < groups; ++g) static_cast<void>(bins_of(g));  // throws for a rule that has no slices
    const pieces::TensorWork first(subject, bins_of(0), execution);
    const pieces::StripHeights heights(first, image, options);
    height = heights.chosen();
    bytes = heights.bytes(height)->computing;
  }

  Binning bins_of(std::int64_t g) const {
    return subject.binning.slice(g * group, std::min(group, subject.binning.bins() - g * group));
  }

  // All bins where their strips are not too flat; else as many as leave strips of that many rows, or one.
  std::int64_t chosen_bins() const {
    const Binning& all = subject.binning;
    const std::int64_t rows =
        std::min(options.height > 0 ? options.height : least_rows, std::max<std::int64_t>(1, subject.image.height));
    const auto fits = [&](const Binning& bins) {
      const pieces::TensorWork work(subject, bins, execution);
      const auto needed = pieces::StripHeights(work, subject.image, options).bytes(rows);
      return needed && needed->most() <= (options.memory > 0 ? options.memory : work.form().usual_bytes);
    };
    if ((options.memory == 0 && options.height > 0) || fits(all)) return all.bins();
    // Of joint bins, groups are whole planes of the first channel.
    const std::int64_t unit = all.kind() == Binning::Kind::joint ? all.bins() / all.parts()[0].bins() : 1;
    try {
      const std::int64_t most =
          largest(all.bins() / unit, [&](std::int64_t n) { return fits(all.slice(0, n * unit)); });
      return std::max<std::int64_t>(1, most) * unit;
    } catch (const InvalidArgument&) {  // a rule that has no slices: labels around an ignored one
      return all.bins();
    }
  }

  pieces::StripDriver driver_of(std::int64_t g) const {
    return pieces::StripDriver(std::make_unique<pieces::TensorWork>(subject, bins_of(g), execution), subject.image,
                               options, height, "weights");
  }
  pieces::StripUse use(std::int64_t g, const PieceSink& sink) const {
    require(static_cast<bool>(sink), "sink: there is none");
    const std::int64_t rows = subject.image.height;
    return {
        .give =
            [this, g, sink](const pieces::Part& strip, const std::vector<ConstView>& outputs) {
              const pieces::Frame frame(border, strip);
              const Piece given{.y = frame.y(), .first_bin = g * group, .values = frame.of(outputs[0])};
              return given.values.shape.empty() || sink(given);
            },
        .done =
            [done_of_all = pieces::reporter(options.progress, rows * groups), before = g * rows](std::int64_t done) {
              if (done_of_all) done_of_all(before + done);
            }};
  }
  void begin_group(std::int64_t g) {
    PushedTensor& p = *pushed;
    p.driver.reset();  // its memory, before there is more
    p.group = g;
    p.driver.emplace(driver_of(g)).begin(use(g, p.sink));
  }
  pieces::StripDriver& begun() {
    require(pushed && pushed->driver, "nothing has begun: begin comes before push and finish");
    return *pushed->driver;
  }
};

StripHistogram::StripHistogram(const Shape& image, Type type, const Binning& binning, const HistogramOptions& options,
                               const PieceOptions& strips, Type weights) {
  check_shape("image", image, type);
  require(image.batch == 1, "image of batch ", image.batch, ": tensors by strips are of one image");
  require(strips.bins >= 0, "bins ", strips.bins, ": a group has 0 (memory decides) or more bins");
  pieces::require_weights(options, weights);
  pieces::require_carries("histogram", options.algorithm, "tensors by strips");
  pixel_bins(binning, type, image.channels);  // what does not belong together throws here
  state_ = std::make_unique<State>(image, type, binning, options, strips, weights);
}
StripHistogram::~StripHistogram() = default;
StripHistogram::StripHistogram(StripHistogram&&) noexcept = default;
StripHistogram& StripHistogram::operator=(StripHistogram&&) noexcept = default;

void StripHistogram::run(const ImageReader& read, const PieceSink& sink, const ImageReader& read_weights) const {
  for (std::int64_t g = 0; g < state_->groups; ++g)
    if (!state_->driver_of(g).run(read, read_weights, state_->use(g, sink))) return;
}

void StripHistogram::begin(PieceSink sink) {
  state_->pushed.reset();
  state_->pushed.emplace().sink = std::move(sink);
  state_->begin_group(0);
}
bool StripHistogram::push(std::int64_t x, std::int64_t y, const ConstView& block, const ConstView& weights) {
  return state_->begun().push(x, y, block, weights);
}
bool StripHistogram::finish() {
  State& s = *state_;
  const bool goes_on = s.begun().finish();
  const std::int64_t next = s.pushed->group + 1;
  if (!goes_on || next == s.groups) return false;
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
