#pragma once
// One query: where it runs, what is copied for it, and when it is complete.

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

/// The query's main input: the query runs where that lies.
struct QuerySource {
  const char* name;
  std::optional<MemoryPlace> memory;  ///< none: the query goes without
  QuerySource(const char* name_, const std::optional<MemoryPlace>& memory_) : name(name_), memory(memory_) {}
  QuerySource(const char* name_, MemoryPlace memory_) : name(name_), memory(memory_) {}
  QuerySource(const char* name_, const std::optional<TableView>& table) : name(name_) {
    if (table) memory = table->memory();
  }
};

/// Spans and views are passed through `in` and `out`, which return the memory that the backend works on: the memory
/// itself, or a device copy of host memory. `answer` then runs the request. On the CPU the caller computes instead.
class QueryCall {
 public:
  /// Throws InvalidArgument for mismatched memory of the sources, backend and stream. A missing device throws
  /// Unavailable later, from `answer` or the first copy.
  QueryCall(const Execution& execution, std::initializer_list<QuerySource> sources);
  QueryCall(const QueryCall&) = delete;
  QueryCall& operator=(const QueryCall&) = delete;

  bool on_cpu() const noexcept { return backend_ == Backend::cpu; }
  int threads() const noexcept { return threads_; }

  /// Throws InvalidArgument for a null pointer to elements, an address that is no multiple of 8, and memory other than
  /// the sources' and the host's.
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
  /// For a view that is checked except for its memory.
  View out(const View& view, const char* name);
  /// Scratch memory for a device: `given` or, if that is empty, memory allocated in stream order.
  void* workspace(Span<std::byte> given, std::size_t bytes);

  /// Queues the request and the copies back; waits for them if the host gets a copy or no stream was given. Not for the
  /// CPU.
  void answer(const kernels::RegionRequest& request);

 private:
  void begin();
  void check(const void* data, std::size_t elements, MemoryPlace memory, const char* name) const;
  void require_place(MemoryPlace memory, const char* name) const;
  bool is_staged(MemoryPlace memory, bool empty) const noexcept {
    return backend_ == Backend::cuda && memory.is_host() && !empty;
  }
  void* copy_buffer(std::size_t bytes, const char* name);
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
  std::vector<std::function<void()>> finish_;  ///< called when those are complete
};

}  // namespace areal
