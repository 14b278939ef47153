// StripFilter: a filter strip by strip.

#include <memory>
#include <utility>
#include "pieces/core/filter_work.hpp"
#include "pieces/strips/window_run.hpp"

namespace areal {

struct StripFilter::State : pieces::WindowRun {
  FilterPlan whole;

  State(std::unique_ptr<const pieces::FilterWork> work, const FilterPlan& plan, const PieceOptions& strips)
      : WindowRun(std::move(work), plan.image_shape(), plan.out_shape(), "filters",
                  plan.options().guide > 0 ? "guide" : "mask", strips),
        whole(plan) {}
};

StripFilter::StripFilter(const Shape& image, Type in, Type out, const Filter& filter, const FilterOptions& options,
                         const PieceOptions& strips) {
  require(image.batch == 1, "image of batch ", image.batch, ": filters by strips are of one image");
  auto work = std::make_unique<pieces::FilterWork>(image, in, out, filter, options, pieces::strips_on(strips));
  const FilterPlan whole = work->whole();
  state_ = std::make_unique<State>(std::move(work), whole, strips);
}
StripFilter::~StripFilter() = default;
StripFilter::StripFilter(StripFilter&&) noexcept = default;
StripFilter& StripFilter::operator=(StripFilter&&) noexcept = default;

void StripFilter::run(const ImageReader& read, const WindowStripSink& sink, const ImageReader& read_second) {
  state_->run(read, sink, read_second);
}
void StripFilter::begin(WindowStripSink sink) { state_->begin(sink); }
bool StripFilter::push(std::int64_t x, std::int64_t y, const ConstView& block, const ConstView& second) {
  return state_->driver.push(x, y, block, second);
}
void StripFilter::finish() { state_->driver.finish(); }

std::int64_t StripFilter::strip_height() const noexcept { return state_->driver.height(); }
std::uint64_t StripFilter::memory_bytes() const noexcept { return state_->driver.memory_bytes(); }
Shape StripFilter::output_shape() const noexcept { return state_->out; }
const std::string& StripFilter::algorithm() const noexcept { return state_->whole.algorithm(); }

}  // namespace areal
