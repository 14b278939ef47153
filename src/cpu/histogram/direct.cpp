#include "cpu/histogram/direct.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include "cpu/cancellation.hpp"
#include "cpu/threads.hpp"
#include "formulas/count_times.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/histogram/direct.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Adds to counts[k] how many bytes are below thresholds[k], of `rows` rows of `vectors` times 64 bytes; rows * vectors
/// <= 255. Returns false without counting if a compare of 64 bytes is not one instruction: counting by value is as fast
/// there.
bool count_below(const std::uint8_t* first, std::int64_t pitch, std::int64_t rows, std::int64_t vectors,
                 const std::uint8_t* thresholds, int n, std::uint64_t* counts) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  const hn::FixedTag<std::uint8_t, 64> d;
  constexpr int at_once = 8;
  for (int k = 0; k < n; k += at_once) {
    const int last = n - 1;  // a short group repeats its last threshold
    hn::Vec<decltype(d)> least[at_once], sums[at_once];
    for (int i = 0; i < at_once; ++i) {
      least[i] = hn::Set(d, thresholds[std::min(k + i, last)]);
      sums[i] = hn::Zero(d);
    }
    const auto one = hn::Set(d, std::uint8_t{1});
    for (std::int64_t y = 0; y < rows; ++y) {
      const std::uint8_t* const row = first + y * pitch;
      for (std::int64_t x = 0; x < vectors; ++x) {
        const auto pixels = hn::LoadU(d, row + 64 * x);
        for (int i = 0; i < at_once; ++i)
          sums[i] = hn::IfThenElse(hn::Gt(least[i], pixels), hn::Add(sums[i], one), sums[i]);
      }
    }
    const hn::Repartition<std::uint64_t, decltype(d)> d64;
    for (int i = 0; i < at_once && k + i < n; ++i) {
      alignas(64) std::uint64_t parts[8];
      hn::Store(hn::SumsOf8(sums[i]), d64, parts);
      for (const std::uint64_t part : parts) counts[k + i] += part;
    }
  }
  return true;
#else
  (void)first, (void)pitch, (void)rows, (void)vectors, (void)thresholds, (void)n, (void)counts;
  return false;
#endif
}

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
namespace {

HWY_EXPORT(count_below);

// Adjacent pixels are often equal: with one table, each increment would wait for the one before.
constexpr int copies = 4;
constexpr std::int64_t most_rows_bytes = std::int64_t{1} << 31;  // that 32-bit counts hold

struct Counts {
  std::uint32_t of[copies][256];
};

void count_row(const std::uint8_t* row, std::int64_t width, Counts& counts) {
  std::int64_t x = 0;
  for (; x + 8 <= width; x += 8) {
    std::uint64_t pixels;
    std::memcpy(&pixels, row + x, 8);
    for (int i = 0; i < 8; ++i) ++counts.of[i % copies][pixels >> (8 * i) & 0xff];
  }
  for (; x < width; ++x) ++counts.of[0][row[x]];
}

/// The destination of a region's counts. Threads that share a region add atomically.
struct Sums {
  std::uint64_t* of;
  bool shared;
  void add(std::size_t bin, std::uint64_t count) const {
    if (shared)
      std::atomic_ref(of[bin]).fetch_add(count, std::memory_order_relaxed);
    else
      of[bin] += count;
  }
};

void add(const PixelBins& rule, const Counts& counts, const Sums& out) {
  const std::vector<std::uint16_t>& bin_of = rule.channels[0].table;
  for (std::size_t v = 0; v < 256; ++v) {
    std::uint64_t sum = 0;
    for (const auto& table : counts.of) sum += table[v];
    if (bin_of[v] != ChannelBins::none) out.add(bin_of[v], sum);
  }
}

void count_by_value(const PixelBins& rule, const ConstView& image, const Region& region, const Sums& out) {
  if (region.width == 0) return;
  const std::int64_t rows_at_once = std::max<std::int64_t>(1, most_rows_bytes / region.width);
  for (std::int64_t y = region.y, end = region.y + region.height; y < end;) {
    Counts counts{};
    for (const std::int64_t until = std::min(end, y + rows_at_once); y < until; ++y)
      count_row(static_cast<const std::uint8_t*>(image.row(y)) + region.x, region.width, counts);
    add(rule, counts, out);
  }
}

/// The bytes where the rule's bin changes.
struct Steps {
  static constexpr int most = 48;  // with more, counting by value is faster
  int n = 0;
  std::uint8_t at[most];
};
bool steps_of(const PixelBins& rule, Steps& steps) {
  const std::vector<std::uint16_t>& bin_of = rule.channels[0].table;
  for (std::size_t v = 1; v < 256; ++v) {
    if (bin_of[v] == bin_of[v - 1]) continue;
    if (steps.n == Steps::most) return false;
    steps.at[steps.n++] = static_cast<std::uint8_t>(v);
  }
  return true;
}

/// Counts, in blocks of whole vectors that stay in the L1, the bytes below each step. Returns false if that is not
/// faster.
bool count_by_steps(const PixelBins& rule, const Steps& steps, const ConstView& image, const Region& region,
                    const Sums& out) {
  std::uint64_t below[Steps::most + 2] = {};
  const std::int64_t all = region.width / 64;
  const auto count = HWY_DYNAMIC_DISPATCH(count_below);
  for (std::int64_t x = 0; x < all;) {
    const std::int64_t vectors = std::min<std::int64_t>(255, all - x), rows_at_once = 255 / vectors;
    for (std::int64_t y = 0; y < region.height; y += rows_at_once) {
      const std::int64_t rows = std::min(rows_at_once, region.height - y);
      const auto* const first = static_cast<const std::uint8_t*>(image.row(region.y + y)) + region.x + 64 * x;
      if (!count(first, image.row_pitch, rows, vectors, steps.at, steps.n, below + 1)) return false;
    }
    x += vectors;
  }
  below[steps.n + 1] = static_cast<std::uint64_t>(all * 64 * region.height);
  const std::vector<std::uint16_t>& bin_of = rule.channels[0].table;
  for (int s = 0; s <= steps.n; ++s)
    if (const std::uint16_t bin = bin_of[s == 0 ? 0 : steps.at[s - 1]]; bin != ChannelBins::none)
      out.add(bin, below[s + 1] - below[s]);
  return true;
}

}  // namespace

