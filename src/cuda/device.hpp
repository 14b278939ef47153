#pragma once
// Devices and their memory for api/, without CUDA's types. src/cuda/absent.cpp is the stub for builds without CUDA.

#include <areal/execution.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace areal::cuda {

/// True if this build has CUDA.
bool built() noexcept;

/// The number of devices. Cheap: touches no device.
int device_count() noexcept;

struct Device {
  int number = 0;  ///< among those that CUDA shows this process
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  std::uint64_t memory = 0, free_memory = 0;  ///< bytes
};
/// The usable devices, in CUDA's order; if there is none, `why_not` says why.
std::vector<Device> devices(std::string* why_not = nullptr);
/// Why that device is not usable: no such number, or no kernels for it in this build; empty if it is. Throws
/// DeviceError if it is lost, unless it was usable before: then the next launch there throws.
std::string why_not(int device);

/// Bytes of a device's free memory. Throws Unavailable without such a device.
std::uint64_t free_memory(int device);

/// Lets a device read and write another's memory from now on, if the machine supports it; returns false otherwise:
/// copies between the two then go through the host. A device has access to itself.
bool open_access(int device, int to);

/// Makes a device current for a scope. Throws Unavailable without such a device.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int device_ = 0, before_ = 0;
};

/// Owned memory of the current device. Throws OutOfMemory with the requested bytes.
class Memory {
 public:
  explicit Memory(std::size_t bytes);
  void* data() const noexcept { return data_.get(); }

 private:
  std::unique_ptr<void, void (*)(void*)> data_;
};

/// Owned page-locked host memory: copies from and to it overlap other work. Throws OutOfMemory.
class PinnedMemory {
 public:
  explicit PinnedMemory(std::size_t bytes);
  void* data() const noexcept { return data_.get(); }

 private:
  std::unique_ptr<void, void (*)(void*)> data_;
};

/// True if that host memory is page-locked, so that a copy from it needs no staging.
bool is_page_locked(const void* host);

/// An owned event: a point in a stream of the current device.
class Event {
 public:
  /// Without timing, streams wait for it for a shorter time.
  explicit Event(bool timed = true);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(Stream stream);
  /// Blocks, without spinning, until the work before it is complete; throws that work's error.
  void synchronize() const;
  /// True if the work before it is complete. Throws that work's error.
  bool has_happened() const;
  /// Work queued on the stream from now on begins after it.
  void hold_back(Stream stream) const;
  /// Seconds from an event to this one; both are complete.
  double seconds_since(const Event& before) const;

 private:
  void* handle_ = nullptr;
};

/// An owned stream of the current device.
class OwnedStream {
 public:
  OwnedStream();
  ~OwnedStream();
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;
  Stream get() const noexcept { return Stream::cuda(handle_); }
  /// Blocks until all queued work is complete; throws that work's error.
  void synchronize() const;

 private:
  void* handle_ = nullptr;
};

/// Blocks until all queued work is complete; throws that work's error.
void synchronize(Stream stream);
/// True if the stream is being captured into a graph. Also true for the legacy default stream while this thread
/// captures a stream that waits for it: nothing can be queued there then.
bool is_capturing(Stream stream);
/// Queues zeroing.
void clear(void* device, std::size_t bytes, Stream stream);
/// Queues zeroing of `rows` rows of `row_bytes` bytes.
void clear_rows(void* device, std::int64_t pitch, std::size_t row_bytes, std::size_t rows, Stream stream);
/// Queue copies of bytes from host to device, and back.
void copy_in(void* device, const void* host, std::size_t bytes, Stream stream);
void copy_out(void* host, const void* device, std::size_t bytes, Stream stream);
/// When a call ends by an exception, waits for its queued copies, which may still access host memory that belongs to
/// the caller again afterwards.
class HostCopyGuard {
 public:
  explicit HostCopyGuard(Stream stream) : stream_(stream) {}
  ~HostCopyGuard() {
    if (std::uncaught_exceptions() == before_) return;
    try {
      synchronize(stream_);
    } catch (const Error&) {  // the exception in flight says more
    }
  }
  HostCopyGuard(const HostCopyGuard&) = delete;
  HostCopyGuard& operator=(const HostCopyGuard&) = delete;

 private:
  Stream stream_;
  int before_ = std::uncaught_exceptions();
};
/// Which side of a copy of rows is host memory: the source, the target, or none.
enum class CopyDirection { in, out, within };
/// Queues a copy of `rows` rows of `row_bytes` bytes, within one device or between it and the host. No pitch is below
/// `row_bytes` or above `most_pitch`.
constexpr std::int64_t most_pitch = 2147483647;
void copy_rows(void* to, std::int64_t to_pitch, const void* from, std::int64_t from_pitch, std::size_t row_bytes,
               std::size_t rows, CopyDirection direction, Stream stream);
/// Queues a copy of bytes within one device or between two.
void copy(void* to, const void* from, std::size_t bytes, Stream stream);

}  // namespace areal::cuda
