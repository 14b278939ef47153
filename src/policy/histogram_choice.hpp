#pragma once
// The choice of `auto` for integral histograms on a device, from measurements: docs/notes/cuda-histogram.md.

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

/// The widest rows for which count-then-write was faster: with 32-bit counters those of 3840x2160 with 32 bins
/// (8192x8192 with 128 was not), with 16-bit ones those of less than 1920x1080.
constexpr std::int64_t widest_counted(Type counter) { return counter == Type::u16 ? 1024 : 3840; }

/// The algorithms to try, best first; the last supports any request and views.
inline std::vector<std::string_view> ranked_histograms(const HistogramQuestion& question) {
  const bool counts = question.counter == Type::u32 || question.counter == Type::u16;
  const bool bytes = size_of(question.pixels) == 1 && question.image.channels == 1;
  // Rows of odd widths are unaligned, unless they are padded.
  const bool measured = question.bins >= 32 && question.bins <= 128 &&
                        question.image.width <= widest_counted(question.counter) && question.image.width % 4 == 0;
  if (counts && bytes && !question.weighted && question.border == Border::none && measured)
    return {"count-then-write", "reduce-then-scan"};
  return {"reduce-then-scan"};
}

}  // namespace areal::policy
