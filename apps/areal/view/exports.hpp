#pragma once
// What a page saves: regions, their statistics and histograms as CSV, and the picture with its regions as PNG.

#include <string>
#include <vector>
#include "view/film.hpp"
#include "view/regions.hpp"
#include "view/scene.hpp"

namespace areal::command::page {

/// x,y,width,height,name: what --regions reads.
std::string regions_csv(const std::vector<view::DrawnRegion>& regions);
/// A row for each region, and for each channel if there are several.
std::string statistics_csv(const view::Scene& picture, const std::vector<view::DrawnRegion>& regions);
/// The columns of `areal hist`.
std::string histograms_csv(const view::Scene& picture, const std::vector<view::DrawnRegion>& regions);
/// The rows of `areal track`, of all regions that were followed.
std::string tracks_csv(const view::Film& film);
/// In colour if there is colour, else the first channel between the smallest and the largest value. A picture on
/// disk of more than 4 megapixels is drawn smaller.
std::string picture_png(const view::Scene& picture, const std::vector<view::DrawnRegion>& regions);

}  // namespace areal::command::page
