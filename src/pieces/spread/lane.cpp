// On CUDA each part has a stream for its pieces, and the strip one for the rows that it takes over. On the CPU all of
// it has been done when a call returns.
#include "pieces/spread/lane.hpp"
#include <algorithm>

namespace areal::pieces {
SpreadLane::SpreadLane(const SpreadWork& work, std::size_t strip, const SpreadLane* above)
    : work_(work),
      strip_(work.strips[strip]),
      tables_(work.whole.image_shape(), work.whole.types().input, work.of_pieces, execution_of(strip_.worker),
              TableWork::Tables::leave),
      above_(above),
      rows_(tables_.execution()),
      begun_(tables_.on_cuda()),
      cleared_(tables_.on_cuda()),
      taken_(tables_.on_cuda()),
      rows_ended_(tables_.on_cuda()) {
  const std::vector<SpreadPart>& all = work.cut.parts;
  const auto first = std::find_if(all.begin(), all.end(), [&](const SpreadPart& part) { return part.strip >= strip; });
  first_part_ = static_cast<std::size_t>(first - all.begin());
  carries_.emplace_back(tables_, above ? &above->parts_.back() : nullptr, work.cut.width, rows_);
  for (auto of = first; of != all.end() && of->strip == strip; ++of) {
    const std::int64_t copied = work.border() == Border::none ? work.cut.bands[1] : 0;
    if (of != first) carries_.emplace_back(tables_, &parts_.back(), copied, rows_);
    Part& part = parts_.emplace_back(Part{{}, *of, OwnedStream(tables_.execution())});
    for (std::size_t t = 0; of->beyond && t < tables_.form().outputs.size(); ++t) {
      const Rows& rows = tables_.form().outputs[t];
      part.beyond.emplace_back(rows.of(work.cut.width, 1), rows.type, strip_.memory);
      part.sums.push_back(part.beyond[t].view(rows.type, rows.of(work.cut.width, 1)));
    }
    for (std::size_t band = 0; band < work.cut.band_count(); ++band) {
      part.done.emplace_back(tables_.on_cuda());
      std::unique_ptr<Step>& step = part.steps[work.cut.piece(*of, band).width];
      if (!step) step = tables_.plan(work.cut.piece(*of, band).width, of->count, part.stream);
    }
  }
  wait();
}

void SpreadLane::begin(const Views& strip, Stream caller, const SpreadLane* below) {
  views_ = strip, caller_ = caller;
  const Border border = work_.border();
  const bool has_zeros = border != Border::none, is_top = strip_.table_row == 0;
  const std::int64_t rows_before = border == Border::exclusive || (border == Border::zero && is_top) ? 1 : 0;
  for (Part& part : parts_) {
    if (part.of.beyond) continue;
    part.sums.clear();
    for (const View& table : strip.outputs)
      part.sums.push_back(
          window(table, has_zeros ? 1 : 0, rows_before + part.of.first - strip_.first, work_.cut.width, part.of.count));
  }
  begun_.record(caller);
  begun_.hold_back(rows_);
  // The rows of a run before, behind other streams, may still be read.
  if (!parts_.empty()) parts_.front().done.back().hold_back(rows_);
  if (below != nullptr && !parts_.empty() && parts_.back().of.beyond) below->rows_ended_.hold_back(rows_);
  for (const View& table : strip.outputs) {
    if (!has_zeros || table.shape.empty()) continue;
    clear_window(window(table, 0, 0, 1, table.shape.height), rows_);
    if (is_top) clear_window(window(table, 0, 0, table.shape.width, 1), rows_);
  }
  cleared_.record(rows_);
  for (const Part& part : parts_) cleared_.hold_back(part.stream);
}

void SpreadLane::take_row(std::size_t band) {
  const std::int64_t x = work_.cut.bands[band];
  carries_.front().wait_for(band, x, work_.cut.bands[band + 1] - x, rows_);
  taken_.record(rows_);
  if (!parts_.empty()) taken_.hold_back(parts_.front().stream);
}

void SpreadLane::compute(std::size_t p, std::size_t band) {
  Part& part = parts_[p];
  const Region piece = work_.cut.piece(part.of, band);
  Views views;
  for (const ConstView& input : views_.inputs)
    views.inputs.push_back(window(input, piece.x, piece.y - strip_.first, piece.width, piece.height));
  for (const View& sums : part.sums) views.outputs.push_back(window(sums, piece.x, 0, piece.width, piece.height));
  if (p > 0) carries_[p].wait_for(band, piece.x, piece.width, part.stream);
  views.carries = carries_[p].take(views.outputs, piece.x);
  part.steps.at(piece.width)->execute(views);
  part.done[band].record(part.stream);
}

void SpreadLane::end() {
  for (std::size_t t = 0; work_.border() == Border::exclusive && takes_rows() && t < views_.outputs.size(); ++t) {
    const View& table = views_.outputs[t];
    if (!table.shape.empty()) copy_row(carries_.front().row(t), window(table, 0, 0, table.shape.width, 1), rows_);
  }
  rows_ended_.record(rows_);
}

void SpreadLane::hold_back_caller(const SpreadLane* below) const {
  for (const Part& part : parts_) part.done.back().hold_back(caller_);
  rows_ended_.hold_back(caller_);
  if (below != nullptr) below->rows_ended_.hold_back(caller_);
}

void SpreadLane::wait() const {
  rows_.wait();
  for (const Part& part : parts_) part.stream.wait();
}

void SpreadLane::wait_quietly() const noexcept {
  const auto wait_for = [](const OwnedStream& stream) {
    try {
      stream.wait();
    } catch (...) {  // what went wrong before says more
    }
  };
  wait_for(rows_);
  for (const Part& part : parts_) wait_for(part.stream);
}

}  // namespace areal::pieces
