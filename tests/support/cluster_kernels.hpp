#pragma once
// Kernels of clusters that the tests of both machines launch, and the sums that they must give.

#include <cstddef>
#include <cstdint>
#include <vector>
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// Clusters of so many blocks that send values of type T.
template <int blocks_, class T>
struct ClusterOf {
  static constexpr int blocks = blocks_;
  using Value = T;
};

struct ClusterArgs {
  const std::uint32_t* in;  // threads of each block
  std::uint32_t* out;
};

template <class T>
AREAL_BOTH T value_of(std::uint32_t v) {
  if constexpr (sizeof(T) == 16)
    return {{v, v + 1, v + 2, v + 3}};
  else
    return static_cast<T>(v) << 8 * (sizeof(T) - 4);
}
template <class T>
AREAL_BOTH std::uint32_t number_of(const T& v) {
  if constexpr (sizeof(T) == 16)
    return v.at[0] ^ (v.at[3] - v.at[0] - 3);
  else
    return static_cast<std::uint32_t>(v >> 8 * (sizeof(T) - 4));
}

/// Each block sends its numbers to all of its cluster, itself included; the receiver weighs them by the sender's rank.
template <class M, class C>
struct AllToAll {
  static constexpr int threads = 64, resident = 1, blocks = C::blocks;
  using T = typename C::Value;
  struct Shared {
    T inbox[blocks][threads];
    Mbarrier full;
  };
  using Args = ClusterArgs;
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const int rank = m.cluster_rank(), t = m.thread();
    if (t == 0) {
      m.init(s.full, 1);
      m.fence_init();
    }
    m.sync_cluster();
    if (t == 0) m.arrive_expect(s.full, static_cast<int>(sizeof s.inbox));
    const std::uint32_t v = m.load(a.in + m.block() * threads + t);
    for (int to = 0; to < blocks; ++to)
      m.send(s.inbox[rank][t], value_of<T>(v + static_cast<unsigned>(to)), to, s.full);
    m.wait(s.full, 0);
    std::uint32_t sum = 0;
    for (int from = 0; from < blocks; ++from)
      sum += static_cast<unsigned>(from + 1) * number_of(m.get(s.inbox[from][t]));
    m.store(a.out + (m.cluster() * blocks + rank) * threads + t, sum);
  }
  /// What it stores.
  static std::vector<std::uint32_t> expected(const std::vector<std::uint32_t>& in) {
    std::vector<std::uint32_t> out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t block = i / threads, first = block / blocks * blocks;
      for (std::size_t from = 0; from < blocks; ++from)
        out[i] += static_cast<std::uint32_t>((from + 1) * (in[(first + from) * threads + i % threads] + block - first));
    }
    return out;
  }
};

/// Numbers go once around the ring, and each block adds to what passes. A sender waits for a credit of its receiver
/// before it fills one of the two slots anew.
template <class M, class C>
struct Ring {
  static constexpr int threads = 64, resident = 1, blocks = C::blocks, rounds = 3 * blocks + 1;
  using T = typename C::Value;
  struct Shared {
    T slot[2][threads];
    std::uint32_t credited[2];
    Mbarrier full[2], credit[2];
  };
  using Args = ClusterArgs;
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const int rank = m.cluster_rank(), right = (rank + 1) % blocks, left = (rank + blocks - 1) % blocks, t = m.thread();
    if (t < 2) {
      m.init(s.full[t], 1);
      m.init(s.credit[t], 1);
      m.fence_init();
    }
    m.sync_cluster();
    std::uint32_t v = m.load(a.in + m.block() * threads + t);
    for (int k = 0; k < rounds; ++k) {
      const int q = k % 2;
      const unsigned phase = static_cast<unsigned>(k) / 2 & 1;
      if (k >= 2) m.wait(s.credit[q], phase ^ 1);
      if (t == 0) {
        m.arrive_expect(s.full[q], static_cast<int>(sizeof s.slot[q]));
        m.arrive_expect(s.credit[q], 4);
      }
      m.send(s.slot[q][t], value_of<T>(v), right, s.full[q]);
      m.wait(s.full[q], phase);
      v = 3 * number_of(m.get(s.slot[q][t])) + static_cast<unsigned>(rank);
      m.sync();  // all have read
      if (t == 0) m.send(s.credited[q], 1u, left, s.credit[q]);
    }
    for (int k = rounds - 2; k < rounds; ++k) m.wait(s.credit[k % 2], static_cast<unsigned>(k) / 2 & 1);
    m.store(a.out + m.block() * threads + t, v);
  }
  static std::vector<std::uint32_t> expected(const std::vector<std::uint32_t>& in) {
    std::vector<std::uint32_t> now = in, next(in.size());
    for (int k = 0; k < rounds; ++k, now.swap(next))
      for (std::size_t i = 0; i < in.size(); ++i) {
        const std::size_t block = i / threads, rank = block % blocks;
        const std::size_t left = block - rank + (rank + blocks - 1) % blocks;
        next[i] = static_cast<std::uint32_t>(3 * now[left * threads + i % threads] + rank);
      }
    return now;
  }
};

/// Each block copies its numbers in; a barrier counts the copies that landed. It sends half of them to the block beside
/// it, which stores them, with the other half of its own.
template <class M, class C>
struct NeighbourExchange {
  static constexpr int threads = 64, resident = 1, blocks = C::blocks;
  struct Shared {
    std::uint32_t tile[threads];
    std::uint32_t inbox[threads];
    Mbarrier landed, full;
  };
  using Args = ClusterArgs;
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const int t = m.thread(), beside = m.cluster_rank() ^ 1;
    const std::int64_t at = m.block() * threads + t;
    if (t == 0) {
      m.init(s.landed, threads);
      m.init(s.full, 1);
      m.fence_init();
    }
    m.sync_cluster();
    m.copy_async(s.tile[t], a.in + at);
    m.arrive_copies(s.landed);
    if (t == 0) m.arrive_expect(s.full, threads / 2 * 4);
    m.wait(s.landed, 0);
    const std::uint32_t mirrored = m.get(s.tile[threads - 1 - t]);
    if (t < threads / 2) m.send(s.inbox[t], mirrored, beside, s.full);
    m.wait(s.full, 0);
    m.store(a.out + at, t < threads / 2 ? m.get(s.inbox[t]) : mirrored);
    m.sync_cluster();
  }
  static std::vector<std::uint32_t> expected(const std::vector<std::uint32_t>& in) {
    std::vector<std::uint32_t> out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t block = i / threads, t = i % threads;
      out[i] = in[(t < threads / 2 ? block ^ 1 : block) * threads + threads - 1 - t];
    }
    return out;
  }
};

}  // namespace areal::kernels
