#include "cpu/sat/tilted.hpp"
#include <algorithm>
#include <areal/error.hpp>
#include <cstring>
#include "cpu/sat/stage.hpp"
#include "cpu/sat/tilted_row.hpp"
#include "cpu/threads.hpp"

namespace areal::cpu {
namespace {

constexpr std::int64_t band = 32;     // rows between two joins of the strips
constexpr std::int64_t strip = 1024;  // columns of a strip, without its halo on both sides
constexpr std::int64_t widest = strip + 2 * band + 1;

struct Bytes {
  alignas(64) char at[widest * 8];
};

/// Two copies of a plane's state between bands: the table's last row and the diagonals', W + 1 entries each.
std::int64_t state_bytes(const Shape& image, Type table) {
  return 2 * (image.width + 1) * static_cast<std::int64_t>(size_of(table));
}

class TiltedStrips {
 public:
  TiltedStrips(const TiltedArguments& arguments, TypePair types, void* workspace)
      : arguments_(arguments),
        types_(types),
        row_(tilted_row(types.input, types.table)),
        stage_(stage()),
        state_(static_cast<char*>(workspace)),
        size_(static_cast<std::int64_t>(size_of(types.table))),
        width_(arguments.image.shape.width) {}

  std::int64_t strips() const { return (width_ + 1 + strip - 1) / strip; }
  std::int64_t planes() const { return arguments_.image.shape.channels * arguments_.image.shape.batch; }
  /// Rows [y, y + rows) of a strip of a plane; `odd` selects the old copy of the state.
  void run(std::int64_t plane, std::int64_t number, std::int64_t y, std::int64_t rows, bool odd) const;

 private:
  char* state(std::int64_t plane, bool odd, bool diagonal) const {
    const std::int64_t bytes = state_bytes(arguments_.image.shape, types_.table);
    return state_ + (2 * plane + odd) * bytes + (diagonal ? bytes / 2 : 0);
  }
  const void* pixels(std::int64_t channel, std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t count,
                     Bytes (&apart)[4], std::uint8_t* valid) const;

