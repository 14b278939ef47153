#pragma once
// Column sums, for bands of rows that pass them on before they compute their rows (bands.cpp).

#include <areal/type.hpp>
#include <cstdint>

namespace areal::cpu {

/// sums[x] += in[0][x] + .. + in[rows-1][x], or their squares, of n pixels at any alignment, modulo 2^k in the unsigned
/// type. `sums` is aligned as its elements.
using AddRows = void (*)(const void* const* in, void* sums, int rows, std::int64_t n);
/// Rows added at once, so that `sums` is read and written once for all of them.
inline constexpr int most_added_rows = 8;
/// The loop for pixels of that type and a table of integers; nullptr if there is none.
AddRows add_rows(Type input, Type table, bool squares);

/// `own` gets `sums`, and `sums` gets `sums` + `own`: n elements of the table's type.
void hand_on(void* sums, void* own, std::int64_t n, Type table);

}  // namespace areal::cpu
