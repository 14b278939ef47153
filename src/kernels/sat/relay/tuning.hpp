#pragma once
// Types and tuning of relay.

#include <cstddef>
#include <cstdint>

namespace areal::kernels {

/// One configuration of the kernel. `aligned`: the table's rows are aligned to 16 bytes. `unit_rows`: rows of a unit,
/// 32 or 64. Measured on one H200, 2026-11: docs/notes/cuda-sat.md.
template <class T_, bool aligned_, int unit_rows_, bool reverse_>
struct RelayConfig {
  using T = T_;
  static constexpr bool aligned = aligned_, reverse = reverse_;
  static constexpr int unit_rows = unit_rows_;
  static constexpr int band = 4;                 ///< units one below the other whose columns are carried together
  static constexpr int slots = 832 / unit_rows;  ///< units in the ring
  static constexpr int summers = unit_rows == 64 && aligned ? 3 : 2;     ///< warps
  static constexpr int writers = unit_rows == 32 ? 8 : aligned ? 7 : 9;  ///< warps
  static constexpr int columns_carriers = 14 - summers - writers;  ///< warps that take turns along the bands of a strip
  static constexpr int together = aligned ? 8 : 4;                 ///< rows that a writer scans together
  /// Adjacent units whose rows' sums are loaded at once, also for shorter rows of units.
  static constexpr int units_at_once = 16, few_units = 4;
};

/// From this many pixels on, of all images, units have 64 rows: fewer words are published.
inline constexpr std::int64_t relay_high_units_from = 48'000'000;

}  // namespace areal::kernels
