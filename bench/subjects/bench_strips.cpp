// areal bench strips: sums of regions and tables, strip by strip, of seeded images that are computed as they are read
// and never in memory as a whole. The floor reads the same blocks and computes nothing. Time per pixel should not
// depend on the image's size.

#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/strips.hpp>
#include <vector>
#include "bench/harness/bench.hpp"
#include "bench/harness/seeded_image.hpp"

namespace areal::bench {
namespace {

constexpr std::uint64_t seed = 14;
constexpr std::int64_t few_regions = 1000;
constexpr std::size_t checked_regions = 50;  // each takes the image's width and height
constexpr int few_repetitions = 3;           // of images of gigapixels

struct PerPixel {
  std::string algorithm;
  std::vector<double> nanoseconds;  // per pixel, by size
};

void read_alone(const SeededImage& image, std::int64_t rows) {
  Array block({image.width(), rows}, Type::u8);
  const ImageReader read = image.reader();
  for (std::int64_t y = 0; y < image.height(); y += rows)
    read(0, y, View(block.data(), Type::u8, {image.width(), std::min(rows, image.height() - y)}));
}

std::string wrong_sum(const SeededImage& image, const std::vector<Region>& regions,
                      const std::vector<std::uint64_t>& sums) {
  const std::size_t step = std::max<std::size_t>(1, regions.size() / checked_regions);
  for (std::size_t i = 0; i < regions.size(); i += step)
    if (const std::uint64_t want = image.sum(regions[i]); sums[i] != want)
      return fmt::format("the sum of region {} is {}, not {}", i, sums[i], want);
  return {};
}

void run(const Size& size, const Execution& execution, const Options& options, std::vector<PerPixel>& all,
         Report& report) {
  const SeededImage image(size.width, size.height, seed);
  const Shape shape{size.width, size.height};
  const std::vector<Region> regions = random_regions(size, options.regions.value_or(few_regions));
  const PieceOptions strips{.workers = {{execution.backend, execution.device, execution.threads}}};
  StripSums sums(shape, Type::u8, regions, {}, strips);
  StripSat tables(shape, Type::u8, {}, strips);
  const auto give_nowhere = [](const Piece&) { return true; };
  const std::vector<Contestant> contestants{
      {"floor", [&] { read_alone(image, sums.strip_height()); }},
      {fmt::format("sums of {} regions", regions.size()), [&] { sums.run(image.reader()); }},
      {"tables", [&] { tables.run(image.reader(), give_nowhere); }}};
  const std::vector<Times> times =
      measure(contestants, options.is_repetitions_given ? options.repetitions : few_repetitions);
  if (const std::string wrong = wrong_sum(image, regions, sums.sums<std::uint64_t>()); !wrong.empty() && options.wrong)
    options.wrong(fmt::format("{}x{}: {}", size.width, size.height, wrong));
  const double pixels = static_cast<double>(size.width) * static_cast<double>(size.height);
  all.resize(contestants.size());
  for (std::size_t i = 1; i < contestants.size(); ++i) {
    Record record{"strips", contestants[i].name, name_of(i == 1 ? type_pair("8u64u") : tables.types()), size.width,
                  size.height};
    record.threads = execution.backend == Backend::cuda ? 0 : execution.threads;
    record.backend = execution.backend;
    if (execution.backend == Backend::cuda) record.device = device_name(execution.device);
    record.time = times[i];
    record.floor = "read", record.floor_time = times[0];
    record.bytes = static_cast<std::uint64_t>(pixels);
    if (i == 2) record.bytes *= 1 + size_of(tables.types().table);
    report.add(record);
    all[i].algorithm = contestants[i].name;
    all[i].nanoseconds.push_back(times[i].median * 1e3 / pixels);
  }
}

}  // namespace

void bench_strips(const Options& options, Report& report) {
  const std::vector<Size> sizes = options.sizes.empty()
                                      ? std::vector<Size>{{1024, 1024}, {4096, 4096}, {16384, 16384}, {65536, 65536}}
                                      : options.sizes;
  const bool cuda = options.backend == Backend::cuda;
  for (const int threads : cuda ? std::vector<int>{0} : options.threads) {
    std::vector<PerPixel> all;
    for (const Size& size : sizes)
      run(size, {.backend = options.backend, .device = options.device, .threads = threads}, options, all, report);
    for (const PerPixel& of : all) {
      if (of.nanoseconds.size() < 2) continue;
      const auto [least, most] = std::minmax_element(of.nanoseconds.begin(), of.nanoseconds.end());
      report.note(fmt::format("{}{}: {:.3f} to {:.3f} ns a pixel over all sizes", of.algorithm,
                              cuda ? "" : fmt::format(", {} threads", threads), *least, *most));
    }
  }
}

}  // namespace areal::bench
