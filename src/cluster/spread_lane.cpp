// On CUDA each part has a stream for its pieces, and the strip one for the rows that it takes over. On the CPU all of
// it has been done when a call returns.
#include "cluster/spread_lane.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace areal::cluster {
namespace {

/// The worker's device is current, where it has one.
class Scope {
 public:
  explicit Scope(const Worker& worker) {
    if (worker.backend == Backend::cuda) device_.emplace(worker.device);
  }

 private:
  std::optional<cuda::DeviceScope> device_;
};

char* at(const View& view, std::int64_t x, std::int64_t y) {
  return static_cast<char*>(view.data) + y * view.row_pitch + x * view.column_pitch();
}

}  // namespace

SpreadLane::SpreadLane(const SpreadWork& work, std::size_t strip, const SpreadLane* above)
    : work_(work), strip_(work.strips[strip]), number_(strip), above_(above) {
  const Scope scope(strip_.worker);
  const std::vector<SpreadPart>& all = work.cut.parts;
  const auto first = std::find_if(all.begin(), all.end(), [&](const SpreadPart& part) { return part.strip >= strip; });
  first_part_ = static_cast<std::size_t>(first - all.begin());
  if (on_cuda()) rows_.emplace(), begun_.emplace(false), cleared_.emplace(false), taken_.emplace(false);
  if (on_cuda()) rows_ended_.emplace(false);
  const auto row_bytes = static_cast<std::size_t>((work.cut.width + 1) * work.size());
  if (above_ != nullptr) {
    row_above_ = Memory(row_bytes, strip_.memory);
    clear(row_above_.data(), work.size(), work.size(), 1);
  }
  for (auto of = first; of != all.end() && of->strip == strip; ++of) {
    Part& part = parts_.emplace_back();
    part.of = &*of;
    if (of->beyond) beyond_ = Memory(row_bytes, strip_.memory);
    if (of != first && work.column_offset() == 0) {
      part.above = Memory(static_cast<std::size_t>((work.cut.bands[1] + 1) * work.size()), strip_.memory);
      clear(part.above.data(), work.size(), work.size(), 1);
    }
    if (on_cuda()) part.stream.emplace();
    for (std::size_t c = 0; c < work.cut.band_count(); ++c) {
      if (on_cuda()) part.done.push_back(std::make_unique<cuda::Event>(false));
      const std::int64_t width = work.cut.bands[c + 1] - work.cut.bands[c];
      if (part.plans.count(width) > 0) continue;
      const SatPlan plan(
          {width, of->count}, work.type, work.plan,
          {.backend = strip_.worker.backend, .device = strip_.worker.device, .threads = strip_.worker.threads});
      part.plans.try_emplace(width, plan, stream_of(part));
    }
  }
  wait();
}

void SpreadLane::begin(const ConstView& pixels, const View& table, Stream caller, const SpreadLane* below) {
  pixels_ = pixels, table_ = table, caller_ = caller;
  for (Part& part : parts_) {
    const Shape shape{work_.cut.width, part.of->count};
    if (part.of->beyond) {
      part.table = View(beyond_.data(), work_.table_type(), shape).in(strip_.memory);
      continue;
    }
    const std::int64_t row = work_.row_offset(number_) + part.of->first - strip_.first;
    part.table = View(at(table, work_.column_offset(), row), table.type, shape, table.row_pitch).in(strip_.memory);
  }
  const Scope scope(strip_.worker);
  if (on_cuda()) {
    begun_->record(caller);
    begun_->hold_back(rows_->get());
    // The rows of a run before, behind other streams, may still be read.
    if (has_run_ && !parts_.empty()) parts_.front().done.back()->hold_back(rows_->get());
    if (has_run_ && beyond_.bytes() > 0 && below != nullptr) below->rows_ended_->hold_back(rows_->get());
  }
  clear_edges();
  if (!on_cuda()) return;
  cleared_->record(rows_->get());
  for (const Part& part : parts_) cleared_->hold_back(stream_of(part));
  has_run_ = true;
}

void SpreadLane::clear_edges() {
  const Shape& shape = table_.shape;
  if (work_.border == Border::none || shape.empty()) return;
  clear(table_.data, table_.row_pitch, work_.size(), shape.height);
  const bool zeros_first = work_.border == Border::zero ? number_ == 0 : above_ == nullptr;
  if (zeros_first) clear(table_.data, table_.row_pitch, shape.width * work_.size(), 1);
}

