// Maps of distances: the histogram of every window against one target.
#include <algorithm>
#include <areal/error.hpp>
#include <areal/region_histogram.hpp>
#include <vector>
#include "api/core/memory.hpp"
#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "api/core/table_check.hpp"
#include "api/core/view_check.hpp"
#include "api/query/query_call.hpp"
#include "api/query/region_counts.hpp"
#include "cpu/query/bin_sums.hpp"
#include "cpu/query/corners.hpp"
#include "cpu/query/window_rows.hpp"
#include "cpu/threads.hpp"
#include "formulas/distance.hpp"

namespace areal {

namespace {

/// Distances of a row of windows, from `counts(bin)`: those of all of them in one bin.
class DistanceRow {
 public:
  DistanceRow(std::span<const double> target, Distance measure, std::int64_t most)
      : target_(target), measure_(measure), most_(most) {
    counts_.resize(target.size() * static_cast<std::size_t>(most));
    total_.resize(static_cast<std::size_t>(most));
    cumulative_.resize(static_cast<std::size_t>(most));
    for (const double share : target) has_target_ = has_target_ || share > 0;
  }

  /// n <= most windows. `count(bin, to)` writes n counts.
  template <class Count>
  void operator()(std::int64_t n, double* out, const Count& count) {
    const auto& kernels = cpu::bin_row_kernels();
    const auto bins = static_cast<std::int64_t>(target_.size());
    std::fill_n(total_.begin(), n, 0.0);
    std::fill_n(cumulative_.begin(), n, 0.0);
    std::fill_n(out, n, 0.0);
    for (std::int64_t bin = 0; bin < bins; ++bin) {
      count(bin, counts(bin));
      kernels.add(counts(bin), n, total_.data());
    }
    const double largest = formulas::largest_distance(measure_, bins);
    if (!has_target_) {
      for (std::int64_t x = 0; x < n; ++x) out[x] = total_[x] == 0 ? 0 : largest;
      return;
    }
    for (std::int64_t bin = 0; bin < bins - (formulas::is_cumulative(measure_) ? 1 : 0); ++bin)
      kernels.accumulate(measure_, counts(bin), total_.data(), target_[static_cast<std::size_t>(bin)], n,
                         cumulative_.data(), out);
    kernels.finish(measure_, total_.data(), largest, n, out);
  }

 private:
  double* counts(std::int64_t bin) { return counts_.data() + bin * most_; }

  std::span<const double> target_;
  Distance measure_;
  std::int64_t most_;
  bool has_target_ = false;
  std::vector<double> counts_, total_, cumulative_;
};

/// Counts of windows of a tensor.
struct TensorCounts {
  const TensorView& tensor;
  std::int64_t width, height;

  /// Of the n windows from column `first` on, at row y.
  void operator()(std::int64_t bin, std::int64_t y, std::int64_t first, std::int64_t n, double* to) const {
    const std::int64_t shift = tensor.border == Border::none ? 1 : 0, size = tensor.view.column_pitch();
    const auto at = [&](std::int64_t x, std::int64_t row) {
      return static_cast<const char*>(tensor.view.row(row - shift, bin)) + (x - shift) * size;
    };
    const bool has_top = y >= shift;
    if (first < shift) {  // nothing is stored left of the image
      const cpu::Corners corners{cpu::zeros, has_top ? at(first + width, y) : cpu::zeros, cpu::zeros,
                                 at(first + width, y + height)};
      cpu::bin_sums<double>(tensor.view.type)(corners, 0, 1, to);
      to[0] = to[0] < 0 ? 0 : to[0];
      ++first, ++to, --n;
    }
    if (n == 0) return;
    cpu::bin_row_kernels().counts(tensor.view.type, has_top ? at(first, y) : nullptr, at(first, y + height), width, n,
                                  to);
  }
};

/// Counts of windows of an image, row after row: the rows of the window above each column are counted by bins, and a
/// next row of windows adds one row of pixels and takes one away.
class PixelCounts {
 public:
  PixelCounts(const cpu::PixelBins& rule, const ConstView& image, std::int64_t width, std::int64_t height,
              std::int64_t most)
      : rule_(rule),
        image_(image),
        width_(width),
        height_(height),
        stride_(most + width - 1),
        // One more row for pixels without a bin.
        columns_(static_cast<std::size_t>((rule.bins + 1) * stride_)),
        before_(static_cast<std::size_t>(stride_ + 1)) {}

  /// The n <= most windows from column `first` on, at row y.
  void begin(std::int64_t y, std::int64_t first, std::int64_t n) {
    std::fill(columns_.begin(), columns_.end(), 0);
    first_ = first, n_ = n;
    for (std::int64_t row = y; row < y + height_; ++row) add(row, 1);
  }
  /// The same from row y - 1 on to row y.
  void advance_to(std::int64_t y) {
    add(y - 1, ~std::uint64_t{0});
    add(y + height_ - 1, 1);
  }

  void operator()(std::int64_t bin, double* to) {
    const std::uint32_t* const column = columns_.data() + bin * stride_;
    std::uint64_t sum = 0;
    for (std::int64_t x = 0; x < n_ + width_ - 1; ++x) before_[static_cast<std::size_t>(x) + 1] = sum += column[x];
    cpu::bin_row_kernels().counts(Type::u64, nullptr, before_.data(), width_, n_, to);
  }

