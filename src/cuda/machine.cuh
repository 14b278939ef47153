#pragma once
// The CUDA machine: what kernels/primitives/machine.hpp lists, one instruction each. Everything here inlines away.

#include <cuda_runtime.h>
#include <type_traits>

#define AREAL_DEVICE __device__ __forceinline__
#define AREAL_DEVICE_CALL __device__ __noinline__
#define AREAL_BOTH __host__ __device__ inline
#define AREAL_UNROLL _Pragma("unroll")
#define AREAL_NO_UNROLL _Pragma("unroll 1")
#include "kernels/primitives/machine.hpp"

namespace areal::cuda {

using kernels::full_mask;
using kernels::Mbarrier;
using kernels::NoShared;
using kernels::Site;

namespace detail {

template <int Bytes>
struct WordOf;
template <>
struct WordOf<1> {
  using type = unsigned char;
};
template <>
struct WordOf<2> {
  using type = unsigned short;
};
template <>
struct WordOf<4> {
  using type = unsigned;
};
template <>
struct WordOf<8> {
  using type = unsigned long long;
};
template <>
struct WordOf<16> {
  using type = uint4;
};
/// The machine word of T's size: memory moves words.
template <class T>
using Word = typename WordOf<sizeof(T)>::type;

template <class To, class From>
__device__ __forceinline__ To bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  if constexpr (std::is_same_v<To, From>)
    return from;
  else
    return __builtin_bit_cast(To, from);
}

__device__ __forceinline__ unsigned shared_address(const void* cell) {
  return static_cast<unsigned>(__cvta_generic_to_shared(cell));
}
/// The same cell in the block of that rank in the cluster.
__device__ __forceinline__ unsigned address_in(const void* cell, int rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(cell)), "r"(rank));
  return there;
}

/// Of a tile, for wgmma.
__device__ __forceinline__ std::uint64_t descriptor(const kernels::ByteTile& tile) {
  const bool lines = tile.next_bytes == 0;
  const std::uint64_t high = static_cast<std::uint64_t>(tile.next_rows >> 4) | (lines ? std::uint64_t{1} << 30 : 0);
  return static_cast<std::uint64_t>(shared_address(tile.cell) >> 4 & 0x3fffu) |
         static_cast<std::uint64_t>(lines ? 1 : tile.next_bytes >> 4) << 16 | high << 32;
}

}  // namespace detail

struct Machine {
  using Here = Site;

  // ---- where

  __device__ __forceinline__ int thread() const { return static_cast<int>(threadIdx.x); }
  __device__ __forceinline__ int lane() const { return static_cast<int>(threadIdx.x % 32); }
  __device__ __forceinline__ int warp() const { return static_cast<int>(threadIdx.x / 32); }
  __device__ __forceinline__ std::int64_t block() const { return blockIdx.x; }
  __device__ __forceinline__ std::int64_t blocks() const { return gridDim.x; }

  template <class S>
  __device__ __forceinline__ S& shared() const {
    extern __shared__ __align__(1024) unsigned char memory[];
    return *reinterpret_cast<S*>(memory);
  }

  // ---- memory

