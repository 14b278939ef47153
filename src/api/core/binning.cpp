// Binning: which bin a pixel belongs to. Values of every image type are compared as doubles: a 32f image bins as
// numpy.histogram does with image.astype(float64) (numpy itself rounds the edges to 32f for 32f data).
#include <algorithm>
#include <areal/binning.hpp>
#include <cmath>
#include <limits>
#include "api/core/require.hpp"
#include "cpu/histogram/pixel_bins.hpp"

namespace areal {
namespace {

constexpr std::int64_t most_bins = 65535;

void require_bins(std::int64_t bins) {
  require(bins >= 1 && bins <= most_bins, "bins ", bins, ": they may be 1 to ", most_bins);
}

// numpy.linspace(lo, hi, bins + 1), bit by bit.
std::vector<double> equal_edges(std::int64_t bins, double lo, double hi) {
  const double span = hi - lo, step = span / static_cast<double>(bins);
  std::vector<double> edges(static_cast<std::size_t>(bins) + 1);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto at = static_cast<double>(i);
    // numpy divides first if the step underflows.
    edges[i] = (step == 0 ? at / static_cast<double>(bins) * span : at * step) + lo;
  }
  edges.back() = hi;
  return edges;
}

}  // namespace

Binning Binning::uniform(std::int64_t bins, double lo, double hi) {
  require_bins(bins);
  require(std::isfinite(lo) && std::isfinite(hi) && lo < hi && std::isfinite(hi - lo), "range ", lo, " to ", hi,
          ": it must be finite and rise");
  Binning binning;
  binning.kind_ = Kind::uniform;
  binning.bins_ = bins;
  binning.lo_ = lo;
  binning.hi_ = hi;
  binning.edges_ = equal_edges(bins, lo, hi);
  for (std::size_t i = 1; i < binning.edges_.size(); ++i)
    require(binning.edges_[i - 1] < binning.edges_[i], "bins ", bins, ": too many for the range ", lo, " to ", hi,
            ", whose doubles lie too far apart");
  return binning;
}

Binning Binning::edges(std::vector<double> edges) {
  require(edges.size() >= 2, "edges: ", edges.size(), " given, two or more are needed");
  for (std::size_t i = 0; i < edges.size(); ++i)
    require(!std::isnan(edges[i]) && (i == 0 || edges[i - 1] < edges[i]), "edge ", i, " is ", edges[i],
            ": edges must rise, without NaN");
  Binning binning;
  binning.kind_ = Kind::edges;
  binning.bins_ = static_cast<std::int64_t>(edges.size()) - 1;
  require_bins(binning.bins_);
  binning.lo_ = edges.front();
  binning.hi_ = edges.back();
  binning.edges_ = std::move(edges);
  return binning;
}

Binning Binning::lookup(std::vector<std::int32_t> bin_of) {
  std::int64_t largest = -1;
  for (std::size_t value = 0; value < bin_of.size(); ++value) {
    require(bin_of[value] >= -1 && bin_of[value] < most_bins, "look-up entry ", value, " is ", bin_of[value],
            ": it may be -1 (ignore) to ", most_bins - 1);
    largest = std::max<std::int64_t>(largest, bin_of[value]);
  }
  require(largest >= 0, "look-up table of ", bin_of.size(), " entries names no bin");
  Binning binning;
  binning.kind_ = Kind::lookup;
  binning.bins_ = largest + 1;
  binning.hi_ = static_cast<double>(binning.bins_);
  binning.lookup_ = std::move(bin_of);
  return binning;
}

Binning Binning::labels(std::int64_t bins, std::optional<std::int64_t> ignored) {
  require_bins(bins);
  Binning binning;
  binning.kind_ = Kind::labels;
  binning.bins_ = bins;
  binning.hi_ = static_cast<double>(bins);
  binning.ignored_ = ignored;
  return binning;
}

Binning Binning::joint(std::vector<Binning> channels) {
  require(channels.size() == 2 || channels.size() == 3, "joint bins of ", channels.size(),
          " channels: they may be of 2 or 3");
  std::int64_t bins = 1;
  for (const Binning& part : channels) {
    require(part.kind_ != Kind::joint, "joint bins of joint bins: each part reads one channel");
    bins *= part.bins_;  // at most 65535^3
  }
  require_bins(bins);
  Binning binning;
  binning.kind_ = Kind::joint;
  binning.bins_ = bins;
  binning.hi_ = static_cast<double>(bins);
  binning.parts_ = std::move(channels);
  return binning;
}

