#pragma once
// Which of a file's channels form the picture, and their pixels.

#include <areal/type.hpp>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>
#include "media/luma.hpp"

namespace areal::media {

struct ReadOptions;

struct Channels {
  std::vector<int> chosen;
  bool luma = false;  // of the three in `chosen`
  std::int64_t count() const { return luma ? 1 : static_cast<std::int64_t>(chosen.size()); }
};

// The rule for arrays, whose channels have no description. Luma is of 1, of 3, or of 4 channels, the last one alpha;
// Colour::all keeps every channel, of any number.
Channels array_channels(std::int64_t channels, Type type, const ReadOptions& options, const std::string& name,
                        std::vector<std::string>& notes);

// `from`: pixels of `channels` interleaved channels; `to`: of the chosen ones. Both aligned for T.
template <class T>
void take_channels(const Channels& choice, const void* from, std::int64_t channels, std::int64_t pixels, void* to) {
  const T* in = static_cast<const T*>(from);
  T* out = static_cast<T*>(to);
  if (choice.luma) {
    const int r = choice.chosen[0], g = choice.chosen[1], b = choice.chosen[2];
    for (std::int64_t i = 0; i < pixels; ++i, in += channels) out[i] = luma(in[r], in[g], in[b]);
    return;
  }
  for (std::int64_t i = 0; i < pixels; ++i, in += channels)
    for (const int c : choice.chosen) *out++ = in[c];
}

inline void take_channels(Type type, const Channels& choice, const void* from, std::int64_t channels,
                          std::int64_t pixels, void* to) {
  switch (type) {
    case Type::u8:
      return take_channels<std::uint8_t>(choice, from, channels, pixels, to);
    case Type::s8:
      return take_channels<std::int8_t>(choice, from, channels, pixels, to);
    case Type::u16:
      return take_channels<std::uint16_t>(choice, from, channels, pixels, to);
    case Type::s16:
      return take_channels<std::int16_t>(choice, from, channels, pixels, to);
    case Type::u32:
      return take_channels<std::uint32_t>(choice, from, channels, pixels, to);
    case Type::s32:
      return take_channels<std::int32_t>(choice, from, channels, pixels, to);
    case Type::u64:
      return take_channels<std::uint64_t>(choice, from, channels, pixels, to);
    case Type::s64:
      return take_channels<std::int64_t>(choice, from, channels, pixels, to);
    case Type::f16:
      return take_channels<Half>(choice, from, channels, pixels, to);
    case Type::f32:
      return take_channels<float>(choice, from, channels, pixels, to);
    case Type::f64:
      return take_channels<double>(choice, from, channels, pixels, to);
  }
}

}  // namespace areal::media
