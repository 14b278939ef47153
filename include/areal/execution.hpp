#pragma once
/// \file execution.hpp Where work runs and where memory is: backend, device, stream, threads, progress.

#include <areal/error.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace areal {

/// What a kernel runs on.
enum class Backend : std::uint8_t { automatic, cpu, cuda, simt };

std::string_view name_of(Backend backend) noexcept;  ///< "auto", "cpu", "cuda", "simt".
std::optional<Backend> backend_named(std::string_view name) noexcept;

/// Where work is queued: the host, where every call completes before it returns, or a CUDA stream. Never made from 0 or
/// a null pointer: the default streams have names.
class Stream {
 public:
  static Stream host() noexcept { return Stream(nullptr, 0); }
  /// CUDA's legacy default stream, which synchronises with all blocking streams: the default of PyTorch and CuPy.
  static Stream legacy_default() noexcept { return Stream(reinterpret_cast<void*>(std::uintptr_t{1}), 0); }
  /// CUDA's default stream of the calling thread.
  static Stream per_thread_default() noexcept { return Stream(reinterpret_cast<void*>(std::uintptr_t{2}), 0); }
  /// A cudaStream_t. Throws InvalidArgument for a null handle.
  static Stream cuda(void* handle) {
    if (handle == nullptr)
      throw InvalidArgument("stream: a null handle names no stream; Stream::legacy_default() is CUDA's default one");
    return Stream(handle, 0);
  }
  Stream(std::nullptr_t) = delete;
  Stream(int) = delete;

  bool is_host() const noexcept { return handle_ == nullptr; }
  /// A cudaStream_t, null for the host.
  void* handle() const noexcept { return handle_; }
  friend bool operator==(const Stream&, const Stream&) = default;

 private:
  Stream(void* handle, int) noexcept : handle_(handle) {}
  void* handle_;
};

/// Which memory a view or a span lies in.
struct MemoryPlace {
  enum Kind : std::uint8_t { host, cuda };
  Kind kind = host;
  int device = 0;  ///< number of the CUDA device
  bool is_host() const noexcept { return kind == host; }
  friend bool operator==(const MemoryPlace&, const MemoryPlace&) = default;
};

/// Where work runs. By default where the memory is; for host memory on the backend expected to finish first, copies
/// included.
struct Execution {
  Backend backend = Backend::automatic;
  int device = 0;  ///< number of the CUDA device
  /// None: the work is complete when a call returns. A CUDA stream: the work is queued there; a call that returns
  /// values to the host waits for them.
  std::optional<Stream> stream = {};
  int threads = 0;  ///< CPU threads; 0: all. Results do not depend on it
};

/// Called from time to time with the work done and the total (any unit), from one thread at a time. Return false to
/// stop: the call then throws Cancelled.
using Progress = std::function<bool(std::int64_t done, std::int64_t total)>;

}  // namespace areal
