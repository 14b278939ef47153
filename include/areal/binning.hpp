#pragma once
/// \file binning.hpp Binning: which bin a pixel belongs to, as in numpy.histogram.

#include <areal/type.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace areal {

/// A rule from pixel values to bins 0 .. bins()-1. Values outside are ignored unless `clamped()`; NaN is always
/// ignored. Immutable. Copying may allocate; pass by reference.
class Binning {
 public:
  /// `bins` bins of equal width over [lo, hi], the last one closed, exactly numpy.histogram(bins=, range=).
  /// Throws InvalidArgument unless 1 <= bins <= 65535 and lo < hi, both finite.
  static Binning uniform(std::int64_t bins, double lo, double hi);
  /// Bins between rising edges, the last one closed: edges.size() - 1 bins, exactly numpy.histogram(bins=edges).
  /// Throws InvalidArgument for fewer than two edges, edges that do not rise (equal neighbours included), NaN.
  static Binning edges(std::vector<double> edges);
  /// bin_of[v] for a pixel value v, -1 to ignore; values beyond the table are ignored. 8- and 16-bit integer images.
  /// The number of bins is the largest entry + 1.
  static Binning lookup(std::vector<std::int32_t> bin_of);
  /// A label image: pixel value v is bin v; `ignored` and values outside are ignored. Integer images.
  static Binning labels(std::int64_t bins, std::optional<std::int64_t> ignored = {});
  /// Joint bins of two or three channels: bin = (i0 * bins1 + i1) * bins2 + i2. Ignored if any channel is.
  static Binning joint(std::vector<Binning> channels);
  /// The full range of the type in `bins` equal bins: [0, 256) for 8u, as numpy with range=(0, 256). Floats: [0, 1].
  static Binning of_type(Type type, std::int64_t bins);

  /// The same, but values outside, infinities included and NaN excluded, count in the first or last bin. `uniform` and
  /// `edges` only.
  Binning clamped() const;

  /// Only bins [first, first + count), renumbered from 0; values of other bins are ignored. The slices of a binning
  /// give the slices of its tensor. `uniform` and `labels` become `edges`; joint bins are sliced in whole planes of the
  /// first channel. Throws InvalidArgument for bins out of range, for a slice of labels around the ignored one, and for
  /// other slices of joint bins.
  Binning slice(std::int64_t first, std::int64_t count) const;

  std::int64_t bins() const noexcept;
  /// Channels that it reads: 1, or 2 or 3 for joint.
  std::int64_t channels() const noexcept;
  /// bins()+1 rising edges for uniform and edges; 0, 1, 2, .. for labels, lookup and joint (bin numbers).
  std::vector<double> bin_edges() const;
  /// The bin of one value, or -1; the definition that every backend must equal. Single-channel rules only.
  std::int64_t bin_of(double value) const;

  enum class Kind : std::uint8_t { uniform, edges, lookup, labels, joint };
  Kind kind() const noexcept { return kind_; }
  bool is_clamped() const noexcept { return clamped_; }
  double lo() const noexcept { return lo_; }
  double hi() const noexcept { return hi_; }
  std::optional<std::int64_t> ignored_label() const noexcept { return ignored_; }
  const std::vector<std::int32_t>& table() const noexcept { return lookup_; }
  const std::vector<Binning>& parts() const noexcept { return parts_; }

 private:
  Binning() = default;
  Kind kind_ = Kind::uniform;
  bool clamped_ = false;
  std::int64_t bins_ = 0;
  double lo_ = 0, hi_ = 0;
  std::vector<double> edges_;
  std::vector<std::int32_t> lookup_;
  std::optional<std::int64_t> ignored_;
  std::vector<Binning> parts_;
};

}  // namespace areal
