#pragma once
// The carry of a piece of a larger table (areal/carry.hpp), in the kernels' form.

#include <areal/carry.hpp>
#include <cstdint>
#include <type_traits>
#include <utility>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// Values a fixed number of bytes apart; no address if all are zero.
struct CarryLine {
  const char* first = nullptr;
  std::int64_t step = 0, channel = 0, batch = 0;
  bool aligned = false;  ///< all values are aligned
};

struct CarryLines {
  CarryLine corner, above, left;  ///< `above` without the corner
  AREAL_DEVICE bool empty() const { return corner.first == nullptr && left.first == nullptr; }
};

/// With `reverse`, `above` is walked from its last value, the corner, backwards; `left` is already reversed.
inline CarryLines carry_lines(const Carry& carry, bool reverse = false) {
  const auto line = [](const ConstView& view, std::int64_t step) {
    if (view.data == nullptr) return CarryLine{};
    const Strides s = strides(view);
    const auto all =
        reinterpret_cast<std::uintptr_t>(view.data) | static_cast<std::uintptr_t>(step | s.channel | s.batch);
    return CarryLine{static_cast<const char*>(view.data), step, s.channel, s.batch, all % size_of(view.type) == 0};
  };
  CarryLines lines;
  lines.corner = line(carry.above, carry.above.column_pitch());
  if (reverse && lines.corner.first != nullptr) {
    lines.corner.first += (carry.above.shape.width - 1) * lines.corner.step;
    lines.corner.step = -lines.corner.step;
  }
  lines.above = lines.corner;
  lines.left = line(carry.left, carry.left.row_pitch);
  if (lines.above.first != nullptr) lines.above.first += lines.above.step;
  return lines;
}

/// The i-th value of one plane; index -1 of above and left is the corner.
template <class T, class M>
AREAL_DEVICE T load_carry(const M& m, const CarryLine& line, std::int64_t batch, std::int64_t channel, std::int64_t i,
                          Site site = AREAL_HERE) {
  if (line.first == nullptr) return T(0);
  return load_element<M, T>(m, line.first + batch * line.batch + channel * line.channel + i * line.step, line.aligned,
                            site);
}
template <class T, class M>
AREAL_DEVICE T load_carry_after(const M& m, const CarryLine& corner, const CarryLine& line, std::int64_t batch,
                                std::int64_t channel, std::int64_t i, Site site = AREAL_HERE) {
  // A conditional choice between the two references would move a kernel's arguments to local memory.
  if (i < 0) return load_carry<T>(m, corner, batch, channel, 0, site);
  return load_carry<T>(m, line, batch, channel, i, site);
}

/// to - from, but 0 if both are the same infinity: after an infinity the larger table stays infinite.
template <class T>
AREAL_DEVICE T step_between(T from, T to) {
  if constexpr (std::is_floating_point_v<T>)
    return to == from ? T(0) : to - from;
  else
    return to - from;
}

}  // namespace areal::kernels