  template <class T>
  __device__ __forceinline__ T load(const T* p, Site = {}) const {
    return detail::bits<T>(*reinterpret_cast<const detail::Word<T>*>(p));
  }
  template <class T>
  __device__ __forceinline__ T load_streaming(const T* p, Site = {}) const {
    return detail::bits<T>(__ldcs(reinterpret_cast<const detail::Word<T>*>(p)));
  }
  __device__ __forceinline__ void prefetch(const void* p) const { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }
  template <class T>
  __device__ __forceinline__ void store(T* p, const T& value, Site = {}) const {
    *reinterpret_cast<detail::Word<T>*>(p) = detail::bits<detail::Word<T>>(value);
  }
  template <class T>
  __device__ __forceinline__ void store_if(bool p, T* to, const std::type_identity_t<T>& value, Site = {}) const {
    static_assert(sizeof(T) == 8 || sizeof(T) == 16);
    if constexpr (sizeof(T) == 8) {
      const auto w = detail::bits<uint2>(value);
      asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; @p st.global.v2.u32 [%1], {%2, %3}; }" ::"r"(unsigned{p}),
                   "l"(to), "r"(w.x), "r"(w.y)
                   : "memory");
    } else {
      const auto w = detail::bits<uint4>(value);
      asm volatile(
          "{ .reg .pred p; setp.ne.u32 p, %0, 0; @p st.global.v4.u32 [%1], {%2, %3, %4, %5}; }" ::"r"(unsigned{p}),
          "l"(to), "r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w)
          : "memory");
    }
  }
  template <class T>
  __device__ __forceinline__ void store_streaming(T* p, const T& value, Site = {}) const {
    __stcs(reinterpret_cast<detail::Word<T>*>(p), detail::bits<detail::Word<T>>(value));
  }
  template <class T>
  __device__ __forceinline__ T get(const T& cell, Site = {}) const {
    return detail::bits<T>(*reinterpret_cast<const detail::Word<T>*>(&cell));
  }
  template <class T>
  __device__ __forceinline__ void put(T& cell, const std::type_identity_t<T>& value, Site = {}) const {
    *reinterpret_cast<detail::Word<T>*>(&cell) = detail::bits<detail::Word<T>>(value);
  }

  // ---- meeting

  __device__ __forceinline__ void sync(Site = {}) const { __syncthreads(); }
  // bar.sync needs warps whose threads have reconverged, which the compiler ensures only in assembly.
  __device__ __forceinline__ void sync_warps(int threads, Site = {}) const {
    __syncwarp();
    asm volatile("bar.sync 15, %0;" ::"r"(threads) : "memory");
  }
  __device__ __forceinline__ void sync(int id, int threads, Site = {}) const {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
  }
  __device__ __forceinline__ void arrive(int id, int threads, Site = {}) const {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
  }
  __device__ __forceinline__ void sync_warp(unsigned mask = full_mask, Site = {}) const { __syncwarp(mask); }
  template <class T>
  __device__ __forceinline__ T shuffle(T v, int lane, unsigned mask = full_mask, Site = {}) const {
    return __shfl_sync(mask, v, lane);
  }
  template <class T>
  __device__ __forceinline__ T shuffle_up(T v, int n, unsigned mask = full_mask, Site = {}) const {
    return __shfl_up_sync(mask, v, static_cast<unsigned>(n));
  }
  template <class T>
  __device__ __forceinline__ T shuffle_down(T v, int n, unsigned mask = full_mask, Site = {}) const {
    return __shfl_down_sync(mask, v, static_cast<unsigned>(n));
  }
  template <class T>
  __device__ __forceinline__ T shuffle_xor(T v, int n, unsigned mask = full_mask, Site = {}) const {
    return __shfl_xor_sync(mask, v, n);
  }
  __device__ __forceinline__ unsigned ballot(bool p, unsigned mask = full_mask, Site = {}) const {
    return __ballot_sync(mask, p);
  }
  __device__ __forceinline__ bool any(bool p, unsigned mask = full_mask, Site = {}) const {
    return __any_sync(mask, p);
  }
  __device__ __forceinline__ bool all(bool p, unsigned mask = full_mask, Site = {}) const {
    return __all_sync(mask, p);
  }

  __device__ __forceinline__ unsigned warp_add(unsigned v, Site = {}) const {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_add_sync(full_mask, v);
#else
    for (int n = 16; n > 0; n /= 2) v += __shfl_xor_sync(full_mask, v, n);
    return v;
#endif
  }

  // ---- atomics and flags

  template <class T>
  __device__ __forceinline__ T atomic_add(T* p, std::type_identity_t<T> v, Site = {}) const {
    if constexpr (sizeof(T) == 8 && std::is_integral_v<T>)
      return static_cast<T>(atomicAdd(reinterpret_cast<unsigned long long*>(p), static_cast<unsigned long long>(v)));
    else
      return atomicAdd(p, v);
  }
  __device__ __forceinline__ std::uint64_t atomic_min(std::uint64_t* p, std::uint64_t v, Site = {}) const {
    return atomicMin(reinterpret_cast<unsigned long long*>(p), static_cast<unsigned long long>(v));
  }
  template <class T>
  __device__ __forceinline__ T shared_add(T& cell, std::type_identity_t<T> v, Site = {}) const {
    return atomic_add(&cell, v);
  }
  template <class T>
  __device__ __forceinline__ void store_release(T* p, const std::type_identity_t<T>& v, Site = {}) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    if constexpr (sizeof(T) == 4)
      asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(p), "r"(detail::bits<unsigned>(v)) : "memory");
    else
      asm volatile("st.release.gpu.global.b64 [%0], %1;" ::"l"(p), "l"(detail::bits<unsigned long long>(v)) : "memory");
  }
  template <class T>
  __device__ __forceinline__ T load_acquire(const T* p, Site = {}) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    detail::Word<T> v;
    if constexpr (sizeof(T) == 4)
      asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    else
      asm volatile("ld.acquire.gpu.global.b64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return detail::bits<T>(v);
  }
  template <class T>
  __device__ __forceinline__ void store_relaxed(T* p, const std::type_identity_t<T>& v, Site = {}) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
    if constexpr (sizeof(T) == 4)
      asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(p), "r"(detail::bits<unsigned>(v)));
    else if constexpr (sizeof(T) == 8)
      asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(p), "l"(detail::bits<unsigned long long>(v)));
    else {
      const uint4 w = detail::bits<uint4>(v);  // 16 aligned bytes: one access from sm_70 on
      asm volatile("st.relaxed.gpu.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(w.x), "r"(w.y), "r"(w.z),
                   "r"(w.w));
    }
  }
  template <class T>
  __device__ __forceinline__ T load_relaxed(const T* p, Site = {}) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
    detail::Word<T> v;
    if constexpr (sizeof(T) == 4)
      asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p));
    else if constexpr (sizeof(T) == 8)
      asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(v) : "l"(p));
    else
      asm volatile("ld.relaxed.gpu.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                   : "l"(p));
    return detail::bits<T>(v);
  }
  __device__ __forceinline__ void pause(Site = {}) const { __nanosleep(20); }

  // ---- arithmetic

  __device__ __forceinline__ std::uint32_t dot4(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    return __dp4a(a, b, c);
  }
  __device__ __forceinline__ std::uint32_t dot2(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    return __dp2a_lo(a, b, c);
  }
  __device__ __forceinline__ std::uint32_t permute(std::uint32_t a, std::uint32_t b, std::uint32_t selector) const {
    return __byte_perm(a, b, selector);
  }
  template <bool high>
  __device__ __forceinline__ std::uint32_t dot2_signed(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    std::uint32_t sum;
    if constexpr (high)
      asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
    else
      asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
    return sum;
  }
  __device__ __forceinline__ std::uint32_t permute_signs(std::uint32_t a, std::uint32_t b,
                                                         std::uint32_t selector) const {
    std::uint32_t bytes;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(a), "r"(b), "r"(selector));
    return bytes;
  }
  __device__ __forceinline__ std::int64_t multiply_wide(std::int32_t a, std::int32_t b, std::int64_t c) const {
    std::int64_t sum;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(sum) : "r"(a), "r"(b), "l"(c));
    return sum;
  }
  using Four = kernels::Vec<std::uint32_t, 4>;
  __device__ __forceinline__ Four multiply_bytes(const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                                                 const Four& c, Site = {}) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return multiply_bytes({a[2], a[3]}, {b[1]}, multiply_bytes({a[0], a[1]}, {b[0]}, c));
