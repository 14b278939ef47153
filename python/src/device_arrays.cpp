#include "device_arrays.hpp"

#include "device_buffers.hpp"
#include "process.hpp"

#include <array>
#include <cstdlib>
#include <map>
#include <mutex>

namespace areal::python {
namespace {

const dl::ExchangeApi* api_of(nb::handle object) {
  PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()));
  static PyObject* const name = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
  PyObject* const capsule = PyObject_GetAttr(type, name);
  if (capsule == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  const auto* api = static_cast<const dl::ExchangeApi*>(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
  Py_DECREF(capsule);  // the struct lives as long as the process
  if (api == nullptr) PyErr_Clear();
  while (api != nullptr && api->version.major != 1) api = api->previous;
  return api != nullptr && api->borrow != nullptr ? api : nullptr;
}

MemoryPlace place_of(const dl::Device& device, const char* name) {
  if (device.type == dl::cpu || device.type == dl::cuda_host) return {};
  if (device.type == dl::cuda || device.type == dl::cuda_managed) return {MemoryPlace::cuda, device.id};
  throw InvalidArgument(std::string(name) + ": it lies on a device of DLPack's type " + std::to_string(device.type) +
                        "; areal takes arrays of the host and of CUDA");
}

/// A framework's exception, its first line, as InvalidArgument.
[[noreturn]] void refuse(const char* name) {
  try {
    nb::raise_python_error();
  } catch (const nb::python_error& e) {
    const std::string words = nb::cast<std::string>(nb::str(e.value()));
    throw InvalidArgument(std::string(name) + ": " + words.substr(0, words.find('\n')));
  }
}

/// A stream of areal's own for arrays of frameworks that name none.
Stream own_stream(int device) {
  static std::mutex mutex;
  static auto& streams = *new std::map<int, OwnedStream>;  // outlives the driver, which may be gone at exit
  const std::lock_guard lock(mutex);
  auto at = streams.find(device);
  if (at == streams.end())
    at = streams.emplace(device, OwnedStream({.backend = Backend::cuda, .device = device})).first;
  return at->second.get();
}

dl::DataType dtype_of_typestr(const std::string& typestr, const char* name) {
  const auto refuse = [&]() -> dl::DataType {
    throw InvalidArgument(std::string(name) + ": elements of " + typestr + " are none that areal has");
  };
  if (typestr.size() < 3 || typestr[0] == '>') return refuse();
  const int bytes = std::atoi(typestr.c_str() + 2);
  dl::DataType dtype;
  switch (typestr[1]) {
    case 'b':
      dtype.code = dl::code_bool;
      break;
    case 'i':
      dtype.code = dl::code_int;
      break;
    case 'u':
      dtype.code = dl::code_uint;
      break;
    case 'f':
      dtype.code = dl::code_float;
      break;
    default:
      return refuse();
  }
  dtype.bits = static_cast<std::uint8_t>(8 * bytes);
  return dtype;
}

}  // namespace

bool has_exchange_api(nb::handle object) { return api_of(object) != nullptr; }

Stream stream_of(std::uintptr_t number) {
  if (number <= 1) return Stream::legacy_default();
  if (number == 2) return Stream::per_thread_default();
  return Stream::cuda(reinterpret_cast<void*>(number));
}

std::optional<Stream> stream_given(nb::handle number) {
  if (number.is_none()) return std::nullopt;
  return stream_of(nb::cast<std::uintptr_t>(number));
}

std::uintptr_t number_of(Stream stream) { return reinterpret_cast<std::uintptr_t>(stream.handle()); }

Type signed_type(Type type) noexcept {
  switch (type) {
    case Type::u8:
      return Type::s8;
    case Type::u16:
      return Type::s16;
    case Type::u32:
      return Type::s32;
    case Type::u64:
      return Type::s64;
    default:
      return type;
  }
}

ForeignArray::ForeignArray(nb::handle object, std::optional<Stream> stream, const char* name) : name_(name) {
  api_ = api_of(object);
  if (api_ != nullptr) {
    by_api(object, stream);
    return;
  }
  // The device is asked for before the array, as the array is asked for with the stream.
  if (nb::hasattr(object, "__dlpack__") && nb::hasattr(object, "__dlpack_device__")) {
    const auto device = nb::cast<std::pair<int, int>>(object.attr("__dlpack_device__")());
    memory_ = place_of({device.first, device.second}, name);
    choose_stream(stream);
    if (by_dlpack(object)) return;
  }
  if (nb::hasattr(object, "__cuda_array_interface__")) {
    if (stream) stream_ = *stream;
    if (by_cuda_array_interface(object)) return;
  }
  throw InvalidArgument(std::string(name) +
                        ": no array; it has none of __dlpack_c_exchange_api__, __dlpack__, __cuda_array_interface__");
}

void ForeignArray::choose_stream(std::optional<Stream> stream) {
  if (memory_.is_host()) return;
  require_usable(Backend::cuda);
  stream_ = stream ? *stream : own_stream(memory_.device);
}

void ForeignArray::by_api(nb::handle object, std::optional<Stream> stream) {
  if (api_->borrow(object.ptr(), &tensor_) != 0) refuse(name_);
  memory_ = place_of(tensor_.device, name_);
  if (memory_.is_host()) return;
  require_usable(Backend::cuda);
  if (stream) {
    stream_ = *stream;
    return;
  }
  void* current = nullptr;
  if (api_->current_stream(tensor_.device.type, tensor_.device.id, &current) != 0) nb::raise_python_error();
  stream_ = stream_of(reinterpret_cast<std::uintptr_t>(current));
}

bool ForeignArray::by_dlpack(nb::handle object) {
  nb::object stream = nb::none();
  if (!memory_.is_host()) stream = nb::int_(number_of(stream_));
  const nb::object function = object.attr("__dlpack__");
  nb::object capsule;
  try {
    capsule = function(nb::arg("stream") = stream, nb::arg("max_version") = nb::make_tuple(1, 3));
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) throw;
    capsule = function(nb::arg("stream") = stream);  // before DLPack 1.0
  }
  if (void* const made = PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned")) {
    const auto* managed = static_cast<const dl::ManagedVersioned*>(made);
    if (managed->version.major != 1) return false;
    tensor_ = managed->tensor, read_only_ = (managed->flags & dl::flag_read_only) != 0;
  } else {
    PyErr_Clear();
    void* const old = PyCapsule_GetPointer(capsule.ptr(), "dltensor");
    if (old == nullptr) {
      PyErr_Clear();
      return false;
    }
    tensor_ = static_cast<const dl::Managed*>(old)->tensor;
  }
  memory_ = place_of(tensor_.device, name_);
  keep_ = std::move(capsule);  // not renamed: its destructor gives the array back
  return true;
}

