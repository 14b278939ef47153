#pragma once
// Columns shared by threads, in blocks whose sums stay in the first cache.

#include <algorithm>
#include <areal/info.hpp>
#include <cstdint>
#include <thread>
#include <vector>

namespace areal::mpi {

/// f(first, count) for blocks of [0, all) of at most `block` columns, on `threads` threads; 0: all. Throws only if f
/// does, or if the system provides no threads.
template <class F>
void in_column_blocks(std::int64_t all, std::int64_t block, int threads, const F& f) {
  const std::int64_t blocks = (all + block - 1) / block;
  const auto workers = std::min<std::int64_t>(threads > 0 ? threads : default_threads(), blocks);
  const auto work = [&](std::int64_t worker) {
    for (std::int64_t b = worker; b < blocks; b += workers) f(b * block, std::min(block, all - b * block));
  };
  std::vector<std::jthread> others;
  for (std::int64_t worker = 1; worker < workers; ++worker) others.emplace_back(work, worker);
  if (workers > 0) work(0);
}

}  // namespace areal::mpi
