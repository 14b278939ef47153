#pragma once
// Structure "ring": a block of threads walks down a strip of 256 columns, 8 rows (a block of the definition) a step.
// Rows come by bulk tensor copies, or cp.async, into a ring of blocks of 8 rows x 256 columns in shared memory, where
// the block that windows leave is read again. Down: a lane owns CPL columns. The 8 rows of column sums go through
// shared memory (swizzled) to the lanes that sum along rows, CPL rows of a warp one after the other.
#include <cuda.h>
#include "along.cuh"
template <int KR, int KC, int CPL, int MINB, int STAGES_, int VB_, int DIAG = 0, int FEED_ = 0>
struct RingCfg : WalkCfg<KR, KC, CPL, MINB, DIAG> {
  static constexpr int FEED = FEED_;  // 0: bulk tensor copies, 1: cp.async of 16 bytes, 2: of 4
  static constexpr int STAGES = STAGES_, VB = VB_, A = (KR - 1) / 8, R = (KR - 1) % 8, NB = A + 1 + STAGES;
  struct Shared {
    float rows[NB][8][256];
    double V[VB][8][256];
    unsigned long long full[NB];
  };
};
__device__ inline unsigned smem(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ inline void mbar_init(void* b, int n) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(smem(b)), "r"(n) : "memory");
}
__device__ inline void mbar_expect(void* b, int n) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(smem(b)), "r"(n) : "memory");
}
__device__ inline void mbar_wait(void* b, unsigned phase) {
  asm volatile(
      "{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@p bra D;\nbra W;\nD:\n}" ::"r"(smem(b)),
      "r"(phase)
      : "memory");
}
__device__ inline void tile_load(void* to, const CUtensorMap* map, int x, int y, void* b) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          smem(to)),
      "l"(map), "r"(x), "r"(y), "r"(smem(b))
      : "memory");
}

