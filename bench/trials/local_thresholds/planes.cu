// Trial: which bytes are above Sauvola's local thresholds, by wgmma (sm_90a). The fastest structure that was measured.
//   nvcc -O3 -std=c++20 -gencode=arch=compute_90a,code=sm_90a -lineinfo -o planes planes.cu && ./planes
// Beyond the edge are zeros; n is that of whole windows. Rows must be a multiple of 16 bytes at aligned addresses,
// windows up to 65 rows and columns (K1, K2: steps of 32 columns or rows, 64 + window - 1 + alignment). Measured on one
// H100 at 8192x8192 with this code, before clock reads were removed and the number of chunks was written for any height
// (equal for these sizes).
//
// A block: 128 columns, a segment of rows, in chunks of 64 rows. 4 warps of producers copy pixels (cp.async, 128-byte
// swizzled lines) and make two planes of squares in the same places: (p - 128)^2 = 128 f + g. Two warpgroups of 64
// columns each:
//   D1 = band [64 columns x K] x pixels, g, f [K x 64 rows]: sums along rows. f has a band of 128, so that g and f
//   share accumulators. pack: sums to bytes, planes b0, 2 b1 of pixels, b0, b1, 2 b2 of squares, in shared memory
//   ([column][row], rows permuted as accumulators have them). D2 = band [64 rows x K] x planes: S1, B, A with sum (p -
//   128)^2 = A + 256 B; 2 b1 and 2 b2 have a band of 128. decision in floats from integers that are read as denormals,
//   those within `bound` again, then in double.
// Reads: each pixel (128 + 32 .. 64) / 128 times, through the L2; writes: each output once.
#include "rounds.cuh"

__device__ __forceinline__ void bar_wait(uint32_t b, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred p;\nL: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@p bra D;\nbra L;\nD:\n}" ::"r"(b),
      "r"(parity)
      : "memory");
}

struct Doubtful {
  uint32_t sum[16], low[16], high[16];
  uint32_t p[4], doubtful;
  uint8_t* to;
  int n;
  double k, r, offset;
  uint32_t above, below;
};
// Outputs in double.
__device__ __noinline__ void exact(const Doubtful& lane) {
  const double n = lane.n;
  atomicAdd(&doubts, 1ull);
#pragma unroll 1
  for (uint32_t left = lane.doubtful; left != 0; left &= left - 1) {
    const int i = __ffs(left) - 1, shift = i % 4 * 8;
    const long long s1 = lane.sum[i], s2 = (long long)lane.low[i] + 256ll * lane.high[i], c = s1 - 128ll * lane.n;
    const double top = (double)(lane.n * s2 - c * c);
    const double mean = (double)s1 / n, root = sqrt(top / (n * n));
    const double t =
        __dsub_rn(__dmul_rn(mean, __dadd_rn(1, __dmul_rn(lane.k, __dsub_rn(root / lane.r, 1)))), lane.offset);
    const uint32_t p = lane.p[i / 4] >> shift & 0xff;
    const uint32_t v = ((double)p > t ? lane.above : lane.below) & 0xff;
    lane.to[i] = v;
  }
}
// s: sums and higher parts of squares' sums; l: their lower parts.
template <int h, int dec>
__device__ __forceinline__ uint4 decide(const Args& a, const uint32_t (&s)[64], const uint32_t (&l)[32],
                                        const uint4& pixels, bool& doubt) {
  const uint32_t p[4] = {pixels.x, pixels.y, pixels.z, pixels.w};
  uint32_t out[4];
  float least = 3e38f;
  __nv_bfloat162 less = __float2bfloat162_rn(3e38f);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    float apart[4];
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      const int i = 4 * (2 * k + b / 2) + 2 * h + b % 2;
      if constexpr (dec < 2) {
        apart[b] = float_apart(a, s[i], s[32 + i], l[i], p[k], b);
      } else {
        const uint32_t sum = s[i];
        const int s2 = l[i] + (s[32 + i] << 8);
        const int c = (int)sum - 128 * a.n;
        const long long top = (long long)s2 * a.n - (long long)c * c;
        const float root = root_estimate((float)top);
        const float raised = __uint_as_float(prmt(p[k], 0x4b000000, 0x7440 + b));
        apart[b] = __fmaf_rn((float)sum, __fmaf_rn(a.icross, root, a.imean), a.ifrom - raised);
      }
      if (dec != 1) least = fminf(least, fabsf(apart[b]));
    }
    uint32_t above;
    if constexpr (dec == 1) {
      const __nv_bfloat162 one = __floats2bfloat162_rn(apart[0], apart[1]),
                           two = __floats2bfloat162_rn(apart[2], apart[3]);
      less = __hmin2(less, __habs2(one)), less = __hmin2(less, __habs2(two));
      above = prmt(*(const uint32_t*)&one, *(const uint32_t*)&two, 0xfdb9);
    } else {
      above = prmt(prmt(__float_as_uint(apart[0]), __float_as_uint(apart[1]), 0xfbfb),
                   prmt(__float_as_uint(apart[2]), __float_as_uint(apart[3]), 0xfbfb), 0x5410);
    }
    out[k] = (a.above & above) | (a.below & ~above);
  }
  if constexpr (dec == 1) least = fminf(__low2float(less), __high2float(less));
  doubt = least < (dec == 2 ? a.ibound : a.bound);
  return make_uint4(out[0], out[1], out[2], out[3]);
}
// Windows of zeros have the threshold `shift`, exactly.
template <int h>
__device__ __forceinline__ uint32_t doubtful(const Args& a, const uint32_t (&s)[64], const uint32_t (&l)[32],
                                             const uint4& pixels) {
  const uint32_t p[4] = {pixels.x, pixels.y, pixels.z, pixels.w};
  uint32_t all = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const int at = 4 * (i / 2) + 2 * h + i % 2;
    if (s[at] != 0 && fabsf(float_apart(a, s[at], s[32 + at], l[at], p[i / 4], i % 4)) < a.bound) all |= 1u << i;
  }
  return all;
}
template <int h>
__device__ __forceinline__ void exactly(const Args& a, const uint32_t (&s)[64], const uint32_t (&l)[32],
                                        const uint4& pixels, uint8_t* to, uint32_t which) {
  Doubtful lane;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const int at = 4 * (i / 2) + 2 * h + i % 2;
    lane.sum[i] = s[at], lane.high[i] = s[32 + at], lane.low[i] = l[at];
  }
  lane.to = to, lane.doubtful = which;
  lane.p[0] = pixels.x, lane.p[1] = pixels.y, lane.p[2] = pixels.z, lane.p[3] = pixels.w;
  lane.n = a.n, lane.k = a.k, lane.r = a.r, lane.offset = a.offset, lane.above = a.above, lane.below = a.below;
  exact(lane);
}

