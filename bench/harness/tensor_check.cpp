#include "bench/harness/tensor_check.hpp"
#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
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

/// Pixels of each value in each column, of the rows so far.
class ColumnCounts {
 public:
  ColumnCounts(const std::uint8_t* image, const Size& size, std::int64_t bins)
      : image_(image), width_(static_cast<std::size_t>(size.width)), bins_(bins), columns_(256 * width_) {}
  void add_rows_to(std::int64_t end) {
    for (; rows_ < end; ++rows_)
      for (std::size_t x = 0; x < width_; ++x)
        ++columns_[image_[static_cast<std::size_t>(rows_) * width_ + x] * width_ + x];
  }
  /// Counts in columns [0, x].
  std::uint32_t count(std::int64_t bin, std::int64_t x) const {
    std::uint32_t count = 0;
    each_value(bin, [&](const std::uint32_t* column) {
      for (std::size_t u = 0; u <= static_cast<std::size_t>(x); ++u) count += column[u];
    });
    return count;
  }
  /// The tensor's row of a bin.
  void row(std::int64_t bin, std::uint32_t* out) const {
    std::fill_n(out, width_, 0);
    each_value(bin, [&](const std::uint32_t* column) {
      for (std::size_t x = 0; x < width_; ++x) out[x] += column[x];
    });
    for (std::size_t x = 1; x < width_; ++x) out[x] += out[x - 1];
  }

 private:
  template <class F>
  void each_value(std::int64_t bin, const F& f) const {
    for (std::size_t value = 0; value < 256; ++value)
      if (bin_of(static_cast<std::uint8_t>(value), bins_) == bin) f(columns_.data() + value * width_);
  }
  const std::uint8_t* image_;
  std::size_t width_;
  std::int64_t bins_, rows_ = 0;
  std::vector<std::uint32_t> columns_;
};

/// Calls visit(entry, expected value) for every entry, in any order.
template <class Visit>
void count_entries(const std::uint8_t* image, const Size& size, std::int64_t bins, std::vector<TensorEntry>& entries,
                   const Visit& visit) {
  std::sort(entries.begin(), entries.end(), [](const TensorEntry& a, const TensorEntry& b) { return a.y < b.y; });
  ColumnCounts counts(image, size, bins);
  for (TensorEntry& e : entries) {
    counts.add_rows_to(e.y + 1);
    visit(e, counts.count(e.bin, e.x));
  }
}

}  // namespace

std::string check_entries(const std::uint8_t* image, const Size& size, std::int64_t bins,
                          std::vector<TensorEntry> entries) {
  std::string found;
  count_entries(image, size, bins, entries, [&](const TensorEntry& e, std::uint32_t must_be) {
    if (found.empty() && e.value != must_be) found = wrong(e.bin, e.x, e.y, e.value, must_be);
  });
  return found;
}

TensorCheck::TensorCheck(const std::uint8_t* image, const Size& size, std::int64_t bins)
    : image_(image), size_(size), bins_(bins) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int row = 0; row < rows; ++row) {
    const std::int64_t y = row == 0 ? size.height - 1 : below(size.height);
    for (int i = 0; i < entries_of_row; ++i) entries_.push_back({below(size.width), y, below(bins), 0});
  }
  for (std::int64_t bin = 0; bin < bins; ++bin) entries_.push_back({size.width - 1, size.height - 1, bin, 0});
  count_entries(image, size, bins, entries_, [](TensorEntry& e, std::uint32_t value) { e.value = value; });
}

std::string TensorCheck::entries(const ConstView& tensor, std::int64_t first, std::int64_t x, std::int64_t y) const {
  const Shape& box = tensor.shape;
  for (const TensorEntry& e : entries_) {
    if (e.bin < first || e.bin >= first + box.channels || e.x < x || e.x >= x + box.width || e.y < y ||
        e.y >= y + box.height)
      continue;
    const std::uint32_t is = entry_of(tensor, e.bin - first, e.x - x, e.y - y);
    if (is != e.value) return wrong(e.bin, e.x, e.y, is, e.value);
  }
  return "";
}

