#pragma once
// The interface between a kernel and the machine that runs it. A kernel is a function object over a machine M:
//
//   template <class M, class C>          // C: lane and tuning
//   struct Reverse {
//     static constexpr int threads = 256;         // of a block
//     struct Shared { float tile[threads]; };     // of a block; NoShared if it has none
//     struct Args { const float* in; float* out; };
//     M m;
//     Args a;
//     AREAL_DEVICE void operator()() {
//       Shared& s = m.template shared<Shared>();
//       m.put(s.tile[m.thread()], m.load(a.in + m.thread()));
//       m.sync();
//       m.store(a.out + m.thread(), m.get(s.tile[threads - 1 - m.thread()]));
//     }
//   };
//
// and a schedule launches it: `launcher.template launch<Reverse, C>(blocks, args, overlap)`, launch after launch in
// order; a launch that overlaps may begin before the previous one has ended (see wait_previous_launch). Between two
// launches `launcher.fill(p, byte, n)` sets n bytes. Kernels never dereference a pointer into global or shared memory:
// every access is a call on m, which the CUDA machine (src/cuda) compiles to one instruction and the simulated one
// (src/simt) checks and counts. A default argument records the call site; primitives in this folder pass their caller's
// on.
//
// The calls, each with its CUDA meaning. T is trivially copyable, of 1, 2, 4, 8 or 16 bytes, and aligned to its size.
//   int thread()  lane()  warp()             in the block; lane() in the warp of 32
//   std::int64_t block()  blocks()           in the grid
//   S& shared<S>()                           the block's shared memory, uninitialised
//   T load(const T* p)   store(T* p, T v)    global memory
//   store_if(bool b, T* p, T v)              store if b, without a branch; T of 8 or 16 bytes
//   T load_streaming(p)  store_streaming(p, v)    the same, evicted first (ld.cs, st.cs), for data used once
//   prefetch(p)                              into the L2; does nothing on machines without it
//   T get(const T& cell)  put(T& cell, T v)  shared memory
//   sync()                                   __syncthreads: reached by every thread of the block, from one place
//   sync_warps(n)                            the same of a block of n threads; warps may reach it from several places
//   sync(id, n)  arrive(id, n)               named barrier id (1 to 14) of n threads: wait, or only arrive
//   sync_warp(mask)                          __syncwarp
//   T shuffle(v, lane, mask) shuffle_up(v, n, mask) shuffle_down shuffle_xor     T of 4 or 8 bytes
//   unsigned ballot(p, mask)  bool any(p, mask)  all(p, mask)
//   T atomic_add(T* p, T v)                  global, relaxed; returns the old value
//   std::uint64_t atomic_min(std::uint64_t* p, std::uint64_t v)      the same with the smaller of the two
//   T shared_add(T& cell, T v)               shared; returns the old value
//   store_release(T* p, T v)                 at device scope: a thread whose load_acquire returns v sees all that this
//                                            thread wrote before, and all that threads wrote before a barrier with it
//   T load_acquire(const T* p)               at device scope; the other half of store_release
//   store_relaxed(T* p, T v)  T load_relaxed(const T* p)   at device scope, one access of 4, 8 or 16 bytes: for words
//                                            that carry value and status together and order nothing else
//   pause()                                  between two loads of a polling loop
//   dot4(a, b, c)                            c and the products of the four bytes of two 32-bit words (dp4a)
//   dot2(a, b, c)                            c and the products of the halves of a and the two lower bytes of b (dp2a)
//   dot2_signed<high>(a, b, c)               c and the products of the halves of a, signed, and the two lower or higher
//                                            bytes of b, unsigned
//   permute(a, b, selector)                  four of the bytes 0 to 3 of a and 4 to 7 of b, one a nibble (prmt)
//   permute_signs(a, b, selector)            the same, and a nibble's highest bit asks for eight times its byte's sign
//   multiply_wide(a, b, c)                   a b + c, in 64 bits from signed numbers of 32 (mad.wide)
//   Vec<uint32, 4> multiply_bytes(a, b, c)   by all lanes of a warp: c and the product of two matrices of bytes. a is
//                                            16 x 16 n, in 2 n words of a lane, b 16 n x 8 in n, and c 16 x 8 in 4, n =
//                                            1 or 2. Lane 4 g + t has rows g and g + 8 of a, column g of b, of their
//                                            16 places 4 t to 4 t + 3 in a word, and columns 2 t and 2 t + 1 of c
//                                            (mma.m16n8k16, k32)
//   Vec<uint32, 4> multiply_bits(a, b, c)    the same with 32 bits of each word in place of 4 bytes, n = 2: c and the
//                                            ones that a row of a and a column of b share (mma.m16n8k256.and.popc).
//                                            From sm_80 on: `launcher.template multiplies_bits<K, C>()` says whether
//                                            the device runs code of kernel K with it
//   inverse_estimate(x)                      1 / x of a normal float, within 2^-23 of it
//   root_estimate(x)                         the root of a float x >= 0, within 2^-21 of it
//   min2(a, b)  max2(a, b)                   the smaller, the larger of the halves of two 32-bit words, each unsigned
//   copy_async(T& cell, const T* p)          cp.async of 4, 8 or 16 bytes from global to shared memory
//   commit_copies()   wait_copies<N>()       cp.async groups: waits for all but this thread's N youngest; their data is
//                                            visible to this thread, to others after a barrier
//   wait_previous_launch()                   waits until the previous launch has ended and all its writes are
//                                           visible: an overlapping launch may begin before that (griddepcontrol)
//   trigger_next_launch()                    this block allows the next launch to begin
// Barriers in shared memory, from sm_80 on; the bulk copy engine, from sm_90 on: n is a multiple of 16 bytes, both
// addresses are aligned to 16:
//   init(Mbarrier& b, int arrivals)          by one thread, then fence_init() and a block barrier
//   arrive(b)   arrive_expect(b, bytes)      one arrival; the second also expects that many bytes of bulk loads
//   wait(b, parity)                          until the phase of that parity has completed (acquire)
//   bulk_load(void* cell, const void* p, n, b)   global to shared, by one thread; completes n bytes on b
//   bulk_store(void* p, const void* cell, n)     shared to global, by one thread, in groups of that thread:
//   commit_bulk()  wait_bulk<N>()            all but the N youngest groups have been read from shared memory
//   fence_async()                            orders this thread's put before bulk copies issued after a next barrier
//   arrive_copies(b)                         one arrival on b when all earlier copy_async of this thread have landed
//                                            (cp.async.mbarrier.arrive.noinc); from sm_80 on
// Products of a warpgroup, of sm_90 alone (wgmma); `launcher.multiplies_tiles()` says whether the device has them. The
// four warps of a warpgroup, the first a multiple of 4, reach each of these calls together:
//   begin_products()                         before products, and after code that wrote their sums
//   multiply_tiles(sum, left, right, more)   sets sum to the product of two ByteTiles, or adds it if `more`. Entry
//                                            (m, n) is the dot product of row m of left and row n of right; lane
//                                            4 g + t of warp w holds (16 w + 8 h + g, 8 j + 2 t + e) in
//                                            sum[4 j + 2 h + e]. A barrier must separate the writes of the tiles from
//                                            this call; either the writer calls fence_async before it, or the caller
//                                            after it
//   commit_products()   wait_products<N>(sum..)     groups, as of copies: after the wait, the sums of all but the N
//                                            youngest groups are valid, and their tiles may be overwritten
// Clusters of 1 to 16 blocks, from sm_90 on. `launcher.template launch_clusters<K, C>(blocks_each, clusters, args,
// overlap)` launches a grid of them. All are resident at once, so a block may wait for any other; there may be at most
// `launcher.template most_clusters<K, C>(blocks_each)`, 0 on a machine without clusters. Only kernels launched this way
// may call these:
//   int cluster_rank()                       of the block in its cluster; block() is cluster() * blocks_each + rank
//   std::int64_t cluster()  clusters()       in the grid
//   sync_cluster()                           barrier.cluster: every thread of the cluster arrives and waits; all
//                                           earlier writes are visible to all. Needed before the first send, for the
//                                            receiver's barrier (init, fence_init, sync_cluster)
//   send(T& cell, T v, int rank, Mbarrier& b)    writes v to this cell of the block of that rank (its own included),
//                                            and completes sizeof(T) bytes on its b (st.async). T of 4, 8 or 16 bytes.
//                                            A thread that waits for that phase of b sees v, and may overwrite what the
//                                            sender read before; the sender's other writes are not ordered by it. A
//                                            block must not end before it has waited for everything sent to it

