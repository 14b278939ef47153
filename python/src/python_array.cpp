#include "python_array.hpp"

#include "device_buffers.hpp"
#include "process.hpp"

#include <areal/array.hpp>
#include <array>
#include <charconv>
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
  Py_DECREF(capsule);  // the struct itself is static
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

/// areal's own stream for arrays of frameworks without a stream.
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
  int bytes = 0;
  const char* const end = typestr.data() + typestr.size();
  const auto [parsed, error] = std::from_chars(typestr.data() + 2, end, bytes);
  if (error != std::errc() || parsed != end || bytes < 1 || bytes > 8) return refuse();
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

Type unsigned_type(Type type) noexcept {
  switch (type) {
    case Type::s8:
      return Type::u8;
    case Type::s16:
      return Type::u16;
    case Type::s32:
      return Type::u32;
    case Type::s64:
      return Type::u64;
    default:
      return type;
  }
}

PythonArray::PythonArray(nb::handle object, std::optional<Stream> stream, const char* name) : name_(name) {
  if (is_numpy_array(object)) {
    *this = of_host(object, name);
    return;
  }
  place_.api = api_of(object);
  if (place_.api != nullptr) {
    by_api(object, stream);
    return;
  }
  // Get the device first: getting the array needs its stream.
  if (nb::hasattr(object, "__dlpack__") && nb::hasattr(object, "__dlpack_device__")) {
    const auto device = nb::cast<std::pair<int, int>>(object.attr("__dlpack_device__")());
    lie_on({device.first, device.second});
    choose_stream(stream);
    if (by_dlpack(object)) return;
  }
  if (nb::hasattr(object, "__cuda_array_interface__")) {
    by_cuda_array_interface(object, stream);
    return;
  }
  throw InvalidArgument(std::string(name) +
                        ": no array; it has none of __dlpack_c_exchange_api__, __dlpack__, __cuda_array_interface__");
}

PythonArray PythonArray::of_host(nb::handle object, const char* name, bool may_write) {
  PythonArray made;
  made.name_ = name;
  if (auto ref = array_ref(object, name, may_write)) {
    made.ref_ = std::move(*ref), made.readable_ = true;
    made.read_only_ = !may_write && is_numpy_array(object) && !is_writable_numpy_array(object);
  }
  return made;
}

void PythonArray::lie_on(dl::Device device) {
  place_.device = device;
  place_.memory = place_of(device, name_);
}

void PythonArray::choose_stream(std::optional<Stream> stream) {
  if (place_.memory.is_host()) return;
  require_usable(Backend::cuda);
  place_.stream = stream ? *stream : own_stream(place_.memory.device);
}

void PythonArray::by_api(nb::handle object, std::optional<Stream> stream) {
  dl::Tensor tensor;
  if (place_.api->borrow(object.ptr(), &tensor) != 0) refuse(name_);
  lie_on(tensor.device);
  if (!place_.memory.is_host() && !stream) {
    void* current = nullptr;
    if (place_.api->current_stream(tensor.device.type, tensor.device.id, &current) != 0) nb::raise_python_error();
    stream = stream_of(reinterpret_cast<std::uintptr_t>(current));
  }
  choose_stream(stream);
  read(tensor);
}

bool PythonArray::by_dlpack(nb::handle object) {
  nb::object stream = nb::none();
  if (!place_.memory.is_host()) stream = nb::int_(number_of(place_.stream));
  const nb::object function = object.attr("__dlpack__");
  nb::object capsule;
  try {
    capsule = function(nb::arg("stream") = stream, nb::arg("max_version") = nb::make_tuple(1, 3));
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) throw;
    capsule = function(nb::arg("stream") = stream);  // before DLPack 1.0
  }
  const dl::Tensor* tensor = nullptr;
  if (void* const made = PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned")) {
    const auto* managed = static_cast<const dl::ManagedVersioned*>(made);
    if (managed->version.major != 1) return false;
    tensor = &managed->tensor, read_only_ = (managed->flags & dl::flag_read_only) != 0;
  } else {
    PyErr_Clear();
    void* const old = PyCapsule_GetPointer(capsule.ptr(), "dltensor");
    if (old == nullptr) {
      PyErr_Clear();
      return false;
    }
    tensor = &static_cast<const dl::Managed*>(old)->tensor;
  }
  lie_on(tensor->device);
  read(*tensor);
  keep(std::move(capsule));  // not renamed: its destructor releases the array
  return true;
}

