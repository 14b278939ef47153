// StripWindows: windows strip by strip. A strip computes the windows of its halo, too, which are left out.

#include <memory>
#include <utility>
#include "api/core/view_check.hpp"
#include "pieces/core/window_work.hpp"
#include "pieces/strips/window_run.hpp"

namespace areal {
namespace {

Shape output_of(const Shape& image, const Window& window) {
  Shape out = window_shape(image.width, image.height, window);
  out.channels = image.channels, out.layout = image.layout;
  return out;
}

}  // namespace

struct StripWindows::State : pieces::WindowRun {
  SatPlan tables;  // of one row

  State(std::unique_ptr<const pieces::WindowWork> work, SatPlan row, const Shape& image, const Window& window,
        const PieceOptions& strips)
      : WindowRun(std::move(work), image, output_of(image, window), "windows", "mask", strips),
        tables(std::move(row)) {}
};

StripWindows::StripWindows(const Shape& image, Type type, const Window& window, const StripWindowsOptions& options,
                           const PieceOptions& strips) {
  check_shape("image", image, type);
  require(image.batch == 1, "image of batch ", image.batch, ": windows by strips are of one image");
  auto work = std::make_unique<pieces::WindowWork>(image, type, window, options, pieces::strips_on(strips));
  SatPlan row = work->plan_of(image.width, 1);
  state_ = std::make_unique<State>(std::move(work), std::move(row), image, window, strips);
}
StripWindows::~StripWindows() = default;
StripWindows::StripWindows(StripWindows&&) noexcept = default;
StripWindows& StripWindows::operator=(StripWindows&&) noexcept = default;

void StripWindows::run(const ImageReader& read, const WindowStripSink& sink, const ImageReader& read_mask) {
  state_->run(read, sink, read_mask);
}
void StripWindows::begin(WindowStripSink sink) { state_->begin(sink); }
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
