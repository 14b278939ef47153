#include "bench/harness/floors.hpp"
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <thread>

// The compiler makes the loops for each of these; the loader takes the best.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define AREAL_BEST_TARGET __attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))
#else
#define AREAL_BEST_TARGET
#endif

namespace areal::bench {
namespace {

// Threads that live as long as the command, as the library's do: sixteen new ones take 1.4 ms, more than a table of
// 4096x4096. Plain ones: the floor owes nothing to the library.
class Pool {
 public:
  explicit Pool(int threads) : pieces_(4 * threads) {
    for (int i = 1; i < threads; ++i) std::thread([this] { serve(); }).detach();
  }
  int pieces() const { return pieces_; }
  // Calls work(i) for every i below pieces(). No thread waits for one that starts late.
  void run(const std::function<void(int)>& work) {
    work_ = &work;
    done_.store(0, std::memory_order_relaxed);
    const std::uint64_t round = (next_.load(std::memory_order_relaxed) >> 32) + 1;
    next_.store(round << 32, std::memory_order_release);  // publishes work_ and done_
    round_.store(static_cast<std::uint32_t>(round), std::memory_order_release);
    round_.notify_all();
    take();
    for (int done; (done = done_.load(std::memory_order_acquire)) < pieces_;)
      done_.wait(done, std::memory_order_acquire);
  }
  // Never destroyed: idle threads wait in them.
  static Pool& of(int threads) {
    static auto& pools = *new std::map<int, Pool*>();
    Pool*& pool = pools[threads];
    if (pool == nullptr) pool = new Pool(threads);
    return *pool;
  }

 private:
  [[noreturn]] void serve() {
    for (std::uint32_t seen = 0;;) {
      round_.wait(seen, std::memory_order_acquire);
      seen = round_.load(std::memory_order_acquire);
      take();
    }
  }
  // A thread takes a piece and its round in one step; the round keeps its work until the piece is done.
  void take() {
    std::uint64_t at = next_.load(std::memory_order_acquire);
    for (;;) {
      const auto piece = static_cast<int>(at & 0xffffffff);
      if (at == 0 || piece >= pieces_) return;
      if (!next_.compare_exchange_weak(at, at + 1, std::memory_order_acquire)) continue;
      (*work_)(piece);
      if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == pieces_) done_.notify_one();
      at = next_.load(std::memory_order_acquire);
    }
  }
  const int pieces_;
  const std::function<void(int)>* work_ = nullptr;
  std::atomic<std::uint64_t> next_{0};  // the round (high half) and its next piece
  std::atomic<std::uint32_t> round_{0};
  std::atomic<int> done_{0};
};

// body(begin, end) over equal blocks of [0, n), four for each thread. All calls are from one thread.
void blocks(std::int64_t n, int threads, const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (threads <= 1) return body(0, n);
  Pool& pool = Pool::of(threads);
  const auto edge = [&](int i) { return i == pool.pieces() ? n : n / pool.pieces() * i / 64 * 64; };
  pool.run([&](int i) { body(edge(i), edge(i + 1)); });
}

AREAL_BEST_TARGET void widen_loop(const std::uint8_t* in, std::uint32_t* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = in[i];
}
AREAL_BEST_TARGET void widen_loop(const std::uint8_t* in, std::uint64_t* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = in[i];
}
AREAL_BEST_TARGET void widen_loop(const std::uint8_t* in, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = in[i];
}
AREAL_BEST_TARGET void widen_loop(const std::uint8_t* in, double* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = in[i];
}
AREAL_BEST_TARGET void widen_loop(const std::uint16_t* in, std::uint32_t* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = in[i];
}
AREAL_BEST_TARGET void widen_loop(const std::uint16_t* in, std::uint64_t* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = in[i];
}
AREAL_BEST_TARGET void widen_loop(const std::uint16_t* in, double* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = in[i];
}
AREAL_BEST_TARGET void widen_loop(const std::uint32_t* in, std::uint64_t* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = in[i];
}
AREAL_BEST_TARGET void widen_loop(const float* in, double* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = in[i];
}
AREAL_BEST_TARGET void widen_both(const std::uint8_t* in, std::uint32_t* out, double* squares, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    out[i] = in[i];
    squares[i] = static_cast<double>(in[i] * in[i]);
  }
}

template <class In, class Out>
void widen_block(const void* in, void* out, std::int64_t begin, std::int64_t end) {
  widen_loop(static_cast<const In*>(in) + begin, static_cast<Out*>(out) + begin, end - begin);
}

