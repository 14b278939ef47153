#pragma once
// The floors: plain threaded loops with the least memory traffic that a result of that size needs.

#include <areal/region.hpp>
#include <areal/type_pair.hpp>
#include <array>
#include <cstdint>
#include <span>

namespace areal::bench {

/// Reads `elements` pixels and writes as many entries of the type pair's table type: copy for equal types, widen
/// otherwise.
void widen(const void* pixels, void* table, std::int64_t elements, TypePair types, int threads);
/// As `widen`, but writes two tables in one pass over the pixels: sum's type and `second`.
void widen_twice(const void* pixels, void* table, void* squares, std::int64_t elements, TypePair types, Type second,
                 int threads);
/// memset of so many bytes.
void fill(void* memory, std::int64_t bytes, int threads);
/// The bins x pixels tensor of 1 in each pixel's bin, and 0 elsewhere.
void one_hot(const std::uint8_t* pixels, std::uint32_t* tensor, std::int64_t count, std::int64_t bins,
             const std::array<std::int64_t, 256>& bin_of, int threads);
/// A loop of four random loads a region from a 32u table with border zero, their alternating sum stored as 64u.
void gather(const std::uint32_t* table, std::int64_t row_entries, std::span<const Region> regions, std::uint64_t* out,
            int threads);
/// Reads each pixel of regions of an 8u image once, by copies of rows into the cache.
void read_regions(const std::uint8_t* pixels, std::int64_t row_bytes, std::span<const Region> regions, int threads);

}  // namespace areal::bench
