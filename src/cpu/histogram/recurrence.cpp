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

template <class Count>
void one_bin(const PixelBins& rule, const ConstView& image, const View& tensor, Border border, std::int64_t k) {
  const std::int64_t row_bytes = tensor.shape.width * static_cast<std::int64_t>(sizeof(Count));
  for (std::int64_t y = 0; y < tensor.shape.height && row_bytes > 0; ++y)
    std::memset(tensor.row(y, k), 0, static_cast<std::size_t>(row_bytes));

  // H of a pixel lies `shift` rows and columns on; what falls off the tensor is not wanted.
  const std::int64_t shift = border == Border::none ? 0 : 1;
  const std::int64_t height = std::min(image.shape.height, tensor.shape.height - shift);
  const std::int64_t width = std::min(image.shape.width, tensor.shape.width - shift);
  std::int32_t bins[longest_run];
  for (std::int64_t y = 0; y < height; ++y) {
    const Row<Count> row{static_cast<char*>(tensor.row(y + shift, k))};
    const bool first_row = y + shift == 0;
    const Row<Count> above{first_row ? nullptr : static_cast<char*>(tensor.row(y + shift - 1, k))};
    Count left = 0, above_left = 0;
    for (std::int64_t x = 0; x < width; x += longest_run) {
      const int count = static_cast<int>(std::min<std::int64_t>(longest_run, width - x));
      bins_of_run(rule, image, 0, y, x, count, bins);
      for (int i = 0; i < count; ++i) {
        const Count q = bins[i] == k;
        const Count up = first_row ? Count{0} : above[x + i + shift];
        left = up + left - above_left + q;
        above_left = up;
        row.set(x + i + shift, left);
      }
    }
  }
}

}  // namespace

void recurrence(const PixelBins& rule, const ConstView& image, const View& tensor, Border border, int threads,
                const std::function<void()>& finished) {
  parallel_for(threads, rule.bins, [&](std::int64_t k) {
    if (tensor.type == Type::u32)
      one_bin<std::uint32_t>(rule, image, tensor, border, k);
    else
      one_bin<std::uint64_t>(rule, image, tensor, border, k);
    finished();
  });
}

}  // namespace areal::cpu
