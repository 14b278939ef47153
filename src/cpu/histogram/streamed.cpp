#include "cpu/histogram/streamed.hpp"
#include <algorithm>
#include <type_traits>
#include <vector>
#include "cpu/cancellation.hpp"
#include "cpu/histogram/weight_run.hpp"
#include "cpu/threads.hpp"

namespace areal::cpu {
namespace {

constexpr std::int64_t strip_width = longest_run;  // 64 KiB of counts for 32 bins
constexpr std::int64_t most_strips_partial_bytes = std::int64_t{64} << 20;

struct Strips {
  std::int64_t width = 0, count = 0;
};

// Every strip but the first keeps its own answers, which are added in order at the end.
Strips strips_of(const Shape& image, std::int64_t bins, std::int64_t regions) {
  const std::int64_t answers = std::max<std::int64_t>(1, regions * bins * 8);
  const std::int64_t most = std::clamp<std::int64_t>(most_strips_partial_bytes / answers + 1, 1, 16);
  Strips strips;
  strips.count = std::clamp<std::int64_t>((image.width + strip_width - 1) / strip_width, 1, most);
  strips.width = (image.width + strips.count - 1) / strips.count;
  return strips;
}

// A row above which (or the image's end, at which) some regions need the counts.
struct Event {
  std::int64_t row, region;
  bool ends;  // the row after the region's last one: add; otherwise its first row: subtract
};

std::vector<Event> events_of(std::span<const Region> regions) {
  std::vector<Event> events;
  events.reserve(2 * regions.size());
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Region& region = regions[i];
    if (region.width == 0 || region.height == 0) continue;
    const auto index = static_cast<std::int64_t>(i);
    // Nothing was counted above row 0.
    if (region.y > 0) events.push_back({region.y, index, false});
    events.push_back({region.y + region.height, index, true});
  }
  // Starts need not come before ends within a row; the order of regions keeps the answers together.
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.row != b.row ? a.row < b.row : a.region < b.region; });
  return events;
}

struct Source {
  const PixelBins& rule;
  const ConstView& image;
  const ConstView* weights;
};

// One strip: columns [first, first + width). Count: the type of a column's counts; Sum: that of the answers.
template <class Count, class Sum>
class Strip {
 public:
  Strip(const Source& source, std::int64_t first, std::int64_t width, std::span<const Region> regions, Sum* out)
      : source_(source),
        first_(first),
        width_(width),
        regions_(regions),
        out_(out),
        // One more row for pixels without a bin, so that counting does not branch.
        columns_(static_cast<std::size_t>((source.rule.bins + 1) * width)),
        before_(static_cast<std::size_t>(width + 1)) {}

  /// Stops between rows where the caller does.
  void run(std::span<const Event> events, Cancellation* cancellation) {
    std::int64_t y = 0;
    for (std::size_t i = 0; i < events.size();) {
      std::size_t end = i;
      while (end < events.size() && events[end].row == events[i].row) ++end;
      for (; y < events[i].row; ++y) {
        if (cancellation != nullptr && !cancellation->go_on()) return;
        count_row(y);
      }
      answer(events.subspan(i, end - i));
      i = end;
    }
  }

 private:
  void count_row(std::int64_t y) {
    std::int32_t bins[longest_run];
    double weight[longest_run];
    for (std::int64_t x = 0; x < width_; x += longest_run) {
      const int count = static_cast<int>(std::min<std::int64_t>(longest_run, width_ - x));
      bins_of_run(source_.rule, source_.image, 0, y, first_ + x, count, bins);
      if constexpr (std::is_floating_point_v<Count>) weights_of_run(*source_.weights, 0, y, first_ + x, count, weight);
      Count* const column = columns_.data() + x;
      const std::int64_t nowhere = source_.rule.bins;
      for (int i = 0; i < count; ++i) {
        Count& sum = column[(bins[i] < 0 ? nowhere : bins[i]) * width_ + i];
        if constexpr (std::is_floating_point_v<Count>)
          sum += weight[i];
        else
          ++sum;
      }
    }
  }

