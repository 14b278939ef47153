#pragma once
// Structure "turn": a block of threads walks down a strip of 256 columns, 8 rows (a block of the definition) a step.
// Down: a lane owns CPL columns and has 8 rows of them in registers; the sums of the last blocks wait in registers.
// Turn: the 8 rows of column sums go through shared memory (swizzled).
// Along: a warp has a row (CPL rows, one after the other), a lane a block of 8 columns; ends of windows by shuffles.
#include "harness.h"
struct TurnArgs {
  const float* in;
  float* out;
  int w, h, steps, seg, strips;
  double hi, lo;
  bool rowsfirst;
};

__device__ inline double down(double v, int by) { return __shfl_down_sync(~0u, v, by); }

// DIAG, for times alone: 1 copies in the same order; 2 loads nothing; 3 stores nothing; 4 neither; 5 no along; 6 no
// barrier.
template <int KR_, int KC_, int CPL_, int OUT_, int MINB_, int DIAG_ = 0>
struct TurnCfg {
  static constexpr int KR = KR_, KC = KC_, CPL = CPL_, OUT = OUT_, MINB = MINB_, DIAG = DIAG_;
  static constexpr int threads = 256 / CPL, warps = threads / 32;
  static constexpr int BR = KR / 2, BC = KC / 2, awayR = (KR - 1) / 8, restR = (KR - 1) % 8, awayC = (KC - 1) / 8,
                       restC = (KC - 1) % 8;
  static constexpr int complete = 32 - awayC - (restC > 0);  // lanes whose windows are complete
  // OUT 3: a lane's outputs go out as 8 that are aligned, the last `up` of them from the next lane's windows
  static constexpr int up = OUT == 3 ? (8 - BC % 8) % 8 : 0;
  static constexpr int outblocks = up == 0 || (restC > 0 && up <= 8 - restC) ? complete : complete - 1;
  static constexpr int firstblock = -((BC + up + 7) / 8);
  static constexpr bool plain = KR <= 8 && KC <= 8;
};

// Sums of a row's 8 columns a lane: 8 windows a lane.
template <class C>
__device__ inline void along(const double (&v)[8], double (&sum)[8]) {
  constexpr int A = C::awayC, R = C::restC;
  double P[8], S[8];
  P[0] = v[0];
#pragma unroll
  for (int i = 1; i < 8; ++i) P[i] = P[i - 1] + v[i];
  S[7] = A == 0 ? v[7] + 0.0 : v[7];
#pragma unroll
  for (int i = 6; i >= 0; --i) S[i] = v[i] + S[i + 1];
  double w0 = 0, w1 = 0;  // of windows that end A and A + 1 blocks away
#pragma unroll
  for (int n = 1; n <= A; ++n) {
    w0 = w1;
    const double t = down(P[7], n);
    w1 = n == 1 ? t : w1 + t;
  }
#pragma unroll
  for (int c = 0; c < 8; ++c) {
    if (c + R < 8) {
      if (A == 0) {
        sum[c] = v[c];
#pragma unroll
        for (int i = c + 1; i <= c + R; ++i) sum[c] = sum[c] + v[i];
      } else {
        const double p = down(P[(c + R) % 8], A);
        sum[c] = (A > 1 ? S[c] + w0 : S[c]) + p;
      }
    } else {
      const double p = down(P[(c + R) % 8], A + 1);
      sum[c] = (A > 0 ? S[c] + w1 : S[c]) + p;
    }
  }
}
// The rounded quotient of sum and n by 1 / n = hi + lo, lo > 0.
__device__ inline float mean_of(double sum, double hi, double lo, bool plain) {
  const double t = plain ? sum * lo : __fma_rn(sum, lo, 0.0);
  return float(__fma_rn(sum, hi, t));
}