// Any pixel of a size and any entry of a size move the same bytes; the conversion follows the table's kind.
void widen_range(const void* in, void* out, std::int64_t begin, std::int64_t end, TypePair types) {
  const std::size_t from = size_of(types.input), to = size_of(types.table);
  if (from == to) {
    std::memcpy(static_cast<char*>(out) + static_cast<std::size_t>(begin) * to,
                static_cast<const char*>(in) + static_cast<std::size_t>(begin) * from,
                static_cast<std::size_t>(end - begin) * to);
    return;
  }
  const bool is_real = is_float(types.table);
  if (from == 1 && to == 4)
    return is_real ? widen_block<std::uint8_t, float>(in, out, begin, end)
                   : widen_block<std::uint8_t, std::uint32_t>(in, out, begin, end);
  if (from == 1)
    return is_real ? widen_block<std::uint8_t, double>(in, out, begin, end)
                   : widen_block<std::uint8_t, std::uint64_t>(in, out, begin, end);
  if (from == 2 && to == 4) return widen_block<std::uint16_t, std::uint32_t>(in, out, begin, end);
  if (from == 2)
    return is_real ? widen_block<std::uint16_t, double>(in, out, begin, end)
                   : widen_block<std::uint16_t, std::uint64_t>(in, out, begin, end);
  if (is_real) return widen_block<float, double>(in, out, begin, end);
  widen_block<std::uint32_t, std::uint64_t>(in, out, begin, end);
}

}  // namespace

void widen(const void* pixels, void* table, std::int64_t elements, TypePair types, int threads) {
  blocks(elements, threads,
         [&](std::int64_t begin, std::int64_t end) { widen_range(pixels, table, begin, end, types); });
}

void widen_twice(const void* pixels, void* table, void* squares, std::int64_t elements, TypePair types, Type second,
                 int threads) {
  blocks(elements, threads, [&](std::int64_t begin, std::int64_t end) {
    if (types.input == Type::u8 && size_of(types.table) == 4 && second == Type::f64) {
      widen_both(static_cast<const std::uint8_t*>(pixels) + begin, static_cast<std::uint32_t*>(table) + begin,
                 static_cast<double*>(squares) + begin, end - begin);
      return;
    }
    constexpr std::int64_t part = 4096;  // the second read of the pixels hits the cache
    for (std::int64_t at = begin; at < end; at += part) {
      widen_range(pixels, table, at, std::min(end, at + part), types);
      widen_range(pixels, squares, at, std::min(end, at + part), {types.input, second});
    }
  });
}

void fill(void* memory, std::int64_t bytes, int threads) {
  blocks(bytes, threads, [&](std::int64_t begin, std::int64_t end) {
    std::memset(static_cast<char*>(memory) + begin, 1, static_cast<std::size_t>(end - begin));
  });
}

void one_hot(const std::uint8_t* pixels, std::uint32_t* tensor, std::int64_t count, std::int64_t bins,
             const std::array<std::int64_t, 256>& bin_of, int threads) {
  blocks(count, threads, [&](std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t part = 2048;  // the second write hits the cache
    for (std::int64_t at = begin; at < end; at += part) {
      const std::int64_t to = std::min(end, at + part);
      for (std::int64_t k = 0; k < bins; ++k) std::fill(tensor + k * count + at, tensor + k * count + to, 0U);
      for (std::int64_t i = at; i < to; ++i) tensor[bin_of[pixels[i]] * count + i] = 1;
    }
  });
}

void gather(const std::uint32_t* table, std::int64_t row_entries, std::span<const Region> regions, std::uint64_t* out,
            int threads) {
  blocks(static_cast<std::int64_t>(regions.size()), threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Region& r = regions[static_cast<std::size_t>(i)];
      const std::uint32_t* const top = table + r.y * row_entries + r.x;
      const std::uint32_t* const bottom = top + r.height * row_entries;
      out[i] = static_cast<std::uint32_t>(bottom[r.width] - bottom[0] - top[r.width] + top[0]);
    }
  });
}

void read_regions(const std::uint8_t* pixels, std::int64_t row_bytes, std::span<const Region> regions, int threads) {
  blocks(static_cast<std::int64_t>(regions.size()), threads, [&](std::int64_t begin, std::int64_t end) {
    std::array<std::uint8_t, 16384> copy;
    for (std::int64_t i = begin; i < end; ++i) {
      const Region& r = regions[static_cast<std::size_t>(i)];
      for (std::int64_t y = r.y; y < r.y + r.height; ++y)
        for (std::int64_t x = 0; x < r.width; x += static_cast<std::int64_t>(copy.size())) {
          const auto bytes =
              static_cast<std::size_t>(std::min<std::int64_t>(static_cast<std::int64_t>(copy.size()), r.width - x));
          std::memcpy(copy.data(), pixels + y * row_bytes + r.x + x, bytes);
          asm volatile("" : : "g"(copy.data()) : "memory");  // the copy is needed
        }
    }
  });
}

}  // namespace areal::bench
