// Means of floats by a walk of 8 rows a step: compared bit for bit with the definition, then timed beside a copy.
//
//   nvcc -O3 -std=c++20 -arch=sm_90 -o block_means main.cu -lcuda
#include "ring.cuh"

int main() {
  Bench bench;
  // Rows by bulk tensor copies, and by cp.async of 16 bytes.
  const std::vector<Variant> variants{
      ring_variant<3, 3, 1, 4, 1, 2>(-2, true),   ring_variant<7, 7, 1, 4, 1, 2>(-2, true),
      ring_variant<15, 15, 1, 4, 1, 2>(-2, true), ring_variant<15, 15, 1, 4, 1, 2, 0, 1>(-2, true),
      ring_variant<31, 31, 1, 3, 1, 1>(-2, true), ring_variant<63, 63, 1, 2, 1, 1>(-2, true)};
  for (int kind = 0; kind < 4; ++kind) bench.check(variants, 1000, 777, kind);
  bench.check(variants, 8192, 8192, 0);
  bench.time(variants, 8192, 8192, 20);
  bench.time(variants, 4096, 4096, 20);
}
