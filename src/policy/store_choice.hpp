#pragma once
// The choice of Store::automatic: which store answers an image's regions first.

#include <algorithm>
#include <areal/histogram_store.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include "formulas/count_times.hpp"

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
  std::int64_t bins = 32;
  bool weighted = false;
  bool on_cpu = true;
  bool none_takes_it = true;  ///< not a mask on a device
  Counting counting = Counting::bytes;
  std::uint64_t compact_bytes = 0, tensor_bytes = 0;  ///< of the tensor: 0 if there is none
  std::uint64_t memory = 0;
};

struct StoreChoice {
  Store store = Store::none;
  std::string reason;
};

/// Known regions: how many, each as large as an image if their area is unknown, and their area.
struct Regions {
  double number, area;

  explicit Regions(const StoreQuestion& q)
      : number(q.regions >= 0 ? static_cast<double>(q.regions)
                              : std::ceil(static_cast<double>(q.area) / std::max(1.0, q.pixels))),
        area(q.area >= 0 ? static_cast<double>(q.area) : number * q.pixels) {}
};

/// Nanoseconds: once, and for all the regions.
struct StoreTime {
  double once, regions;
  double all() const { return once + regions; }
};

/// One thread of a Xeon with AVX-512 (bench/results/*-cpu-stores.json, to which store_sweep_test holds the choice): a
/// compact store, built and read.
inline StoreTime compact_time(const StoreQuestion& q, const Regions& regions) {
  const bool few = q.bins <= 64;
  const double a_pixel = (few ? 1.5 : 2.2) + (q.counting == Counting::streamed ? 0.6 : 0);
  return {(few ? 1e5 : 1.2e6) + a_pixel * q.pixels, regions.number * (200 + 9 * static_cast<double>(q.bins))};
}
/// Regions counted from the image in a stream.
inline StoreTime streamed_time(const StoreQuestion& q, const Regions& regions) {
  const double width = std::sqrt(regions.area / std::max(1.0, regions.number));
  return {formulas::streamed_pixel_ns * q.pixels,
          regions.number * (formulas::streamed_bin_ns + formulas::streamed_column_ns * width) *
              static_cast<double>(q.bins)};
}
/// Pixel by pixel; masks are an estimate.
inline StoreTime direct_time(const StoreQuestion& q, const Regions& regions) {
  if (q.counting == Counting::masked) return {0, 0.8 * regions.area + 500 * regions.number};
  constexpr double side = formulas::direct_wide;
  const bool is_wide = q.bins <= 64 && regions.area >= side * side * regions.number;
  return {0, regions.area * (is_wide ? formulas::direct_wide_pixel_ns : formulas::direct_pixel_ns) +
                 regions.number * formulas::direct_region_ns(static_cast<double>(q.bins))};
}

/// On a GPU: one H200, 8u, 32 and 256 bins, boxes of 32x32 and 200x200 (bench/results/*-cuda-stores.json).
namespace on_device {
inline StoreTime counted(const StoreQuestion& q, const Regions& regions) {
  return {12e3, regions.number * (3.1 + 0.016 * static_cast<double>(q.bins)) + 0.82e-3 * regions.area};
}
inline StoreTime compact(const StoreQuestion& q, const Regions& regions) {
  const double bins = static_cast<double>(q.bins), a_region = 1.75 + 0.012 * bins;
  if (q.bins <= 32) return {20e3 + 2.75e-3 * q.pixels, regions.number * a_region};
  if (q.bins <= 64) return {40e3 + 5.7e-3 * q.pixels, regions.number * a_region};
  constexpr double side = 64;  // from which a region reads many pixels beside its lines
  const bool is_large = regions.area >= side * side * regions.number;
  return {(is_large ? 63e3 : 38e3) + 19e-3 * q.pixels, regions.number * a_region};
}
/// Read faster while it stays in the L2.
inline StoreTime tensor(const StoreQuestion& q, const Regions& regions) {
  const double bins = static_cast<double>(q.bins);
  return {std::max(20e3, 12e3 + 1.47e-3 * bins * q.pixels),
          regions.number * bins * (q.tensor_bytes <= 40'000'000 ? 0.044 : 0.12)};
}
}  // namespace on_device

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

/// From how many images that such regions cover a compact store pays; infinite if it is read no faster than they are
/// counted.
inline double compact_pays_from(const StoreQuestion& q) {
  const Regions regions(q);
  if (regions.area <= 0) return std::numeric_limits<double>::infinity();
  const StoreTime compact = q.on_cpu ? compact_time(q, regions) : on_device::compact(q, regions);
  // How many times these regions it takes for the store to be as fast as counting.
  const auto pays_from = [&](const StoreTime& counting) {
    const double gain = counting.regions - compact.regions;
    return gain > 0 ? (compact.once - counting.once) / gain : std::numeric_limits<double>::infinity();
  };
  double times = pays_from(q.on_cpu ? streamed_time(q, regions) : on_device::counted(q, regions));
  if (!q.on_cpu) return times * regions.area / std::max(1.0, q.pixels);
  if (q.counting == Counting::bytes) times = std::max(times, pays_from(direct_time(q, regions)));
  if (q.counting == Counting::masked) times = pays_from(direct_time(q, regions));
  return times * regions.area / std::max(1.0, q.pixels);
}
/// Of known regions: true if counting their pixels is less work than a store.
inline bool counting_is_less(const StoreQuestion& q) {
  const Regions regions(q);
  return regions.area / std::max(1.0, q.pixels) <= compact_pays_from(q);
}

/// Of known regions: true if the tensor of a small image, on a GPU, is made and read sooner than the others answer.
inline bool tensor_is_least(const StoreQuestion& q) {
  if (q.on_cpu || q.tensor_bytes == 0 || static_cast<double>(q.tensor_bytes) > 0.9 * static_cast<double>(q.memory))
    return false;
  const Regions regions(q);
  return on_device::tensor(q, regions).all() <
         std::min(on_device::counted(q, regions).all(), on_device::compact(q, regions).all());
}

inline StoreChoice choose_store(const StoreQuestion& q) {
  const bool known = q.area >= 0 || q.regions >= 0;
  if (q.weighted)
    return known ? StoreChoice{Store::none, "store none: the regions are known, and weights are added from the image"}
                 : StoreChoice{Store::tensor, "store tensor: it holds weights, and the regions are not known"};
  if (!q.none_takes_it) return {Store::compact, "store compact: on a GPU it alone takes a mask"};
  std::string cover, pays;
  if (known) {
    const double limit = compact_pays_from(q);
    cover = AreaOfRegions(q.pixels, q.regions, q.area).text;
    if (tensor_is_least(q))
      return {Store::tensor, "store tensor: " + cover + "; so small a tensor is made and read in the least time"};
    pays = std::isfinite(limit) ? "pays from " + number_text(limit) : "is read no faster than they are counted";
    if (counting_is_less(q)) return {Store::none, "store none: " + cover + "; compact " + pays};
  }
  if (static_cast<double>(q.compact_bytes) > 0.9 * static_cast<double>(q.memory))
    return {Store::none, "store none: a compact store takes " + std::to_string(q.compact_bytes) +
                             " bytes, more than 0.9 of the " + std::to_string(q.memory) +
                             " to spare; regions are counted from the image"};
  if (!known) return {Store::compact, "store compact: the regions are not known in advance"};
  return {Store::compact, "store compact: " + cover + "; it " + pays};
}

}  // namespace areal::policy
