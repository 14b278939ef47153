#pragma once
// Python arrays in host or CUDA memory: reading them, their streams, and allocating arrays of their framework.

#include <areal/device.hpp>
#include <areal/error.hpp>
#include <areal/execution.hpp>
#include <areal/span.hpp>
#include <areal/view.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include "arrays.hpp"
#include "device_dlpack.hpp"

namespace areal::python {

/// The stream of a number in DLPack and __cuda_array_interface__: 0 and 1 are the legacy default stream, 2 the
/// per-thread default stream, others a cudaStream_t.
Stream stream_of(std::uintptr_t number);
/// The same for an argument that may be None.
std::optional<Stream> stream_given(nb::handle number);
/// The number of a stream, never 0.
std::uintptr_t number_of(Stream stream);

/// The signed integer type of the same width; floats are unchanged.
Type signed_type(Type type) noexcept;
/// The unsigned integer type of the same width; floats are unchanged.
Type unsigned_type(Type type) noexcept;

/// Does the object's framework export arrays through C functions?
bool has_exchange_api(nb::handle object);

/// An array's device, and its framework's stream.
struct Place {
  MemoryPlace memory;
  dl::Device device;                     ///< the same, as DLPack has it
  const dl::ExchangeApi* api = nullptr;  ///< null if the framework has none
  /// The framework's current stream; without one, the stream argument or areal's own. The host's for host memory.
  Stream stream = Stream::host();
};

/// A view of a Python array, which must outlive the view.
class PythonArray {
 public:
  PythonArray() = default;
  /// Reads NumPy's arrays by their fields, others by the first of `__dlpack_c_exchange_api__`, `__dlpack__` and
  /// `__cuda_array_interface__`. Work queued on `stream` afterwards runs after the array's producer; the exchange API
  /// uses the framework's current stream instead. No stream: that of `place`. The result is not readable if reading
  /// needs a copy. Throws InvalidArgument for objects that are not arrays, and for devices other than the host and
  /// CUDA.
  PythonArray(nb::handle object, std::optional<Stream> stream, const char* name);
  /// A host array read by array_ref, also by the buffer protocol. Not readable if array_ref returns none.
  static PythonArray of_host(nb::handle object, const char* name, bool may_write = false);

  bool is_readable() const noexcept { return readable_; }
  bool is_read_only() const noexcept { return read_only_; }
  const ArrayRef& ref() const noexcept { return ref_; }
  const Place& place() const noexcept { return place_; }
  /// Keeps the object alive as long as this view.
  void keep(nb::object object) { ref_.keep = std::move(object); }

  std::size_t elements() const noexcept;
  /// The elements, which must be consecutive. Throws InvalidArgument for gaps and for other types.
  template <class T>
  Span<T> span() const {
    require_contiguous(type_of<std::remove_const_t<T>>);
    return Span<T>(static_cast<T*>(ref_.data), elements(), ref_.memory);
  }

 private:
  void by_api(nb::handle object, std::optional<Stream> stream);
  bool by_dlpack(nb::handle object);
  void by_cuda_array_interface(nb::handle object, std::optional<Stream> stream);
  void lie_on(dl::Device device);
  void choose_stream(std::optional<Stream> stream);
  void read(const dl::Tensor& tensor);
  void require_contiguous(Type type) const;

  const char* name_ = "";
  ArrayRef ref_;
  Place place_;
  bool readable_ = false, read_only_ = false;
};

/// A new, contiguous, uninitialised array of a framework.
class NewArray {
 public:
  NewArray() = default;
  NewArray(NewArray&& other) noexcept { swap(other); }
  NewArray& operator=(NewArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~NewArray();
  void* data() const noexcept { return data_; }
  /// Returns the framework's array. Call it once.
  nb::object take();

 private:
  friend class Framework;
  void swap(NewArray& other) noexcept {
    std::swap(api_, other.api_), std::swap(managed_, other.managed_), std::swap(data_, other.data_);
    std::swap(object_, other.object_);
  }
  const dl::ExchangeApi* api_ = nullptr;
  dl::ManagedVersioned* managed_ = nullptr;
  nb::object object_;
  void* data_ = nullptr;
};

/// A Framework of Python (areal/_frameworks.py): the functions that areal needs of NumPy, PyTorch, CuPy, ..
class Framework {
 public:
  explicit Framework(nb::handle on);
  nb::handle object() const noexcept { return on_; }
  bool is_numpy() const noexcept { return is_numpy_; }
  /// Are integer tables signed, of the next wider type if a corner may exceed it?
  bool is_signed() const noexcept { return is_signed_; }
  std::optional<Stream> stream() const;
  /// A copy with the axes in the memory order of `letters`, the outermost first; in C order for empty letters.
  nb::object copied(nb::handle array, const char* name, const char* axes, const std::string& letters) const;
  /// The same memory, with dimensions in the order of `to` instead of `from`.
  nb::object reordered(nb::object array, const std::string& from, const std::string& to) const;
  /// Allocates through the exchange API, NumPy, or Python's `empty`.
  NewArray empty(const Place& where, Type type, const std::vector<std::int64_t>& extents) const;

 private:
  nb::handle on_;
  bool is_numpy_, is_signed_;
};

/// The arrays of one call. The first determines the device of all, and the stream.
class CallArrays {
 public:
  /// `copy`: Python's argument; False refuses copies.
  explicit CallArrays(Framework on, nb::handle copy = nb::none()) : on_(on), copies_(!copy.is(Py_False)) {}
  /// The same call, with copies allowed.
  CallArrays with_copies() const {
    CallArrays made = *this;
    made.copies_ = true;
    return made;
  }
  const Framework& framework() const noexcept { return on_; }
  const Place& place() const noexcept { return place_; }
  bool on_host() const noexcept { return place_.memory.is_host(); }
  /// The stream for query options; none for host memory.
  std::optional<Stream> stream() const { return on_host() ? std::nullopt : std::optional(place_.stream); }

  /// Reads the first array; copies it if it cannot be read in place.
  PythonArray first(nb::handle object, const char* name);
  /// Reads another array. Throws InvalidArgument if it is on another device.
  PythonArray read(nb::handle object, const char* name) const;
  /// Opens an output array. Throws InvalidArgument if it is read-only.
  PythonArray writable(nb::handle object) const;
  /// Framework::copied. Throws InvalidArgument if the caller forbids copies.
  PythonArray copied(nb::handle object, const char* name, const char* axes, const std::string& letters) const;
  /// The pixels of the first array, copied if their memory order is not supported; `array` keeps the memory.
  Pixels pixels(nb::handle object, const Axes& axes, bool may_transpose, bool may_fold, PythonArray& array) const;
  /// A view of an array with those axes in that memory order, copied if it has another order. `array` keeps the memory.
  ConstView view(nb::handle object, const char* name, const Axes& axes, const Order& order, PythonArray& array) const;
  NewArray empty(Type type, const std::vector<std::int64_t>& extents) const { return on_.empty(place_, type, extents); }

 private:
  PythonArray any(nb::handle object, std::optional<Stream> stream, const char* name) const;

  Framework on_;
  bool copies_;
  Place place_;
  const char* first_ = "array";
};

/// The extents of an array in the memory order of the letters.
std::vector<std::int64_t> extents_of(const Shape& shape, const std::string& letters, const Order& order);

}  // namespace areal::python
