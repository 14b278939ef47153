// areal bench histogram: tensors against a memset of the tensor.

#include <areal/catalog.hpp>
#include "bench/harness/bench.hpp"
#include "bench/harness/cpu_histograms.hpp"

namespace areal::bench {

void bench_histogram(const Options& options, Report& report) {
  const std::vector<Size> sizes = options.sizes.empty() ? std::vector<Size>{{1920, 1080}} : options.sizes;
  const std::vector<std::int64_t> all_bins = options.bins.empty() ? std::vector<std::int64_t>{32} : options.bins;
  std::vector<std::string> ids = options.algorithms;
  if (ids.empty())
    for (const Algorithm& row : algorithms())
      if (row.family == "histogram" && row.cpu) ids.emplace_back(row.id);
  for (const Size& size : sizes)
    for (const std::int64_t bins : all_bins) {
      CpuHistograms tensors(size, bins);
      for (const int threads : options.threads)
        for (const std::string& id : ids) report.add(tensors.time(id, threads, options.repetitions));
    }
}

}  // namespace areal::bench
