#include "device_buffers.hpp"

#include <algorithm>
#include <areal/array.hpp>
#include <areal/error.hpp>
#include <utility>
#include "bindings.hpp"
#include "python_array.hpp"

namespace areal::python {

struct DeviceBuffer::Memory {
  Memory(std::int64_t bytes, int device, Stream stream_)
      : array(Shape{bytes, 1}, Type::u8, device),
        filled({.backend = Backend::cuda, .device = device}),
        stream(stream_) {}
  areal::DeviceArray array;
  Event filled;
  Stream stream;
  bool is_recorded = false;
};

DeviceBuffer::DeviceBuffer(std::vector<std::int64_t> extents, Type type, int device, Stream stream)
    : extents_(std::move(extents)), strides_(extents_.size()), type_(type), device_(device) {
  auto bytes = static_cast<std::int64_t>(size_of(type));
  std::int64_t stride = 1;
  for (std::size_t i = extents_.size(); i-- > 0;) {
    strides_[i] = stride;
    stride *= std::max<std::int64_t>(extents_[i], 1);
    if (extents_[i] < 0 || __builtin_mul_overflow(bytes, extents_[i], &bytes))
      throw InvalidArgument("shape: an extent of " + std::to_string(extents_[i]));
  }
  memory_ = std::make_shared<Memory>(bytes, device, stream);
}

void DeviceBuffer::record() {
  memory_->filled.record(memory_->stream);
  memory_->is_recorded = true;
}

void* DeviceBuffer::data() const noexcept {
  auto* const begin = static_cast<char*>(memory_->array.view().data);
  return begin == nullptr ? nullptr : begin + offset_;
}

void DeviceBuffer::hold_back(Stream stream) const {
  if (memory_->is_recorded && !(stream == memory_->stream)) memory_->filled.hold_back(stream);
}

namespace {

/// What a capsule owns.
template <class Managed>
struct Export {
  Managed managed;
  std::vector<std::int64_t> extents, strides;
  nb::object keep;
};

template <class Managed>
nb::object capsule_of(const DeviceBuffer& buffer, nb::handle self, const char* name) {
  auto made = std::make_unique<Export<Managed>>();
  made->extents = buffer.extents(), made->strides = buffer.strides(), made->keep = nb::borrow(self);
  dl::Tensor& tensor = made->managed.tensor;
  tensor.data = buffer.data();
  tensor.device = {dl::cuda, buffer.device()};
  tensor.ndim = static_cast<std::int32_t>(made->extents.size());
  const nb::dlpack::dtype dtype = dtype_of(buffer.type());
  tensor.dtype = {dtype.code, dtype.bits, dtype.lanes};
  tensor.shape = made->extents.data(), tensor.strides = made->strides.data();
  made->managed.context = made.get();
  made->managed.deleter = [](Managed* managed) {
    const nb::gil_scoped_acquire acquired;
    delete static_cast<Export<Managed>*>(managed->context);
  };
  Managed* const managed = &made.release()->managed;
  PyObject* const capsule = PyCapsule_New(managed, name, [](PyObject* dropped) {
    for (const char* mine : {"dltensor", "dltensor_versioned"})  // a consumer renames what it takes
      if (PyCapsule_IsValid(dropped, mine)) {
        auto* const left = static_cast<Managed*>(PyCapsule_GetPointer(dropped, mine));
        left->deleter(left);
      }
  });
  if (capsule == nullptr) {
    managed->deleter(managed);
    nb::raise_python_error();
  }
  return nb::steal(capsule);
}

[[noreturn]] void buffer_error(const char* words) {
  PyErr_SetString(PyExc_BufferError, words);
  nb::raise_python_error();
}

}  // namespace

nb::object DeviceBuffer::dlpack(nb::handle self, nb::handle stream, nb::handle max_version, nb::handle device,
                                nb::handle copy) {
  const auto& buffer = nb::cast<const DeviceBuffer&>(self);
  if (!device.is_none() && nb::cast<std::pair<int, int>>(device) != std::pair<int, int>(dl::cuda, buffer.device()))
    buffer_error("dl_device: the array stays on its device");
  if (copy.is(Py_True)) buffer_error("copy: the array is handed over as it lies");
  const std::int64_t number = stream.is_none() ? 1 : nb::cast<std::int64_t>(stream);
  if (number == 0) throw InvalidArgument("stream 0: it is ambiguous; 1 is the legacy default stream");
  if (number != -1) buffer.hold_back(stream_of(static_cast<std::uintptr_t>(number)));
  if (!max_version.is_none() && nb::cast<int>(nb::cast<nb::tuple>(max_version)[0]) >= 1)
    return capsule_of<dl::ManagedVersioned>(buffer, self, "dltensor_versioned");
  return capsule_of<dl::Managed>(buffer, self, "dltensor");
}

nb::dict DeviceBuffer::cuda_array_interface() const {
  nb::list shape, strides;
  for (const std::int64_t extent : extents_) shape.append(extent);
  for (const std::int64_t stride : strides_) strides.append(stride * static_cast<std::int64_t>(size_of(type_)));
  const char kind = is_float(type_) ? 'f' : is_signed_integer(type_) ? 'i' : 'u';
  nb::dict made;
  made["shape"] = nb::tuple(shape), made["strides"] = nb::tuple(strides);
  made["typestr"] = std::string(size_of(type_) == 1 ? "|" : "<") + kind + std::to_string(size_of(type_));
  made["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(data()), false);
  made["version"] = 3;
  made["stream"] = number_of(memory_->stream);
  return made;
}

nb::object DeviceBuffer::numpy() const {
  const ConstView bytes = std::as_const(memory_->array).view();
  Array host(bytes.shape, Type::u8);
  {
    const nb::gil_scoped_release released;
    if (memory_->is_recorded) memory_->filled.wait();
    copy_view(bytes, host.view());
  }
  auto kept = std::make_unique<Array>(std::move(host));
  char* const begin = static_cast<char*>(kept->data());
  const nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<Array*>(p); });
  static_cast<void>(kept.release());
  std::vector<std::size_t> extents(extents_.begin(), extents_.end());
  return nb::cast(
      nb::ndarray<nb::numpy>(begin + offset_, extents.size(), extents.data(), owner, strides_.data(), dtype_of(type_)));
}