Binning Binning::of_type(Type type, std::int64_t bins) {
  if (is_float(type)) return uniform(bins, 0, 1);
  const int bits = static_cast<int>(8 * size_of(type));
  const double lo = is_signed_integer(type) ? -std::ldexp(1.0, bits - 1) : 0;
  return uniform(bins, lo, lo + std::ldexp(1.0, bits));
}

Binning Binning::clamped() const {
  require(kind_ == Kind::uniform || kind_ == Kind::edges, "clamped: only binning by a range or by edges can be");
  Binning binning = *this;
  binning.clamped_ = true;
  return binning;
}

Binning Binning::slice(std::int64_t first, std::int64_t count) const {
  require(first >= 0 && count >= 1 && first <= bins_ - count, "slice of ", count, " bins from ", first, ": there are ",
          bins_);
  if (count == bins_) return *this;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::int64_t end = first + count;
  switch (kind_) {
    case Kind::uniform:
    case Kind::edges: {
      std::vector<double> own(edges_.begin() + first, edges_.begin() + end + 1);
      // Only the last bin of the whole binning is closed: other slices end before their edge.
      if (end < bins_) own.back() = std::nextafter(own.back(), -infinity);
      if (clamped_ && first == 0) own.front() = -infinity;
      if (clamped_ && end == bins_) own.back() = infinity;
      require(own[own.size() - 2] < own.back(), "slice of ", count, " bins from ", first,
              ": its last bin holds a single double");
      return edges(std::move(own));
    }
    case Kind::labels: {
      require(!ignored_ || *ignored_ < first || *ignored_ >= end, "slice of ", count, " labels from ", first,
              ": the ignored one is among them");
      std::vector<double> own(static_cast<std::size_t>(count) + 1);
      for (std::int64_t i = 0; i < count; ++i) own[static_cast<std::size_t>(i)] = static_cast<double>(first + i);
      own.back() = static_cast<double>(end) - 0.5;  // labels are whole numbers
      return edges(std::move(own));
    }
    case Kind::lookup: {
      std::vector<std::int32_t> own(65537, -1);  // one entry more than there are pixel values
      for (std::size_t v = 0; v < std::min<std::size_t>(lookup_.size(), 65536); ++v)
        if (lookup_[v] >= first && lookup_[v] < end) own[v] = lookup_[v] - static_cast<std::int32_t>(first);
      own.back() = static_cast<std::int32_t>(count - 1);  // makes the number of bins `count`
      return lookup(std::move(own));
    }
    case Kind::joint: {
      const std::int64_t plane = bins_ / parts_[0].bins_;
      require(first % plane == 0 && count % plane == 0, "slice of ", count, " joint bins from ", first,
              ": both must be multiples of ", plane, ", the bins of the other channels");
      std::vector<Binning> own = parts_;
      own[0] = parts_[0].slice(first / plane, count / plane);
      return joint(std::move(own));
    }
  }
  throw InvalidArgument("slice: of no kind of binning");
}

std::int64_t Binning::bins() const noexcept { return bins_; }
std::int64_t Binning::channels() const noexcept {
  return kind_ == Kind::joint ? static_cast<std::int64_t>(parts_.size()) : 1;
}

std::vector<double> Binning::bin_edges() const {
  if (kind_ == Kind::uniform || kind_ == Kind::edges) return edges_;
  std::vector<double> numbers(static_cast<std::size_t>(bins_) + 1);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  return numbers;
}

std::int64_t Binning::bin_of(double value) const {
  switch (kind_) {
    case Kind::uniform:
    case Kind::edges: {
      const std::int32_t bin =
          kind_ == Kind::uniform ? cpu::bin_in_equal(edges_, value) : cpu::bin_between(edges_, value);
      if (bin >= 0 || !clamped_ || std::isnan(value)) return bin;
      return value < lo_ ? 0 : bins_ - 1;
    }
    case Kind::lookup:
    case Kind::labels: {
      const auto end = kind_ == Kind::lookup ? static_cast<std::int64_t>(lookup_.size()) : bins_;
      if (!(value >= 0 && value < static_cast<double>(end))) return -1;
      const auto label = static_cast<std::int64_t>(value);
      if (static_cast<double>(label) != value) return -1;  // not an integer: no label
      if (kind_ == Kind::lookup) return lookup_[static_cast<std::size_t>(label)];
      return ignored_ == label ? -1 : label;
    }
    case Kind::joint:
      break;
  }
  throw InvalidArgument("joint bins have no bin for one value");
}

}  // namespace areal
