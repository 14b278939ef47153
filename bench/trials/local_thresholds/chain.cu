// Trial: which bytes are above Sauvola's local thresholds, by wgmma (sm_90a): row sums stay in registers as the A
// operand of the second product. THIS VERSION COMPILES BUT WAS NEVER RUN. An older version (run 4 of NOTES.md) ran with
// all outputs equal, 165 to 194 us; see there what changed.
//   nvcc -O3 -std=c++20 -gencode=arch=compute_90a,code=sm_90a -lineinfo -o chain chain.cu && ./chain
// Beyond the edge are zeros. See planes.cu for the algebra. Here D2 = packed accumulators of D1 [64 columns x K rows] x
// band [K rows x 64 rows of outputs]; a thread then holds 2 columns x 16 rows; ldmatrix.trans brings their pixels,
// stmatrix.trans their outputs into order. Loads by TMA.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>
// Trial: Sauvola's thresholds of bytes by wgmma. Edge: zeros beyond.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>
// ---------------------------------------------------------------- products of bytes (generated)
__device__ __forceinline__ void mma64(uint32_t (&d)[32], uint64_t a, uint64_t b, int scale) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%"
      "30,%31}, %32, %33, p;\n}\n"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
        "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]),
        "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]),
        "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31])
      : "l"(a), "l"(b), "r"(scale));
}
__device__ __forceinline__ void mma64s(uint32_t (&d)[32], uint64_t a, uint64_t b, int scale) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.s8 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%"
      "30,%31}, %32, %33, p;\n}\n"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
        "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]),
        "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]),
        "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31])
      : "l"(a), "l"(b), "r"(scale));
}
__device__ __forceinline__ void mma128(uint32_t (&d)[64], uint64_t a, uint64_t b, int scale) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.s32.u8.u8 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%"
      "30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%"
      "58,%59,%60,%61,%62,%63}, %64, %65, p;\n}\n"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
        "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]),
        "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]),
        "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]),
        "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]),
        "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]),
        "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), "+r"(d[56]),
        "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63])
      : "l"(a), "l"(b), "r"(scale));
}
__device__ __forceinline__ void mma64r(uint32_t (&d)[32], const uint32_t (&a)[4], uint64_t b, int scale) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%"
      "30,%31}, {%32,%33,%34,%35}, %36, p;\n}\n"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
        "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]),
        "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]),
        "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale));
}
__device__ __forceinline__ void mma64sr(uint32_t (&d)[32], const uint32_t (&a)[4], uint64_t b, int scale) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.s8 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%"
      "30,%31}, {%32,%33,%34,%35}, %36, p;\n}\n"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
        "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]),
        "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]),
        "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale));
}
__device__ __forceinline__ void mma128r(uint32_t (&d)[64], const uint32_t (&a)[4], uint64_t b, int scale) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.s32.u8.u8 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%"
      "30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%"
      "58,%59,%60,%61,%62,%63}, {%64,%65,%66,%67}, %68, p;\n}\n"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
        "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]),
        "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]),
        "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]),
        "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]),
        "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]),
        "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), "+r"(d[56]),
        "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale));
}

// ---------------------------------------------------------------- kernel

struct Args {
  const uint8_t* in;
  uint8_t* out;
  int width, height, win_w, win_h, margin, before, rows_before;
  int strips, segments, segment_rows;
  // decision
  int n;
  float mean, cross, shift, bound, rough_bound;  // apart's scale
  float centre, by_low, by_high;                 // of f1, of n A, of n 256 B
  float imean, icross, ifrom, ibound;            // in whole numbers
  double k, r, offset;
  uint32_t above, below;
  uint32_t
      least_word;  // 1: a pixel of 0 is never above its threshold, so that words of such pixels leave no doubt; else 0
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
__device__ __forceinline__ void bar_wait(uint32_t b, uint32_t parity) {
#pragma unroll 1
  for (int i = 0; i < 1 << 18; ++i) {
    uint32_t done;
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(b), "r"(parity)
                 : "memory");
    if (done) return;
  }
  __trap();
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

template <bool precise = true>
__device__ __forceinline__ float float_apart(const Args& a, uint32_t sum, uint32_t high, uint32_t low, uint32_t p,
                                             int b) {
  const float s1 = __uint_as_float(sum), hi = __uint_as_float(high), lo = __uint_as_float(low);  // denormal
  const float c = __fmaf_rn(s1, 0x1p127f, a.centre);
  const float u = __fmul_rn(c, c), r = __fmaf_rn(c, c, -u);
  const float rough = __fmaf_rn(lo, a.by_low, __fmaf_rn(hi, a.by_high, -u)), v = precise ? __fsub_rn(rough, r) : rough;
  const float root = root_estimate(fabsf(v));
  const float pixel = __uint_as_float(prmt(p, 0, 0x4440 + b));
  return __fmaf_rn(s1, __fmaf_rn(a.cross, root, a.mean), __fmaf_rn(pixel, -0x1p109f, a.shift));
}

__device__ __forceinline__ void tma2(uint32_t to, const CUtensorMap* map, int x, int y, uint32_t bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          to),
      "l"(map), "r"(x), "r"(y), "r"(bar)
      : "memory");
}
__device__ __forceinline__ void bar_expect(uint32_t b, int bytes) {
  asm volatile("{ .reg .b64 t; mbarrier.arrive.expect_tx.shared.b64 t, [%0], %1; }" ::"r"(b), "r"(bytes) : "memory");
}
template <int n>
__device__ __forceinline__ void named_sync(int id) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(n) : "memory");
}
template <int n>
__device__ __forceinline__ void named_arrive(int id) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(n) : "memory");
}

