// areal bench histogram --backend cuda: tensors on a GPU against a memset of their size, in a plug-in.
#include <fmt/format.h>
#include <areal/error.hpp>
#include <functional>
#include <string>
#include <vector>
#include "bench/harness/bench.hpp"
#include "bench/harness/peers.hpp"

namespace areal::bench {
namespace {

/// Weights 0 to 3: floats add them up exactly below 2^24.
std::vector<float> weights_of(const Array& pixels) {
  std::vector<float> weights(pixels.bytes());
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>((i * 7 + i / 11) % 4);
  return weights;
}

struct Case {
  Size size;
  std::int64_t batch, bins;
  Type counter;
};

/// Entries of every image and of up to 24 bins, the last one of each bin included, against counts of the pixels.
class EntriesAreRight {
 public:
  using At = std::function<double(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>;

  EntriesAreRight(const Case& c, const std::uint8_t* pixels, const float* weights)
      : case_(c), pixels_(pixels), weights_(weights) {}
  void require(const std::string& id, const At& at) const {
    const auto& [size, batch, bins, counter] = case_;
    for (std::int64_t i = 0; i < 24; ++i) {
      const std::int64_t bin = i * 7 % bins, n = i % batch;
      const std::int64_t x = size.width - 1 - i * 97 % size.width, y = size.height - 1 - i * 61 % size.height;
      const double found = at(bin, x, y, n), right = count(bin, x, y, n);
      if (found != right)
        throw Error(fmt::format("{}: bin {} at {},{} of image {} is {}, not {}", id, bin, x, y, n, found, right));
    }
  }

 private:
  double count(std::int64_t bin, std::int64_t x, std::int64_t y, std::int64_t n) const {
    const auto& [size, batch, bins, counter] = case_;
    std::uint64_t sum = 0;
    for (std::int64_t r = 0; r <= y; ++r)
      for (std::int64_t c = 0; c <= x; ++c) {
        const std::int64_t i = (n * size.height + r) * size.width + c;
        if (pixels_[i] * bins / 256 == bin) sum += weights_ != nullptr ? static_cast<std::uint64_t>(weights_[i]) : 1;
      }
    return static_cast<double>(counter == Type::u16 ? sum % 65536 : sum);
  }

  Case case_;
  const std::uint8_t* pixels_;
  const float* weights_;
};

void run(const Case& c, const Options& options, CudaBenchHistogram bench, Report& report) {
  const auto& [size, batch, bins, counter] = c;
  const Array pixels = random_image({size.width, size.height * batch}, Type::u8);
  std::vector<float> weights;
  if (counter == Type::f32) weights = weights_of(pixels);
  const float* const weights_or_none = weights.empty() ? nullptr : weights.data();
  Record record{"histogram", "", "8u" + std::string(name_of(counter)), size.width, size.height, bins, batch};
  record.threads = 0;
  record.floor = "memset";
  record.bytes = pixels.bytes() + weights.size() * sizeof(float) +
                 pixels.bytes() * size_of(counter) * static_cast<std::uint64_t>(bins);
  record.backend = Backend::cuda;
  record.device = device_name(options.device);
  record.border = Border::none;
  const EntriesAreRight entries(c, pixels.as<std::uint8_t>(), weights_or_none);
  CudaHistogram what{size.width,
                     size.height,
                     batch,
                     bins,
                     counter,
                     pixels.data(),
                     weights_or_none,
                     options.algorithms.empty() ? std::vector<std::string>{"auto"} : options.algorithms,
                     options.repetitions,
                     options.device,
                     {},
                     {},
                     {}};
  what.floor = [&](const std::vector<double>& times) { record.floor_time = times_of(times); };
  what.done = [&](const std::string& id, const std::vector<double>& times, const EntriesAreRight::At& at) {
    entries.require(id, at);
    record.algorithm = id;
    record.time = times_of(times);
    report.add(record);
  };
  what.refused = [&](std::size_t i, const std::string& why) {
    report.note(fmt::format("{} of {} {}x{} and {} bins did not run: {}", what.algorithms[i], record.types, size.width,
                            size.height, bins, why));
  };
  call(bench, what);
}

}  // namespace

void bench_cuda_histogram(const Options& options, Report& report) {
  const auto bench = cuda_bench<CudaBenchHistogram>("areal_cuda_bench_histogram");
  std::vector<Size> sizes = options.sizes;
  if (sizes.empty()) sizes = {{640, 480}, {1920, 1080}, {3840, 2160}};
  for (const Type counter : options.counters.empty() ? std::vector<Type>{Type::u32} : options.counters)
    for (const Size& size : sizes)
      for (const std::int64_t bins : options.bins.empty() ? std::vector<std::int64_t>{32} : options.bins)
        run({size, options.batch, bins, counter}, options, bench, report);
}

}  // namespace areal::bench
