#include "bench/harness/cpu_histograms.hpp"
#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/region_histogram.hpp>
#include <array>
#include <random>
#include <vector>
#include "bench/harness/floors.hpp"

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
    std::vector<std::uint64_t> direct(static_cast<std::size_t>(binning.bins())), answer(direct.size());
    for (std::int64_t y = region.y; y < region.y + region.height; ++y)
      for (std::int64_t x = region.x; x < region.x + region.width; ++x)
        ++direct[static_cast<std::size_t>(binning.bin_of(image.as<std::uint8_t>()[y * width + x]))];
    region_histograms(TensorView(tensor.view(), Border::none), Span<const Region>(&region, 1), answer);
    if (direct != answer)
      throw Error(fmt::format("{}: the histogram of region {},{},{},{} is wrong", name, region.x, region.y,
                              region.width, region.height));
  }
}

Array tensor_for(const Size& size, const Binning& binning) {
  const HistogramPlan plan({size.width, size.height}, Type::u8, binning, {}, {.backend = Backend::cpu});
  plan.require_fit();
  return Array(plan.tensor_shape(), Type::u32);
}

}  // namespace

CpuHistograms::CpuHistograms(const Size& size, std::int64_t bins)
    : size_(size),
      binning_(Binning::of_type(Type::u8, bins)),
      image_(random_image(size, Type::u8)),
      tensor_(tensor_for(size, binning_)) {}

Record CpuHistograms::record(const std::string& what, const std::string& algorithm, int threads) const {
  Record record{what, algorithm, "8u-32u", size_.width, size_.height, binning_.bins()};
  record.threads = threads;
  record.floor = "memset";
  record.bytes = image_.bytes() + tensor_.bytes();
  record.border = Border::none;
  return record;
}

std::vector<Times> CpuHistograms::timed(const Contestant& contestant, int threads, int repetitions) {
  const Contestant memset{"memset", [&] { fill(tensor_.data(), static_cast<std::int64_t>(tensor_.bytes()), threads); }};
  std::vector<Times> times = measure({memset, contestant}, repetitions);
  memset.run();
  contestant.run();
  return times;
}

Record CpuHistograms::time(const std::string& algorithm, int threads, int repetitions) {
  const HistogramPlan plan({size_.width, size_.height}, Type::u8, binning_, {.algorithm = algorithm},
                           {.backend = Backend::cpu, .threads = threads});
  Workspace workspace(plan);
  const std::vector<Times> times = timed({algorithm,
                                          [&] {
                                            plan.execute({image_.view(), tensor_.view()}, workspace);
                                          }},
                                         threads, plan.algorithm() == "fused" ? repetitions : std::min(repetitions, 3));
  check(image_, tensor_, binning_, plan.algorithm());
  Record record = this->record("histogram", plan.algorithm(), threads);
  record.floor_time = times[0];
  record.time = times[1];
  return record;
}

Record CpuHistograms::time_initialisation(int threads, int repetitions) {
  std::array<std::int64_t, 256> bin_of{};
  for (std::size_t value = 0; value < bin_of.size(); ++value)
    bin_of[value] = binning_.bin_of(static_cast<double>(value));
  const std::int64_t pixels = size_.width * size_.height;
  const auto* const image = image_.as<std::uint8_t>();
  auto* const tensor = tensor_.as<std::uint32_t>();
  const std::vector<Times> times =
      timed({"host", [&] { one_hot(image, tensor, pixels, binning_.bins(), bin_of, threads); }}, threads,
            std::min(repetitions, 3));
  for (std::int64_t i = 0; i < pixels; ++i)  // the bin of each pixel, and the next bin
    for (std::int64_t k = 0; k < std::min<std::int64_t>(binning_.bins(), 2); ++k)
      if (tensor[(bin_of[image[i]] + k) % binning_.bins() * pixels + i] != (k == 0))
        throw Error(fmt::format("the initialisation of pixel {} is wrong", i));
  Record record = this->record("initialisation", "host", threads);
  record.floor_time = times[0];
  record.time = times[1];
  return record;
}

}  // namespace areal::bench
