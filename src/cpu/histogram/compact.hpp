#pragma once
// The compact store on the CPU (formulas/compact.hpp has its layout): an eighth to a hundredth of the tensor's memory.
// Build: rows of tiles of B x B pixels, which a thread walks from left to right behind the row above. A pixel is read
// once and counted twice, for its row and for its column of the tile; sums then pass over the counts. Column counts
// pass from a row of tiles to the next. Query: 4 anchors, 8 strips and the labels between 4 corners and their anchors.

#include <areal/region.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include "cpu/histogram/pixel_bins.hpp"
#include "formulas/compact.hpp"

namespace areal::cpu {

/// True if a pixel may lie in no bin.
bool has_no_bin(const PixelBins& rule);

/// Fills all c.bytes() of `store`. `image` has the layout's extents; of a pixel whose `mask` (8u, one channel, or
/// without data) is 0 the label is none. The same bytes for any number of threads and any SIMD target.
void build_compact(const formulas::Compact& c, const PixelBins& rule, const ConstView& image, const ConstView& mask,
                   std::byte* store, int threads);

/// Memory for compact_counts, for one thread at a time: zeros before the first call.
std::size_t compact_scratch_bytes(const formulas::Compact& c);

/// out[0 .. bins) = the histogram of a region inside the image. `scratch`, aligned to 64 bytes,
/// stays ready for the next call.
void compact_counts(const formulas::Compact& c, const std::byte* store, std::int64_t image, const Region& region,
                    std::byte* scratch, std::uint64_t* out);
void compact_counts(const formulas::Compact& c, const std::byte* store, std::int64_t image, const Region& region,
                    std::byte* scratch, double* out);

}  // namespace areal::cpu
