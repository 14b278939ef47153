// Trial: which bytes are above Sauvola's local thresholds, by wgmma (sm_90a): row sums stay in registers as the A
// operand of the second product. Its times: docs/notes/cuda-filter.md.
//   nvcc -O3 -std=c++20 -gencode=arch=compute_90a,code=sm_90a -lineinfo -o chain chain.cu && ./chain
// Beyond the edge are zeros. See planes.cu for the algebra. Here D2 = packed accumulators of D1 [64 columns x K rows] x
// band [K rows x 64 rows of outputs]; a thread then holds 2 columns x 16 rows; ldmatrix.trans brings their pixels,
// stmatrix.trans their outputs into order. Loads by TMA.
#include <cuda.h>
#include <cudaTypedefs.h>
#include "rounds.cuh"

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

int main(int argc, char** argv) {
  return rounds_of(argc, argv, [](auto& cases, const Args& a, bool large) {
    large ? add_all<4, 4>(cases, a) : add_all<3, 3>(cases, a);
  });
}
