#include "cpu/histogram/streamed.hpp"
#include <algorithm>
#include <memory>
#include <type_traits>
#include <variant>
#include <vector>
#include "cpu/cancellation.hpp"
#include "cpu/histogram/weight_run.hpp"
#include "cpu/threads.hpp"

namespace areal::cpu {
namespace {

constexpr std::int64_t strip_width = longest_run;  // 64 KiB of counts for 32 bins
constexpr std::int64_t most_strips_partial_bytes = std::int64_t{64} << 20;

struct StreamedStrips {
  std::int64_t width = 0, count = 0;
};

// Every strip but the first keeps its own answers, which are added in order at the end.
StreamedStrips strips_of(const Shape& image, std::int64_t bins, std::int64_t regions) {
  const std::int64_t answers = std::max<std::int64_t>(1, regions * bins * 8);
  const std::int64_t most = std::clamp<std::int64_t>(most_strips_partial_bytes / answers + 1, 1, 16);
  StreamedStrips strips;
  strips.count = std::clamp<std::int64_t>((image.width + strip_width - 1) / strip_width, 1, most);
  strips.width = (image.width + strips.count - 1) / strips.count;
  return strips;
}

// A row before which (or the image's end, at which) some regions need the counts.
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
  // Begins and ends within a row may come in any order; the order of regions keeps their answers together.
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.row != b.row ? a.row < b.row : a.region < b.region; });
  return events;
}

/// Rows of the image, from row `first` on.
struct Rows {
  const ConstView& image;
  const ConstView* weights;
  std::int64_t first;
};

// One strip: columns [first, first + width). Count: the type of a column's counts; Sum: that of the answers.
template <class Count, class Sum>
class Strip {
 public:
  Strip(const PixelBins& rule, std::int64_t first, std::int64_t width, std::span<const Region> regions,
        std::span<const Event> events, Sum* out)
      : rule_(rule),
        first_(first),
        width_(width),
        regions_(regions),
        events_(events),
        out_(out),
        // One more row for pixels without a bin, so that counting does not branch.
        columns_(static_cast<std::size_t>((rule.bins + 1) * width)),
        before_(static_cast<std::size_t>(width + 1)) {}

  /// Adds rows up to the last one that a region needs. Stops between rows when cancelled.
  void add(const Rows& rows, Cancellation* cancellation) {
    const std::int64_t end = rows.first + rows.image.shape.height;
    answer_before(rows.first);
    for (std::int64_t y = rows.first; y < end && next_ < events_.size(); ++y) {
      if (cancellation != nullptr && !cancellation->go_on()) return;
      count_row(rows, y - rows.first);
      answer_before(y + 1);
    }
  }

 private:
  // The events at a row, when all rows above it have been counted.
  void answer_before(std::int64_t row) {
    std::size_t end = next_;
    while (end < events_.size() && events_[end].row == row) ++end;
    if (end > next_) answer(events_.subspan(next_, end - next_));
    next_ = end;
  }

  void count_row(const Rows& rows, std::int64_t y) {
    std::int32_t bins[longest_run];
    double weight[longest_run];
    for (std::int64_t x = 0; x < width_; x += longest_run) {
      const int count = static_cast<int>(std::min<std::int64_t>(longest_run, width_ - x));
      bins_of_run(rule_, rows.image, 0, y, first_ + x, count, bins);
      if constexpr (std::is_floating_point_v<Count>) weights_of_run(*rows.weights, 0, y, first_ + x, count, weight);
      Count* const column = columns_.data() + x;
      const std::int64_t nowhere = rule_.bins;
      for (int i = 0; i < count; ++i) {
        Count& sum = column[(bins[i] < 0 ? nowhere : bins[i]) * width_ + i];
        if constexpr (std::is_floating_point_v<Count>)
          sum += weight[i];
        else
          ++sum;
      }
    }
  }

  // A region's columns inside the strip, and the sums that they are added to or subtracted from.
  struct Part {
    std::int64_t begin, end;
    Sum* sums;
    bool add;
  };

