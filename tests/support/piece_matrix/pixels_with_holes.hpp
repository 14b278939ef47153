#pragma once
// An image for windows around its pixels, and what comes with it.

#include <cmath>
#include <optional>
#include "conformance/picture.hpp"
#include "piece_matrix/cuts.hpp"

namespace areal::piece_matrix {

/// Of the NaN of a filled image, two in three become infinities.
struct PixelsWithHoles {
  Values image;
  std::optional<Values> second;  ///< a mask, or a guide
  Buffer pixels, beside;

  PixelsWithHoles(Type type, const Shape& shape, conformance::Fill fill, std::uint64_t seed)
      : image(conformance::random_image(type, shape, fill, seed)) {
    std::size_t holes = 0;
    for (long double& value : image.real)
      if (std::isnan(value) && ++holes % 3 != 0) value = holes % 3 == 1 ? INFINITY : -INFINITY;
    pixels = Buffer(image, conformance::placements[seed % std::size(conformance::placements)]);
  }
  void add(Values values) {
    second = std::move(values);
    beside = Buffer(*second, conformance::placements[0]);
  }
  void add_mask(const Shape& shape, std::uint64_t seed) {
    add(conformance::random_mask({shape.width, shape.height, 1, shape.batch}, seed));
  }
  bool changed() const { return pixels.changed() || (second && beside.changed()); }
  ConstView image_view() const { return pixels.view(); }
  ConstView second_view() const { return second ? beside.view() : ConstView(); }
};

}  // namespace areal::piece_matrix