template <int K1, int K2, int SP, int NQ, int P>
struct Shape {
  static constexpr int G = 2, threads = 128 * G + 32 * P, columns = 64 * G, span = columns - 64 + 32 * K1;
  static constexpr int W1 = span - 128, swizzle1 = W1 == 64 ? 2 : 3;  // the second block's line
  static_assert(W1 == 32 || W1 == 64);
  static constexpr int skip = 128 - 32 * K2;  // rows of the chunk before a tile's that its windows do not need
  static constexpr int tile = 8192 + 64 * W1;
  static constexpr int off_q = SP * tile, off_o = off_q + 2 * NQ * tile, off_a1 = off_o + 4 * 64 * 80;
  static constexpr int off_a2 = off_a1 + 2 * 2048 * K1, off_bar = off_a2 + 2 * 2048 * K2,
                       bytes = off_bar + 24 * SP + 8 * NQ;
};
__device__ __forceinline__ void ldmatrix_t(uint32_t (&w)[4], uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
               : "r"(at)
               : "memory");
}
__device__ __forceinline__ void stmatrix_t(uint32_t at, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(at), "r"(a), "r"(b), "r"(c),
               "r"(d)
               : "memory");
}
// The outputs of a thread's 2 columns of 16 rows: byte 2 e + h of word j is that of accumulator 4 j + 2 h + e.
template <int dec>
__device__ __forceinline__ bool decide(const Args& a, const uint32_t (&s)[32], const uint32_t (&hi)[32],
                                       const uint32_t (&l)[32], const uint32_t (&p)[8], uint32_t (&out)[8]) {
  float least = 3e38f;
  __nv_bfloat162 less = __float2bfloat162_rn(3e38f);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    float apart[4];
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      const int i = 4 * j + 2 * (b % 2) + b / 2;
      apart[b] = float_apart(a, s[i], hi[i], l[i], p[j], b);
    }
    uint32_t above;
    if (dec == 0 && p[j] >= a.least_word)
      least = fminf(fminf(least, fminf(fabsf(apart[0]), fabsf(apart[1]))), fminf(fabsf(apart[2]), fabsf(apart[3])));
    if constexpr (dec == 1) {
      const __nv_bfloat162 one = __floats2bfloat162_rn(apart[0], apart[1]),
                           two = __floats2bfloat162_rn(apart[2], apart[3]);
      const __nv_bfloat162 both = __hmin2(__habs2(one), __habs2(two));
      if (p[j] >= a.least_word) less = __hmin2(less, both);
      above = prmt(*(const uint32_t*)&one, *(const uint32_t*)&two, 0xfdb9);
    } else {
      above = prmt(prmt(__float_as_uint(apart[0]), __float_as_uint(apart[1]), 0xfbfb),
                   prmt(__float_as_uint(apart[2]), __float_as_uint(apart[3]), 0xfbfb), 0x5410);
    }
    out[j] = (a.above & above) | (a.below & ~above);
  }
  if constexpr (dec == 1) least = fminf(__low2float(less), __high2float(less));
  return least < a.bound;
}
struct Doubtful {
  uint32_t sum[32], low[32], high[32], p[8], out[8];
};
// Outputs in double, of pixels that are in doubt. Windows of zeros have the threshold `shift`, exactly.
__device__ __noinline__ void exact(Doubtful& lane, const Args& a) {
  const double n = a.n;
  uint32_t which = 0;
#pragma unroll 4
  for (int i = 0; i < 32; ++i)
    if (lane.sum[i] != 0 &&
        fabsf(float_apart(a, lane.sum[i], lane.high[i], lane.low[i], lane.p[i / 4] >> i % 4 * 8, 0)) < a.bound)
      which |= 1u << i;
  if (which == 0) return;
  atomicAdd(&doubts, 1ull);
#pragma unroll 1
  for (uint32_t left = which; left != 0; left &= left - 1) {
    const int i = __ffs(left) - 1;
    const long long s1 = lane.sum[i], s2 = (long long)lane.low[i] + 256ll * lane.high[i], c = s1 - 128ll * a.n;
    const double top = (double)(a.n * s2 - c * c);
    const double mean = (double)s1 / n, root = sqrt(top / (n * n));
    const double t = __dsub_rn(__dmul_rn(mean, __dadd_rn(1, __dmul_rn(a.k, __dsub_rn(root / a.r, 1)))), a.offset);
    const uint32_t p = lane.p[i / 4] >> (i % 4 * 8) & 0xff, mask = 0xffu << i % 4 * 8;
    lane.out[i / 4] = (lane.out[i / 4] & ~mask) | (((double)p > t ? a.above : a.below) & mask);
  }
}
__device__ __forceinline__ void exactly(const Args& a, const uint32_t (&s)[32], const uint32_t (&hi)[32],
                                        const uint32_t (&l)[32], const uint32_t (&p)[8], uint32_t (&out)[8]) {
  Doubtful lane;
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const int at = 4 * (i / 4) + 2 * (i % 2) + i % 4 / 2;
    lane.sum[i] = s[at], lane.high[i] = hi[at], lane.low[i] = l[at];
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) lane.p[j] = p[j], lane.out[j] = out[j];
  exact(lane, a);
