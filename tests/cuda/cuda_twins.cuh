#pragma once
// Three kernels as in the tree, over a machine, and the same by hand in plain CUDA, to measure the cost of the calls on
// `m`. cuda_twin_sass_test.py compares their registers and instructions, cuda_twin_test.cu their results and times.
//   Scan   written for this: tickets, asynchronous copies, shared memory, shuffles, words passed from block to block
//   Depth  src/kernels/sat/volume/depth.hpp: loads and stores, of any alignment
//   Sums   src/kernels/query/sums.hpp: vectors, a ballot, an atomic, 64-bit arithmetic

#include "cuda/launcher.cuh"
#include "kernels/primitives/tile_state.hpp"
#include "kernels/primitives/warp/warp.hpp"
#include "kernels/query/sums.hpp"
#include "kernels/sat/volume/depth.hpp"

namespace areal::twins {

struct ScanArgs {
  const std::uint32_t* in;
  std::uint32_t* out;
  std::uint64_t* ticket;
  kernels::TileState<std::uint32_t>* sums;  ///< [blocks]
};

/// The inclusive sums of 1024 numbers a block. A block adds up what all blocks before it have published.
template <class M, class C>
struct Scan {
  static constexpr int threads = 256, warps = threads / 32, resident = 4;
  using Args = ScanArgs;
  using Four = kernels::Vec<std::uint32_t, 4>;
  struct Shared {
    Four tile[threads];
    std::uint32_t warp[warps], before[warps];
    kernels::Ticket ticket;
  };
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) m.put(s.ticket, kernels::take_ticket(m, a.ticket));
    m.sync();
    const kernels::Ticket ticket = m.get(s.ticket);
    const auto block = static_cast<std::int64_t>(ticket.turn);
    const auto epoch = static_cast<std::uint32_t>(ticket.launch);
    m.copy_async(s.tile[m.thread()], reinterpret_cast<const Four*>(a.in) + block * threads + m.thread());
    m.commit_copies();
    m.template wait_copies<0>();
    Four four = m.get(s.tile[m.thread()]);
    AREAL_UNROLL
    for (int v = 1; v < 4; ++v) four.at[v] += four.at[v - 1];
    const std::uint32_t scan = kernels::warp_scan(m, four.at[3]);
    if (m.lane() == 31) m.put(s.warp[m.warp()], scan);
    m.sync();
    std::uint32_t left = scan - four.at[3];
    AREAL_UNROLL
    for (int w = 0; w < warps; ++w)
      if (w < m.warp()) left += m.get(s.warp[w]);
    if (m.thread() == threads - 1) m.store_relaxed(a.sums + block, {left + four.at[3], epoch});
    std::uint32_t before = 0;
    for (std::int64_t i = m.thread(); i < block; i += threads) {
      auto word = m.load_relaxed(a.sums + i);
      while (word.epoch != epoch) {
        m.pause();
        word = m.load_relaxed(a.sums + i);
      }
      before += word.value;
    }
    before = kernels::warp_sum(m, before);
    if (m.lane() == 0) m.put(s.before[m.warp()], before);
    m.sync();
    AREAL_UNROLL
    for (int w = 0; w < warps; ++w) left += m.get(s.before[w]);
    AREAL_UNROLL
    for (int v = 0; v < 4; ++v) four.at[v] += left;
    m.store_streaming(reinterpret_cast<Four*>(a.out) + block * threads + m.thread(), four);
  }
};

__device__ __forceinline__ void scan_by_hand(const ScanArgs& a) {
  struct Shared {
    uint4 tile[256];
    unsigned warp[8], before[8];
    unsigned long long turn, launch;
  };
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& s = *reinterpret_cast<Shared*>(memory);
  const int thread = static_cast<int>(threadIdx.x), lane = static_cast<int>(threadIdx.x % 32),
            warp = static_cast<int>(threadIdx.x / 32);
  if (thread == 0) {
    const unsigned long long taken = atomicAdd(reinterpret_cast<unsigned long long*>(a.ticket), 1ull), n = gridDim.x;
    const unsigned long long launch =
        ((taken | n) >> 32) == 0 ? static_cast<unsigned>(taken) / static_cast<unsigned>(n) : taken / n;
    *reinterpret_cast<ulonglong2*>(&s.turn) = make_ulonglong2(taken - launch * n, launch * 2 + 2);
  }
  __syncthreads();
  const ulonglong2 ticket = *reinterpret_cast<const ulonglong2*>(&s.turn);
  const auto block = static_cast<long long>(ticket.x);
  const auto epoch = static_cast<unsigned>(ticket.y);
  const uint4* const from = reinterpret_cast<const uint4*>(a.in) + block * 256 + thread;
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n\tcp.async.commit_group;\n\tcp.async.wait_group 0;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(&s.tile[thread]))),
               "l"(from)
               : "memory");
