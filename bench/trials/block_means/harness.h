#pragma once
// Harness: reference by the definition, copy floor, timing of variants in random order.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>
#define CHECK(x)                                                        \
  do {                                                                  \
    cudaError_t e_ = (x);                                               \
    if (e_ != cudaSuccess) {                                            \
      printf("%s: %s line %d\n", #x, cudaGetErrorString(e_), __LINE__); \
      exit(1);                                                          \
    }                                                                   \
  } while (0)

struct Job {
  const float* in;
  float* out;
  int w, h;
};

__device__ inline double pick(const double* a, const float* f, long i) { return a ? a[i] : double(f[i]); }
// One axis by the definition; stride between positions; n positions; position outside: 0.
template <class Get>
__device__ double by_definition(int start, int k, const Get& get) {
  const int first = start >> 3, last = (start + k - 1) >> 3;
  if (first == last) {
    double s = get(start);
    for (int i = 1; i < k; ++i) s = s + get(start + i);
    return s;
  }
  double s = get(first * 8 + 7);
  for (int i = first * 8 + 6; i >= start; --i) s = s + get(i);
  double w = 0;
  for (int b = first + 1; b < last; ++b) {
    double t = get(b * 8);
    for (int i = 1; i < 8; ++i) t = t + get(b * 8 + i);
    w = w + t;
  }
  double p = get(last * 8);
  for (int i = last * 8 + 1; i < start + k; ++i) p = p + get(i);
  return (s + w) + p;
}
__global__ void ref_columns(const float* in, double* v, int w, int h, int kr, int br) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= w) return;
  v[long(y) * w + x] =
      by_definition(y - br, kr, [&](int i) { return i < 0 || i >= h ? 0. : double(in[long(i) * w + x]); });
}
__global__ void ref_rows(const double* v, float* out, int w, int h, int kc, int bc, double n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= w) return;
  double s = by_definition(x - bc, kc, [&](int i) { return i < 0 || i >= w ? 0. : v[long(y) * w + i]; });
  out[long(y) * w + x] = float(s == 0 ? s : s / n);
}
__global__ void compare(const uint32_t* a, const uint32_t* b, long n, unsigned long long* bad) {
  for (long i = blockIdx.x * long(blockDim.x) + threadIdx.x; i < n; i += long(gridDim.x) * blockDim.x) {
    uint32_t p = a[i], q = b[i];
    bool nan = (p & 0x7fffffff) > 0x7f800000 && (q & 0x7fffffff) > 0x7f800000;
    if (p != q && !nan) {
      atomicAdd(bad, 1ull);
      atomicMin(bad + 1, (unsigned long long)i);
    }
  }
}
__global__ void fill_random(float* p, long n, uint32_t seed, int kind) {
  for (long i = blockIdx.x * long(blockDim.x) + threadIdx.x; i < n; i += long(gridDim.x) * blockDim.x) {
    uint64_t z = (i + seed * 0x9E3779B97F4A7C15ull) * 0xBF58476D1CE4E5B9ull;
    z ^= z >> 31;
    z *= 0x94D049BB133111EBull;
    z ^= z >> 29;
    z *= 0xBF58476D1CE4E5B9ull;
    z ^= z >> 32;
    uint32_t m = z & 0x807fffff, e = 127 - 20 + ((z >> 32) % 41), r = (z >> 40) & 0xffff;
    if (kind == 1) {  // extremes: infinities, NaN, zeros of both signs, denormals, any exponent
      e = (z >> 32) % 254 + 1;
      if (r < 20) {
        m &= 0x80000000, e = 255;
      } else if (r < 30) {
        m |= 1, e = 255;
      } else if (r < 9000)
        e = 0;
      else if (r < 14000)
        m &= 0x80000000, e = 0;
    }
    if (kind == 2) {
      m = 0x80000000;
      e = 0;
      if (r < 20) m = 0;
    }  // nearly all -0
    if (kind == 3) {
      e = 0;
      m &= 0x800000ff;
    }  // denormals alone
    p[i] = __uint_as_float(m | e << 23);
  }
}
__global__ void copy_kernel(const float4* a, float4* b, long n) {
  long i = blockIdx.x * long(blockDim.x) * 4 + threadIdx.x;
  float4 v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (i + k * blockDim.x < n) v[k] = a[i + k * blockDim.x];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (i + k * blockDim.x < n) __stcs(b + i + k * blockDim.x, v[k]);
}
inline void copy_job(const Job& j) {
  long n = long(j.w) * j.h / 4;
  copy_kernel<<<(n + 1023) / 1024, 256>>>((const float4*)j.in, (float4*)j.out, n);
}