template <int K1, int K2, int SP>
struct Shape {
  static constexpr int G = 2, P = 4, threads = 128 * G + 32 * P, columns = 64 * G, span = columns - 64 + 32 * K1;
  static constexpr int W1 = span - 128, swizzle1 = W1 == 64 ? 2 : 3;  // the second block's line
  static_assert(W1 == 32 || W1 == 64);
  static constexpr int tile = 8192 + 64 * W1;
  static constexpr int lbo = 5 * 1024 + 64, planes = 8 * lbo;
  static constexpr int off_q = SP * tile, off_h = off_q + 4 * tile, off_a1 = (off_h + G * planes + 127) / 128 * 128;
  static constexpr int off_a2 = off_a1 + 2 * 2048 * K1, off_bar = off_a2 + 2 * 2048 * K2,
                       bytes = off_bar + 16 * SP + 16;
};

template <int K1, int K2, int SP, int lag, bool pipe, int dec>
__global__ void __launch_bounds__(384, 1) sauvola(const __grid_constant__ Args a) {
  using K = Shape<K1, K2, SP>;
  constexpr int G = K::G;
  static_assert(SP >= lag + 2 + pipe);
  extern __shared__ __align__(1024) uint8_t shared[];
  const uint32_t base = smem_addr(shared);
  const int thread = threadIdx.x, lane = thread % 32, g = lane / 4, q = lane % 4;
  const int strip = blockIdx.x % a.strips, segment = blockIdx.x / a.strips;
  const int x0 = strip * K::columns, y0 = segment * a.segment_rows;
  const int rows = min(a.segment_rows, a.height - y0);
  const int left = x0 - a.margin, top = y0 - a.rows_before;
  const int chunks = (rows + 63) / 64 + 1;
  const uint32_t ready = base + K::off_bar, empty = ready + 8 * SP, empty_q = empty + 8 * SP;
  if (thread < SP) {
    bar_init(ready + 8 * thread, 128);
    bar_init(empty + 8 * thread, 4 * G);
  }
  if (thread < 2) bar_init(empty_q + 8 * thread, 4 * G);
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  __syncthreads();
  if (thread >= 128 * G) {  // pixels and their squares
    if constexpr (pipe) asm volatile("setmaxnreg.dec.sync.aligned.u32 72;");
    const int t = thread - 128 * G;
    const int v = t % 8, r0 = t / 8, x = left + 16 * v;
    constexpr int V1 = K::W1 / 16, R1 = 128 / V1, turns1 = 64 / R1;
    const int v1 = t % V1, r1 = t / V1, x1 = left + 128 + 16 * v1;
    const bool in0 = x >= 0 && x + 16 <= a.width, in1 = x1 >= 0 && x1 + 16 <= a.width;
    const uint32_t cell0 = r0 * 128 + ((v ^ r0) % 8) * 16;  // 16 rows further: the same swizzle
    const uint32_t cell1 = 8192 + r1 * K::W1 + (K::W1 == 64 ? (v1 ^ (r1 >> 1)) % 4 : (v1 ^ (r1 >> 2)) % 2) * 16;
    const uint8_t* from0 = a.in + (int64_t)(top + r0) * a.width + x;
    const uint8_t* from1 = a.in + (int64_t)(top + r1) * a.width + x1;
    auto square = [&](int c) {
      const uint32_t p = base + (c % SP) * K::tile, to = base + K::off_q + (c & 1) * 2 * K::tile;
      if (c >= 2) bar_wait(empty_q + 8 * (c & 1), (c / 2 - 1) & 1);
#pragma unroll
      for (int i = 0; i < 4 + turns1; ++i) {
        const uint32_t at = i < 4 ? cell0 + i * 2048 : cell1 + (i - 4) * R1 * K::W1;
        const uint4 w = lds128(p + at);
        uint32_t f[4], s[4];
        squares4(w.x, f[0], s[0]), squares4(w.y, f[1], s[1]), squares4(w.z, f[2], s[2]), squares4(w.w, f[3], s[3]);
        sts128(to + at, f[0], f[1], f[2], f[3]);
        sts128(to + K::tile + at, s[0], s[1], s[2], s[3]);
      }
      proxy_fence();
      bar_arrive(ready + 8 * (c % SP));
    };
#pragma unroll 1
    for (int c = 0; c < chunks; ++c) {
      const int s = c % SP;
      if (c >= lag) {
        wait_cp<lag - 1>();
        square(c - lag);
      }
      if (c >= SP) bar_wait(empty + 8 * s, (c / SP - 1) & 1);
      const uint32_t to = base + s * K::tile;
      const int y = top + 64 * c;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int yy = y + r0 + 16 * i;
        const bool ok = in0 && yy >= 0 && yy < a.height;
        cp16(to + cell0 + i * 2048, ok ? from0 : a.in, ok);
        from0 += (int64_t)16 * a.width;
      }
#pragma unroll
      for (int i = 0; i < turns1; ++i) {
        const int yy = y + r1 + R1 * i;
        const bool ok = in1 && yy >= 0 && yy < a.height;
        cp16(to + cell1 + i * R1 * K::W1, ok ? from1 : a.in, ok);
        from1 += (int64_t)R1 * a.width;
      }
      commit();
    }
    wait_cp<0>();
#pragma unroll 1
    for (int c = max(0, chunks - lag); c < chunks; ++c) square(c);
    return;
  }
  if constexpr (pipe) asm volatile("setmaxnreg.inc.sync.aligned.u32 216;");
  for (int n = thread; n < 64 * 8 * K1; n += 128 * G) {
    const int m = n % 64, k = n / 64 * 4;
    const int column = 16 * (m % 8 / 2) + 2 * (m / 8) + m % 2, first = column + a.margin - a.before;
    const uint32_t ones = band4(first, a.win_w, k);
    uint8_t* const at = shared + K::off_a1 + (k / 16) * 1024 + m * 16 + k % 16;
    *(uint32_t*)at = ones, *(uint32_t*)(at + 2048 * K1) = ones << 7;
  }
  for (int n = thread; n < 64 * 8 * K2; n += 128 * G) {
    const int m = n % 64, k = n / 64 * 4, i = k % 8, row = k / 32 * 32 + 8 * (i / 2) + 2 * (k % 32 / 8);
    auto one = [&](int row) { return row >= m && row < m + a.win_h ? 1u : 0u; };
    const uint32_t ones = one(row) | one(row + 1) << 8 | one(row + 8) << 16 | one(row + 9) << 24;
    uint8_t* const at = shared + K::off_a2 + (k / 16) * 1024 + m * 16 + k % 16;
    *(uint32_t*)at = ones, *(uint32_t*)(at + 2048 * K2) = ones << 7;
  }
  proxy_fence();
  asm volatile("bar.sync 15, %0;" ::"n"(128 * G) : "memory");
  const int wg = __shfl_sync(~0u, thread / 128, 0), warp = __shfl_sync(~0u, thread / 32 % 4, 0);
  const uint32_t mine = base + K::off_h + wg * K::planes;
  const uint64_t band1 = desc(base + K::off_a1, 1024, 128), band2 = desc(base + K::off_a2, 1024, 128);
  const uint64_t planes = desc(mine, K::lbo, 128);
  const uint32_t cell = mine + (q / 2) * K::lbo + 2 * warp * 128 + g * 16 + q % 2 * 8;
  const int x = x0 + 64 * wg + 16 * q;
  int y = 16 * warp + g;
  uint8_t* to = a.out + (int64_t)(y0 + y) * a.width + x;
  uint32_t p[32], e[32], s[64], l[32];
  const uint64_t first0 = desc(base + 64 * wg, 16, 1024, 1);
  const uint64_t first2 = wg == 0 ? desc(base + 64, 16, 1024, 1) : desc(base + 8192, 16, 8 * K::W1, K::swizzle1);
  auto across = [&](int c) {
    const int stage = c % SP;
    bar_wait(ready + 8 * stage, c / SP & 1);
    const uint32_t pixels = stage * (K::tile >> 4), f = (K::off_q >> 4) + (c & 1) * (2 * K::tile >> 4);
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
  auto pack = [&](int c) {
    if (lane == 0) bar_arrive(empty_q + 8 * (c & 1));
    if (c > 0) asm volatile("bar.sync %0, 128;" ::"r"(wg + 1) : "memory");  // all have read the slot
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const uint32_t at = cell + (c & 1) * 4 * K::lbo + 2 * half * K::lbo + h * 128;
        uint32_t w[5][2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int n = 16 * half + 8 * i + 2 * h;
          const uint32_t one = prmt(p[n], p[n + 1], 0x5140), two = prmt(p[n + 4], p[n + 5], 0x5140);
          w[0][i] = prmt(one, two, 0x5410), w[2][i] = prmt(one, two, 0x7632) << 1;
          const uint32_t a = prmt(e[n], e[n + 1], 0x5140), b = prmt(e[n + 4], e[n + 5], 0x5140);
          w[4][i] = prmt(a, b, 0x5410), w[1][i] = prmt(a, b, 0x7632);
          w[3][i] = prmt(prmt(e[n], e[n + 1], 0x0062), prmt(e[n + 4], e[n + 5], 0x0062), 0x5410) << 1;
        }
#pragma unroll
        for (int i = 0; i < 5; ++i) sts64(at + 1024 * i, w[i][0], w[i][1]);
      }
    proxy_fence();
    asm volatile("bar.sync %0, 128;" ::"r"(wg + 1) : "memory");
  };
  auto down = [&](int c) {
    wg_fence();
#pragma unroll
    for (int k = 0; k < K2; ++k) {
      const uint64_t b = planes + (((c - 1 + k / 2) & 1) ? 4 * K::lbo >> 4 : 0) + (k % 2 * 2 * K::lbo >> 4);
      mma128(s, band2 + 128 * k, b, k != 0);
      mma128(s, band2 + 128 * (K2 + k), b + 128, 1);
      mma64(l, band2 + 128 * k, b + 256, k != 0);
    }
    wg_commit();
  };
  const uint32_t centre_vector = a.margin / 16 + 4 * wg + q;
  const bool centre_first = centre_vector < 8;
  const uint32_t centre_at = centre_first ? 0 : 8192, centre_pitch = centre_first ? 128 : K::W1;
  const uint32_t centre_mask = centre_first ? 112 : K::W1 - 16, centre_v = centre_vector * 16 & centre_mask,
                 centre_shift = centre_first  ? 0
                                : K::W1 == 64 ? 1
                                              : 2;
  // The pixels of the outputs that chunk c completes.
  auto centre = [&](int c, int h) {
    const int row = 16 * warp + g + 8 * h + a.rows_before, stage = c % SP,
              stage_before = (c - 1) % SP;  // from the chunk before
    const uint32_t tile = base + (row >= 64 ? stage : stage_before) * K::tile;
    const uint32_t r = row & 63;
    return lds128(tile + centre_at + r * centre_pitch + (centre_v ^ (r * 16 >> centre_shift & centre_mask)));
  };
  bool doubt[2];
  auto inside = [&](int h) { return x < a.width && y + 8 * h < rows; };
  auto store = [&](int h, uint4 part) {
    if (inside(h)) __stcs((uint4*)(to + (int64_t)8 * h * a.width), part);
  };
  auto output = [&](int c) {
    const uint4 one = centre(c, 0), two = centre(c, 1);
    store(0, decide<0, dec>(a, s, l, one, doubt[0]));
    store(1, decide<1, dec>(a, s, l, two, doubt[1]));
  };
  auto finish = [&](int c) {  // no product may be on its way
    if (doubt[0] || doubt[1]) {
      if (doubt[0] && inside(0)) {
        const uint4 one = centre(c, 0);
        if (const uint32_t which = doubtful<0>(a, s, l, one)) exactly<0>(a, s, l, one, to, which);
      }
      if (doubt[1] && inside(1)) {
        const uint4 two = centre(c, 1);
        if (const uint32_t which = doubtful<1>(a, s, l, two))
          exactly<1>(a, s, l, two, to + (int64_t)8 * a.width, which);
      }
    }
    __syncwarp();
    if (lane == 0) bar_arrive(empty + 8 * ((c - 1) % SP));
    y += 64, to += (int64_t)64 * a.width;
  };
  if constexpr (!pipe) {
#pragma unroll 1
    for (int c = 0; c < chunks; ++c) {
      across(c);
      wg_wait<0>();
      pack(c);
      if (c == 0) continue;
      down(c);
      wg_wait<0>();
      output(c);
      finish(c);
    }
  } else {
    across(0);
    wg_wait<0>();
    pack(0);
    if (chunks > 1) {
      across(1);
      wg_wait<0>();
    }
#pragma unroll 1
    for (int c = 1; c < chunks; ++c) {
      pack(c);
      down(c);
      if (c + 1 < chunks) {
        across(c + 1);
        wg_wait<1>();
      } else
        wg_wait<0>();
      output(c);
      wg_wait<0>();
      finish(c);
    }
  }
}

