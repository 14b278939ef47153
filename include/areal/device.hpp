#pragma once
/// \file device.hpp Work on a GPU without writing CUDA: page-locked arrays, streams, events, copies. DeviceArray is in
/// array.hpp. On the backends cpu and simt the same code runs in host memory, and each call has ended when it returns.
///
/// An Execution says where: its backend (automatic stands for cuda here) and its device. Without such a device each
/// constructor throws Unavailable.

#include <areal/array.hpp>
#include <areal/execution.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <memory>
#include <optional>

namespace areal {

/// Contiguous host memory of a shape and type; not initialised. For cuda it is page-locked, so that copies from and to
/// it overlap other work; it serves all devices. To page-lock takes some 0.4 s a GiB: keep it. Moves, does not copy.
class PinnedArray {
 public:
  PinnedArray() = default;
  /// Throws InvalidArgument for a negative extent, Unavailable, OutOfMemory (with the bytes) where it does not fit.
  PinnedArray(const Shape& shape, Type type, const Execution& on = {});
  PinnedArray(PinnedArray&&) noexcept = default;
  PinnedArray& operator=(PinnedArray&&) noexcept = default;

  View view() noexcept { return View(memory_.get(), type_, shape_); }
  ConstView view() const noexcept { return ConstView(memory_.get(), type_, shape_); }
  const Shape& shape() const noexcept { return shape_; }
  Type type() const noexcept { return type_; }
  std::size_t bytes() const noexcept { return bytes_; }
  void* data() noexcept { return memory_.get(); }
  const void* data() const noexcept { return memory_.get(); }
  /// The elements as T. Throws InvalidArgument if T is not the element type.
  template <class T>
  T* as() {
    check_type(type_of<T>);
    return static_cast<T*>(data());
  }
  template <class T>
  const T* as() const {
    check_type(type_of<T>);
    return static_cast<const T*>(data());
  }

 private:
  void check_type(Type asked) const;
  std::shared_ptr<void> memory_;
  Shape shape_;
  Type type_ = Type::u8;
  std::size_t bytes_ = 0;
};

class Event;

/// A stream of its own, which waits for no other; on cpu and simt Stream::host(). Its work is done in the order in
/// which it was queued. Destroying it waits for nothing: what was queued is still done. Several threads may queue work
/// there at once. Moves, does not copy; one that was moved from is Stream::host().
class OwnedStream {
 public:
  /// Throws Unavailable, DeviceError.
  explicit OwnedStream(const Execution& on = {});
  ~OwnedStream();
  OwnedStream(OwnedStream&&) noexcept;
  OwnedStream& operator=(OwnedStream&&) noexcept;

  Stream get() const noexcept;
  operator Stream() const noexcept { return get(); }  // NOLINT: implicit on purpose
  /// For plans whose work is to be queued here: backend, device and this stream.
  Execution execution() const noexcept;
  /// Until all that was queued has been done. Throws DeviceError for what went wrong there.
  void wait() const;
  /// Work that is queued here from now on begins after the event, which may be of another device; the host does not
  /// wait. Throws InvalidArgument for an event that was not recorded.
  void wait_for(const Event& event) const;

 private:
  struct State;
  std::unique_ptr<State> state_;    // of cuda
  Backend backend_ = Backend::cpu;  // of the host
};

/// A point in a stream of one device, and its time; on cpu and simt a time of the host's clock. One thread at a time
/// may record it; several may wait. Moves, does not copy; one that was moved from was not recorded.
class Event {
 public:
  /// Throws Unavailable, DeviceError.
  explicit Event(const Execution& on = {});
  ~Event();
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;

  /// Happens when what was queued before on that stream, which is of the event's device, has been done. May be recorded
  /// again; then it stands for the last time. Throws InvalidArgument for a stream of the other kind, DeviceError.
  void record(Stream stream);
  /// Until it has happened, without spinning. These throw InvalidArgument for an event that was not recorded, and
  /// DeviceError for what went wrong in the work before it.
  void wait() const;
  bool has_happened() const;
  /// Work that is queued on that stream from now on begins after it, as OwnedStream::wait_for; the host does not wait.
  /// Throws InvalidArgument for a stream of the other kind.
  void hold_back(Stream stream) const;
  /// From an event of the same device to this one, in steps of about half a microsecond. Waits for both.
  double seconds_since(const Event& before) const;

 private:
  friend class OwnedStream;
  struct State;
  const State& recorded() const;
  std::unique_ptr<State> state_;
};

/// Is what is queued on the stream being captured into a CUDA graph? Never on Stream::host().
bool is_capturing(Stream stream);

/// Copies the elements from one view to another of the same shape and type, of any pitches: from host to device memory
/// or back, within one device, or within the host. With a CUDA stream the copy is queued there, and both memories must
/// stay until it has been done; from and to host memory that is not page-locked, CUDA may wait for it all the same.
/// Without a stream, and within the host, it has been done on return. O(bytes).
/// Throws InvalidArgument for views of another shape or type, views that overlap and memories of two devices;
/// Unavailable; DeviceError.
void copy_view(const ConstView& from, const View& to, std::optional<Stream> stream = {});

/// Zeros in all elements of a contiguous view of any memory, queued or done as `copy_view`.
/// Throws InvalidArgument for a view with gaps.
void clear_view(const View& view, std::optional<Stream> stream = {});

}  // namespace areal
