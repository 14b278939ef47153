#pragma once
// What `auto` is for integral histograms on a device, from measurements: docs/notes/cuda-histogram.md.

#include <areal/border.hpp>
#include <areal/type.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <string_view>
#include <vector>

namespace areal::policy {

struct HistogramQuestion {
  Shape image;
  Type pixels = Type::u8, counter = Type::u32;
  std::int64_t bins = 0;
  Border border = Border::none;
  bool weighted = false;
};

/// The widest rows for which count-then-write was the faster: of 32-bit counters up to those of 3840x2160 with 32 bins
/// (8192x8192 with 128 was not), of 16-bit ones those of less than 1920x1080.
constexpr std::int64_t widest_counted(Type counter) { return counter == Type::u16 ? 1024 : 3840; }

/// The algorithms to try, best first; the last takes any request and views.
inline std::vector<std::string_view> ranked_histograms(const HistogramQuestion& asked) {
  const bool counts = asked.counter == Type::u32 || asked.counter == Type::u16;
  const bool bytes = size_of(asked.pixels) == 1 && asked.image.channels == 1;
  // Odd widths have rows that begin off alignment, unless they are padded.
  const bool measured = asked.bins >= 32 && asked.bins <= 128 && asked.image.width <= widest_counted(asked.counter) &&
                        asked.image.width % 4 == 0;
  if (counts && bytes && !asked.weighted && asked.border == Border::none && measured)
    return {"count-then-write", "reduce-then-scan"};
  return {"reduce-then-scan"};
}

}  // namespace areal::policy
