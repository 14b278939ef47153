#include "hist_reduce.hpp"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>
#include "io/help.hpp"
#include "io/numbers.hpp"
#include "io/word_list.hpp"

namespace areal::command {

void Reducers::add_to(CLI::App& verb) {
  begin_group(verb, group::what);
  verb.add_flag("--counts", counts, "The counts, also with another measure");
  verb.add_flag("--normalise", normalise, "Shares of the total instead of counts");
  verb.add_flag("--entropy", entropy, "Shannon entropy in bits");
  verb.add_flag("--median", median, "The median, interpolated within its bin");
  verb.add_option("--percentile", percentile_texts, "A percentile, 0 to 100; may be given several times")
      ->type_name("P")
      ->allow_extra_args(false);
  verb.add_flag("--mode", mode, "The number of the fullest bin, counted from 0");
  verb.add_flag("--mean", mean, "The mean of the bin centres, weighted by their counts");
}

void Reducers::resolve() {
  percentiles_.clear();
  for (const std::string& text : percentile_texts) {
    const double percent = number("--percentile", text);
    if (!(percent >= 0 && percent <= 100)) refuse("--percentile ", text, ": may be 0 to 100");
    percentiles_.push_back(percent);
  }
}

bool Reducers::shows_counts() const noexcept {
  return counts || !(entropy || median || mode || mean || measure || !percentiles_.empty()) || normalise;
}

bool Reducers::given() const noexcept {
  return counts || normalise || entropy || median || mode || mean || !percentile_texts.empty();
}

void Reducers::put(RowWriter& rows, std::span<const std::uint64_t> histogram, std::span<const double> edges) const {
  if (shows_counts() && !normalise) rows.put_list("counts", "bin", histogram);
  const std::vector<double> doubles(histogram.begin(), histogram.end());
  put_rest(rows, doubles, edges);
}

void Reducers::put(RowWriter& rows, std::span<const double> histogram, std::span<const double> edges) const {
  if (shows_counts() && !normalise) rows.put_list("counts", "bin", histogram);
  put_rest(rows, histogram, edges);
}

void Reducers::put_rest(RowWriter& rows, std::span<const double> histogram, std::span<const double> edges) const {
  if (normalise) {
    std::vector<double> shares(histogram.size());
    areal::normalise(histogram, shares);
    rows.put_list("shares", "bin", shares);
  }
  if (entropy) rows.put("entropy", areal::entropy(histogram));
  if (median) rows.put("median", areal::median(histogram, edges));
  for (std::size_t i = 0; i < percentiles_.size(); ++i)
    rows.put("percentile_" + percentile_texts[i], percentile(histogram, edges, percentiles_[i]));
  if (mode) rows.put("mode", areal::mode(histogram));
  if (mean) rows.put("mean", areal::mean(histogram, edges));
  if (measure) rows.put("distance", distance(*measure, histogram, target));
}

std::string distance_names() {
  constexpr int last = static_cast<int>(Distance::kolmogorov_smirnov);
  std::vector<std::string> names;
  for (int i = 0; i <= last; ++i) names.emplace_back(name_of(static_cast<Distance>(i)));
  return word_list(names);
}

Distance parse_distance(const std::string& name) {
  if (const auto measure = distance_named(name)) return *measure;
  refuse("--distance ", name, ": may be ", distance_names());
}

}  // namespace areal::command
