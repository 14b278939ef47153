#include "bench/harness/cpu_groups.hpp"
#include <algorithm>
#include <areal/histogram.hpp>
#include <chrono>
#include <cstring>

namespace areal::bench {
namespace {

std::int64_t bins_of_group(const Array& image, std::int64_t bins, std::uint64_t group_bytes, int threads) {
  const auto fit = static_cast<std::int64_t>(group_bytes / (4 * std::max<std::uint64_t>(1, image.bytes())));
  return std::min(bins, std::max<std::int64_t>(fit, threads));
}

}  // namespace

CpuGroups::CpuGroups(const Array& image, std::int64_t bins, std::uint64_t group_bytes, int threads)
    : image_(image),
      bins_(bins),
      group_bins_(bins_of_group(image, bins, group_bytes, threads)),
      check_(image.as<std::uint8_t>(), {image.shape().width, image.shape().height}, bins),
      tensor_({image.shape().width, image.shape().height, group_bins_, 1, Layout::planar}, Type::u32) {
  std::memset(tensor_.data(), 0, tensor_.bytes());  // the first access to a page is slow
}

double CpuGroups::time(const std::string& algorithm, int threads,
                       const std::function<void(const std::string&)>& wrong) {
  const Binning binning = Binning::uniform(bins_, 0, 256);
  double microseconds = 0;
  for (std::int64_t first = 0; first < bins_; first += group_bins_) {
    const HistogramPlan plan(image_.shape(), Type::u8, binning.slice(first, std::min(group_bins_, bins_ - first)),
                             {.algorithm = algorithm}, {.backend = Backend::cpu, .threads = threads});
    Workspace workspace(plan);
    const View tensor(tensor_.data(), Type::u32, plan.tensor_shape());
    const auto begin = std::chrono::steady_clock::now();
    plan.execute({image_.view(), tensor}, workspace);
    microseconds += std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    if (const std::string what = check_.entries(tensor, first); !what.empty()) wrong(algorithm + ": " + what);
  }
  return microseconds;
}

}  // namespace areal::bench
