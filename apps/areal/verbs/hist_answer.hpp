#pragma once
// Writes the histograms of one image, as rows or as bars.

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

  /// counts: regions x bins, std::uint64_t, or double with weights. `stream`: only with several streams; `channel`:
  /// only if each channel has its own histogram.
  template <class T>
  void write(const Item& item, const Binning& binning, const std::vector<media::NamedRegion>& regions,
             std::span<const T> counts, std::optional<int> stream, std::optional<std::int64_t> channel);

  /// For report(): adds `values` pixels, of which `counted` are in a bin.
  void add(std::uint64_t values, std::uint64_t counted, const std::vector<double>& edges);
  /// Notes how many values are in no bin; if all are, also with --quiet. Labels and look-up tables exclude values on
  /// purpose, so they get no note.
  void report(const Settings& settings) const;

  /// The histograms of the last image, for drawing.
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