  void answer(std::span<const Event> events) {
    parts_.clear();
    std::int64_t pixels = 0;
    for (const Event& event : events) {
      const Region& region = regions_[static_cast<std::size_t>(event.region)];
      const std::int64_t begin = std::clamp<std::int64_t>(region.x - first_, 0, width_);
      const std::int64_t end = std::clamp<std::int64_t>(region.x + region.width - first_, 0, width_);
      if (begin == end) continue;
      parts_.push_back({begin, end, out_ + event.region * rule_.bins, event.ends});
      pixels += end - begin;
    }
    if (pixels == 0) return;
    // Few or narrow regions: sum each. Many: prefix sums of the strip, two of which answer a region.
    const bool each = pixels <= 4 * width_;
    for (std::int64_t bin = 0; bin < rule_.bins; ++bin) {
      const Count* const counts = columns_.data() + bin * width_;
      if (!each)
        for (std::int64_t x = 0; x < width_; ++x)
          before_[static_cast<std::size_t>(x) + 1] = before_[static_cast<std::size_t>(x)] + Sum{counts[x]};
      for (const Part& part : parts_) {
        Sum sum = 0;
        if (each)
          for (std::int64_t x = part.begin; x < part.end; ++x) sum += counts[x];
        else
          sum = before_[static_cast<std::size_t>(part.end)] - before_[static_cast<std::size_t>(part.begin)];
        part.sums[bin] = part.add ? part.sums[bin] + sum : part.sums[bin] - sum;
      }
    }
  }

  const PixelBins& rule_;
  const std::int64_t first_, width_;
  const std::span<const Region> regions_;
  const std::span<const Event> events_;
  std::size_t next_ = 0;  // event
  Sum* const out_;
  std::vector<Count> columns_;
  std::vector<Sum> before_;
  std::vector<Part> parts_;  // of the row's events
};

/// All strips, which keep their column counts between calls.
template <class Count, class Sum>
class Streamed {
 public:
  Streamed(const PixelBins& rule, const Shape& image, std::span<const Region> regions, std::span<Sum> out, int threads)
      : rule_(rule), image_(image), regions_(regions), out_(out), threads_(threads), events_(events_of(regions)) {
    std::fill(out.begin(), out.end(), Sum{0});
    if (events_.empty()) return;
    cut_ = strips_of(image, rule.bins, static_cast<std::int64_t>(regions.size()));
    partial_.resize(out.size() * static_cast<std::size_t>(cut_.count - 1));
  }

  /// All rows at once: a strip's counts are freed when it is done.
  void whole(const ConstView& image, const ConstView* weights) {
    Cancellation* const cancellation = Cancellation::current();
    parallel_for(threads_, cut_.count, [&](std::int64_t i) {
      if (auto strip = strip_of(i)) strip->add({image, weights, 0}, cancellation);
    });
    finish();
  }

  void add(const ConstView& rows) {
    if (strips_.empty())
      for (std::int64_t i = 0; i < cut_.count; ++i) strips_.push_back(strip_of(i));
    Cancellation* const cancellation = Cancellation::current();
    parallel_for(threads_, cut_.count, [&](std::int64_t i) {
      if (auto& strip = strips_[static_cast<std::size_t>(i)]) strip->add({rows, nullptr, y_}, cancellation);
    });
    y_ += rows.shape.height;
  }

  void finish() {
    for (std::size_t i = 0; i < partial_.size(); ++i) out_[i % out_.size()] += partial_[i];
  }

 private:
  std::unique_ptr<Strip<Count, Sum>> strip_of(std::int64_t i) {
    const std::int64_t first = i * cut_.width, width = std::min(cut_.width, image_.width - first);
    if (width <= 0) return nullptr;
    Sum* const answers = i == 0 ? out_.data() : partial_.data() + (i - 1) * static_cast<std::int64_t>(out_.size());
    return std::make_unique<Strip<Count, Sum>>(rule_, first, width, regions_, events_, answers);
  }

