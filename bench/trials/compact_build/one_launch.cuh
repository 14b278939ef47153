#pragma once
#include "layout.cuh"
namespace s5b {
constexpr int stage_units = 8;
constexpr int passes = stage_units / 2;  // of a stage
template <bool row>
constexpr int stride_of = row ? 200 : 208;
template <int ring>
struct Shared {
  u32 masks[ring][stage_units * stride_of<false>];
  uint4 triangle[2][32];
  u32 part[16][32];
  u64 end;
};
__device__ __forceinline__ void bar_sync(int id, int n) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory");
}
__device__ __forceinline__ void bar_arrive(int id, int n) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory");
}
__device__ __forceinline__ void store_if(bool p, void* to, u32 x, u32 y) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; @p st.global.v2.u32 [%1], {%2, %3}; }" ::"r"(u32(p)), "l"(to),
               "r"(x), "r"(y)
               : "memory");
}

template <bool row, int P, int ring>
__device__ __forceinline__ void produce(const Args& a, Shared<ring>& s, int first, int stages, int pw, int n) {
  const int lane = threadIdx.x & 31;
  constexpr int turns = P / passes;  // stages that are under way at once
  const int pass = pw % passes, turn = pw / passes;
  const int unit = row ? (pass >> 1) * 4 + (lane >> 3) : pass * 2 + (lane >> 4),
            word = row ? (pass & 1) * 8 + (lane & 7) : lane & 15;
  const int to = unit * stride_of<row> + word;
  int y = row ? first + (pass & 1) * 8 : pass * 64 + 2 * lane, x = row ? (pass >> 1) * 128 + 4 * lane : first;
  (row ? x : y) += turn * 32 * stage_units;
  const u8* from = a.image + size_t(y) * a.pitch + x;
  const size_t step = row ? turns * 32 * stage_units : size_t(a.pitch) * turns * 32 * stage_units;
  const auto load = [&](u32(&w)[8]) {
    const u8* p = from;
    if constexpr (row) {
      if (y + 8 <= a.h && x < a.w) {
#pragma unroll
        for (int i = 0; i < 8; ++i, p += a.pitch) w[i] = __ldg(reinterpret_cast<const u32*>(p));
      } else {
#pragma unroll
        for (int i = 0; i < 8; ++i, p += a.pitch)
          w[i] = y + i < a.h && x < a.w ? __ldg(reinterpret_cast<const u32*>(p)) : 0;
      }
    } else {
#pragma unroll
      for (int i = 0; i < 2; ++i, p += a.pitch) {
        uint4 v = make_uint4(0, 0, 0, 0);
        if (y + i < a.h) v = __ldg(reinterpret_cast<const uint4*>(p));
        w[4 * i] = v.x, w[4 * i + 1] = v.y, w[4 * i + 2] = v.z, w[4 * i + 3] = v.w;
      }
    }
  };
  u32 next[8];
  load(next);
  uint4* label = reinterpret_cast<uint4*>(a.L) + size_t(y >> 2) * a.sqc + (x >> 2);
#pragma unroll 1
  for (int st = turn; st < stages; st += turns) {
    u32 w[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) w[i] = next[i];
    const int y_now = y, x_now = x;
    (row ? x : y) += turns * 32 * stage_units, from += step;
    if (st + turns < stages) load(next);
    label_words(a, w);
    if constexpr (row) {
      if (y_now + 8 > a.h || x_now + 4 > a.w) {
        const u32 beside = x_now + 4 <= a.w ? 0u : x_now >= a.w ? ~0u : ~0u << (8 * (a.w - x_now));
#pragma unroll
        for (int i = 0; i < 8; ++i) w[i] = y_now + i < a.h ? w[i] | beside : ~0u;
      }
      const bool has = (x_now >> 2) < a.sqc;
      if (has && (y_now >> 2) < a.sqr) label[0] = make_uint4(w[0], w[1], w[2], w[3]);
      if (has && (y_now >> 2) + 1 < a.sqr) label[a.sqc] = make_uint4(w[4], w[5], w[6], w[7]);
      label += turns * 8 * stage_units;
    } else if (y_now + 2 > a.h || x_now + 16 > a.w) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int xx = x_now + 4 * (i & 3);
        const u32 beside = xx + 4 <= a.w ? 0u : xx >= a.w ? ~0u : ~0u << (8 * (a.w - xx));
        w[i] = y_now + (i >> 2) < a.h ? w[i] | beside : ~0u;
      }
    }
    transpose_bits(w);
    u32 m[12];
    masks12(w[0], w[1], w[2], w[3], w[4], w[7], m);
    const int slot = st % ring;
    if (st >= ring) bar_sync(1 + ring + slot, n);
    u32* const masks = s.masks[slot] + to;
#pragma unroll
    for (int i = 0; i < 12; ++i) masks[i * 16] = m[i];
    bar_arrive(1 + slot, n);
  }
}

