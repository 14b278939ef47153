// The tensor, piece by piece: a part's tensor leaves the worker in chunks, which the sink is handed one after the
// other. On CUDA they come by way of pinned buffers, some on their way while the sink has one; the other lane computes
// meanwhile. A part that is done once more, on another worker, hands out what the sink has not had.

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <vector>
#include "cluster/tile_carries.hpp"
#include "cluster/tile_run.hpp"

namespace areal::cluster {
namespace {

/// How a part's tensor is cut: some rows of one bin, or several whole bins. The same whoever works.
class Chunks {
 public:
  Chunks(const TensorPart& part, Type counter, std::uint64_t most_bytes) : part_(part) {
    const std::uint64_t row = static_cast<std::uint64_t>(part.tile.width) * size_of(counter);
    const auto rows = std::max<std::int64_t>(1, static_cast<std::int64_t>(row == 0 ? 1 : most_bytes / row));
    rows_ = std::max<std::int64_t>(1, std::min(rows, part.tile.height));
    bins_ = std::clamp<std::int64_t>(rows_ < part.tile.height ? 1 : rows / std::max<std::int64_t>(1, part.tile.height),
                                     1, part.bins);
    strips_ = (part.tile.height + rows_ - 1) / rows_;
  }
  std::int64_t count() const { return (part_.bins + bins_ - 1) / bins_ * strips_; }
  /// Chunk i of the part's tensor, which has no gaps; nor has the chunk.
  View of(const View& tensor, std::int64_t i) const {
    const std::int64_t bin = i / strips_ * bins_, y = i % strips_ * rows_;
    View chunk = tensor;
    chunk.data = tensor.row(y, bin);
    chunk.shape.height = std::min(rows_, part_.tile.height - y);
    chunk.shape.channels = std::min(bins_, part_.bins - bin);
    return chunk;
  }
  std::int64_t first_bin(std::int64_t i) const { return i / strips_ * bins_; }
  std::int64_t first_row(std::int64_t i) const { return i % strips_ * rows_; }

 private:
  const TensorPart& part_;
  std::int64_t rows_ = 1, bins_ = 1, strips_ = 1;
};

class Handout {
 public:
  Handout(TileRun& run, const TensorSink& sink)
      : run_(run),
        sink_(sink),
        carries_(run.subject, run.grid),
        counter_(run.subject.options.counter),
        handed_out_(static_cast<std::size_t>(run.grid.parts())) {}

  TileCarries& carries() { return carries_; }

  void work(TileLane& lane, int worker, const TensorPart& part) {
    std::int64_t& done = handed_out_[static_cast<std::size_t>(part.number)];  // a part is on one lane at a time
    const Chunks chunks(part, counter_, run_.subject.options.piece_bytes);
    const ConstView pixels = lane.bring(run_.reader, part.tile, run_.number);
    const PartCarry carry = carries_.take(part);
    std::optional<cuda::HostCopyGuard> guard;
    if (lane.on_cuda()) guard.emplace(lane.stream());
    const View tensor = lane.compute(part, pixels, counter_, carry.carry());
    PartEdges edges = carries_.edges_of(part);
    if (lane.on_cuda()) return download(lane, worker, part, tensor, chunks, edges, done);
    for (std::int64_t bin = 0; bin < part.bins && edges.bottom.bytes() > 0; ++bin)
      std::memcpy(edges.bottom.view().row(0, bin), tensor.row(part.tile.height - 1, bin),
                  static_cast<std::size_t>(part.tile.width) * size_of(counter_));
    take_column(tensor, part, 0, 0, edges);
    hand_over(part, edges);
    while (done < chunks.count() && hand_out(chunks.of(tensor, done), part, chunks, done, worker)) ++done;
  }

