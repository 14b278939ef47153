#pragma once
// Row kernels of the tiled summed-area table: typed and vectorised inside, untyped outside, so that tiles.cpp, which
// calls them, is written once.

#include <areal/type.hpp>
#include <cstdint>

namespace areal::cpu {

/// Rows that a kernel processes at once, so that their running sums hide each other's latency and the row above is read
/// once for all of them.
inline constexpr int max_rows = 4;

/// Inclusive sums of `rows` neighbouring rows of n pixels: out[r][x] = above[x] + sum over rows <= r, columns <= x.
/// carry[r] adds the columns left of the tile, and returns the row's new running sum. Everything is read at x before it
/// is written at x: out[r] may be in[r], and above may be out[rows-1]. Pointers may have any alignment, except carry.
/// Integer tables: arithmetic modulo 2^k in the unsigned type. The order of float additions depends on n and the SIMD
/// target alone. `next`, if not null, has the rows that will be written after these; their beginnings are prefetched.
using ScanRows = void (*)(const void* const* in, const void* above, void* const* out, const void* const* next,
                          void* carry, int rows, std::int64_t n);

/// The kernel that sums pixels (or their squares) of that type into that table type for this CPU. There is one for
/// every type pair; nullptr for other sums, and for squares that the type cannot hold. A reversed one sums from the
/// last column to the first, out[r][x] = above[x] + sum over rows <= r, columns >= x: carry[r] adds the columns right
/// of the tile, and the begin and the end of a row exchange their roles.
ScanRows scan_rows(Type input, Type table, bool squares, bool reverse = false);

}  // namespace areal::cpu
