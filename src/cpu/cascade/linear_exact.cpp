#include "cpu/cascade/linear_exact.hpp"
#include <algorithm>
#include <cmath>

namespace areal::cpu {

LinearAxis::LinearAxis(std::int64_t from, std::int64_t to)
    : at(static_cast<std::size_t>(to)), next(at.size()), weight(at.size()) {
  // Not from / to, which can be another double.
  const double pitch = 1 / (static_cast<double>(to) / static_cast<double>(from));
  for (std::int64_t i = 0; i < to; ++i) {
    const double position = pitch * (static_cast<double>(i) + 0.5) - 0.5, whole = std::floor(position);
    const auto first = static_cast<std::int64_t>(whole);
    const auto k = static_cast<std::size_t>(i);
    at[k] = static_cast<std::int32_t>(std::clamp<std::int64_t>(first, 0, from - 1));
    next[k] = std::min(at[k] + 1, static_cast<std::int32_t>(from - 1));
    if (first >= 0 && first < from - 1) weight[k] = static_cast<std::int32_t>(std::nearbyint((position - whole) * 256));
  }
}

LinearRows::LinearRows(const ConstView& image, const LinearAxis& columns, const LinearAxis& rows)
    : image_(image), columns_(columns), rows_(rows) {
  for (auto& kept : kept_) kept.resize(columns.at.size());
}

const std::uint16_t* LinearRows::across(std::int32_t row) {
  const auto slot = static_cast<std::size_t>(row % 2);  // neighbours have different ones
  std::uint16_t* const out = kept_[slot].data();
  if (kept_row_[slot] == row) return out;
  kept_row_[slot] = row;
  const auto* const from = static_cast<const std::uint8_t*>(image_.row(row));
  const std::int32_t *const at = columns_.at.data(), *const next = columns_.next.data(),
                            *const weight = columns_.weight.data();
  for (std::size_t i = 0; i < columns_.at.size(); ++i)
    out[i] = static_cast<std::uint16_t>((256 - weight[i]) * from[at[i]] + weight[i] * from[next[i]]);
  return out;
}

void LinearRows::read(std::int64_t y, std::uint8_t* out) {
  const auto k = static_cast<std::size_t>(y);
  const std::uint16_t *const upper = across(rows_.at[k]), *const lower = across(rows_.next[k]);
  const auto w = static_cast<std::uint32_t>(rows_.weight[k]);
  for (std::size_t i = 0; i < columns_.at.size(); ++i)
    out[i] = static_cast<std::uint8_t>((upper[i] * (256 - w) + lower[i] * w + (1U << 15)) >> 16);
}

}  // namespace areal::cpu
