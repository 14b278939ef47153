#include "hist_answer.hpp"

#include <fmt/format.h>
#include <numeric>
#include <type_traits>
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
    if constexpr (std::is_integral_v<T>)
      add(static_cast<std::uint64_t>(regions[i].region.width * regions[i].region.height),
          std::accumulate(histogram.begin(), histogram.end(), T{0}), edges_);
    if (request_.chart)
      draw(item, histogram, regions[i], i, stream, channel);
    else
      row(item, histogram, regions[i], i, stream, channel);
    if (!request_.regions.draw.empty()) histograms_.emplace_back(histogram.begin(), histogram.end());
  }
}

void HistAnswer::add(std::uint64_t values, std::uint64_t counted, const std::vector<double>& edges) {
  values_ += values, counted_ += counted;
  if (edges_.empty()) edges_ = edges;
}

void HistAnswer::report(const Settings& settings) const {
  const BinningOptions& rule = request_.binning;
  if (values_ <= counted_ || rule.labels || !rule.lookup.empty()) return;
  const std::string bins =
      edges_.empty() ? "" : fmt::format(", which cover {:g} to {:g}", edges_.front(), edges_.back());
  if (counted_ == 0)
    Settings::say(fmt::format(
        "areal: none of the {} values is in one of the bins{}: choose them with --range or --edges", values_, bins));
  else
    settings.note("{} of {} values are in none of the bins{}", values_ - counted_, values_, bins);
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
