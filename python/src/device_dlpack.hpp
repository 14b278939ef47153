#pragma once
// DLPack 1.3's structs, as its ABI has them, and the table of functions by which a framework hands over arrays,
// memory and its current stream without a call of Python. Source: github.com/dmlc/dlpack, dlpack.h.

#include <cstdint>

namespace areal::python::dl {

struct Version {
  std::uint32_t major = 1, minor = 3;
};
enum DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };
struct Device {
  std::int32_t type = cpu, id = 0;
};
enum TypeCode : std::uint8_t { code_int = 0, code_uint = 1, code_float = 2, code_bfloat = 4, code_bool = 6 };
struct DataType {
  std::uint8_t code = code_uint, bits = 8;
  std::uint16_t lanes = 1;
};
struct Tensor {
  void* data = nullptr;
  Device device;
  std::int32_t ndim = 0;
  DataType dtype;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;  // in elements; null before 1.2 where contiguous
  std::uint64_t byte_offset = 0;
};
struct Managed {  // before 1.0
  Tensor tensor;
  void* context = nullptr;
  void (*deleter)(Managed*) = nullptr;
};
struct ManagedVersioned {
  Version version;
  void* context = nullptr;
  void (*deleter)(ManagedVersioned*) = nullptr;
  std::uint64_t flags = 0;
  Tensor tensor;
};
inline constexpr std::uint64_t flag_read_only = 1;

struct ExchangeApi {
  Version version;
  const ExchangeApi* previous = nullptr;
  int (*allocate)(Tensor* prototype, ManagedVersioned** out, void* error,
                  void (*set_error)(void* error, const char* kind, const char* message)) = nullptr;
  int (*from_object)(void* object, ManagedVersioned** out) = nullptr;
  int (*to_object)(ManagedVersioned* tensor, void** object) = nullptr;
  int (*borrow)(void* object, Tensor* out) = nullptr;  // may be null
  int (*current_stream)(std::int32_t device_type, std::int32_t device_id, void** stream) = nullptr;
};

}  // namespace areal::python::dl
