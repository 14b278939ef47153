#include "view/answer.hpp"

#include <algorithm>
#include <areal/histogram_measures.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include "view/part.hpp"

namespace areal::view {
namespace {

/// Moments from the counts of each of the 256 values of a byte.
Moments moments_of(const std::vector<std::uint64_t>& counts, bool is_signed, std::pair<double, double> range) {
  Moments m;
  __int128 sum = 0, squares = 0;
  int least = 256, most = -256;
  for (int i = 0; i < 256; ++i) {
    const auto count = static_cast<std::int64_t>(counts[static_cast<std::size_t>(i)]);
    if (count == 0) continue;
    const int value = i - (is_signed ? 128 : 0);
    m.pixels += count;
    sum += static_cast<__int128>(count) * value;
    squares += static_cast<__int128>(count) * (value * value);
    least = std::min(least, value), most = std::max(most, value);
    if (value < range.first) m.under += count;
    if (value > range.second) m.over += count;
  }
  if (m.pixels == 0) {
    m.mean = m.deviation = not_a_number;
    m.least = m.most = not_a_number;
    return m;
  }
  const auto pixels = static_cast<long double>(m.pixels);
  m.sum = digits_of(sum);
  m.mean = static_cast<double>(static_cast<long double>(sum) / pixels);
  m.deviation = static_cast<double>(std::sqrt(static_cast<long double>(m.pixels * squares - sum * sum)) / pixels);
  m.least = std::int64_t{least}, m.most = std::int64_t{most};
  return m;
}

/// A percentile of values of which some lie below and above the bins; NaN if it lies there, too.
double percentile_of(const std::vector<double>& histogram, const std::vector<double>& edges, double percent,
                     double under, double over) {
  const double inside = std::accumulate(histogram.begin(), histogram.end(), 0.0);
  if (inside == 0) return not_a_number;
  if (under + over == 0) return percentile(histogram, edges, percent);
  const double rank = percent * (under + inside + over) - 100 * under;
  return rank < 0 || rank > 100 * inside ? not_a_number : percentile(histogram, edges, rank / inside);
}

}  // namespace

std::pair<double, double> default_range(const std::vector<ConstView>& channels) {
  double lo = std::numeric_limits<double>::infinity(), hi = -lo;
  for (const ConstView& channel : channels) {
    if (size_of(channel.type) == 1) return channel.type == Type::u8 ? std::pair(0.0, 256.0) : std::pair(-128.0, 128.0);
    with_type(channel.type, [&]<class T>(T*) {
      for (std::int64_t y = 0; y < channel.shape.height; ++y) {
        const void* row = channel.row(y);
        for (std::int64_t x = 0; x < channel.shape.width; ++x) {
          const auto value = static_cast<double>(element<T>(row, x));
          if (!std::isfinite(value)) continue;
          lo = std::min(lo, value), hi = std::max(hi, value);
        }
      }
    });
  }
  if (!(lo <= hi)) return {0, 1};  // no finite value
  if (lo == hi) hi = lo + std::max(1.0, std::abs(lo) * 0x1p-40);
  if (!std::isfinite(hi - lo)) lo /= 2, hi /= 2;  // Binning needs a finite width
  return {lo, hi};
}

Counting::Counting(Type type, std::int64_t bins, std::pair<double, double> range)
    : type_(type),
      shown_(Binning::uniform(bins, range.first, range.second)),
      counted_(size_of(type) == 1 ? Binning::of_type(type, 256) : shown_),
      is_bytes_((size_of(type) == 1)) {}

Answer Counting::answer(std::vector<std::uint64_t> counted, const Moments& moments) const {
  Answer answer;
  const bool is_signed = type_ == Type::s8;
  answer.moments = is_bytes_ ? moments_of(counted, is_signed, {shown_.lo(), shown_.hi()}) : moments;
  const std::vector<double> masses(counted.begin(), counted.end());
  const std::vector<double> edges = counted_.bin_edges();
  const Moments& m = answer.moments;
  for (std::size_t i = 0; i < percents.size(); ++i)
    answer.percentiles[i] = is_bytes_ ? percentile(masses, edges, percents[i])
                                      : percentile_of(masses, edges, percents[i], static_cast<double>(m.under),
                                                      static_cast<double>(m.over));
  if (!is_bytes_) {
    answer.histogram = std::move(counted);
    return answer;
  }
  answer.histogram.resize(static_cast<std::size_t>(shown_.bins()));
  for (int i = 0; i < 256; ++i)
    if (const std::int64_t bin = shown_.bin_of(i - (is_signed ? 128 : 0)); bin >= 0)
      answer.histogram[static_cast<std::size_t>(bin)] += counted[static_cast<std::size_t>(i)];
  return answer;
}

ConstView part_of(const ConstView& image, const Region& region) {
  ConstView part = image;
  part.data = static_cast<const char*>(image.row(region.y)) + region.x * image.column_pitch();
  part.shape.width = region.width, part.shape.height = region.height;
  return part;
}

}  // namespace areal::view
