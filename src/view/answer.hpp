#pragma once
// What a page reads about a region, made from the counts of its pixels.

#include <areal/binning.hpp>
#include <areal/region.hpp>
#include <areal/view.hpp>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>
#include "view/cells.hpp"

namespace areal::view {

/// The percentiles of an answer.
inline constexpr std::array<double, 3> percents{1, 50, 99};

struct Answer {
  enum class Standing : std::uint8_t {
    exact,
    rounded,  // about `box`, whose edges are near the region's
    pending   // no number yet: the survey has not come so far
  };
  Moments moments;
  /// NaN where the range leaves them open, and for an empty region.
  std::array<double, percents.size()> percentiles{};
  std::vector<std::uint64_t> histogram;
  Standing standing = Standing::exact;
  Region box = {};  // if rounded
};

/// The range of the histogram without one of the user's: [0, 256) for 8u and [-128, 128) for 8s, else from the smallest
/// to the largest finite value of the channels, which has lo < hi.
std::pair<double, double> default_range(const std::vector<ConstView>& channels);

/// The region of an image, as an image.
ConstView part_of(const ConstView& image, const Region& region);

/// The bins of a channel. Pixels of 8 bits are counted by value, all others in the bins that are shown.
class Counting {
 public:
  /// Throws InvalidArgument for a range or a number of bins that Binning::uniform refuses.
  Counting(Type type, std::int64_t bins, std::pair<double, double> range);

  const Binning& counted() const noexcept { return counted_; }
  /// Are counts all that an answer needs?
  bool is_bytes() const noexcept { return is_bytes_; }
  /// `moments` is read unless `is_bytes`.
  Answer answer(std::vector<std::uint64_t> counted, const Moments& moments = {}) const;

 private:
  Type type_;
  Binning shown_, counted_;
  bool is_bytes_;
};

}  // namespace areal::view
