// areal bench region: a million random regions against a plain loop of four random loads each.

#include <algorithm>
#include <areal/error.hpp>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <random>
#include "bench/harness/bench.hpp"
#include "bench/harness/floors.hpp"

namespace areal::bench {

std::vector<Region> random_regions(const Size& size, std::int64_t count, std::int64_t first) {
  std::mt19937_64 random(3);
  std::vector<Region> regions(static_cast<std::size_t>(count));
  for (Region& region : regions) {
    const auto side = [&](std::int64_t extent, std::int64_t& from, std::int64_t& length) {
      const auto places = static_cast<std::uint64_t>(extent - first + 1);
      const auto a = first + static_cast<std::int64_t>(random() % places);
      const auto b = first + static_cast<std::int64_t>(random() % places);
      from = std::min(a, b);
      length = std::max(a, b) - from;
    };
    side(size.width, region.x, region.width);
    side(size.height, region.y, region.height);
  }
  return regions;
}

std::vector<Region> random_squares(const Size& size, std::int64_t count, std::int64_t side) {
  std::mt19937_64 random(12);
  std::vector<Region> boxes(static_cast<std::size_t>(count));
  for (Region& box : boxes) {
    box.width = box.height = side;
    box.x = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(size.width - side + 1));
    box.y = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(size.height - side + 1));
  }
  return boxes;
}

void bench_region(const Options& options, Report& report) {
  const std::vector<Size> sizes = options.sizes.empty() ? std::vector<Size>{{8192, 8192}} : options.sizes;
  for (const Size& size : sizes) {
    const Array image = random_image(size, Type::u8);
    const SatTable table = sat(image.view(), {.types = type_pair("8u32u")}, {.backend = Backend::cpu});
    const auto* const entries = static_cast<const std::uint32_t*>(table.sum().data);
    const std::vector<Region> regions = random_regions(size, options.regions.value_or(1'000'000));
    std::vector<std::uint64_t> ours(regions.size()), plain(regions.size());
    for (const int threads : options.threads) {
      const std::vector<Times> times = measure(
          {{"gather", [&] { gather(entries, size.width + 1, regions, plain.data(), threads); }},
           {"region_sums",
            [&] { region_sums(table, regions, ours, {.execution = {.backend = Backend::cpu, .threads = threads}}); }}},
          options.repetitions);
      if (ours != plain) throw Error("region_sums: a sum differs from the plain loop's");
      Record record{"region", "region_sums", "32u-64u", size.width, size.height};
      record.batch = static_cast<std::int64_t>(regions.size());
      record.threads = threads;
      record.time = times[1];
      record.floor = "gather";
      record.floor_time = times[0];
      record.bytes = regions.size() * (sizeof(Region) + 4 * sizeof(std::uint32_t) + sizeof(std::uint64_t));
      report.add(record);
    }
  }
}

}  // namespace areal::bench
