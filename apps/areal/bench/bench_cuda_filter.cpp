// areal bench filter --backend cuda: means of square windows of an 8-bit image on a GPU, straight from the pixels,
// beside copies of the image and NPP, in a plug-in.
#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>
#include "bench.hpp"
#include "peers.hpp"

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
int largest_difference(const Array& image, const std::vector<std::uint8_t>& means, std::int64_t side,
                       std::int64_t margin) {
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
      largest = std::max(largest, std::abs(static_cast<int>(mean) - means[static_cast<std::size_t>(y * width + x)]));
    }
    add(y - before, -1);
  }
  return largest;
}

void run(const Size& size, const Options& options, CudaBenchFilters bench, Report& report) {
  const Array image = random_image(size, Type::u8);
  std::vector<std::uint8_t> means(image.bytes());
  CudaFilters what;
  what.width = size.width, what.height = size.height;
  what.image = image.data();
  for (const std::int64_t side : {3, 5, 7, 9, 15, 16, 31, 63, 127, 255})
    if (side <= std::min(size.width, size.height)) what.sides.push_back(side);
  what.repetitions = options.repetitions, what.device = options.device;
  what.peers = options.peers;
  what.means = means;
  what.note = [&](const std::string& words) { report.note(words); };
  what.done = [&](const std::string& algorithm, std::int64_t side, const std::vector<double>& times,
                  const std::vector<double>& copy, bool peer) {
    const int difference = largest_difference(image, means, side, peer ? side : 0);
    if (difference > (peer ? 1 : 0))  // peers round otherwise
      throw Error(fmt::format("{} {}x{}: a mean is wrong by {}", algorithm, side, side, difference));
    Record record{"filter", fmt::format("{} mean {}x{}", algorithm, side, side), "8u", size.width, size.height};
    record.threads = 0;
    record.floor = "copy";
    record.floor_time = times_of(copy);
    record.time = times_of(times);
    record.bytes = 2 * image.bytes();
    record.backend = Backend::cuda;
    record.device = devices().at(static_cast<std::size_t>(options.device)).name;
    report.add(record);
  };
  std::array<char, 1024> error{};
  bench(&what, error.data(), error.size());
  if (error[0] != 0) throw Error(error.data());
}

}  // namespace

void bench_cuda_filter(const Options& options, Report& report) {
  std::string missing;
  const auto bench = reinterpret_cast<CudaBenchFilters>(find_cuda_bench("areal_cuda_bench_filters", missing));
  if (bench == nullptr) throw Unavailable("--backend cuda: " + missing);
  const std::vector<Size> all{{1024, 1024}, {2048, 2048}, {4096, 4096}, {8192, 8192}, {16384, 16384}};
  for (const Size& size : options.sizes.empty() ? all : options.sizes) run(size, options, bench, report);
}

}  // namespace areal::bench
