// areal bench region: a million random regions against a plain loop of four random loads each; and histograms of boxes
// beside cv::calcHist of each.

#include <algorithm>
#include <areal/error.hpp>
#include <areal/histogram_store.hpp>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <random>
#include "bench/harness/bench.hpp"
#include "bench/harness/floors.hpp"
#include "bench/harness/peers.hpp"

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

/// Histograms of boxes straight from the pixels, and by a new compact store.
void bench_boxes(const Size& size, std::int64_t bins, std::int64_t count, std::int64_t side, const Options& options,
                 CvHistograms opencv, Report& report) {
  const Array image = random_image(size, Type::u8);
  const auto* const pixels = static_cast<const std::uint8_t*>(image.data());
  const std::vector<Region> boxes = random_squares(size, count, side);
  const Binning binning = Binning::uniform(bins, 0, 256);
  std::vector<std::uint64_t> ours(boxes.size() * static_cast<std::size_t>(bins)), stored(ours), theirs(ours);
  for (const int threads : options.threads) {
    const Execution on{.backend = Backend::cpu, .threads = threads};
    std::vector<Contestant> all{
        {"read boxes", [&] { read_regions(pixels, size.width, boxes, threads); }},
        {"boxes of pixels", [&] { region_histograms(image.view(), binning, boxes, ours, {.execution = on}); }},
        {"boxes of a new compact store", [&] {
           region_histograms(histogram_store(image.view(), binning, {.store = Store::compact}, on), boxes, stored,
                             {.execution = on});
         }}};
    if (opencv != nullptr)
      all.push_back({"opencv " + opencv_version() + " cv::calcHist a box", [&] {
                       opencv(pixels, size.width, size.height, &boxes[0].x, count, bins, theirs.data(), threads);
                     }});
    const std::vector<Times> times = measure(all, options.repetitions);
    if (ours != stored) throw Error("boxes: the compact store's counts differ from those of the pixels");
    if (opencv != nullptr && ours != theirs) throw Error("boxes: counts differ from cv::calcHist's");
    for (std::size_t i = 1; i < all.size(); ++i) {
      Record record{"region", all[i].name, "8u-64u", size.width, size.height, bins};
      record.batch = count;
      record.threads = threads;
      record.time = times[i];
      record.floor = "read boxes";
      record.floor_time = times[0];
      record.bytes = static_cast<std::uint64_t>(count * side * side);
      report.add(record);
    }
  }
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
  if (!options.sizes.empty()) return;
  std::string missing;
  const CvHistograms opencv = options.peers ? find_opencv_histograms(missing) : nullptr;
  if (!missing.empty()) report.note(missing);
  bench_boxes({1920, 1080}, 32, 100, 200, options, opencv, report);
  bench_boxes({1920, 1080}, 32, 10'000, 200, options, opencv, report);
}

}  // namespace areal::bench
