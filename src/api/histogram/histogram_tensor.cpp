// Owned tensors: views of them, copies, other borders.
#include <areal/region.hpp>
#include <utility>
#include "api/core/require.hpp"
#include "api/histogram/histogram_plan.hpp"

namespace areal {
namespace {

void require_here(const HistogramTensor::State* state) { require(state != nullptr, "tensor: it was moved from"); }

}  // namespace

HistogramTensor::HistogramTensor() noexcept = default;
HistogramTensor::HistogramTensor(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
HistogramTensor::~HistogramTensor() = default;
HistogramTensor::HistogramTensor(HistogramTensor&&) noexcept = default;
HistogramTensor& HistogramTensor::operator=(HistogramTensor&&) noexcept = default;

View HistogramTensor::tensor() noexcept { return state_ ? state_->tensor.view() : View(); }
ConstView HistogramTensor::tensor() const noexcept { return state_ ? state_->tensor.view() : View(); }
Border HistogramTensor::border() const noexcept { return state_ ? state_->border : Border::none; }
Type HistogramTensor::counter() const noexcept { return state_ ? state_->tensor.view().type : Type::u32; }
MemoryPlace HistogramTensor::memory() const noexcept { return state_ ? state_->memory : MemoryPlace{}; }
const Binning& HistogramTensor::binning() const {
  require_here(state_.get());
  return state_->binning;
}
const Shape& HistogramTensor::image_shape() const noexcept {
  static const Shape none;
  return state_ ? state_->image : none;
}

TensorView HistogramTensor::view(std::int64_t image) const {
  require_here(state_.get());
  const View& all = state_->tensor.view();
  require(image >= 0 && image < all.shape.batch, "image ", image, ": the batch has ", all.shape.batch);
  Shape one = all.shape;
  one.batch = 1;
  return {ConstView(all.row(0, 0, image), all.type, one, all.row_pitch, all.plane_pitch).in(all.memory),
          state_->border};
}

HistogramTensor::operator TensorView() const {
  require_here(state_.get());
  require(state_->image.batch == 1, "tensor of a batch of ", state_->image.batch,
          ": name the image, tensor.view(image)");
  return view();
}

HistogramTensor HistogramTensor::copy_to(MemoryPlace place, const Execution& execution) const {
  require_here(state_.get());
  const View& from = state_->tensor.view();
  auto copy = std::make_unique<State>(
      State{state_->image, state_->binning, state_->border, place, OwnedView(from.shape, from.type, place)});
  copy_between(state_->memory, place, execution,
               [&](Stream stream) { copy->tensor.copy_from(state_->tensor, stream); });
  return HistogramTensor(std::move(copy));
}

HistogramTensor HistogramTensor::with_border(Border border, const Execution& execution) const {
  require_here(state_.get());
  require(state_->border != Border::exclusive || border == Border::exclusive,
          "border: an `exclusive` tensor lacks the image's last row and column: compute it in border `",
          name_of(border), "`");
  if (!state_->memory.is_host())
    return copy_to({}, execution)
        .with_border(border, execution)
        .copy_to(state_->memory);  // the copy back waits: the host tensor ends here
  const View& from = state_->tensor.view();
  require(from.type != Type::u16, "border: a tensor of counters of 16u keeps the border that it was computed with");
  const std::int64_t more = (border == Border::zero ? 1 : 0) - (state_->border == Border::zero ? 1 : 0);
  Shape shape = from.shape;
  shape.width += more, shape.height += more;
  auto made = std::make_unique<State>(
      State{state_->image, state_->binning, border, state_->memory, OwnedView(shape, from.type, state_->memory)});
  for (std::int64_t n = 0; n < shape.batch; ++n)
    for (std::int64_t bin = 0; bin < shape.channels; ++bin)
      convert_border({plane(ConstView(from), bin, n), state_->border}, plane(made->tensor.view(), bin, n), border);
  return HistogramTensor(std::move(made));
}

}  // namespace areal