__device__ inline void copy16(void* to, const void* p) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem(to)), "l"(p) : "memory");
}
__device__ inline void copy4(void* to, const void* p) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(smem(to)), "l"(p) : "memory");
}
__device__ inline void copies_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ inline void copies_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
template <class C>
__global__ __launch_bounds__(C::threads, C::MINB) void ring(const __grid_constant__ WalkArgs a,
                                                            const __grid_constant__ CUtensorMap map) {
  constexpr int CPL = C::CPL, A = C::A, R = C::R, NB = C::NB;
  extern __shared__ __align__(1024) char bytes[];
  typename C::Shared& s = *reinterpret_cast<typename C::Shared*>(bytes);
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int segs = (a.steps + a.seg - 1) / a.seg;
  const int strip = a.rowsfirst ? blockIdx.x % a.strips : blockIdx.x / segs,
            segment = a.rowsfirst ? blockIdx.x / a.strips : blockIdx.x % segs;
  const int X0 = 8 * (C::firstblock + strip * C::outblocks);
  const int column = CPL * threadIdx.x;
  const int e0 = segment * a.seg + (C::KR - 1 - C::BR) / 8, e1 = min(e0 + a.seg, a.steps + (C::KR - 1 - C::BR) / 8);
  const int q = column >> 3;
  const int at = 8 * q + ((((column >> 1) & 3) ^ ((q >> 1) & 3)) << 1) + (column & 1);
  const int first = e0 - A - 1;
  const auto fetch = [&](int e, int n) {
    if (C::FEED == 0) {
      if (threadIdx.x == 0 && e < e1) {
        mbar_expect(&s.full[n], 8192);
        tile_load(s.rows[n], &map, X0, 8 * e, &s.full[n]);
      }
    } else {
      if (e < e1) {
        if (C::FEED == 1) {
          const int c = threadIdx.x & 63, gx = X0 + 4 * c;
          int y = 8 * e + (threadIdx.x >> 6);
          float* to = &s.rows[n][threadIdx.x >> 6][4 * c];
          const float* p = a.in + (long(y) * a.w + gx);
          const bool valid = gx >= 0 && gx < a.w;
          if (8 * e >= 0 && 8 * e + 8 <= a.h && valid) {
#pragma unroll
            for (int i = 0; i < 512 / C::threads; ++i)
              copy16(to, p), to += C::threads * 4, p += long(a.w) * (C::threads / 64);
          } else {
#pragma unroll
            for (int i = 0; i < 512 / C::threads; ++i) {
              if (valid && y >= 0 && y < a.h)
                copy16(to, p);
              else
                *reinterpret_cast<float4*>(to) = make_float4(0, 0, 0, 0);
              to += C::threads * 4, y += C::threads / 64, p += long(a.w) * (C::threads / 64);
            }
          }
        } else {
#pragma unroll
          for (int c = 0; c < CPL; ++c) {
            const int x = threadIdx.x + c * C::threads, gx = X0 + x;
            const bool valid = gx >= 0 && gx < a.w;
#pragma unroll
            for (int i = 0; i < 8; ++i) {
              const int y = 8 * e + i;
              if (valid && y >= 0 && y < a.h)
                copy4(&s.rows[n][i][x], a.in + (long(y) * a.w + gx));
              else
                s.rows[n][i][x] = 0;
            }
          }
        }
      }
      copies_commit();
    }
  };
  const auto landed = [&](int n, unsigned phase) {
    if (C::FEED == 0) mbar_wait(&s.full[n], phase);
  };
  if (C::FEED == 0 && threadIdx.x == 0) {
    for (int i = 0; i < NB; ++i) mbar_init(&s.full[i], 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  for (int i = 0; i < NB; ++i) fetch(first + i, i);
  if (C::FEED > 0) copies_wait<C::STAGES - 1>();
  __syncthreads();
  double X[8][CPL], Tr[A + 1][CPL];  // Tr[i]: total of block e - A + 1 + i, i < A - 1
#pragma unroll
  for (int c = 0; c < CPL; ++c) {
#pragma unroll
    for (int i = 0; i < 8; ++i) X[i][c] = 0;
#pragma unroll
    for (int i = 0; i <= A; ++i) Tr[i][c] = 0;
  }
  const auto row = [&](const float(*rows)[256], int i, double(&d)[CPL]) {
    if (CPL == 1)
      d[0] = rows[i][column];
    else {
      const float2 f = *reinterpret_cast<const float2*>(&rows[i][column]);
      d[0] = f.x, d[CPL - 1] = f.y;
    }
  };
  // slots and phases of the newest block and of the one that windows leave
  int slot = 0, phase = 0, old = NB - A;  // old: slot of block e - A (A > 0)
  const auto step_slots = [&] {
    if (++slot == NB) slot = 0, phase ^= 1;
    if (++old == NB) old = 0;
  };
  // sums of the leaving block from each row on
  const auto sums_left = [&](double(&S)[8][CPL]) {
#pragma unroll
    for (int i = 7; i >= 0; --i) {
      double d[CPL];
      row(s.rows[old], i, d);
#pragma unroll
      for (int c = 0; c < CPL; ++c) S[i][c] = i == 7 ? (C::plain ? d[c] + 0.0 : d[c]) : d[c] + S[i < 7 ? i + 1 : 7][c];
    }
  };
  const auto next_X = [&](const double(&S)[8][CPL], const double(&W)[CPL], const double(&T)[CPL]) {
#pragma unroll
    for (int c = 0; c < CPL; ++c) {
#pragma unroll
      for (int j = 0; j < R; ++j) X[j][c] = A == 0 ? S[8 - R + j][c] : S[8 - R + j][c] + (A == 1 ? T[c] : W[c] + T[c]);
#pragma unroll
      for (int i = 0; i + 1 < A - 1; ++i) Tr[i][c] = Tr[i + 1][c];
      if (A >= 2) Tr[A - 2][c] = T[c];
    }
  };
  if (old == NB) old = 0;
#pragma unroll 1
  for (int e = first; e < e0; ++e) {
    landed(slot, phase);
    double T[CPL], W[CPL];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      double d[CPL];
      row(s.rows[slot], i, d);
#pragma unroll
      for (int c = 0; c < CPL; ++c) T[c] = i == 0 ? d[c] : T[c] + d[c];
    }
#pragma unroll
    for (int c = 0; c < CPL; ++c) {
      W[c] = Tr[0][c];
#pragma unroll
      for (int i = 1; i < A - 1; ++i) W[c] = W[c] + Tr[i][c];
    }
    double S[8][CPL];
    if (e == e0 - 1) sums_left(S);
    next_X(S, W, T);
    step_slots();
  }
  // the first block is read
  __syncthreads();
  fetch(first + NB, 0);
#pragma unroll 1
  for (int e = e0; e < e1; ++e) {
    double(*const to)[256] = s.V[C::VB == 1 ? 0 : e & 1];
    if (C::DIAG == 1) {  // copies
      landed(slot, phase);
      for (int r = 0; r < CPL; ++r) {
        const int j = warp * CPL + r, y = 8 * e + j, g = X0 + 8 + 4 * lane;
        const float4 A = *reinterpret_cast<const float4*>(&s.rows[slot][j][4 * lane]),
                     B = *reinterpret_cast<const float4*>(&s.rows[slot][j][4 * lane + 128]);
        float* const to = a.out + (long(y) * a.w + g);
        if (y < a.h && g < a.w) __stcs(reinterpret_cast<float4*>(to), A);
        if (y < a.h && lane < 2 * C::outblocks - 32 && g + 128 < a.w) __stcs(reinterpret_cast<float4*>(to + 128), B);
      }
      if (C::FEED > 0) copies_wait<C::STAGES - 1>();
      __syncthreads();
      fetch(e - A + NB, old);
      step_slots();
      continue;
    }
    {
      double S[8][CPL], W[CPL], T[CPL], D[8][CPL];
      if (A > 0) sums_left(S);
#pragma unroll
      for (int c = 0; c < CPL; ++c) {
        W[c] = Tr[0][c];
#pragma unroll
        for (int i = 1; i < A - 1; ++i) W[c] = W[c] + Tr[i][c];
      }
      landed(slot, phase);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        double sum[CPL];
        row(s.rows[slot], j, D[j]);
#pragma unroll
        for (int c = 0; c < CPL; ++c) {
          T[c] = j == 0 ? D[0][c] : T[c] + D[j][c];
          if (j < R)
            sum[c] = X[j][c] + T[c];
          else if (A == 1)
            sum[c] = S[j - R][c] + T[c];
          else if (A > 1)
            sum[c] = (S[j - R][c] + W[c]) + T[c];
          else {
            sum[c] = D[j - R][c];
#pragma unroll
            for (int i = j - R + 1; i <= j; ++i) sum[c] = sum[c] + D[i][c];
          }
        }
        if (CPL == 1)
          to[j][at] = sum[0];
        else
          *reinterpret_cast<double2*>(&to[j][at]) = make_double2(sum[0], sum[CPL - 1]);
      }
      if (A == 0) {
#pragma unroll
        for (int c = 0; c < CPL; ++c) {
          S[7][c] = C::plain ? D[7][c] + 0.0 : D[7][c];
#pragma unroll
          for (int i = 6; i >= 0; --i) S[i][c] = D[i][c] + S[i + 1][c];
        }
      }
      next_X(S, W, T);
    }
    if (C::FEED > 0) copies_wait<C::STAGES - 1>();
    __syncthreads();
    fetch(e - A + NB, old);
#pragma unroll 1
    for (int r = 0; r < CPL; ++r) {
      const int j = warp * CPL + r;
      const int y = 8 * e + j - (C::KR - 1) + C::BR;
      double v[8], sum[8];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const double2 two = *reinterpret_cast<const double2*>(&to[j][8 * lane + ((i ^ ((lane >> 1) & 3)) << 1)]);
        v[2 * i] = two.x, v[2 * i + 1] = two.y;
      }
      along<C>(v, sum);
      float f[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) f[i] = mean_of(sum[i], a.hi, a.lo, C::plain);
      put_row<C>(a, to[j], X0 + C::BC, y, f, C::DIAG == 3 ? f[0] == 1.2345f && f[7] == 5.4321f : y >= 0 && y < a.h);
    }
    if (C::VB == 1) __syncthreads();
    step_slots();
  }
}

