#pragma once
// The paths that a page requests, below /TOKEN/. A fixed table: no path of a client is opened as a file.

#include <cstdint>
#include <string_view>

namespace areal::command::page {

struct Route {
  enum class Kind : std::uint8_t {
    none,
    page,
    app,
    picture,
    tile,
    layer,
    regions_csv,
    statistics_csv,
    histograms_csv,
    tracks_csv,
    picture_png,
    page_html,
    socket
  };
  Kind kind = Kind::none;
  std::string_view name;                                                      // of an app file
  std::uint64_t generation = 0, channel = 0, level = 0, column = 0, row = 0;  // of a tile
  std::uint64_t id = 0;                                                       // of a layer
};

/// The route of a path without its /TOKEN/; `none` for any other.
Route route_of(std::string_view path) noexcept;

}  // namespace areal::command::page
