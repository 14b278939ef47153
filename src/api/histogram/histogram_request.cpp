#include "api/histogram/histogram_request.hpp"

#include <cstring>
#include <vector>

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

kernels::HistogramRequest histogram_request(const Shape& image, const cpu::PixelBins& rule,
                                            const HistogramOptions& options,
                                            const research::HistogramParameters& parameters, std::string id) {
  kernels::HistogramRequest request;
  request.id = std::move(id);
  request.image = image;
  request.type = rule.type;
  request.bins = rule.bins;
  request.counter = options.counter;
  request.border = options.border;
  request.weighted = options.weighted;
  request.carries = options.carries;
  request.tile = parameters.tile;
  request.tile_threads = parameters.tile_threads;
  request.rule.channels = static_cast<int>(rule.channels.size());
  for (std::size_t c = 0; c < rule.channels.size(); ++c) {
    const cpu::ChannelBins& channel = rule.channels[c];
    request.rule.channel[c] = channel_rule(channel);
    request.table_at[c] = channel.kind == cpu::ChannelBins::Kind::table ? append(request.tables, channel.table)
                                                                        : append(request.tables, channel.edges);
  }
  return request;
}

}  // namespace areal
