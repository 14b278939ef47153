// Measures of one histogram, or two.
#include <areal/histogram_measures.hpp>
#include <array>
#include <utility>
#include "api/core/require.hpp"
#include "formulas/distance.hpp"
#include "formulas/histogram.hpp"

namespace areal {

namespace {

using formulas::mass;

double total_of(std::span<const double> histogram) {
  double total = 0;
  for (const double entry : histogram) total += mass(entry);
  return total;
}

void require_edges(std::span<const double> histogram, std::span<const double> edges) {
  require(edges.size() == histogram.size() + 1, "edges: ", edges.size(), " values for ", histogram.size(),
          " bins, it must be one more");
}

constexpr std::array<std::pair<Distance, std::string_view>, 7> distance_names{{
    {Distance::l1, "l1"},
    {Distance::l2, "l2"},
    {Distance::chi_square, "chi-square"},
    {Distance::hellinger, "hellinger"},
    {Distance::intersection, "intersection"},
    {Distance::emd, "emd"},
    {Distance::kolmogorov_smirnov, "kolmogorov-smirnov"},
}};

struct Sum {
  std::span<const double> a, b;
  double total_a, total_b;
  template <Distance measure>
  double operator()() const {
    const std::size_t bins = a.size() - (formulas::is_cumulative(measure) ? 1 : 0);
    double sum = 0, step = 0;
    for (std::size_t i = 0; i < bins; ++i) {
      const double p = mass(a[i]) / total_a, q = mass(b[i]) / total_b;
      step += p - q;
      sum = formulas::with_bin<measure>(sum, p, q, step);
    }
    return formulas::finished<measure>(sum);
  }
};

}  // namespace

void normalise(std::span<const double> histogram, std::span<double> out) {
  require(out.size() == histogram.size(), "out: ", out.size(), " bins, it must have ", histogram.size());
  const double total = total_of(histogram);
  for (std::size_t i = 0; i < histogram.size(); ++i) out[i] = formulas::share(histogram[i], total);
}

double entropy(std::span<const double> histogram) {
  const double total = total_of(histogram);
  double bits = 0;
  for (const double entry : histogram) bits -= formulas::entropy_term(entry, total);
  return bits < 0 ? 0 : bits;
}

double percentile(std::span<const double> histogram, std::span<const double> edges, double percent) {
  require_edges(histogram, edges);
  require(percent >= 0 && percent <= 100, "percent: ", percent, ", it may be 0 to 100");
  const double total = total_of(histogram);
  if (!(total > 0)) return formulas::not_a_number();
  formulas::PercentileWalk walk{percent / 100 * total};
  for (std::size_t i = 0; i < histogram.size() && !walk.ends_in(histogram[i], edges[i], edges[i + 1]); ++i) {
  }
  return walk.value;
}

double median(std::span<const double> histogram, std::span<const double> edges) {
  return percentile(histogram, edges, 50);
}

std::int64_t mode(std::span<const double> histogram) {
  formulas::ModeWalk walk;
  for (std::size_t i = 0; i < histogram.size(); ++i) walk.take(static_cast<std::int64_t>(i), histogram[i]);
  return walk.fullest;
}

double mean(std::span<const double> histogram, std::span<const double> edges) {
  require_edges(histogram, edges);
  const double total = total_of(histogram);
  if (!(total > 0)) return formulas::not_a_number();
  double sum = 0;
  for (std::size_t i = 0; i < histogram.size(); ++i)
    sum += formulas::mean_term(histogram[i], total, edges[i], edges[i + 1]);
  return sum;
}

std::string_view name_of(Distance distance) noexcept {
  for (const auto& [measure, name] : distance_names)
    if (measure == distance) return name;
  return "unknown";
}

std::optional<Distance> distance_named(std::string_view name) noexcept {
  for (const auto& [measure, measure_name] : distance_names)
    if (measure_name == name) return measure;
  return {};
}

double distance(Distance measure, std::span<const double> a, std::span<const double> b) {
  require(a.size() == b.size(), "b: ", b.size(), " bins, a has ", a.size());
  const double total_a = total_of(a), total_b = total_of(b);
  if (total_a == 0 && total_b == 0) return 0;
  if (total_a == 0 || total_b == 0) return formulas::largest_distance(measure, static_cast<std::int64_t>(a.size()));
  return formulas::with_measure(measure, Sum{a, b, total_a, total_b});
}

}  // namespace areal