void PythonArray::by_cuda_array_interface(nb::handle object, std::optional<Stream> stream) {
  const auto interface = nb::cast<nb::dict>(object.attr("__cuda_array_interface__"));
  if (interface.contains("mask") && !interface["mask"].is_none())
    throw InvalidArgument(std::string(name_) + ": masked arrays are not read; pass the mask as an argument");
  dl::Tensor tensor;
  tensor.dtype = dtype_of_typestr(nb::cast<std::string>(interface["typestr"]), name_);
  const std::int64_t size = tensor.dtype.bits / 8;
  std::vector<std::int64_t> shape, strides;
  for (const nb::handle extent : nb::cast<nb::tuple>(interface["shape"]))
    shape.push_back(nb::cast<std::int64_t>(extent));
  const bool has_strides = interface.contains("strides") && !interface["strides"].is_none();
  if (has_strides)
    for (const nb::handle stride : nb::cast<nb::tuple>(interface["strides"])) {
      const auto bytes = nb::cast<std::int64_t>(stride);
      if (bytes % size != 0)
        throw InvalidArgument(std::string(name_) + ": a stride of " + std::to_string(bytes) +
                              " bytes is no multiple of " + std::to_string(size));
      strides.push_back(bytes / size);
    }
  if (has_strides && strides.size() != shape.size())
    throw InvalidArgument(std::string(name_) + ": it has " + std::to_string(strides.size()) + " strides and " +
                          std::to_string(shape.size()) + " dimensions");
  const auto data = nb::cast<nb::tuple>(interface["data"]);
  tensor.data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(data[0]));
  read_only_ = nb::cast<bool>(data[1]);
  tensor.ndim = static_cast<std::int32_t>(shape.size());
  tensor.shape = shape.data(), tensor.strides = has_strides ? strides.data() : nullptr;
  int device = 0;
  if (nb::hasattr(object, "device"))
    if (const nb::object of = object.attr("device"); nb::hasattr(of, "id")) device = nb::cast<int>(of.attr("id"));
  lie_on({dl::cuda, device});
  choose_stream(stream);
  read(tensor);
  if (!interface.contains("stream") || interface["stream"].is_none()) return;  // its producer has synchronised
  const Stream producer = stream_of(nb::cast<std::uintptr_t>(interface["stream"]));
  if (producer == place_.stream) return;
  Event produced({.backend = Backend::cuda, .device = device});
  produced.record(producer);
  produced.hold_back(place_.stream);
}

void PythonArray::read(const dl::Tensor& tensor) {
  const auto type = type_of_dtype({tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes});
  if (!type) refuse_dtype(name_);
  std::uint64_t contiguous = 1;  // wraps for an array that is too large to exist
  for (std::int32_t i = tensor.ndim; i-- > 0;) {
    if (tensor.shape[i] < 0)
      throw InvalidArgument(std::string(name_) + ": an extent of " + std::to_string(tensor.shape[i]));
    if (i < 4) {
      ref_.extents[static_cast<std::size_t>(i)] = tensor.shape[i];
      ref_.strides[static_cast<std::size_t>(i)] =
          tensor.strides != nullptr ? tensor.strides[i] : static_cast<std::int64_t>(contiguous);
    }
    contiguous *= static_cast<std::uint64_t>(tensor.shape[i]);
  }
  ref_.data = static_cast<char*>(tensor.data) + tensor.byte_offset, ref_.type = *type, ref_.memory = place_.memory;
  ref_.dimensions = static_cast<std::size_t>(tensor.ndim);
  readable_ = true;
}

