#include "cpu/histogram/recurrence.hpp"
#include <algorithm>
#include <cstring>
#include "cpu/threads.hpp"

namespace areal::cpu {
namespace {

// Elements of a tensor of any alignment.
template <class Count>
struct Row {
  char* p = nullptr;
  Count operator[](std::int64_t i) const {
    Count value;
    std::memcpy(&value, p + i * static_cast<std::int64_t>(sizeof value), sizeof value);
    return value;
  }
  void set(std::int64_t i, Count value) const {
    std::memcpy(p + i * static_cast<std::int64_t>(sizeof value), &value, sizeof value);
  }
};

void initialise(const View& tensor, std::int64_t k) {
  const std::size_t row_bytes = static_cast<std::size_t>(tensor.shape.width) * size_of(tensor.type);
  for (std::int64_t y = 0; y < tensor.shape.height && row_bytes > 0; ++y) std::memset(tensor.row(y, k), 0, row_bytes);
}

// The recurrence as printed in the paper: every neighbour is read from H.
template <class Count>
void one_bin(const PixelBins& rule, const ConstView& image, const View& tensor, Border border, std::int64_t k) {
  // H of a pixel lies `shift` rows and columns further; entries outside the tensor are skipped.
  const std::int64_t shift = border == Border::none ? 0 : 1;
  const std::int64_t height = std::min(image.shape.height, tensor.shape.height - shift);
  const std::int64_t width = std::min(image.shape.width, tensor.shape.width - shift);
  std::int32_t bins[longest_run];
  for (std::int64_t y = 0; y < height; ++y) {
    const Row<Count> row{static_cast<char*>(tensor.row(y + shift, k)) +
                         shift * static_cast<std::int64_t>(sizeof(Count))};
    const bool has_above = y + shift > 0;
    const Row<Count> above{has_above ? row.p - tensor.row_pitch : nullptr};
    for (std::int64_t x = 0; x < width; x += longest_run) {
      const std::int64_t count = std::min<std::int64_t>(longest_run, width - x);
      bins_of_run(rule, image, 0, y, x, static_cast<int>(count), bins);
      const auto q = [&](std::int64_t i) { return static_cast<Count>(bins[i - x] == k); };
      std::int64_t i = x;
      if (i + shift == 0) {  // outside the tensor, H is 0
        row.set(i, static_cast<Count>((has_above ? above[i] : Count{0}) + q(i)));
        ++i;
      }
      if (has_above)
        for (; i < x + count; ++i) row.set(i, above[i] + row[i - 1] - above[i - 1] + q(i));
      else
        for (; i < x + count; ++i) row.set(i, row[i - 1] + q(i));
    }
  }
}

}  // namespace

void recurrence(const PixelBins& rule, const ConstView& image, const View& tensor, Border border, int threads,
                const std::function<void()>& finished) {
  parallel_for(threads, rule.bins, [&](std::int64_t k) { initialise(tensor, k); });
  parallel_for(threads, rule.bins, [&](std::int64_t k) {
    if (tensor.type == Type::u32)
      one_bin<std::uint32_t>(rule, image, tensor, border, k);
    else
      one_bin<std::uint64_t>(rule, image, tensor, border, k);
    finished();
  });
}

}  // namespace areal::cpu
