#include "view/scene.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include "view/element.hpp"

namespace areal::view {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr double tile_whites = 65534;  // entries of a tile of type 1; 65535 stands for NaN

template <class T>
void put(std::string& to, std::size_t at, T value) {
  std::memcpy(to.data() + at, &value, sizeof value);
}

}  // namespace

std::string new_tile(const TileHeader& header, std::size_t entry) {
  const auto entries = static_cast<std::size_t>(header.width * header.height) * header.channels;
  std::string tile(tile_header_bytes + entries * entry, '\0');
  std::memcpy(tile.data(), "artl\1", 5);
  put(tile, 5, header.type);
  put(tile, 6, header.channels);
  put(tile, 8, static_cast<std::uint16_t>(header.width));
  put(tile, 10, static_cast<std::uint16_t>(header.height));
  put(tile, 12, static_cast<float>(header.scale));
  put(tile, 16, static_cast<float>(header.offset));
  return tile;
}

Scene::Scene(Facts facts) : facts_(std::move(facts)), levels_(levels_of(facts_.full)) {
  Binning::uniform(facts_.bins, facts_.range.first, facts_.range.second);  // refuses what it refuses later
}

std::pair<double, double> Scene::range() const {
  const std::lock_guard held(range_lock_);
  return facts_.range;
}

void Scene::set_range(std::pair<double, double> range) {
  if (kind() == Kind::table) throw InvalidArgument("range: a table of sums has no histogram");
  Binning::uniform(facts_.bins, range.first, range.second);  // refuses what it refuses later
  {
    const std::lock_guard held(range_lock_);
    if (facts_.range == range) return;
    facts_.range = range;
  }
  range_changed();
}

std::optional<std::size_t> Scene::colour() const noexcept {
  return facts_.has_colour ? std::optional(channels()) : std::nullopt;
}

bool Scene::has_tile(std::uint64_t channel, std::uint64_t level, std::uint64_t column,
                     std::uint64_t row) const noexcept {
  const auto tiles = [](std::int64_t extent) {
    return static_cast<std::uint64_t>((extent + tile_side - 1) / tile_side);
  };
  return (channel < channels() || colour() == channel) && level < levels_.size() &&
         column < tiles(levels_[level].width) && row < tiles(levels_[level].height);
}

std::string Scene::tile(std::size_t channel, std::size_t level, std::int64_t column, std::int64_t row) const {
  const bool in_colour = channel == colour();
  const std::size_t planes = in_colour ? 3 : 1, first = in_colour ? 1 : channel;
  const Extent& extent = levels_.at(level);
  Region part{column * tile_side, row * tile_side, 0, 0};
  part.width = std::min(tile_side, extent.width - part.x), part.height = std::min(tile_side, extent.height - part.y);
  const bool is_bytes = type() == Type::u8;
  const std::size_t entry = is_bytes ? 1 : 2;
  const auto [black, white] = drawn();
  const double scale = is_bytes ? 1 : (white - black) / tile_whites, offset = is_bytes ? 0 : black;
  const auto kind = static_cast<std::uint8_t>(is_bytes ? 0 : 1), channels = static_cast<std::uint8_t>(planes);
  std::string tile = new_tile({kind, channels, part.width, part.height, scale, offset}, entry);
  with_pixels(first, planes, level, part, [&](std::size_t p, const ConstView& from) {
    with_type(from.type, [&]<class T>(T*) {
      for (std::int64_t y = 0; y < part.height; ++y) {
        char* to = tile.data() + tile_header_bytes + (static_cast<std::size_t>(y * part.width) * planes + p) * entry;
        const void* pixels = from.row(y);
        for (std::int64_t x = 0; x < part.width; ++x, to += planes * entry) {
          const auto value = element<T>(pixels, x);
          if constexpr (std::is_same_v<T, std::uint8_t>) {
            if (is_bytes) {
              *to = static_cast<char>(value);
              continue;
            }
          }
          const double at = std::clamp((static_cast<double>(value) - offset) / scale, 0.0, tile_whites);
          const auto whole = std::isnan(at) ? std::uint16_t{65535} : static_cast<std::uint16_t>(std::lround(at));
          std::memcpy(to, &whole, sizeof whole);
        }
      }
    });
  });
  return tile;
}

Array Scene::copy(std::size_t channel, std::size_t level, const Region& region) const {
  Array pixels;
  for (std::int64_t top = 0; top < region.height; top += tile_side)
    for (std::int64_t left = 0; left < region.width; left += tile_side) {
      const Region part{region.x + left, region.y + top, std::min(tile_side, region.width - left),
                        std::min(tile_side, region.height - top)};
      with_pixels(channel, 1, level, part, [&](std::size_t, const ConstView& from) {
        if (pixels.shape().empty()) pixels = Array(Shape{region.width, region.height}, from.type);
        const std::size_t size = size_of(from.type);
        for (std::int64_t y = 0; y < part.height; ++y) {
          const auto* pixel = static_cast<const char*>(from.row(y));
          char* to = static_cast<char*>(pixels.view().row(top + y)) + static_cast<std::size_t>(left) * size;
          for (std::int64_t x = 0; x < part.width; ++x, pixel += from.column_pitch(), to += size)
            std::memcpy(to, pixel, size);
        }
      });
    }
  return pixels;
}

std::pair<Array, std::size_t> Scene::drawing(std::size_t channel, std::pair<double, double> black_and_white) const {
  const bool in_colour = channel == colour();
  const std::size_t planes = in_colour ? 3 : 1, first = in_colour ? 1 : channel;
  const double black = black_and_white.first, width_of_grays = black_and_white.second - black;
  const double scale = width_of_grays > 0 ? 255 / width_of_grays : 0;
  std::size_t level = 0;
  while (levels_[level].width > facts_.most_drawn / levels_[level].height) ++level;
  const Extent& extent = levels_[level];
  Array drawing(Shape{extent.width, extent.height, static_cast<std::int64_t>(planes)}, Type::u8);
  for (std::int64_t top = 0; top < extent.height; top += tile_side)
    for (std::int64_t left = 0; left < extent.width; left += tile_side) {
      const Region part{left, top, std::min(tile_side, extent.width - left), std::min(tile_side, extent.height - top)};
      with_pixels(first, planes, level, part, [&](std::size_t p, const ConstView& from) {
        with_type(from.type, [&]<class T>(T*) {
          for (std::int64_t y = 0; y < part.height; ++y) {
            auto* to = static_cast<std::uint8_t*>(drawing.view().row(top + y)) +
                       left * static_cast<std::int64_t>(planes) + static_cast<std::int64_t>(p);
            for (std::int64_t x = 0; x < part.width; ++x, to += planes) {
              const double at = (static_cast<double>(element<T>(from.row(y), x)) - black) * scale;
              *to = at > 0 ? static_cast<std::uint8_t>(std::lround(std::min(at, 255.0))) : std::uint8_t{0};
            }
          }
        });
      });
    }
  return {std::move(drawing), level};
}

}  // namespace areal::view