/// totals: where the item's are published, or null.
template <bool row, int ring, bool split>
__device__ __forceinline__ void consume(const Args& a, Shared<ring>& s, int first, int stages, int units, u32* totals,
                                        int half, int n) {
  const int lane = threadIdx.x & 31, t = lane & 3, g = lane >> 2;
  const bool backwards = first & 16;
  {
    u32 a0 = 0, a1 = 0;  // the triangle's rows g and g + 8
#pragma unroll 1
    for (int bit = 0; bit < 32; ++bit) {
      const int line = row ? (t >> 1) * 8 + (bit & 7) : 4 * (bit & 3) + (bit >> 3);
      if (backwards ? line >= g : line < g || g == 0) a0 |= 1u << bit;
      if (backwards ? line >= g + 8 : line < g + 8) a1 |= 1u << bit;
    }
    s.triangle[half][lane] = make_uint4(a0, a1, a0, a1);
    __syncwarp();
  }
  uint4 tri;  // in four registers, as the compiler does not know that two are equal
  asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(tri.x), "=r"(tri.y), "=r"(tri.z), "=r"(tri.w)
               : "r"(u32(__cvta_generic_to_shared(&s.triangle[half][lane]))));
  const u32 flip = backwards ? ~0u : 0u, keep = !backwards && g == 0 ? 0u : ~0u;
  int d[2][4], e[2][4];
#pragma unroll
  for (int j = 0; j < 2; ++j)
#pragma unroll
    for (int v = 0; v < 4; ++v) d[j][v] = int(flip), e[j][v] = 0;
  const bool has_bins = 16 * half < a.kp;
  const int last = row ? a.h : a.w;
  const bool has0 = has_bins && first + g <= last, has8 = has_bins && first + g + 8 <= last,
             has_total = totals != nullptr && g == 0;
  const int bins = 16 * half + 4 * t;
  char* to = reinterpret_cast<char*>(row ? a.R + size_t(first + g) * a.nx * a.kp + bins
                                         : a.C + size_t(first + g) * a.kp + bins);
  char* to8 = to + (row ? size_t(16) * a.nx * a.kp : 16 * a.kp);
  const size_t step = row ? 2 * a.kp : size_t(2) * (a.w + 1) * a.kp;
  u32* total = totals + bins;
  const auto write = [&] {
    int v[2][4];
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) v[j][i] = split ? d[j][i] + e[j][i] : d[j][i];
    store_if(has_total, total, v[0][0], v[0][1]);
    store_if(has_total, total + 2, v[1][0], v[1][1]);
    store_if(has0, to, (prmt(v[0][0], v[0][1], 0x5410) ^ flip) & keep, (prmt(v[1][0], v[1][1], 0x5410) ^ flip) & keep);
    store_if(has8, to8, prmt(v[0][2], v[0][3], 0x5410) ^ flip, prmt(v[1][2], v[1][3], 0x5410) ^ flip);
    to += step, to8 += step, total += 32;
  };
  const int hi_at = (8 + 2 * half + (g >> 2)) * 16 + 4 * t, lo_at = (4 * (g >> 1 & 1) + (g & 1)) * 16 + 4 * t;
#pragma unroll 1
  for (int st = 0; st < stages; ++st) {
    const int slot = st % ring;
    bar_sync(1 + slot, n);
    const u32* masks = s.masks[slot];
    const auto unit = [&](int u) {
      const uint4 hi = *reinterpret_cast<const uint4*>(masks + u * stride_of<row> + hi_at);
      const uint4 lo0 = *reinterpret_cast<const uint4*>(masks + u * stride_of<row> + lo_at),
                  lo1 = *reinterpret_cast<const uint4*>(masks + u * stride_of<row> + lo_at + 32);
      write();
      bmma(d[0], tri.x, tri.y, tri.z, tri.w, hi.x & lo0.x, hi.y & lo0.y);
      bmma(d[1], tri.x, tri.y, tri.z, tri.w, hi.x & lo1.x, hi.y & lo1.y);
      bmma(split ? e[0] : d[0], tri.x, tri.y, tri.z, tri.w, hi.z & lo0.z, hi.w & lo0.w);
      bmma(split ? e[1] : d[1], tri.x, tri.y, tri.z, tri.w, hi.z & lo1.z, hi.w & lo1.w);
    };
    const int count = units - st * stage_units;
    if (count >= stage_units) {
#pragma unroll
      for (int u = 0; u < stage_units; ++u) unit(u);
    } else {
#pragma unroll 1
      for (int u = 0; u < count; ++u, masks += stride_of<row>) unit(0);
    }
    if (st + ring < stages) bar_arrive(1 + ring + slot, n);
  }
  write();
}

__device__ __forceinline__ void edges(const Args& a, bool row, int k) {
  if (row && k == a.nr - 1 && a.h % 16 == 0)
    for (int i = threadIdx.x; i < a.nx * a.kp / 8; i += blockDim.x)
      reinterpret_cast<uint4*>(a.R + size_t(a.h) * a.nx * a.kp)[i] = make_uint4(0, 0, 0, 0);
  if (!row && k == 2 * a.nc - 1 && a.w % 16 == 0)
    for (int i = threadIdx.x; i < a.ny * a.kp / 8; i += blockDim.x)
      *reinterpret_cast<uint4*>(a.C + (size_t(i / (a.kp / 8)) * (a.w + 1) + a.w) * a.kp + i % (a.kp / 8) * 8) =
          make_uint4(0, 0, 0, 0);
}

