#include "exact_sums.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <limits>
#include "numbers.hpp"
#include "word_list.hpp"

namespace areal::command {
namespace {

__extension__ using Wide = unsigned __int128;

std::uint64_t magnitude(std::int64_t negative) noexcept { return 0 - static_cast<std::uint64_t>(negative); }

/// The largest value of an integer type.
std::uint64_t most_of(Type table) noexcept {
  const int bits = static_cast<int>(8 * size_of(table)) - (is_signed_integer(table) ? 1 : 0);
  return ~std::uint64_t{0} >> (64 - bits);
}

bool sum_fits(const PixelRange& pixels, std::int64_t n, Type table) noexcept {
  if (is_float(table)) return true;
  const Wide most = most_of(table), below = is_signed_integer(table) ? most + 1 : 0;
  return Wide{pixels.most} * static_cast<std::uint64_t>(n) <= most &&
         Wide{magnitude(pixels.least)} * static_cast<std::uint64_t>(n) <= below;
}

bool squares_fit(const PixelRange& pixels, std::int64_t n, Type table) noexcept {
  if (is_float(table) || n == 0) return true;
  const Wide largest = std::max(pixels.most, magnitude(pixels.least));
  return largest * largest <= most_of(table) / static_cast<std::uint64_t>(n);
}

template <class T>
PixelRange range_of_rows(const ConstView& image) {
  T least = 0, most = 0;
  std::vector<T> row(static_cast<std::size_t>(image.shape.width));
  for (std::int64_t n = 0; n < image.shape.batch; ++n)
    for (std::int64_t c = 0; c < image.shape.channels; ++c)
      for (std::int64_t y = 0; y < image.shape.height; ++y) {
        const auto* from = static_cast<const char*>(image.row(y, c, n));
        for (T& pixel : row) {
          std::memcpy(&pixel, from, sizeof(T));
          from += image.column_pitch();
        }
        for (const T pixel : row) least = std::min(least, pixel), most = std::max(most, pixel);
      }
  return {static_cast<std::int64_t>(least), static_cast<std::uint64_t>(most)};
}

/// What the user can do about a sum of that many pixels: the types that are wide enough, or 64f.
std::string remedy(const SumTypes& sums, std::int64_t pixels) {
  std::vector<std::string> names;
  for (const TypePair& pair : type_pairs())
    if (pair.input == sums.types.input && !is_float(pair.table) && sum_fits(sums.pixels, pixels, pair.table))
      names.push_back(name_of(pair));
  return names.empty() ? "no type of integers holds it: make the pixels 64f"
                       : "types that hold it: " + word_list(names);
}

}  // namespace

PixelRange range_of(Type type) noexcept {
  if (!is_signed_integer(type)) return {0, most_of(type)};
  return {-static_cast<std::int64_t>(most_of(type)) - 1, most_of(type)};
}

PixelRange range_of(const ConstView& image) {
  switch (image.type) {
    case Type::u8:
      return range_of_rows<std::uint8_t>(image);
    case Type::s8:
      return range_of_rows<std::int8_t>(image);
    case Type::u16:
      return range_of_rows<std::uint16_t>(image);
    case Type::s16:
      return range_of_rows<std::int16_t>(image);
    case Type::u32:
      return range_of_rows<std::uint32_t>(image);
    case Type::s32:
      return range_of_rows<std::int32_t>(image);
    case Type::u64:
      return range_of_rows<std::uint64_t>(image);
    case Type::s64:
      return range_of_rows<std::int64_t>(image);
    default:
      return {};
  }
}

PixelRange union_of(const PixelRange& a, const PixelRange& b) noexcept {
  return {std::min(a.least, b.least), std::max(a.most, b.most)};
}

bool SumTypes::fits(std::int64_t n) const noexcept {
  if (is_float(types.input)) return true;
  return sum_fits(pixels, n, types.table) && (!squares || squares_fit(pixels, n, *squares));
}

void require_exact(const SumTypes& sums, const std::vector<Region>& regions, const std::vector<Stat>& stats,
                   const Shape& image, std::int64_t depth) {
  if (is_float(sums.types.input)) return;
  const bool from_squares = needs_squares(stats) && sums.squares;
  const bool from_sums = from_squares || has(stats, Stat::sum) || has(stats, Stat::mean) || has(stats, Stat::tilted);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Region& r = regions[i];
    const std::int64_t width = std::clamp<std::int64_t>(r.width, 0, image.width),
                       height = std::clamp<std::int64_t>(r.height, 0, image.height),
                       n = width * height * depth * (has(stats, Stat::tilted) ? 2 : 1);
    const bool sum = !from_sums || sum_fits(sums.pixels, n, sums.types.table);
    const bool squares = !from_squares || squares_fit(sums.pixels, n, *sums.squares);
    const bool count = !has(stats, Stat::count) || n <= std::numeric_limits<std::uint32_t>::max();
    if (sum && squares && count) continue;
    const std::string what =
        fmt::format("region {} (x {}, y {}, width {}, height {}): ", i, r.x, r.y, r.width, r.height);
    if (!count) refuse(what, "its count may exceed 32u");
    const std::string pixels = sums.pixels.least < 0
                                   ? fmt::format("pixels are {} to {}", sums.pixels.least, sums.pixels.most)
                                   : fmt::format("pixels are up to {}", sums.pixels.most);
    if (!squares)
      refuse(what, "its sum of squares may exceed ", name_of(*sums.squares), ", as ", pixels, "; use --squares=64f");
    refuse(what, "its sum may exceed ", name_of(sums.types.table), ", as ", pixels, "; ", remedy(sums, n));
  }
}

}  // namespace areal::command
