#pragma once
// The simulated machine: runs the kernels of src/kernels on the CPU, checks every access and counts it.
//
// How it works. Launcher::launch runs a grid on the calling thread. Some blocks are resident at a time; each of their
// lanes is a fiber. A scheduler driven by a seed chooses the next warp, and the next of its lanes. The lane runs until
// it must wait for others (a collective of the warp, a barrier) or polls, so plain accesses cost no switch. Every run
// can be replayed, as the seed determines everything.
//   - Memory: regions are registered with the launcher (memory.hpp). Each granule of a region, and of the shared memory
//     of a block, has a shadow cell (shadow.hpp): its last writer and later readers, with times and lines.
//   - Order: each thread carries a clock (clock.hpp), advanced and joined by collectives, barriers and published flags.
//     An access that conflicts with another thread's, one of the two a write, is a race if the clock does not cover it,
//     in every schedule: the x86 CPU below would forgive it, the clocks do not.
//   - Words of relaxed, acquire, release and atomic accesses do not race with each other; with plain accesses they do.
//   - Products of tiles read shared memory until they are waited for; their sums are poison until then.
//   - Asynchronous copies mark source and target until they are waited for, and land at a time set by the seed.
//   - Clusters: all blocks of a launch of clusters are resident. A send lands at a time set by the seed. Its mbarrier
//     counts phases, which stamp what lands in each: a thread that waited for a phase knows these, and of the senders'
//     past only their reads, not their writes (clusters.cpp).
//   - Requests: the accesses of a warp's lanes are combined by site and occurrence (requests.hpp), and counted as
//     the memory machines and ncu would.
// A broken rule ends the launch with a Fault (fault.hpp), and all fibers are unwound.
//
// Not simulated: the timing of a real GPU, rounding of other instructions, and orders weaker than happens-before on
// words that post and peek move (two such words of one thread arrive in the order of the schedule).

#include <cmath>
#include <cstring>
#include <type_traits>

#include "simt/engine/calls.hpp"

namespace areal::simt {

/// The machine of a kernel: a handle to its thread. For the calls' meaning see src/kernels/primitives/machine.hpp.
class Machine {
 public:
  explicit Machine(ThreadInterface& thread) : thread_(&thread) {}

  int thread() const { return thread_->index; }
  int lane() const { return thread_->index & 31; }
  int warp() const { return thread_->index >> 5; }
  std::int64_t block() const { return thread_->block; }
  std::int64_t blocks() const { return thread_->blocks; }

  template <class S>
  S& shared(Site site = AREAL_HERE) const {
    calls::shared(*thread_, sizeof(S), site);
    return *reinterpret_cast<S*>(thread_->shared);
  }

  template <class T>
  T load(const T* p, Site site = AREAL_HERE) const {
    return read(Op::load, p, site);
  }
  template <class T>
  void store(T* p, std::type_identity_t<T> v, Site site = AREAL_HERE) const {
    write(Op::store, p, v, site);
  }
  template <class T>
  void store_if(bool p, T* to, std::type_identity_t<T> v, Site site = AREAL_HERE) const {
    if (p) store(to, v, site);
  }
  template <class T>
  T load_streaming(const T* p, Site site = AREAL_HERE) const {
    return read(Op::load, p, site);
  }
  template <class T>
  void store_streaming(T* p, std::type_identity_t<T> v, Site site = AREAL_HERE) const {
    write(Op::store, p, v, site);
  }
  template <class T>
  T get(const T& cell, Site site = AREAL_HERE) const {
    return read(Op::get, &cell, site);
  }
  template <class T>
  void put(T& cell, std::type_identity_t<T> v, Site site = AREAL_HERE) const {
    write(Op::put, &cell, v, site);
  }

  void sync(Site site = AREAL_HERE) const { calls::sync(*thread_, site); }
  void sync_warps(int /*threads*/, Site site = AREAL_HERE) const { calls::sync(*thread_, site); }
  void sync(int id, int threads, Site site = AREAL_HERE) const {
    calls::named_barrier(*thread_, id, threads, true, site);
  }
  void arrive(int id, int threads, Site site = AREAL_HERE) const {
    calls::named_barrier(*thread_, id, threads, false, site);
  }
  void sync_warp(unsigned mask = kernels::full_mask, Site site = AREAL_HERE) const {
    calls::collective(*thread_, Collective::sync_warp, mask, 0, 0, site);
  }

