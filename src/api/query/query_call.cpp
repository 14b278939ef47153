#include "api/query/query_call.hpp"

#include <areal/array.hpp>
#include <areal/error.hpp>
#include <memory>
#include <string>
#include "api/core/copy_rows.hpp"
#include "api/core/device_plan.hpp"
#include "api/core/memory_check.hpp"
#include "api/core/require.hpp"
#include "api/query/region_device.hpp"

namespace areal {

QueryCall::QueryCall(const Execution& execution, std::initializer_list<QuerySource> sources)
    : memory_(*sources.begin()->memory), source_(sources.begin()->name), threads_(execution.threads) {
  for (const QuerySource& source : sources)
    require(!source.memory || *source.memory == memory_, source.name, ": it lies in ",
            words_of(source.memory.value_or(memory_)), ", `", source_, "` in ", words_of(memory_),
            ": a query reads one memory");
  require(threads_ >= 0, "threads: ", threads_, ", it may be 0 (all) or more");
  const bool host = memory_.is_host();
  backend_ = execution.backend != Backend::automatic ? execution.backend : host ? Backend::cpu : Backend::cuda;
  if (backend_ == Backend::cuda) {
    require(!host, source_, ": it lies in host memory, which backend cuda does not read: copy it to the device first ",
            "(copy_to), or leave the backend automatic");
    require(execution.backend == Backend::automatic || execution.device == memory_.device, source_, ": it lies in ",
            words_of(memory_), ", the execution names device ", execution.device);
    stream_ = execution.stream.value_or(Stream::legacy_default());
    waits_ = !execution.stream.has_value();
    require(!stream_.is_host(), "stream: Stream::host(), but `", source_, "` lies in ", words_of(memory_),
            ", whose work needs the CUDA stream that it may use");
    return;
  }
  require(host, source_, ": it lies in ", words_of(memory_), ", which backend ", name_of(backend_),
          " does not read: copy it to the host first (copy_to), or leave the backend automatic");
  require(!execution.stream || execution.stream->is_host(), "stream: a CUDA stream, but `", source_,
          "` lies in host memory, where nothing is queued");
  simt_device_ = execution.device;
}

void QueryCall::begin() {
  if (has_begun_) return;
  require_backend(backend_, backend_ == Backend::cuda ? memory_.device : simt_device_);
  if (backend_ == Backend::cuda) scope_.emplace(memory_.device);
  has_begun_ = true;
}

void QueryCall::require_place(MemoryPlace memory, const char* name) const {
  require(memory == memory_ || (backend_ == Backend::cuda && memory.is_host()), name, ": it lies in ", words_of(memory),
          ", `", source_, "` in ", words_of(memory_),
          backend_ == Backend::cuda ? "; it may be there or on the host" : "");
}

void QueryCall::check(const void* data, std::size_t elements, MemoryPlace memory, const char* name) const {
  if (elements == 0) return;
  require(data != nullptr, name, ": a null pointer for ", elements, " elements");
  require(reinterpret_cast<std::uintptr_t>(data) % 8 == 0, name, ": its address is no multiple of 8");
  require_place(memory, name);
}

void* QueryCall::copy_buffer(std::size_t bytes, const char* name) {
  begin();
  require(!cuda::is_capturing(stream_), name,
          ": it lies in host memory, which cannot be copied while the stream is being captured into a CUDA graph");
  if (!guard_) guard_.emplace(stream_);
  copies_.emplace_back(bytes, stream_);
  waits_ = true;
  return copies_.back().data();
}

const void* QueryCall::copied_in(const void* host, std::size_t bytes, const char* name) {
  void* const there = copy_buffer(bytes, name);
  cuda::copy_in(there, host, bytes, stream_);
  return there;
}

void* QueryCall::copied_out(void* host, std::size_t bytes, const char* name) {
  void* const there = copy_buffer(bytes, name);
  back_.push_back([this, host, there, bytes] { cuda::copy_out(host, there, bytes, stream_); });
  return there;
}

View QueryCall::out(const View& view, const char* name) {
  if (view.shape.empty()) return view;
  require_place(view.memory, name);
  if (!is_staged(view.memory, false)) return view;
  const auto bytes = static_cast<std::size_t>(bytes_of(view.shape, view.type));
  const View there(copy_buffer(bytes, name), view.type, view.shape);
  const auto rows = std::make_shared<std::vector<char>>(bytes);
  back_.push_back([this, rows, there] { cuda::copy_out(rows->data(), there.data, rows->size(), stream_); });
  finish_.push_back([rows, view] { copy_rows(ConstView(rows->data(), view.type, view.shape), view); });
  return there.in(memory_);
}

void* QueryCall::workspace(Span<std::byte> given, std::size_t bytes) {
  if (!given.empty()) {
    require(given.size() >= bytes, "workspace: ", given.size(), " bytes, it must have ", bytes);
    require(given.memory() == memory_, "workspace: it lies in ", words_of(given.memory()), ", `", source_, "` in ",
            words_of(memory_));
    return given.data();
  }
  begin();
  if (backend_ == Backend::cuda) {
    copies_.emplace_back(bytes, stream_);
    return copies_.back().data();
  }
  simt_workspace_.resize(bytes);
  return simt_workspace_.data();
}

void QueryCall::answer(const kernels::RegionRequest& request) {
  begin();
  areal::answer({backend_, memory_.device, stream_}, request);
  for (const auto& copy : back_) copy();
  if (backend_ == Backend::cuda && waits_) cuda::synchronize(stream_);
  for (const auto& scatter : finish_) scatter();
}

}  // namespace areal
