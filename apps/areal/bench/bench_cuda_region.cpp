// areal bench region --backend cuda: sums and histograms of random regions from what stays on a GPU, beside plain
// kernels of the same random loads, in its own plug-in.
#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <areal/region_histogram.hpp>
#include <areal/sat.hpp>
#include <array>
#include "bench.hpp"
#include "peers.hpp"

namespace areal::bench {
namespace {

/// Sums where `bins` is 0, else histograms; `expected` are the CPU's answers. Throws where one differs.
void run(const Size& size, std::int64_t bins, const Array& image, const std::vector<Region>& regions,
         const std::vector<std::uint64_t>& expected, const Options& options, CudaBenchRegions bench, Report& report) {
  Record record{"region", bins == 0 ? "region_sums" : "region_histograms", "32u-64u", size.width, size.height, bins};
  record.batch = static_cast<std::int64_t>(regions.size());
  record.threads = 0;
  record.floor = "gather";
  record.bytes =
      regions.size() * sizeof(Region) + expected.size() * (4 * sizeof(std::uint32_t) + sizeof(std::uint64_t));
  record.backend = Backend::cuda;
  record.device = devices().at(static_cast<std::size_t>(options.device)).name;
  record.border = bins == 0 ? Border::zero : Border::none;
  std::vector<std::uint64_t> answers(expected.size());
  const CudaRegions what{size.width,
                         size.height,
                         bins,
                         image.data(),
                         regions,
                         options.repetitions,
                         options.device,
                         answers,
                         [&](const std::vector<double>& floor, const std::vector<double>& ours) {
                           const auto wrong = std::mismatch(answers.begin(), answers.end(), expected.begin());
                           if (wrong.first != answers.end())
                             throw Error(fmt::format("{}: answer {} is {}, the CPU's is {}", record.algorithm,
                                                     wrong.first - answers.begin(), *wrong.first, *wrong.second));
                           record.floor_time = times_of(floor);
                           record.time = times_of(ours);
                           report.add(record);
                         }};
  std::array<char, 1024> error{};
  bench(&what, error.data(), error.size());
  if (error[0] != 0) throw Error(error.data());
}

}  // namespace

void bench_cuda_region(const Options& options, Report& report) {
  std::string missing;
  const auto bench = reinterpret_cast<CudaBenchRegions>(find_cuda_bench("areal_cuda_bench_regions", missing));
  if (bench == nullptr) throw Unavailable("--backend cuda: " + missing);
  for (const Size& size : options.sizes.empty() ? std::vector<Size>{{8192, 8192}} : options.sizes) {
    const Array image = random_image(size, Type::u8);
    const SatTable table = sat(image.view(), {.types = type_pair("8u32u")}, {.backend = Backend::cpu});
    const std::vector<Region> regions = random_regions(size, options.regions.value_or(1'000'000));
    std::vector<std::uint64_t> expected(regions.size());
    region_sums(table, regions, expected);
    run(size, 0, image, regions, expected, options, bench, report);
  }
  for (const Size& size : options.sizes.empty() ? std::vector<Size>{{1920, 1080}} : options.sizes)
    for (const std::int64_t bins : options.bins.empty() ? std::vector<std::int64_t>{32} : options.bins) {
      const Array image = random_image(size, Type::u8);
      const std::vector<Region> regions = random_regions(size, options.regions.value_or(10'000), 1);
      std::vector<std::uint64_t> expected(regions.size() * static_cast<std::size_t>(bins));
      region_histograms(image.view(), Binning::uniform(bins, 0, 256), regions, expected);
      run(size, bins, image, regions, expected, options, bench, report);
    }
}

}  // namespace areal::bench