  template <class T>
  T shuffle(T v, int from, unsigned mask = kernels::full_mask, Site site = AREAL_HERE) const {
    return exchange(v, from & 31, mask, site);
  }
  template <class T>
  T shuffle_up(T v, int n, unsigned mask = kernels::full_mask, Site site = AREAL_HERE) const {
    return exchange(v, lane() - n < 0 ? lane() : lane() - n, mask, site);
  }
  template <class T>
  T shuffle_down(T v, int n, unsigned mask = kernels::full_mask, Site site = AREAL_HERE) const {
    return exchange(v, lane() + n > 31 ? lane() : lane() + n, mask, site);
  }
  template <class T>
  T shuffle_xor(T v, int n, unsigned mask = kernels::full_mask, Site site = AREAL_HERE) const {
    return exchange(v, (lane() ^ n) > 31 ? lane() : lane() ^ n, mask, site);
  }
  unsigned ballot(bool p, unsigned mask = kernels::full_mask, Site site = AREAL_HERE) const {
    return static_cast<unsigned>(calls::collective(*thread_, Collective::ballot, mask, p, 0, site));
  }
  bool any(bool p, unsigned mask = kernels::full_mask, Site site = AREAL_HERE) const {
    return calls::collective(*thread_, Collective::any, mask, p, 0, site) != 0;
  }
  bool all(bool p, unsigned mask = kernels::full_mask, Site site = AREAL_HERE) const {
    return calls::collective(*thread_, Collective::all, mask, p, 0, site) != 0;
  }

  std::uint32_t dot4(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    for (int i = 0; i < 32; i += 8) c += (a >> i & 0xffu) * (b >> i & 0xffu);
    return c;
  }
  std::uint32_t dot2(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    return c + (a & 0xffffu) * (b & 0xffu) + (a >> 16) * (b >> 8 & 0xffu);
  }
  std::uint32_t permute(std::uint32_t a, std::uint32_t b, std::uint32_t selector) const {
    const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
    std::uint32_t result = 0;
    for (int i = 0; i < 4; ++i)
      result |= static_cast<std::uint32_t>(bytes >> (8 * (selector >> (4 * i) & 7u)) & 0xffu) << (8 * i);
    return result;
  }
  template <bool high>
  std::uint32_t dot2_signed(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    const auto half = [&](int i) {
      return static_cast<std::uint32_t>(static_cast<std::int16_t>(a >> (16 * i) & 0xffffu));
    };
    const std::uint32_t bytes = high ? b >> 16 : b;
    return c + half(0) * (bytes & 0xffu) + half(1) * (bytes >> 8 & 0xffu);
  }
  std::uint32_t permute_signs(std::uint32_t a, std::uint32_t b, std::uint32_t selector) const {
    std::uint32_t result = permute(a, b, selector);
    for (int i = 0; i < 4; ++i)
      if (selector >> (4 * i) & 8u) {
        const std::uint32_t mask = 0xffu << (8 * i);
        result = (result & ~mask) | (result >> (8 * i + 7) & 1u ? mask : 0);
      }
    return result;
  }
  std::int64_t multiply_wide(std::int32_t a, std::int32_t b, std::int64_t c) const { return std::int64_t{a} * b + c; }
  template <int words>
  kernels::Vec<std::uint32_t, 4> multiply_bytes(const std::uint32_t (&a)[2 * words], const std::uint32_t (&b)[words],
                                                kernels::Vec<std::uint32_t, 4> c, Site site = AREAL_HERE) const {
    return multiply({words, false, a, b, c.at}, c, site);
  }
  kernels::Vec<std::uint32_t, 4> multiply_bits(const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                                               kernels::Vec<std::uint32_t, 4> c, Site site = AREAL_HERE) const {
    return multiply({2, true, a, b, c.at}, c, site);
  }
  void begin_products(Site = AREAL_HERE) const { calls::begin_products(*thread_); }
  void multiply_tiles(std::uint32_t (&sum)[32], const kernels::ByteTile& left, const kernels::ByteTile& right,
                      bool more, Site site = AREAL_HERE) const {
    calls::multiply_tiles(*thread_, sum, left, right, more, site);
  }
  void commit_products(Site = AREAL_HERE) const { calls::commit_products(*thread_); }
  template <int N, class... Sums>
  void wait_products(Sums&...) const {
    calls::wait_products(*thread_, N);
  }
  float inverse_estimate(float x) const { return 1 / x; }
  float root_estimate(float x) const { return std::sqrt(x); }