#pragma unroll
  for (int j = 0; j < 8; ++j) out[j] = lane.out[j];
}

// pp: 0: free; 2: decisions of the warpgroups in turn; 3: one begins later.
template <int K1, int K2, int SP, int NQ, int P, int early, int dec, int pp, int abl = 0>
__global__ void __launch_bounds__(256 + 32 * P, 1)
    sauvola(const __grid_constant__ Args a, const __grid_constant__ CUtensorMap map0,
            const __grid_constant__ CUtensorMap map1) {
  using K = Shape<K1, K2, SP, NQ, P>;
  constexpr int G = K::G;
  extern __shared__ __align__(1024) uint8_t shared[];
  const uint32_t base = smem_addr(shared);
  const int thread = threadIdx.x, lane = thread % 32, g = lane / 4, q = lane % 4;
  const int strip = blockIdx.x % a.strips, segment = blockIdx.x / a.strips;
  const int x0 = strip * K::columns, y0 = segment * a.segment_rows;
  const int rows = min(a.segment_rows, a.height - y0);
  const int left = x0 - a.margin, top = y0 - a.rows_before - K::skip;
  const int chunks = (rows + 63) / 64 + 1;
  const uint32_t ready = base + K::off_bar, empty = ready + 8 * SP, loaded = empty + 8 * SP, empty_q = loaded + 8 * SP;
  if (thread < SP) {
    bar_init(ready + 8 * thread, 32 * P);
    bar_init(empty + 8 * thread, 4 * G);
    bar_init(loaded + 8 * thread, 1);
  }
  if (thread < NQ) bar_init(empty_q + 8 * thread, 4 * G);
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  __syncthreads();
  if (thread >= 128 * G) {  // pixels and their squares
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(P == 4 ? 72 : 56));
    const int t = thread - 128 * G;
    int to_stage = 0, to_phase = 1, left_to_load = chunks, load_y = top;
    auto load = [&] {
      if (left_to_load-- <= 0) return;
      bar_wait(empty + 8 * to_stage, to_phase);  // the first SP of them wait for the phase before the first
      bar_expect(loaded + 8 * to_stage, K::tile);
      tma2(base + to_stage * K::tile, &map0, left, load_y, loaded + 8 * to_stage);
      tma2(base + to_stage * K::tile + 8192, &map1, left + 128, load_y, loaded + 8 * to_stage);
      load_y += 64;
      if (++to_stage == SP) to_stage = 0, to_phase ^= 1;
    };
    if (t == 0)
      for (int c = 0; c < early; ++c) load();
    int stage = 0, phase = 0, square = 0, square_phase = 1;
#pragma unroll 1
    for (int c = 0; c < chunks; ++c) {
      bar_wait(loaded + 8 * stage, phase);
      const uint32_t p = base + stage * K::tile + 16 * t, to = base + K::off_q + square * 2 * K::tile + 16 * t;
      bar_wait(empty_q + 8 * square, square_phase);
      constexpr int step = 512 * P, turns = (K::tile + step - 1) / step;
#pragma unroll
      for (int i = 0; i < turns; ++i) {
        if (abl & 1) break;
        if (K::tile % step != 0 && i == turns - 1 && 16 * t + i * step >= K::tile) break;
        const uint4 w = lds128(p + i * step);
        uint32_t f[4], s[4];
        squares4(w.x, f[0], s[0]), squares4(w.y, f[1], s[1]), squares4(w.z, f[2], s[2]), squares4(w.w, f[3], s[3]);
        sts128(to + i * step, f[0], f[1], f[2], f[3]);
        sts128(to + K::tile + i * step, s[0], s[1], s[2], s[3]);
      }
      proxy_fence();
      bar_arrive(ready + 8 * stage);
      if (++stage == SP) stage = 0, phase ^= 1;
      if (++square == NQ) square = 0, square_phase ^= 1;
      if (t == 0) load();
      __syncwarp();
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(P == 4 ? 216 : 200));
  for (int n = thread; n < 64 * 8 * K1; n += 128 * G) {
    const int m = n % 64, k = n / 64 * 4;
    const int column = 16 * (m / 16) + 2 * (m % 8) + m / 8 % 2, first = column + a.margin - a.before;
    const uint32_t ones = band4(first, a.win_w, k);
    uint8_t* const at = shared + K::off_a1 + (k / 16) * 1024 + m * 16 + k % 16;
    *(uint32_t*)at = ones, *(uint32_t*)(at + 2048 * K1) = ones << 7;
  }
  for (int n = thread; n < 64 * 8 * K2; n += 128 * G) {
    const int m = n % 64, k = n / 64 * 4, row = k / 16 * 16 + 2 * (k % 16 / 4);
    auto one = [&](int row) { return row >= m && row < m + a.win_h ? 1u : 0u; };
    const uint32_t ones = one(row) | one(row + 1) << 8 | one(row + 8) << 16 | one(row + 9) << 24;
    uint8_t* const at = shared + K::off_a2 + (k / 16) * 1024 + m * 16 + k % 16;
    *(uint32_t*)at = ones, *(uint32_t*)(at + 2048 * K2) = ones << 7;
  }
  proxy_fence();
  asm volatile("bar.sync 15, %0;" ::"n"(128 * G) : "memory");
  const int wg = __shfl_sync(~0u, thread / 128, 0), warp = __shfl_sync(~0u, thread / 32 % 4, 0);
  const uint64_t band1 = desc(base + K::off_a1, 1024, 128), band2 = desc(base + K::off_a2, 1024, 128);
  const uint64_t first0 = desc(base + 64 * wg, 16, 1024, 1);
  const uint64_t first2 = wg == 0 ? desc(base + 64, 16, 1024, 1) : desc(base + 8192, 16, 8 * K::W1, K::swizzle1);
  // A lane's rows for ldmatrix and stmatrix: row `lane` of 32, the warp's 16 columns.
  const uint32_t vector = a.margin / 16 + 4 * wg + warp;
  const bool centre_first = vector < 8;
  const uint32_t centre_at = base + (centre_first ? 0 : 8192), centre_pitch = centre_first ? 128 : K::W1;
  const uint32_t centre_mask = centre_first ? 112 : K::W1 - 16, centre_v = vector * 16 & centre_mask,
                 centre_shift = centre_first  ? 0
                                : K::W1 == 64 ? 1
                                              : 2;
  auto centre = [&](uint32_t(&w)[4], int half, int stage, int stage_before) {
    const uint32_t row = lane + 32 * half + a.rows_before + K::skip, r = row & 63;
    const uint32_t tile = (row >= 64 ? stage : stage_before) * K::tile;
    ldmatrix_t(w, centre_at + tile + r * centre_pitch + (centre_v ^ (r * 16 >> centre_shift & centre_mask)));
  };
  const uint32_t staged = base + K::off_o + wg * 2 * 64 * 80;  // rows of 64 bytes
  const uint32_t stage_to = staged + lane * 80 + warp * 16;
  const int thread_in = 32 * warp + lane, out_row = thread_in / 4, x = x0 + 64 * wg + 16 * (thread_in % 4);
  const uint32_t stage_from = staged + out_row * 80 + thread_in % 4 * 16;
  int y = out_row;
  uint8_t* to = a.out + (int64_t)(y0 + y) * a.width + x;
  struct Frags {
    uint32_t w[5][2][4];
  };
  uint32_t s[32], hi[32], l[32];
  uint32_t stage = 0, stage_before = 0, phase = 0, square = 0;  // of the chunk
  auto across = [&](uint32_t(&p)[32], uint32_t(&e)[32]) {
    bar_wait(ready + 8 * stage, phase);
    const uint32_t pixels = stage * (K::tile >> 4), f = (K::off_q >> 4) + square * (2 * K::tile >> 4);
    const uint64_t p0 = first0 + pixels, p2 = first2 + pixels, f0 = first0 + f, f2 = first2 + f;
    wg_fence();
#pragma unroll
    for (int k = 0; k < K1; ++k) {
      mma64(p, band1 + 128 * k, (k < 2 ? p0 : p2) + k % 2 * 2, k != 0);
      mma64s(e, band1 + 128 * k, (k < 2 ? f0 : f2) + k % 2 * 2 + (K::tile >> 4), k != 0);
      mma64(e, band1 + 128 * (K1 + k), (k < 2 ? f0 : f2) + k % 2 * 2, 1);
    }
    wg_commit();
  };
  auto pack = [&](const uint32_t(&p)[32], const uint32_t(&e)[32], Frags& to) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int n = 8 * i + 2 * h, step = i / 2, at = i % 2 * 2 + h;
        const uint32_t one = prmt(p[n], p[n + 1], 0x5140), two = prmt(p[n + 4], p[n + 5], 0x5140);
        to.w[0][step][at] = prmt(one, two, 0x5410), to.w[1][step][at] = prmt(one, two, 0x7632) << 1;
        const uint32_t a = prmt(e[n], e[n + 1], 0x5140), b = prmt(e[n + 4], e[n + 5], 0x5140);
        to.w[2][step][at] = prmt(a, b, 0x5410), to.w[3][step][at] = prmt(a, b, 0x7632);
        to.w[4][step][at] = prmt(prmt(e[n], e[n + 1], 0x0062), prmt(e[n + 4], e[n + 5], 0x0062), 0x5410) << 1;
#pragma unroll
        for (int j = 0; j < 5; ++j) asm volatile("" : "+r"(to.w[j][step][at]));
      }
  };
  auto down = [&](const Frags& before, const Frags& now) {
    if constexpr (abl & 4) return;
    wg_fence();
#pragma unroll
    for (int k = 0; k < K2; ++k) {
      constexpr int first = 4 - K2;
      const Frags& from = k + first < 2 ? before : now;
      mma64r(s, from.w[0][(k + first) % 2], band2 + 128 * k, k != 0);
      mma64r(hi, from.w[3][(k + first) % 2], band2 + 128 * k, k != 0);
      mma64r(l, from.w[2][(k + first) % 2], band2 + 128 * k, k != 0);
      mma64r(s, from.w[1][(k + first) % 2], band2 + 128 * (K2 + k), 1);
      mma64r(hi, from.w[4][(k + first) % 2], band2 + 128 * (K2 + k), 1);
    }
    wg_commit();
  };
  if (pp == 2 && wg == 1) named_arrive<256>(8);
  if (pp == 3 && wg == 1) __nanosleep(700);
  auto next = [&] {
    stage_before = stage;
    if (++stage == SP) stage = 0, phase ^= 1;
    if (++square == NQ) square = 0;
  };
  auto rows_of = [&](Frags& now) {
    {
      uint32_t p[32], e[32];
      across(p, e);
      wg_wait<0>();
      if (lane == 0) bar_arrive(empty_q + 8 * square);
      pack(p, e, now);
    }
  };
  auto chunk = [&](uint32_t odd, const Frags& before, Frags& now) {
    rows_of(now);
    down(before, now);
    uint32_t w[8], out[8];
    wg_wait<0>();
    {
      uint32_t one[4], two[4];
      centre(one, 0, stage, stage_before), centre(two, 1, stage, stage_before);
#pragma unroll
      for (int i = 0; i < 4; ++i) w[i] = one[i], w[4 + i] = two[i];
    }
    if constexpr (pp == 2) named_sync<256>(8 + wg);
    if constexpr (abl & 2) {
      for (int i = 0; i < 8; ++i) out[i] = w[i] ^ s[4 * i] ^ hi[4 * i] ^ l[4 * i];
    } else {
      const bool doubt = decide<dec>(a, s, hi, l, w, out);
      if constexpr (pp == 2) named_arrive<256>(9 - wg);
      if (doubt) exactly(a, s, hi, l, w, out);
    }
    __syncwarp();
    if (lane == 0) bar_arrive(empty + 8 * stage_before);
    const uint32_t buffer = odd * 64 * 80;
    stmatrix_t(stage_to + buffer, out[0], out[1], out[2], out[3]);
    stmatrix_t(stage_to + buffer + 32 * 80, out[4], out[5], out[6], out[7]);
    named_sync<128>(1 + wg);
    const uint4 one = lds128(stage_from + buffer), two = lds128(stage_from + buffer + 32 * 80);
    if (x < a.width) {
      if (y < rows) __stcs((uint4*)to, one);
      if (y + 32 < rows) __stcs((uint4*)(to + (int64_t)32 * a.width), two);
    }
    next();
    y += 64, to += (int64_t)64 * a.width;
  };
  Frags f0, f1;
  rows_of(f1);
  next();
