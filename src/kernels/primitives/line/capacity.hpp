#pragma once
// The elements of a line that a block of Lee and Choe's four holds (blocked_prescan.hpp).

#include <cstddef>

namespace areal::kernels {

inline constexpr int most_line_threads = 1024;  ///< of a block

/// Elements of a thread: two, or as many as 48 KiB of shared memory hold; `bytes` is the size of a sum.
constexpr int elements_a_thread(bool several, std::size_t bytes) { return several ? 32 / static_cast<int>(bytes) : 2; }

}  // namespace areal::kernels
