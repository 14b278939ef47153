// StripWindows: windows strip by strip. A strip computes the windows of its halo, too, which are left out.

#include <memory>
#include <utility>
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "pieces/core/window_work.hpp"
#include "pieces/strips/driver.hpp"

namespace areal {
namespace {

pieces::StripDriver driver_of(std::unique_ptr<const pieces::WindowWork> work, const Shape& image,
                              const PieceOptions& strips) {
  const std::int64_t height = pieces::StripHeights(*work, image, strips).chosen();
  return pieces::StripDriver(std::move(work), image, strips, height, "mask");
}

}  // namespace

struct StripWindows::State {
  Window window;
  Shape out;
  Progress progress;
  SatPlan tables;  // of one row
  pieces::StripDriver driver;

  State(const Shape& image, const Window& of, const PieceOptions& strips,
        std::unique_ptr<const pieces::WindowWork> work)
      : window(of),
        out(window_shape(image.width, image.height, of)),
        progress(strips.progress),
        tables(work->plan_of(image.width, 1)),
        driver(driver_of(std::move(work), image, strips)) {
    out.channels = image.channels, out.layout = image.layout;
  }

  pieces::StripUse use(const WindowStripSink& sink) const {
    require(static_cast<bool>(sink), "sink: there is none");
    return {.give =
                [this, sink](const pieces::Part& strip, const std::vector<ConstView>& outputs) {
                  if (out.width == 0 || strip.pixels.height == 0) return true;
                  WindowStrip given{strip.pixels.y, {}};
                  for (const ConstView& rows : outputs) {
                    given.values.push_back(pieces::rows_of(rows, strip.above, strip.pixels.height));
                    given.values.back().shape.width = out.width;
                  }
                  return sink(given);
                },
            .done = pieces::told(progress, out.height)};
  }
};

StripWindows::StripWindows(const Shape& image, Type type, const Window& window, const StripWindowsOptions& options,
                           const PieceOptions& strips) {
  check_shape("image", image, type);
  require(image.batch == 1, "image of batch ", image.batch, ": windows by strips are of one image");
  state_ = std::make_unique<State>(
      image, window, strips,
      std::make_unique<pieces::WindowWork>(image, type, window, options, pieces::strips_on(strips)));
}
StripWindows::~StripWindows() = default;
StripWindows::StripWindows(StripWindows&&) noexcept = default;
StripWindows& StripWindows::operator=(StripWindows&&) noexcept = default;

void StripWindows::run(const ImageReader& read, const WindowStripSink& sink, const ImageReader& read_mask) {
  state_->driver.run(read, read_mask, state_->use(sink));
}
void StripWindows::begin(WindowStripSink sink) {
  require(state_->window.edge != Edge::wrap,
          "windows with edge `wrap` need the last rows before the first: the image must be read, not pushed");
  state_->driver.begin(state_->use(sink));
}
bool StripWindows::push(std::int64_t x, std::int64_t y, const ConstView& block, const ConstView& mask) {
  return state_->driver.push(x, y, block, mask);
}
void StripWindows::finish() { state_->driver.finish(); }

std::int64_t StripWindows::strip_height() const noexcept { return state_->driver.height(); }
std::uint64_t StripWindows::memory_bytes() const noexcept { return state_->driver.memory_bytes(); }
Backend StripWindows::backend() const noexcept { return state_->tables.backend(); }
Shape StripWindows::output_shape() const noexcept { return state_->out; }
TypePair StripWindows::types() const noexcept { return state_->tables.types(); }
std::optional<Type> StripWindows::squares_type() const noexcept { return state_->tables.squares_type(); }

}  // namespace areal