  const TiltedArguments& arguments_;
  TypePair types_;
  TiltedRow row_;
  Stage stage_;
  char* state_;
  std::int64_t size_, width_;
};

/// A row's pixels of one channel as contiguous memory, masked; in the image itself if possible.
const void* TiltedStrips::pixels(std::int64_t channel, std::int64_t n, std::int64_t y, std::int64_t x,
                                 std::int64_t count, Bytes (&apart)[4], std::uint8_t* valid) const {
  const ConstView& image = arguments_.image;
  const bool planar = image.shape.layout == Layout::planar || image.shape.channels == 1;
  const bool masked = arguments_.mask.data != nullptr;
  const auto channels = static_cast<int>(image.shape.channels);
  const void* rows[4];
  void* targets[4] = {apart[0].at, apart[1].at, apart[2].at, apart[3].at};
  for (std::int64_t c = 0; c < channels; ++c)
    rows[c] = static_cast<const char*>(image.row(y, planar ? c : 0, n)) + x * image.column_pitch();
  if (!planar) {
    stage_.take_apart(rows[0], targets, count, channels, size_of(image.type));
    for (int c = 0; c < channels; ++c) rows[c] = targets[c];
  }
  if (!masked && !arguments_.ignore_nan) return rows[channel];
  if (masked)
    stage_.valid_of_mask(static_cast<const char*>(arguments_.mask.row(y, 0, n)) + x, valid, count);
  else
    std::memset(valid, 1, static_cast<std::size_t>(count));
  if (arguments_.ignore_nan)
    for (int c = 0; c < channels; ++c) stage_.drop_nan(rows[c], image.type, valid, count);
  stage_.keep_valid(rows[channel], valid, targets[channel], count, size_of(image.type));
  return targets[channel];
}

void TiltedStrips::run(std::int64_t plane, std::int64_t number, std::int64_t y, std::int64_t rows, bool odd) const {
  const std::int64_t channels = arguments_.image.shape.channels;
  const std::int64_t channel = plane % channels, n = plane / channels;
  const std::int64_t x0 = number * strip, x1 = std::min(x0 + strip, width_ + 1);
  // The halo: each row of the band needs one more entry on the left of the table and on the right of the diagonals.
  const std::int64_t lo = std::max<std::int64_t>(0, x0 - rows), hi = std::min(width_, x1 + rows);
  const auto bytes = [&](std::int64_t entries) { return static_cast<std::size_t>(entries * size_); };

  Bytes diagonal, table[2], apart[4];
  std::uint8_t valid[widest];
  const bool first = y == 0;
  if (first) {
    std::memset(diagonal.at, 0, bytes(hi - lo + 1));
    std::memset(table[0].at, 0, bytes(hi - lo + 1));
  } else {
    std::memcpy(diagonal.at, state(plane, odd, true) + lo * size_, bytes(hi - lo + 1));
    std::memcpy(table[0].at, state(plane, odd, false) + lo * size_, bytes(hi - lo + 1));
  }
  const View& out = arguments_.tilted;
  const bool strided = out.shape.layout == Layout::interleaved && channels > 1;
  for (std::int64_t r = 0; r < rows; ++r) {
    char* const before = table[r % 2].at;
    char* const next = table[1 - r % 2].at;
    row_(pixels(channel, n, y + r, lo, hi - lo, apart, valid), diagonal.at, before, next, hi - lo);
    // T(0, Y) = T(1, Y-1); at the halo's left end the value is never used.
    if (hi > lo)
      std::memcpy(next, before + (lo == 0 ? size_ : 0), bytes(1));
    else
      std::memset(next, 0, bytes(1));
    const char* const from = next + (x0 - lo) * size_;
    char* const to = static_cast<char*>(out.row(y + r + 1, channel, n)) + x0 * out.column_pitch();
    if (strided)
      for (std::int64_t x = 0; x < x1 - x0; ++x) std::memcpy(to + x * out.column_pitch(), from + x * size_, bytes(1));
    else
      std::memcpy(to, from, bytes(x1 - x0));
  }
  std::memcpy(state(plane, !odd, false) + x0 * size_, table[rows % 2].at + (x0 - lo) * size_, bytes(x1 - x0));
  std::memcpy(state(plane, !odd, true) + x0 * size_, diagonal.at + (x0 - lo) * size_, bytes(x1 - x0));
}

}  // namespace

TiltedRow tilted_row(Type input, Type table) {
  switch (table) {
    case Type::u32:
    case Type::s32:
      return tilted_row_of_32u(input == Type::s32 ? Type::u32 : input);
    case Type::u64:
    case Type::s64:
      return tilted_row_of_64u(input);
    case Type::f32:
      return tilted_row_of_32f(input);
    case Type::f64:
      return tilted_row_of_64f(input);
    default:
      return nullptr;
  }
}

std::size_t tilted_workspace_bytes(const Shape& image, TypePair types) {
  return static_cast<std::size_t>(2 * state_bytes(image, types.table) * image.channels * image.batch);
}

std::int64_t tilted_bands(const Shape& image) { return (image.height + band - 1) / band; }

void tilted(const TiltedArguments& arguments, TypePair types, void* workspace, int threads, const Progress& progress,
            std::int64_t further) {
  const Shape& image = arguments.image.shape;
  const View& out = arguments.tilted;
  const bool planar = out.shape.layout == Layout::planar;
  for (std::int64_t n = 0; n < out.shape.batch; ++n)
    for (std::int64_t c = 0; c < (planar ? out.shape.channels : 1); ++c)
      std::memset(out.row(0, c, n), 0,
                  static_cast<std::size_t>(out.shape.width * (planar ? 1 : out.shape.channels)) * size_of(out.type));
  const TiltedStrips strips(arguments, types, workspace);
  bool odd = false;
  for (std::int64_t y = 0; y < image.height; y += band, odd = !odd) {
    parallel_for(threads, strips.planes() * strips.strips(), [&](std::int64_t i) {
      strips.run(i / strips.strips(), i % strips.strips(), y, std::min(band, image.height - y), odd);
    });
    if (progress && !progress(y / band + 1, tilted_bands(image) + further))
      throw Cancelled("the summed-area table was cancelled");
  }
}

}  // namespace areal::cpu
