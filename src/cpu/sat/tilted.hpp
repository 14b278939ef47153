#pragma once
// The 45 degree tilted table, equal to OpenCV's: T(X, Y) sums the pixels with y < Y and |x - X + 1| <= Y - y - 1.
//
// With A(c, r) = I(c, r) + A(c+1, r-1), the sum up the right diagonal from (c, r),
// T(X, Y) = T(X-1, Y-1) + A(X-1, Y-1) + A(X-1, Y-2) and T(0, Y) = T(1, Y-1): additions only, so floats never cancel,
// and nothing along a row, so rows vectorise. Strips of columns run in parallel for a band of rows, each with a rim of
// the band's height that it computes for itself; at the end of a band the strips leave their last rows for the next.
// Reads 1 (and the rim), writes 1 per element.

#include <areal/execution.hpp>
#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <cstddef>

namespace areal::cpu {

std::size_t tilted_workspace_bytes(const Shape& image, TypePair types);

/// The tilted tables of one image of `channels` planes into (H+1)x(W+1) each. `valid`, where given, is a mask.
struct TiltedArguments {
  ConstView image, mask;
  View tilted;
  bool ignore_nan = false;
};
void tilted(const TiltedArguments& arguments, TypePair types, void* workspace, int threads);

}  // namespace areal::cpu
