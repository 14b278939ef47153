#pragma once
// One query on its way: where it runs, what is copied for it, when it has ended.

#include <areal/execution.hpp>
#include <areal/span.hpp>
#include <areal/table.hpp>
#include <areal/view.hpp>
#include <deque>
#include <functional>
#include <initializer_list>
#include <optional>
#include <vector>
#include "cuda/device.hpp"
#include "cuda/memory.hpp"
#include "formulas/float_environment.hpp"
#include "kernels/query/request.hpp"

namespace areal {

/// What a query reads most of: where that lies, the query runs.
struct QuerySource {
  const char* name;
  std::optional<MemoryPlace> memory;  ///< none: the query goes without
  QuerySource(const char* name_, const std::optional<MemoryPlace>& memory_) : name(name_), memory(memory_) {}
  QuerySource(const char* name_, MemoryPlace memory_) : name(name_), memory(memory_) {}
  QuerySource(const char* name_, const std::optional<TableView>& table) : name(name_) {
    if (table) memory = table->memory();
  }
};

/// Spans and views are given through `in` and `out`, which name what the backend works on: the memory itself, or a copy
/// of the host's on the device. `answer` then runs the request. On the CPU the caller computes instead.
class QueryCall {
 public:
  /// Throws InvalidArgument where the sources' places, the backend and the stream do not belong together. What is
  /// Unavailable is found by `answer` or the first copy.
  QueryCall(const Execution& execution, std::initializer_list<QuerySource> sources);
  QueryCall(const QueryCall&) = delete;
  QueryCall& operator=(const QueryCall&) = delete;

  bool on_cpu() const noexcept { return backend_ == Backend::cpu; }
  int threads() const noexcept { return threads_; }

  /// Throws InvalidArgument for a null pointer to elements, an address that is no multiple of 8, memory of another
  /// place than the sources' or the host's.
  template <class T>
  const T* in(Span<const T> span, const char* name) {
    check(span.data(), span.size(), span.memory(), name);
    return is_staged(span.memory(), span.empty())
               ? static_cast<const T*>(copied_in(span.data(), span.size_bytes(), name))
               : span.data();
  }
  template <class T>
  T* out(Span<T> span, const char* name) {
    check(span.data(), span.size(), span.memory(), name);
    return is_staged(span.memory(), span.empty()) ? static_cast<T*>(copied_out(span.data(), span.size_bytes(), name))
                                                  : span.data();
  }
  /// A view that has been checked but for its place.
  View out(const View& view, const char* name);
  /// Memory to work in, for a device: `given`, or where that is empty memory of the stream's order.
  void* workspace(Span<std::byte> given, std::size_t bytes);

  /// Queues the request and the copies back; returns when they have been done where a copy was made or no stream was
  /// given. Not on the CPU.
  void answer(const kernels::RegionRequest& request);

 private:
  void begin();
  void check(const void* data, std::size_t elements, MemoryPlace memory, const char* name) const;
  void require_place(MemoryPlace memory, const char* name) const;
  bool is_staged(MemoryPlace memory, bool empty) const noexcept {
    return backend_ == Backend::cuda && memory.is_host() && !empty;
  }
  void* room(std::size_t bytes, const char* name);
  const void* copied_in(const void* host, std::size_t bytes, const char* name);
  void* copied_out(void* host, std::size_t bytes, const char* name);

  FloatEnvironment floats_;
  Backend backend_ = Backend::cpu;
  MemoryPlace memory_;  ///< of the sources
  const char* source_;  ///< the first one's name
  int threads_, simt_device_ = 0;
  bool waits_ = true, has_begun_ = false;
  Stream stream_ = Stream::host();
  std::optional<cuda::DeviceScope> scope_;  ///< outlives the copies' memory
  std::deque<cuda::StreamMemory> copies_;
  std::vector<std::byte> simt_workspace_;
  std::optional<cuda::HostCopyGuard> guard_;
  std::vector<std::function<void()>> back_;    ///< queue the copies to the host
  std::vector<std::function<void()>> finish_;  ///< after those have been done
};

}  // namespace areal