#pragma unroll 1
  for (int left = chunks - 1;;) {
    chunk(0, f1, f0);
    if (--left == 0) break;
    chunk(1, f0, f1);
    if (--left == 0) break;
  }
}
#define CK(x)                                                          \
  do {                                                                 \
    cudaError_t e = (x);                                               \
    if (e != cudaSuccess) {                                            \
      printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
      exit(1);                                                         \
    }                                                                  \
  } while (0)
__global__ void copy_kernel(const uint4* in, uint4* out, int64_t n) {
  int64_t i = blockIdx.x * 1024ll + threadIdx.x;
  uint4 v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (i + 256 * k < n) v[k] = __ldcs(in + i + 256 * k);
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (i + 256 * k < n) __stcs(out + i + 256 * k, v[k]);
}
int sms;
struct Case {
  std::string name;
  std::function<void()> run;
  std::vector<float> times;
  bool check;
};
struct Image {
  const char* name;
  std::vector<uint8_t> in, want;
};

#include <cudaTypedefs.h>
CUtensorMap tensor_map(const uint8_t* at, int width, int height, int columns) {
  static PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
  if (!encode) {
    cudaDriverEntryPointQueryResult found;
    CK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void**)&encode, 12000, cudaEnableDefault, &found));
  }
  CUtensorMap map;
  cuuint64_t size[2] = {(cuuint64_t)width, (cuuint64_t)height}, pitch[1] = {(cuuint64_t)width};
  cuuint32_t box[2] = {(cuuint32_t)columns, 64}, one[2] = {1, 1};
  CUresult r =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, (void*)at, size, pitch, box, one, CU_TENSOR_MAP_INTERLEAVE_NONE,
             columns == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
             : columns == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                             : CU_TENSOR_MAP_SWIZZLE_32B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r != CUDA_SUCCESS) {
    printf("no map %d\n", (int)r);
    exit(1);
  }
  return map;
}
template <int K1, int K2, int SP, int NQ, int P, int early, int dec, int pp, int abl = 0>
void add(std::vector<Case>& cases, Args a, double waves = 1) {
  using Shape = Shape<K1, K2, SP, NQ, P>;
  a.margin = (a.before + 15) / 16 * 16;
  if (a.margin + 64 + a.win_w - 1 - a.before > 32 * K1 || 64 + a.win_h - 1 > 32 * K2) {
    printf("does not fit\n");
    return;
  }
  char what[100], name[200];
  snprintf(what, 100, "K%d,%d SP%d NQ%d P%d early%d dec%d pp%d", K1, K2, SP, NQ, P, early, dec, pp);
  if (abl) snprintf(what + strlen(what), 20, " abl%d", abl);
  auto kernel = sauvola<K1, K2, SP, NQ, P, early, dec, pp, abl>;
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::bytes) != cudaSuccess) {
    cudaGetLastError();
    printf("no room: %s %d\n", what, Shape::bytes);
    return;
  }
  a.strips = (a.width + Shape::columns - 1) / Shape::columns;
  int segments = std::max(1, (int)(sms * waves / a.strips));
  int rows = (a.height + segments - 1) / segments;
  a.segment_rows = (rows + 63) / 64 * 64;
  a.segments = (a.height - 1) / a.segment_rows + 1;
  snprintf(name, 200, "%s%s", what, waves > 3 ? " w4" : waves > 1 ? " w2" : "");
  const CUtensorMap map0 = tensor_map(a.in, a.width, a.height, 128),
                    map1 = tensor_map(a.in, a.width, a.height, Shape::W1);
  cases.push_back(
      {name, [=] { kernel<<<a.strips * a.segments, Shape::threads, Shape::bytes>>>(a, map0, map1); }, {}, abl == 0});
}
template <int K1, int K2>
void add_all(std::vector<Case>& cases, Args a) {
  add<K1, K2, 6, 3, 4, 3, 1, 0>(cases, a);
  add<K1, K2, 6, 3, 4, 3, 0, 0>(cases, a);
  add<K1, K2, 6, 3, 4, 2, 1, 0>(cases, a);
  add<K1, K2, 5, 2, 4, 2, 1, 0>(cases, a);
  add<K1, K2, 6, 3, 4, 3, 1, 2>(cases, a);
  add<K1, K2, 6, 3, 4, 3, 1, 3>(cases, a);
  add<K1, K2, 6, 3, 4, 3, 1, 0>(cases, a, 2);
  add<K1, K2, 6, 3, 4, 3, 1, 0, 1>(cases, a);
  add<K1, K2, 6, 3, 4, 3, 1, 0, 2>(cases, a);
}

