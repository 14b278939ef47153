// Values as colours.
#include <algorithm>
#include <areal/error.hpp>
#include <cmath>
#include <limits>
#include "media/media.hpp"

namespace areal::media {
namespace {

// Nine steps of matplotlib's colour map `inferno` (CC0), whose lightness rises evenly, so that it works in grey too.
constexpr double steps[9][3] = {{252, 255, 164}, {249, 201, 50}, {249, 142, 9}, {228, 90, 49}, {188, 55, 84},
                                {138, 34, 106},  {87, 16, 110},  {33, 12, 74},  {0, 0, 4}};

}  // namespace

Array heat_map(const ConstView& values) {
  const Shape& s = values.shape;
  if (values.type != Type::f32 || s.channels != 1 || s.batch != 1)
    throw InvalidArgument("values of a heat map are " + std::string(name_of(values.type)) + " with " +
                          std::to_string(s.channels) + " channels: they must be 32f of one channel");
  const auto row = [&](std::int64_t y) { return static_cast<const float*>(values.row(y)); };
  float least = std::numeric_limits<float>::max(), most = std::numeric_limits<float>::lowest();
  for (std::int64_t y = 0; y < s.height; ++y)
    for (std::int64_t x = 0; x < s.width; ++x)
      if (std::isfinite(row(y)[x])) least = std::min(least, row(y)[x]), most = std::max(most, row(y)[x]);
  Array out(Shape{s.width, s.height, 3}, Type::u8);
  std::uint8_t* to = out.as<std::uint8_t>();
  for (std::int64_t y = 0; y < s.height; ++y)
    for (std::int64_t x = 0; x < s.width; ++x, to += 3) {
      const double value = row(y)[x];
      if (std::isnan(value)) {
        std::fill_n(to, 3, std::uint8_t{0});
        continue;
      }
      const double span = static_cast<double>(most) - least;
      const double at = span > 0 ? std::clamp((value - least) / span, 0.0, 1.0) * 8 : 0;
      const auto step = std::min(static_cast<int>(at), 7);
      for (int c = 0; c < 3; ++c)
        to[c] = static_cast<std::uint8_t>(std::lround(std::lerp(steps[step][c], steps[step + 1][c], at - step)));
    }
  return out;
}

}  // namespace areal::media