/// Anchors of a lattice line i of the publishing direction's outputs: sums over its items, two a lattice step.
template <int W>
__device__ __forceinline__ void anchor_item(const Args& a, u32 (*part)[32], bool by_rows, int i) {
  constexpr int N = 13;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int items = by_rows ? a.nr : 2 * a.nc, outputs = by_rows ? a.nx : a.ny, lines = by_rows ? a.ny : a.nx;
  u32 carry = 0;
#pragma unroll 1
  for (int first = 0; first < lines; first += N * W) {
    u32 v[N], x[N], sum = 0;
    const u32* from = a.totals + size_t(i) * 32 + lane;
    const int h0 = 2 * (first + warp * N), most = items - 1;
#pragma unroll
    for (int k = 0; k < N; ++k) v[k] = __ldcg(from + size_t(min(h0 + 2 * k, most)) * outputs * 32);
#pragma unroll
    for (int k = 0; k < N; ++k) x[k] = __ldcg(from + size_t(min(h0 + 2 * k + 1, most)) * outputs * 32);
#pragma unroll
    for (int k = 0; k < N; ++k) v[k] = (h0 + 2 * k <= most ? v[k] : 0) + (h0 + 2 * k + 1 <= most ? x[k] + 1 : 0);
#pragma unroll
    for (int k = 0; k < N; ++k) sum += v[k];
    part[warp][lane] = sum;
    __syncthreads();
    u32 before = carry;
#pragma unroll
    for (int w = 0; w < W; ++w) {
      const u32 q = part[w][lane];
      if (w < warp) before += q;
      carry += q;
    }
    const size_t step = by_rows ? size_t(a.nx) * a.kp : a.kp;
    u32* to = a.A + (by_rows ? size_t(i) * a.kp : size_t(i) * a.nx * a.kp) + (first + warp * N) * step + lane;
#pragma unroll
    for (int k = 0; k < N; ++k, to += step) {
      if (first + warp * N + k < lines && lane < a.kp) *to = before;
      before += v[k];
    }
    __syncthreads();
  }
}

// mode: 0 all, 1 without anchors; order: 0 rows first, 1 columns first
template <int P, int ring, int resident, bool split, bool prefetch, int order, bool anchors>
__global__ void __launch_bounds__(32 * (P + 2), resident) main_kernel(const __grid_constant__ Args a) {
  __shared__ __align__(16) Shared<ring> s;
  constexpr int n = 32 * (passes + 2);
  const int warp = threadIdx.x >> 5, nrows = a.nr, ncols = 2 * a.nc;
  const int i = blockIdx.x;
  const bool row = order ? i >= ncols : i < nrows;
  const int k = row ? (order ? i - ncols : i) : (order ? i : i - nrows);
  const bool by_rows = a.nx <= a.ny, publishes = row == by_rows;
  const int stages = ((row ? a.w : a.h) + 32 * stage_units - 1) / (32 * stage_units), outputs = row ? a.nx : a.ny;
  u32* const totals = publishes ? a.totals + size_t(k) * outputs * 32 : nullptr;
  if (row) {
    if (warp < 2)
      consume<true, ring, split>(a, s, 16 * k, stages, outputs - 1, totals, warp, n);
    else {
      if (prefetch)
        for (int l = threadIdx.x - 64; l < 16 * ((a.w + 127) / 128); l += 32 * P) {
          const int y = 16 * k + (l & 15), x = (l >> 4) * 128;
          if (y < a.h) asm volatile("prefetch.global.L2 [%0];" ::"l"(a.image + size_t(y) * a.pitch + x));
        }
      produce<true, P, ring>(a, s, 16 * k, stages, warp - 2, n);
    }
  } else {
    if (warp < 2)
      consume<false, ring, split>(a, s, 16 * k, stages, outputs - 1, totals, warp, n);
    else
      produce<false, P, ring>(a, s, 16 * k, stages, warp - 2, n);
  }
  edges(a, row, k);
  if (anchors && publishes) {
    __syncthreads();
    const int items = row ? nrows : ncols, workers = min(items, 128);
    if (threadIdx.x == 0) {
      const u64 count = add_release(a.counters, 1), launch = count / items;
      const int e = int(count - launch * items) - (items - workers);
      s.end = u64(i64(e));
      if (e >= 0)
        while (load_acquire(a.counters) < (launch + 1) * items) __nanosleep(40);
    }
    __syncthreads();
    const int e = int(s.end);
    if (e < 0) return;
    for (int b = e; b < outputs; b += workers) anchor_item<P + 2>(a, s.part, by_rows, b);
  }
}
template <int P, int ring, int resident, bool split, bool prefetch, int order, bool anchors = true>
void launch(const Args& a, cudaStream_t stream) {
  main_kernel<P, ring, resident, split, prefetch, order, anchors><<<a.nr + 2 * a.nc, 32 * (P + 2), 0, stream>>>(a);
}
}  // namespace s5b
