#pragma once
// reduce-then-scan of a piece of a larger tensor: the sums above and left of the piece.

#include <algorithm>
#include <areal/carry.hpp>
#include <cstdint>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// Addresses of the carry; null for zeros.
struct TensorCarryArgs {
  const char* above = nullptr;
  const char* left = nullptr;
  Strides above_in = {}, left_in = {};
};
template <class T>
TensorCarryArgs tensor_carry_args(const Carry& carry) {
  const auto strides_of = [](const ConstView& view) {
    Strides s = strides(view);
    s.alignment = alignment_of(view.data, s, sizeof(T), sizeof(T));
    return s;
  };
  return {static_cast<const char*>(carry.above.data), static_cast<const char*>(carry.left.data),
          strides_of(carry.above), strides_of(carry.left)};
}

/// The carry of one bin of one image. Entries are the piece's, those of its border included.
template <class M, class C>
struct TensorPlaneCarry {
  using T = typename C::T;
  using A = typename C::A;

  const M& m;
  const TensorCarryArgs& from;
  std::int64_t image, bin;

  AREAL_DEVICE A element(const char* at, const Strides& in) const {
    return static_cast<A>(load_element<M, T>(m, at, in.alignment != Alignment::bytes));
  }
  AREAL_DEVICE const char* corner_at() const {
    return from.above + image * from.above_in.batch + bin * from.above_in.channel;
  }
  AREAL_DEVICE const char* above_at(std::int64_t x) const {
    return corner_at() + (1 + x) * static_cast<int>(sizeof(T));
  }
  AREAL_DEVICE A corner() const { return element(corner_at(), from.above_in); }
  AREAL_DEVICE A above(std::int64_t x) const { return element(above_at(x), from.above_in); }
  AREAL_DEVICE const char* left_at(std::int64_t y) const {
    const Strides& in = from.left_in;
    return from.left + image * in.batch + bin * in.channel + y * in.row;
  }
  AREAL_DEVICE A left(std::int64_t y) const { return element(left_at(y), from.left_in); }
  /// An entry of a border, which has no sums.
  AREAL_DEVICE A alone(std::int64_t x, std::int64_t y) const {
    const A sum = from.above ? above(x) - corner() : A(0);
    return from.left ? sum + left(y) : sum;
  }
};

/// A thread for each entry of the first row, and for each below the first of it.
struct CarriedTensorBorderArgs {
  char* tensor;
  Strides out;
  std::int64_t width, height;
  int bins;
  std::int64_t blocks_a_plane;
  TensorCarryArgs carry;
};
template <class M, class C>
struct CarriedTensorBorder {
  using T = typename C::T;
  using Args = CarriedTensorBorderArgs;
  using Shared = NoShared;
  static constexpr int threads = 256, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t plane = m.block() / a.blocks_a_plane;
    const std::int64_t i = m.block() % a.blocks_a_plane * threads + m.thread();
    const TensorPlaneCarry<M, C> carry{m, a.carry, plane / a.bins, plane % a.bins};
    char* const at = a.tensor + carry.image * a.out.batch + carry.bin * a.out.channel;
    const bool aligned = a.out.alignment != Alignment::bytes;
    if (i < a.width) store_element(m, at + i * a.out.column, static_cast<T>(carry.alone(i, 0)), aligned);
    if (i > 0 && i < a.height) store_element(m, at + i * a.out.row, static_cast<T>(carry.alone(0, i)), aligned);
  }
};

/// The border of a piece without sums: one row, or one column.
template <class C, class Launcher>
void fill_carried_border(Launcher& launcher, const View& tensor, const TensorCarryArgs& carry) {
  if (tensor.shape.empty()) return;
  using T = typename C::T;
  CarriedTensorBorderArgs a{static_cast<char*>(tensor.data),
                            strides(tensor),
                            tensor.shape.width,
                            tensor.shape.height,
                            static_cast<int>(tensor.shape.channels),
                            0,
                            carry};
  a.out.alignment = alignment_of(tensor.data, a.out, sizeof(T), sizeof(T));
  static constexpr std::int64_t threads = CarriedTensorBorder<NoMachine, C>::threads;
  a.blocks_a_plane = (std::max(a.width, a.height) + threads - 1) / threads;
  launcher.template launch<CarriedTensorBorder, C>(a.blocks_a_plane * tensor.shape.batch * a.bins, a, false);
}

}  // namespace areal::kernels