inline CUtensorMap tensor_map(const float* p, int w, int h, int cols, int rows,
                              CUtensorMapL2promotion l2 = CU_TENSOR_MAP_L2_PROMOTION_L2_128B) {
  using F = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                         const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                         CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  static F f = [] {
    void* q = nullptr;
    cudaDriverEntryPointQueryResult r;
    CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &q, cudaEnableDefault, &r));
    return (F)q;
  }();
  CUtensorMap m;
  cuuint64_t size[2] = {(cuuint64_t)w, (cuuint64_t)h}, pitch[1] = {(cuuint64_t)w * 4};
  cuuint32_t box[2] = {(cuuint32_t)cols, (cuuint32_t)rows}, one[2] = {1, 1};
  CUresult e = f(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void*)p, size, pitch, box, one, CU_TENSOR_MAP_INTERLEAVE_NONE,
                 CU_TENSOR_MAP_SWIZZLE_NONE, l2, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (e) {
    printf("tensor map %d\n", e);
    exit(1);
  }
  return m;
}
template <class C>
void run_ring(const Job& j, int seg, bool rowsfirst) {
  WalkArgs a{j.in, j.out, j.w, j.h};
  const int lead = C::KR - 1 - C::BR;
  a.steps = (j.h - 1 + lead) / 8 - lead / 8 + 1;
  a.strips = strips_of<C>(j.w);
  a.rowsfirst = rowsfirst;
  split_reciprocal(double(C::KR) * C::KC, a.hi, a.lo);
  static int held = [] {
    int n;
    CHECK(cudaFuncSetAttribute(ring<C>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(typename C::Shared)));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, ring<C>, C::threads, sizeof(typename C::Shared)));
    return n * sms();
  }();
  a.seg = seg > 0 ? seg : seg_of(a.steps, a.strips, held, -seg);
  ring<C><<<a.strips*((a.steps + a.seg - 1) / a.seg), C::threads, sizeof(typename C::Shared)>>>(
      a, tensor_map(j.in, j.w, j.h, 256, 8,
                    C::DIAG == 8   ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B
                    : C::DIAG == 9 ? CU_TENSOR_MAP_L2_PROMOTION_NONE
                                   : CU_TENSOR_MAP_L2_PROMOTION_L2_128B));
}
template <int KR, int KC, int CPL, int MINB, int STAGES, int VB, int DIAG = 0, int FEED = 0>
Variant ring_variant(int seg, bool rowsfirst) {
  using C = RingCfg<KR, KC, CPL, MINB, STAGES, VB, DIAG, FEED>;
  char name[100], cut[20];
  snprintf(cut, 20, seg > 0 ? "seg%d" : "waves%d", abs(seg));
  snprintf(name, 100, "ring %dx%d cpl%d b%d st%d vb%d %s%s%s %s", KR, KC, CPL, MINB, STAGES, VB,
           DIAG == 0   ? ""
           : DIAG == 1 ? "COPY "
           : DIAG == 3 ? "NOSTORE "
           : DIAG == 7 ? "plain "
           : DIAG == 8 ? "l2-256 "
           : DIAG == 9 ? "l2-none "
                       : "? ",
           FEED == 0   ? ""
           : FEED == 1 ? "cp16 "
                       : "cp4 ",
           cut, rowsfirst ? "x" : "y");
  return {name, KR, KC, [=](const Job& j) { run_ring<C>(j, seg, rowsfirst); }};
}
