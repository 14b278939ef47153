// The micro-benchmarks of Chen 2018 (V-A) that its model (bench/papers/model_chen.hpp) needs for a device:
// latencies of a shared access, a shuffle, an addition and an and, in clocks; their throughputs, in lanes a clock of an
// SM; the bandwidth of shared memory; and the resources of an SM. `areal model chen --latencies` reads it.
//
//   bench/areal_latencies [DEVICE]     one JSON object
//
// Latency: one warp, where each operation waits for the one before. Throughput: one block of 1024 threads with four
// chains each. Additions are of floats, because ptxas merges two successive integer additions. Ands are of three
// values, which use the same instruction as an and of two, with changing operands so that no two merge.

#include <cuda_runtime.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "latencies: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

constexpr int warp = 32, most_threads = 1024, chains = 4, unrolled = 32, rounds = 64;

/// Operands that the compiler does not know.
struct Operands {
  unsigned a, b, c, d;
};

struct Add {
  static __device__ __forceinline__ void step(unsigned& x, const Operands& o, int) {
    asm volatile("{ .reg .f32 f, g; mov.b32 f, %0; mov.b32 g, %1; add.f32 f, f, g; mov.b32 %0, f; }"
                 : "+r"(x)
                 : "r"(o.a));
  }
};
struct And {
  static __device__ __forceinline__ void step(unsigned& x, const Operands& o, int i) {
    if (i % 2 == 0)
      asm volatile("lop3.b32 %0, %0, %1, %2, 0x80;" : "+r"(x) : "r"(o.a), "r"(o.b));
    else
      asm volatile("lop3.b32 %0, %0, %1, %2, 0x80;" : "+r"(x) : "r"(o.c), "r"(o.d));
  }
};
struct Shuffle {
  static __device__ __forceinline__ void step(unsigned& x, const Operands& o, int) {
    asm volatile("shfl.sync.up.b32 %0, %0, %1, 0, 0xffffffff;" : "+r"(x) : "r"(o.b));
  }
};

template <class Op, int n>
__device__ __forceinline__ void run_chains(unsigned (&x)[n], const Operands& o) {
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < unrolled; ++i)
#pragma unroll
      for (int chain = 0; chain < n; ++chain) Op::step(x[chain], o, i);
  }
}

/// Records when each thread began and ended; `result` keeps the work from being removed.
class Watch {
 public:
  __device__ explicit Watch(long long* clocks) : clocks_(clocks) {
    __syncthreads();
    begin_ = clock64();
  }
  __device__ void stop(unsigned result, unsigned* sink) {
    const long long end = clock64();
    sink[threadIdx.x] = result;
    clocks_[threadIdx.x] = begin_;
    clocks_[most_threads + threadIdx.x] = end;
  }

 private:
  long long* clocks_;
  long long begin_;
};

template <class Op, int n>
__global__ void __launch_bounds__(most_threads) operations(Operands o, long long* clocks, unsigned* sink) {
  unsigned x[n];  // different in each lane: the compiler would remove shuffles of equal values
#pragma unroll
  for (int chain = 0; chain < n; ++chain) x[chain] = o.c + threadIdx.x * n + static_cast<unsigned>(chain);
  Watch watch(clocks);
  run_chains<Op>(x, o);
  unsigned all = 0;
#pragma unroll
  for (int chain = 0; chain < n; ++chain) all ^= x[chain];
  watch.stop(all, sink);
}

/// Each load's address is the result of the one before.
__global__ void shared_chase(long long* clocks, unsigned* sink) {
  __shared__ unsigned next[warp * 2];
  const unsigned first = static_cast<unsigned>(__cvta_generic_to_shared(next));
  for (unsigned i = threadIdx.x; i < warp * 2; i += warp) next[i] = first + (i + warp) % (warp * 2) * 4;
  unsigned at = first + threadIdx.x * 4;
  Watch watch(clocks);
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < unrolled; ++i) asm volatile("ld.volatile.shared.u32 %0, [%0];" : "+r"(at));
  }
  watch.stop(at, sink);
}

