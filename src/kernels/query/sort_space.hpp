#pragma once
// The workspace of a sort of regions' corners.

#include <cstddef>
#include <cstdint>
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

inline constexpr int sort_digits = 256;  ///< and threads of a block, and the most blocks

struct SortSpace {
  std::uint32_t* corners[2] = {};
  std::uint32_t *counts = nullptr, *totals = nullptr;

  SortSpace(Workspace& from, std::int64_t corners_count) {
    from.take(corners[0], corners_count);
    from.take(corners[1], corners_count);
    from.take(counts, std::int64_t{sort_digits} * sort_digits);
    from.take(totals, sort_digits);
  }
  static std::size_t bytes(std::int64_t corners_count) {
    Workspace nowhere(nullptr);
    const SortSpace space(nowhere, corners_count);
    return nowhere.bytes();
  }
};

}  // namespace areal::kernels
