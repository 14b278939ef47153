#pragma once
// The compact store: the labels, of any pixels.

#include <cstdint>
#include "kernels/histogram/compact/tiles.hpp"
#include "kernels/primitives/counted_image.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

template <class In_>
struct CompactPixels {
  using In = In_;
};

/// A thread has a square. Reads each pixel, and its mask, once; writes a label a pixel, in vectors.
template <class M, class C>
struct CompactLabel {
  using In = typename C::In;
  using Args = CompactArgs;
  static constexpr int threads = 256, resident = 4;
  struct Shared {
    ByteBins<sizeof(In)> bin_of;
  };
  M m;
  const Args& a;  // a copy, whose tables are read by index, would lie in local memory

  AREAL_DEVICE void operator()() {
    m.trigger_next_launch();
    Shared& s = m.template shared<Shared>();
    s.bin_of.fill(m, a.image, threads);
    m.sync();
    const std::int64_t i = m.block() * threads + m.thread(), row = i / a.c.square_columns();
    const std::int64_t x = (i - row * a.c.square_columns()) * 4, image = row / a.c.square_rows();
    const std::int64_t y = (row - image * a.c.square_rows()) * 4;
    if (image >= a.c.images) return;
    std::uint32_t labels[16];
    AREAL_UNROLL
    for (int k = 0; k < 16; ++k) labels[k] = label(s, image, y + k / 4, x + k % 4);
    char* const to = a.store + a.c.labels_at() + i * 16 * a.c.label_bytes;
    if (a.c.label_bytes == 1) {
      Square bytes;
      AREAL_UNROLL
      for (int k = 0; k < 4; ++k)
        bytes.at[k] = (labels[4 * k] & 0xffu) | (labels[4 * k + 1] & 0xffu) << 8 | (labels[4 * k + 2] & 0xffu) << 16 |
                      labels[4 * k + 3] << 24;
      m.store(reinterpret_cast<Square*>(to), bytes);
      return;
    }
    AREAL_UNROLL
    for (int half = 0; half < 2; ++half) {
      Square words;
      AREAL_UNROLL
      for (int k = 0; k < 4; ++k)
        words.at[k] = (labels[8 * half + 2 * k] & 0xffffu) | labels[8 * half + 2 * k + 1] << 16;
      m.store(reinterpret_cast<Square*>(to) + half, words);
    }
  }

  /// All bits are set for a pixel without a bin.
  AREAL_DEVICE std::uint32_t label(Shared& s, std::int64_t image, std::int64_t y, std::int64_t x) {
    if (y >= a.c.height || x >= a.c.width) return ~0u;
    if (a.mask && m.load(reinterpret_cast<const std::uint8_t*>(a.mask + image * a.mask_in.batch + y * a.mask_in.row +
                                                               x * a.mask_in.column)) == 0)
      return ~0u;
    const char* const from = a.image.data + image * a.image.in.batch + y * a.image.in.row + x * a.image.in.column;
    return static_cast<std::uint32_t>(bin_at<In>(m, a.image, s.bin_of, from));
  }
};

}  // namespace areal::kernels
