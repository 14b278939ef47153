#pragma once
/// \file execution.hpp What a plan runs on: backend, stream, threads, progress.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace areal {

/// What a kernel runs on. `automatic` takes a GPU where there is one.
enum class Backend : std::uint8_t { automatic, cpu, cuda, simt };

std::string_view name_of(Backend backend) noexcept;  ///< "auto", "cpu", "cuda", "simt".
std::optional<Backend> backend_named(std::string_view name) noexcept;

/// Where the work of an execute is queued. A CPU plan takes `Stream::host()` and has finished when execute returns.
class Stream {
 public:
  static Stream host() noexcept { return Stream(static_cast<void*>(nullptr)); }
  /// A cudaStream_t. The null stream is refused when used: name the stream that you mean.
  static Stream cuda(void* stream) noexcept { return Stream(stream); }
  Stream(std::nullptr_t) = delete;
  Stream(int) = delete;
  void* handle() const noexcept { return handle_; }

 private:
  explicit Stream(void* handle) noexcept : handle_(handle) {}
  void* handle_;
};

/// Where work that needs no plan is queued: a device, and one of its streams. The memory that goes with it is the
/// device's. On simt it is the host's, and the work has been done when a call returns.
struct Place {
  Backend backend = Backend::cuda;  ///< cuda or simt
  int device = 0;                   ///< number of the device, for cuda
  Stream stream = Stream::host();   ///< for cuda one of CUDA's
};

/// Called now and then with the work done and in all (any unit), from one thread at a time. Return false to stop:
/// the call then throws Cancelled.
using Progress = std::function<bool(std::int64_t done, std::int64_t total)>;

}  // namespace areal
