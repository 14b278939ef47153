#pragma once
// Marks of valid pixels (areal): a byte for each pixel, 1 if it is valid. 1 launch. Reads 1 of the mask and, to find
// NaN, every channel's element; writes 1.
//
// A separate plane of bytes, not the caller's mask, because the table of counts is then the plain sum of its bytes;
// because a pixel with NaN in one channel is invalid in all; and because a table in the image's place overwrites
// channels before others are read.

#include <areal/view.hpp>
#include <cstdint>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// A kernel's address of these bytes; null if all pixels are valid.
struct Valid {
  std::uint8_t* plane = nullptr;
  std::int64_t row = 0, image = 0;  ///< bytes between rows, and between images of a batch

  Valid() = default;
  /// For images of that shape, in memory at any address. Aligned for vectors.
  Valid(void* memory, const Shape& shape)
      : plane(static_cast<std::uint8_t*>(memory)), row((shape.width + 15) / 16 * 16), image(row * shape.height) {
    if (const auto misfit = reinterpret_cast<std::uintptr_t>(memory) % 16; misfit != 0) plane += 16 - misfit;
  }
  /// Memory for images of that shape.
  static std::size_t bytes(const Shape& shape) {
    const Valid valid(nullptr, shape);
    return static_cast<std::size_t>(valid.image * shape.batch) + 15;
  }
};

/// True if the pixel at (x, y) of an image is valid.
template <class M>
AREAL_DEVICE bool is_valid(const M& m, const Valid& valid, std::int64_t x, std::int64_t y, Site site = AREAL_HERE) {
  return valid.plane == nullptr || m.load(valid.plane + y * valid.row + x, site) != 0;
}

struct ValidArgs {
  const char* image;  ///< null if NaN is valid
  const char* mask;   ///< null without a mask
  Strides in, mask_in;
  std::int64_t width, height, channels;
  int size;  ///< bytes of an element: binary16, 32 or 64
  Valid valid;
  std::int64_t blocks_a_row;
};

template <class M, class C>
struct MarkValid {
  using Args = ValidArgs;
  using Shared = NoShared;
  static constexpr int threads = 256, resident = 1;
  M m;
  Args a;

  static constexpr int pixels = 4;  // of a thread

  AREAL_DEVICE void operator()() {
    const std::int64_t x = (m.block() % a.blocks_a_row * threads + m.thread()) * pixels,
                       line = m.block() / a.blocks_a_row;
    const std::int64_t y = line % a.height, n = line / a.height;
    if (x >= a.width) return;
    const int columns = a.width - x < pixels ? static_cast<int>(a.width - x) : pixels;
    Vec<std::uint8_t, pixels> marks{{1, 1, 1, 1}};
    if (a.mask != nullptr) {
      const auto* const mask =
          reinterpret_cast<const std::uint8_t*>(a.mask + n * a.mask_in.batch + y * a.mask_in.row + x);
      if (a.mask_in.alignment == Alignment::vectors && columns == pixels)
        marks = m.load(reinterpret_cast<const Vec<std::uint8_t, pixels>*>(mask));
      else
        for (int v = 0; v < columns; ++v) marks.at[v] = m.load(mask + v);
      AREAL_UNROLL
      for (int v = 0; v < pixels; ++v) marks.at[v] = marks.at[v] != 0;
    }
    if (a.image != nullptr)
      for (int v = 0; v < columns; ++v) {
        const char* pixel = a.image + n * a.in.batch + y * a.in.row + (x + v) * a.in.column;
        for (std::int64_t c = 0; c < a.channels && marks.at[v] != 0; ++c, pixel += a.in.channel)
          if (is_nan(pixel)) marks.at[v] = 0;
      }
    // A row of marks is a multiple of 16 bytes.
    m.store(reinterpret_cast<Vec<std::uint8_t, pixels>*>(a.valid.plane + n * a.valid.image + y * a.valid.row + x),
            marks);
  }

  /// All bits of the exponent, and some of the fraction's.
  AREAL_DEVICE bool is_nan(const char* at) const {
    const bool aligned = a.in.alignment != Alignment::bytes;
    if (a.size == 2) return (load_element<M, std::uint16_t>(m, at, aligned) & 0x7fffu) > 0x7c00u;
    if (a.size == 4) return (load_element<M, std::uint32_t>(m, at, aligned) & 0x7fffffffu) > 0x7f800000u;
    return (load_element<M, std::uint64_t>(m, at, aligned) & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
  }
};

/// Marks the pixels of `image` whose mask (where it has data) is not 0, and that (with `ignore_nan`) hold no NaN.
template <class Launcher>
Valid mark_valid(Launcher& launcher, const ConstView& image, const ConstView& mask, bool ignore_nan, void* plane) {
  const Shape& shape = image.shape;
  const Valid valid(plane, shape);
  if (shape.width == 0 || shape.height == 0 || shape.batch == 0) return valid;
  using Kernel = MarkValid<NoMachine, NoConfig>;
  static constexpr std::int64_t of_a_block = Kernel::threads * Kernel::pixels;
  const std::int64_t blocks_a_row = (shape.width + of_a_block - 1) / of_a_block;
  ValidArgs a{ignore_nan ? static_cast<const char*>(image.data) : nullptr,
              static_cast<const char*>(mask.data),
              strides(image),
              strides(mask),
              shape.width,
              shape.height,
              shape.channels,
              static_cast<int>(size_of(image.type)),
              valid,
              blocks_a_row};
  a.in.alignment = alignment_of(image.data, a.in, size_of(image.type), size_of(image.type));
  a.mask_in.alignment = alignment_of(mask.data, a.mask_in, 1, Kernel::pixels);
  launcher.template launch<MarkValid, NoConfig>(a.blocks_a_row * shape.height * shape.batch, a, false);
  return valid;
}

}  // namespace areal::kernels
