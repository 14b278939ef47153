#include "cpu/histogram/recurrence.hpp"
#include "cpu/histogram/recurrence_bin.hpp"
#include "cpu/threads.hpp"

namespace areal::cpu {

void recurrence(const PixelBins& rule, const ConstView& image, const View& tensor, Border border, int threads,
                const std::function<void()>& finished) {
  const auto bins_of = [&](std::int64_t y, std::int64_t x, int count, std::int32_t* bins) {
    bins_of_run(rule, image, 0, y, x, count, bins);
  };
  int loops = 0;
  const auto each_bin = [&](const auto& body) {
    const bool last = ++loops == 2;
    parallel_for(threads, rule.bins, [&](std::int64_t k) {
      body(k);
      if (last) finished();
    });
  };
  if (tensor.type == Type::u32)
    recur<std::uint32_t>(bins_of, image.shape, tensor, border, each_bin);
  else
    recur<std::uint64_t>(bins_of, image.shape, tensor, border, each_bin);
}

}  // namespace areal::cpu
