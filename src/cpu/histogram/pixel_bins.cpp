#include "cpu/histogram/pixel_bins.hpp"
#include <cstring>
#include <utility>

namespace areal::cpu {
namespace {

template <class T>
T load(const char* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

template <class Bits>
void by_table(const ChannelBins& rule, const char* p, std::int64_t pitch, int count, std::int32_t* out) {
  for (int i = 0; i < count; ++i) {
    const std::uint16_t bin = rule.table[load<Bits>(p + i * pitch)];
    out[i] = bin == ChannelBins::none ? -1 : bin;
  }
}

// Integers of 32 and 64 bits, and floats of both.
template <class T>
void by_value(const ChannelBins& rule, const char* p, std::int64_t pitch, int count, std::int32_t* out) {
  if (rule.kind == ChannelBins::Kind::labels) {
    if constexpr (std::is_integral_v<T>)
      for (int i = 0; i < count; ++i) {
        const T value = load<T>(p + i * pitch);
        const bool counts = std::cmp_greater_equal(value, 0) && std::cmp_less(value, rule.bins) &&
                            !(rule.ignored && std::cmp_equal(value, *rule.ignored));
        out[i] = counts ? static_cast<std::int32_t>(value) : -1;
      }
    return;
  }
  for (int i = 0; i < count; ++i) out[i] = rule.bin_of(static_cast<double>(load<T>(p + i * pitch)));
}

void bins_of_channel(const ChannelBins& rule, Type type, const char* p, std::int64_t pitch, int count,
                     std::int32_t* out) {
  switch (type) {
    case Type::u8:
    case Type::s8:
      return by_table<std::uint8_t>(rule, p, pitch, count, out);
    case Type::u16:
    case Type::s16:
    case Type::f16:
      return by_table<std::uint16_t>(rule, p, pitch, count, out);
    case Type::u32:
      return by_value<std::uint32_t>(rule, p, pitch, count, out);
    case Type::s32:
      return by_value<std::int32_t>(rule, p, pitch, count, out);
    case Type::u64:
      return by_value<std::uint64_t>(rule, p, pitch, count, out);
    case Type::s64:
      return by_value<std::int64_t>(rule, p, pitch, count, out);
    case Type::f32:
      return by_value<float>(rule, p, pitch, count, out);
    case Type::f64:
      return by_value<double>(rule, p, pitch, count, out);
  }
}

template <class Bits>
void group_by_table(const ChannelBins& rule, const char* p, std::int64_t pitch, int count, std::uint32_t base,
                    std::uint32_t size, std::uint8_t* out) {
  const std::uint16_t* const table = rule.table.data();
  const auto in_group = [=](std::size_t bits) {
    const std::uint32_t bin = table[bits] - base;  // wraps for bins before the group
    return static_cast<std::uint8_t>(bin < size ? bin : 255);
  };
  if (sizeof(Bits) == 1 && count >= 512) {
    std::uint8_t group[256];
    for (std::size_t bits = 0; bits < 256; ++bits) group[bits] = in_group(bits);
    for (int i = 0; i < count; ++i) out[i] = group[load<std::uint8_t>(p + i * pitch)];
    return;
  }
  for (int i = 0; i < count; ++i) out[i] = in_group(load<Bits>(p + i * pitch));
}

}  // namespace

void bins_of_run(const PixelBins& rule, const ConstView& image, std::int64_t n, std::int64_t y, std::int64_t x,
                 int count, std::int32_t* out) {
  const std::int64_t pitch = image.column_pitch();
  const auto at = [&](std::int64_t channel) { return static_cast<const char*>(image.row(y, channel, n)) + x * pitch; };
  bins_of_channel(rule.channels[0], rule.type, at(0), pitch, count, out);
  std::int32_t next[longest_run];
  for (std::size_t channel = 1; channel < rule.channels.size(); ++channel) {
    const ChannelBins& part = rule.channels[channel];
    bins_of_channel(part, rule.type, at(static_cast<std::int64_t>(channel)), pitch, count, next);
    for (int i = 0; i < count; ++i)
      out[i] = out[i] < 0 || next[i] < 0 ? -1 : out[i] * static_cast<std::int32_t>(part.bins) + next[i];
  }
}

void group_of_run(const PixelBins& rule, const ConstView& image, std::int64_t n, std::int64_t y, std::int64_t x,
                  int count, std::int64_t base, int size, std::uint8_t* out) {
  const auto first = static_cast<std::uint32_t>(base), many = static_cast<std::uint32_t>(size);
  if (rule.is_table()) {
    const std::int64_t pitch = image.column_pitch();
    const char* p = static_cast<const char*>(image.row(y, 0, n)) + x * pitch;
    if (size_of(rule.type) == 1)
      group_by_table<std::uint8_t>(rule.channels[0], p, pitch, count, first, many, out);
    else
      group_by_table<std::uint16_t>(rule.channels[0], p, pitch, count, first, many, out);
    return;
  }
  std::int32_t bins[longest_run];
  bins_of_run(rule, image, n, y, x, count, bins);
  for (int i = 0; i < count; ++i) {
    const std::uint32_t bin = static_cast<std::uint32_t>(bins[i]) - first;
    out[i] = static_cast<std::uint8_t>(bin < many ? bin : 255);
  }
}

}  // namespace areal::cpu
