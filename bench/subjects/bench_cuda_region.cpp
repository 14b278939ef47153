// areal bench region --backend cuda: queries of random regions, windows and borders on tables resident on a GPU,
// against plain kernels with the same loads and stores, in a plug-in.
#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/histogram_store.hpp>
#include <areal/info.hpp>
#include <areal/region_histogram.hpp>
#include <areal/region_quantile.hpp>
#include <areal/sat.hpp>
#include <areal/table.hpp>
#include <areal/window.hpp>
#include <cstring>
#include <random>
#include "bench/harness/bench.hpp"
#include "bench/harness/peers.hpp"

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
  call(bench, what);
}

/// As many as there are regions, of sides up to a quarter of the image's, turned by 45 degrees and inside.
std::vector<Region> random_rotated(const Size& size, std::int64_t count) {
  std::mt19937_64 random(4);
  std::vector<Region> regions(static_cast<std::size_t>(count));
  const std::int64_t most = std::min(size.width, size.height) / 4;
  for (Region& region : regions) {
    const auto below = [&](std::int64_t n) {
      return n <= 0 ? 0 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    };
    region.width = below(most + 1), region.height = below(most + 1);
    region.x = region.height + below(size.width - region.width - region.height + 1);
    region.y = below(size.height - region.width - region.height + 1);
  }
  return regions;
}

std::vector<Box> random_boxes(const Shape& volume, std::int64_t count) {
  const Size side{volume.width, volume.height}, deep{volume.batch, 1};
  const std::vector<Region> faces = random_regions(side, count), depths = random_regions(deep, count);
  std::vector<Box> boxes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < boxes.size(); ++i)
    boxes[i] = {faces[i].x, faces[i].y, depths[i].x, faces[i].width, faces[i].height, depths[i].width};
  return boxes;
}

/// The CPU's answers to a query of CudaQueries, as bytes.
class Expected {
 public:
  Expected(const CudaQueries& what, const Array& image) : what_(what), image_(image) {}

  std::vector<std::byte> of(const std::string& query) const {
    const auto n = what_.regions.size();
    const Shape shape = image_.shape();
    if (query == "box_sums") {
      const SatTable volume =
          sat(ConstView(image_.data(), Type::u8, what_.volume), {.types = pair_, .volume = true}, cpu_);
      return answers<double>(
          n, [&](Span<double> out) { box_sums(TableView(volume.sum(), volume.border()), what_.boxes, out); });
    }
    if (query == "tilted_sums") {
      const SatTable table = sat(image_.view(), {.types = pair_, .tilted = true}, cpu_);
      return answers<double>(n, [&](Span<double> out) { tilted_sums(table.view(), what_.rotated, out); });
    }
    const SatTable table = sat(image_.view(), {.types = pair_, .squares = Squares::u64}, cpu_);
    if (query == "region_variances")
      return answers<double>(n, [&](Span<double> out) { region_variances(table, what_.regions, out); });
    if (query == "window_means")
      return image_of(shape, Type::u8, [&](const View& out) { window_means(table, what_.window, out); });
    if (query == "window_sums")
      return image_of(shape, Type::f32, [&](const View& out) { window_sums(table, what_.window, out); });
    if (query == "none to zero") return bytes_of(table.sum());
    if (query == "zero to none") return bytes_of(table.with_border(Border::none).sum());
    throw Error("no answers to " + query);
  }

 private:
  static std::vector<std::byte> bytes_of(const ConstView& view) {
    std::vector<std::byte> bytes;
    for (std::int64_t y = 0; y < view.shape.height; ++y) {
      const auto* const row = static_cast<const std::byte*>(view.row(y));
      bytes.insert(bytes.end(), row, row + static_cast<std::size_t>(view.shape.width) * size_of(view.type));
    }
    return bytes;
  }
  template <class T, class Ask>
  static std::vector<std::byte> answers(std::size_t n, const Ask& ask) {
    std::vector<T> out(n);
    ask(Span<T>(out));
    std::vector<std::byte> bytes(n * sizeof(T));
    std::memcpy(bytes.data(), out.data(), bytes.size());
    return bytes;
  }
  template <class Ask>
  static std::vector<std::byte> image_of(const Shape& shape, Type type, const Ask& ask) {
    Array out(shape, type);
    ask(out.view());
    return bytes_of(out.view());
  }

