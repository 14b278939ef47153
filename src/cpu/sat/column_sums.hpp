#pragma once
// Sums of columns, for bands of rows that hand them on before they compute their rows (bands.cpp).

#include <areal/type.hpp>
#include <cstdint>

namespace areal::cpu {

/// sums[x] += in[0][x] + .. + in[rows-1][x], or their squares, of n pixels at any alignment, modulo 2^k in the unsigned
/// type. `sums` is aligned as its elements.
using AddRows = void (*)(const void* const* in, void* sums, int rows, std::int64_t n);
/// Rows that are added at once, so that `sums` is read and written once for all of them.
inline constexpr int most_added_rows = 8;
/// The loop for pixels of that type and a table of integers; nullptr where there is none.
AddRows add_rows(Type input, Type table, bool squares);

/// `sums` becomes `sums` + `own`, and `own` what `sums` was: n elements of the table's type.
void hand_on(void* sums, void* own, std::int64_t n, Type table);

}  // namespace areal::cpu
