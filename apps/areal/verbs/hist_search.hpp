#pragma once
// The options of `areal hist` that compare histograms: a template, a distance, a map of distances.

#include <areal/region_histogram.hpp>
#include <functional>
#include <string>
#include <vector>
#include "hist_reduce.hpp"
#include "io/settings.hpp"

namespace areal::command {

struct SearchOptions {
  std::string template_text, distance, map, window;

  void add_to(CLI::App& verb);
  /// Throws InvalidArgument for wrong use.
  void resolve();
  bool given() const noexcept { return !template_text.empty(); }
  bool maps() const noexcept { return !map.empty(); }

  /// Sets the reducers' target: the histogram in a file, or of a region, which `count` computes.
  using CountRegions = std::function<std::vector<std::uint64_t>(const std::vector<Region>&)>;
  void find_target(const Binning& binning, Reducers& reducers, const CountRegions& count) const;
  /// The same for an image in memory.
  void find_target(const ConstView& image, const Binning& binning, Reducers& reducers, const Settings& settings) const;
  /// Writes the map, and with `with_row` a row for the nearest window.
  /// `make(width, height, out)` makes the map of an image of that shape.
  using MakeMap = std::function<void(std::int64_t width, std::int64_t height, const View& out)>;
  void write_map(const Shape& image, const MakeMap& make, RowWriter& rows, bool with_row,
                 const Settings& settings) const;
};

}  // namespace areal::command
