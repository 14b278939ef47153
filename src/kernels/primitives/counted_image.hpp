#pragma once
// An image whose pixels are counted, and the bins of its pixels.

#include <areal/view.hpp>
#include <cstdint>
#include <cstring>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/pixel_bin.hpp"
#include "kernels/primitives/pixel_rule.hpp"
#include "kernels/primitives/strides.hpp"
#include "kernels/primitives/view_bytes.hpp"

namespace areal::kernels {

struct CountedImage {
  const char* data = nullptr;  ///< its first byte
  const char* end = nullptr;   ///< the byte behind its last one
  Strides in;                  ///< never `vectors`
  PixelRule rule;
  /// The bins of each channel of bytes. Passed by value: no call has to copy them to the device first.
  std::uint16_t bin_of_byte[PixelRule::most_channels * 256];
};

/// `rule` has the machine's tables; for bytes, 256 bins of each channel on the host.
inline CountedImage counted_image(const ConstView& view, const PixelRule& rule) {
  CountedImage image;
  image.data = static_cast<const char*>(view.data);
  image.end = image.data + bytes_of_view(view);
  image.in = strides(view);
  const std::size_t size = size_of(view.type);
  image.in.alignment = alignment_of(image.data, image.in, size, size);
  if (image.in.alignment == Alignment::vectors) image.in.alignment = Alignment::elements;
  image.rule = rule;
  if (size == 1)
    for (int c = 0; c < rule.channels; ++c) {
      std::memcpy(image.bin_of_byte + 256 * c, rule.channel[c].data, 256 * sizeof(std::uint16_t));
      image.rule.channel[c].data = nullptr;
    }
  return image;
}

/// The tables of bytes in shared memory; empty for other pixels.
template <std::size_t size>
struct ByteBins {
  std::uint16_t of[size == 1 ? PixelRule::most_channels * 256 : 1];

  template <class M>
  AREAL_DEVICE void fill(const M& m, const CountedImage& image, int threads) {
    if constexpr (size == 1)
      for (int i = m.thread(); i < image.rule.channels * 256; i += threads) m.put(of[i], image.bin_of_byte[i]);
  }
};

/// The bin of the pixel whose first channel lies there, or -1.
template <class In, class M, std::size_t size>
AREAL_DEVICE int bin_at(const M& m, const CountedImage& image, const ByteBins<size>& bytes, const char* from) {
  if constexpr (sizeof(In) == 1) {
    int bin = 0;
    AREAL_UNROLL
    for (int c = 0; c < PixelRule::most_channels; ++c)
      if (c < image.rule.channels && bin >= 0) {
        const int value = m.load(reinterpret_cast<const std::uint8_t*>(from + c * image.in.channel));
        const int next = m.get(bytes.of[256 * c + value]);
        bin = next == 0xffff ? -1 : bin * image.rule.channel[c].bins + next;
      }
    return bin;
  } else {
    return bin_of_pixel<In>(m, image.rule, from, image.in.channel, image.in.alignment != Alignment::bytes);
  }
}

}  // namespace areal::kernels
