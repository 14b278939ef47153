#include "api/core/owned_view.hpp"
#include <cstring>
#include <utility>

namespace areal {

OwnedView::OwnedView(const Shape& shape, Type type, MemoryPlace place)
    : OwnedView(Memory(shape, type, place), shape, type) {}

OwnedView::OwnedView(Memory memory, const Shape& shape, Type type)
    : memory_(std::move(memory)), view_(memory_.view(type, shape)), exists_(true) {}

OwnedView OwnedView::of_host(const Shape& shape, Type type, bool page_locked) {
  return OwnedView(Memory::of_host(bytes_of(shape, type), page_locked), shape, type);
}

void OwnedView::copy_from(const OwnedView& other, Stream stream) {
  if (other.view_.data == nullptr) return;
  const std::size_t bytes = bytes_of(view_.shape, view_.type);
  const bool from_host = other.view_.memory.is_host(), to_host = view_.memory.is_host();
  if (from_host && to_host)
    std::memcpy(view_.data, other.view_.data, bytes);
  else if (from_host)
    cuda::copy_in(view_.data, other.view_.data, bytes, stream);
  else if (to_host)
    cuda::copy_out(view_.data, other.view_.data, bytes, stream);
  else
    cuda::copy(view_.data, other.view_.data, bytes, stream);
}

Array host_copy(const ConstView& view, const Execution& execution) {
  Array array(view.shape, view.type);
  if (array.bytes() == 0) return array;
  const View to = array.view();
  const std::int64_t planes = view.shape.layout == Layout::planar ? view.shape.channels : 1;
  const auto row_bytes = static_cast<std::size_t>(view.shape.width * view.column_pitch());
  copy_between(view.memory, {}, execution, [&](Stream stream) {
    for (std::int64_t n = 0; n < view.shape.batch; ++n)
      for (std::int64_t c = 0; c < planes; ++c)
        for (std::int64_t y = 0; y < view.shape.height; ++y)
          if (view.memory.is_host())
            std::memcpy(to.row(y, c, n), view.row(y, c, n), row_bytes);
          else
            cuda::copy_out(to.row(y, c, n), view.row(y, c, n), row_bytes, stream);
  });
  return array;
}

Stream copy_stream(const Execution& execution) noexcept {
  return execution.stream && !execution.stream->is_host() ? *execution.stream : Stream::legacy_default();
}

}  // namespace areal
