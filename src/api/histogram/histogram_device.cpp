#include "api/histogram/histogram_device.hpp"

#include <cstring>
#include "api/core/device_plan.hpp"
#include "api/core/require.hpp"
#include "cuda/device.hpp"

namespace areal {
namespace {

/// Appends the values' bytes at the next multiple of 16; where they begin.
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

DeviceHistogram::DeviceHistogram(const Shape& image, const cpu::PixelBins& rule, const HistogramOptions& options,
                                 const research::HistogramParameters& parameters, const Execution& execution,
                                 std::string id)
    : backend_(execution.backend), device_(execution.device), on_launch_(parameters.on_launch) {
  require_backend(backend_, device_);
  request_.id = std::move(id);
  request_.image = image;
  request_.type = rule.type;
  request_.bins = rule.bins;
  request_.counter = options.counter;
  request_.border = options.border;
  request_.weighted = options.weighted;
  request_.tile = parameters.tile;
  request_.tile_threads = parameters.tile_threads;
  request_.rule.channels = static_cast<int>(rule.channels.size());
  for (std::size_t c = 0; c < rule.channels.size(); ++c) {
    const cpu::ChannelBins& channel = rule.channels[c];
    request_.rule.channel[c] = channel_rule(channel);
    request_.table_at[c] = channel.kind == cpu::ChannelBins::Kind::table ? append(request_.tables, channel.table)
                                                                         : append(request_.tables, channel.edges);
  }
  plan_ = device_plan<kernels::Histogram>(backend_, device_, request_);
}

void DeviceHistogram::prepare(void* workspace, Stream stream) const {
  if (workspace_bytes() == 0 || request_.tables.empty()) return;
  if (backend_ == Backend::cuda) {
    require_stream(stream);
    const cuda::DeviceScope scope(device_);
    require(!cuda::is_capturing(stream),
            "stream: it is being captured into a CUDA graph, which would read this plan's tables again at each "
            "replay: prepare the workspace before");
  }
  plan_->prepare(workspace, stream);
}

void DeviceHistogram::execute(const HistogramArguments& arguments, void* workspace, Stream stream) const {
  if (backend_ == Backend::cuda) require_stream(stream);
  plan_->execute(arguments, workspace, stream, on_launch_);
}

}  // namespace areal