template <class C>
__device__ inline void put_row(const TurnArgs& a, double* row, int x0, int y, const float (&f)[8], bool write) {
  // x0: the block's first output column + BC; windows of lanes < outblocks
  const int lane = threadIdx.x & 31;
  if (C::OUT == 3) {  // staged, vectors
    float o[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
      o[i] = i + C::up < 8 ? f[(i + C::up) % 8] : __shfl_down_sync(~0u, f[(i + C::up) % 8], 1);
    float4* const s = reinterpret_cast<float4*>(row);
    const int z = (lane >> 2) & 1;
    s[2 * lane + z] = make_float4(o[0], o[1], o[2], o[3]);
    s[2 * lane + 1 - z] = make_float4(o[4], o[5], o[6], o[7]);
    __syncwarp();
    const int from = lane ^ ((lane >> 3) & 1);
    const float4 A = s[from], B = s[from + 32];
    if (!write) return;
    const int g = x0 + C::up + 4 * lane;  // of the image's width and alignment: a multiple of 4
    float* const to = a.out + (long(y) * a.w + g);
    if (g >= 0 && g < a.w)
      C::DIAG == 7 ? (void)(*reinterpret_cast<float4*>(to) = A) : __stcs(reinterpret_cast<float4*>(to), A);
    if (lane < 2 * C::outblocks - 32 && g + 128 < a.w)
      C::DIAG == 7 ? (void)(*reinterpret_cast<float4*>(to + 128) = B) : __stcs(reinterpret_cast<float4*>(to + 128), B);
  } else if (C::OUT == 0) {  // staged, words
    float* s = reinterpret_cast<float*>(row);
    __syncwarp();
    const int z = (lane >> 2) & 1;
    // chunks of 16 bytes: 2 a lane; swizzle the pair
    reinterpret_cast<float4*>(s)[2 * lane + (0 ^ z)] = make_float4(f[0], f[1], f[2], f[3]);
    reinterpret_cast<float4*>(s)[2 * lane + (1 ^ z)] = make_float4(f[4], f[5], f[6], f[7]);
    __syncwarp();
    if (!write) return;
    const int first = x0 & ~31, end = min(x0 + 8 * C::outblocks, a.w), begin = max(x0, 0);
    float* to = a.out + long(y) * a.w;
#pragma unroll
    for (int i = 0; i < 9; ++i) {
      const int g = first + 32 * i + lane, l = g - x0;
      if (g >= begin && g < end) __stcs(to + g, s[l ^ ((l >> 3) & 4)]);
    }
  } else {
    constexpr int sh = C::BC & 7;
    constexpr int up = sh == 0 ? 0 : sh <= 4 ? sh : 8 - sh;  // shuffles
    float o[8];
    int g;  // the first of the lane's 8 aligned outputs
    if (sh == 0) {
      g = x0 + 8 * lane;
#pragma unroll
      for (int i = 0; i < 8; ++i) o[i] = f[i];
    } else if (sh <= 4) {
      g = x0 + 8 * lane - sh;
#pragma unroll
      for (int i = 0; i < 8; ++i) o[i] = i < sh ? __shfl_up_sync(~0u, f[(8 - sh + i) % 8], 1) : f[(i + 8 - sh) % 8];
    } else {
      g = x0 + 8 * lane + up;
#pragma unroll
      for (int i = 0; i < 8; ++i) o[i] = i + up < 8 ? f[(i + up) % 8] : __shfl_down_sync(~0u, f[(i + up) % 8], 1);
    }
    const int begin = max(x0, 0), end = min(x0 + 8 * C::outblocks, a.w);
    float* to = a.out + long(y) * a.w;
    const bool all = g >= begin && g + 8 <= end;
    if (C::OUT == 2) {
      const bool odd = lane & 1;
      float r[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) r[i] = __shfl_xor_sync(~0u, odd ? o[i] : o[i + 4], 1);
      // even: o[0..3], r = other's first half; odd: r = other's second half, o[4..7]
      const bool pall = __shfl_xor_sync(~0u, (int)all, 1);
      const float4 A = odd ? make_float4(r[0], r[1], r[2], r[3]) : make_float4(o[0], o[1], o[2], o[3]);
      const float4 B = odd ? make_float4(o[4], o[5], o[6], o[7]) : make_float4(r[0], r[1], r[2], r[3]);
      if (write) {
        // A goes to the even lane's block, B to the odd lane's
        if (odd ? pall : all) __stcs(reinterpret_cast<float4*>(to + g + (odd ? -4 : 0)), A);
        if (odd ? all : pall) __stcs(reinterpret_cast<float4*>(to + g + (odd ? 4 : 8)), B);
      }
    } else if (write && all) {
      __stcs(reinterpret_cast<float4*>(to + g), make_float4(o[0], o[1], o[2], o[3]));
      __stcs(reinterpret_cast<float4*>(to + g + 4), make_float4(o[4], o[5], o[6], o[7]));
    }
    if (write && !all) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        if (g + i >= begin && g + i < end) __stcs(to + g + i, o[i]);
    }
    if (up && sh > 4 && lane == 0 && write) {
#pragma unroll
      for (int i = 0; i < up; ++i)
        if (x0 + i >= begin && x0 + i < end) __stcs(to + x0 + i, f[i]);
    }
  }
}

