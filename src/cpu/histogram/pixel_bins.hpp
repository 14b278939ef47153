#pragma once
// From pixels to bin numbers: a Binning prepared for one image type.

#include <areal/view.hpp>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace areal::cpu {

/// The last i with edges[i] <= x for rising edges, the last bin closed; -1 outside. NaN is in no bin.
inline std::int32_t bin_between(std::span<const double> edges, double x) {
  if (!(x >= edges.front() && x <= edges.back())) return -1;
  std::size_t first = 0, count = edges.size() - 1;  // the answer lies in [first, first + count)
  while (count > 1) {
    const std::size_t half = count / 2;
    first += x >= edges[first + half] ? half : 0;
    count -= half;
  }
  return static_cast<std::int32_t>(first);
}

/// As numpy.histogram does for equal bins: a guess, corrected by the edges, which rise strictly.
inline std::int32_t bin_in_equal(std::span<const double> edges, double x) {
  const double lo = edges.front(), hi = edges.back();
  if (!(x >= lo && x <= hi)) return -1;
  const auto bins = static_cast<std::int64_t>(edges.size() - 1);
  auto i = static_cast<std::int64_t>((x - lo) / (hi - lo) * static_cast<double>(bins));
  if (i == bins) --i;
  if (x < edges[static_cast<std::size_t>(i)]) --i;
  if (i != bins - 1 && x >= edges[static_cast<std::size_t>(i) + 1]) ++i;
  return static_cast<std::int32_t>(i);
}

/// The rule for one channel. 8- and 16-bit pixels (16f included) read `table` by their bits; others follow `kind`.
struct ChannelBins {
  enum class Kind : std::uint8_t { table, equal, edges, labels };
  static constexpr std::uint16_t none = 0xffff;  // there are at most 65535 bins: 0 .. 65534

  Kind kind = Kind::table;
  bool clamped = false;
  std::int64_t bins = 0;
  std::vector<std::uint16_t> table;
  std::vector<double> edges;
  std::optional<std::int64_t> ignored;

  /// The bin of a value by `equal` or `edges`, or -1.
  std::int32_t bin_of(double x) const {
    const std::int32_t bin = kind == Kind::equal ? bin_in_equal(edges, x) : bin_between(edges, x);
    if (bin >= 0 || !clamped || std::isnan(x)) return bin;
    return x < edges.front() ? 0 : static_cast<std::int32_t>(bins - 1);
  }
};

/// The rule for a whole pixel of an image type: of one channel, or joint.
struct PixelBins {
  Type type = Type::u8;
  std::int64_t bins = 0;
  std::vector<ChannelBins> channels;

  /// True if one table is the whole rule.
  bool is_table() const { return channels.size() == 1 && channels[0].kind == ChannelBins::Kind::table; }
};

/// The longest run for `bins_of_run`.
inline constexpr int longest_run = 512;

/// out[i] = the bin of pixel (x + i, y) of image n, or -1, for i in [0, count), count <= longest_run.
void bins_of_run(const PixelBins& rule, const ConstView& image, std::int64_t n, std::int64_t y, std::int64_t x,
                 int count, std::int32_t* out);

/// The same within the bins [base, base + size), size <= 255: out[i] = bin - base, or 255 for every other bin.
void group_of_run(const PixelBins& rule, const ConstView& image, std::int64_t n, std::int64_t y, std::int64_t x,
                  int count, std::int64_t base, int size, std::uint8_t* out);

}  // namespace areal::cpu
