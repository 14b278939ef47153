// areal bench histogram: tensors beside a memset of the tensor.

#include <fmt/format.h>
#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <random>
#include "bench.hpp"
#include "floors.hpp"

namespace areal::bench {
namespace {

/// Histograms of random regions counted directly against the tensor: throws where one differs.
void check(const Array& image, const Array& tensor, const Binning& binning, const std::string& name) {
  std::mt19937_64 random(11);
  const std::int64_t width = image.shape().width, height = image.shape().height;
  for (int i = 0; i < 20; ++i) {
    const auto below = [&](std::int64_t n) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    };
    Region region{below(width), below(height), 0, 0};
    region.width = 1 + below(std::min<std::int64_t>(200, width - region.x));
    region.height = 1 + below(std::min<std::int64_t>(200, height - region.y));
    std::vector<std::uint64_t> direct(static_cast<std::size_t>(binning.bins())), told(direct.size());
    for (std::int64_t y = region.y; y < region.y + region.height; ++y)
      for (std::int64_t x = region.x; x < region.x + region.width; ++x)
        ++direct[static_cast<std::size_t>(binning.bin_of(image.as<std::uint8_t>()[y * width + x]))];
    region_histograms(TensorView{tensor.view(), Border::none}, {&region, 1}, told);
    if (direct != told)
      throw Error(fmt::format("{}: the histogram of region {},{},{},{} is wrong", name, region.x, region.y,
                              region.width, region.height));
  }
}

}  // namespace

void bench_histogram(const Options& options, Report& report) {
  const std::vector<Size> sizes = options.sizes.empty() ? std::vector<Size>{{1920, 1080}} : options.sizes;
  const std::vector<std::int64_t> all_bins = options.bins.empty() ? std::vector<std::int64_t>{32} : options.bins;
  std::vector<std::string> ids = options.algorithms;
  if (ids.empty())
    for (const Algorithm& row : algorithms())
      if (row.family == "histogram" && row.cpu) ids.emplace_back(row.id);
  for (const Size& size : sizes)
    for (const std::int64_t bins : all_bins) {
      const Array image = random_image(size, Type::u8);
      const Binning binning = Binning::of_type(Type::u8, bins);
      const Shape shape{size.width, size.height};
      const HistogramPlan shapes(shape, Type::u8, binning);
      shapes.require_fit();
      Array tensor(shapes.tensor_shape(), Type::u32);
      for (const int threads : options.threads) {
        Record record{"histogram", "", "8u-32u", size.width, size.height, bins};
        record.threads = threads;
        record.floor = "memset";
        record.bytes = image.bytes() + tensor.bytes();
        for (const std::string& id : ids) {
          HistogramOptions o;
          o.algorithm = id;
          o.threads = threads;
          const HistogramPlan plan(shape, Type::u8, binning, o);
          Array workspace({static_cast<std::int64_t>(plan.workspace_bytes()), 1}, Type::u8);
          plan.prepare(workspace.data());
          // The papers' algorithms take seconds, ours milliseconds.
          const int repetitions = plan.algorithm() == "fused" ? options.repetitions : std::min(options.repetitions, 3);
          const std::vector<Times> times =
              measure({{"memset", [&] { fill(tensor.data(), static_cast<std::int64_t>(tensor.bytes()), threads); }},
                       {id,
                        [&] {
                          plan.execute({image.view(), tensor.view()}, workspace.data());
                        }}},
                      repetitions);
          check(image, tensor, binning, plan.algorithm());
          record.algorithm = plan.algorithm();
          record.floor_time = times[0];
          record.time = times[1];
          report.add(record);
        }
      }
    }
}

}  // namespace areal::bench
