#pragma once
// The layout of the store: its geometry, a reference on the CPU, and the device code that reads labels and counts them.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#define CK(x)                                                                   \
  do {                                                                          \
    cudaError_t e_ = (x);                                                       \
    if (e_ != cudaSuccess) {                                                    \
      printf("CUDA %s at %s:%d\n", cudaGetErrorString(e_), __FILE__, __LINE__); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

struct Args {
  const u8* image;
  int pitch;
  int w, h;
  int bins, kp;
  u32 scale;
  int shift;  // bin = v * scale >> 16; shift >= 0: the same by a shift
  u32* A;
  u16* R;
  u16* C;
  u8* L;          // of the store
  int ny, nx;     // anchors' rows and columns
  int sqr, sqc;   // rows and columns of squares
  u32* totals;    // [half band][nx][32]
  u64* counters;  // never reset
  int nr, nc;     // half bands of 16 rows, strips of 32 columns
  size_t bytes;
};
inline Args geometry(int w, int h, int bins) {
  Args a{};
  a.w = w;
  a.h = h;
  a.bins = bins;
  a.kp = (bins + 15) / 16 * 16;
  a.pitch = (w + 15) / 16 * 16;
  a.scale = (65536u * bins) / 256;
  a.shift = -1;
  for (int s = 0; s < 8; ++s)
    if (a.scale == (65536u >> s)) a.shift = s;
  a.ny = (h + 16) / 32 + 1;
  a.nx = (w + 16) / 32 + 1;
  a.sqr = (h + 3) / 4;
  a.sqc = (w + 31) / 32 * 8;
  a.nr = (h + 15) / 16;
  a.nc = (w + 31) / 32;
  a.bytes = size_t(a.ny) * a.nx * a.kp * 4 + (size_t(h + 1) * a.nx + size_t(a.ny) * (w + 1)) * a.kp * 2 +
            size_t(a.sqr) * a.sqc * 16;
  return a;
}
inline void place(Args& a, char* store) {
  a.A = (u32*)store;
  store += size_t(a.ny) * a.nx * a.kp * 4;
  a.R = (u16*)store;
  store += size_t(a.h + 1) * a.nx * a.kp * 2;
  a.C = (u16*)store;
  store += size_t(a.ny) * (a.w + 1) * a.kp * 2;
  a.L = (u8*)store;
}
inline std::vector<char> reference(const Args& g, const std::vector<u8>& image) {
  std::vector<char> out(g.bytes, 0);
  Args a = g;
  place(a, out.data());
  const int K = a.kp;
  std::vector<u8> lab(size_t(a.w) * a.h);
  for (int y = 0; y < a.h; ++y)
    for (int x = 0; x < a.w; ++x) lab[size_t(y) * a.w + x] = u8(image[size_t(y) * a.pitch + x] * a.scale >> 16);
  memset(a.L, 255, size_t(a.sqr) * a.sqc * 16);
  for (int y = 0; y < a.h; ++y)
    for (int x = 0; x < a.w; ++x)
      a.L[((size_t(y >> 2) * a.sqc + (x >> 2)) << 4) + ((y & 3) << 2) + (x & 3)] = lab[size_t(y) * a.w + x];
  const auto clamp = [](int v, int m) { return v < m ? v : m; };
  {  // rows: S(y, bB) for all y
    std::vector<u32> S(size_t(a.h + 1) * a.nx * K, 0), line(size_t(a.nx) * K);
    for (int y = 0; y < a.h; ++y) {
      std::fill(line.begin(), line.end(), 0);
      std::vector<u32> run(K, 0);
      int b = 0;
      for (int x = 0; x <= a.w; ++x) {
        while (b < a.nx && clamp(b * 32, a.w) == x) {
          for (int k = 0; k < K; ++k) line[size_t(b) * K + k] = run[k];
          ++b;
        }
        if (x < a.w) ++run[lab[size_t(y) * a.w + x]];
      }
      const size_t n = size_t(a.nx) * K;
      for (size_t i = 0; i < n; ++i) S[(y + 1) * n + i] = S[y * n + i] + line[i];
    }
    const size_t n = size_t(a.nx) * K;
    for (int y = 0; y <= a.h; ++y) {
      const size_t l = clamp((y + 16) / 32 * 32, a.h);
      for (size_t i = 0; i < n; ++i) a.R[y * n + i] = u16(S[y * n + i] - S[l * n + i]);
    }
    for (int r = 0; r < a.ny; ++r)
      for (size_t i = 0; i < n; ++i) a.A[r * n + i] = S[size_t(clamp(r * 32, a.h)) * n + i];
  }
  {
    std::vector<u32> col(size_t(a.w) * K, 0), P(size_t(a.w + 1) * K);
    int r = 0;
    for (int y = 0; y <= a.h; ++y) {
      while (r < a.ny && clamp(r * 32, a.h) == y) {
        for (int k = 0; k < K; ++k) P[k] = 0;
        for (int x = 0; x < a.w; ++x)
          for (int k = 0; k < K; ++k) P[size_t(x + 1) * K + k] = P[size_t(x) * K + k] + col[size_t(x) * K + k];
        for (int x = 0; x <= a.w; ++x) {
          const size_t l = clamp((x + 16) / 32 * 32, a.w);
          for (int k = 0; k < K; ++k)
            a.C[(size_t(r) * (a.w + 1) + x) * K + k] = u16(P[size_t(x) * K + k] - P[l * K + k]);
        }
        ++r;
      }
      if (y < a.h)
        for (int x = 0; x < a.w; ++x) ++col[size_t(x) * K + lab[size_t(y) * a.w + x]];
    }
  }
  return out;
}

// ---- device
template <int n>
__device__ __forceinline__ void label_words(const Args& a, u32 (&w)[n]) {
  if (a.shift >= 0) {
    const u32 mask = (0xffu >> a.shift) * 0x01010101u;
#pragma unroll
    for (int i = 0; i < n; ++i) w[i] = w[i] >> a.shift & mask;
    return;
  }
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const u32 p0 = (w[i] & 0xffu) * a.scale, p1 = (w[i] >> 8 & 0xffu) * a.scale, p2 = (w[i] >> 16 & 0xffu) * a.scale,
              p3 = (w[i] >> 24) * a.scale;
    w[i] = __byte_perm(__byte_perm(p0, p1, 0x0062), __byte_perm(p2, p3, 0x0062), 0x5410);
  }
}
/// Loads the labels of four adjacent pixels of each of n rows, a word per row. Pixels outside the image get label 255.
template <int n>
__device__ __forceinline__ void load_labels(const Args& a, int y, int x, bool whole, u32 (&w)[n]) {
  const u8* p = a.image + size_t(y) * a.pitch + x;
  if (whole) {
#pragma unroll
    for (int i = 0; i < n; ++i, p += a.pitch) w[i] = __ldg(reinterpret_cast<const u32*>(p));
    label_words(a, w);
    return;
  }
#pragma unroll
  for (int i = 0; i < n; ++i, p += a.pitch) w[i] = y + i < a.h && x < a.w ? __ldg(reinterpret_cast<const u32*>(p)) : 0;
  label_words(a, w);
  const u32 beside = x + 4 <= a.w ? 0u : x >= a.w ? ~0u : ~0u << (8 * (a.w - x));
#pragma unroll
  for (int i = 0; i < n; ++i) w[i] = y + i < a.h ? w[i] | beside : ~0u;
}
__device__ __forceinline__ void transpose_bits(u32 (&w)[8]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const u32 low = w[i], high = w[i + 4];
    w[i] = (low & 0x0f0f0f0fu) | (high << 4 & 0xf0f0f0f0u);
    w[i + 4] = (low >> 4 & 0x0f0f0f0fu) | (high & 0xf0f0f0f0u);
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int i = k / 2 * 4 + k % 2;
    const u32 low = w[i], high = w[i + 2];
    w[i] = (low & 0x33333333u) | (high << 2 & 0xccccccccu);
    w[i + 2] = (low >> 2 & 0x33333333u) | (high & 0xccccccccu);
  }
#pragma unroll
  for (int i = 0; i < 8; i += 2) {
    const u32 low = w[i], high = w[i + 1];
    w[i] = (low & 0x55555555u) | (high << 1 & 0xaaaaaaaau);
    w[i + 1] = (low >> 1 & 0x55555555u) | (high & 0xaaaaaaaau);
  }
}
__device__ __forceinline__ u32 prmt(u32 a, u32 b, u32 s) { return __byte_perm(a, b, s); }
/// 12 masks of 32 pixels: of the lower three bits of the number, 8, and of the next two, 4 (none for numbers above
/// 127).
__device__ __forceinline__ void masks12(u32 p0, u32 p1, u32 p2, u32 p3, u32 p4, u32 p7, u32 (&m)[12]) {
#pragma unroll
  for (int i = 0; i < 8; ++i) m[i] = (i & 1 ? p0 : ~p0) & (i & 2 ? p1 : ~p1) & (i & 4 ? p2 : ~p2);
#pragma unroll
  for (int i = 0; i < 4; ++i) m[8 + i] = ~p7 & (i & 1 ? p3 : ~p3) & (i & 2 ? p4 : ~p4);
}
// a: signed bytes 16 x 16, b: unsigned bytes 16 x 8
__device__ __forceinline__ void mma16(int (&d)[4], u32 a0, u32 a1, u32 b) {
  asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a0), "r"(a1), "r"(b));
}
__device__ __forceinline__ void bmma(int (&d)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
      "%1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
__device__ __forceinline__ u64 add_release(u64* p, u64 v) {
  u64 old;
  asm volatile("atom.add.acq_rel.gpu.u64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(v) : "memory");
  return old;
}
__device__ __forceinline__ u64 add_relaxed(u64* p, u64 v) {
  u64 old;
  asm volatile("atom.add.relaxed.gpu.u64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(v) : "memory");
  return old;
}
__device__ __forceinline__ u64 load_acquire(const u64* p) {
  u64 v;
  asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}
