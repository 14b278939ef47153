#include "pieces/spread/cut.hpp"

#include <algorithm>

namespace areal::pieces {
namespace {

constexpr std::int64_t kernel_tile = 256;    // columns of the look-back kernel's largest tiles
constexpr std::int64_t chosen_bands = 48;    // of a wide image: the devices' delay is about one of these for each
constexpr std::int64_t least_width = 1024;   // a launch on fewer columns is too short
constexpr std::int64_t least_height = 4096;  // of a strip that is worth two parts

std::int64_t whole_tiles(std::int64_t columns) { return (columns + kernel_tile - 1) / kernel_tile * kernel_tile; }

}  // namespace

std::vector<std::int64_t> even_rows(std::int64_t height, std::size_t strips) {
  const auto n = static_cast<std::int64_t>(strips);
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < n; ++i) rows.push_back(height / n + (i < height % n ? 1 : 0));
  return rows;
}

SpreadCut cut_spread(const Shape& image, Border border, const std::vector<SpreadRows>& strips, const SpreadWish& wish) {
  SpreadCut cut;
  const bool exclusive = border == Border::exclusive;
  cut.width = std::max<std::int64_t>(0, image.width - (exclusive ? 1 : 0));
  const auto has_rows = [](const SpreadRows& rows) { return rows.count > 0; };
  const bool alone = std::count_if(strips.begin(), strips.end(), has_rows) < 2;

  std::int64_t band = wish.band_width;
  if (band == 0) band = alone ? cut.width : std::max(least_width, whole_tiles(cut.width / chosen_bands));
  for (std::int64_t x = 0; x < cut.width;) {
    x = band < cut.width - x ? x + band : cut.width;
    cut.bands.push_back(x);
  }
  if (cut.width == 0) return cut;

  for (std::size_t s = 0; s < strips.size(); ++s) {
    const auto after = strips.begin() + static_cast<std::ptrdiff_t>(s) + 1;
    const bool is_last = std::none_of(after, strips.end(), has_rows);
    const std::int64_t body = strips[s].count - (exclusive && strips[s].count > 0 ? 1 : 0);
    const std::int64_t wanted = wish.parts > 0                                              ? wish.parts
                                : wish.on_cuda && !alone && strips[s].count >= least_height ? 2
                                                                                            : 1;
    std::int64_t y = strips[s].first;
    for (const std::int64_t rows : even_rows(body, static_cast<std::size_t>(wanted))) {
      if (rows == 0) break;
      cut.parts.push_back({s, y, rows, false});
      y += rows;
    }
    if (exclusive && strips[s].count > 0 && !is_last) cut.parts.push_back({s, y, 1, true});
  }
  return cut;
}

}  // namespace areal::pieces
