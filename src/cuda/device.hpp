#pragma once
// Devices and their memory, without a CUDA type: what api/ needs to know. src/cuda/absent.cpp stands in where this
// build has no CUDA.

#include <areal/execution.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace areal::cuda {

/// Is CUDA part of this build?
bool built() noexcept;

/// How many devices there are. Cheap: no device is touched.
int device_count() noexcept;

struct Device {
  int number = 0;  ///< among those that CUDA shows this process
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  std::uint64_t memory = 0, free_memory = 0;  ///< bytes
};
/// The devices that can be used, in CUDA's order; with none, `why_not` says why.
std::vector<Device> devices(std::string* why_not = nullptr);
/// Why that device cannot be used, or an empty text: there is none of that number, or this build has no kernels for it.
/// Throws DeviceError where it is lost, unless it was usable before: then the next launch there throws it.
std::string why_not(int device);

/// Bytes of a device's memory that are free now. Throws Unavailable where there is no such device.
std::uint64_t free_memory(int device);

/// Lets a device read and write another's memory from now on, where the machine can; false where it cannot. Copies
/// between the two then go through the host. A device has access to itself.
bool open_access(int device, int to);

/// Makes a device current for a while. Throws Unavailable where there is no such device.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int device_ = 0, before_ = 0;
};

/// Memory of the current device, owned. Throws OutOfMemory with the bytes that were asked for.
class Memory {
 public:
  explicit Memory(std::size_t bytes);
  void* data() const noexcept { return data_.get(); }

 private:
  std::unique_ptr<void, void (*)(void*)> data_;
};

/// Page-locked memory of the host, owned: copies from and to it overlap other work. Throws OutOfMemory.
class PinnedMemory {
 public:
  explicit PinnedMemory(std::size_t bytes);
  void* data() const noexcept { return data_.get(); }

 private:
  std::unique_ptr<void, void (*)(void*)> data_;
};

/// Is that host memory page-locked, so that a copy from it needs no other?
bool is_page_locked(const void* host);

/// A point in a stream of the current device, owned.
class Event {
 public:
  /// One that is not timed makes streams wait for less long.
  explicit Event(bool timed = true);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(Stream stream);
  /// Until what was queued before it has been done, without spinning; throws what went wrong.
  void synchronize() const;
  /// Has it happened? Throws what went wrong.
  bool has_happened() const;
  /// What is queued on the stream from now on begins after it.
  void hold_back(Stream stream) const;
  /// Seconds from an event to this one; both have happened.
  double seconds_since(const Event& before) const;

 private:
  void* handle_ = nullptr;
};

/// A stream of the current device, owned.
class OwnedStream {
 public:
  OwnedStream();
  ~OwnedStream();
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;
  Stream get() const noexcept { return Stream::cuda(handle_); }
  /// Until all that was queued has been done; throws what went wrong.
  void synchronize() const;

 private:
  void* handle_ = nullptr;
};

/// Until all that was queued has been done; throws what went wrong.
void synchronize(Stream stream);
/// Is what is queued on the stream being captured into a graph? Also true of the legacy default stream while this
/// thread captures a stream that waits for it: nothing can be queued there then.
bool is_capturing(Stream stream);
/// Zeros, queued.
void clear(void* device, std::size_t bytes, Stream stream);
/// Zeros in rows of so many bytes, queued.
void clear_rows(void* device, std::int64_t pitch, std::size_t row_bytes, std::size_t rows, Stream stream);
/// Bytes from host to device, or back, queued.
void copy_in(void* device, const void* host, std::size_t bytes, Stream stream);
void copy_out(void* host, const void* device, std::size_t bytes, Stream stream);
/// Where a call ends by an exception, waits for what it has queued: copies may still read or write the host's memory,
/// which is its owner's again when the call has ended.
class HostCopyGuard {
 public:
  explicit HostCopyGuard(Stream stream) : stream_(stream) {}
  ~HostCopyGuard() {
    if (std::uncaught_exceptions() == before_) return;
    try {
      synchronize(stream_);
    } catch (const Error&) {  // the exception that is on its way says more
    }
  }
  HostCopyGuard(const HostCopyGuard&) = delete;
  HostCopyGuard& operator=(const HostCopyGuard&) = delete;

 private:
  Stream stream_;
  int before_ = std::uncaught_exceptions();
};
/// Which memory is the host's in a copy of rows: that which it comes from, that which it goes to, or none.
enum class CopyDirection { in, out, within };
/// `rows` rows of so many bytes, between memories of one device or of it and the host, queued. No pitch is below
/// `row_bytes` or above `most_pitch`.
constexpr std::int64_t most_pitch = 2147483647;
void copy_rows(void* to, std::int64_t to_pitch, const void* from, std::int64_t from_pitch, std::size_t row_bytes,
               std::size_t rows, CopyDirection direction, Stream stream);
/// Bytes from one device memory to another, of one device or of two, queued.
void copy(void* to, const void* from, std::size_t bytes, Stream stream);

}  // namespace areal::cuda
