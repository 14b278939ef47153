#include "cpu/filter/marks.hpp"
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/filter/marks.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace {

void of_mask(const char* HWY_RESTRICT mask, std::int64_t n, char* HWY_RESTRICT marks) {
  for (std::int64_t i = 0; i < n; ++i) marks[i] = mask[i] != 0 ? 1 : 0;
}

void without_nan(const double* HWY_RESTRICT pixels, std::int64_t n, char* HWY_RESTRICT marks) {
  for (std::int64_t i = 0; i < n; ++i) marks[i] = pixels[i] == pixels[i] ? marks[i] : 0;
}

// As integers, so that NaN keep their bits, at any address.
template <class T>
void keep_of(const char* from, const char* HWY_RESTRICT marks, std::int64_t n, const void* value, char* to) {
  T other;
  std::memcpy(&other, value, sizeof other);
  for (std::int64_t i = 0; i < n; ++i) {
    T element;
    std::memcpy(&element, from + i * static_cast<std::int64_t>(sizeof element), sizeof element);
    element = marks[i] != 0 ? element : other;
    std::memcpy(to + i * static_cast<std::int64_t>(sizeof element), &element, sizeof element);
  }
}

void keep(const void* from, const char* marks, std::int64_t n, std::size_t size, const void* other, void* to) {
  const auto* const in = static_cast<const char*>(from);
  auto* const out = static_cast<char*>(to);
  switch (size) {
    case 1:
      return keep_of<std::uint8_t>(in, marks, n, other, out);
    case 2:
      return keep_of<std::uint16_t>(in, marks, n, other, out);
    case 4:
      return keep_of<std::uint32_t>(in, marks, n, other, out);
    default:
      return keep_of<std::uint64_t>(in, marks, n, other, out);
  }
}

inline constexpr MarkKernels mark_set = {of_mask, without_nan, keep};

}  // namespace
const MarkKernels* mark_kernels_of() { return &mark_set; }
}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
HWY_EXPORT(mark_kernels_of);
const MarkKernels& mark_kernels() { return *HWY_DYNAMIC_DISPATCH(mark_kernels_of)(); }
}  // namespace areal::cpu
#endif
