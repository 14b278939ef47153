#pragma once
// The 45 degree tilted table, equal to OpenCV's: T(X, Y) sums the pixels with y < Y and |x - X + 1| <= Y - y - 1.
//
// With A(c, r) = I(c, r) + A(c+1, r-1), the sum along the right diagonal from (c, r) up, T(X, Y) = T(X-1, Y-1) + A(X-1,
// Y-1) + A(X-1, Y-2) and T(0, Y) = T(1, Y-1). These are additions only, so floats never cancel, and no entry depends on
// its row, so rows vectorise. Strips of columns run in parallel for a band of rows. Each computes its own halo, as wide
// as the band is high. At the end of a band the strips leave their last rows for the next band. Reads 1 (and the halo),
// writes 1 per element.

#include <areal/execution.hpp>
#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>

namespace areal::cpu {

std::size_t tilted_workspace_bytes(const Shape& image, TypePair types);

/// The tilted tables of one image of `channels` planes into (H+1)x(W+1) each. `valid`, if given, is a mask.
struct TiltedArguments {
  ConstView image, mask;
  View tilted;
  bool ignore_nan = false;
};
/// Between bands of rows it calls `progress`, which may cancel, on the calling thread; `further` is later work in its
/// units.
void tilted(const TiltedArguments& arguments, TypePair types, void* workspace, int threads, const Progress& progress,
            std::int64_t further);
/// The number of calls of `progress`.
std::int64_t tilted_bands(const Shape& image);

}  // namespace areal::cpu