void reference(const uint8_t* in, uint8_t* out, int W, int H, int k, double strength, double range, double offset,
               int threads) {
  std::vector<std::thread> all;
  const int b = k / 2;
  const double n = (double)k * k;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([=] {
      const int ya = (int64_t)H * t / threads, yb = (int64_t)H * (t + 1) / threads;
      std::vector<int> c1(W + 2 * k, 0), c2(W + 2 * k, 0);
      auto row = [&](int y, int sign) {
        if (y < 0 || y >= H) return;
        const uint8_t* p = in + (size_t)y * W;
        for (int x = 0; x < W; ++x) c1[x + k] += sign * p[x], c2[x + k] += sign * p[x] * p[x];
      };
      for (int y = ya - b; y < ya - b + k - 1; ++y) row(y, 1);
      for (int y = ya; y < yb; ++y) {
        row(y - b + k - 1, 1);
        int64_t s1 = 0, s2 = 0;
        for (int x = -b; x < k - 1 - b; ++x) s1 += c1[x + k], s2 += c2[x + k];
        for (int x = 0; x < W; ++x) {
          s1 += c1[x - b + k - 1 + k], s2 += c2[x - b + k - 1 + k];
          const double mean = (double)s1 / n, root = std::sqrt((double)((int64_t)k * k * s2 - s1 * s1) / (n * n));
          const double threshold = mean * (1 + strength * (root / range - 1)) - offset;
          out[(size_t)y * W + x] = (double)in[(size_t)y * W + x] > threshold ? 255 : 0;
          s1 -= c1[x - b + k], s2 -= c2[x - b + k];
        }
        row(y - b, -1);
      }
    });
  for (auto& t : all) t.join();
}

