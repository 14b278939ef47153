#pragma once
// Types and tuning of relay.

#include <cstddef>
#include <cstdint>

namespace areal::kernels {

/// What one configuration of the kernel is made of. `aligned`: the table's rows begin at multiples of 16 bytes.
/// Of one H200, 2026-11: docs/notes/cuda-sat.md.
template <class T_, bool aligned_>
struct RelayConfig {
  using T = T_;
  static constexpr bool aligned = aligned_;
  static constexpr int unit_rows = 64;            ///< of a unit: 32 or 64
  static constexpr int band = 4;                  ///< units one below the other whose columns are handed down together
  static constexpr int slots = 13;                ///< units in the ring
  static constexpr int summers = 2, writers = 8;  ///< warps
  static constexpr int columns_carriers = 4;      ///< warps that take turns along the bands of a strip
  static constexpr int together = aligned ? 8 : 4;  ///< rows that a writer scans together
  static constexpr int words_in_flight = 16;        ///< units of a row whose sums are loaded at once
};

}  // namespace areal::kernels