DeviceBuffer DeviceBuffer::copy_of(nb::handle array, int device) {
  const std::optional<ArrayRef> from = array_ref(array, "array");
  if (!from || from->dimensions > from->extents.size()) throw InvalidArgument("array: it cannot be read");
  std::vector<std::int64_t> extents(from->extents.begin(),
                                    from->extents.begin() + static_cast<std::ptrdiff_t>(from->dimensions));
  DeviceBuffer made(std::move(extents), from->type, device, Stream::legacy_default());
  if (made.strides_ != std::vector<std::int64_t>(from->strides.begin(),
                                                 from->strides.begin() + static_cast<std::ptrdiff_t>(from->dimensions)))
    throw InvalidArgument("array: its elements must lie side by side");
  const View to = made.memory_->array.view();
  copy_view(ConstView(from->data, Type::u8, to.shape), to);
  return made;
}

DeviceBuffer DeviceBuffer::permuted(const std::vector<int>& order) const {
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool is_permutation = sorted.size() == extents_.size();
  for (std::size_t i = 0; is_permutation && i < sorted.size(); ++i) is_permutation = sorted[i] == static_cast<int>(i);
  if (!is_permutation) throw InvalidArgument("order: it must have each dimension of the array once");
  DeviceBuffer made = *this;
  for (std::size_t i = 0; i < order.size(); ++i) {
    made.extents_[i] = extents_.at(static_cast<std::size_t>(order[i]));
    made.strides_[i] = strides_.at(static_cast<std::size_t>(order[i]));
  }
  return made;
}

