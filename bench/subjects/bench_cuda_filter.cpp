// areal bench filter --backend cuda: filters of square windows on a GPU, straight from the pixels, beside copies of as
// many bytes and NPP, in a plug-in.
#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/filter.hpp>
#include <areal/info.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <variant>
#include <vector>
#include "bench/harness/bench.hpp"
#include "bench/harness/peers.hpp"

namespace areal::bench {
namespace {

/// The pixel that edge reflect shows at place i.
std::int64_t reflected(std::int64_t i, std::int64_t extent) {
  if (extent == 1) return 0;
  while (i < 0 || i >= extent) i = i < 0 ? -i : 2 * extent - 2 - i;
  return i;
}

/// The largest difference from exact means, of windows that lie inside by `margin` pixels, half to even. Adds the row
/// that enters and subtracts the one that leaves, in 64 bits.
int largest_difference(const Array& image, const std::uint8_t* means, std::int64_t side, std::int64_t margin) {
  const std::int64_t width = image.shape().width, height = image.shape().height, before = side / 2, n = side * side;
  const auto* const pixels = image.as<std::uint8_t>();
  std::vector<std::int64_t> columns(static_cast<std::size_t>(width)), prefix(static_cast<std::size_t>(width + side));
  const auto add = [&](std::int64_t y, std::int64_t times) {
    const std::uint8_t* const row = pixels + reflected(y, height) * width;
    for (std::int64_t x = 0; x < width; ++x) columns[static_cast<std::size_t>(x)] += times * row[x];
  };
  for (std::int64_t y = -before; y < side - before - 1; ++y) add(y, 1);
  int largest = 0;
  for (std::int64_t y = 0; y < height; ++y) {
    add(y + side - before - 1, 1);
    for (std::int64_t i = 0; i + 1 < width + side; ++i)
      prefix[static_cast<std::size_t>(i + 1)] =
          prefix[static_cast<std::size_t>(i)] + columns[static_cast<std::size_t>(reflected(i - before, width))];
    const bool inside = y >= margin && y < height - margin;
    for (std::int64_t x = margin; inside && x < width - margin; ++x) {
      const std::int64_t sum = prefix[static_cast<std::size_t>(x + side)] - prefix[static_cast<std::size_t>(x)];
      const std::int64_t whole = sum / n, rest = 2 * (sum % n);
      const std::int64_t mean = whole + (rest > n || (rest == n && whole % 2 == 1) ? 1 : 0);
      largest = std::max(largest, std::abs(static_cast<int>(mean) - means[y * width + x]));
    }
    add(y - before, -1);
  }
  return largest;
}

/// Means of every side; other filters of some.
std::vector<CudaFilterCase> cases_of(Type in, std::int64_t most_side) {
  std::vector<CudaFilterCase> cases;
  const auto add = [&](const char* name, const Filter& filter, Type out, std::int64_t side) {
    if (side <= most_side) cases.push_back({fmt::format("{} {}x{}", name, side, side), filter, out, side});
  };
  const Type real = in == Type::f64 ? Type::f64 : Type::f32;
  for (const std::int64_t side : {3, 5, 7, 9, 15, 16, 31, 63, 127, 255})
    add("mean", filter::Mean{}, is_float(in) ? real : in, side);
  // Half the range of random_image's pixels.
  const double r = is_float(in) ? 0.5 : size_of(in) == 1 ? 128 : 32768;
  for (const std::int64_t side : {15, 31, 63}) {
    add("std", filter::StandardDeviation{}, real, side);
    add("sauvola", filter::Threshold{.r = r}, Type::u8, side);
  }
  for (const std::int64_t side : {3, 5, 15, 63, 255}) {
    add("min", filter::Minimum{}, in, side);
    add("median", filter::Percentile{}, in, side);
  }
  return cases;
}

/// Throws if the outputs are not the CPU's.
void check_by_cpu(const Array& image, const CudaFilterCase& one, const void* outputs, const std::string& algorithm) {
  Array expected(image.shape(), one.out);
  apply(one.filter, image.view(), expected.view(),
        {.window = {.width = one.side, .height = one.side, .edge = Edge::reflect}}, {.backend = Backend::cpu});
  if (std::memcmp(expected.data(), outputs, expected.bytes()) != 0)
    throw Error(fmt::format("{} {} of {}: an output is not the CPU's", algorithm, one.name, name_of(image.type())));
}

void run(const Size& size, Type in, const Options& options, CudaBenchFilters bench, Report& report) {
  const Array image = random_image(size, in);
  Array outputs(image.shape(), Type::f64);
  CudaFilters what;
  what.width = size.width, what.height = size.height;
  what.in = in;
  what.image = image.data();
  what.cases = cases_of(in, std::min(size.width, size.height));
  what.repetitions = options.repetitions, what.device = options.device;
  what.peers = options.peers;
  what.outputs = outputs.data();
  what.note = [&](const std::string& words) { report.note(words); };
  what.done = [&](const std::string& algorithm, const CudaFilterCase& one, const std::vector<double>& times,
                  const std::vector<double>& copy, bool peer) {
    if (in == Type::u8 && one.out == Type::u8 && std::holds_alternative<filter::Mean>(one.filter)) {
      const int difference =
          largest_difference(image, static_cast<std::uint8_t*>(outputs.data()), one.side, peer ? one.side : 0);
      if (difference > (peer ? 1 : 0))  // peers round otherwise
        throw Error(fmt::format("{} {}: a mean is wrong by {}", algorithm, one.name, difference));
    } else {
      check_by_cpu(image, one, outputs.data(), algorithm);
    }
    const std::string types =
        one.out == in ? std::string(name_of(in)) : fmt::format("{}{}", name_of(in), name_of(one.out));
    Record record{"filter", algorithm + " " + one.name, types, size.width, size.height};
    record.threads = 0;
    record.floor = "copy";
    record.floor_time = times_of(copy);
    record.time = times_of(times);
    record.bytes = image.bytes() + bytes_of(image.shape(), one.out);
    record.backend = Backend::cuda;
    record.device = devices().at(static_cast<std::size_t>(options.device)).name;
    report.add(record);
  };
  call(bench, what);
}

}  // namespace

void bench_cuda_filter(const Options& options, Report& report) {
  const auto bench = cuda_bench<CudaBenchFilters>("areal_cuda_bench_filters");
  const std::vector<Size> all{{1024, 1024}, {1920, 1080}, {2048, 2048}, {4096, 4096}, {8192, 8192}, {16384, 16384}};
  const std::vector<Type> types = options.types.empty() ? std::vector{Type::u8, Type::f32} : options.types;
  for (const Size& size : options.sizes.empty() ? all : options.sizes)
    for (const Type type : types) run(size, type, options, bench, report);
}

}  // namespace areal::bench