  // The part of a region inside the strip, from its first column.
  struct Part {
    std::int64_t begin, end;
  };
  Part part_of(const Event& event) const {
    const Region& region = regions_[static_cast<std::size_t>(event.region)];
    return {std::clamp<std::int64_t>(region.x - first_, 0, width_),
            std::clamp<std::int64_t>(region.x + region.width - first_, 0, width_)};
  }
  void add(const Event& event, std::int64_t bin, Sum sum) {
    Sum& answer = out_[event.region * source_.rule.bins + bin];
    answer = event.ends ? answer + sum : answer - sum;
  }

  void answer(std::span<const Event> events) {
    std::int64_t pixels = 0;
    for (const Event& event : events) pixels += part_of(event).end - part_of(event).begin;
    if (pixels == 0) return;
    // Few or narrow regions: add up each. Many: prefix sums of the strip, where two of them answer a region.
    const bool each = pixels <= 4 * width_;
    for (std::int64_t bin = 0; bin < source_.rule.bins; ++bin) {
      const Count* const counts = columns_.data() + bin * width_;
      if (!each)
        for (std::int64_t x = 0; x < width_; ++x)
          before_[static_cast<std::size_t>(x) + 1] = before_[static_cast<std::size_t>(x)] + Sum{counts[x]};
      for (const Event& event : events) {
        const Part part = part_of(event);
        if (part.begin == part.end) continue;
        Sum sum = 0;
        if (each)
          for (std::int64_t x = part.begin; x < part.end; ++x) sum += counts[x];
        else
          sum = before_[static_cast<std::size_t>(part.end)] - before_[static_cast<std::size_t>(part.begin)];
        add(event, bin, sum);
      }
    }
  }

  const Source& source_;
  const std::int64_t first_, width_;
  const std::span<const Region> regions_;
  Sum* const out_;
  std::vector<Count> columns_;
  std::vector<Sum> before_;
};

template <class Count, class Sum>
void streamed(const Source& source, std::span<const Region> regions, std::span<Sum> out, int threads) {
  std::fill(out.begin(), out.end(), Sum{0});
  const std::vector<Event> events = events_of(regions);
  const Shape& image = source.image.shape;
  if (events.empty()) return;
  const Strips strips = strips_of(image, source.rule.bins, static_cast<std::int64_t>(regions.size()));
  std::vector<Sum> partial(out.size() * static_cast<std::size_t>(strips.count - 1));
  Cancellation* const cancellation = Cancellation::current();
  parallel_for(threads, strips.count, [&](std::int64_t i) {
    const std::int64_t first = i * strips.width, width = std::min(strips.width, image.width - first);
    if (width <= 0) return;
    Sum* const answers = i == 0 ? out.data() : partial.data() + (i - 1) * static_cast<std::int64_t>(out.size());
    Strip<Count, Sum>(source, first, width, regions, answers).run(events, cancellation);
  });
  for (std::size_t i = 0; i < partial.size(); ++i) out[i % out.size()] += partial[i];
}

}  // namespace

std::uint64_t streamed_bytes(const Shape& image, std::int64_t bins, std::int64_t regions, int threads) {
  const Strips strips = strips_of(image, bins, regions);
  const std::int64_t at_once = std::min<std::int64_t>(strips.count, threads > 0 ? threads : default_threads());
  const auto columns = static_cast<unsigned __int128>(at_once * strips.width) * static_cast<std::uint64_t>(bins + 2);
  const auto answers = static_cast<unsigned __int128>(strips.count - 1) * static_cast<std::uint64_t>(regions * bins);
  const unsigned __int128 bytes = 8 * (columns + answers) + sizeof(Event) * 2 * static_cast<std::uint64_t>(regions);
  return bytes >> 63 ? std::uint64_t{1} << 63 : static_cast<std::uint64_t>(bytes);
}

void streamed_counts(const PixelBins& rule, const ConstView& image, std::span<const Region> regions,
                     std::span<std::uint64_t> out, int threads) {
  const Source source{rule, image, nullptr};
  // A column counts at most the image's rows.
  if (image.shape.height <= std::int64_t{0xffffffff})
    streamed<std::uint32_t>(source, regions, out, threads);
  else
    streamed<std::uint64_t>(source, regions, out, threads);
}

void streamed_weights(const PixelBins& rule, const ConstView& image, const ConstView& weights,
                      std::span<const Region> regions, std::span<double> out, int threads) {
  streamed<double>(Source{rule, image, &weights}, regions, out, threads);
}

}  // namespace areal::cpu
