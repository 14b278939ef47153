#pragma once
// The row step of the tilted table, typed and vectorised inside (tilted-types.cpp), untyped outside (tilted.cpp).

#include <areal/type.hpp>
#include <cstdint>

namespace areal::cpu {

/// One image row of n pixels. diagonal[0..n] holds A of the row before on entry, and A of this row in [0, n) on return.
/// next[1..n] = before[0..n-1] + A of this row + A of the row before. The caller sets next[0].
using TiltedRow = void (*)(const void* pixels, void* diagonal, const void* before, void* next, std::int64_t n);

/// The kernel for those types. There is one for every type pair; nullptr for other types.
TiltedRow tilted_row(Type input, Type table);

TiltedRow tilted_row_of_32u(Type input);
TiltedRow tilted_row_of_64u(Type input);
TiltedRow tilted_row_of_32f(Type input);
TiltedRow tilted_row_of_64f(Type input);

}  // namespace areal::cpu
