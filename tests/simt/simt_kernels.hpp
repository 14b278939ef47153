#pragma once
// Small kernels for the tests of the simulated machine, each of which keeps all the rules.
#include <cstdint>
#include <vector>
#include "kernels/primitives/machine.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {

using kernels::full_mask;
using kernels::Mbarrier;
using kernels::NoShared;
using kernels::Vec;

struct Plain {};  // the C of a kernel without options

template <class T>
void add(Launcher& launcher, const char* name, std::vector<T>& data, bool initialised = true, bool writable = true) {
  launcher.add({name, data.data(), data.size() * sizeof(T), initialised, writable});
}

// Reverses each block's 256 numbers.
template <class M, class C>
struct Reverse {
  static constexpr int threads = 256;
  struct Shared {
    float tile[threads];
  };
  struct Args {
    const float* in;
    float* out;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const std::int64_t first = m.block() * threads;
    m.put(s.tile[m.thread()], m.load(a.in + first + m.thread()));
    m.sync();
    m.store(a.out + first + m.thread(), m.get(s.tile[threads - 1 - m.thread()]));
  }
};

template <class M>
AREAL_DEVICE std::uint32_t scan_warp(const M& m, std::uint32_t v) {
  for (int step = 1; step < 32; step *= 2) {
    const std::uint32_t left = m.shuffle_up(v, step, full_mask);
    if (m.lane() >= step) v += left;
  }
  return v;
}

// Inclusive scan of each block's 128 numbers.
template <class M>
AREAL_DEVICE std::uint32_t scan_block(const M& m, std::uint32_t v, std::uint32_t (&warps)[4]) {
  v = scan_warp(m, v);
  if (m.lane() == 31) m.put(warps[m.warp()], v);
  m.sync();
  for (int w = 0; w < m.warp(); ++w) v += m.get(warps[w]);
  return v;
}

template <class M, class C>
struct BlockScan {
  static constexpr int threads = 128;
  struct Shared {
    std::uint32_t warps[threads / 32];
  };
  struct Args {
    const std::uint32_t* in;
    std::uint32_t* out;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    const std::int64_t at = m.block() * threads + m.thread();
    m.store(a.out + at, scan_block(m, m.load(a.in + at), m.template shared<Shared>().warps));
  }
};

// Inclusive scan of everything: each block waits for the sum of those before it, each with its own flag.
template <class M, class C>
struct ChainedScan {
  static constexpr int threads = 128;
  struct Shared {
    std::uint32_t warps[threads / 32];
    std::uint32_t before;
    std::uint32_t ticket;
  };
  struct Args {
    const std::uint32_t* in;
    std::uint32_t* out;
    std::uint32_t* sums;   // one for each block
    std::uint32_t* flags;  // zero
    std::uint32_t* next;   // zero: the next block, whatever order they start in
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) m.put(s.ticket, m.atomic_add(a.next, 1));
    m.sync();
    const std::int64_t block = m.get(s.ticket), at = block * threads + m.thread();
    const std::uint32_t sum = scan_block(m, m.load(a.in + at), s.warps);
    if (m.thread() == threads - 1) {
      std::uint32_t before = 0;
      if (block > 0) {
        while (m.load_acquire(a.flags + block - 1) == 0) m.pause();
        before = m.load(a.sums + block - 1);
      }
      m.store(a.sums + block, before + sum);
      m.store_release(a.flags + block, 1);
      m.put(s.before, before);
    }
    m.sync();
    m.store(a.out + at, m.get(s.before) + sum);
  }
};

// The same with words that carry status and value together, and a warp that looks back at 32 of them at a time.
struct alignas(8) Word {
  std::uint32_t status;  // 0 nothing, 1 the block's sum, 2 the sum of all up to it
  std::uint32_t value;
};

