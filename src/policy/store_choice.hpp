#pragma once
// The choice of Store::automatic: which store answers an image's regions first.

#include <algorithm>
#include <areal/histogram_store.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

namespace areal::policy {

/// How the store none counts a region.
enum class Counting : std::uint8_t {
  bytes,     ///< pixel by pixel: 8-bit pixels of one channel, until that takes longer than a stream
  streamed,  ///< all regions in one pass over the rows, which counts every pixel, and adds columns where a region ends
  masked     ///< pixel by pixel, through any rule
};

struct StoreQuestion {
  double pixels = 0;                     ///< of all images
  std::int64_t regions = -1, area = -1;  ///< as StoreOptions
  bool weighted = false;
  bool on_cpu = true;
  bool none_takes_it = true;  ///< not a mask on a device
  Counting counting = Counting::bytes;
  std::uint64_t compact_bytes = 0, memory = 0;
};

struct StoreChoice {
  Store store = Store::none;
  std::string reason;
};

/// The area of the regions, in images, from which a compact store pays. One thread of an EPYC with AVX-512, 1920x1080,
/// boxes of 200x200, store and queries against counting: 8u with 32 bins 2.8 ms at 3.9 images, where counting
/// takes 2.1, and 2.8 at 7.7, where it takes 3.7; with 256 bins 4.3 and 2.8, 5.2 and 11. `masked` is an estimate.
constexpr double compact_pays_from(Counting counting) { return counting == Counting::masked ? 2 : 5; }
/// A stream counts every pixel, as the store does: it wins while few regions end. There, 16u with 32 bins: 400 boxes of
/// 200x200 are even, 1,000 boxes of 50x50 too; 32f: 1,000 boxes of 200x200.
constexpr double streamed_pixels_per_region = 5000;

/// The same on a GPU, in images. One H200, 8u, 32 bins, which a compact store holds in 5.2 bytes a pixel: a build takes
/// 30 us and 5 ps a pixel, and a pixel of a region 0.8 ps (bench/results/2026-11-26-cuda-boxes.json: 10,000 regions of
/// 200x200 of 8192x8192, 6 images, take 314 and 454 us; 1,000 of 1920x1080, 19 images, 48 and 56).
inline double compact_pays_on_device_from(double pixels, double bytes) {
  return pixels <= 0 ? 0 : 30e6 / pixels + 7.5 / 5.2 * bytes / pixels;
}

inline std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 0.95 ? "%.2g" : value < 9.95 ? "%.1f" : "%.0f", value);
  std::string digits = text;
  return digits.ends_with(".0") ? digits.substr(0, digits.size() - 2) : digits;
}

/// Of known regions: the area, in images, and "100 regions cover 1.9 images".
struct AreaOfRegions {
  double images;
  std::string text;

  AreaOfRegions(double pixels, std::int64_t regions, std::int64_t area)
      // Without an area, each region may be a whole image.
      : images(pixels <= 0 ? 0
               : area >= 0 ? static_cast<double>(area) / pixels
                           : static_cast<double>(regions)) {
    const std::string size = number_text(images);
    text = (regions < 0    ? "the regions cover "
            : regions == 1 ? "1 region covers "
                           : std::to_string(regions) + " regions cover ") +
           (area >= 0 ? "" : "up to ") + size + (size == "1" ? " image" : " images");
  }
};

/// True if what the regions cost to count is measured by their number, not by their area.
inline bool counts_number(const StoreQuestion& q) {
  return q.on_cpu && q.counting == Counting::streamed && q.regions >= 0;
}
/// From how many regions, or images that known regions cover, a compact store pays.
inline double compact_pays_from(const StoreQuestion& q) {
  if (counts_number(q)) return std::max(1.0, std::floor(q.pixels / streamed_pixels_per_region));
  return q.on_cpu ? compact_pays_from(q.counting)
                  : compact_pays_on_device_from(q.pixels, static_cast<double>(q.compact_bytes));
}
/// For frame after frame, of known regions with an area: true if counting their pixels is less work than a store.
inline bool counting_is_less(const StoreQuestion& q) {
  const double size =
      counts_number(q) ? static_cast<double>(q.regions) : static_cast<double>(q.area) / std::max(1.0, q.pixels);
  return size <= compact_pays_from(q);
}

inline StoreChoice choose_store(const StoreQuestion& q) {
  const bool known = q.area >= 0 || q.regions >= 0;
  if (q.weighted)
    return known ? StoreChoice{Store::none, "store none: the regions are known, and weights are added from the image"}
                 : StoreChoice{Store::tensor, "store tensor: it holds weights, and the regions are not known"};
  bool few = false;
  std::string cover;
  const double limit = known ? compact_pays_from(q) : 0;
  if (counts_number(q)) {
    few = static_cast<double>(q.regions) <= limit;
    cover = std::to_string(q.regions) + (q.regions == 1 ? " region" : " regions");
  } else if (known) {
    AreaOfRegions area(q.pixels, q.regions, q.area);
    few = area.images <= limit;
    cover = std::move(area.text);
  }
  if (!q.none_takes_it) return {Store::compact, "store compact: on a GPU it alone takes a mask"};
  if (few) return {Store::none, "store none: " + cover + "; compact pays from " + number_text(limit)};
  if (static_cast<double>(q.compact_bytes) > 0.9 * static_cast<double>(q.memory))
    return {Store::none, "store none: a compact store takes " + std::to_string(q.compact_bytes) +
                             " bytes, more than 0.9 of the " + std::to_string(q.memory) +
                             " to spare; regions are counted from the image"};
  if (!known) return {Store::compact, "store compact: the regions are not known in advance"};
  return {Store::compact, "store compact: " + cover + "; it pays from " + number_text(limit)};
}

}  // namespace areal::policy
