#pragma once
// The last row of each output, kept where it was computed for the part below.

#include <cstdint>
#include <vector>
#include "api/core/memory.hpp"
#include "pieces/core/work.hpp"

namespace areal::pieces {

/// Queues the copy of a contiguous table's row, of all its planes, to a row with memory of the same device, of
/// page-locked memory of the host, or of the host where the table lies there, too.
void copy_row(const ConstView& table, std::int64_t y, const View& row, Stream stream);
inline void copy_last_row(const View& table, const View& row, Stream stream) {
  copy_row(table, table.shape.height - 1, row, stream);
}

class RowCarry {
 public:
  /// For parts of that width. Allocates; the device is current.
  RowCarry(const Work& work, std::int64_t width, Stream stream);

  /// What the next part takes over: nothing of the first, whose carries have no memory.
  std::vector<Carry> take() const;
  /// Queued behind the part's step.
  void hand_on(const std::vector<View>& outputs, Stream stream);

 private:
  const Work& work_;
  std::int64_t width_;
  std::vector<Memory> above_;
  bool is_first_ = true;
};

}  // namespace areal::pieces
