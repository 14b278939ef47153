#pragma once
// One image's part of the output of `areal hist`: rows, or bars.

#include <areal/binning.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include "hist_request.hpp"
#include "io/rows.hpp"

namespace areal::command {

class HistAnswer {
 public:
  HistAnswer(const HistRequest& request, RowWriter& rows, bool is_sequence)
      : request_(request), rows_(rows), is_sequence_(is_sequence) {}

  /// counts: regions x bins, std::uint64_t or, of weights, double. `stream`: its number, where there are several;
  /// `channel`: where each channel has a histogram.
  template <class T>
  void write(const Item& item, const Binning& binning, const std::vector<media::NamedRegion>& regions,
             std::span<const T> counts, std::optional<int> stream, std::optional<std::int64_t> channel);

  /// That many values were counted into the bins with these edges, `counted` of them in one.
  void add(std::uint64_t values, std::uint64_t counted, const std::vector<double>& edges);
  /// Says how many values are in no bin, if any; also with --quiet if that is all of them. Labels and look-up tables
  /// leave values out on purpose.
  void report(const Settings& settings) const;

  /// The histograms of the last image written, for drawing.
  const std::vector<std::vector<double>>& histograms() const noexcept { return histograms_; }

 private:
  template <class T>
  void row(const Item& item, std::span<const T> histogram, const media::NamedRegion& region, std::size_t index,
           std::optional<int> stream, std::optional<std::int64_t> channel);
  template <class T>
  void draw(const Item& item, std::span<const T> histogram, const media::NamedRegion& region, std::size_t index,
            std::optional<int> stream, std::optional<std::int64_t> channel);

  const HistRequest& request_;
  RowWriter& rows_;
  bool is_sequence_;
  std::vector<double> edges_;
  std::uint64_t values_ = 0, counted_ = 0;
  std::vector<std::vector<double>> histograms_;
};

}  // namespace areal::command
