#include "cpu/query/bin_sums.hpp"
#include <utility>
#include "cpu/query/modular.hpp"

namespace areal::cpu {

namespace {

template <class T, class Out>
void sums(const Corners& corners, std::int64_t plane_pitch, std::int64_t bins, Out* out) {
  // A corner left of or above the image is the same zero for every bin.
  const auto pitch = [&](const char* corner) { return corner == zeros ? 0 : plane_pitch; };
  const std::int64_t top_left = pitch(corners.top_left), top_right = pitch(corners.top_right),
                     bottom_left = pitch(corners.bottom_left), bottom_right = pitch(corners.bottom_right);
  for (std::int64_t b = 0; b < bins; ++b) {
    const auto bottom =
        element<T>(corners.bottom_right + b * bottom_right) - element<T>(corners.bottom_left + b * bottom_left);
    const auto top = element<T>(corners.top_right + b * top_right) - element<T>(corners.top_left + b * top_left);
    using Difference = typename Modular<T>::Difference;  // 16 bits were promoted
    out[b] = static_cast<Out>(Modular<T>::widen(static_cast<Difference>(bottom - top)));
  }
}

}  // namespace

template <class Out>
BinSums<Out> bin_sums(Type tensor) {
  if (tensor == Type::u16) return sums<std::uint16_t, Out>;
  if (tensor == Type::u32) return sums<std::uint32_t, Out>;
  if (tensor == Type::u64) return sums<std::uint64_t, Out>;
  if constexpr (std::is_same_v<Out, double>) {
    if (tensor == Type::f32) return sums<float, Out>;
    if (tensor == Type::f64) return sums<double, Out>;
  }
  return nullptr;
}
template BinSums<std::uint64_t> bin_sums<std::uint64_t>(Type);
template BinSums<double> bin_sums<double>(Type);

}  // namespace areal::cpu
