#pragma once
// Races on a GPU, and transfer times of its link: see bench/harness/race.hpp.

#include "bench/protocol/cuda_bench.hpp"

namespace areal::bench {

void run_race(const CudaRace& race);
void run_link(const CudaLink& link);

}  // namespace areal::bench