bool has_direct_counts(Type type, const Shape& image) { return size_of(type) == 1 && image.channels == 1; }

bool direct_is_less(const PixelBins& rule, const Shape& image, std::span<const Region> regions) {
  Steps steps;
  const bool has_steps = steps_of(rule, steps);
  const auto bins = static_cast<double>(rule.bins), number = static_cast<double>(regions.size());
  double direct = number * formulas::direct_region_ns(bins), streamed = number * formulas::streamed_bin_ns * bins;
  std::int64_t rows = 0;
  for (const Region& region : regions) {
    direct += static_cast<double>(region.width) * static_cast<double>(region.height) *
              (has_steps && region.width >= formulas::direct_wide ? formulas::direct_wide_pixel_ns
                                                                  : formulas::direct_pixel_ns);
    streamed += formulas::streamed_column_ns * static_cast<double>(region.width) * bins;
    rows = std::max(rows, region.y + region.height);
  }
  return direct <=
         streamed + formulas::streamed_pixel_ns * static_cast<double>(image.width) * static_cast<double>(rows);
}

void direct_counts(const PixelBins& rule, const ConstView& image, std::span<const Region> regions,
                   std::span<std::uint64_t> out, int threads) {
  // A millisecond or less: threads share larger regions, and cancelling waits for no more.
  constexpr std::int64_t piece_pixels = std::int64_t{1} << 20;
  const auto rows_of_piece = [](const Region& region) {
    return region.width == 0 ? region.height : std::max<std::int64_t>(1, piece_pixels / region.width);
  };
  Steps steps;
  const bool has_steps = steps_of(rule, steps);
  const auto count = [&](Region region, const Sums& sums) {
    if (has_steps && region.width >= 64 && count_by_steps(rule, steps, image, region, sums)) {
      region.x += region.width / 64 * 64;
      region.width %= 64;
    }
    count_by_value(rule, image, region, sums);
  };
  const auto for_each = [&](std::int64_t n, const auto& body) {
    if (threads == 1 && Cancellation::current() == nullptr)  // allocates nothing
      for (std::int64_t i = 0; i < n; ++i) body(i);
    else
      parallel_for(threads, n, body);
  };
  std::atomic<bool> any_large{false};
  for_each(static_cast<std::int64_t>(regions.size()), [&](std::int64_t i) {
    const Region& region = regions[static_cast<std::size_t>(i)];
    std::uint64_t* const counts = out.data() + i * rule.bins;
    std::fill_n(counts, rule.bins, 0);
    if (region.height > rows_of_piece(region))
      any_large.store(true, std::memory_order_relaxed);
    else if (region.width > 0 && region.height > 0)
      count(region, {counts, false});
  });
  if (!any_large) return;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Region& region = regions[i];
    const std::int64_t rows = rows_of_piece(region);
    if (region.height <= rows) continue;
    for_each((region.height + rows - 1) / rows, [&](std::int64_t piece) {
      Region part = region;
      part.y += piece * rows;
      part.height = std::min(rows, region.y + region.height - part.y);
      count(part, {out.data() + i * static_cast<std::size_t>(rule.bins), true});
    });
  }
}

void masked_counts(const PixelBins& rule, const ConstView& image, const ConstView& mask,
                   std::span<const Region> regions, std::span<std::uint64_t> out, int threads) {
  parallel_for(threads, static_cast<std::int64_t>(regions.size()), [&](std::int64_t i) {
    const Region& region = regions[static_cast<std::size_t>(i)];
    std::uint64_t* const counts = out.data() + i * rule.bins;
    std::fill_n(counts, rule.bins, 0);
    std::int32_t bins[longest_run];
    for (std::int64_t y = region.y; y < region.y + region.height; ++y)
      for (std::int64_t x = region.x, end = region.x + region.width; x < end; x += longest_run) {
        const int count = static_cast<int>(std::min<std::int64_t>(longest_run, end - x));
        bins_of_run(rule, image, 0, y, x, count, bins);
        const auto* const kept = static_cast<const std::uint8_t*>(mask.row(y)) + x;
        for (int p = 0; p < count; ++p)
          if (kept[p] != 0 && bins[p] >= 0) ++counts[bins[p]];
      }
  });
}

}  // namespace areal::cpu
#endif
