#pragma once
// The choice of Store::automatic without a binning: which store answers quantiles first.

#include <areal/histogram_store.hpp>
#include <cstdint>
#include "policy/store_choice.hpp"

namespace areal::policy {

struct ValueStoreQuestion {
  double pixels = 0;                     ///< of all matrices
  std::int64_t regions = -1, area = -1;  ///< as StoreOptions
  bool on_cpu = true;
  std::uint64_t rank_bytes = 0, memory = 0;
};

/// The area of the regions, in images, from which a rank store pays. One thread of a Xeon with AVX-512 (bench/results/
/// *-cpu-stores.json), boxes of 32x32 and 200x200 of 8u and 16u: at 19 images a selection takes half the time of a
/// store, at 39 images as long, at 150 images four times.
constexpr double rank_pays_from = 37;

inline StoreChoice choose_value_store(const ValueStoreQuestion& q) {
  if (!q.on_cpu) return {Store::rank, "store rank: on a GPU it alone answers quantiles"};
  const bool known = q.area >= 0 || q.regions >= 0;
  if (known) {
    const AreaOfRegions area(q.pixels, q.regions, q.area);
    if (area.images <= rank_pays_from)
      return {Store::none, "store none: " + area.text + "; rank pays from " + number_text(rank_pays_from)};
  }
  if (static_cast<double>(q.rank_bytes) > 0.9 * static_cast<double>(q.memory))
    return {Store::none, "store none: a rank store takes " + std::to_string(q.rank_bytes) +
                             " bytes, more than 0.9 of the " + std::to_string(q.memory) +
                             " to spare; values are selected from the image"};
  if (!known) return {Store::rank, "store rank: the regions are not known in advance"};
  return {Store::rank, "store rank: " + AreaOfRegions(q.pixels, q.regions, q.area).text + "; it pays from " +
                           number_text(rank_pays_from)};
}

}  // namespace areal::policy
