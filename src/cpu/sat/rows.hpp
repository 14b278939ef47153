#pragma once
// Row kernels of the tiled summed-area table: typed and vectorised inside, untyped outside, so that what drives them
// (tiles.cpp) is written once.

#include <areal/type.hpp>
#include <cstdint>

namespace areal::cpu {

/// Rows that a kernel takes at once, so that their running sums hide each other's latency and the row above is read
/// once for all of them.
inline constexpr int max_rows = 4;

/// Inclusive sums of `rows` neighbouring rows of n pixels: out[r][x] = above[x] + sum over rows <= r, columns <= x,
/// where the columns left of the tile come in through carry[r], which leaves with the row's new running sum.
/// Everything is read at x before it is written at x: out[r] may be in[r], and above may be out[rows-1].
/// Pointers may have any alignment but carry's. Integer tables: arithmetic modulo 2^k in the unsigned type.
/// The order of float additions depends on n and the SIMD target alone.
using ScanRows = void (*)(const void* const* in, const void* above, void* const* out, void* carry, int rows,
                          std::int64_t n);

/// The kernel that sums pixels (or their squares) of that type into that table type for this CPU; nullptr if none.
ScanRows scan_rows(Type input, Type table, bool squares);

/// bytes of one row into the table, past the caches: non-temporal stores where the target is aligned.
using StreamRow = void (*)(void* to, const void* from, std::int64_t bytes);
StreamRow stream_row();
/// Non-temporal stores before this are visible to whoever sees what is stored after it.
void fence_streams();

}  // namespace areal::cpu