std::size_t PythonArray::elements() const noexcept {
  std::size_t all = 1;
  for (std::size_t i = 0; i < ref_.dimensions; ++i) all *= static_cast<std::size_t>(ref_.extents[i]);
  return all;
}

void PythonArray::require_contiguous(Type type) const {
  if (ref_.type != type)
    throw InvalidArgument(std::string(name_) + ": elements of " + numpy_name(ref_.type) + ", they must be " +
                          numpy_name(type));
  if (ref_.dimensions > ref_.extents.size())
    throw InvalidArgument(std::string(name_) + ": it has " + std::to_string(ref_.dimensions) + " dimensions, at most " +
                          std::to_string(ref_.extents.size()) + " are read");
  if (elements() == 0) return;
  std::int64_t stride = 1;
  for (std::size_t i = ref_.dimensions; i-- > 0;) {
    if (ref_.extents[i] > 1 && ref_.strides[i] != stride)
      throw InvalidArgument(std::string(name_) + ": its elements must lie side by side");
    stride *= ref_.extents[i];
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

Framework::Framework(nb::handle on)
    : on_(on), is_numpy_(on.is(hooks().numpy)), is_signed_(!is_numpy_ && nb::cast<bool>(on.attr("signed"))) {}

std::optional<Stream> Framework::stream() const {
  if (is_numpy_) return std::nullopt;
  const nb::object current = on_.attr("stream");
  return current.is_none() ? std::nullopt : stream_given(current());
}

nb::object Framework::copied(nb::handle array, const char* name, const char* axes, const std::string& letters) const {
  return on_.attr("copied")(array, name, axes, letters);
}

nb::object Framework::reordered(nb::object array, const std::string& from, const std::string& to) const {
  if (from == to) return array;
  nb::list order;
  for (const char letter : to) order.append(static_cast<int>(from.find(letter)));
  return on_.attr("permuted")(array, nb::tuple(order));
}

namespace {

/// From this size areal's allocation pays: it uses huge pages, but a NumPy view of it costs a microsecond.
constexpr std::uint64_t large_bytes = 1 << 16;

nb::object empty_of_numpy(Type type, const std::vector<std::int64_t>& extents, void*& data) {
  std::uint64_t bytes = size_of(type);
  bool fits = true;
  for (const std::int64_t extent : extents)
    fits = fits && !__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes);
  if (fits && bytes < large_bytes) {
    nb::object made = numpy_empty(type, extents);
    data = array_ref(made, "array").value().data;
    return made;
  }
  Shape shape{extents.back(), 1};
  for (std::size_t i = 0; i + 1 < extents.size(); ++i) {
    std::int64_t& extent = i == 0 ? shape.height : i == 1 ? shape.channels : shape.batch;
    extent = extents[i];
  }
  auto kept = std::make_unique<Array>(shape, type);
  data = kept->data();
  const nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<Array*>(p); });
  static_cast<void>(kept.release());
  const std::vector<std::size_t> sizes(extents.begin(), extents.end());
  return with_numpys_type(
      nb::cast(nb::ndarray<nb::numpy>(data, sizes.size(), sizes.data(), owner, nullptr, dtype_of(type))), type);
}

}  // namespace

