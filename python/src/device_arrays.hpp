#pragma once
// Arrays of other frameworks, in host or CUDA memory: how they are read, on which stream, and how new ones are made by
// the framework's own allocator.

#include <areal/device.hpp>
#include <areal/error.hpp>
#include <areal/execution.hpp>
#include <areal/span.hpp>
#include <areal/view.hpp>
#include <optional>
#include <string>
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

/// Whether the object's framework hands over arrays by functions of C.
bool has_exchange_api(nb::handle object);

/// An array of another framework, where it lies. It must not outlive the object.
class ForeignArray {
 public:
  /// Asks the object in this order: `__dlpack_c_exchange_api__`, `__dlpack__`, `__cuda_array_interface__`. What is
  /// queued on `stream` afterwards follows the array's producer; with the first, the framework's current stream is
  /// that. Without a stream, that of `work_stream` is meant. Throws InvalidArgument for what is no array, and for
  /// devices that are neither the host nor CUDA's.
  ForeignArray(nb::handle object, std::optional<Stream> stream, const char* name);
  ForeignArray(const ForeignArray&) = delete;
  ForeignArray& operator=(const ForeignArray&) = delete;

  const dl::Tensor& tensor() const noexcept { return tensor_; }
  void* data() const noexcept { return static_cast<char*>(tensor_.data) + tensor_.byte_offset; }
  MemoryPlace memory() const noexcept { return memory_; }
  Type type() const;
  bool is_read_only() const noexcept { return read_only_; }
  /// Null where the object has none.
  const dl::ExchangeApi* api() const noexcept { return api_; }
  /// The current stream of the framework; without one, that which was given or areal's own. The host's for host memory.
  Stream work_stream() const noexcept { return stream_; }

  /// What areal's views are made of. Throws InvalidArgument for a dtype that areal has no type for.
  ArrayRef ref() const;
  /// Consecutive elements of one dimension or more. Throws InvalidArgument for gaps and for other types.
  template <class T>
  Span<T> span() const {
    require_contiguous(type_of<std::remove_const_t<T>>);
    return Span<T>(static_cast<T*>(data()), elements(), memory_);
  }
  std::size_t elements() const noexcept;

 private:
  void by_api(nb::handle object, std::optional<Stream> stream);
  bool by_dlpack(nb::handle object);
  bool by_cuda_array_interface(nb::handle object);
  void choose_stream(std::optional<Stream> stream);
  void require_contiguous(Type type) const;

  const char* name_;
  dl::Tensor tensor_;
  std::vector<std::int64_t> shape_, strides_;  // where the object has none that stay
  nb::object keep_;
  MemoryPlace memory_;
  Stream stream_ = Stream::host();
  const dl::ExchangeApi* api_ = nullptr;
  bool read_only_ = false;
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
  friend class Allocator;
  void swap(NewArray& other) noexcept {
    std::swap(api_, other.api_), std::swap(managed_, other.managed_), std::swap(data_, other.data_);
    std::swap(object_, other.object_);
  }
  const dl::ExchangeApi* api_ = nullptr;
  dl::ManagedVersioned* managed_ = nullptr;
  nb::object object_;
  void* data_ = nullptr;
};

/// Makes arrays where one array lies.
class Allocator {
 public:
  /// Through the array's exchange API, or by `empty(extents, dtype's name, device, stream)`, which gives an array that
  /// is read back.
  Allocator(const ForeignArray& like, nb::object empty) : like_(like), empty_(std::move(empty)) {}
  /// Signed integers where `as_signed`, of the same width.
  NewArray make(Type type, const std::vector<std::int64_t>& extents, bool as_signed = false) const;

 private:
  const ForeignArray& like_;
  nb::object empty_;
};

/// The extents of an array whose dimensions lie in memory as the letters say.
std::vector<std::int64_t> extents_of(const Shape& shape, const std::string& letters, const Order& order);
/// How dimensions in memory's order are put into the asked order; none where they are.
nb::object order_of(const std::string& in_memory, const std::string& asked);

/// The signed integer type of the same width; floats stay.
Type signed_type(Type type) noexcept;

}  // namespace areal::python