 private:
  void add(std::int64_t row, std::uint64_t step) {
    std::int32_t bins[cpu::longest_run];
    for (std::int64_t x = 0; x < n_ + width_ - 1; x += cpu::longest_run) {
      const int count = static_cast<int>(std::min<std::int64_t>(cpu::longest_run, n_ + width_ - 1 - x));
      cpu::bins_of_run(rule_, image_, 0, row, first_ + x, count, bins);
      for (int i = 0; i < count; ++i)
        columns_[static_cast<std::size_t>((bins[i] < 0 ? rule_.bins : bins[i]) * stride_ + x + i)] +=
            static_cast<std::uint32_t>(step);
    }
  }

  const cpu::PixelBins& rule_;
  const ConstView& image_;
  std::int64_t width_, height_, stride_, first_ = 0, n_ = 0;
  std::vector<std::uint32_t> columns_;
  std::vector<std::uint64_t> before_;
};

void require_memory_for_columns(std::int64_t bins, std::int64_t columns, int threads) {
  const double product = 4.0 * static_cast<double>(bins + 1) * static_cast<double>(columns) * threads;
  const auto bytes = product < 0x1p63 ? static_cast<std::uint64_t>(product) : std::uint64_t{1} << 63;
  if (exceeds_free_memory(bytes))
    throw OutOfMemory(sentence("the column counts of ", bins, " bins over ", columns, " columns take ", bytes,
                               " bytes in ", threads, " threads, more than are free"),
                      bytes);
}

/// Writes n distances from column `first` of row y on.
void store(const std::vector<double>& distances, std::int64_t n, const View& out, std::int64_t first, std::int64_t y) {
  cpu::arithmetic_kernels().store(
      distances.data(), n, out.type,
      static_cast<char*>(out.row(y)) + first * static_cast<std::int64_t>(size_of(out.type)));
}

}  // namespace

void distance_map(const TensorView& tensor, std::int64_t width, std::int64_t height, Span<const double> target,
                  Distance measure, const View& out, const Execution& execution) {
  const Shape shape = require_distance_map(tensor, width, height, target.size(), out);
  QueryCall call(execution, {{"tensor", tensor.memory()}});
  const double* const there = call.in(target, "target");
  const View map = call.out(out, "out");
  if (!call.on_cpu()) return call.answer(kernels::DistanceMapRequest{tensor, width, height, there, measure, map});
  if (shape.empty()) return;

  std::vector<double> shares(target.size());
  normalise(target.host(), shares);
  // Keeps all bins of the current windows in the level 2 cache, 16 or more windows at a time.
  const std::int64_t bins = std::max<std::int64_t>(1, tensor.bins());
  const std::int64_t most = std::min(shape.width, std::clamp<std::int64_t>((1 << 15) / bins, 16, 1024));
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 18) / (bins * shape.width));
  cpu::parallel_ranges(call.threads(), shape.height, grain, [&](std::int64_t begin, std::int64_t end) {
    DistanceRow row(shares, measure, most);
    const TensorCounts counts{tensor, width, height};
    std::vector<double> distances(static_cast<std::size_t>(most));
    for (std::int64_t y = begin; y < end; ++y)
      for (std::int64_t x = 0; x < shape.width; x += most) {
        const std::int64_t n = std::min(most, shape.width - x);
        row(n, distances.data(), [&](std::int64_t bin, double* to) { counts(bin, y, x, n, to); });
        store(distances, n, out, x, y);
      }
  });
}

void distance_map(const ConstView& image, const Binning& binning, std::int64_t width, std::int64_t height,
                  Span<const double> target, Distance measure, const View& out, const Execution& execution) {
  QueryCall call(execution, {{"image", image.memory}});
  if (!call.on_cpu())
    throw Unavailable("a map of distances straight from the pixels is made on the CPU; make the integral histogram");
  check_view("image", image, image.shape, image.type);
  check_shape("image", image.shape, image.type);
  require_one_image(image.shape);
  const cpu::PixelBins rule = pixel_bins(binning, image.type, image.shape.channels);
  const double* const there = call.in(target, "target");
  const Shape shape = require_distance_map(image.shape, rule.bins, width, height, target.size(), out);
  require(!may_overlap(image, out), "out: it overlaps the image");
  const View map = call.out(out, "out");
  if (shape.empty()) return;

  std::vector<double> shares(target.size());
  normalise(Span<const double>(there, target.size()).host(), shares);
  // Column counts that stay in the level 2 cache, of strips not much narrower than the windows, whose columns overlap.
  const std::int64_t most = std::min(
      shape.width,
      std::clamp<std::int64_t>((1 << 17) / (rule.bins + 1) - width, std::max<std::int64_t>(64, width / 2), 1024));
  const std::int64_t strips = (shape.width + most - 1) / most;
  require_memory_for_columns(rule.bins, most + width - 1, call.threads());
  // A band of rows begins by counting a window's height.
  const std::int64_t grain = std::max<std::int64_t>(32, height);
  const std::int64_t bands = std::max<std::int64_t>(1, shape.height / grain), rows = (shape.height + bands - 1) / bands;
  cpu::parallel_ranges(call.threads(), strips * bands, 1, [&](std::int64_t begin, std::int64_t end) {
    DistanceRow row(shares, measure, most);
    PixelCounts counts(rule, image, width, height, most);
    std::vector<double> distances(static_cast<std::size_t>(most));
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t x = i % strips * most, n = std::min(most, shape.width - x);
      const std::int64_t top = i / strips * rows, bottom = std::min(shape.height, top + rows);
      for (std::int64_t y = top; y < bottom; ++y) {
        if (y == top)
          counts.begin(y, x, n);
        else
          counts.advance_to(y);
        row(n, distances.data(), [&](std::int64_t bin, double* to) { counts(bin, to); });
        store(distances, n, map, x, y);
      }
    }
  });
}

}  // namespace areal
