#include "pieces/strips/strip_run.hpp"
#include <algorithm>
#include <array>
#include <utility>
#include "api/core/copy_rows.hpp"
#include "pieces/strips/pipeline.hpp"

namespace areal::pieces {
namespace {

/// Rows of one input.
struct RowReader {
  const Inputs& inputs;
  std::size_t which;
  std::int64_t image_height;

  /// From y on. Beyond the image are those of its other end.
  ConstView read(std::int64_t y, const View& buffer, bool in_place) const {
    for (std::int64_t done = 0; done < buffer.shape.height && buffer.shape.width > 0;) {
      const std::int64_t from = ((y + done) % image_height + image_height) % image_height;
      const View into = rows_of(buffer, done, std::min(buffer.shape.height - done, image_height - from));
      const ConstView rows = inputs.read(which, 0, from, into);
      if (in_place) return rows;  // whose strips wrap around nothing
      if (rows.data != into.data) copy_rows(rows, into);
      done += into.shape.height;
    }
    return buffer;
  }
};

}  // namespace

bool run_strips(const Work& work, const Shape& image, std::int64_t strip_height, const Inputs& inputs,
                const StripUse& use) {
  const RowGrid grid(image, strip_height, work.form().halo);
  PieceLane lane(work, image.width, grid);
  const bool in_place = !work.on_cuda() && !use.filled && work.form().halo.rows() == 0;
  std::array<std::vector<ConstView>, slots> pixels;  // in place
  const auto pixels_of = [&](std::int64_t k) -> auto& { return pixels[static_cast<std::size_t>(k % slots)]; };
  Stages stages;
  stages.read = [&](std::int64_t k) {
    const Part strip = grid.part(k);
    const std::int64_t there = k > 0 ? lane.take_over(grid.part(k - 1), strip) : 0;
    pixels_of(k).clear();
    for (std::size_t i = 0; i < inputs.count(); ++i)
      pixels_of(k).push_back(RowReader{inputs, i, image.height}.read(
          strip.first_row() + there, rows_of(lane.input(strip, i), there, strip.rows() - there), in_place));
    if (use.filled) use.filled(strip, lane.input(strip, 0));
    lane.upload(strip);
  };
  stages.compute = [&](std::int64_t k) {
    lane.compute(grid.part(k), in_place ? &pixels_of(k) : nullptr);
    if (use.computed) use.computed(grid.part(k), lane);
  };
  stages.give = [&](std::int64_t k) { return !use.give || use.give(grid.part(k), lane.download(grid.part(k))); };
  if (use.done) stages.given = [&](std::int64_t k) { use.done(grid.part(k).end()); };
  return run_stages(grid.parts(), stages);
}

StripFeed::StripFeed(const Work& work, const Shape& image, std::int64_t strip_height, StripUse use)
    : work_(work),
      image_(image),
      grid_(image, strip_height, work.form().halo),
      use_(std::move(use)),
      lane_(work, image.width, grid_),
      strip_(grid_.part(0)) {}

bool StripFeed::push(const std::vector<ConstView>& rows) {
  const std::int64_t count = rows[0].shape.height;
  const bool shares = work_.form().halo.rows() > 0 && grid_.parts() > 1;
  for (std::int64_t taken = 0; taken < count && go_on_ && strip_.rows() > 0;) {
    const std::int64_t height = strip_.rows(), part = std::min(count - taken, height - gathered_);
    if (gathered_ == 0 && part == height && !work_.on_cuda() && !use_.filled && !shares) {  // computed where they lie
      std::vector<ConstView> pixels;
      for (const ConstView& input : rows) pixels.push_back(rows_of(input, taken, part));
      next_strip(&pixels);
    } else {
      gather(rows, taken, part);
      // The rows of a strip may all have come as the halo of the one before.
      while (go_on_ && strip_.rows() > 0 && gathered_ == strip_.rows()) next_strip(nullptr);
    }
    taken += part;
  }
  return go_on_;
}

void StripFeed::gather(const std::vector<ConstView>& rows, std::int64_t from, std::int64_t count) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    copy_rows(rows_of(rows[i], from, count), rows_of(lane_.input(strip_, i), gathered_, count));
  gathered_ += count;
}

void StripFeed::next_strip(const std::vector<ConstView>* elsewhere) {
  const Part strip = strip_;
  if (use_.filled) use_.filled(strip, lane_.input(strip, 0));
  lane_.upload(strip);
  lane_.compute(strip, elsewhere);
  if (use_.computed) use_.computed(strip, lane_);
  strip_ = grid_.part(strip.number + 1);
  gathered_ = strip_.rows() > 0 ? lane_.take_over(strip, strip_) : 0;
  if (!work_.on_cuda()) return give(strip);
  if (waiting_) give(*waiting_);  // while this one is computed
  waiting_ = strip;
}

void StripFeed::give(const Part& strip) {
  if (use_.give) go_on_ = go_on_ && use_.give(strip, lane_.download(strip));
  if (use_.done && go_on_) use_.done(strip.end());
}

bool StripFeed::finish() {
  // Where no rows are made there is one strip, and of an image without columns nothing need come.
  if (go_on_ && strip_.number == 0 && strip_.rows() == 0) next_strip(nullptr);
  while (go_on_ && image_.width == 0 && strip_.rows() > 0) next_strip(nullptr);
  if (go_on_ && waiting_) give(*waiting_);
  waiting_.reset();
  return go_on_;
}

}  // namespace areal::pieces
