#include "strips/strip_run.hpp"
#include <algorithm>
#include "api/core/copy_rows.hpp"

namespace areal::strips {
namespace {

/// Rows [first, first + count) of a view.
ConstView rows_of(const ConstView& view, std::int64_t first, std::int64_t count) {
  ConstView rows = view;
  rows.data = view.row(first);
  rows.shape.height = count;
  return rows;
}

}  // namespace

bool run_strips(const StripWork& work, std::int64_t strip_height, const std::vector<ImageReader>& readers,
                const StripUse& use, const std::function<void(std::int64_t rows)>& told) {
  const std::int64_t strips = std::max<std::int64_t>(1, (work.height + strip_height - 1) / strip_height);
  StripSlots buffers(work, strip_height);
  const auto strip = [&](std::int64_t k) {
    return Strip{k, k * strip_height, std::min(strip_height, work.height - k * strip_height)};
  };
  Stages stages;
  stages.read = [&](std::int64_t k) {
    const Strip of = strip(k);
    for (std::size_t i = 0; i < readers.size(); ++i) {
      const View into = buffers.input(of.slot(), i, of.rows);
      if (!into.shape.empty()) readers[i](0, of.y, into);
    }
    if (use.filled) use.filled(of, buffers.input(of.slot(), 0, of.rows));
    buffers.upload(of.slot(), of.rows);
  };
  stages.compute = [&](std::int64_t k) {
    const Strip of = strip(k);
    buffers.compute(of.slot(), of.rows);
    if (use.computed) use.computed(of, buffers);
  };
  stages.give = [&](std::int64_t k) {
    const Strip of = strip(k);
    return !use.give || use.give(of, buffers.download(of.slot(), of.rows));
  };
  if (told) stages.given = [&](std::int64_t k) { told(strip(k).y + strip(k).rows); };
  return run_stages(strips, stages);
}

StripFeed::StripFeed(const StripWork& work, std::int64_t strip_height, StripUse use,
                     std::function<void(std::int64_t rows)> told)
    : work_(work),
      height_(strip_height),
      use_(std::move(use)),
      told_(std::move(told)),
      slots_(work, strip_height),
      strip_{0, 0, std::min(strip_height, work.height)} {}

bool StripFeed::push(const std::vector<ConstView>& rows) {
  const std::int64_t count = rows[0].shape.height;
  for (std::int64_t taken = 0; taken < count && go_on_;) {
    const std::int64_t part = std::min(count - taken, strip_.rows - gathered_);
    if (gathered_ == 0 && part == strip_.rows && !work_.on_cuda() && !use_.filled) {  // where they lie
      std::vector<ConstView> pixels;
      for (const ConstView& input : rows) pixels.push_back(rows_of(input, taken, part));
      next_strip(&pixels);
    } else {
      gather(rows, taken, part);
      if (gathered_ == strip_.rows) next_strip(nullptr);
    }
    taken += part;
  }
  return go_on_;
}

void StripFeed::gather(const std::vector<ConstView>& rows, std::int64_t from, std::int64_t count) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    View into = slots_.input(strip_.slot(), i, strip_.rows);
    into.data = into.row(gathered_);
    into.shape.height = count;
    copy_rows(rows_of(rows[i], from, count), into);
  }
  gathered_ += count;
}

void StripFeed::next_strip(const std::vector<ConstView>* pixels) {
  const Strip strip = strip_;
  if (use_.filled) use_.filled(strip, slots_.input(strip.slot(), 0, strip.rows));
  slots_.upload(strip.slot(), strip.rows);
  slots_.compute(strip.slot(), strip.rows, pixels);
  if (use_.computed) use_.computed(strip, slots_);
  const std::int64_t y = strip.y + strip.rows;
  strip_ = {strip.k + 1, y, std::min(height_, work_.height - y)};
  gathered_ = 0;
  if (!work_.on_cuda()) return give(strip);
  if (waiting_) give(*waiting_);  // while this one is computed
  waiting_ = strip;
}

void StripFeed::give(const Strip& strip) {
  if (use_.give) go_on_ = go_on_ && use_.give(strip, slots_.download(strip.slot(), strip.rows));
  if (told_ && go_on_) told_(strip.y + strip.rows);
}

bool StripFeed::finish() {
  // An image without rows has one strip, and of one without columns nothing need come.
  if (go_on_ && work_.height == 0) next_strip(nullptr);
  while (go_on_ && work_.width == 0 && strip_.y < work_.height) next_strip(nullptr);
  if (go_on_ && waiting_) give(*waiting_);
  waiting_.reset();
  return go_on_;
}

}  // namespace areal::strips
