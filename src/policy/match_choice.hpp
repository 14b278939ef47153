#pragma once
// The choice between FFTs and direct sums for template matching, and the size of their tiles, by one model of their
// cost.

#include <algorithm>
#include <areal/type.hpp>
#include <areal/view.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace areal::policy {

/// The image in tiles, each with the windows of `step_x` x `step_y` positions, or of those left at the end.
struct MatchTiles {
  bool fft = false;
  std::int64_t width = 1, height = 1;  ///< pixels of a tile; with `fft` the lengths of the transforms
  std::int64_t step_x = 1, step_y = 1;
  std::int64_t across = 1, down = 1;
  double nanoseconds = std::numeric_limits<double>::infinity();  ///< of one thread, for all images
};

/// Measured on one thread of an AMD EPYC, with kissfft 131 and SSE2: a transform of n complex numbers takes about
/// n (1.1 log2 n + 4) ns with its copies, a product of the direct sums 0.35 ns, and whatever else a position needs is
/// the same for both.
inline constexpr double ns_of_level = 1.1, ns_of_transform = 4, ns_of_product = 0.35;

/// The least n >= `least` without prime factors above 5: the lengths that kissfft has butterflies for.
inline std::int64_t smooth_length(std::int64_t least) {
  for (std::int64_t n = std::max<std::int64_t>(1, least);; ++n) {
    std::int64_t rest = n;
    for (const std::int64_t prime : {2, 3, 5})
      while (rest % prime == 0) rest /= prime;
    if (rest == 1) return n;
  }
}

/// Butterflies that a transform passes, of radix 4, then 2, 3 and 5.
inline int butterflies(std::int64_t length) {
  int count = 0;
  for (const std::int64_t radix : {4, 2, 3, 5})
    for (; length % radix == 0; length /= radix) ++count;
  return count;
}

inline constexpr std::int64_t most_transform = 32768;  ///< along an axis

/// Lengths for one axis: those of at most the image's, from the template's on, each at least 1/16 longer than the one
/// before.
inline std::vector<std::int64_t> transform_lengths(std::int64_t extent, std::int64_t window) {
  std::vector<std::int64_t> lengths;
  const std::int64_t whole = smooth_length(std::max<std::int64_t>(2, extent)),
                     most = std::max<std::int64_t>(8 * window, 2048);
  for (std::int64_t n = smooth_length(std::max<std::int64_t>(16, window)); n < std::min(whole, most);
       n = smooth_length(n + n / 16 + 1))
    lengths.push_back(n);
  if (whole <= most) lengths.push_back(whole);
  return lengths;
}

inline MatchTiles direct_tiles(const Shape& image, const Shape& templ) {
  const std::int64_t columns = image.width - templ.width + 1, rows = image.height - templ.height + 1;
  MatchTiles tiles;
  tiles.step_x = std::min<std::int64_t>(columns, 512), tiles.step_y = std::min<std::int64_t>(rows, 64);
  tiles.width = tiles.step_x + templ.width - 1, tiles.height = tiles.step_y + templ.height - 1;
  tiles.across = (columns + tiles.step_x - 1) / tiles.step_x, tiles.down = (rows + tiles.step_y - 1) / tiles.step_y;
  tiles.nanoseconds = ns_of_product * static_cast<double>(columns) * static_cast<double>(rows) *
                      static_cast<double>(image.batch) * static_cast<double>(image.channels) *
                      static_cast<double>(templ.width) * static_cast<double>(templ.height);
  return tiles;
}

/// The tiles of least cost. A transform holds two tiles, or one in two parts; so many parts has the template. None for
/// templates that are too long.
inline MatchTiles fft_tiles(const Shape& image, const Shape& templ, bool two_tiles, int parts) {
  const std::int64_t columns = image.width - templ.width + 1, rows = image.height - templ.height + 1;
  const double channels = static_cast<double>(image.channels);
  MatchTiles best;
  // Tiles beyond 2^21 pixels leave the caches.
  const double most_pixels =
      std::max(0x1p21, 16.0 * static_cast<double>(templ.width) * static_cast<double>(templ.height));
  for (const std::int64_t width : transform_lengths(image.width, templ.width))
    for (const std::int64_t height : transform_lengths(image.height, templ.height)) {
      if (width > most_transform || height > most_transform) continue;
      MatchTiles one;
      one.fft = true, one.width = width, one.height = height;
      one.step_x = std::min(columns, width - templ.width + 1), one.step_y = std::min(rows, height - templ.height + 1);
      one.across = (columns + one.step_x - 1) / one.step_x, one.down = (rows + one.step_y - 1) / one.step_y;
      const double pixels = static_cast<double>(width) * static_cast<double>(height);
      if (pixels > most_pixels && (one.across > 1 || one.down > 1)) continue;
      const double transform = pixels * (ns_of_level * std::log2(pixels) + ns_of_transform);
      const double tiles =
          static_cast<double>(one.across) * static_cast<double>(one.down) * static_cast<double>(image.batch);
      const double transforms = two_tiles ? std::ceil(tiles / 2) : tiles;
      one.nanoseconds = transform * (transforms * (channels + parts) + channels * parts);
      if (one.nanoseconds < best.nanoseconds) best = one;
    }
  return best;
}

}  // namespace areal::policy