  const PixelBins& rule_;
  const Shape image_;
  const std::span<const Region> regions_;
  const std::span<Sum> out_;
  const int threads_;
  const std::vector<Event> events_;
  StreamedStrips cut_;  // none if there are no regions
  std::vector<Sum> partial_;
  std::vector<std::unique_ptr<Strip<Count, Sum>>> strips_;
  std::int64_t y_ = 0;
};

constexpr std::int64_t most_rows_of_u32 = 0xffffffff;  // a column counts at most the image's rows

}  // namespace

std::uint64_t streamed_bytes(const Shape& image, std::int64_t bins, std::int64_t regions, int threads) {
  const StreamedStrips strips = strips_of(image, bins, regions);
  const std::int64_t at_once = std::min<std::int64_t>(strips.count, threads > 0 ? threads : default_threads());
  const auto columns = static_cast<unsigned __int128>(at_once * strips.width) * static_cast<std::uint64_t>(bins + 2);
  const auto answers = static_cast<unsigned __int128>(strips.count - 1) * static_cast<std::uint64_t>(regions * bins);
  const unsigned __int128 bytes = 8 * (columns + answers) + sizeof(Event) * 2 * static_cast<std::uint64_t>(regions);
  return bytes >> 63 ? std::uint64_t{1} << 63 : static_cast<std::uint64_t>(bytes);
}

void streamed_counts(const PixelBins& rule, const ConstView& image, std::span<const Region> regions,
                     std::span<std::uint64_t> out, int threads) {
  if (image.shape.height <= most_rows_of_u32)
    Streamed<std::uint32_t, std::uint64_t>(rule, image.shape, regions, out, threads).whole(image, nullptr);
  else
    Streamed<std::uint64_t, std::uint64_t>(rule, image.shape, regions, out, threads).whole(image, nullptr);
}

void streamed_weights(const PixelBins& rule, const ConstView& image, const ConstView& weights,
                      std::span<const Region> regions, std::span<double> out, int threads) {
  Streamed<double, double>(rule, image.shape, regions, out, threads).whole(image, &weights);
}

struct StreamedCounts::State {
  // The counts of columns, as wide as the image's rows need.
  std::variant<std::monostate, Streamed<std::uint32_t, std::uint64_t>, Streamed<std::uint64_t, std::uint64_t>> counts;
};

StreamedCounts::StreamedCounts(const PixelBins& rule, const Shape& image, std::span<const Region> regions,
                               std::span<std::uint64_t> out, int threads)
    : state_(std::make_unique<State>()) {
  if (image.height <= most_rows_of_u32)
    state_->counts.emplace<1>(rule, image, regions, out, threads);
  else
    state_->counts.emplace<2>(rule, image, regions, out, threads);
}
StreamedCounts::~StreamedCounts() = default;
std::uint64_t StreamedCounts::bytes(const Shape& image, std::int64_t bins, std::int64_t regions) {
  const StreamedStrips strips = strips_of(image, bins, regions);
  const std::uint64_t count = image.height <= most_rows_of_u32 ? 4 : 8;
  const auto columns =
      static_cast<unsigned __int128>(strips.count * strips.width) * (count * static_cast<std::uint64_t>(bins + 1) + 8);
  const auto answers = static_cast<unsigned __int128>(strips.count - 1) * static_cast<std::uint64_t>(regions * bins);
  const unsigned __int128 bytes = columns + 8 * answers;
  return bytes >> 63 ? std::uint64_t{1} << 63 : static_cast<std::uint64_t>(bytes);
}
void StreamedCounts::add(const ConstView& rows) {
  if (auto* const narrow = std::get_if<1>(&state_->counts)) return narrow->add(rows);
  std::get<2>(state_->counts).add(rows);
}
void StreamedCounts::finish() {
  if (auto* const narrow = std::get_if<1>(&state_->counts)) return narrow->finish();
  std::get<2>(state_->counts).finish();
}

}  // namespace areal::cpu
