// Which row kernel serves which types, and the streaming store of finished rows.
#include "cpu/sat/rows.hpp"
#include "cpu/sat/rows_groups.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/sat/rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void stream(void* to, const void* from, std::int64_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  auto* target = static_cast<std::uint8_t*>(to);
  const auto* source = static_cast<const std::uint8_t*>(from);
  const auto misfit =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(target) % static_cast<std::uintptr_t>(step));
  const std::int64_t head = std::min(bytes, misfit ? step - misfit : 0);
  std::memcpy(target, source, static_cast<std::size_t>(head));
  std::int64_t i = head;
  for (; i + step <= bytes; i += step) hn::Stream(hn::LoadU(d, source + i), d, target + i);
  std::memcpy(target + i, source + i, static_cast<std::size_t>(bytes - i));
}

StreamRow stream_of_target() { return &stream; }

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {

HWY_EXPORT(stream_of_target);
StreamRow stream_row() { return HWY_DYNAMIC_DISPATCH(stream_of_target)(); }
void fence_streams() { hwy::FlushStream(); }

ScanRows scan_rows(Type input, Type table, bool squares) {
  switch (table) {
    case Type::u32:
    case Type::s32:
      // Same-size signed pixels add like unsigned ones.
      return scan_rows_of_32u(input == Type::s32 ? Type::u32 : input, squares);
    case Type::u64:
    case Type::s64:
      return scan_rows_of_64u(input, squares);
    case Type::f32:
      return scan_rows_of_32f(input, squares);
    case Type::f64:
      return scan_rows_of_64f(input, squares);
    default:
      return nullptr;
  }
}

}  // namespace areal::cpu
#endif