DeviceBuffer DeviceBuffer::at(std::int64_t index) const {
  if (extents_.empty() || index < 0 || index >= extents_[0]) throw nb::index_error("no such element");
  DeviceBuffer made = *this;
  made.offset_ += index * strides_[0] * static_cast<std::int64_t>(size_of(type_));
  made.extents_.erase(made.extents_.begin()), made.strides_.erase(made.strides_.begin());
  return made;
}

void bind_device_buffers(nb::module_& m) {
  nb::class_<DeviceBuffer>(m, "DeviceArray",
                           "An array on a CUDA device that areal owns. Read it by DLPack (cupy.from_dlpack, ..), by "
                           "__cuda_array_interface__, or copy it with numpy().")
      .def(
          "__init__",
          [](DeviceBuffer* at, std::vector<std::int64_t> shape, const std::string& dtype, int device,
             std::uintptr_t stream) {
            new (at) DeviceBuffer(std::move(shape), type_of_numpy_name(dtype, "dtype"), device, stream_of(stream));
          },
          nb::arg("shape"), nb::arg("dtype"), nb::arg("device") = 0, nb::arg("stream") = 1)
      .def("__dlpack__", &DeviceBuffer::dlpack, nb::kw_only(), nb::arg("stream").none() = nb::none(),
           nb::arg("max_version").none() = nb::none(), nb::arg("dl_device").none() = nb::none(),
           nb::arg("copy").none() = nb::none(), "A capsule; the consumer's stream waits for what fills the array.")
      .def("__dlpack_device__", [](const DeviceBuffer& b) { return std::pair<int, int>(dl::cuda, b.device()); })
      .def_prop_ro("__cuda_array_interface__", &DeviceBuffer::cuda_array_interface)
      .def("__reduce__",
           [](nb::handle self) {
             const auto& buffer = nb::cast<const DeviceBuffer&>(self);
             const nb::object host = nb::module_::import_("numpy").attr("ascontiguousarray")(buffer.numpy());
             return nb::make_tuple(nb::module_::import_("areal._frameworks").attr("on_device"),
                                   nb::make_tuple(host, buffer.device()));
           })
      .def("numpy", &DeviceBuffer::numpy, "A copy in host memory, once the array has been filled.")
      .def("permuted", &DeviceBuffer::permuted, nb::arg("order"), "The same memory, its dimensions in another order.")
      .def("__getitem__", &DeviceBuffer::at, nb::arg("index"))
      .def("__len__", [](const DeviceBuffer& b) { return b.extents().empty() ? 0 : b.extents()[0]; })
      .def_prop_ro(
          "shape",
          [](const DeviceBuffer& b) {
            nb::list shape;
            for (const std::int64_t extent : b.extents()) shape.append(extent);
            return nb::tuple(shape);
          },
          nb::sig("def shape(self) -> tuple[int, ...]"), "Its extents.")
      .def_prop_ro(
          "ndim", [](const DeviceBuffer& b) { return b.extents().size(); }, "How many dimensions.")
      .def_prop_ro(
          "nbytes",
          [](const DeviceBuffer& b) {
            std::int64_t bytes = static_cast<std::int64_t>(size_of(b.type()));
            for (const std::int64_t extent : b.extents()) bytes *= extent;
            return bytes;
          },
          "Bytes of its elements.")
      .def_prop_ro(
          "dtype", [](const DeviceBuffer& b) { return std::string(numpy_name(b.type())); },
          "NumPy's name of its elements' type.")
      .def_prop_ro(
          "device", [](const DeviceBuffer& b) { return "cuda:" + std::to_string(b.device()); },
          "Where it lies, as PyTorch names it.")
      .def("__repr__", [](const DeviceBuffer& b) {
        std::string words;
        for (const std::int64_t extent : b.extents()) words += (words.empty() ? "" : "x") + std::to_string(extent);
        return "<areal.DeviceArray " + words + " " + numpy_name(b.type()) + " on cuda:" + std::to_string(b.device()) +
               ">";
      });
  m.def("device_array_of", &DeviceBuffer::copy_of, nb::arg("array"), nb::arg("device") = 0,
        "A copy of a contiguous array of NumPy on a device, complete on return.");
}

}  // namespace areal::python
