#pragma once
/// \file sat_table.hpp SatTable: the owned tables of an image, a batch or a volume.

#include <areal/border.hpp>
#include <areal/execution.hpp>
#include <areal/table.hpp>
#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <memory>

namespace areal {

/// The tables of one execute, in host memory or on a device, with their description. Made by `areal::sat` and by
/// `SatPlan::allocate`. Move-only: see `copy_to`. A moved-from table is empty.
class SatTable {
 public:
  SatTable() noexcept;
  ~SatTable();
  SatTable(SatTable&&) noexcept;
  SatTable& operator=(SatTable&&) noexcept;

  /// \name All channels and images of one table. Empty if the table was not requested. O(1).
  /// @{
  View sum() noexcept;
  ConstView sum() const noexcept;
  View squares() noexcept;
  ConstView squares() const noexcept;
  View tilted() noexcept;
  ConstView tilted() const noexcept;
  View count() noexcept;  ///< of valid pixels: one channel
  ConstView count() const noexcept;
  ///@}

  /// One channel of one image, for queries. O(1). Throws InvalidArgument for a channel or image out of range, for
  /// interleaved channels, for a volume (box_sums reads its `sum()`), for a reversed table with another border than
  /// `zero` (with `zero` the same four corners give a region's sum), and for a moved-from table.
  SatView view(std::int64_t channel = 0, std::int64_t image = 0) const;
  /// The only channel of the only image. Throws InvalidArgument if there are several.
  operator SatView() const;  // NOLINT: implicit on purpose

  Border border() const noexcept;
  TypePair types() const noexcept;
  MemoryPlace memory() const noexcept;
  const Shape& image_shape() const noexcept;  ///< of the images, not of the tables
  bool is_volume() const noexcept;            ///< the batch is the depth of one volume
  bool is_reversed() const noexcept;          ///< see SatOptions::reverse

  /// Copies the tables to other memory, or again in the same. O(bytes). The copy follows the work queued on the
  /// Execution's stream, by default the legacy default stream. A copy to the host is complete on return; one to a
  /// device is queued if a stream is given. Throws Unavailable without such a device; OutOfMemory with the bytes.
  SatTable copy_to(MemoryPlace place, const Execution& execution = {}) const;
  /// The same tables with another border, in the same memory, complete on return. O(H W); a device's tables are
  /// converted on the host. `exclusive` lacks the last row and column: from it, `image` is needed, with one channel or
  /// planar.
  /// Throws InvalidArgument from `exclusive` without an image, or with squares or counts, which an image alone cannot
  /// complete; for a volume, a reversed table and interleaved channels.
  SatTable with_border(Border border, const ConstView& image = {}, const Execution& execution = {}) const;

  struct State;  // of the library
  explicit SatTable(std::unique_ptr<State> state) noexcept;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace areal
