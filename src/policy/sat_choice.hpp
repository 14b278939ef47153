#pragma once
// The choice of `auto` on a device, from measurements: docs/notes/cuda-sat.md.

#include <algorithm>
#include <areal/border.hpp>
#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace areal::policy {

/// The parts of a table's request that affect speed.
struct SatQuestion {
  Shape image;
  TypePair types;
  Border border = Border::zero;
  std::optional<Type> squares = {};
};

/// True if bands is the fastest for such an image and its table without a border: rows of whole vectors of 16 bytes, in
/// both, and large enough, or very small.
inline bool bands_win(const Shape& image, TypePair types) {
  const std::int64_t shorter = std::min(image.width, image.height);
  const std::size_t in = size_of(types.input), out = size_of(types.table);
  const auto has_vectors = [&](std::size_t each) { return image.width * static_cast<std::int64_t>(each) % 16 == 0; };
  if (image.batch * image.channels != 1 || !has_vectors(in) || !has_vectors(out)) return false;
  const bool small = std::max(image.width, image.height) <= 256;
  if (in == 4 && out == 4) return small || shorter >= 3072;
  if (types.input == Type::u8 && out == 4) return shorter >= 5000;
  if (types.input == Type::u16 && out == 4) return shorter >= 4608;
  if (types.input == Type::f64) return shorter >= 3072;
  return types.input == Type::f32 && types.table == Type::f64 && small;
}

/// True if relay is the fastest, for bytes: rows of whole vectors of 16, and enough of them for its ring to hide its
/// waits; of several images rows of several units of 256 columns. With a border rows begin between two vectors, and
/// small tables are faster by tiles; without one, large ones are faster by bands.
inline bool relay_wins(const Shape& image, TypePair types, Border border) {
  const std::int64_t shorter = std::min(image.width, image.height), longer = std::max(image.width, image.height);
  const std::int64_t pixels = image.width * image.height;
  if (types.input != Type::u8 || size_of(types.table) != 4 || image.channels != 1) return false;
  if (border == Border::exclusive || image.width % 16 != 0 || image.width > 128 * 256 || longer > 65536) return false;
  if (image.batch > 1) {
    const bool wide = image.width >= (border == Border::zero ? 640 : 1280);
    return image.width >= 512 && pixels > 0 && image.batch >= (wide ? 16'000'000 : 30'000'000) / pixels;
  }
  if (border == Border::zero) return shorter >= 3072;
  return shorter >= 2160 && shorter < 8192 && pixels > 3840 * 2160;
}

/// True if all-partials is: tiles that are all resident at once need one hop, though each adds up all the others.
inline bool all_partials_win(const Shape& image, TypePair types, Border border) {
  const std::int64_t longer = std::max(image.width, image.height), pixels = image.width * image.height;
  const std::int64_t images = image.batch * image.channels;
  const std::size_t in = size_of(types.input), out = size_of(types.table);
  // Tiles have 128 columns. A multiprocessor holds four tiles of pixels of one or two bytes with entries of four, and
  // three of others; an H200 has 132 multiprocessors.
  const std::int64_t rows = in == 8 ? 64 : 128, held = (in <= 2 && out == 4 ? 4 : 3) * 132;
  const std::int64_t tiles = images * ((image.width + 127) / 128) * ((image.height + rows - 1) / rows);
  if (types.input == Type::u8) return longer <= 4096 && tiles <= std::min<std::int64_t>(held, 512);
  const std::int64_t few = in == 8 ? 1600 : out == 4 ? 2304 : in == 4 ? 2048 : 2560;
  if (longer > 3072 || images > few * few / pixels || tiles > held) return false;
  // Small images were faster in the other orders.
  const bool none = border == Border::none;
  if (in == 8) return pixels > (none ? 256 * 256 : 640 * 480);
  return out == 8 || in == 1 || pixels <= 256 * 256 || pixels > (none && in == 4 ? 1280 * 720 : 640 * 480);
}

/// The best tile algorithm for images that bands and relay do not support; measured on one H200, 2026-11.
inline std::string_view tiles_sat(const Shape& image, TypePair types) {
  const std::size_t in = size_of(types.input);
  const std::int64_t diagonal_from = in == 8 ? 4096 : in == 1 ? 8192 : 6144;
  return std::min(image.width, image.height) < diagonal_from ? "lookback" : "lookback-diagonal";
}

inline std::string_view best_sat(const Shape& image, TypePair types, Border border) {
  const std::int64_t width = image.width, height = image.height;
  const std::int64_t shorter = std::min(width, height), longer = std::max(width, height);
  // Tiles of few rows or columns are nearly empty. Look-back is slower down narrow columns than along flat rows.
  if (shorter <= 16 || (width <= 48 && longer > 4096)) return "thin";
  const bool none = border == Border::none;
  if (relay_wins(image, types, border)) return "relay";
  if (none && bands_win(image, types)) return "bands";
  if (all_partials_win(image, types, border)) return "all-partials";
  const std::size_t in = size_of(types.input), out = size_of(types.table);
  // Only a long diagonal of tiles, or several, keeps the machine busy.
  if (out == 8) {
    if (in == 8)
      return shorter >= 4096 || width * height <= 640 * 480 ? "lookback-diagonal"
             : image.batch * image.channels > 1             ? "lookback-diagonal"
                                                            : "lookback";
    if (in == 4)
      return shorter >= (none ? 3072 : 4500) || image.batch * image.channels > 1 ? "lookback-diagonal" : "lookback";
    return none && shorter >= 6144 ? "lookback-diagonal" : "lookback";
  }
  return shorter >= (in == 1 ? 8192 : 6144) ? "lookback-diagonal" : "lookback";
}

/// The algorithms to try, best first. One of them supports any request and views on any device: each type pair has one
/// of the last three in 64 KiB of shared memory, the least that a device has.
inline std::vector<std::string_view> ranked_sats(const SatQuestion& question) {
  if (question.squares) return {"lookback"};
  const auto& [image, types, border, squares] = question;
  std::vector<std::string_view> ids;
  for (const std::string_view id :
       {best_sat(image, types, border), tiles_sat(image, types), std::string_view("lookback"),
        std::string_view("all-partials"), std::string_view("thin")})
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  return ids;
}

}  // namespace areal::policy