  const CudaQueries& what_;
  const Array& image_;
  const TypePair pair_ = type_pair("8u32u");
  const Execution cpu_{.backend = Backend::cpu};
};

void run_queries(const Size& size, std::int64_t count, const Options& options, CudaBenchQueries bench, Report& report) {
  const Array image = random_image(size, Type::u8);
  const std::vector<Region> regions = random_regions(size, count), rotated = random_rotated(size, count);
  // As many voxels as pixels, 512x512x256 of 8192x8192.
  Shape volume{size.width, size.height};
  while (volume.width % 2 == 0 && volume.height % 2 == 0 && 4 * volume.batch <= volume.width)
    volume.width /= 2, volume.height /= 2, volume.batch *= 4;
  const std::vector<Box> boxes = random_boxes(volume, count);
  CudaQueries what{size.width,          size.height,    volume, image.data(), regions, rotated, boxes, {31, 31},
                   options.repetitions, options.device, {}};
  const Expected expected(what, image);
  what.done = [&](const CudaQueries::Done& done) {
    const std::vector<std::byte> right = expected.of(done.query);
    if (right.size() != done.answers_bytes || std::memcmp(right.data(), done.answers, right.size()) != 0)
      throw Error(fmt::format("{}: an answer is not the CPU's", done.query));
    Record record{"region", done.query, "8u32u", size.width, size.height};
    if (std::string_view(done.floor) == "gather") record.batch = count;
    record.threads = 0;
    record.floor = done.floor;
    record.bytes = done.bytes;
    record.backend = Backend::cuda;
    record.device = devices().at(static_cast<std::size_t>(options.device)).name;
    record.border = Border::zero;
    record.floor_time = times_of(done.floor_times);
    record.time = times_of(done.times);
    report.add(record);
  };
  call(bench, what);
}

/// Histograms of boxes straight from the pixels, beside those from a tensor and a compact store.
void run_boxes(const Size& size, std::int64_t bins, std::int64_t count, std::int64_t side, const Options& options,
               CudaBenchBoxes bench, Report& report) {
  const Array image = random_image(size, Type::u8);
  const std::vector<Region> boxes = random_squares(size, count, side);
  std::vector<std::uint64_t> expected(boxes.size() * static_cast<std::size_t>(bins)), answers(expected.size());
  const Binning binning = Binning::uniform(bins, 0, 256);
  region_histograms(histogram_store(image.view(), binning, {.store = Store::compact}), boxes, expected);
  const std::uint64_t store_bytes =
      StorePlan({size.width, size.height}, Type::u8, binning, {.store = Store::compact}, {.backend = Backend::cpu})
          .bytes();
  const CudaBoxes what{size.width,
                       size.height,
                       bins,
                       image.data(),
                       boxes,
                       options.repetitions,
                       options.device,
                       answers,
                       [&](const char* query, const std::vector<double>& times, const std::vector<double>& floor) {
                         if (answers != expected) throw Error(fmt::format("{}: an answer is not the CPU's", query));
                         Record record{"region", query, "8u-64u", size.width, size.height, bins};
                         record.batch = count;
                         record.threads = 0;
                         const bool is_build = std::string_view(query) == CudaBoxes::build;
                         record.floor = is_build ? "fill" : "read boxes";
                         record.bytes = is_build ? store_bytes
                                                 : static_cast<std::uint64_t>(count * side * side) +
                                                       boxes.size() * sizeof(Region) +
                                                       expected.size() * sizeof(std::uint64_t);
                         record.backend = Backend::cuda;
                         record.device = devices().at(static_cast<std::size_t>(options.device)).name;
                         record.border = Border::none;
                         record.floor_time = times_of(floor);
                         record.time = times_of(times);
                         report.add(record);
                       }};
  call(bench, what);
}

