#pragma once
// Arrays of Python in host or CUDA memory: how they are read, on which stream, and how their framework makes new ones.

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

/// The stream of a number as DLPack and __cuda_array_interface__ write it: 0 and 1 the legacy default stream, 2 that of
/// the thread, else a cudaStream_t.
Stream stream_of(std::uintptr_t number);
/// The same of an argument that may be None.
std::optional<Stream> stream_given(nb::handle number);
/// The number of a stream, never 0.
std::uintptr_t number_of(Stream stream);

/// The signed integer type of the same width; floats stay.
Type signed_type(Type type) noexcept;
/// The unsigned one.
Type unsigned_type(Type type) noexcept;

/// Whether the object's framework hands over arrays by functions of C.
bool has_exchange_api(nb::handle object);

/// Where an array lies, and where its framework queues work.
struct Place {
  MemoryPlace memory;
  dl::Device device;                     ///< the same, as DLPack has it
  const dl::ExchangeApi* api = nullptr;  ///< null where the framework has none
  /// The current stream of the framework; without one, that which was given or areal's own. The host's for host memory.
  Stream stream = Stream::host();
};

/// An array of Python, which must outlive it.
class PythonArray {
 public:
  PythonArray() = default;
  /// NumPy's arrays are read by their fields. Others are asked in this order: `__dlpack_c_exchange_api__`,
  /// `__dlpack__`, `__cuda_array_interface__`. What is queued on `stream` afterwards follows the array's producer; with
  /// the first, the framework's current stream is that. Without a stream, that of `place` is meant. Not readable where
  /// it needs a copy to be read. Throws InvalidArgument for what is no array, and for devices that are neither the host
  /// nor CUDA's.
  PythonArray(nb::handle object, std::optional<Stream> stream, const char* name);
  /// An array of the host, as array_ref reads it: the buffer protocol as well. Not readable where that gives none.
  static PythonArray of_host(nb::handle object, const char* name, bool may_write = false);

  bool is_readable() const noexcept { return readable_; }
  bool is_read_only() const noexcept { return read_only_; }
  const ArrayRef& ref() const noexcept { return ref_; }
  const Place& place() const noexcept { return place_; }
  /// Keeps the object as long as this.
  void keep(nb::object object) { ref_.keep = std::move(object); }

  std::size_t elements() const noexcept;
  /// Consecutive elements. Throws InvalidArgument for gaps and for other types.
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

/// An array that a framework has just made: contiguous, not initialised.
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
  /// The framework's array. Once.
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

/// A Framework of Python (areal/_frameworks.py): what areal asks of NumPy, PyTorch, CuPy, .. besides their arrays.
class Framework {
 public:
  explicit Framework(nb::handle on);
  nb::handle object() const noexcept { return on_; }
  bool is_numpy() const noexcept { return is_numpy_; }
  /// Its tables of integers are signed, and a step wider where a corner may exceed that.
  bool is_signed() const noexcept { return is_signed_; }
  std::optional<Stream> stream() const;
  /// A copy with its axes in memory as `letters` name them, the outermost first; in C order where they name none.
  nb::object copied(nb::handle array, const char* name, const char* axes, const std::string& letters) const;
  /// The same memory, its dimensions in the order of `to` instead of `from`.
  nb::object reordered(nb::object array, const std::string& from, const std::string& to) const;
  /// Through the exchange API, by NumPy, or by Python's `empty`.
  NewArray empty(const Place& where, Type type, const std::vector<std::int64_t>& extents) const;

 private:
  nb::handle on_;
  bool is_numpy_, is_signed_;
};

/// The arrays of one call. The first says where all lie, and on which stream work is queued.
class CallArrays {
 public:
  /// `copy`: Python's argument; False refuses copies.
  explicit CallArrays(Framework on, nb::handle copy = nb::none()) : on_(on), copies_(!copy.is(Py_False)) {}
  /// The same call's, where copies may be made.
  CallArrays with_copies() const {
    CallArrays made = *this;
    made.copies_ = true;
    return made;
  }
  const Framework& framework() const noexcept { return on_; }
  const Place& place() const noexcept { return place_; }
  bool on_host() const noexcept { return place_.memory.is_host(); }
  /// For options of queries: of host memory none.
  std::optional<Stream> stream() const { return on_host() ? std::nullopt : std::optional(place_.stream); }

  /// The first array; copied where it cannot be read at all.
  PythonArray first(nb::handle object, const char* name);
  /// Another one. Throws InvalidArgument where it lies elsewhere.
  PythonArray read(nb::handle object, const char* name) const;
  /// One that is written. Throws InvalidArgument for what is read-only.
  PythonArray writable(nb::handle object) const;
  /// A copy, as Framework::copied. Throws InvalidArgument where copies are refused.
  PythonArray copied(nb::handle object, const char* name, const char* axes, const std::string& letters) const;
  /// The pixels of the first array, copied where they do not lie in an order that may be; `array` keeps the memory.
  Pixels pixels(nb::handle object, const Axes& axes, bool may_transpose, bool may_fold, PythonArray& array) const;
  /// The view of an array of those axes in that order, copied where it does not lie so. `array` keeps the memory.
  ConstView view(nb::handle object, const char* name, const Axes& axes, const Order& order, PythonArray& array) const;
  NewArray empty(Type type, const std::vector<std::int64_t>& extents) const { return on_.empty(place_, type, extents); }

 private:
  PythonArray any(nb::handle object, std::optional<Stream> stream, const char* name) const;

  Framework on_;
  bool copies_;
  Place place_;
  const char* first_ = "array";
};

/// The extents of an array whose dimensions lie in memory as the letters say.
std::vector<std::int64_t> extents_of(const Shape& shape, const std::string& letters, const Order& order);

}  // namespace areal::python
