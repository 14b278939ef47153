#pragma once
// p threads for the parallel loops of Nakano 2013: thread j does the indices j, j + p, j + 2p, ..

#include <algorithm>
#include <cstdint>
#include "kernels/primitives/line/plus.hpp"
#include "kernels/primitives/matrix.hpp"

namespace areal::kernels {

/// Elements that are read, sums, the operator (associative; it need not commute), and threads of a block.
template <class In_, class T_, class Op_ = Plus, int threads_ = 256>
struct LineConfig {
  using In = In_;
  using T = T_;
  using Op = Op_;
  static constexpr int threads = threads_;
};

/// Blocks for that many indices: p threads in whole blocks, or if p is 0, and at most, a thread for each index.
constexpr std::int64_t blocks_for(std::int64_t indices, std::int64_t p, int a_block) {
  const std::int64_t all = blocks_of(indices, a_block);
  return p > 0 ? std::min(all, blocks_of(p, a_block)) : all;
}

/// f(index) for this thread's indices, those of the whole grid being `first` to `last` - 1.
template <int threads, class M, class F>
AREAL_DEVICE void each_index(const M& m, std::int64_t first, std::int64_t last, const F& f) {
  for (std::int64_t i = first + m.block() * threads + m.thread(); i < last; i += m.blocks() * threads) f(i);
}

}  // namespace areal::kernels
