#pragma once
// The first row and column of a table without sums (an image of no rows or no columns): zeros, or the carry. In other
// tables the kernels that write the sums also write these.

#include <algorithm>
#include "kernels/primitives/carry_lines.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

struct EdgeArgs {
  char* table;
  Strides out;
  std::int64_t width, height;  ///< of the table
  int channels;
  std::int64_t blocks_an_image;
  CarryLines carry;
};

template <class M, class C>
struct Edge {
  using T = typename C::T;
  using Args = EdgeArgs;
  using Shared = NoShared;
  static constexpr int threads = 256, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t n = m.block() / a.blocks_an_image;
    const std::int64_t i = m.block() % a.blocks_an_image * threads + m.thread();
    const std::int64_t batch = n / a.channels, channel = n % a.channels;
    char* const at = a.table + batch * a.out.batch + channel * a.out.channel;
    const bool aligned = a.out.alignment != Alignment::bytes;
    if (i < a.width)
      store_element(m, at + i * a.out.column,
                    load_carry_after<T>(m, a.carry.corner, a.carry.above, batch, channel, i - 1), aligned);
    if (i > 0 && i < a.height)
      store_element(m, at + i * a.out.row, load_carry<T>(m, a.carry.left, batch, channel, i - 1), aligned);
  }
};

template <class T_>
struct EdgeConfig {
  using T = T_;
};

/// In a reversed table, which is passed from its last row on, the column is the last.
template <class T, bool reverse = false, class Launcher>
void fill_border(Launcher& launcher, const View& table, const Carry& carry = {}) {
  if (table.shape.empty()) return;
  EdgeArgs a{nullptr,
             {},
             table.shape.width,
             table.shape.height,
             static_cast<int>(table.shape.channels),
             0,
             carry_lines(carry, reverse)};
  a.table = first_element<reverse>(table, a.out);
  a.out.alignment = alignment_of(a.table, a.out, sizeof(T), sizeof(T));
  static constexpr std::int64_t threads = Edge<NoMachine, EdgeConfig<T>>::threads;
  a.blocks_an_image = (std::max(a.width, a.height) + threads - 1) / threads;
  launcher.template launch<Edge, EdgeConfig<T>>(a.blocks_an_image * table.shape.batch * a.channels, a, false);
}

}  // namespace areal::kernels
