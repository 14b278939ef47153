// Maps of distances: the histogram of every window against one target.
#include <algorithm>
#include <areal/region_histogram.hpp>
#include <vector>
#include "api/core/table_check.hpp"
#include "api/query/query_call.hpp"
#include "cpu/query/bin_sums.hpp"
#include "cpu/query/corners.hpp"
#include "cpu/query/window_rows.hpp"
#include "cpu/threads.hpp"
#include "formulas/distance.hpp"

namespace areal {

namespace {

// A row of windows in columns [first, first + n) of the output, bin by bin.
class DistanceRow {
 public:
  DistanceRow(const TensorView& tensor, std::int64_t width, std::int64_t height, std::span<const double> target,
              Distance measure, std::int64_t most)
      : tensor_(tensor), width_(width), height_(height), target_(target), measure_(measure), most_(most) {
    counts_.resize(static_cast<std::size_t>(tensor.bins() * most));
    total_.resize(static_cast<std::size_t>(most));
    cumulative_.resize(static_cast<std::size_t>(most));
    for (const double share : target) has_target_ = has_target_ || share > 0;
  }

  void operator()(std::int64_t y, std::int64_t first, std::int64_t n, double* out) {
    const auto& kernels = cpu::bin_row_kernels();
    std::fill_n(total_.begin(), n, 0.0);
    std::fill_n(cumulative_.begin(), n, 0.0);
    std::fill_n(out, n, 0.0);
    for (std::int64_t bin = 0; bin < tensor_.bins(); ++bin) {
      count(bin, y, first, n);
      kernels.add(counts(bin), n, total_.data());
    }
    const double largest = formulas::largest_distance(measure_, tensor_.bins());
    if (!has_target_) {
      for (std::int64_t x = 0; x < n; ++x) out[x] = total_[x] == 0 ? 0 : largest;
      return;
    }
    const std::int64_t bins = tensor_.bins() - (formulas::is_cumulative(measure_) ? 1 : 0);
    for (std::int64_t bin = 0; bin < bins; ++bin)
      kernels.accumulate(measure_, counts(bin), total_.data(), target_[static_cast<std::size_t>(bin)], n,
                         cumulative_.data(), out);
    kernels.finish(measure_, total_.data(), largest, n, out);
  }

 private:
  double* counts(std::int64_t bin) { return counts_.data() + bin * most_; }

  void count(std::int64_t bin, std::int64_t y, std::int64_t first, std::int64_t n) {
    const std::int64_t shift = tensor_.border == Border::none ? 1 : 0, size = tensor_.view.column_pitch();
    const auto at = [&](std::int64_t x, std::int64_t row) {
      return static_cast<const char*>(tensor_.view.row(row - shift, bin)) + (x - shift) * size;
    };
    const bool has_top = y >= shift;
    double* to = counts(bin);
    if (first < shift) {  // nothing is stored left of the image
      const cpu::Corners corners{cpu::zeros, has_top ? at(first + width_, y) : cpu::zeros, cpu::zeros,
                                 at(first + width_, y + height_)};
      cpu::bin_sums<double>(tensor_.view.type)(corners, 0, 1, to);
      to[0] = to[0] < 0 ? 0 : to[0];
      ++first, ++to, --n;
    }
    if (n == 0) return;
    cpu::bin_row_kernels().counts(tensor_.view.type, has_top ? at(first, y) : nullptr, at(first, y + height_), width_,
                                  n, to);
  }

  const TensorView& tensor_;
  std::int64_t width_, height_;
  std::span<const double> target_;
  Distance measure_;
  std::int64_t most_;
  bool has_target_ = false;
  std::vector<double> counts_, total_, cumulative_;
};

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
    DistanceRow row(tensor, width, height, shares, measure, most);
    std::vector<double> distances(static_cast<std::size_t>(most));
    const auto to_size = static_cast<std::int64_t>(size_of(out.type));
    for (std::int64_t y = begin; y < end; ++y)
      for (std::int64_t x = 0; x < shape.width; x += most) {
        const std::int64_t n = std::min(most, shape.width - x);
        row(y, x, n, distances.data());
        cpu::arithmetic_kernels().store(distances.data(), n, out.type, static_cast<char*>(out.row(y)) + x * to_size);
      }
  });
}

}  // namespace areal
