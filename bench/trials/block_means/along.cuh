#pragma once
// The sums along a row of 256 columns, and the stores of their means. A warp has a row, a lane a block of 8 columns;
// the ends of windows come by shuffles.
#include "harness.h"
struct WalkArgs {
  const float* in;
  float* out;
  int w, h, steps, seg, strips;
  double hi, lo;
  bool rowsfirst;
};

__device__ inline double down(double v, int by) { return __shfl_down_sync(~0u, v, by); }

// DIAG, for times alone: 1 copies in the same order; 3 stores nothing; 7 stores without a hint; 8 and 9 load with a
// promotion of 256 bytes in the L2, and none.
template <int KR_, int KC_, int CPL_, int MINB_, int DIAG_ = 0>
struct WalkCfg {
  static constexpr int KR = KR_, KC = KC_, CPL = CPL_, MINB = MINB_, DIAG = DIAG_;
  static constexpr int threads = 256 / CPL, warps = threads / 32;
  static constexpr int BR = KR / 2, BC = KC / 2, awayR = (KR - 1) / 8, restR = (KR - 1) % 8, awayC = (KC - 1) / 8,
                       restC = (KC - 1) % 8;
  static constexpr int complete = 32 - awayC - (restC > 0);  // lanes whose windows are complete
  // A lane stores 8 aligned outputs, the last `up` of them of the next lane's windows.
  static constexpr int up = (8 - BC % 8) % 8;
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
__device__ inline void put_row(const WalkArgs& a, double* row, int x0, int y, const float (&f)[8], bool write) {
  // x0: the block's first output column + BC; windows of lanes < outblocks
  const int lane = threadIdx.x & 31;
  float o[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) o[i] = i + C::up < 8 ? f[(i + C::up) % 8] : __shfl_down_sync(~0u, f[(i + C::up) % 8], 1);
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
