#pragma once
// The choice of `auto` among the algorithms of filters.

#include <areal/filter.hpp>
#include <areal/type.hpp>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

namespace areal::policy {

inline bool is_extreme(const Filter& filter) {
  return std::holds_alternative<filter::Minimum>(filter) || std::holds_alternative<filter::Maximum>(filter);
}

inline bool is_gaussian(std::string_view algorithm) {
  return algorithm == "convolution" || algorithm == "extended-boxes";
}

/// The filter gives one of the window's pixels: its type is the image's.
inline bool is_rank(const Filter& filter) { return std::holds_alternative<filter::Percentile>(filter); }
/// Of a window's counts by level.
inline bool is_of_levels(const Filter& filter) {
  return std::holds_alternative<filter::Equalize>(filter) || std::holds_alternative<filter::Otsu>(filter) ||
         std::holds_alternative<filter::Entropy>(filter) || std::holds_alternative<filter::Modal>(filter) ||
         std::holds_alternative<filter::Bilateral>(filter);
}
inline bool is_bilateral(const Filter& filter) { return std::holds_alternative<filter::Bilateral>(filter); }
inline bool keeps_type(const Filter& filter) {
  return is_extreme(filter) || is_rank(filter) ||
         (is_of_levels(filter) && !std::holds_alternative<filter::Entropy>(filter) && !is_bilateral(filter));
}

inline bool is_of_ranks(std::string_view algorithm) {
  return algorithm == "network" || algorithm == "column-counts" || algorithm == "classes";
}

/// On the CPU. `walk` subtracts the row that leaves a window, which only integers allow, and only in sums.
inline bool takes(std::string_view algorithm, const Filter& filter, Type in) {
  if (std::holds_alternative<filter::Guided>(filter)) return algorithm == "guided-walk";
  if (std::holds_alternative<filter::Gaussian>(filter)) return is_gaussian(algorithm);
  if (is_extreme(filter)) return algorithm == "van-herk" || algorithm == "blocks";
  if (is_rank(filter)) return is_of_ranks(algorithm);
  if (is_of_levels(filter))
    return algorithm == "column-counts" || (algorithm == "sliding-counts" && !is_bilateral(filter));
  return algorithm == (is_float(in) ? "blocks" : "walk");
}

/// The filters that a table of sums answers, where each pixel has a window of its own.
inline bool has_sizes(const Filter& filter) {
  if (const auto* threshold = std::get_if<filter::Threshold>(&filter)) return threshold->method != filter::Local::wolf;
  return std::holds_alternative<filter::Sum>(filter) || std::holds_alternative<filter::Mean>(filter) ||
         std::holds_alternative<filter::Count>(filter) || std::holds_alternative<filter::Variance>(filter) ||
         std::holds_alternative<filter::StandardDeviation>(filter);
}

/// The algorithms of all backends for windows of `rows` rows, the fastest first. Weights of a wide Gaussian cost more
/// than boxes.
inline std::vector<std::string_view> ranked_filters(const Filter& filter, Type in, std::int64_t rows) {
  if (std::holds_alternative<filter::Guided>(filter)) return {"guided-walk"};
  if (const auto* gaussian = std::get_if<filter::Gaussian>(&filter)) {
    if (gaussian->passes == 0 && gaussian->sigma_x <= 8 && gaussian->sigma_y <= 8) return {"convolution"};
    return {"extended-boxes"};
  }
  if (is_extreme(filter)) return {"van-herk", "blocks"};
  if (is_rank(filter)) return {"network", "column-counts", "classes", "window-counts"};
  if (is_bilateral(filter)) return {"column-counts", "window-counts"};
  // One thread of an AMD EPYC with AVX-512, 512x512 of 8 bits, ns a pixel by columns and by sliding: entropy of noise
  // in 15x15 319 and 41, 63x63 377 and 141, of a photograph 121 and 46, 185 and 148; Otsu's 31x31 1282 and 1152, 476
  // and 461. Beyond, and for the others, columns are as fast or faster.
  const bool slides = (std::holds_alternative<filter::Entropy>(filter) && rows <= 63) ||
                      (std::holds_alternative<filter::Otsu>(filter) && rows <= 31);
  if (slides) return {"sliding-counts", "column-counts", "window-counts"};
  if (is_of_levels(filter)) return {"column-counts", "sliding-counts", "window-counts"};
  return {is_float(in) ? "blocks" : "walk"};
}

/// The filters of an algorithm on the CPU.
inline std::string_view taken_by(std::string_view algorithm) {
  if (algorithm == "table") return "windows of a size per pixel";
  if (algorithm == "walk") return "sums of integers";
  if (algorithm == "blocks") return "floats, minimum and maximum";
  if (algorithm == "van-herk") return "minimum and maximum";
  if (algorithm == "column-counts") return "percentiles, equalize, otsu, entropy, modal and bilateral filters";
  if (algorithm == "sliding-counts") return "equalize, otsu, entropy and modal";
  if (is_of_ranks(algorithm)) return "percentiles";
  return algorithm == "guided-walk" ? "guided filters" : "Gaussians";
}

/// Why `auto` chooses it on the CPU.
inline std::string_view reason_for(std::string_view algorithm) {
  if (algorithm == "table") return "a table of sums answers windows of any sizes";
  if (algorithm == "walk") return "sums of integers follow from the row before";
  if (algorithm == "van-herk") return "the fastest for minimum and maximum";
  if (algorithm == "convolution") return "the weights of a narrow Gaussian are few";
  if (algorithm == "extended-boxes") return "boxes cost the same for every sigma";
  if (algorithm == "network") return "medians of a few pixels are sorted in registers";
  if (algorithm == "column-counts") return "8-bit pixels are counted by level";
  if (algorithm == "window-counts") return "8-bit pixels of every window are counted";
  if (algorithm == "sliding-counts") return "few counts change from pixel to pixel";
  if (algorithm == "classes") return "it takes percentiles of every type and window";
  return "the only one that takes this";
}

}  // namespace areal::policy