#else
    Four d;
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};"
        : "=r"(d.at[0]), "=r"(d.at[1]), "=r"(d.at[2]), "=r"(d.at[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]),
          "r"(c.at[3]));
    return d;
#endif
  }
  __device__ __forceinline__ Four multiply_bytes(const std::uint32_t (&a)[2], const std::uint32_t (&b)[1],
                                                 const Four& c, Site = {}) const {
    Four d;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    for (int i = 0; i < 4; i += 2)
      asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
          : "=r"(d.at[i]), "=r"(d.at[i + 1])
          : "r"(a[i / 2]), "r"(b[0]), "r"(c.at[i]), "r"(c.at[i + 1]));
#else
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=r"(d.at[0]), "=r"(d.at[1]), "=r"(d.at[2]), "=r"(d.at[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]));
#endif
    return d;
  }
  __device__ __forceinline__ Four multiply_bits(const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], const Four& c,
                                                Site = {}) const {
    Four d = c;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    __trap();  // see multiplies_bits
#else
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(d.at[0]), "+r"(d.at[1]), "+r"(d.at[2]), "+r"(d.at[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
    return d;
  }
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __device__ __forceinline__ void begin_products(Site = {}) const {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  }
  __device__ __forceinline__ void multiply_tiles(std::uint32_t (&d)[32], const kernels::ByteTile& left,
                                                 const kernels::ByteTile& right, bool more, Site = {}) const {
    asm volatile(
        "{ .reg .pred more; setp.ne.b32 more, %34, 0; wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8 {%0, %1, %2, "
        "%3, "
        "%4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, "
        "%27, %28, %29, %30, %31}, %32, %33, more; }"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
          "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]),
          "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]),
          "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31])
        : "l"(detail::descriptor(left)), "l"(detail::descriptor(right)), "r"(static_cast<int>(more)));
  }
  __device__ __forceinline__ void commit_products(Site = {}) const {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  }
  template <int N, class... Sums>
  __device__ __forceinline__ void wait_products(Sums&...) const {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
  }
#endif
  __device__ __forceinline__ float inverse_estimate(float x) const {
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
    return inverse;
  }
  __device__ __forceinline__ float root_estimate(float x) const {
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
  }
  __device__ __forceinline__ std::uint32_t min2(std::uint32_t a, std::uint32_t b) const { return __vminu2(a, b); }
  __device__ __forceinline__ std::uint32_t max2(std::uint32_t a, std::uint32_t b) const { return __vmaxu2(a, b); }

  // ---- launches

  __device__ __forceinline__ void wait_previous_launch(Site = {}) const {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  }
  __device__ __forceinline__ void trigger_next_launch(Site = {}) const {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
  }

  // ---- asynchronous copies

  template <class T>
  __device__ __forceinline__ void copy_async(T& cell, const T* p, Site = {}) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    put(cell, load(p));  // complete already: nothing to commit or to wait for
#else
    if constexpr (sizeof(T) == 16)  // .cg: bypasses L1
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(detail::shared_address(&cell)), "l"(p) : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(detail::shared_address(&cell)), "l"(p),
                   "n"(sizeof(T))
                   : "memory");
#endif
  }
  __device__ __forceinline__ void commit_copies(Site = {}) const {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
  }
  template <int N>
  __device__ __forceinline__ void wait_copies(Site = {}) const {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
  }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  __device__ __forceinline__ void init(Mbarrier& b, int arrivals, Site = {}) const {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(detail::shared_address(&b)), "r"(arrivals) : "memory");
  }
  __device__ __forceinline__ void fence_init(Site = {}) const {
    __threadfence_block();
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
  }
  __device__ __forceinline__ void arrive(Mbarrier& b, Site = {}) const {
    asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(detail::shared_address(&b)) : "memory");
  }
  __device__ __forceinline__ void arrive_copies(Mbarrier& b, Site = {}) const {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(detail::shared_address(&b)) : "memory");
  }
  __device__ __forceinline__ void wait(Mbarrier& b, unsigned parity, Site = {}) const {
    const unsigned at = detail::shared_address(&b);
    unsigned there;
    do {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(there)
                   : "r"(at), "r"(parity)
                   : "memory");
#else
      asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(there)
                   : "r"(at), "r"(parity)
                   : "memory");
