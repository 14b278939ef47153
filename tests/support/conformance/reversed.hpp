#pragma once
// What a reversed table must be, from the definition alone: the table of the image turned by half a turn, turned back.

#include <vector>
#include "conformance/oracle.hpp"

namespace areal::conformance {

/// Elements of that shape with columns and rows in the opposite order; with `volume`, images, too.
template <class T>
std::vector<T> turned(const std::vector<T>& elements, const Shape& shape, bool volume) {
  std::vector<T> result(elements.size());
  if (elements.empty()) return result;
  Values place;
  place.shape = shape;
  std::size_t i = 0;
  for (std::int64_t n = 0; n < shape.batch; ++n)
    for (std::int64_t c = 0; c < shape.channels; ++c)
      for (std::int64_t y = 0; y < shape.height; ++y)
        for (std::int64_t x = 0; x < shape.width; ++x)
          result[i++] =
              elements[place.at(shape.width - 1 - x, shape.height - 1 - y, c, volume ? shape.batch - 1 - n : n)];
  return result;
}
inline Terms turned(const Terms& terms, bool volume) {
  return {terms.shape, terms.exact_integers, turned(terms.integer, terms.shape, volume),
          turned(terms.real, terms.shape, volume)};
}
inline Values turned(Values values, bool volume) {
  values.integer = turned(values.integer, values.shape, volume);
  values.real = turned(values.real, values.shape, volume);
  return values;
}

inline Expected reversed_sums_of(const Terms& terms, Type type, Border border, bool volume = false) {
  const Expected table = sums_of(turned(terms, volume), type, border, volume);
  return {table.type, table.shape, turned(table.integer, table.shape, volume), turned(table.real, table.shape, volume),
          turned(table.bound, table.shape, volume)};
}

}  // namespace areal::conformance
