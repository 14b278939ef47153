#include "api/core/device_rule.hpp"

#include <cstddef>
#include <cstring>

namespace areal {
namespace {

/// Appends the values' bytes at the next multiple of 16; returns their offset.
template <class T>
std::int64_t append(std::vector<char>& tables, const std::vector<T>& values) {
  const std::size_t at = (tables.size() + 15) / 16 * 16, bytes = values.size() * sizeof(T);
  tables.resize(at + bytes);
  if (bytes > 0) std::memcpy(tables.data() + at, values.data(), bytes);
  return static_cast<std::int64_t>(at);
}

kernels::ChannelRule channel_rule(const cpu::ChannelBins& from) {
  using Kind = kernels::ChannelRule::Kind;
  kernels::ChannelRule rule;
  switch (from.kind) {
    case cpu::ChannelBins::Kind::table:
      rule.kind = Kind::table;
      break;
    case cpu::ChannelBins::Kind::equal:
      rule.kind = Kind::equal;
      break;
    case cpu::ChannelBins::Kind::edges:
      rule.kind = Kind::edges;
      break;
    case cpu::ChannelBins::Kind::labels:
      rule.kind = Kind::labels;
      break;
  }
  rule.bins = static_cast<int>(from.bins);
  rule.clamped = from.clamped;
  rule.ignored = from.ignored.value_or(-1);
  if (!from.edges.empty()) rule.lo = from.edges.front(), rule.hi = from.edges.back();
  return rule;
}

}  // namespace

DeviceRule device_rule(const cpu::PixelBins& rule) {
  DeviceRule device;
  device.rule.channels = static_cast<int>(rule.channels.size());
  for (std::size_t c = 0; c < rule.channels.size(); ++c) {
    const cpu::ChannelBins& channel = rule.channels[c];
    device.rule.channel[c] = channel_rule(channel);
    device.table_at[c] = channel.kind == cpu::ChannelBins::Kind::table ? append(device.tables, channel.table)
                                                                       : append(device.tables, channel.edges);
  }
  return device;
}

kernels::PixelRule DeviceRule::at(const char* there) const {
  kernels::PixelRule placed = rule;
  for (int c = 0; c < placed.channels; ++c)
    if (placed.channel[c].kind != kernels::ChannelRule::Kind::labels) placed.channel[c].data = there + table_at[c];
  return placed;
}

std::uint32_t bin_scale(const cpu::PixelBins& rule) {
  if (!rule.is_table()) return 0;
  const std::vector<std::uint16_t>& table = rule.channels[0].table;
  // Rounded up: the first pixel of each bin reaches it.
  const auto values = static_cast<std::uint64_t>(table.size()), bins = static_cast<std::uint64_t>(rule.bins);
  const std::uint64_t scale = (bins * 65536 + values - 1) / values;
  if (scale * (values - 1) >> 32 != 0) return 0;
  for (std::uint64_t value = 0; value < values; ++value)
    if (table[value] != value * scale >> 16) return 0;
  return static_cast<std::uint32_t>(scale);
}

}  // namespace areal
