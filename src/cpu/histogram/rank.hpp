#pragma once
// The rank store on the CPU (formulas/rank.hpp has its layout). Build: a panel is partitioned plane by plane, in place
// for the zeros and through a buffer for the ones; panels of up to 16 columns come from one strip of keys, which stays
// in the cache. O(planes log4(width)) moves a pixel. Query: two lines for each plane and panel of the region.

#include <areal/region.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include "formulas/rank.hpp"

namespace areal::cpu {

/// The types of pixels that double holds exactly: all but 64u and 64s.
bool has_rank(Type type) noexcept;

/// The greatest key of an image of unsigned integers.
std::uint64_t greatest_key(const ConstView& image, int threads);

/// Memory that a build needs besides the store, at most.
std::uint64_t rank_scratch_bytes(const formulas::Rank& r, Type type, int threads);

/// Fills all r.bytes() of `store`, aligned to 32 bytes. `image` has the layout's extents, and matrices are its images
/// and their channels; keys have at most r.planes bits. The same bytes for any number of threads and any SIMD target.
void build_rank(const formulas::Rank& r, const ConstView& image, std::byte* store, int threads);

/// Regions inside one matrix, with pixels. `ranks` rise, from 0 on, and are below the number of pixels.
/// keys[i] = the key of rank ranks[i], of the region's pixels in order.
void rank_select(const formulas::Rank& r, const std::byte* store, std::int64_t matrix, const Region& region,
                 std::span<const std::uint64_t> ranks, std::uint64_t* keys);
/// How many pixels have a key below that one, which has at most r.planes bits.
std::uint64_t rank_below(const formulas::Rank& r, const std::byte* store, std::int64_t matrix, const Region& region,
                         std::uint64_t key);

}  // namespace areal::cpu
