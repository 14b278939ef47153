// The compact store of 32 bins built in one launch: compared byte for byte with a reference, then timed beside a floor.
//
//   nvcc -O3 -std=c++20 -arch=sm_90 -o compact_build main.cu
#include "bench.cuh"
#include "one_launch.cuh"

int main() {
  Bench bench;
  bench.variants.push_back({"one launch", s5b::launch<8, 4, 3, true, false, 1>});
  bench.variants.push_back({"without anchors", s5b::launch<8, 4, 3, true, false, 1, false>, false});
  for (auto [width, height] :
       {std::pair{1, 1}, {37, 29}, {128, 128}, {144, 100}, {640, 480}, {1921, 1083}, {33, 700}, {4500, 40}})
    for (int kind : {0, 1})
      for (int bins : {32, 20, 16}) bench.run(width, height, bins, kind, 0, false);
  bench.run(3840, 2160, 32, 0, 40, false);
  bench.run(3840, 2160, 32, 0, 20, true);
  bench.run(1920, 1080, 32, 0, 40, false);
  bench.run(4096, 4096, 32, 0, 20, false);
  bench.run(8192, 8192, 32, 0, 15, false);
}
