// Stores of histograms: what owns them, and views of them.
#include <array>
#include <cstring>
#include <utility>
#include "api/core/require.hpp"
#include "api/core/store_state.hpp"
#include "cuda/device.hpp"

namespace areal {
namespace {

constexpr std::array<std::string_view, 5> store_names{"auto", "none", "compact", "tensor", "rank"};

void require_here(const HistogramStore::State* state) { require(state != nullptr, "store: it was moved from"); }

void require_tensor_store(Store store) {
  require(store == Store::tensor, "store ", name_of(store), ": it has no tensor; choose the store tensor");
}

}  // namespace

std::string_view name_of(Store store) noexcept { return store_names[static_cast<std::size_t>(store)]; }
std::optional<Store> store_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < store_names.size(); ++i)
    if (store_names[i] == name) return static_cast<Store>(i);
  return std::nullopt;
}

StoreView::StoreView(const TensorView& tensor) noexcept
    : store_(Store::tensor),
      bins_(tensor.bins()),
      width_(tensor.image_width()),
      height_(tensor.image_height()),
      memory_(tensor.memory()),
      tensor_(tensor) {}

const TensorView& StoreView::tensor() const {
  require_tensor_store(store_);
  return *tensor_;
}

StoreView StoreView::Access::made(const HistogramStore::State& state, std::int64_t image) {
  if (state.plan->store == Store::tensor) return StoreView(state.tensor.view(image));
  StoreView view;
  view.store_ = state.plan->store;
  view.bins_ = state.plan->has_bins ? state.plan->binning.bins() : 0;
  view.width_ = state.plan->image.width;
  view.height_ = state.plan->image.height;
  view.image_ = image;
  view.state_ = &state;
  view.memory_ = view.store_ == Store::none ? state.arguments.image.memory : state.plan->memory();
  return view;
}

HistogramStore::HistogramStore() noexcept = default;
HistogramStore::HistogramStore(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
HistogramStore::~HistogramStore() = default;
HistogramStore::HistogramStore(HistogramStore&&) noexcept = default;
HistogramStore& HistogramStore::operator=(HistogramStore&&) noexcept = default;

Store HistogramStore::store() const noexcept { return state_ ? state_->plan->store : Store::none; }
std::uint64_t HistogramStore::bytes() const noexcept {
  if (!state_) return 0;
  return state_->plan->store == Store::tensor ? state_->plan->tensor->tensor_bytes() : state_->memory.bytes();
}
MemoryPlace HistogramStore::memory() const noexcept {
  if (!state_) return {};
  if (state_->plan->store == Store::tensor) return state_->tensor.memory();
  return state_->plan->store == Store::none ? state_->arguments.image.memory : state_->plan->memory();
}
const Shape& HistogramStore::image_shape() const noexcept {
  static const Shape none;
  return state_ ? state_->plan->image : none;
}
const Binning& HistogramStore::binning() const {
  require_here(state_.get());
  require(state_->plan->has_bins, "store ", name_of(store()), ": it was made without a binning");
  return state_->plan->binning;
}

StoreView HistogramStore::view(std::int64_t image) const {
  require_here(state_.get());
  const std::int64_t images = state_->plan->image.batch;
  require(image >= 0 && image < images, "image ", image, ": the batch has ", images);
  return StoreView::Access::made(*state_, image);
}

HistogramStore::operator StoreView() const {
  require_here(state_.get());
  require(state_->plan->image.batch == 1, "store of a batch of ", state_->plan->image.batch,
          ": name the image, store.view(image)");
  return view();
}

const HistogramTensor& HistogramStore::tensor() const {
  require_here(state_.get());
  require_tensor_store(state_->plan->store);
  return state_->tensor;
}

Span<const std::byte> HistogramStore::data() const noexcept {
  if (!state_) return {};
  return {static_cast<const std::byte*>(state_->memory.data()), state_->memory.bytes(),
          state_->memory.bytes() == 0 ? MemoryPlace{} : state_->plan->memory()};
}

Array HistogramStore::to_host() const {
  const Span<const std::byte> from = data();
  if (from.empty()) return {};
  Array copy({static_cast<std::int64_t>(from.size()), 1}, Type::u8);
  if (from.memory().is_host()) {
    std::memcpy(copy.data(), from.data(), from.size());
    return copy;
  }
  const cuda::DeviceScope scope(from.memory().device);
  const Stream stream = state_->plan->execution.stream.value_or(Stream::legacy_default());
  cuda::copy_out(copy.data(), from.data(), from.size(), stream);
  cuda::synchronize(stream);
  return copy;
}

}  // namespace areal