  std::uint32_t min2(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t low = (a & 0xffffu) < (b & 0xffffu) ? a : b, high = a >> 16 < b >> 16 ? a : b;
    return (high & 0xffff0000u) | (low & 0xffffu);
  }
  std::uint32_t max2(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t low = (a & 0xffffu) < (b & 0xffffu) ? b : a, high = a >> 16 < b >> 16 ? b : a;
    return (high & 0xffff0000u) | (low & 0xffffu);
  }

  template <class T>
  T atomic_add(T* p, std::type_identity_t<T> v, Site site = AREAL_HERE) const {
    calls::perhaps_pause(*thread_, site);
    return add(Op::atomic_add, p, v, site);
  }
  std::uint64_t atomic_min(std::uint64_t* p, std::uint64_t v, Site site = AREAL_HERE) const {
    calls::perhaps_pause(*thread_, site);
    return update(
        Op::atomic_min, p, [v](std::uint64_t before) { return before < v ? before : v; }, site);
  }
  template <class T>
  T shared_add(T& cell, std::type_identity_t<T> v, Site site = AREAL_HERE) const {
    return add(Op::shared_add, &cell, v, site);
  }

  template <class T>
  void store_release(T* p, std::type_identity_t<T> v, Site site = AREAL_HERE) const {
    calls::perhaps_pause(*thread_, site);
    write(Op::store_release, p, v, site);
    calls::release(*thread_, p);
  }
  template <class T>
  T load_acquire(const T* p, Site site = AREAL_HERE) const {
    calls::poll_pause(*thread_, site);
    const T v = read(Op::load_acquire, p, site);
    calls::acquire(*thread_, p);
    return v;
  }
  template <class T>
  void store_relaxed(T* p, std::type_identity_t<T> v, Site site = AREAL_HERE) const {
    static_assert(sizeof(T) >= 4, "one access of 4, 8 or 16 bytes");
    calls::perhaps_pause(*thread_, site);
    write(Op::store_relaxed, p, v, site);
    calls::forget_release(*thread_, p);
  }
  template <class T>
  T load_relaxed(const T* p, Site site = AREAL_HERE) const {
    static_assert(sizeof(T) >= 4, "one access of 4, 8 or 16 bytes");
    calls::poll_pause(*thread_, site);
    return read(Op::load_relaxed, p, site);
  }
  void pause(Site site = AREAL_HERE) const { calls::poll_pause(*thread_, site); }

  // Launches of the simulated machine never overlap.
  void wait_previous_launch(Site = AREAL_HERE) const {}
  void trigger_next_launch(Site = AREAL_HERE) const {}