int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  cudaDeviceProp prop;
  CK(cudaGetDeviceProperties(&prop, 0));
  sms = prop.multiProcessorCount;
  const int rounds = getenv("ROUNDS") ? atoi(getenv("ROUNDS")) : 24;
  printf("%s, %d SMs\n", prop.name, sms);
  const int W = getenv("SIZE") ? atoi(getenv("SIZE")) : 8192, H = W;
  const size_t n = (size_t)W * H;
  std::mt19937 rng(7);
  std::vector<Image> images(2);
  images[0].name = "random", images[1].name = "document";
  images[0].in.resize(n), images[1].in.assign(n, 255);
  for (size_t i = 0; i + 4 <= n; i += 4) {
    uint32_t v = rng();
    memcpy(&images[0].in[i], &v, 4);
  }
  {  // paper of some kinds, black areas, strokes
    auto& d = images[1].in;
    for (int y = 0; y < H; ++y)
      for (int x = 0; x < W; ++x) {
        uint8_t v = 255;
        if (x > W / 2 && y < H / 2) v = 240;
        if (x > W / 2 && y >= H / 2) v = 235 + (rng() & 7);
        if (x < W / 8) v = 0;
        if (x < W / 16 && y > H / 2) v = (rng() & 63) == 0;
        if (x >= W / 8 && x < W / 4 && y > 3 * H / 4) v = x / 16 & 255;
        d[(size_t)y * W + x] = v;
      }
    const int strokes = (int)(n / 900);
    for (int i = 0; i < strokes; ++i) {
      const int w = rng() % 3 == 0 ? 3 + rng() % 20 : 2 + rng() % 3, h = w > 4 ? 2 + rng() % 3 : 4 + rng() % 20,
                x0 = rng() % W, y0 = rng() % H, dark = rng() % 60;
      for (int y = y0; y < std::min(H, y0 + h); ++y)
        for (int x = x0; x < std::min(W, x0 + w); ++x) d[(size_t)y * W + x] = (x == x0 || y == y0) ? 120 + dark : dark;
    }
  }
  uint8_t *din, *dout;
  CK(cudaMalloc(&din, n));
  CK(cudaMalloc(&dout, n));
  std::vector<uint8_t> out(n);
  cudaEvent_t e0, e1;
  CK(cudaEventCreate(&e0));
  CK(cudaEventCreate(&e1));
  for (int k : {15, 31, 63}) {
    if (getenv("WINDOW") && atoi(getenv("WINDOW")) != k) continue;
    Args a{};
    a.in = din, a.out = dout, a.width = W, a.height = H, a.win_w = a.win_h = k, a.before = a.rows_before = k / 2;
    a.k = 0.2, a.r = 128, a.offset = 0, a.above = 0xffffffff, a.below = 0, a.n = k * k,
    a.least_word = a.offset <= 0 && a.k >= 0 && a.k <= 1;
    const double per = 1.0 / a.n, mean = (1 - a.k) * per, cross = a.k / a.r * per * per;
    const double deviation = std::sqrt(4 * 0x1p-24 * 255.0 / k + 1e-9);  // of a root near 0
    const double bound = (255 + std::abs(a.offset) + 255 * std::abs(a.k) * (1 + 127.5 / a.r)) * 0x1.01p-19 +
                         255 * std::abs(a.k) / a.r * deviation;
    a.mean = mean * 0x1p109, a.cross = cross * 0x1p131, a.shift = -a.offset * 0x1p-40, a.bound = bound * 0x1p-40,
    a.rough_bound = (bound + 255 * std::abs(a.k) / a.r * std::sqrt(4 * 0x1p-24 * 128 * 128)) * 0x1p-40;
    a.centre = -128.0f * a.n * 0x1p-22f, a.by_low = a.n * 0x1p105f, a.by_high = a.n * 0x1p113f;
    a.imean = mean, a.icross = cross, a.ifrom = 0x1p23 - a.offset,
    a.ibound = (255 + std::abs(a.offset) + 255 * std::abs(a.k) * (1 + 127.5 / a.r)) * 0x1.01p-19;
    std::vector<Case> cases;
    cases.push_back({"copy",
                     [=] { copy_kernel<<<(n / 16 + 1023) / 1024, 256>>>((const uint4*)din, (uint4*)dout, n / 16); },
                     {},
                     false});
    if (k == 63)
      add_all<4, 4>(cases, a);
    else
      add_all<3, 3>(cases, a);
    if (argc > 1) {
      CK(cudaMemcpy(din, images[0].in.data(), n, cudaMemcpyHostToDevice));
      auto c = cases[atoi(argv[1])];
      printf("%s\n", c.name.c_str());
      for (int i = 0; i < 3; ++i) c.run();
      CK(cudaDeviceSynchronize());
      continue;
    }
    printf("== %dx%d, %dx%d\n", W, H, k, k);
    std::vector<std::string> lines(cases.size());
    for (auto& image : images) {
      image.want.resize(n);
      reference(image.in.data(), image.want.data(), W, H, k, a.k, a.r, a.offset,
                std::max(2u, std::thread::hardware_concurrency()));
      CK(cudaMemcpy(din, image.in.data(), n, cudaMemcpyHostToDevice));
      std::vector<std::string> note(cases.size());
      for (size_t i = 0; i < cases.size(); ++i)
        if (auto& c = cases[i]; c.check) {
          unsigned long long zero = 0, found;
          CK(cudaMemcpyToSymbol(doubts, &zero, 8));
          CK(cudaMemset(dout, 0xa5, n));
          c.run();
          CK(cudaGetLastError());
          cudaError_t err = cudaDeviceSynchronize();
          if (err != cudaSuccess) {
            printf("%s: %s\n", c.name.c_str(), cudaGetErrorString(err));
            return 1;
          }
          CK(cudaMemcpyFromSymbol(&found, doubts, 8));
          CK(cudaMemcpy(out.data(), dout, n, cudaMemcpyDeviceToHost));
          note[i] = " doubts " + std::to_string(found);
          if (memcmp(out.data(), image.want.data(), n)) {
            size_t bad = 0, first = 0;
            for (size_t at = 0; at < n; ++at)
              if (out[at] != image.want[at]) {
                if (!bad) first = at;
                ++bad;
              }
            note[i] += " WRONG " + std::to_string(bad) + " first " + std::to_string(first % W) + "," +
                       std::to_string(first / W);
          }
          c.times.clear();
        }
      cases[0].times.clear();
      std::vector<int> order(cases.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = i;
      for (int round = 0; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), rng);
        for (int i : order) {
          CK(cudaEventRecord(e0));
          cases[i].run();
          CK(cudaEventRecord(e1));
          CK(cudaEventSynchronize(e1));
          float t;
          CK(cudaEventElapsedTime(&t, e0, e1));
          if (round >= 3) cases[i].times.push_back(t * 1000);
        }
      }
      CK(cudaGetLastError());
      for (size_t i = 0; i < cases.size(); ++i) {
        auto& t = cases[i].times;
        std::sort(t.begin(), t.end());
        char s[40];
        snprintf(s, 40, "%6.1f", t[t.size() / 2]);
        lines[i] += s + note[i] + " |";
      }
    }
    for (size_t i = 0; i < cases.size(); ++i) printf("%s %s\n", lines[i].c_str(), cases[i].name.c_str());
  }
}
