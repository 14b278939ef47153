#pragma once
// Volumes, tilted tables and their sums, by the definitions.

#include <cstdlib>
#include "region_oracle.hpp"

namespace oracle {

// One image a slice.
template <class P>
struct Volume {
  std::int64_t width, height, depth;
  std::vector<Image<P>> slices;
};

template <class P>
Volume<P> random_volume(std::int64_t width, std::int64_t height, std::int64_t depth, double lo, double hi,
                        std::uint64_t seed) {
  Volume<P> volume{width, height, depth, {}};
  for (std::int64_t z = 0; z < depth; ++z)
    volume.slices.push_back(random_image<P>(width, height, lo, hi, seed * 1000 + static_cast<std::uint64_t>(z)));
  return volume;
}

// The pixels of the box that lie in the volume, summed and rounded to, or wrapped in, T.
template <class T, class P>
T box_sum(const Volume<P>& volume, const areal::Box& b) {
  Wide<T> sum = 0;
  for (std::int64_t z = std::max<std::int64_t>(0, b.z); z < std::min(volume.depth, b.z + b.depth); ++z)
    sum += oracle::sum<T>(volume.slices[static_cast<std::size_t>(z)], b.x, b.y, b.width, b.height, identity);
  return static_cast<T>(sum);
}

// Its table, of border `zero` or `none`: each element summed from scratch.
template <class T, class P>
Padded volume_table(const Volume<P>& volume, areal::Border border, std::int64_t gap = 5, std::int64_t start = 3) {
  const std::int64_t more = border == areal::Border::zero ? 1 : 0;
  Padded table(areal::type_of<T>, {volume.width + more, volume.height + more, 1, volume.depth + more}, gap, start);
  const areal::Shape& shape = table.view().shape;
  for (std::int64_t z = 0; z < shape.batch; ++z)
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x)
        table.set(box_sum<T>(volume, {0, 0, 0, x + 1 - more, y + 1 - more, z + 1 - more}), x, y, 0, z);
  return table;
}

// Empty, full and at either face in each direction, and random ones.
inline std::vector<areal::Box> boxes_inside(std::int64_t width, std::int64_t height, std::int64_t depth,
                                            std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(0, most)(random); };
  struct Part {
    std::int64_t first, size;
  };
  const auto part = [&](int kind, std::int64_t extent) -> Part {
    if (kind == 0) return {0, extent};
    if (kind == 1) return {0, std::min<std::int64_t>(1, extent)};
    if (kind == 2) return {std::max<std::int64_t>(0, extent - 1), std::min<std::int64_t>(1, extent)};
    if (kind == 3) return {extent, 0};
    const std::int64_t first = pick(extent);
    return {first, pick(extent - first)};
  };
  std::vector<areal::Box> all;
  for (int k = 0; k < 5 * 5 * 5 + 100; ++k) {
    const bool any = k >= 5 * 5 * 5;
    const Part x = part(any ? 4 : k % 5, width), y = part(any ? 4 : k / 5 % 5, height),
               z = part(any ? 4 : k / 25, depth);
    all.push_back({x.first, y.first, z.first, x.size, y.size, z.size});
  }
  return all;
}

// OpenCV's definition, pixel by pixel.
template <class T, class P>
Padded tilted_table(const Image<P>& image, std::int64_t gap = 5, std::int64_t start = 3) {
  Padded table(areal::type_of<T>, {image.width + 1, image.height + 1}, gap, start);
  for (std::int64_t ty = 0; ty <= image.height; ++ty)
    for (std::int64_t tx = 0; tx <= image.width; ++tx) {
      Wide<T> sum = 0;
      for (std::int64_t y = 0; y < ty; ++y)
        for (std::int64_t x = 0; x < image.width; ++x)
          if (std::abs(x - tx + 1) <= ty - y - 1) sum += static_cast<Wide<T>>(image.at(x, y));
      table.set(static_cast<T>(sum), tx, ty);
    }
  return table;
}

inline bool rotated_inside(const areal::Region& r, std::int64_t width, std::int64_t height) {
  return r.width >= 0 && r.height >= 0 && r.x - r.height >= 0 && r.x + r.width <= width && r.y >= 0 &&
         r.y + r.width + r.height <= height;
}

// Walks the rotated rectangle: its 2 width height pixels lie in pairs, one above the other, `width` of them going
// down-right from (x - 1, y) and `height` going down-left.
template <class T, class P>
T rotated_sum(const Image<P>& image, const areal::Region& r) {
  Wide<T> sum = 0;
  for (std::int64_t i = 0; i < r.width; ++i)
    for (std::int64_t j = 0; j < r.height; ++j)
      for (const std::int64_t below : {0, 1})
        sum += static_cast<Wide<T>>(image.at(r.x - 1 + i - j, r.y + i + j + below));
  return static_cast<T>(sum);
}

}  // namespace oracle