/// Medians of boxes of any size, from a rank store.
void run_medians(const Size& size, Type type, const Options& options, Report& report) {
  const auto bench = cuda_bench<CudaBenchMedians>("areal_cuda_bench_medians");
  const std::int64_t count = options.regions.value_or(10'000);
  const Array image = random_image(size, type);
  const std::vector<Region> boxes = random_regions(size, count, 1);
  const std::vector<double> half{0.5};
  const HistogramStore on_cpu = histogram_store(image.view(), {.store = Store::rank});
  const std::vector<double> expected = region_quantiles(on_cpu, boxes, half);
  std::vector<double> answers(expected.size());
  const CudaMedians what{type,
                         size.width,
                         size.height,
                         image.data(),
                         boxes,
                         options.repetitions,
                         options.device,
                         answers,
                         [&](const char* query, const std::vector<double>& times, const std::vector<double>& floor) {
                           // Regions without a pixel have NaN.
                           if (std::memcmp(answers.data(), expected.data(), expected.size() * sizeof(double)) != 0)
                             throw Error(fmt::format("{}: an answer is not the CPU's", query));
                           Record record{"region", query, std::string(name_of(type)) + "-64f", size.width, size.height};
                           record.batch = count;
                           record.threads = 0;
                           const bool is_query = std::string_view(query) == CudaMedians::from_store;
                           record.floor = is_query ? "gather" : "fill";
                           record.bytes = is_query ? boxes.size() * (sizeof(Region) + sizeof(double)) : on_cpu.bytes();
                           record.backend = Backend::cuda;
                           record.device = devices().at(static_cast<std::size_t>(options.device)).name;
                           record.border = Border::none;
                           record.floor_time = times_of(floor);
                           record.time = times_of(times);
                           report.add(record);
                         }};
  call(bench, what);
}

}  // namespace

void bench_cuda_region(const Options& options, Report& report) {
  const auto bench = cuda_bench<CudaBenchRegions>("areal_cuda_bench_regions");
  const auto queries = cuda_bench<CudaBenchQueries>("areal_cuda_bench_queries");
  const auto boxes = cuda_bench<CudaBenchBoxes>("areal_cuda_bench_boxes");
  for (const Size& size : options.sizes.empty() ? std::vector<Size>{{8192, 8192}} : options.sizes) {
    const Array image = random_image(size, Type::u8);
    const SatTable table = sat(image.view(), {.types = type_pair("8u32u")}, {.backend = Backend::cpu});
    const std::vector<Region> regions = random_regions(size, options.regions.value_or(1'000'000));
    std::vector<std::uint64_t> expected(regions.size());
    region_sums(table, regions, expected);
    run(size, 0, image, regions, expected, options, bench, report);
    run_queries(size, options.regions.value_or(1'000'000), options, queries, report);
  }
  for (const Size& size : options.sizes.empty() ? std::vector<Size>{{1920, 1080}} : options.sizes)
    for (const std::int64_t bins : options.bins.empty() ? std::vector<std::int64_t>{32} : options.bins) {
      const Array image = random_image(size, Type::u8);
      const std::vector<Region> regions = random_regions(size, options.regions.value_or(10'000), 1);
      std::vector<std::uint64_t> expected(regions.size() * static_cast<std::size_t>(bins));
      region_histograms(image.view(), Binning::uniform(bins, 0, 256), regions, expected);
      run(size, bins, image, regions, expected, options, bench, report);
    }
  if (!options.sizes.empty()) return;
  for (const std::int64_t bins : options.bins.empty() ? std::vector<std::int64_t>{32, 256} : options.bins)
    for (const std::int64_t count : {100, 1000}) run_boxes({1920, 1080}, bins, count, 200, options, boxes, report);
  run_boxes({1920, 1080}, 32, 100'000, 200, options, boxes, report);
  run_boxes({3840, 2160}, 32, 1000, 200, options, boxes, report);
  run_boxes({4096, 4096}, 32, 10'000, 64, options, boxes, report);
  run_boxes({8192, 8192}, 32, 10'000, 200, options, boxes, report);
  run_boxes({4096, 4096}, 32, 1'000'000, 200, options, boxes, report);
}

void bench_medians(const Options& options, Report& report) {
  const std::vector<Size> sizes =
      options.sizes.empty() ? std::vector<Size>{{1920, 1080}, {4096, 4096}, {8192, 8192}} : options.sizes;
  for (const Size& size : sizes)
    for (const Type type : {Type::u8, Type::u16, Type::f32}) run_medians(size, type, options, report);
}

}  // namespace areal::bench
