#pragma once
// The sums along a volume's depth, in place over the tables of its slices (areal). 1 launch. Reads 1, writes 1 per
// element; the first slice is unchanged. With a border, also writes the slice of zeros before it. Floats have the same
// bits every run.

#include <cstdint>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

struct DepthArgs {
  char* table;
  Strides out;
  std::int64_t columns, rows;  ///< elements of a row, all channels if they are interleaved; rows of all planes
  std::int64_t height;
  std::int64_t slices, offset;  ///< of the table, including `offset` slices of zeros
};

template <class M, class C>
struct Depth {
  using T = typename C::T;
  using Args = DepthArgs;
  using Shared = NoShared;
  static constexpr int threads = 256, resident = 1;
  static constexpr int ahead = 4;  // slices that are loaded at once
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t i = m.block() * threads + m.thread();
    if (i >= a.columns * a.rows) return;
    const std::int64_t x = i % a.columns, line = i / a.columns;
    char* at = a.table + line / a.height * a.out.channel + line % a.height * a.out.row +
               x * static_cast<std::int64_t>(sizeof(T));
    const bool aligned = a.out.alignment != Alignment::bytes;
    if (a.offset > 0) store_element(m, at, T(0), aligned);
    at += a.offset * a.out.batch;
    T sum = 0;
    for (std::int64_t n = a.offset; n < a.slices; n += ahead, at += ahead * a.out.batch) {
      T slice[ahead];
      AREAL_UNROLL
      for (int k = 0; k < ahead; ++k)
        if (n + k < a.slices) slice[k] = load_element<M, T>(m, at + k * a.out.batch, aligned);
      AREAL_UNROLL
      for (int k = 0; k < ahead; ++k)
        if (n + k < a.slices) {
          sum += slice[k];
          if (n + k > a.offset) store_element(m, at + k * a.out.batch, sum, aligned);
        }
    }
  }
};

template <class T_>
struct DepthConfig {
  using T = T_;
};

/// `table` is the whole volume's; its first `offset` slices become zeros, those after them hold their own sums.
template <class T, class Launcher>
void depth(Launcher& launcher, const View& table, std::int64_t offset) {
  const Shape& shape = table.shape;
  if (shape.empty()) return;
  const bool planar = shape.layout == Layout::planar;
  DepthArgs a{static_cast<char*>(table.data),
              strides(table),
              shape.width * (planar ? 1 : shape.channels),
              shape.height * (planar ? shape.channels : 1),
              shape.height,
              shape.batch,
              offset};
  a.out.column = sizeof(T);
  a.out.alignment = alignment_of(table.data, a.out, sizeof(T), sizeof(T));
  static constexpr std::int64_t threads = Depth<NoMachine, DepthConfig<T>>::threads;
  launcher.template launch<Depth, DepthConfig<T>>((a.columns * a.rows + threads - 1) / threads, a, false);
}

}  // namespace areal::kernels