#else
  s.tile[thread] = *from;
#endif
  uint4 four = s.tile[thread];
  four.y += four.x;
  four.z += four.y;
  four.w += four.z;
  unsigned scan = four.w;
#pragma unroll
  for (int n = 1; n < 32; n *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffffu, scan, static_cast<unsigned>(n));
    if (lane >= n) scan += other;
  }
  if (lane == 31) s.warp[warp] = scan;
  __syncthreads();
  unsigned left = scan - four.w;
#pragma unroll
  for (int w = 0; w < 8; ++w)
    if (w < warp) left += s.warp[w];
  unsigned long long* const sums = reinterpret_cast<unsigned long long*>(a.sums);
  if (thread == 255) {
    const unsigned long long word = static_cast<unsigned long long>(epoch) << 32 | (left + four.w);
    asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(sums + block), "l"(word));
  }
  unsigned before = 0;
  for (long long i = thread; i < block; i += 256) {
    unsigned long long word;
    asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(word) : "l"(sums + i));
    while (static_cast<unsigned>(word >> 32) != epoch) {
      __nanosleep(20);
      asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(word) : "l"(sums + i));
    }
    before += static_cast<unsigned>(word);
  }
#pragma unroll
  for (int n = 16; n > 0; n /= 2) before += __shfl_xor_sync(0xffffffffu, before, n);
  if (lane == 0) s.before[warp] = before;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < 8; ++w) left += s.before[w];
  __stcs(reinterpret_cast<uint4*>(a.out) + block * 256 + thread,
         make_uint4(four.x + left, four.y + left, four.z + left, four.w + left));
}

// ---------------------------------------------------------------- Depth

template <class T>
__device__ __forceinline__ T element_at(const char* from, bool aligned) {
  if (aligned) return *reinterpret_cast<const T*>(from);
  unsigned char bytes[sizeof(T)];
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(T)); ++i) bytes[i] = static_cast<unsigned char>(from[i]);
  T value;
  memcpy(&value, bytes, sizeof(T));
  return value;
}
__device__ __forceinline__ void put_float(char* to, float value, bool aligned) {
  if (aligned) {
    __stcs(reinterpret_cast<float*>(to), value);
    return;
  }
  unsigned char bytes[4];
  memcpy(bytes, &value, 4);
#pragma unroll
  for (int i = 0; i < 4; ++i) __stcs(reinterpret_cast<unsigned char*>(to) + i, bytes[i]);
}

__device__ __forceinline__ void depth_by_hand(const kernels::DepthArgs& a) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= a.columns * a.rows) return;
  const long long x = i % a.columns, line = i / a.columns;
  char* at = a.table + line / a.height * a.out.channel + line % a.height * a.out.row + x * 4;
  const bool aligned = a.out.alignment != kernels::Alignment::bytes;
  if (a.offset > 0) put_float(at, 0.f, aligned);
  at += a.offset * a.out.batch;
  float sum = 0;
  for (long long n = a.offset; n < a.slices; n += 4, at += 4 * a.out.batch) {
    float slice[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (n + k < a.slices) slice[k] = element_at<float>(at + k * a.out.batch, aligned);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (n + k < a.slices) {
        sum += slice[k];
        if (n + k > a.offset) put_float(at + k * a.out.batch, sum, aligned);
      }
  }
}

// ---------------------------------------------------------------- Sums