bool ForeignArray::by_cuda_array_interface(nb::handle object) {
  const auto interface = nb::cast<nb::dict>(object.attr("__cuda_array_interface__"));
  if (interface.contains("mask") && !interface["mask"].is_none())
    throw InvalidArgument(std::string(name_) + ": masked arrays are not read; pass the mask as an argument");
  tensor_.dtype = dtype_of_typestr(nb::cast<std::string>(interface["typestr"]), name_);
  const std::int64_t size = tensor_.dtype.bits / 8;
  for (const nb::handle extent : nb::cast<nb::tuple>(interface["shape"]))
    shape_.push_back(nb::cast<std::int64_t>(extent));
  if (interface.contains("strides") && !interface["strides"].is_none())
    for (const nb::handle stride : nb::cast<nb::tuple>(interface["strides"])) {
      const auto bytes = nb::cast<std::int64_t>(stride);
      if (bytes % size != 0)
        throw InvalidArgument(std::string(name_) + ": a stride of " + std::to_string(bytes) +
                              " bytes is no multiple of " + std::to_string(size));
      strides_.push_back(bytes / size);
    }
  const auto data = nb::cast<nb::tuple>(interface["data"]);
  tensor_.data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(data[0]));
  read_only_ = nb::cast<bool>(data[1]);
  tensor_.ndim = static_cast<std::int32_t>(shape_.size());
  tensor_.shape = shape_.data(), tensor_.strides = strides_.empty() ? nullptr : strides_.data();
  int device = 0;
  if (nb::hasattr(object, "device"))
    if (const nb::object of = object.attr("device"); nb::hasattr(of, "id")) device = nb::cast<int>(of.attr("id"));
  tensor_.device = {dl::cuda, device};
  memory_ = {MemoryPlace::cuda, device};
  const bool given = !stream_.is_host();
  choose_stream(given ? std::optional(stream_) : std::nullopt);
  if (!interface.contains("stream") || interface["stream"].is_none()) return true;  // its producer has synchronised
  const Stream producer = stream_of(nb::cast<std::uintptr_t>(interface["stream"]));
  if (!(producer == stream_)) {
    Event produced({.backend = Backend::cuda, .device = device});
    produced.record(producer);
    produced.hold_back(stream_);
  }
  return true;
}

Type ForeignArray::type() const {
  const dl::DataType& dtype = tensor_.dtype;
  constexpr Type integers[2][4] = {{Type::s8, Type::s16, Type::s32, Type::s64},
                                   {Type::u8, Type::u16, Type::u32, Type::u64}};
  const int width = dtype.bits == 8 ? 0 : dtype.bits == 16 ? 1 : dtype.bits == 32 ? 2 : dtype.bits == 64 ? 3 : -1;
  if (dtype.lanes == 1 && width >= 0) {
    if (dtype.code == dl::code_bool && width == 0) return Type::u8;
    if (dtype.code == dl::code_int) return integers[0][width];
    if (dtype.code == dl::code_uint) return integers[1][width];
    if (dtype.code == dl::code_float && width > 0) return width == 1 ? Type::f16 : width == 2 ? Type::f32 : Type::f64;
  }
  refuse_dtype(name_);
}

