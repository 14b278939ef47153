#pragma once
// The size of a picture's pixels, as its file states it.

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace areal::media {

// Width and height of a pixel in micrometres.
struct PixelSize {
  double x = 0, y = 0;
};

// Nothing unless both lengths are positive, and at most a kilometre.
inline std::optional<PixelSize> pixel_size_of(double x, double y) {
  constexpr double most = 1e9;
  if (!(x > 0 && x <= most && y > 0 && y <= most)) return {};
  return PixelSize{x, y};
}

// Micrometres of a unit of length, as OME, ImageJ and Zarr write it; 0 for anything else.
inline double micrometres_of(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 22> units{
      {{"micrometer", 1},   {"micrometre", 1},   {"micron", 1},       {"microns", 1},     {"um", 1},
       {"\xC2\xB5m", 1},  // the micro sign
       {"\xCE\xBCm", 1},  // the Greek letter
       {"\\u00B5m", 1},   // as ImageJ escapes it
       {"nanometer", 1e-3}, {"nanometre", 1e-3}, {"nm", 1e-3},        {"angstrom", 1e-4}, {"millimeter", 1e3},
       {"millimetre", 1e3}, {"mm", 1e3},         {"centimeter", 1e4}, {"cm", 1e4},        {"inch", 25400},
       {"in", 25400},       {"meter", 1e6},      {"metre", 1e6},      {"m", 1e6}}};
  for (const auto& [name, length] : units)
    if (unit == name) return length;
  return 0;
}

}  // namespace areal::media