void TensorCheck::begin_at(const std::set<std::int64_t>& begins) {
  ColumnCounts counts(image_, size_, bins_);
  const auto width = static_cast<std::size_t>(size_.width);
  for (const std::int64_t y : begins) {
    if (y == 0) continue;
    counts.add_rows_to(y);
    std::vector<std::uint32_t>& above = above_[y];
    above.resize(static_cast<std::size_t>(bins_) * width);
    for (std::int64_t bin = 0; bin < bins_; ++bin)
      counts.row(bin, above.data() + static_cast<std::size_t>(bin) * width);
  }
}

std::string TensorCheck::whole(const ConstView& tensor, std::int64_t first, std::int64_t x0, std::int64_t y0) const {
  const Shape& box = tensor.shape;
  const std::vector<std::uint32_t> zeros(static_cast<std::size_t>(size_.width));
  if (x0 + box.width > size_.width || y0 + box.height > size_.height || first + box.channels > bins_)
    return "the box reaches outside";
  const auto announced = above_.find(y0);
  if (y0 > 0 && announced == above_.end()) return "row " + std::to_string(y0) + " was not announced";
  std::vector<std::array<bool, 256>> values(static_cast<std::size_t>(box.channels));  // of each bin
  for (std::int64_t b = 0; b < box.channels; ++b)
    for (std::size_t value = 0; value < 256; ++value)
      values[static_cast<std::size_t>(b)][value] = bin_of(static_cast<std::uint8_t>(value), bins_) == first + b;
  // A row is right if it is the row above, which is checked, too, plus the row's own counts.
  const auto check = [&](std::int64_t b, std::int64_t y) -> std::string {
    const std::array<bool, 256>& counts = values[static_cast<std::size_t>(b)];
    const auto* const row = static_cast<const std::uint32_t*>(tensor.row(y, b));
    const std::uint32_t* above = zeros.data();
    if (y > 0)
      above = static_cast<const std::uint32_t*>(tensor.row(y - 1, b));
    else if (y0 > 0)
      above = announced->second.data() + (first + b) * size_.width + x0;
    const std::uint8_t* const pixels = image_ + (y0 + y) * size_.width;
    std::uint32_t left = 0;
    for (std::int64_t x = 0; x < x0; ++x) left += counts[pixels[x]];
    std::uint32_t run = left, differs = 0;
    for (std::int64_t x = 0; x < box.width; ++x) {
      run += counts[pixels[x0 + x]];
      differs |= row[x] ^ (above[x] + run);
    }
    if (differs == 0) return "";
    run = left;
    for (std::int64_t x = 0; x < box.width; ++x) {
      run += counts[pixels[x0 + x]];
      if (row[x] != above[x] + run) return wrong(first + b, x0 + x, y0 + y, row[x], above[x] + run);
    }
    return "";
  };
  constexpr std::int64_t chunk = 64;  // rows
  const std::int64_t chunks = (box.height + chunk - 1) / chunk, tasks = chunks * box.channels;
  std::atomic<std::int64_t> next{0};
  std::mutex telling;
  std::string found;
  const auto work = [&] {
    for (std::int64_t task; (task = next.fetch_add(1)) < tasks;)
      for (std::int64_t y = task % chunks * chunk; y < std::min(box.height, (task % chunks + 1) * chunk); ++y)
        if (std::string what = check(task / chunks, y); !what.empty()) {
          const std::lock_guard lock(telling);
          found = std::move(what);
          return;
        }
  };
  std::vector<std::thread> others;
  const auto threads = std::min<std::int64_t>(tasks, std::thread::hardware_concurrency());
  for (std::int64_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  return found;
}

std::string check_sums(const std::uint8_t* image, const Size& size, std::vector<TableEntry> entries) {
  std::sort(entries.begin(), entries.end(), [](const TableEntry& a, const TableEntry& b) { return a.y < b.y; });
  const auto width = static_cast<std::size_t>(size.width);
  std::vector<std::uint64_t> columns(width);
  std::int64_t rows = 0;
  for (const TableEntry& e : entries) {
    for (; rows <= e.y; ++rows)
      for (std::size_t x = 0; x < width; ++x) columns[x] += image[static_cast<std::size_t>(rows) * width + x];
    std::uint64_t sum = 0;
    for (std::size_t x = 0; x <= static_cast<std::size_t>(e.x); ++x) sum += columns[x];
    if (sum != e.value)
      return "the sum at " + std::to_string(e.x) + "," + std::to_string(e.y) + " is " + std::to_string(e.value) +
             ", not " + std::to_string(sum);
  }
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