ArrayRef ForeignArray::ref() const {
  ArrayRef made;
  made.data = data(), made.type = type(), made.memory = memory_;
  made.dimensions = static_cast<std::size_t>(tensor_.ndim);
  std::int64_t contiguous = 1;
  for (std::int32_t i = tensor_.ndim; i-- > 0;) {
    if (i < 4) {
      made.extents[static_cast<std::size_t>(i)] = tensor_.shape[i];
      made.strides[static_cast<std::size_t>(i)] = tensor_.strides != nullptr ? tensor_.strides[i] : contiguous;
    }
    contiguous *= tensor_.shape[i];
  }
  return made;
}

std::size_t ForeignArray::elements() const noexcept {
  std::size_t all = 1;
  for (std::int32_t i = 0; i < tensor_.ndim; ++i) all *= static_cast<std::size_t>(tensor_.shape[i]);
  return all;
}

void ForeignArray::require_contiguous(Type type) const {
  if (this->type() != type)
    throw InvalidArgument(std::string(name_) + ": elements of " + numpy_name(this->type()) + ", they must be " +
                          numpy_name(type));
  if (tensor_.strides == nullptr || elements() == 0) return;
  std::int64_t stride = 1;
  for (std::int32_t i = tensor_.ndim - 1; i >= 0; --i) {
    if (tensor_.shape[i] > 1 && tensor_.strides[i] != stride)
      throw InvalidArgument(std::string(name_) + ": its elements must lie side by side");
    stride *= tensor_.shape[i];
  }
}

NewArray::~NewArray() {
  if (managed_ != nullptr && managed_->deleter != nullptr) managed_->deleter(managed_);
}

nb::object NewArray::take() {
  if (managed_ == nullptr) {
    if (object_.is_valid() && nb::isinstance<DeviceBuffer>(object_)) nb::cast<DeviceBuffer&>(object_).record();
    return std::move(object_);
  }
  void* made = nullptr;
  if (api_->to_object(std::exchange(managed_, nullptr), &made) != 0) nb::raise_python_error();
  return nb::steal(static_cast<PyObject*>(made));
}

NewArray Allocator::make(Type type, const std::vector<std::int64_t>& extents, bool as_signed) const {
  if (as_signed) type = signed_type(type);
  NewArray made;
  if (like_.api() == nullptr) {
    nb::list shape;
    for (const std::int64_t extent : extents) shape.append(extent);
    made.object_ = empty_(nb::tuple(shape), numpy_name(type), like_.memory().device, number_of(like_.work_stream()));
    made.data_ = nb::isinstance<DeviceBuffer>(made.object_)
                     ? nb::cast<DeviceBuffer&>(made.object_).data()
                     : ForeignArray(made.object_, like_.work_stream(), "out").data();
    return made;
  }
  std::vector<std::int64_t> shape = extents;
  dl::Tensor prototype;
  prototype.device = like_.tensor().device;
  prototype.ndim = static_cast<std::int32_t>(shape.size());
  prototype.shape = shape.data();
  const nb::dlpack::dtype dtype = dtype_of(type);
  prototype.dtype = {dtype.code, dtype.bits, dtype.lanes};
  std::string why;
  const auto set_error = [](void* error, const char*, const char* message) {
    *static_cast<std::string*>(error) = message;
  };
  made.api_ = like_.api();
  if (made.api_->allocate(&prototype, &made.managed_, &why, set_error) != 0) {
    made.managed_ = nullptr;
    std::uint64_t bytes = size_of(type);
    for (const std::int64_t extent : extents) bytes *= static_cast<std::uint64_t>(extent);
    throw OutOfMemory("memory: " + std::to_string(bytes) + " bytes were refused by the framework: " + why, bytes);
  }
  made.data_ = static_cast<char*>(made.managed_->tensor.data) + made.managed_->tensor.byte_offset;
  return made;
}

std::vector<std::int64_t> extents_of(const Shape& shape, const std::string& letters, const Order& order) {
  std::vector<std::int64_t> extents;
  for (const char letter : letters) {
    if (letter == 'C')
      extents.push_back(order.folded ? order.folded : shape.channels);
    else if (letter == 'H')
      extents.push_back(order.transposed ? shape.width : shape.height);
    else if (letter == 'W')
      extents.push_back(order.transposed ? shape.height : shape.width);
    else
      extents.push_back(order.folded ? shape.batch / order.folded : shape.batch);
  }
  return extents;
}

nb::object order_of(const std::string& in_memory, const std::string& asked) {
  if (in_memory == asked) return nb::none();
  nb::list order;
  for (const char letter : asked) order.append(static_cast<int>(in_memory.find(letter)));
  return nb::tuple(order);
}

}  // namespace areal::python
