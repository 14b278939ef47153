#pragma once
/// \file sat_table.hpp SatTable: the tables of an image, a batch or a volume, owned.

#include <areal/border.hpp>
#include <areal/execution.hpp>
#include <areal/table.hpp>
#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <memory>

namespace areal {

/// The tables that one execute gives, in host memory or on a device, with all that says what they are. Made by
/// `areal::sat` and by `SatPlan::allocate`. Moves, does not copy: see `copy_to`. What was moved from is empty.
class SatTable {
 public:
  SatTable() noexcept;
  ~SatTable();
  SatTable(SatTable&&) noexcept;
  SatTable& operator=(SatTable&&) noexcept;

  /// \name All channels and images of one table. A view without memory where the table was not asked for. O(1).
  ///@{
  View sum() noexcept;
  ConstView sum() const noexcept;
  View squares() noexcept;
  ConstView squares() const noexcept;
  View tilted() noexcept;
  ConstView tilted() const noexcept;
  View count() noexcept;  ///< of valid pixels: one channel
  ConstView count() const noexcept;
  ///@}

  /// What queries read of one channel of one image. O(1). Throws InvalidArgument for a channel or image that is not
  /// there, for channels that are interleaved, for a volume, whose sums `box_sums` reads in `sum()`, for a reversed
  /// table of another border than `zero` (in that border, the same four corners give a region's sum), and for a table
  /// that was moved from.
  SatView view(std::int64_t channel = 0, std::int64_t image = 0) const;
  /// Of one channel and one image. Throws InvalidArgument where there are several.
  operator SatView() const;  // NOLINT: implicit on purpose

  Border border() const noexcept;
  TypePair types() const noexcept;
  MemoryPlace memory() const noexcept;
  const Shape& image_shape() const noexcept;  ///< of the images, not of the tables
  bool is_volume() const noexcept;            ///< the batch is the depth of one volume
  bool is_reversed() const noexcept;          ///< see SatOptions::reverse

  /// The same tables in other memory, or once more in the same. O(bytes). It follows what was queued on the stream of
  /// the Execution, on the legacy default stream where that names none. A copy to the host is complete on return; one
  /// to a device is queued where a stream is named. Throws Unavailable where there is no such device, OutOfMemory with
  /// the bytes.
  SatTable copy_to(MemoryPlace place, const Execution& execution = {}) const;
  /// The same tables in another border, and in the same memory. O(H W), for tables on a device by way of the host; done
  /// on return. From `exclusive`, which lacks the last row and column, it takes the image, of one channel or planar;
  /// it throws InvalidArgument without one, and where there are squares or counts, which an image alone cannot
  /// complete. Throws InvalidArgument for a volume, a reversed table and interleaved channels, too.
  SatTable with_border(Border border, const ConstView& image = {}, const Execution& execution = {}) const;

  struct State;  // of the library
  explicit SatTable(std::unique_ptr<State> state) noexcept;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace areal
