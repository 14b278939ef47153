#pragma once
// Sums of a strip's columns: of integer pixels in host memory, modulo 2^k. Reads each pixel once, O(W) memory.

#include <areal/type.hpp>
#include <areal/view.hpp>
#include <cstdint>

namespace areal::mpi {

/// The summand of a pixel.
enum class Term : std::uint8_t { pixel, square, one };

/// row[1 + x] = the sum of the strip's columns up to x, for each plane: the last row of the strip's table of border
/// `zero`, whose type (32 or 64 bits) and layout `row` has, 1 x (W + 1). With `reverse`, row[x] sums the columns from x
/// on, and the last value is the corner. A mask, if given, excludes the pixels where it is 0. `threads` 0: all.
void column_sums(const ConstView& strip, const ConstView& mask, Term term, bool reverse, int threads, const View& row);

}  // namespace areal::mpi
