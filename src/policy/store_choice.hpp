#pragma once
// The choice of Store::automatic: which store answers an image's regions first.

#include <areal/histogram_store.hpp>
#include <cstdint>
#include <cstdio>
#include <string>

namespace areal::policy {

struct StoreQuestion {
  double pixels = 0;                     ///< of all images
  std::int64_t regions = -1, area = -1;  ///< as StoreOptions
  bool weighted = false;
  bool on_cpu = true;           ///< elsewhere there are tensors alone
  bool counts_vectors = false;  ///< 64 bytes at once: AVX-512, and a rule with few steps
  bool masked = false;
  std::uint64_t compact_bytes = 0, memory = 0;
};

struct StoreChoice {
  Store store = Store::none;
  std::string reason;
};

/// The area, in images, from which a compact store pays. A trial on one thread of an EPYC, 1920x1080 with 32 bins: the
/// store takes 1 ns a pixel, a pixel of a region 0.34 ns, and 0.09 with AVX-512.
constexpr double compact_pays_from(bool counts_vectors) { return counts_vectors ? 11 : 3; }

inline StoreChoice choose_store(const StoreQuestion& q) {
  const auto number = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, value < 9.95 ? "%.1f" : "%.0f", value);
    std::string digits = text;
    return digits.ends_with(".0") ? digits.substr(0, digits.size() - 2) : digits;
  };
  const bool known = q.area >= 0 || q.regions >= 0;
  if (!q.on_cpu) return {Store::tensor, "store tensor: this backend has no other"};
  if (q.weighted)
    return known ? StoreChoice{Store::none, "store none: the regions are known, and weights are counted from the image"}
                 : StoreChoice{Store::tensor, "store tensor: it holds weights, and the regions are not known"};
  // Without an area, each region may be a whole image.
  const double images = q.pixels <= 0 ? 0
                        : q.area >= 0 ? static_cast<double>(q.area) / q.pixels
                                      : static_cast<double>(q.regions);
  const double limit = compact_pays_from(q.counts_vectors && !q.masked);
  const std::string cover =
      (q.regions >= 0 ? std::to_string(q.regions) + (q.regions == 1 ? " region covers " : " regions cover ")
                      : std::string("the regions cover ")) +
      (q.area >= 0 ? "" : "up to ") + number(images) + (number(images) == "1" ? " image" : " images");
  const std::string pays = "pays from " + number(limit);
  if (known && images <= limit) return {Store::none, "store none: " + cover + "; compact " + pays};
  if (static_cast<double>(q.compact_bytes) > 0.9 * static_cast<double>(q.memory))
    return {Store::none, "store none: a compact store takes " + std::to_string(q.compact_bytes) +
                             " bytes, more than 0.9 of the " + std::to_string(q.memory) +
                             " to spare; regions are counted from the image"};
  if (!known) return {Store::compact, "store compact: the regions are not known in advance"};
  return {Store::compact, "store compact: " + cover + "; it " + pays};
}

}  // namespace areal::policy