template <class C>
__global__ __launch_bounds__(C::threads, C::MINB) void turn(const __grid_constant__ TurnArgs a) {
  constexpr int CPL = C::CPL, A = C::awayR, R = C::restR;
  static_assert(A <= 1);
  __shared__ __align__(16) double V[2][8][256];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int segs = (a.steps + a.seg - 1) / a.seg;
  const int strip = a.rowsfirst ? blockIdx.x % a.strips : blockIdx.x / segs,
            segment = a.rowsfirst ? blockIdx.x / a.strips : blockIdx.x % segs;
  const int X0 = 8 * (C::firstblock + strip * C::outblocks);
  const int column = CPL * threadIdx.x;  // in the strip
  const int gx = X0 + column;
  const int e0 = segment * a.seg + (C::KR - 1 - C::BR) / 8, e1 = min(e0 + a.seg, a.steps + (C::KR - 1 - C::BR) / 8);
  const bool valid = gx >= 0 && gx < a.w;  // w is a multiple of CPL
  // Where the column's chunk is in a row of V.
  const int q = column >> 3;
  const int at = 8 * q + ((((column >> 1) & 3) ^ ((q >> 1) & 3)) << 1) + (column & 1);

  float raw[8][CPL] = {};
  const float* from = a.in + gx;
  const auto fetch = [&](int e) {
    const int y = 8 * e;
    if (C::DIAG == 2 || C::DIAG == 4) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int c = 0; c < CPL; ++c) raw[i][c] = raw[i][c] + float(a.hi);
    } else if (y >= 0 && y + 8 <= a.h) {
      if (valid) {
        const float* p = from + long(y) * a.w;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          if (CPL == 1)
            raw[i][0] = __ldg(p);
          else {
            const float2 t = __ldg(reinterpret_cast<const float2*>(p));
            raw[i][0] = t.x, raw[i][CPL - 1] = t.y;
          }
          p += a.w;
        }
      }
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int c = 0; c < CPL; ++c)
          raw[i][c] = valid && y + i >= 0 && y + i < a.h ? __ldg(from + long(y + i) * a.w + c) : 0.f;
    }
  };
  double S1[8][CPL], X[8][CPL];  // X[j]: of windows that end in row j < R and begin A + 1 blocks before
  // S1: sums of the last block from each row on
  const auto take_over = [&](const double(&D)[8][CPL], const double(&T)[CPL]) {
#pragma unroll
    for (int c = 0; c < CPL; ++c) {
      if (A == 1) {
#pragma unroll
        for (int j = 0; j < R; ++j) X[j][c] = S1[8 - R + j][c] + T[c];
      }
      S1[7][c] = C::plain ? D[7][c] + 0.0 : D[7][c];
#pragma unroll
      for (int i = 6; i >= 0; --i) S1[i][c] = D[i][c] + S1[i + 1][c];
      if (A == 0) {
#pragma unroll
        for (int j = 0; j < R; ++j) X[j][c] = S1[8 - R + j][c];
      }
    }
  };
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int c = 0; c < CPL; ++c) S1[i][c] = X[i][c] = 0;
  fetch(e0 - A - 1);
#pragma unroll 1
  for (int e = e0 - A - 1; e < e0; ++e) {
    double D[8][CPL], T[CPL];
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int c = 0; c < CPL; ++c) D[i][c] = raw[i][c];
    fetch(e + 1);
#pragma unroll
    for (int c = 0; c < CPL; ++c) {
      T[c] = D[0][c];
#pragma unroll
      for (int i = 1; i < 8; ++i) T[c] = T[c] + D[i][c];
    }
    take_over(D, T);
  }