NewArray Framework::empty(const Place& where, Type type, const std::vector<std::int64_t>& extents) const {
  NewArray made;
  if (is_numpy_) {
    made.object_ = empty_of_numpy(type, extents, made.data_);
    return made;
  }
  if (where.api == nullptr) {
    nb::list shape;
    for (const std::int64_t extent : extents) shape.append(extent);
    made.object_ = on_.attr("empty")(nb::tuple(shape), numpy_name(type), where.memory.device, number_of(where.stream));
    made.data_ = nb::isinstance<DeviceBuffer>(made.object_) ? nb::cast<DeviceBuffer&>(made.object_).data()
                                                            : PythonArray(made.object_, where.stream, "out").ref().data;
    return made;
  }
  std::vector<std::int64_t> shape = extents;
  dl::Tensor prototype;
  prototype.device = where.device;
  prototype.ndim = static_cast<std::int32_t>(shape.size());
  prototype.shape = shape.data();
  const nb::dlpack::dtype dtype = dtype_of(type);
  prototype.dtype = {dtype.code, dtype.bits, dtype.lanes};
  std::string why;
  const auto set_error = [](void* error, const char*, const char* message) {
    *static_cast<std::string*>(error) = message;
  };
  made.api_ = where.api;
  if (made.api_->allocate(&prototype, &made.managed_, &why, set_error) != 0) {
    made.managed_ = nullptr;
    std::uint64_t bytes = size_of(type);
    for (const std::int64_t extent : extents) bytes *= static_cast<std::uint64_t>(extent);
    throw OutOfMemory("memory: " + std::to_string(bytes) + " bytes were refused by the framework: " + why, bytes);
  }
  made.data_ = static_cast<char*>(made.managed_->tensor.data) + made.managed_->tensor.byte_offset;
  return made;
}

PythonArray CallArrays::any(nb::handle object, std::optional<Stream> stream, const char* name) const {
  if (!on_.is_numpy()) {
    PythonArray array(object, std::move(stream), name);
    if (!array.is_readable()) array = copied(object, name, "", "");
    return array;
  }
  PythonArray array = PythonArray::of_host(object, name);
  if (!array.is_readable()) array = copied(object, name, "", "");
  return array;
}

PythonArray CallArrays::first(nb::handle object, const char* name) {
  PythonArray array = any(object, on_.stream(), name);
  first_ = name, place_ = array.place();
  return array;
}

PythonArray CallArrays::read(nb::handle object, const char* name) const {
  PythonArray array = any(object, stream(), name);
  if (!(array.place().memory == place_.memory))
    throw InvalidArgument(std::string(name) + ": it must lie where the " + first_ + " does");
  return array;
}

PythonArray CallArrays::writable(nb::handle object) const {
  PythonArray array = on_.is_numpy() ? PythonArray::of_host(object, "out", true) : PythonArray(object, stream(), "out");
  if (!array.is_readable() || array.is_read_only())
    throw InvalidArgument("out: it must be a writable array, or a tuple of such");
  if (!(array.place().memory == place_.memory))
    throw InvalidArgument(std::string("out: it must lie where the ") + first_ + " does");
  return array;
}

PythonArray CallArrays::copied(nb::handle object, const char* name, const char* axes,
                               const std::string& letters) const {
  if (!copies_)
    throw InvalidArgument(std::string("copy=False: ") + name +
                          " cannot be read in place; rows need a positive pitch, and pixels may not lie apart");
  nb::object made = on_.copied(object, name, axes, letters);
  PythonArray array = on_.is_numpy() ? PythonArray::of_host(made, name) : PythonArray(made, stream(), name);
  if (!array.is_readable()) refuse_dtype(name);
  array.keep(std::move(made));
  return array;
}

Pixels CallArrays::pixels(nb::handle object, const Axes& axes, bool may_transpose, bool may_fold,
                          PythonArray& array) const {
  if (const auto pixels = pixels_of(array.ref(), axes, may_transpose, may_fold)) return *pixels;
  const Order order = c_order(array.ref().extents, axes, may_fold);
  array = copied(object, first_, axes.letters, memory_letters(axes, order));
  return {view_in(array.ref(), axes, order).value(), order};
}

ConstView CallArrays::view(nb::handle object, const char* name, const Axes& axes, const Order& order,
                           PythonArray& array) const {
  array = read(object, name);
  if (array.ref().dimensions != static_cast<std::size_t>(axes.dimensions))
    throw InvalidArgument(std::string(name) + ": an array of " + std::to_string(array.ref().dimensions) +
                          " dimensions; its axes are " + axes.letters);
  if (const auto view = view_in(array.ref(), axes, order)) return *view;
  array = copied(object, name, axes.letters, memory_letters(axes, order));
  return view_in(array.ref(), axes, order).value();
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

}  // namespace areal::python
