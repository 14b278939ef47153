// StripFilter: a filter strip by strip.

#include <memory>
#include <utility>
#include "api/core/require.hpp"
#include "pieces/core/filter_work.hpp"
#include "pieces/core/window_work.hpp"
#include "pieces/strips/driver.hpp"

namespace areal {
namespace {

pieces::StripDriver driver_of(std::unique_ptr<const pieces::FilterWork> work, const PieceOptions& strips) {
  const Shape image = work->whole().image_shape();
  const std::int64_t height = pieces::StripHeights(*work, image, strips).chosen();
  const char* const second = work->whole().options().guide > 0 ? "guide" : "mask";
  return pieces::StripDriver(std::move(work), image, strips, height, second);
}

}  // namespace

struct StripFilter::State {
  FilterPlan whole;
  Progress progress;
  pieces::StripDriver driver;

  State(const PieceOptions& strips, std::unique_ptr<const pieces::FilterWork> work)
      : whole(work->whole()), progress(strips.progress), driver(driver_of(std::move(work), strips)) {}

  pieces::StripUse use(const WindowStripSink& sink) const {
    require(static_cast<bool>(sink), "sink: there is none");
    return {
        .give =
            [width = whole.out_shape().width, sink](const pieces::Part& strip, const std::vector<ConstView>& outputs) {
              if (width == 0 || strip.pixels.height == 0) return true;
              WindowStrip given{strip.pixels.y, {outputs[0]}};
              given.values[0].shape.width = width;
              return sink(given);
            },
        .done = pieces::told(progress, whole.out_shape().height)};
  }
};

StripFilter::StripFilter(const Shape& image, Type in, Type out, const Filter& filter, const FilterOptions& options,
                         const PieceOptions& strips) {
  require(image.batch == 1, "image of batch ", image.batch, ": filters by strips are of one image");
  state_ = std::make_unique<State>(
      strips, std::make_unique<pieces::FilterWork>(image, in, out, filter, options, pieces::strips_on(strips)));
}
StripFilter::~StripFilter() = default;
StripFilter::StripFilter(StripFilter&&) noexcept = default;
StripFilter& StripFilter::operator=(StripFilter&&) noexcept = default;

void StripFilter::run(const ImageReader& read, const WindowStripSink& sink, const ImageReader& read_second) {
  state_->driver.run(read, read_second, state_->use(sink));
}
void StripFilter::begin(WindowStripSink sink) {
  require(state_->whole.options().window.edge != Edge::wrap,
          "filters with edge `wrap` need the last rows before the first: the image must be read, not pushed");
  state_->driver.begin(state_->use(sink));
}
bool StripFilter::push(std::int64_t x, std::int64_t y, const ConstView& block, const ConstView& second) {
  return state_->driver.push(x, y, block, second);
}
void StripFilter::finish() { state_->driver.finish(); }

std::int64_t StripFilter::strip_height() const noexcept { return state_->driver.height(); }
std::uint64_t StripFilter::memory_bytes() const noexcept { return state_->driver.memory_bytes(); }
Shape StripFilter::output_shape() const noexcept { return state_->whole.out_shape(); }
const std::string& StripFilter::algorithm() const noexcept { return state_->whole.algorithm(); }

}  // namespace areal