  template <class T>
  void copy_async(T& cell, const T* p, Site site = AREAL_HERE) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "cp.async moves 4, 8 or 16 bytes");
    calls::copy_async(*thread_, &cell, p, sizeof(T), elements_of(&cell), site);
  }
  void commit_copies(Site = AREAL_HERE) const { calls::commit_copies(*thread_); }
  template <int N>
  void wait_copies(Site = AREAL_HERE) const {
    calls::wait_copies(*thread_, N);
  }
  void arrive_copies(kernels::Mbarrier& b, Site site = AREAL_HERE) const { calls::arrive_copies(*thread_, b, site); }

  void init(kernels::Mbarrier& b, int arrivals, Site site = AREAL_HERE) const {
    calls::init(*thread_, b, arrivals, site);
  }
  void arrive(kernels::Mbarrier& b, Site site = AREAL_HERE) const { calls::arrive(*thread_, b, 0, site); }
  void arrive_expect(kernels::Mbarrier& b, std::int64_t bytes, Site site = AREAL_HERE) const {
    calls::arrive(*thread_, b, bytes, site);
  }
  void wait(kernels::Mbarrier& b, unsigned parity, Site site = AREAL_HERE) const {
    calls::wait(*thread_, b, parity, site);
  }
  void fence_init(Site = AREAL_HERE) const { calls::fence_init(*thread_); }
  void bulk_load(void* cell, const void* p, std::size_t n, kernels::Mbarrier& b, Site site = AREAL_HERE) const {
    calls::bulk_load(*thread_, cell, p, n, b, site);
  }
  void bulk_store(void* p, const void* cell, std::size_t n, Site site = AREAL_HERE) const {
    calls::bulk_store(*thread_, p, cell, n, site);
  }
  void commit_bulk(Site = AREAL_HERE) const { calls::commit_bulk(*thread_); }
  template <int N>
  void wait_bulk(Site = AREAL_HERE) const {
    calls::wait_bulk(*thread_, N);
  }
  void fence_async(Site = AREAL_HERE) const { calls::fence_async(*thread_); }

  int cluster_rank() const { return static_cast<int>(thread_->block % thread_->cluster_blocks); }
  std::int64_t cluster() const { return thread_->block / thread_->cluster_blocks; }
  std::int64_t clusters() const { return thread_->blocks / thread_->cluster_blocks; }
  void sync_cluster(Site site = AREAL_HERE) const { calls::sync_cluster(*thread_, site); }
  template <class T>
  void send(T& cell, std::type_identity_t<T> v, int rank, kernels::Mbarrier& b, Site site = AREAL_HERE) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "st.async moves 4, 8 or 16 bytes");
    static_assert(std::is_trivially_copyable_v<T>);
    calls::send(*thread_, &cell, &v, sizeof(T), elements_of(&cell), rank, b, site);
  }

 private:
  /// `c` is the lane's, which the last lane to arrive writes.
  kernels::Vec<std::uint32_t, 4> multiply(const Multiplication& lane, const kernels::Vec<std::uint32_t, 4>& c,
                                          Site site) const {
    calls::collective(*thread_, Collective::multiply, kernels::full_mask, reinterpret_cast<std::uint64_t>(&lane), 0,
                      site);
    return c;
  }
  template <class T>
  static constexpr unsigned elements_of(const T*) {
    return 1;
  }
  template <class T, int N>
  static constexpr unsigned elements_of(const kernels::Vec<T, N>*) {
    return N;
  }
  template <class T>
  static constexpr bool movable = std::is_trivially_copyable_v<T> && sizeof(T) <= 16 &&
                                  (sizeof(T) & (sizeof(T) - 1)) == 0;

  template <class T>
  T read(Op op, const T* p, Site site) const {
    static_assert(movable<T>, "trivially copyable, of 1, 2, 4, 8 or 16 bytes");
    calls::access(*thread_, op, p, sizeof(T), elements_of(p), site);
    std::remove_const_t<T> v;
    std::memcpy(&v, p, sizeof(T));
    return v;
  }
  template <class T>
  void write(Op op, T* p, const T& v, Site site) const {
    static_assert(movable<T>, "trivially copyable, of 1, 2, 4, 8 or 16 bytes");
    calls::access(*thread_, op, p, sizeof(T), elements_of(p), site);
    *thread_->changes += std::memcmp(p, &v, sizeof(T)) != 0;  // NOLINT(bugprone-suspicious-memory-comparison): bits
    std::memcpy(p, &v, sizeof(T));
  }
  template <class T>
  T add(Op op, T* p, T v, Site site) const {
    return update(
        op, p, [v](T before) { return static_cast<T>(before + v); }, site);
  }
  template <class T, class After>
  T update(Op op, T* p, After after_of, Site site) const {
    static_assert(std::is_arithmetic_v<T> && sizeof(T) >= 4, "a number of 4 or 8 bytes");
    calls::access(*thread_, op, p, sizeof(T), 1, site);
    T before;
    std::memcpy(&before, p, sizeof(T));
    const T after = after_of(before);
    *thread_->changes += std::memcmp(&before, &after, sizeof(T)) != 0;
    std::memcpy(p, &after, sizeof(T));
    return before;
  }
  template <class T>
  T exchange(T v, int from, unsigned mask, Site site) const {
    static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8), "4 or 8 bytes");
    std::uint64_t bits = 0;
    std::memcpy(&bits, &v, sizeof(T));
    bits = calls::collective(*thread_, Collective::shuffle, mask, bits, from, site);
    std::memcpy(&v, &bits, sizeof(T));
    return v;
  }

  ThreadInterface* thread_;
};

}  // namespace areal::simt
