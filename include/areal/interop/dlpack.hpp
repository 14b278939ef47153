#pragma once
/// \file dlpack.hpp Views of DLPack tensors (PyTorch, CuPy, JAX, ..), and a DLPack tensor of a table, without copies.
/// Header-only; needs <dlpack/dlpack.h>, found or included before this header.

#include <areal/error.hpp>
#include <areal/sat_table.hpp>
#include <areal/view.hpp>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#if !defined(DLPACK_VERSION) && !defined(DLPACK_MAJOR_VERSION) && defined(__has_include)
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif
#endif
#if !defined(DLPACK_VERSION) && !defined(DLPACK_MAJOR_VERSION)
#error "areal/interop/dlpack.hpp needs DLPack's header: install it as <dlpack/dlpack.h>, or include yours before"
#endif

namespace areal::interop {

namespace detail {

inline Type type_of(const DLDataType& type) {
  if (type.lanes == 1) {
    if (type.code == kDLUInt && type.bits == 8) return Type::u8;
    if (type.code == kDLUInt && type.bits == 16) return Type::u16;
    if (type.code == kDLUInt && type.bits == 32) return Type::u32;
    if (type.code == kDLUInt && type.bits == 64) return Type::u64;
    if (type.code == kDLInt && type.bits == 8) return Type::s8;
    if (type.code == kDLInt && type.bits == 16) return Type::s16;
    if (type.code == kDLInt && type.bits == 32) return Type::s32;
    if (type.code == kDLInt && type.bits == 64) return Type::s64;
    if (type.code == kDLFloat && type.bits == 16) return Type::f16;
    if (type.code == kDLFloat && type.bits == 32) return Type::f32;
    if (type.code == kDLFloat && type.bits == 64) return Type::f64;
  }
  throw InvalidArgument("tensor: elements of code " + std::to_string(type.code) + ", " + std::to_string(type.bits) +
                        " bits, " + std::to_string(type.lanes) + " lanes are none that areal has");
}

inline DLDataType type_of(Type type) {
  const std::uint8_t code = is_float(type) ? kDLFloat : is_signed_integer(type) ? kDLInt : kDLUInt;
  return {code, static_cast<std::uint8_t>(8 * size_of(type)), 1};
}

inline MemoryPlace memory_of(const DLDevice& device) {
  switch (device.device_type) {
    case kDLCPU:
    case kDLCUDAHost:
      return {};
    case kDLCUDA:
    case kDLCUDAManaged:
      return {MemoryPlace::cuda, device.device_id};
    default:
      throw InvalidArgument("tensor: device type " + std::to_string(static_cast<int>(device.device_type)) +
                            ": areal reads the memory of the CPU and of CUDA");
  }
}

/// A table and the tensor that describes it.
struct ManagedTable {
  SatTable table;
  std::array<std::int64_t, 4> shape{}, strides{};
  DLManagedTensor tensor{};
};

}  // namespace detail

/// The image of a tensor. Its axes are height and width; channels, height, width; or batch, channels, height, width, as
/// in PyTorch. Channels may be interleaved (`channels_last`) or planar; rows, planes and images may have any pitch.
/// Valid as long as the tensor's memory; on CUDA, work that fills it must be complete or be on the stream that areal
/// uses. O(1).
/// Throws InvalidArgument for other numbers of axes, for strides that no view has, for elements and devices that areal
/// lacks.
inline View view_of(const DLTensor& tensor) {
  const int axes = tensor.ndim;
  if (axes < 2 || axes > 4)
    throw InvalidArgument("tensor: " + std::to_string(axes) + " axes, it may have 2 (H W), 3 (C H W) or 4 (N C H W)");
  std::array<std::int64_t, 4> extent{1, 1, 1, 1}, stride{};  // n c h w
  std::int64_t contiguous = 1;
  for (int axis = axes - 1; axis >= 0; --axis) {
    const auto at = static_cast<std::size_t>(4 - axes + axis);
    extent[at] = tensor.shape[axis];
    stride[at] = tensor.strides != nullptr ? tensor.strides[axis] : contiguous;
    contiguous *= extent[at];
  }
  const Type type = detail::type_of(tensor.dtype);
  const auto size = static_cast<std::int64_t>(size_of(type));
  const auto [batch, channels, height, width] = extent;
  const bool interleaved = channels > 1 && stride[1] == 1;
  if (width > 1 && stride[3] != (interleaved ? channels : 1))
    throw InvalidArgument("tensor: pixels of a row lie " + std::to_string(stride[3]) +
                          " elements apart; they may lie side by side, alone or with their channels");
  View view(tensor.data == nullptr ? nullptr : static_cast<char*>(tensor.data) + tensor.byte_offset, type,
            Shape{width, height, channels, batch, interleaved || channels == 1 ? Layout::interleaved : Layout::planar});
  if (height > 1) view.row_pitch = stride[2] * size;
  if (channels > 1 && !interleaved) view.plane_pitch = stride[1] * size;
  if (batch > 1) view.batch_pitch = stride[0] * size;
  return view.in(detail::memory_of(tensor.device));
}

/// The sums as a tensor that owns the table: axes H W for one channel and image, else N C H W. Give it to a consumer
/// (`torch.from_dlpack`, ..), or call its deleter. Work on the table must be complete, or be on the stream that the
/// consumer waits for. O(1). Throws InvalidArgument for a moved-from table.
inline DLManagedTensor* to_dlpack(SatTable&& table) {
  auto owner = std::make_unique<detail::ManagedTable>();
  owner->table = std::move(table);
  const View sum = owner->table.sum();
  const Shape& s = sum.shape;
  if (sum.data == nullptr && owner->table.image_shape() == Shape{})
    throw InvalidArgument("table: it has no sums; was it moved from?");
  const auto size = static_cast<std::int64_t>(size_of(sum.type));
  const std::array<std::int64_t, 4> shape{s.batch, s.channels, s.height, s.width};
  const std::array<std::int64_t, 4> strides{sum.batch_pitch / size, sum.plane_pitch / size, sum.row_pitch / size,
                                            sum.column_pitch() / size};
  const std::size_t first = s.batch == 1 && s.channels == 1 ? 2 : 0;
  for (std::size_t i = first; i < 4; ++i) owner->shape[i - first] = shape[i], owner->strides[i - first] = strides[i];
  DLManagedTensor& managed = owner->tensor;
  managed.dl_tensor.data = sum.data;
  managed.dl_tensor.device = {sum.memory.is_host() ? kDLCPU : kDLCUDA, sum.memory.is_host() ? 0 : sum.memory.device};
  managed.dl_tensor.ndim = static_cast<int>(4 - first);
  managed.dl_tensor.dtype = detail::type_of(sum.type);
  managed.dl_tensor.shape = owner->shape.data();
  managed.dl_tensor.strides = owner->strides.data();
  managed.dl_tensor.byte_offset = 0;
  managed.manager_ctx = owner.get();
  managed.deleter = [](DLManagedTensor* self) { delete static_cast<detail::ManagedTable*>(self->manager_ctx); };
  return &owner.release()->tensor;
}

}  // namespace areal::interop
