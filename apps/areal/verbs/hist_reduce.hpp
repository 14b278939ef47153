#pragma once
// Measures of one histogram: counts, shares, entropy, percentiles, a distance; as cells of a row.

#include <areal/histogram_measures.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include "io/rows.hpp"

namespace CLI {
class App;
}

namespace areal::command {

struct Reducers {
  bool counts = false, normalise = false, entropy = false, median = false, mode = false, mean = false;
  std::vector<std::string> percentile_texts;

  void add_to(CLI::App& verb);
  /// Throws InvalidArgument for a percentile out of range.
  void resolve();
  /// Is any but the distance to a template wanted?
  bool given() const noexcept;
  /// Writes the cells: counts or shares, if requested or if there is no other reducer, then each reducer.
  void put(RowWriter& rows, std::span<const std::uint64_t> counts, std::span<const double> edges) const;
  void put(RowWriter& rows, std::span<const double> weights, std::span<const double> edges) const;

  /// Set with a template; the distance to `target` is the last cell.
  std::optional<Distance> measure;
  std::vector<double> target;

 private:
  bool shows_counts() const noexcept;
  void put_rest(RowWriter& rows, std::span<const double> histogram, std::span<const double> edges) const;
  std::vector<double> percentiles_;
};

/// "l1, l2, .. or kolmogorov-smirnov".
std::string distance_names();
/// Finds the measure by name. Throws InvalidArgument with all names.
Distance parse_distance(const std::string& name);

}  // namespace areal::command
