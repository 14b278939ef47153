#include "tensor_check.hpp"
#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

namespace areal::bench {
namespace {

constexpr std::uint64_t seed = 4096;

std::int64_t bin_of(std::uint8_t value, std::int64_t bins) { return value * bins / 256; }

std::uint32_t entry_of(const ConstView& tensor, std::int64_t bin, std::int64_t x, std::int64_t y) {
  return static_cast<const std::uint32_t*>(tensor.row(y, bin))[x];
}

std::string wrong(std::int64_t bin, std::int64_t x, std::int64_t y, std::uint32_t is, std::uint32_t must_be) {
  return "bin " + std::to_string(bin) + " at " + std::to_string(x) + "," + std::to_string(y) + " is " +
         std::to_string(is) + ", not " + std::to_string(must_be);
}

}  // namespace

TensorCheck::TensorCheck(const std::uint8_t* image, const Size& size, std::int64_t bins)
    : image_(image), size_(size), bins_(bins) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  std::vector<std::int64_t> heights{size.height - 1};
  while (static_cast<int>(heights.size()) < rows) heights.push_back(below(size.height));
  std::sort(heights.begin(), heights.end());
  // Pixels of each value in each column, of the rows so far.
  const auto width = static_cast<std::size_t>(size.width);
  std::vector<std::uint32_t> columns(256 * width);
  const auto sum = [&](std::int64_t bin, std::int64_t x) {
    std::uint32_t count = 0;
    for (std::int64_t value = 0; value < 256; ++value)
      if (bin_of(static_cast<std::uint8_t>(value), bins) == bin)
        for (std::size_t u = 0; u <= static_cast<std::size_t>(x); ++u)
          count += columns[static_cast<std::size_t>(value) * width + u];
    return count;
  };
  std::int64_t done = 0;
  for (const std::int64_t y : heights) {
    for (; done <= y; ++done)
      for (std::size_t x = 0; x < width; ++x) ++columns[image[static_cast<std::size_t>(done) * width + x] * width + x];
    for (int i = 0; i < entries_of_row; ++i) {
      const std::int64_t bin = below(bins), x = below(size.width);
      entries_.push_back({x, y, bin, sum(bin, x)});
    }
  }
  for (std::int64_t bin = 0; bin < bins; ++bin) last_.push_back(sum(bin, size.width - 1));
}

std::string TensorCheck::last_entries(const ConstView& tensor, std::int64_t first) const {
  for (std::int64_t b = 0; b < tensor.shape.channels; ++b) {
    const std::uint32_t is = entry_of(tensor, b, size_.width - 1, size_.height - 1);
    const std::uint32_t must_be = last_[static_cast<std::size_t>(first + b)];
    if (is != must_be) return wrong(first + b, size_.width - 1, size_.height - 1, is, must_be);
  }
  return "";
}

std::string TensorCheck::entries(const ConstView& tensor, std::int64_t first) const {
  for (const Entry& e : entries_) {
    if (e.bin < first || e.bin >= first + tensor.shape.channels) continue;
    const std::uint32_t is = entry_of(tensor, e.bin - first, e.x, e.y);
    if (is != e.value) return wrong(e.bin, e.x, e.y, is, e.value);
  }
  return last_entries(tensor, first);
}

std::string TensorCheck::whole(const ConstView& tensor, std::int64_t first) const {
  std::atomic<std::int64_t> next{0};
  std::vector<std::string> found(static_cast<std::size_t>(tensor.shape.channels));
  const auto check = [&](std::int64_t b) -> std::string {
    bool of_bin[256];
    for (int value = 0; value < 256; ++value)
      of_bin[value] = bin_of(static_cast<std::uint8_t>(value), bins_) == first + b;
    const std::vector<std::uint32_t> zeros(static_cast<std::size_t>(size_.width));
    for (std::int64_t y = 0; y < size_.height; ++y) {
      const auto* const row = static_cast<const std::uint32_t*>(tensor.row(y, b));
      const auto* const above = y > 0 ? static_cast<const std::uint32_t*>(tensor.row(y - 1, b)) : zeros.data();
      const std::uint8_t* const pixels = image_ + y * size_.width;
      std::uint32_t run = 0, differs = 0;
      for (std::int64_t x = 0; x < size_.width; ++x) {
        run += of_bin[pixels[x]];
        differs |= row[x] ^ (above[x] + run);
      }
      if (differs == 0) continue;
      run = 0;
      for (std::int64_t x = 0; x < size_.width; ++x) {
        run += of_bin[pixels[x]];
        if (row[x] != above[x] + run) return wrong(first + b, x, y, row[x], above[x] + run);
      }
    }
    return "";
  };
  const auto work = [&] {
    for (std::int64_t b; (b = next.fetch_add(1)) < tensor.shape.channels;)
      found[static_cast<std::size_t>(b)] = check(b);
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  for (const std::string& one : found)
    if (!one.empty()) return one;
  return "";
}

std::vector<std::uint64_t> counts_of(const std::uint8_t* image, const Size& size, std::int64_t bins,
                                     const Region& region) {
  std::vector<std::uint64_t> values(256), counts(static_cast<std::size_t>(bins));
  for (std::int64_t y = region.y; y < region.y + region.height; ++y)
    for (std::int64_t x = region.x; x < region.x + region.width; ++x) ++values[image[y * size.width + x]];
  for (std::size_t value = 0; value < 256; ++value)
    counts[static_cast<std::size_t>(bin_of(static_cast<std::uint8_t>(value), bins))] += values[value];
  return counts;
}

}  // namespace areal::bench
