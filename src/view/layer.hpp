#pragma once
// What is computed on the visible part of a scene and drawn over it: a filter of each pixel's window, or how near each
// window is to a region that is searched.

#include <areal/array.hpp>
#include <areal/filter.hpp>
#include <areal/histogram_measures.hpp>
#include <areal/match.hpp>
#include <areal/region.hpp>
#include <cstdint>
#include <string>
#include <vector>
#include "view/scene.hpp"

namespace areal::view {

/// The part of a channel that a layer covers, in pixels of the full size.
struct LayerPart {
  std::size_t channel = 0;
  Region view;
  std::uint64_t memory = 0;  // bytes that its computation may take
  int threads = 0;
};

struct Place {
  Region box;  // in pixels of the full size
  double score = 0;
};

struct Layer {
  std::size_t level = 0;       // of the scene: the first at which the part, its halo included, has at most 4 megapixels
  Region box;                  // in pixels of that level
  Array values;                // 32f, of the box's extent
  double least = 0, most = 0;  // of the finite values; NaN if there are none
  std::vector<Place> places;   // of a search: up to ten, the best first
};

inline constexpr std::int64_t most_layer_pixels = std::int64_t{1} << 22, most_places = 10;
inline constexpr std::int64_t search_bins = 16;

/// The filter of the visible pixels, whose windows may reach beyond them; sizes are in pixels of the level. Extremes of
/// the whole picture, which wolf and, of 16u, equalize need, and the other side of edge `wrap`, come from a level that
/// fits as a whole. Throws what FilterPlan throws, and Cancelled.
Layer filtered(const Scene& scene, const LayerPart& part, const Filter& filter, const FilterOptions& options);

/// How a region matches each window of its size, by the pixel in the window's middle. Throws what MatchPlan throws, and
/// Cancelled.
Layer matched(const Scene& scene, const LayerPart& part, const Region& target, MatchMethod method);

/// The distance of the histogram of each window of a region's size from the region's.
Layer searched(const Scene& scene, const LayerPart& part, const Region& target, Distance measure);

/// As a tile of type 2, whose entries are 32f.
std::string layer_tile(const Layer& layer);

}  // namespace areal::view
