#include "pieces/tiles/tile_pieces.hpp"
#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include "api/core/require.hpp"
#include "pieces/core/frame.hpp"

namespace areal::pieces {
namespace {

/// How a part's outputs are cut: some rows of all planes or, where planes may leave apart, of one, or several whole
/// planes. The same whoever works.
class Chunks {
 public:
  Chunks(const std::vector<ConstView>& outputs, bool planes_apart, std::uint64_t most_bytes) : outputs_(outputs) {
    const Shape& shape = outputs[0].shape;
    if (shape.empty()) return;
    std::uint64_t row = 0;
    for (const ConstView& output : outputs)
      row += static_cast<std::uint64_t>(shape.width * output.column_pitch()) *
             static_cast<std::uint64_t>(output.shape.layout == Layout::planar && !planes_apart ? output.shape.channels
                                                                                               : 1);
    const auto rows = std::max<std::int64_t>(1, static_cast<std::int64_t>(most_bytes / row));
    rows_ = std::min(rows, shape.height);
    planes_ = planes_apart ? std::clamp<std::int64_t>(rows / shape.height, 1, shape.channels) : shape.channels;
    strips_ = (shape.height + rows_ - 1) / rows_;
    count_ = (shape.channels + planes_ - 1) / planes_ * strips_;
  }

  std::int64_t count() const { return count_; }
  std::int64_t first_plane(std::int64_t i) const { return i / strips_ * planes_; }
  std::int64_t first_row(std::int64_t i) const { return i % strips_ * rows_; }
  std::vector<ConstView> of(std::int64_t i) const {
    std::vector<ConstView> chunk = outputs_;
    for (ConstView& view : chunk) {
      view.data = view.row(first_row(i), first_plane(i));
      view.shape.height = std::min(rows_, view.shape.height - first_row(i));
      if (planes_ < outputs_[0].shape.channels)
        view.shape.channels = std::min(planes_, view.shape.channels - first_plane(i));
    }
    return chunk;
  }

 private:
  const std::vector<ConstView>& outputs_;
  std::int64_t rows_ = 1, planes_ = 1, strips_ = 1, count_ = 0;
};

class Giver {
  static constexpr std::int64_t all_chunks = std::numeric_limits<std::int64_t>::max();

 public:
  Giver(const TileJob& job, TilePool& pool, const TileGiving& giving)
      : job_(job),
        giving_(giving),
        run_(job, pool,
             {.inputs = {job.form, giving.read, giving.read_second, job.second},
              .carried = true,
              .work = [this](TileLane& lane, int worker, const Part& part,
                             const TilePixels& pixels) { return work(lane, worker, part, pixels); },
              .finished = [this](const Part& part) { carries_.finished(part.number); }}),
        carries_(run_.grid()),
        given_(static_cast<std::size_t>(run_.grid().parts())) {}

  void operator()(const queue::WrapWorker& wrap) { run_.go(wrap); }

 private:
  bool work(TileLane& lane, int worker, const Part& part, const TilePixels& pixels) {
    const TileGrid& grid = run_.grid();
    const std::int64_t n = part.number;
    std::int64_t& given = given_[static_cast<std::size_t>(n)];  // a part is on one lane at a time
    if (given == all_chunks) return false;
    void *const above = carries_.above(n), *const left = carries_.left(n);
    const std::vector<ConstView>& outputs = lane.compute(job_, part, pixels, above, left);
    Edges edges = lane.edges(part, left, grid.below(n).has_value(), grid.right(n).has_value());
    if (run_.readiness().commits(n)) {
      carries_.keep(n, std::move(edges));
      run_.handed_on(n);
    }
    const Frame frame(job_.form, part, grid.above(n).has_value(), grid.left(n).has_value());
    const std::vector<ConstView> framed = frame.of(outputs);
    const Chunks chunks(framed, job_.planes_apart, job_.piece_bytes);
    std::int64_t fetched = given;
    for (; given < chunks.count(); ++given) {
      for (; fetched < std::min(chunks.count(), given + TileLane::buffers); ++fetched)
        lane.fetch(fetched, chunks.of(fetched));
      Piece piece =
          piece_of(frame.x(), frame.y() + chunks.first_row(given), lane.fetched(given, chunks.of(given)), job_.squares);
      piece.first_bin = job_.bins_of(grid.group_of(n)).first + chunks.first_plane(given);
      piece.worker = worker;
      if (!give(piece)) return true;
    }
    given = all_chunks;
    return true;
  }

  // False where the run has been stopped.
  bool give(const Piece& piece) {
    std::unique_lock lock(giving_one_, std::defer_lock);
    if (giving_.one_at_a_time) lock.lock();
    if (run_.stopped()) return false;
    try {
      if (!giving_.sink(piece)) run_.stop();
    } catch (...) {  // not the worker's fault
      run_.stop(std::current_exception());
    }
    return true;
  }

  const TileJob& job_;
  const TileGiving& giving_;
  TileRun run_;
  EdgeCarries carries_;
  std::mutex giving_one_;
  std::vector<std::int64_t> given_;  // chunks of each part that the sink has had, in all attempts
};

}  // namespace

void give_pieces(const TileJob& job, TilePool& pool, const TileGiving& giving, const queue::WrapWorker& wrap) {
  require(static_cast<bool>(giving.sink), "sink: there is none");
  Giver(job, pool, giving)(wrap);
}

}  // namespace areal::pieces
