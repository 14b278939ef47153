#pragma once
// The buffers of parts on their way, and what computes them: two of inputs, two of outputs that leave or one of outputs
// that stay, the row that is handed on, a step for parts of one extent. On CUDA each direction has a stream: uploads,
// kernels and downloads of neighbouring parts overlap. Nothing else of the engine copies, waits or page-locks.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>
#include "api/core/memory.hpp"
#include "pieces/core/grid.hpp"
#include "pieces/core/row_carry.hpp"
#include "pieces/core/work.hpp"

namespace areal::pieces {

/// Buffers of inputs, and of outputs: part k has number k % slots of each.
inline constexpr int slots = 2;

/// Rows [first, first + count) of a view.
template <class V>
V rows_of(const V& view, std::int64_t first, std::int64_t count) {
  V rows = view;
  rows.data = view.row(first);
  rows.shape.height = count;
  return rows;
}

/// For the parts of one image, from the first on. One thread may fill and upload, one compute, one download at a time.
class PieceLane {
 public:
  /// For parts of that width. Allocates. Throws OutOfMemory, DeviceError.
  PieceLane(const Work& work, std::int64_t width, const RowGrid& grid);
  ~PieceLane();

  /// Host memory for a part's rows, once the part before it in the same buffer has left.
  View input(const Part& part, std::size_t which);
  /// Copies the rows that a part's inputs share with those of the part before, which are there, and returns how many:
  /// the first ones.
  std::int64_t take_over(const Part& before, const Part& part);
  /// They are there: on CUDA, queues their copy.
  void upload(const Part& part);
  /// The outputs; on CUDA queued. On the host the inputs may lie elsewhere.
  void compute(const Part& part, const std::vector<ConstView>* elsewhere = nullptr);
  /// Where it is computed.
  View output(const Part& part, std::size_t which) const;
  /// All outputs in host memory, complete. On CUDA this waits for the part alone.
  std::vector<ConstView> download(const Part& part);
  /// The last row of each output in host memory, of a form whose outputs stay.
  std::vector<ConstView> last_rows(const Part& part);
  /// Of what `compute` queues.
  Stream stream() const;

 private:
  using Buffers = std::array<std::vector<Memory>, slots>;
  struct Device;
  View held(const Part& part, std::size_t which) const;
  std::size_t output_slot(const Part& part) const;

  const Work& work_;
  std::unique_ptr<Device> device_;  // on CUDA
  Buffers inputs_, outputs_;        // of the host
  std::vector<Memory> last_rows_;
  std::optional<RowCarry> carry_;
  std::unique_ptr<Step> step_;
  std::int64_t step_height_ = -1;
};

}  // namespace areal::pieces
