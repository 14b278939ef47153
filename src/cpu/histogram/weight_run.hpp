#pragma once
// Weights of a run of pixels, in the type of the sums.

#include <areal/view.hpp>
#include <cstring>

namespace areal::cpu {

template <class To, class From>
void convert_run(const char* p, std::int64_t pitch, int count, To* out) {
  for (int i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, p + i * pitch, sizeof value);
    out[i] = static_cast<To>(value);
  }
}

/// out[i] = the weight (8u, 16u, 32f or 64f) of pixel (x + i, y) of image n.
template <class To>
void weights_of_run(const ConstView& weights, std::int64_t n, std::int64_t y, std::int64_t x, int count, To* out) {
  const std::int64_t pitch = weights.column_pitch();
  const char* p = static_cast<const char*>(weights.row(y, 0, n)) + x * pitch;
  switch (weights.type) {
    case Type::u8:
      return convert_run<To, std::uint8_t>(p, pitch, count, out);
    case Type::u16:
      return convert_run<To, std::uint16_t>(p, pitch, count, out);
    case Type::f32:
      return convert_run<To, float>(p, pitch, count, out);
    default:
      return convert_run<To, double>(p, pitch, count, out);
  }
}

}  // namespace areal::cpu
