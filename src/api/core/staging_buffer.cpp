#include "api/core/staging_buffer.hpp"

#include <algorithm>
#include <utility>
#include "api/core/copy_rows.hpp"
#include "cpu/cancellation.hpp"
#include "cuda/device.hpp"

namespace areal {
namespace {

constexpr std::size_t piece = std::size_t{64} << 20;  // 10 ms, of pageable memory

/// Calls copy(offset, bytes) once or, inside a CancelScope, for pieces, each complete before the next begins. Throws
/// Cancelled.
template <class Copy>
void copy_in_pieces(std::size_t bytes, Stream stream, const Copy& copy) {
  cpu::Cancellation* const cancellation = cpu::Cancellation::current();
  if (cancellation == nullptr) return copy(0, bytes);
  for (std::size_t at = 0; at < bytes; at += piece) {
    copy(at, std::min(piece, bytes - at));
    cuda::synchronize(stream);
    if (!cancellation->go_on()) cancellation->check();
  }
}
void copy_in(void* device, const void* host, std::size_t bytes, Stream stream) {
  copy_in_pieces(bytes, stream, [&](std::size_t at, std::size_t count) {
    cuda::copy_in(static_cast<char*>(device) + at, static_cast<const char*>(host) + at, count, stream);
  });
}

/// The same between views of host memory.
void copy_rows_in_pieces(const ConstView& from, const View& to) {
  cpu::Cancellation* const cancellation = cpu::Cancellation::current();
  if (cancellation == nullptr) return copy_rows(from, to);
  std::size_t copied = 0;
  copy_rows(from, to, [&](std::size_t bytes) {
    if ((copied += bytes) < piece) return;
    copied = 0;
    if (!cancellation->go_on()) cancellation->check();
  });
}

}  // namespace

void copy_rows_in(void* device, const ConstView& host, Stream stream) {
  const std::size_t bytes = bytes_of(host.shape, host.type);
  if (bytes == 0) return;
  if (is_contiguous(host)) return cuda::copy_in(device, host.data, bytes, stream);
  Array rows(host.shape, host.type);
  copy_rows(host, rows.view());
  cuda::copy_in(device, rows.data(), bytes, stream);
  cuda::synchronize(stream);
}

StagingBuffer::StagingBuffer(const Shape& shape, Type type, MemoryPlace place)
    : memory_(shape, type, place), view_(memory_.view(type, shape)) {}

void StagingBuffer::copy_in(const ConstView& host, Stream stream) {
  if (view_.data == nullptr) return;
  if (is_contiguous(host)) return areal::copy_in(view_.data, host.data, bytes(), stream);
  staged_ = Array(host.shape, host.type);
  copy_rows_in_pieces(host, staged_.view());
  areal::copy_in(view_.data, staged_.data(), bytes(), stream);
}

void StagingBuffer::copy_out(const View& host, Stream stream) {
  if (view_.data == nullptr) return;
  staged_ = is_contiguous(host) ? Array() : Array(host.shape, host.type);
  auto* const to = static_cast<char*>(is_contiguous(host) ? host.data : staged_.data());
  const auto* const from = static_cast<const char*>(view_.data);
  copy_in_pieces(bytes(), stream,
                 [&](std::size_t at, std::size_t count) { cuda::copy_out(to + at, from + at, count, stream); });
}

void StagingBuffer::finish(const View& host) {
  if (view_.data != nullptr && !is_contiguous(host)) copy_rows_in_pieces(staged_.view(), host);
  staged_ = Array();
}

}  // namespace areal
