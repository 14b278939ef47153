#include "cpu/query/corner_sums.hpp"
#include "cpu/query/modular.hpp"

namespace areal::cpu {

namespace {

// The sum as the type of its kind: uint64_t, int64_t or double.
template <class T>
auto sum_of(typename Modular<T>::Difference difference) noexcept {
  const auto wide = Modular<T>::widen(difference);
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return static_cast<std::int64_t>(wide);
  else
    return wide;
}

template <class T, class Out>
void sums(const Corners* corners, std::int64_t n, Out* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    const Corners& c = corners[i];
    // The rows' differences first: for floats these are smaller than the table's elements.
    const auto bottom = element<T>(c.bottom_right) - element<T>(c.bottom_left);
    const auto top = element<T>(c.top_right) - element<T>(c.top_left);
    out[i] = static_cast<Out>(sum_of<T>(bottom - top));
  }
}

template <class T>
double signed_sum_of(const SignedCorner* corners, std::int64_t n) {
  typename Modular<T>::Difference total = 0;
  for (std::int64_t i = 0; i < n; ++i)
    total = corners[i].minus ? total - element<T>(corners[i].address) : total + element<T>(corners[i].address);
  return static_cast<double>(sum_of<T>(total));
}

}  // namespace

template <class Out>
CornerSums<Out> corner_sums(Type table) {
  constexpr bool any = std::is_same_v<Out, double>, is_signed = std::is_same_v<Out, std::int64_t>;
  if constexpr (any || !is_signed) {
    if (table == Type::u32) return sums<std::uint32_t, Out>;
    if (table == Type::u64) return sums<std::uint64_t, Out>;
  }
  if constexpr (any || is_signed) {
    if (table == Type::s32) return sums<std::int32_t, Out>;
    if (table == Type::s64) return sums<std::int64_t, Out>;
  }
  if constexpr (any) {
    if (table == Type::f32) return sums<float, Out>;
    if (table == Type::f64) return sums<double, Out>;
  }
  return nullptr;
}
template CornerSums<std::uint64_t> corner_sums<std::uint64_t>(Type);
template CornerSums<std::int64_t> corner_sums<std::int64_t>(Type);
template CornerSums<double> corner_sums<double>(Type);

double signed_sum(Type table, const SignedCorner* corners, std::int64_t n) {
  switch (table) {
    case Type::u32:
      return signed_sum_of<std::uint32_t>(corners, n);
    case Type::s32:
      return signed_sum_of<std::int32_t>(corners, n);
    case Type::u64:
      return signed_sum_of<std::uint64_t>(corners, n);
    case Type::s64:
      return signed_sum_of<std::int64_t>(corners, n);
    case Type::f32:
      return signed_sum_of<float>(corners, n);
    default:
      return signed_sum_of<double>(corners, n);
  }
}

}  // namespace areal::cpu
