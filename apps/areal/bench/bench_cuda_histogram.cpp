// areal bench histogram --backend cuda: tensors on a GPU beside a memset of theirs, in its own plug-in.
#include <fmt/format.h>
#include <areal/error.hpp>
#include <array>
#include "bench.hpp"
#include "peers.hpp"

namespace areal::bench {
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
