#include "api/core/staging_buffer.hpp"

#include <utility>
#include "api/core/copy_rows.hpp"

namespace areal {
void copy_rows_in(void* device, const ConstView& host, Stream stream) {
  const std::size_t bytes = bytes_of(host.shape, host.type);
  if (bytes == 0) return;
  if (is_contiguous(host)) return cuda::copy_in(device, host.data, bytes, stream);
  Array rows(host.shape, host.type);
  copy_rows(host, rows.view());
  cuda::copy_in(device, rows.data(), bytes, stream);
  cuda::synchronize(stream);
}

StagingBuffer::StagingBuffer(const Shape& shape, Type type)
    : memory_(std::in_place, bytes_of(shape, type)), view_(memory_->data(), type, shape) {}

void StagingBuffer::copy_in(const ConstView& host, Stream stream) {
  if (!memory_) return;
  if (is_contiguous(host)) return cuda::copy_in(view_.data, host.data, bytes(), stream);
  staged_ = Array(host.shape, host.type);
  copy_rows(host, staged_.view());
  cuda::copy_in(view_.data, staged_.data(), bytes(), stream);
}

void StagingBuffer::copy_out(const View& host, Stream stream) {
  if (!memory_) return;
  staged_ = is_contiguous(host) ? Array() : Array(host.shape, host.type);
  cuda::copy_out(is_contiguous(host) ? host.data : staged_.data(), view_.data, bytes(), stream);
}

void StagingBuffer::finish(const View& host) {
  if (memory_ && !is_contiguous(host)) copy_rows(staged_.view(), host);
  staged_ = Array();
}

}  // namespace areal
