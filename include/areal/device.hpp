#pragma once
/// \file device.hpp Work on a GPU without writing CUDA: page-locked arrays, streams, events, copies. DeviceArray is in
/// array.hpp. On the backends cpu and simt the same code runs in host memory, and every call completes before it
/// returns.
///
/// An Execution selects the backend (automatic means cuda here) and the device. Constructors throw Unavailable without
/// such a device.

#include <areal/array.hpp>
#include <areal/execution.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <memory>
#include <optional>

namespace areal {

/// Contiguous, uninitialised host memory of a shape and type. For cuda it is page-locked, so that copies from and to it
/// overlap other work, on all devices. Page-locking takes about 0.4 s a GiB: reuse it. Move-only.
class PinnedArray {
 public:
  PinnedArray() = default;
  /// Throws InvalidArgument for a negative extent; Unavailable; OutOfMemory, with the bytes, if the allocation fails.
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
  void check_type(Type requested) const;
  std::shared_ptr<void> memory_;
  Shape shape_;
  Type type_ = Type::u8;
  std::size_t bytes_ = 0;
};

class Event;

/// An owned stream that synchronises with no other; Stream::host() on cpu and simt. It executes work in the order
/// queued. The destructor does not wait, and queued work still runs. Several threads may queue at once. Move-only; a
/// moved-from stream is Stream::host().
class OwnedStream {
 public:
  /// Throws Unavailable, DeviceError.
  explicit OwnedStream(const Execution& on = {});
  ~OwnedStream();
  OwnedStream(OwnedStream&&) noexcept;
  OwnedStream& operator=(OwnedStream&&) noexcept;

  Stream get() const noexcept;
  operator Stream() const noexcept { return get(); }  // NOLINT: implicit on purpose
  /// For plans that queue their work here: backend, device and this stream.
  Execution execution() const noexcept;
  /// Blocks until all queued work is complete. Throws DeviceError if that work failed.
  void wait() const;
  /// Makes work queued here from now on begin after the event, which may be of another device; the host does not wait.
  /// Throws InvalidArgument for an event that was not recorded.
  void wait_for(const Event& event) const;

 private:
  struct State;
  std::unique_ptr<State> state_;    // of cuda
  Backend backend_ = Backend::cpu;  // of the host
};

/// A point in a stream of one device, and its time; on cpu and simt a time of the host's clock. One thread at a time
/// may record it; several may wait. Move-only; a moved-from event counts as not recorded.
class Event {
 public:
  /// Throws Unavailable, DeviceError.
  explicit Event(const Execution& on = {});
  ~Event();
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;

  /// Marks the point after all work queued so far on that stream, which is of the event's device. Recording again
  /// replaces the point. Throws InvalidArgument for a stream of the other kind; DeviceError.
  void record(Stream stream);
  /// Blocks, without spinning, until the work before the point is complete. These throw InvalidArgument for an event
  /// that was not recorded, and DeviceError if the work before it failed.
  void wait() const;
  bool has_happened() const;
  /// Makes work queued on that stream from now on begin after the event, as OwnedStream::wait_for; the host does not
  /// wait.
  /// Throws InvalidArgument for a stream of the other kind.
  void hold_back(Stream stream) const;
  /// Time from an event of the same device to this one, in steps of about half a microsecond. Waits for both.
  double seconds_since(const Event& before) const;

 private:
  friend class OwnedStream;
  struct State;
  const State& recorded() const;
  std::unique_ptr<State> state_;
};

/// True if the stream is being captured into a CUDA graph. False for Stream::host().
bool is_capturing(Stream stream);

/// Copies the elements from one view to another of the same shape and type, of any pitches: between host and device
/// memory, within one device, or within the host. With a CUDA stream the copy is queued, and both memories must stay
/// valid until it is complete; with host memory that is not page-locked CUDA may block the caller. Without a stream,
/// and within the host, it is complete on return. O(bytes).
/// Throws InvalidArgument for views of another shape or type, views that overlap and memories of two devices;
/// Unavailable; DeviceError.
void copy_view(const ConstView& from, const View& to, std::optional<Stream> stream = {});

/// Sets all elements of a contiguous view of any memory to zero, queued or complete as `copy_view`. O(bytes).
/// Throws InvalidArgument for a view with gaps.
void clear_view(const View& view, std::optional<Stream> stream = {});

}  // namespace areal