#endif
    } while (!there);
  }
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  __device__ __forceinline__ void arrive_expect(Mbarrier& b, int bytes, Site = {}) const {
    asm volatile("{ .reg .b64 t; mbarrier.arrive.expect_tx.shared.b64 t, [%0], %1; }" ::"r"(detail::shared_address(&b)),
                 "r"(bytes)
                 : "memory");
  }
  __device__ __forceinline__ void bulk_load(void* cell, const void* p, unsigned n, Mbarrier& b, Site = {}) const {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     detail::shared_address(cell)),
                 "l"(p), "r"(n), "r"(detail::shared_address(&b))
                 : "memory");
  }
  __device__ __forceinline__ void bulk_store(void* p, const void* cell, unsigned n, Site = {}) const {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(p),
                 "r"(detail::shared_address(cell)), "r"(n)
                 : "memory");
  }
  __device__ __forceinline__ void commit_bulk(Site = {}) const {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
  template <int N>
  __device__ __forceinline__ void wait_bulk(Site = {}) const {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
  }
  __device__ __forceinline__ void fence_async(Site = {}) const {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }

  // ---- clusters

  __device__ __forceinline__ int cluster_rank() const {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return static_cast<int>(rank);
  }
  __device__ __forceinline__ std::int64_t cluster() const {
    unsigned cluster;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(cluster));
    return cluster;
  }
  __device__ __forceinline__ std::int64_t clusters() const {
    unsigned clusters;
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(clusters));
    return clusters;
  }
  // Not .aligned: warps arrive from the branches of their roles.
  __device__ __forceinline__ void sync_cluster(Site = {}) const {
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
  }
  template <class T>
  __device__ __forceinline__ void send(T& cell, const std::type_identity_t<T>& v, int rank, Mbarrier& b,
                                       Site = {}) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
    const unsigned to = detail::address_in(&cell, rank), barrier = detail::address_in(&b, rank);
    if constexpr (sizeof(T) == 4)
      asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to),
                   "r"(detail::bits<unsigned>(v)), "r"(barrier)
                   : "memory");
    else if constexpr (sizeof(T) == 8)
      asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(to),
                   "l"(detail::bits<unsigned long long>(v)), "r"(barrier)
                   : "memory");
    else {
      const uint4 w = detail::bits<uint4>(v);
      asm volatile(
          "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
          "r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w), "r"(barrier)
          : "memory");
    }
  }
#endif
};

}  // namespace areal::cuda
