#pragma once
// An image of any size, computed from a seed as it is read: pixel (x, y) is (row[y] + column[x]) mod 256. A region's
// sum follows from the histograms of its rows and columns.

#include <areal/pieces.hpp>
#include <areal/region.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace areal::bench {

class SeededImage {
 public:
  SeededImage(std::int64_t width, std::int64_t height, std::uint64_t seed)
      : columns_(bytes(width, 2 * seed)), rows_(bytes(height, 2 * seed + 1)) {}

  std::int64_t width() const noexcept { return static_cast<std::int64_t>(columns_.size()); }
  std::int64_t height() const noexcept { return static_cast<std::int64_t>(rows_.size()); }

  /// Reads 8u blocks. The reader refers to the image.
  ImageReader reader() const {
    return [this](std::int64_t x, std::int64_t y, const View& block) {
      const std::uint8_t* const column = columns_.data() + x;
      const auto width = static_cast<std::size_t>(block.shape.width);
      for (std::int64_t r = 0; r < block.shape.height; ++r) {
        auto* const to = static_cast<std::uint8_t*>(block.row(r));
        const std::uint8_t row = rows_[static_cast<std::size_t>(y + r)];
        for (std::size_t i = 0; i < width; ++i) to[i] = static_cast<std::uint8_t>(column[i] + row);
      }
      return block;
    };
  }

  /// The sum of a region inside the image. O(width + height).
  std::uint64_t sum(const Region& region) const {
    const Counts columns = counts(columns_, region.x, region.width), rows = counts(rows_, region.y, region.height);
    std::uint64_t sum = 0;
    for (std::size_t c = 0; c < 256; ++c)
      for (std::size_t r = 0; r < 256; ++r) sum += columns[c] * rows[r] * ((c + r) % 256);
    return sum;
  }

 private:
  using Counts = std::array<std::uint64_t, 256>;
  // splitmix64: the same on every machine.
  static std::vector<std::uint8_t> bytes(std::int64_t n, std::uint64_t seed) {
    std::vector<std::uint8_t> all(static_cast<std::size_t>(n));
    std::uint64_t state = seed;
    for (std::uint8_t& byte : all) {
      state += 0x9e3779b97f4a7c15u;
      std::uint64_t z = state;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      byte = static_cast<std::uint8_t>(z >> 56);
    }
    return all;
  }
  static Counts counts(const std::vector<std::uint8_t>& of, std::int64_t first, std::int64_t n) {
    Counts counts{};
    for (std::int64_t i = first; i < first + n; ++i) ++counts[of[static_cast<std::size_t>(i)]];
    return counts;
  }

  std::vector<std::uint8_t> columns_, rows_;
};

}  // namespace areal::bench