struct Variant {
  std::string name;
  int kr, kc;
  std::function<void(const Job&)> run;
};

inline void reference(const Job& j, double* v, float* out, int kr, int kc) {
  dim3 g((j.w + 255) / 256, j.h);
  ref_columns<<<g, 256>>>(j.in, v, j.w, j.h, kr, kr / 2);
  ref_rows<<<g, 256>>>(v, out, j.w, j.h, kc, kc / 2, double(kr) * kc);
  CHECK(cudaDeviceSynchronize());
}
inline int sms() {
  static int n = [] {
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    return p.multiProcessorCount;
  }();
  return n;
}

struct Bench {
  float *in, *out, *ref;
  double* v;
  unsigned long long* bad;
  static constexpr long most = 8192l * 8192;
  Bench() {
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("%s, %d SMs, L2 %d MB\n", p.name, p.multiProcessorCount, int(p.l2CacheSize >> 20));
    CHECK(cudaMalloc(&in, most * 4));
    CHECK(cudaMalloc(&out, most * 4));
    CHECK(cudaMalloc(&ref, most * 4));
    CHECK(cudaMalloc(&v, most * 8));
    CHECK(cudaMalloc(&bad, 16));
  }
  // returns bad count
  std::vector<char> check(const std::vector<Variant>& vs, int w, int h, int kind) {
    std::vector<char> ok(vs.size(), 1);
    fill_random<<<2048, 256>>>(in, long(w) * h, 7 + kind, kind);
    int kr = -1, kc = -1;
    for (size_t i = 0; i < vs.size(); ++i) {
      Job j{in, out, w, h};
      if (vs[i].kr != kr || vs[i].kc != kc) {
        kr = vs[i].kr, kc = vs[i].kc;
        reference(j, v, ref, kr, kc);
      }
      CHECK(cudaMemset(out, 0x55, long(w) * h * 4));
      unsigned long long b[2] = {0, ~0ull};
      CHECK(cudaMemcpy(bad, b, 16, cudaMemcpyHostToDevice));
      vs[i].run(j);
      cudaError_t e = cudaDeviceSynchronize();
      if (e != cudaSuccess) {
        printf("FAILED %s: %s\n", vs[i].name.c_str(), cudaGetErrorString(e));
        exit(1);
      }
      compare<<<2048, 256>>>((uint32_t*)out, (uint32_t*)ref, long(w) * h, bad);
      CHECK(cudaMemcpy(b, bad, 16, cudaMemcpyDeviceToHost));
      if (b[0]) {
        ok[i] = 0;
        printf("WRONG %s %dx%d kind %d: %llu, first at y %llu x %llu\n", vs[i].name.c_str(), w, h, kind, b[0], b[1] / w,
               b[1] % w);
      }
    }
    return ok;
  }
  void time(const std::vector<Variant>& vs, int w, int h, int rounds) {
    fill_random<<<2048, 256>>>(in, long(w) * h, 3, 0);
    Job j{in, out, w, h};
    std::vector<std::vector<float>> t(vs.size() + 1);
    cudaEvent_t a, b;
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreate(&b));
    std::mt19937 g(1);
    std::vector<int> order(vs.size() + 1);
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (int r = 0; r < rounds + 2; ++r) {
      std::shuffle(order.begin(), order.end(), g);
      for (int i : order) {
        CHECK(cudaEventRecord(a));
        i == (int)vs.size() ? copy_job(j) : vs[i].run(j);
        CHECK(cudaEventRecord(b));
        CHECK(cudaEventSynchronize(b));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, a, b));
        if (r >= 2) t[i].push_back(ms * 1000);
      }
    }
    for (auto& x : t) std::sort(x.begin(), x.end());
    float copy = t.back()[t.back().size() / 2];
    printf("%dx%d copy %.1f us (min %.1f)\n", w, h, copy, t.back()[0]);
    for (size_t i = 0; i < vs.size(); ++i) {
      float m = t[i][t[i].size() / 2];
      printf("  %-34s %7.1f (min %7.1f)  %.3f\n", vs[i].name.c_str(), m, t[i][0], copy / m);
    }
  }
};