template <class M, class C>
struct LookBackScan {
  static constexpr int threads = 128;
  struct Shared {
    std::uint32_t warps[threads / 32];
    std::uint32_t before;
  };
  struct Args {
    const std::uint32_t* in;
    std::uint32_t* out;
    Word* words;
  };
  M m;
  Args a;
  AREAL_DEVICE std::uint32_t look_back() {
    std::uint32_t before = 0;
    for (std::int64_t base = m.block() - 1;; base -= 32) {
      const std::int64_t at = base - m.lane();
      Word word{2, 0};
      while (m.any(at >= 0 && (word = m.load_relaxed(a.words + at)).status == 0, full_mask)) m.pause();
      const unsigned ends = m.ballot(word.status == 2, full_mask);
      const int end = ends == 0 ? 31 : __builtin_ctz(ends);
      std::uint32_t v = m.lane() <= end ? word.value : 0;
      for (int step = 16; step > 0; step /= 2) v += m.shuffle_xor(v, step, full_mask);
      before += v;
      if (ends != 0) return before;
    }
  }
  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const std::int64_t at = m.block() * threads + m.thread();
    const std::uint32_t sum = scan_block(m, m.load(a.in + at), s.warps);
    if (m.thread() == threads - 1) m.store_relaxed(a.words + m.block(), Word{m.block() == 0 ? 2u : 1u, sum});
    if (m.warp() == threads / 32 - 1) {
      const std::uint32_t before = m.block() == 0 ? 0 : look_back();
      if (m.lane() == 31) {
        if (m.block() > 0) m.store_relaxed(a.words + m.block(), Word{2, before + sum});
        m.put(s.before, before);
      }
    }
    m.sync();
    m.store(a.out + at, m.get(s.before) + sum);
  }
};

// Doubles 16 rows of 64 numbers: while one row is in use, the next is in flight.
template <class M, class C>
struct DoubleBuffer {
  static constexpr int threads = 64, rows = 16;
  struct Shared {
    std::uint32_t row[2][threads];
  };
  struct Args {
    const std::uint32_t* in;
    std::uint32_t* out;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const std::uint32_t* in = a.in + m.block() * rows * threads;
    std::uint32_t* out = a.out + m.block() * rows * threads;
    const int t = m.thread();
    m.copy_async(s.row[0][t], in + t);
    m.commit_copies();
    for (int r = 0; r < rows; ++r) {
      if (r + 1 < rows) m.copy_async(s.row[(r + 1) % 2][t], in + (r + 1) * threads + t);
      m.commit_copies();
      m.template wait_copies<1>();
      m.sync();
      m.store(out + r * threads + t, 2 * m.get(s.row[r % 2][threads - 1 - t]));
      m.sync();
    }
  }
};

// Adds one to 8 chunks of 256 numbers, moved in and out by the bulk engine through two buffers.
template <class M, class C>
struct BulkStream {
  static constexpr int threads = 64, chunks = 8, chunk = 256;
  static constexpr int bytes = chunk * 4;
  struct Shared {
    alignas(16) std::uint32_t in[2][chunk];
    alignas(16) std::uint32_t out[2][chunk];
    Mbarrier full[2];
  };
  struct Args {
    const std::uint32_t* in;
    std::uint32_t* out;
  };
  M m;
  Args a;
  AREAL_DEVICE void fetch(Shared& s, int c) {
    m.arrive_expect(s.full[c % 2], bytes);
    m.bulk_load(s.in[c % 2], a.in + (m.block() * chunks + c) * chunk, bytes, s.full[c % 2]);
  }
  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) {
      m.init(s.full[0], 1);
      m.init(s.full[1], 1);
      m.fence_init();
    }
    m.sync();
    if (m.thread() == 0) fetch(s, 0);
    for (int c = 0; c < chunks; ++c) {
      if (m.thread() == 0) {
        if (c + 1 < chunks) fetch(s, c + 1);
        m.template wait_bulk<1>();
      }
      m.sync();
      m.wait(s.full[c % 2], (c / 2) % 2);
      for (int i = m.thread(); i < chunk; i += threads) m.put(s.out[c % 2][i], m.get(s.in[c % 2][i]) + 1);
      m.fence_async();
      m.sync();
      if (m.thread() == 0) {
        m.bulk_store(a.out + (m.block() * chunks + c) * chunk, s.out[c % 2], bytes);
        m.commit_bulk();
      }
    }
    if (m.thread() == 0) m.template wait_bulk<0>();
  }
};

// Two warps load for two that add, each pair of warps at its own pace: barrier 1 signals full, barrier 2 empty.
template <class M, class C>
struct ProducerConsumer {
  static constexpr int threads = 128, rounds = 8;
  struct Shared {
    std::uint32_t buffer[64];
  };
  struct Args {
    const std::uint32_t* in;
    std::uint32_t* out;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const std::uint32_t* in = a.in + m.block() * rounds * 64;
    const int t = m.thread() % 64;
    if (m.thread() < 64) {
      for (int r = 0; r < rounds; ++r) {
        m.sync(2, threads);
        m.put(s.buffer[t], m.load(in + r * 64 + t));
        m.arrive(1, threads);
      }
    } else {
      std::uint32_t sum = 0;
      for (int r = 0; r < rounds; ++r) {
        m.arrive(2, threads);
        m.sync(1, threads);
        sum += m.get(s.buffer[63 - t]);
      }
      m.store(a.out + m.block() * 64 + t, sum);
    }
  }
};

}  // namespace areal::simt