#pragma unroll 1
  for (int e = e0; e < e1; ++e) {
    double D[8][CPL], T[CPL];
    double(*const to)[256] = V[e & 1];
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int c = 0; c < CPL; ++c) D[i][c] = raw[i][c];
    if (C::DIAG == 1) {
      if (valid) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          const int y = 8 * e + j;
          if (y < a.h && column < 8 * C::outblocks) {
            if (CPL == 1)
              __stcs(a.out + long(y) * a.w + gx, raw[j][0]);
            else
              __stcs(reinterpret_cast<float2*>(a.out + long(y) * a.w + gx), make_float2(raw[j][0], raw[j][CPL - 1]));
          }
        }
      }
      if (e + 1 < e1) fetch(e + 1);
      continue;
    }
    if (e + 1 < e1) fetch(e + 1);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      double sum[CPL];
#pragma unroll
      for (int c = 0; c < CPL; ++c) {
        T[c] = j == 0 ? D[0][c] : T[c] + D[j][c];
        if (j < R)
          sum[c] = X[j][c] + T[c];
        else if (A == 1)
          sum[c] = S1[j - R][c] + T[c];
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
    take_over(D, T);
    if (C::DIAG == 6)
      __syncwarp();
    else
      __syncthreads();
    if (C::DIAG == 5) continue;
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
      put_row<C>(a, to[j], X0 + C::BC, y, f,
                 (C::DIAG == 3 || C::DIAG == 4) ? f[0] == 1.2345f && f[7] == 5.4321f : y >= 0 && y < a.h);
    }
  }
}

inline void split_reciprocal(double n, double& hi, double& lo) {
  long double r = 1.0L / n;  // then exactly by a remainder
  hi = (double)r;
  double rem = -__builtin_fma(hi, n, -1.0);  // 1 - hi n, exact
  if (rem < 0) {
    hi = __builtin_nextafter(hi, 0.0);
    rem = -__builtin_fma(hi, n, -1.0);
  }
  lo = rem / n;
  if (lo <= 0) lo = 0x1p-600;
}
// Segments of that many steps, so that all of them take about `waves` rounds of the blocks that the device holds.
inline int seg_of(int steps, int strips, int held, int waves) {
  const int segs = std::max(1, waves * held / strips);
  return std::max(1, (steps + segs - 1) / segs);
}
template <class C>
int strips_of(int w) {
  return ((w - 1 - C::BC - C::up) - 8 * C::firstblock) / (8 * C::outblocks) + 1;
}
template <class C>
void run_turn(const Job& j, int seg, bool rowsfirst) {
  TurnArgs a{j.in, j.out, j.w, j.h};
  const int lead = C::KR - 1 - C::BR;  // last row of the first window
  a.steps = (j.h - 1 + lead) / 8 - lead / 8 + 1;
  a.strips = strips_of<C>(j.w);
  static int held = [] {
    int n;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, turn<C>, C::threads, 0));
    return n * sms();
  }();
  a.seg = seg = seg > 0 ? seg : seg_of(a.steps, a.strips, held, -seg);
  a.rowsfirst = rowsfirst;
  split_reciprocal(double(C::KR) * C::KC, a.hi, a.lo);
  turn<C><<<a.strips*((a.steps + seg - 1) / seg), C::threads>>>(a);
}
template <int KR, int KC, int CPL, int OUT, int MINB, int DIAG = 0>
Variant turn_variant(int seg, bool rowsfirst) {
  using C = TurnCfg<KR, KC, CPL, OUT, MINB, DIAG>;
  char name[100];
  snprintf(name, 100, "turn %dx%d cpl%d out%d b%d %sseg%d %s", KR, KC, CPL, OUT, MINB,
           DIAG == 0   ? ""
           : DIAG == 1 ? "COPY "
           : DIAG == 2 ? "NOLOAD "
           : DIAG == 3 ? "NOSTORE "
           : DIAG == 4 ? "NEITHER "
           : DIAG == 5 ? "NOALONG "
                       : "NOBAR ",
           seg, rowsfirst ? "x" : "y");
  return {name, KR, KC, [=](const Job& j) { run_turn<C>(j, seg, rowsfirst); }};
}
