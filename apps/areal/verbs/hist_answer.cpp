#include "hist_answer.hpp"

#include <fmt/format.h>
#include "io/chart.hpp"
#include "io/out.hpp"

namespace areal::command {

template <class T>
void HistAnswer::write(const Item& item, const Binning& binning, const std::vector<media::NamedRegion>& regions,
                       std::span<const T> counts, std::optional<int> stream, std::optional<std::int64_t> channel) {
  const auto bins = static_cast<std::size_t>(binning.bins());
  if (edges_.size() != bins + 1) edges_ = binning.bin_edges();
  histograms_.clear();
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const auto histogram = counts.subspan(i * bins, bins);
    if (request_.chart)
      draw(item, histogram, regions[i], i, stream, channel);
    else
      row(item, histogram, regions[i], i, stream, channel);
    if (!request_.regions.draw.empty()) histograms_.emplace_back(histogram.begin(), histogram.end());
  }
}

template void HistAnswer::write(const Item&, const Binning&, const std::vector<media::NamedRegion>&,
                                std::span<const std::uint64_t>, std::optional<int>, std::optional<std::int64_t>);
template void HistAnswer::write(const Item&, const Binning&, const std::vector<media::NamedRegion>&,
                                std::span<const double>, std::optional<int>, std::optional<std::int64_t>);

template <class T>
void HistAnswer::row(const Item& item, std::span<const T> histogram, const media::NamedRegion& region,
                     std::size_t index, std::optional<int> stream, std::optional<std::int64_t> channel) {
  if (stream) rows_.put("stream", static_cast<std::int64_t>(*stream));
  put_frame(rows_, item, is_sequence_);
  if (channel) rows_.put("channel", *channel);
  put_region(rows_, region, index);
  request_.reducers.put(rows_, histogram, edges_);
  if (rows_.json() && !is_sequence_) rows_.put_list("edges", "edge", std::span<const double>(edges_));
  rows_.end();
}

template <class T>
void HistAnswer::draw(const Item& item, std::span<const T> histogram, const media::NamedRegion& region,
                      std::size_t index, std::optional<int> stream, std::optional<std::int64_t> channel) {
  std::string title = stream ? fmt::format("stream {}, ", *stream) : std::string();
  if (is_sequence_) title += fmt::format("frame {}, ", item.number);
  const Region& r = region.region;
  title += fmt::format("region {}: {},{},{},{}", label(region, index), r.x, r.y, r.width, r.height);
  if (channel) title += fmt::format(", channel {}", *channel);
  const std::vector<double> doubles(histogram.begin(), histogram.end());
  write_out(chart(title, doubles, edges_, terminal_columns()));
}

}  // namespace areal::command