__device__ __forceinline__ void sums_by_hand(const kernels::SumsArgs& a) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  bool refused = false;
  if (i < a.regions.count) {
    long long x, y, width, height;
    if (a.regions.vectors) {
      const longlong2* const from = reinterpret_cast<const longlong2*>(a.regions.data + i);
      const longlong2 corner = from[0], size = from[1];
      x = corner.x, y = corner.y, width = size.x, height = size.y;
    } else {
      const long long* const from = reinterpret_cast<const long long*>(a.regions.data + i);
      x = from[0], y = from[1], width = from[2], height = from[3];
    }
    const auto inside = [](long long first, long long size, long long extent) {
      const auto from = static_cast<unsigned long long>(first), all = static_cast<unsigned long long>(extent);
      return (from <= all) & (static_cast<unsigned long long>(size) <= all - from);
    };
    refused = !(inside(x, width, a.regions.width) & inside(y, height, a.regions.height));
    if (refused && a.regions.clip && width >= 0 && height >= 0) {
      const auto clip = [](long long& first, long long& size, long long extent) {
        constexpr long long most = 0x7fffffffffffffff;
        const long long end = first > most - size ? most : first + size;
        first = min(max(first, 0ll), extent);
        size = min(max(end, first), extent) - first;
      };
      clip(x, width, a.regions.width);
      clip(y, height, a.regions.height);
      refused = false;
    }
    if (a.regions.lacks_last && !refused)
      refused = width > 0 && height > 0 && (x + width == a.regions.width || y + height == a.regions.height);
    if (refused) x = y = width = height = 0;
    unsigned sum = 0;
    if (width != 0 && height != 0) {
      const bool left = x >= a.table.shift, top = y >= a.table.shift;
      const long long right = width * a.table.column, down = height * a.table.row;
      const char* const at = a.table.data + ((y - a.table.shift) * a.table.row + (x - a.table.shift) * a.table.column);
      unsigned top_left = 0, top_right = 0, bottom_left = 0, bottom_right;
      if (a.table.aligned) {
        if (left && top) top_left = *reinterpret_cast<const unsigned*>(at);
        if (top) top_right = *reinterpret_cast<const unsigned*>(at + right);
        if (left) bottom_left = *reinterpret_cast<const unsigned*>(at + down);
        bottom_right = *reinterpret_cast<const unsigned*>(at + down + right);
      } else {
        if (left && top) top_left = element_at<unsigned>(at, false);
        if (top) top_right = element_at<unsigned>(at + right, false);
        if (left) bottom_left = element_at<unsigned>(at + down, false);
        bottom_right = element_at<unsigned>(at + down + right, false);
      }
      sum = bottom_right - bottom_left - (top_right - top_left);
    }
    const unsigned long long wide =
        a.table.is_signed ? static_cast<unsigned long long>(static_cast<long long>(static_cast<int>(sum))) : sum;
    if (!a.real) {
      __stcs(static_cast<unsigned long long*>(a.out) + i, wide);
    } else {
      const double real =
          a.table.is_signed ? static_cast<double>(static_cast<long long>(wide)) : static_cast<double>(wide);
      __stcs(static_cast<double*>(a.out) + i, refused ? __longlong_as_double(0x7ff8000000000000) : real);
    }
  }
  if (!a.regions.refused) return;
  const unsigned lanes = __ballot_sync(0xffffffffu, refused);
  if ((lanes & (0u - lanes)) == 1u << (threadIdx.x % 32))
    atomicMin(reinterpret_cast<unsigned long long*>(a.regions.refused), static_cast<unsigned long long>(i));
}

// ---------------------------------------------------------------- three forms of each

/// A body as an object that the tree's one __global__ function launches, as it does the kernels.
template <class K, void (*body)(const typename K::Args&)>
struct ByHand {
  using Args = typename K::Args;
  static constexpr int threads = K::threads, resident = K::resident;
  cuda::Machine m;
  Args a;
  AREAL_DEVICE void operator()() { body(a); }
};
/// And as its own __global__ function.
template <class K, void (*body)(const typename K::Args&)>
__global__ void __launch_bounds__(K::threads, K::resident) plain(const __grid_constant__ typename K::Args args) {
  body(args);
}

template <class K, void (*body)(const typename K::Args&)>
struct Twins {
  using Args = typename K::Args;
  using Kernel = void (*)(Args);
  static constexpr int threads = K::threads;
  static Kernel machine() { return &cuda::run<K>; }
  static Kernel object() { return &cuda::run<ByHand<K, body>>; }
  static Kernel function() { return &plain<K, body>; }
};
using Scans = Twins<Scan<cuda::Machine, kernels::NoConfig>, scan_by_hand>;
using Depths = Twins<kernels::Depth<cuda::Machine, kernels::DepthConfig<float>>, depth_by_hand>;
using Sums = Twins<kernels::Sums<cuda::Machine, kernels::ElementConfig<std::uint32_t>>, sums_by_hand>;

}  // namespace areal::twins