template <int K1, int K2, int SP, int lag, bool pipe, int dec>
void add(std::vector<Case>& cases, Args a, double waves = 1) {
  using Shape = Shape<K1, K2, SP>;
  a.margin = (a.before + 15) / 16 * 16;
  if (a.margin + 64 + a.win_w - 1 - a.before > 32 * K1 || 64 + a.win_h - 1 > 32 * K2) {
    printf("does not fit\n");
    return;
  }
  auto kernel = sauvola<K1, K2, SP, lag, pipe, dec>;
  CK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::bytes));
  a.strips = (a.width + Shape::columns - 1) / Shape::columns;
  const int segments = std::max(1, (int)(sms * waves / a.strips)), rows = (a.height + segments - 1) / segments;
  a.segment_rows = (rows + 63) / 64 * 64, a.segments = (a.height - 1) / a.segment_rows + 1;
  char name[200];
  snprintf(name, 200, "K %d, %d, stages %d, lag %d, %s, decision %d, waves %g", K1, K2, SP, lag,
           pipe ? "pipelined" : "plain", dec, waves);
  cases.push_back({name, [=] { kernel<<<a.strips * a.segments, Shape::threads, Shape::bytes>>>(a); }, {}, true});
}
template <int K1, int K2>
void add_all(std::vector<Case>& cases, Args a) {
  add<K1, K2, 4, 1, false, 0>(cases, a);
  add<K1, K2, 4, 2, false, 1>(cases, a);
  add<K1, K2, 5, 2, false, 1>(cases, a);
  add<K1, K2, 5, 1, false, 2>(cases, a);
  add<K1, K2, 5, 1, true, 0>(cases, a);
  add<K1, K2, 5, 1, true, 1>(cases, a);
  add<K1, K2, 5, 1, true, 1>(cases, a, 2);
}

int main(int argc, char** argv) {
  return rounds_of(argc, argv, [](auto& cases, const Args& a, bool large) {
    large ? add_all<4, 4>(cases, a) : add_all<3, 3>(cases, a);
  });
}