void SpreadLane::clear(void* first, std::int64_t pitch, std::int64_t row_bytes, std::int64_t rows) {
  const auto bytes = static_cast<std::size_t>(row_bytes);
  if (on_cuda()) return cuda::clear_rows(first, pitch, bytes, static_cast<std::size_t>(rows), rows_->get());
  for (std::int64_t y = 0; y < rows; ++y) std::memset(static_cast<char*>(first) + y * pitch, 0, bytes);
}

void SpreadLane::copy(void* to, const void* from, std::int64_t bytes, Stream stream) {
  if (on_cuda()) return cuda::copy(to, from, static_cast<std::size_t>(bytes), stream);
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

void SpreadLane::take_row(std::size_t band) {
  const Part& last = above_->parts_.back();
  const std::int64_t x = work_.cut.bands[band], width = work_.cut.bands[band + 1] - x;
  const Scope scope(strip_.worker);
  if (on_cuda()) last.done[band]->hold_back(rows_->get());
  copy(static_cast<char*>(row_above_.data()) + (x + 1) * work_.size(), at(last.table, x, last.of->count - 1),
       width * work_.size(), rows_stream());
  if (!on_cuda()) return;
  taken_->record(rows_->get());
  if (!parts_.empty()) taken_->hold_back(stream_of(parts_.front()));
}

// From the corner on; null for zeros.
const void* SpreadLane::row_above(std::size_t p, std::size_t band) {
  const std::int64_t x = work_.cut.bands[band];
  if (p == 0) return takes_rows() ? static_cast<char*>(row_above_.data()) + x * work_.size() : nullptr;
  const Part& before = parts_[p - 1];
  const std::int64_t last = before.of->count - 1;
  if (x > 0 || work_.column_offset() > 0) return at(before.table, x - 1, last);
  Part& part = parts_[p];
  copy(static_cast<char*>(part.above.data()) + work_.size(), at(before.table, 0, last),
       work_.cut.bands[1] * work_.size(), stream_of(part));
  return part.above.data();
}

void SpreadLane::compute(std::size_t p, std::size_t band) {
  Part& part = parts_[p];
  const std::int64_t x = work_.cut.bands[band], width = work_.cut.bands[band + 1] - x, height = part.of->count;
  const Type type = work_.table_type();
  SatArguments arguments;
  const char* const first = static_cast<const char*>(pixels_.data) +
                            (part.of->first - strip_.first) * pixels_.row_pitch + x * pixels_.column_pitch();
  arguments.image = ConstView(first, work_.type, {width, height}, pixels_.row_pitch).in(strip_.memory);
  arguments.sum = View(at(part.table, x, 0), type, {width, height}, part.table.row_pitch).in(strip_.memory);
  if (x > 0)
    arguments.carry.left =
        ConstView(at(part.table, x - 1, 0), type, {1, height}, part.table.row_pitch).in(strip_.memory);
  const Scope scope(strip_.worker);
  if (on_cuda() && p > 0) parts_[p - 1].done[band]->hold_back(stream_of(part));
  if (const void* const above = row_above(p, band))
    arguments.carry.above = ConstView(above, type, {width + 1, 1}).in(strip_.memory);
  Planned<SatPlan>& planned = part.plans.at(width);
  planned.plan.execute(arguments, planned.workspace);
  if (on_cuda()) part.done[band]->record(stream_of(part));
}

void SpreadLane::end() {
  const Scope scope(strip_.worker);
  if (work_.border == Border::exclusive && takes_rows() && !table_.shape.empty())
    copy(table_.data, row_above_.data(), table_.shape.width * work_.size(), rows_stream());
  if (on_cuda()) rows_ended_->record(rows_->get());
}

void SpreadLane::hold_back_caller(const SpreadLane* below) const {
  if (!on_cuda()) return;
  const Scope scope(strip_.worker);
  for (const Part& part : parts_) part.done.back()->hold_back(caller_);
  rows_ended_->hold_back(caller_);
  if (below != nullptr) below->rows_ended_->hold_back(caller_);
}

void SpreadLane::wait() const {
  if (!on_cuda()) return;
  const Scope scope(strip_.worker);
  rows_->synchronize();
  for (const Part& part : parts_) part.stream->synchronize();
}

void SpreadLane::wait_quietly() const noexcept {
  const auto wait_for = [&](const cuda::OwnedStream& stream) {
    try {
      const Scope scope(strip_.worker);
      stream.synchronize();
    } catch (...) {  // what went wrong before says more
    }
  };
  if (rows_) wait_for(*rows_);
  for (const Part& part : parts_)
    if (part.stream) wait_for(*part.stream);
}

}  // namespace areal::cluster
