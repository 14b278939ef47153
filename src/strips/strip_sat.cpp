// StripSat: tables strip by strip. Strips are computed with border `zero`, whatever the border: of its entries every
// other one has a part.

#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include "api/core/planned.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "strips/bordered.hpp"
#include "strips/push_state.hpp"
#include "strips/sat_work.hpp"

namespace areal {
namespace strips {
namespace {

class SatStripPlan final : public StripPlan {
 public:
  SatStripPlan(SatPlan plan, Stream stream) : planned_(std::move(plan), stream) {}

  void execute(const std::vector<ConstView>& inputs, const std::vector<View>& tables,
               const std::vector<ConstView>& above) override {
    SatArguments arguments;
    arguments.image = inputs[0];
    if (inputs.size() > 1) arguments.mask = inputs[1];
    arguments.sum = tables[0], arguments.carry.above = above[0];
    std::size_t t = 1;
    if (planned_.plan.squares_type()) arguments.squares = tables[t], arguments.squares_carry.above = above[t], ++t;
    if (t < tables.size()) arguments.count = tables[t], arguments.count_carry.above = above[t];
    planned_.plan.execute(arguments, planned_.workspace);
  }

 private:
  Planned<SatPlan> planned_;
};

}  // namespace

StripWork sat_work(const Shape& image, Type type, const SatOptions& options, const Execution& execution) {
  StripWork work;
  work.width = image.width, work.height = image.height;
  // What a plan of one strip refuses; it takes no memory.
  const Shape first{image.width, std::min<std::int64_t>(image.height, 256), image.channels, 1, image.layout};
  const SatPlan plan(first, type, options, execution);
  work.execution = plan.execution();
  // On the host, tables that stay in a cache until they are given out; on a device, copies that are worth their calls.
  if (work.on_cuda()) work.default_memory = std::uint64_t{64} << 20;
  work.inputs.push_back({type, image.channels, image.layout});
  if (options.mask) work.inputs.push_back({Type::u8, 1, Layout::interleaved});
  work.tables.push_back({plan.types().table, image.channels, options.tables});
  if (plan.squares_type()) work.tables.push_back({*plan.squares_type(), image.channels, options.tables});
  if (options.mask || options.ignore_nan) work.tables.push_back({Type::u32, 1, options.tables});
  const auto of_rows = [image, type, options, execution = work.execution](std::int64_t rows) {
    return SatPlan({image.width, rows, image.channels, 1, image.layout}, type, options, execution);
  };
  work.workspace_bytes = [of_rows](std::int64_t rows) { return of_rows(rows).workspace_bytes(); };
  work.plan = [of_rows](std::int64_t rows, Stream stream) -> std::unique_ptr<StripPlan> {
    return std::make_unique<SatStripPlan>(of_rows(rows), stream);
  };
  return work;
}

}  // namespace strips

struct StripSat::State {
  Shape image;
  Border border;
  SatPlan whole;  // of the whole image, for its shapes
  StripOptions options;
  strips::StripWork work;
  std::int64_t height = 0;
  std::uint64_t bytes = 0;
  std::optional<strips::PushState> pushed;

  State(const Shape& shape, Type type, const SatOptions& sat_options, const StripOptions& strip_options)
      : image(shape),
        border(sat_options.border),
        whole(shape, type, of_whole(sat_options), {.backend = Backend::cpu}),
        options(strip_options) {
    SatOptions of_strip = sat_options;
    of_strip.border = Border::zero, of_strip.types = whole.types(), of_strip.progress = {};
    work = strips::sat_work(image, type, of_strip, options.execution);
    height = strips::strip_height(work, options);
    bytes = strips::strip_bytes(work, height, options.tile_height)->computing;
  }
  static SatOptions of_whole(SatOptions options) {
    options.algorithm = "auto", options.progress = {};
    return options;
  }

  strips::StripUse use(const SatStripSink& sink) const {
    return {.give = [this, &sink](const strips::Strip& strip, const std::vector<ConstView>& tables) {
      const strips::Bordered rows(border, strip.y);
      SatStrip given;
      given.y = rows.y;
      given.sum = rows.of(tables[0]);
      if (given.sum.shape.empty()) return true;
      std::size_t t = 1;
      if (whole.squares_type()) given.squares = rows.of(tables[t++]);
      if (t < tables.size()) given.count = rows.of(tables[t]);
      return sink(given);
    }};
  }
  std::function<void(std::int64_t)> told() const { return strips::told(options.progress, image.height); }
};

namespace {
void check_options(const Shape& image, const SatOptions& options) {
  require(image.batch == 1, "image of batch ", image.batch, ": tables by strips are of one image");
  require(!options.tilted && !options.volume && !options.reverse,
          "tables by strips are sums, squares and counts: no tilted table, no volume and no reverse");
  require(!options.progress, "progress: tables by strips have theirs in StripOptions");
  if (const Algorithm* const row = find_algorithm("sat", options.algorithm))
    require(!row->plain_only, "algorithm ", options.algorithm,
            " takes no carries, so it makes no tables by strips; choose auto");
}
}  // namespace

StripSat::StripSat(const Shape& image, Type type, const SatOptions& options, const StripOptions& strips) {
  check_options(image, options);
  state_ = std::make_unique<State>(image, type, options, strips);
}
StripSat::~StripSat() = default;
StripSat::StripSat(StripSat&&) noexcept = default;
StripSat& StripSat::operator=(StripSat&&) noexcept = default;

void StripSat::run(const ImageReader& read, const SatStripSink& sink, const ImageReader& read_mask) {
  const State& s = *state_;
  std::vector<ImageReader> readers{read};
  const bool masked = s.work.inputs.size() > 1;
  require(static_cast<bool>(read) && static_cast<bool>(sink), "read and sink are both needed");
  require(masked == static_cast<bool>(read_mask), "read_mask ",
          masked ? "is missing, and the options ask for a mask" : "was given, but the options ask for no mask");
  if (masked) readers.push_back(read_mask);
  state_->pushed.reset();
  strips::run_strips(s.work, s.height, readers, s.use(sink), s.told());
}

void StripSat::begin(SatStripSink sink) {
  State& s = *state_;
  require(static_cast<bool>(sink), "sink: there is none");
  auto kept = std::make_shared<const SatStripSink>(std::move(sink));
  strips::StripUse use = s.use(*kept);
  use.give = [kept, give = std::move(use.give)](const strips::Strip& strip, const std::vector<ConstView>& tables) {
    return give(strip, tables);
  };
  s.pushed.reset();
  s.pushed.emplace(s.work, s.image, s.height, "mask", s.options, std::move(use), s.told());
}
bool StripSat::push(std::int64_t x, std::int64_t y, const ConstView& block, const ConstView& mask) {
  return strips::begun(state_->pushed).push(x, y, block, mask);
}
void StripSat::finish() { strips::begun(state_->pushed).finish(); }

std::int64_t StripSat::strip_height() const noexcept { return state_->height; }
std::uint64_t StripSat::memory_bytes() const noexcept { return state_->bytes; }
Backend StripSat::backend() const noexcept { return state_->work.execution.backend; }
Shape StripSat::table_shape() const noexcept { return state_->whole.table_shape(); }
Shape StripSat::count_shape() const noexcept { return state_->whole.count_shape(); }
TypePair StripSat::types() const noexcept { return state_->whole.types(); }
std::optional<Type> StripSat::squares_type() const noexcept { return state_->whole.squares_type(); }

}  // namespace areal