#include <cstdint>

// AREAL_DEVICE marks code inside a kernel, AREAL_DEVICE_CALL a rare part that is called, AREAL_BOTH code that schedules
// call too, AREAL_UNROLL a loop whose arrays live in registers, AREAL_NO_UNROLL one that unrolling would only make
// longer. A machine that needs other definitions makes them before it includes any kernel.
#ifndef AREAL_DEVICE
#define AREAL_DEVICE inline
#define AREAL_DEVICE_CALL
#define AREAL_BOTH inline
#define AREAL_UNROLL
#define AREAL_NO_UNROLL
#endif

namespace areal::kernels {

/// The place of an access in the source.
struct Site {
  const char* file = "";
  int line = 0;

  // A call, because g++ 12 evaluates built-ins within braces at the default argument's line, not the caller's.
  AREAL_BOTH static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

#define AREAL_HERE ::areal::kernels::Site::here()

inline constexpr int warp_size = 32;
inline constexpr unsigned full_mask = 0xffffffffu;

/// A stand-in machine, to read a kernel's constants.
struct NoMachine {};

/// Shared memory of a kernel that has none.
struct NoShared {};
/// For a kernel without types and tuning.
struct NoConfig {};

/// A barrier in shared memory that counts arrivals and landed bytes.
struct Mbarrier {
  std::uint64_t state;
};

/// 64 rows of 32 bytes in shared memory, for multiply_tiles, in one of two layouts.
struct ByteTile {
  const void* cell;    ///< the first byte, aligned to 16
  int next_rows = 0;   ///< bytes between groups of 8 rows
  int next_bytes = 0;  ///< between the halves of rows: 8 rows of 16 bytes are contiguous. 0: lines of 128 bytes
};
/// The index of a row's vector of 16 bytes in swizzled lines of 128 bytes. The lines begin at a multiple of 1024. Row r
/// of each 8 has vector v at place v ^ r, so that a column of 8 vectors covers all banks.
AREAL_BOTH int place_in_lines(int row, int vector) { return 8 * row + (vector ^ (row % 8)); }

/// N values moved as one.
template <class T, int N>
struct alignas(sizeof(T) * N) Vec {
  T at[N];
};

}  // namespace areal::kernels
