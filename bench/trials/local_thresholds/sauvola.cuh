#pragma once
// What both structures have: the arguments of the decision, instructions, squares of four bytes, and how far a pixel
// lies above its threshold.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>
#include "products.cuh"

struct Args {
  const uint8_t* in;
  uint8_t* out;
  int width, height, win_w, win_h, margin, before, rows_before;
  int strips, segments, segment_rows;
  // decision
  int n;
  float mean, cross, shift, bound;     // apart's scale
  float centre, by_low, by_high;       // of f1, of n A, of n 256 B
  float imean, icross, ifrom, ibound;  // in whole numbers
  double k, r, offset;
  uint32_t above, below;
  uint32_t least_word;  // for chain.cu, 1 if a pixel of 0 is never above its threshold: four such pixels need no check
};
__device__ unsigned long long doubts;

__device__ __forceinline__ uint32_t smem_addr(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void cp16(uint32_t to, const void* from, bool ok) {
  int n = ok ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(n) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int n>
__device__ __forceinline__ void wait_cp() {
  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}
__device__ __forceinline__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ uint64_t desc(uint32_t addr, uint32_t lbo, uint32_t sbo, uint32_t swizzle = 0) {
  return (uint64_t)((addr & 0x3ffff) >> 4) | (uint64_t)(lbo >> 4) << 16 | (uint64_t)(sbo >> 4) << 32 |
         (uint64_t)swizzle << 62;
}
__device__ __forceinline__ void wg_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wg_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int n>
__device__ __forceinline__ void wg_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory");
}
__device__ __forceinline__ void bar_init(uint32_t b, int n) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(b), "r"(n) : "memory");
}
__device__ __forceinline__ void bar_arrive(uint32_t b) {
  asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(b) : "memory");
}
__device__ __forceinline__ uint32_t band4(int first, int size, int place) {
  auto before = [](int n) { return n <= 0 ? 0u : n >= 4 ? ~0u : (1u << 8 * n) - 1; };
  return 0x01010101u & (before(first + size - place) & ~before(first - place));
}
__device__ __forceinline__ uint4 lds128(uint32_t at) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(at)
               : "memory");
  return v;
}
__device__ __forceinline__ void sts128(uint32_t at, uint32_t x, uint32_t y, uint32_t z, uint32_t w) {
  asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(at), "r"(x), "r"(y), "r"(z), "r"(w) : "memory");
}
__device__ __forceinline__ void sts64(uint32_t at, uint32_t x, uint32_t y) {
  asm volatile("st.shared.v2.u32 [%0], {%1,%2};" ::"r"(at), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ float root_estimate(float x) {
  float r;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
__device__ __forceinline__ uint32_t prmt(uint32_t a, uint32_t b, uint32_t s) {
  uint32_t r;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(s));
  return r;
}
__device__ __forceinline__ __half2 h2(uint32_t x) { return *reinterpret_cast<__half2*>(&x); }
__device__ __forceinline__ uint32_t u2(__half2 x) { return *reinterpret_cast<uint32_t*>(&x); }

// (p - 128)^2 = 128 f + g of four bytes; f in 0 .. 128, g in -64 .. 64.
__device__ __forceinline__ void squares4(uint32_t word, uint32_t& f, uint32_t& g) {
  uint32_t fs[2], gs[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const __half2 x = h2(prmt(word, 0x64646464, i ? 0x4342 : 0x4140));  // 1024 + p
    const __half2 w = __hfma2(x, h2(0x2c002c00), h2(0xd480d480));       // x / 16 - 72
    const __half2 a = __hfma2(w, w, h2(0x60006000));                    // 512 + f / 2
    const __half2 u = __hsub2(h2(0x600c600c), a);                       // 518 - a
    fs[i] = u2(a), gs[i] = u2(__hfma2(w, w, u));                        // 6 + g / 256
  }
  f = prmt(fs[0], fs[1], 0x6420), g = prmt(gs[0], gs[1], 0x6420);
}

__device__ __forceinline__ float float_apart(const Args& a, uint32_t sum, uint32_t high, uint32_t low, uint32_t p,
                                             int b) {
  const float s1 = __uint_as_float(sum), hi = __uint_as_float(high), lo = __uint_as_float(low);  // denormal
  const float c = __fmaf_rn(s1, 0x1p127f, a.centre);
  const float u = __fmul_rn(c, c), r = __fmaf_rn(c, c, -u);
  const float v = __fsub_rn(__fmaf_rn(lo, a.by_low, __fmaf_rn(hi, a.by_high, -u)), r);
  const float root = root_estimate(fabsf(v));
  const float pixel = __uint_as_float(prmt(p, 0, 0x4440 + b));
  return __fmaf_rn(s1, __fmaf_rn(a.cross, root, a.mean), __fmaf_rn(pixel, -0x1p109f, a.shift));
}
