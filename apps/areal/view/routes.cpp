#include "view/routes.hpp"

#include <array>
#include <charconv>

namespace areal::command::page {
namespace {

constexpr std::string_view app = "app/", tile = "tile/", layer = "layer/";

/// "1/2/3/4/5" into five numbers: decimal digits without leading zeros or signs.
template <std::size_t N>
bool read_numbers(std::string_view text, std::array<std::uint64_t*, N> into) noexcept {
  for (std::size_t i = 0; i < into.size(); ++i) {
    const char* const end = text.data() + text.size();
    const bool is_digit = !text.empty() && text[0] >= '0' && text[0] <= '9';
    const bool has_zero = text.size() > 1 && text[0] == '0' && text[1] != '/';
    if (!is_digit || has_zero) return false;
    const auto [at, error] = std::from_chars(text.data(), end, *into[i]);
    if (error != std::errc()) return false;
    const bool is_last = i + 1 == into.size();
    if (is_last ? at != end : at == end || *at != '/') return false;
    text.remove_prefix(static_cast<std::size_t>(at - text.data()) + (is_last ? 0 : 1));
  }
  return true;
}

}  // namespace

Route route_of(std::string_view path) noexcept {
  using Kind = Route::Kind;
  Route route;
  if (path.empty()) route.kind = Kind::page;
  if (path == "picture.json") route.kind = Kind::picture;
  if (path == "ws") route.kind = Kind::socket;
  if (path == "export/regions.csv") route.kind = Kind::regions_csv;
  if (path == "export/statistics.csv") route.kind = Kind::statistics_csv;
  if (path == "export/histograms.csv") route.kind = Kind::histograms_csv;
  if (path == "export/tracks.csv") route.kind = Kind::tracks_csv;
  if (path == "export/picture.png") route.kind = Kind::picture_png;
  if (path == "export/page.html") route.kind = Kind::page_html;
  if (path.starts_with(app)) {
    route.kind = Kind::app;
    route.name = path.substr(app.size());
  }
  if (path.starts_with(tile) &&
      read_numbers(path.substr(tile.size()),
                   std::array{&route.generation, &route.channel, &route.level, &route.column, &route.row}))
    route.kind = Kind::tile;
  if (path.starts_with(layer) && read_numbers(path.substr(layer.size()), std::array{&route.id}))
    route.kind = Kind::layer;
  return route;
}

}  // namespace areal::command::page
