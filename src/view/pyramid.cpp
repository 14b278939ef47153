#include "view/pyramid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include "view/element.hpp"

namespace areal::view {
namespace {

void halve_bytes(const ConstView& from, const View& to) {
  for (std::int64_t y = 0; y < to.shape.height; ++y) {
    const auto* above = static_cast<const std::uint8_t*>(from.row(2 * y));
    const auto* below = static_cast<const std::uint8_t*>(from.row(std::min(2 * y + 1, from.shape.height - 1)));
    auto* out = static_cast<std::uint8_t*>(to.row(y));
    const std::int64_t pairs = from.shape.width / 2;
    for (std::int64_t x = 0; x < pairs; ++x)
      out[x] = static_cast<std::uint8_t>((above[2 * x] + above[2 * x + 1] + below[2 * x] + below[2 * x + 1] + 2) / 4);
    if (pairs < to.shape.width) out[pairs] = static_cast<std::uint8_t>((above[2 * pairs] + below[2 * pairs] + 1) / 2);
  }
}

template <class T>
void halve(const ConstView& from, const View& to) {
  for (std::int64_t y = 0; y < to.shape.height; ++y) {
    auto* out = static_cast<float*>(to.row(y));
    const std::int64_t bottom = std::min(2 * y + 2, from.shape.height);
    for (std::int64_t x = 0; x < to.shape.width; ++x) {
      const std::int64_t right = std::min(2 * x + 2, from.shape.width);
      double sum = 0;
      int count = 0;
      for (std::int64_t v = 2 * y; v < bottom; ++v)
        for (std::int64_t u = 2 * x; u < right; ++u) {
          const auto value = static_cast<double>(element<T>(from.row(v), u));
          if (std::isnan(value)) continue;
          sum += value;
          ++count;
        }
      out[x] = count == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(sum / count);
    }
  }
}

}  // namespace

std::vector<Extent> levels_of(const Extent& full) {
  std::vector<Extent> levels{full};
  while (levels.back().width > tile_side || levels.back().height > tile_side)
    levels.push_back({(levels.back().width + 1) / 2, (levels.back().height + 1) / 2});
  return levels;
}

Pyramid::Pyramid(const ConstView& channel) {
  levels_.push_back(channel);
  const std::vector<Extent> extents = levels_of({channel.shape.width, channel.shape.height});
  for (std::size_t i = 1; i < extents.size(); ++i) {
    const ConstView from = levels_.back();
    const bool is_bytes = from.type == Type::u8;
    Array half(Shape{extents[i].width, extents[i].height}, is_bytes ? Type::u8 : Type::f32);
    if (is_bytes)
      halve_bytes(from, half.view());
    else
      with_type(from.type, [&]<class T>(T*) { halve<T>(from, half.view()); });
    halves_.push_back(std::move(half));
    levels_.push_back(std::as_const(halves_.back()).view());
  }
}

std::uint64_t Pyramid::bytes(const Extent& full, Type type) {
  std::uint64_t pixels = 0;
  const std::vector<Extent> extents = levels_of(full);
  for (std::size_t i = 1; i < extents.size(); ++i)
    pixels += static_cast<std::uint64_t>(extents[i].width) * static_cast<std::uint64_t>(extents[i].height);
  return pixels * (type == Type::u8 ? 1 : 4);
}

}  // namespace areal::view
