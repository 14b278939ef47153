// areal bench sat --backend cuda: tables on a GPU beside the least traffic into the same geometry, in its own plug-in.
#include <fmt/format.h>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <areal/sat.hpp>
#include <array>
#include <cmath>
#include <cstring>
#include "bench.hpp"
#include "peers.hpp"

namespace areal::bench {
namespace {

std::string device_name(int number) {
  for (const DeviceInfo& device : devices())
    if (device.number == number) return device.name;
  return {};
}

/// The whole table against the CPU's, which shares no code with it: the same bits for integers, within rounding for
/// floats in [0, 1) or of whole numbers. Throws where one entry differs.
template <class T>
void compare(const Array& got, const Array& expected, const std::string& name) {
  const auto* const a = got.as<T>();
  const auto* const b = expected.as<T>();
  const auto n = static_cast<std::int64_t>(got.bytes() / sizeof(T));
  for (std::int64_t i = 0; i < n; ++i) {
    const double slack = sizeof(T) == 4 ? 1e-4 : 1e-12;
    if (!(std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])) <=
          slack * (std::abs(static_cast<double>(b[i])) + 1)))
      throw Error(fmt::format("{}: entry {} is {}, the CPU's is {}", name, i, a[i], b[i]));
  }
}
void check(const Array& got, const Array& expected, const std::string& name) {
  if (got.type() == Type::f32)
    compare<float>(got, expected, name);
  else if (got.type() == Type::f64)
    compare<double>(got, expected, name);
  else if (std::memcmp(got.data(), expected.data(), got.bytes()) != 0)
    throw Error(name + ": its table is not the CPU's");
}

void run(const Size& size, Lane lane, const Options& options, CudaBenchSat bench, Report& report) {
  const Shape shape{size.width, size.height, 1, options.batch};
  const Array pixels = random_image({size.width, size.height * options.batch}, lane.input);
  const ConstView image(pixels.data(), lane.input, shape);
  SatOptions on_cpu;
  on_cpu.backend = Backend::cpu;
  on_cpu.border = options.border;
  const SatPlan plan(shape, lane, on_cpu);
  Array expected(plan.table_shape(), lane.table), table(plan.table_shape(), lane.table);
  SatRunner(plan).execute({image, expected.view()});

  Record record{"sat", "", name_of(lane), size.width, size.height};
  record.batch = options.batch;
  record.floor = size_of(lane.input) == size_of(lane.table) ? "copy" : "widen";
  record.bytes = pixels.bytes() + table.bytes();
  record.backend = Backend::cuda;
  record.device = device_name(options.device);
  record.border = options.border;
  record.threads = 0;
  CudaSat what{lane,
               options.border,
               size.width,
               size.height,
               options.batch,
               pixels.data(),
               table.data(),
               options.algorithms.empty() ? std::vector<std::string>{"auto"} : options.algorithms,
               options.repetitions,
               options.device,
               {},
               {}};
  what.floor = [&](const std::vector<double>& times) { record.floor_time = times_of(times); };
  what.done = [&](const std::string& id, const std::vector<double>& times) {
    check(table, expected, id + " of " + name_of(lane));
    record.algorithm = id;
    record.time = times_of(times);
    report.add(record);
  };
  std::array<char, 1024> error{};
  bench(&what, error.data(), error.size());
  if (error[0] != 0) throw Error(error.data());
}

}  // namespace

void bench_cuda_sat(const Options& options, Report& report) {
  std::string missing;
  const auto bench = reinterpret_cast<CudaBenchSat>(find_cuda_bench("areal_cuda_bench_sat", missing));
  if (bench == nullptr) throw Unavailable("--backend cuda: " + missing);
  std::vector<Size> sizes = options.sizes;
  if (sizes.empty()) sizes = {{1024, 1024}, {2048, 2048}, {4096, 4096}, {8192, 8192}, {16384, 16384}};
  std::vector<Lane> all = options.lanes;
  if (all.empty())
    for (const char* name : {"32f32f", "8u32u", "32u32u", "64f64f", "8u32f", "16u32u", "32f64f", "8u64f", "8u32s"})
      all.push_back(*lane_named(name));
  for (const Lane lane : all)
    for (const Size& size : sizes) run(size, lane, options, bench, report);
}

void bench_cuda_histogram(const Options& options, Report& report) {
  std::string missing;
  const auto bench = reinterpret_cast<CudaBenchHistogram>(find_cuda_bench("areal_cuda_bench_histogram", missing));
  if (bench == nullptr) throw Unavailable("--backend cuda: " + missing);
  std::vector<Size> sizes = options.sizes;
  if (sizes.empty()) sizes = {{640, 480}, {1920, 1080}, {3840, 2160}};
  for (const Size& size : sizes)
    for (const std::int64_t bins : options.bins.empty() ? std::vector<std::int64_t>{32} : options.bins) {
      const Array pixels = random_image({size.width, size.height * options.batch}, Type::u8);
      Record record{"histogram", "", "8u32u", size.width, size.height, bins, options.batch};
      record.threads = 0;
      record.floor = "memset";
      record.bytes = static_cast<std::uint64_t>(size.width * size.height * options.batch) *
                     (1 + 4 * static_cast<std::uint64_t>(bins));
      record.backend = Backend::cuda;
      record.device = device_name(options.device);
      record.border = Border::none;
      CudaHistogram what{
          size.width, size.height, options.batch, bins, pixels.data(), options.repetitions, options.device, {}, {}};
      what.floor = [&](const std::vector<double>& times) { record.floor_time = times_of(times); };
      what.done = [&](const std::string& id, const std::vector<double>& times, const auto& at) {
        // Every bin's count of the whole image, and some entries within it, against counts of the pixels.
        const auto count = [&](std::int64_t bin, std::int64_t x, std::int64_t y, std::int64_t n) {
          std::uint32_t found = 0;
          for (std::int64_t r = 0; r <= y; ++r)
            for (std::int64_t c = 0; c <= x; ++c)
              found += pixels.as<std::uint8_t>()[(n * size.height + r) * size.width + c] * bins / 256 == bin;
          return found;
        };
        for (std::int64_t i = 0; i < 24; ++i) {
          const std::int64_t bin = i * 7 % bins, n = i % options.batch;
          const std::int64_t x = size.width - 1 - i * 97 % size.width, y = size.height - 1 - i * 61 % size.height;
          if (at(bin, x, y, n) != count(bin, x, y, n))
            throw Error(fmt::format("{}: bin {} at {},{} of image {} is {}, not {}", id, bin, x, y, n, at(bin, x, y, n),
                                    count(bin, x, y, n)));
        }
        record.algorithm = id;
        record.time = times_of(times);
        report.add(record);
      };
      std::array<char, 1024> error{};
      bench(&what, error.data(), error.size());
      if (error[0] != 0) throw Error(error.data());
    }
}

}  // namespace areal::bench
