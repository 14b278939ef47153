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

/// The requests for which count-then-write was faster. With 32-bit counters, at 4096x4096 it was slower with 16, 128
/// and 256 bins; with 16-bit ones, at 1280x720 and 1920x1080, and others than 32 to 128 bins were not measured.
struct Counted {
  std::int64_t least_bins, most_bins, most_width;
};
constexpr Counted counted(Type counter) {
  return counter == Type::u16 ? Counted{32, 128, 1024} : Counted{16, 256, 3840};
}

/// The algorithms to try, best first; the last supports any request and views.
inline std::vector<std::string_view> ranked_histograms(const HistogramQuestion& question) {
  const bool counts = question.counter == Type::u32 || question.counter == Type::u16;
  const bool bytes = size_of(question.pixels) == 1 && question.image.channels == 1;
  // Rows of odd widths are unaligned, unless they are padded.
  const Counted range = counted(question.counter);
  const bool measured = question.bins >= range.least_bins && question.bins <= range.most_bins &&
                        question.image.width <= range.most_width && question.image.width % 4 == 0;
  if (counts && bytes && !question.weighted && question.border == Border::none && measured)
    return {"count-then-write", "reduce-then-scan"};
  return {"reduce-then-scan"};
}

}  // namespace areal::policy