 private:
  // The last row crosses the link first, so that the part below can begin. The last column does not lie together: it
  // is read of what has come down.
  void download(TileLane& lane, int worker, const TensorPart& part, const View& tensor, const Chunks& chunks,
                PartEdges& edges, std::int64_t& done) {
    const bool column_needed = edges.right.bytes() > 0 && !carries_.is_handed_over(part);
    if (const std::size_t bytes = edges.bottom.bytes(); bytes > 0 && !carries_.is_handed_over(part)) {
      TileLane::Buffer& room = lane.buffer(0, bytes);
      const std::size_t row = bytes / static_cast<std::size_t>(part.bins);
      for (std::int64_t bin = 0; bin < part.bins; ++bin)
        cuda::copy_out(room.data() + static_cast<std::size_t>(bin) * row, tensor.row(part.tile.height - 1, bin), row,
                       lane.stream());
      room.queued(lane.stream());
      room.wait();
      std::memcpy(edges.bottom.data(), room.data(), bytes);
    }
    if (!column_needed) hand_over(part, edges);
    // All of them where the column is needed, though the sink has had some.
    const std::int64_t begin = column_needed ? 0 : done;
    std::int64_t queued = begin;
    for (std::int64_t i = begin; i < chunks.count(); ++i) {
      for (; queued < std::min(chunks.count(), i + TileLane::buffers); ++queued) {
        const View chunk = chunks.of(tensor, queued);
        const auto bytes = static_cast<std::size_t>(bytes_of(chunk.shape, counter_));
        TileLane::Buffer& room = lane.buffer(queued, bytes);
        cuda::copy_out(room.data(), chunk.data, bytes, lane.stream());
        room.queued(lane.stream());
      }
      View chunk = chunks.of(tensor, i);
      TileLane::Buffer& room = lane.buffer(i, 0);
      room.wait();
      chunk = View(room.data(), counter_, chunk.shape);
      if (column_needed) take_column(chunk, part, chunks.first_bin(i), chunks.first_row(i), edges);
      if (column_needed && i + 1 == chunks.count()) hand_over(part, edges);
      if (i < done) continue;
      if (!hand_out(chunk, part, chunks, i, worker)) return;
      done = i + 1;
    }
    if (column_needed && chunks.count() == 0) hand_over(part, edges);
  }

  void take_column(const View& chunk, const TensorPart& part, std::int64_t first_bin, std::int64_t first_row,
                   PartEdges& edges) const {
    if (edges.right.bytes() == 0) return;
    const std::size_t size = size_of(counter_);
    const View column = edges.right.view();
    for (std::int64_t bin = 0; bin < chunk.shape.channels; ++bin)
      for (std::int64_t y = 0; y < chunk.shape.height; ++y)
        std::memcpy(column.row(first_row + y, first_bin + bin),
                    static_cast<const char*>(chunk.row(y, bin)) + static_cast<std::size_t>(part.tile.width - 1) * size,
                    size);
  }

  void hand_over(const TensorPart& part, PartEdges& edges) {
    if (const auto ready = carries_.hand_over(part, std::move(edges)); !ready.empty()) run_.push(ready);
  }

  // False where the run has been stopped.
  bool hand_out(const View& chunk, const TensorPart& part, const Chunks& chunks, std::int64_t i, int worker) {
    const std::lock_guard lock(handing_out_);
    if (run_.stopped()) return false;
    try {
      const TensorPiece piece{part.first_bin + chunks.first_bin(i), part.tile.x, part.tile.y + chunks.first_row(i),
                              TensorView(chunk, Border::none), worker};
      if (!sink_(piece)) run_.stop();
    } catch (...) {  // not the worker's fault
      run_.stop(std::current_exception());
    }
    return true;  // the sink has had it
  }

  TileRun& run_;
  const TensorSink& sink_;
  TileCarries carries_;
  const Type counter_;
  std::mutex handing_out_;
  std::vector<std::int64_t> handed_out_;  // chunks of each part
};

}  // namespace

void hand_out_pieces(const TiledSubject& subject, const TiledGrid& grid, TileLanePool& pool, const ImageRows& rows,
                     const TensorSink& sink, const queue::WrapWorker& wrap) {
  TileRun run(subject, grid, pool, rows);
  Handout handout(run, sink);
  run.go(
      [&](TileLane& lane, int worker, const TensorPart& part) {
        handout.work(lane, worker, part);
        return true;
      },
      handout.carries().first(), wrap, [&](const TensorPart& part) { handout.carries().finished(part); });
}

}  // namespace areal::cluster