/// Independent loads of 16 bytes.
__global__ void __launch_bounds__(most_threads) shared_stream(long long* clocks, unsigned* sink) {
  __shared__ uint4 cells[most_threads];
  cells[threadIdx.x] = uint4{threadIdx.x, 0, 0, 0};
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&cells[threadIdx.x]));
  unsigned x = 0, y = 0, z = 0, w = 0;
  Watch watch(clocks);
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < unrolled; ++i)
      asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(at));
  }
  watch.stop(x ^ y ^ z ^ w, sink);
}

/// The shortest of several runs, in clocks.
class Stopwatch {
 public:
  Stopwatch() {
    check(cudaMalloc(&clocks_, 2 * most_threads * sizeof(long long)), "memory");
    check(cudaMalloc(&sink_, most_threads * sizeof(unsigned)), "memory");
  }
  ~Stopwatch() { cudaFree(clocks_), cudaFree(sink_); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  template <class Launch>
  double clocks(int threads, const Launch& launch) {
    long long shortest = 0;
    for (int run = 0; run < 10; ++run) {
      launch(clocks_, sink_);
      check(cudaGetLastError(), "launch");
      check(cudaMemcpy(seen_.data(), clocks_, sizeof seen_, cudaMemcpyDeviceToHost), "run");
      const long long begin = *std::min_element(seen_.begin(), seen_.begin() + threads);
      const long long end = *std::max_element(seen_.begin() + most_threads, seen_.begin() + most_threads + threads);
      if (run == 0 || end - begin < shortest) shortest = end - begin;
    }
    return static_cast<double>(shortest);
  }

 private:
  long long* clocks_ = nullptr;
  unsigned* sink_ = nullptr;
  std::array<long long, 2 * most_threads> seen_{};
};

// 1 as a float, the distance of a shuffle, and masks.
constexpr Operands operands{0x3f800000u, 1u, 0x3f800000u, 0xffffffffu};

template <class Op>
double latency(Stopwatch& watch) {
  return watch.clocks(warp, [](long long* clocks, unsigned* sink) {
    operations<Op, 1><<<1, warp>>>(operands, clocks, sink);
  }) / (unrolled * rounds);
}
template <class Op>
double throughput(Stopwatch& watch) {
  const double clocks = watch.clocks(most_threads, [](long long* at, unsigned* sink) {
    operations<Op, chains><<<1, most_threads>>>(operands, at, sink);
  });
  return double{most_threads} * chains * unrolled * rounds / clocks;
}

}  // namespace

int main(int count, char** arguments) {
  const int device = count > 1 ? std::atoi(arguments[1]) : 0;
  cudaDeviceProp properties;
  int kilohertz = 0;
  check(cudaSetDevice(device), "device");
  check(cudaGetDeviceProperties(&properties, device), "device");
  check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device), "clock");

  Stopwatch watch;
  const double shared_latency = watch.clocks(warp, [](long long* clocks, unsigned* sink) {
    shared_chase<<<1, warp>>>(clocks, sink);
  }) / (unrolled * rounds);
  const double stream = watch.clocks(
      most_threads, [](long long* clocks, unsigned* sink) { shared_stream<<<1, most_threads>>>(clocks, sink); });
  const double bytes_per_clock = 16.0 * most_threads * unrolled * rounds / stream;
  std::printf(
      "{\"device\": \"%s\", \"sms\": %d, \"clock_ghz\": %.3f,\n"
      " \"of_sm\": {\"registers\": %d, \"shared_bytes\": %zu, \"blocks\": %d},\n"
      " \"latency_clocks\": {\"shared\": %.1f, \"shuffle\": %.1f, \"add\": %.1f, \"and\": %.1f},\n"
      " \"lanes_per_clock\": {\"shuffle\": %.1f, \"add\": %.1f, \"and\": %.1f},\n"
      " \"shared_bytes_per_clock\": %.1f, \"shared_gb_per_s\": %.0f}\n",
      properties.name, properties.multiProcessorCount, kilohertz * 1e-6, properties.regsPerMultiprocessor,
      properties.sharedMemPerMultiprocessor, properties.maxBlocksPerMultiProcessor, shared_latency,
      latency<Shuffle>(watch), latency<Add>(watch), latency<And>(watch), throughput<Shuffle>(watch),
      throughput<Add>(watch), throughput<And>(watch), bytes_per_clock,
      bytes_per_clock * properties.multiProcessorCount * kilohertz * 1e-6);
}
