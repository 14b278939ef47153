#pragma once
// Scan-scan, the baseline of Chen 2018 (VI-B.2): sums along each row, then down each column, in place in the table. The
// scheme is that of a well-known library; the code is ours. Two launches; reads 2, writes 2 per element.
//
//   row            a block of 256 scans a row, one element per thread: Kogge-Stone over each warp by shuffles, then
//                  over the warps' sums
//   row_of_bytes   the same, 16 pixels per thread: one load of 16 bytes, a serial scan of the 16, then the block's scan
//                  of the threads' sums. Four lanes exchange their sums so that they write 64 contiguous bytes
//   column         a thread scans a column, with eight rows loaded at once: as many loads in flight as with the
//                  library's blocks, which have eight threads for a column
//
// Written over a machine M: CUDA's is in scan_scan_peer.cu, and threads of the host run the same code in its test. M
// has thread() and threads() of the block (whole warps), sync() of the block, up(value, lanes) and across(value, mask)
// of the warp, load(p) and store(p, four) of 16 aligned bytes.

#include <cstdint>

#ifdef __CUDACC__
#define AREAL_ON_DEVICE __device__
#define AREAL_UNROLLED _Pragma("unroll")
#else
#define AREAL_ON_DEVICE
#define AREAL_UNROLLED
#endif

namespace areal::bench::scan_then_scan {

inline constexpr int warp = 32, row_threads = 256, most_threads = 1024;
inline constexpr int pixels = 16;     // per thread
inline constexpr int rows_ahead = 8;  // per column
inline constexpr int columns = warp;  // per block

/// Sixteen bytes.
template <class T>
struct alignas(16) Four {
  T at[4];
};
struct Words {
  std::uint32_t word[4];
};

/// The sums of the block's warps, then the sum of all warps before each.
template <class T>
struct Shared {
  T sums[warp];
};

/// Inclusive, over the warp: Kogge-Stone.
template <class M, class T>
AREAL_ON_DEVICE T scan_warp(M& m, T value) {
  AREAL_UNROLLED
  for (int lanes = 1; lanes < warp; lanes *= 2) {
    const T before = m.up(value, lanes);
    if (m.thread() % warp >= lanes) value += before;
  }
  return value;
}

/// The sum of `value` over the threads before this one, and over the whole block.
template <class M, class T>
AREAL_ON_DEVICE T scan_block(M& m, Shared<T>& s, T value, T& whole) {
  const int lane = m.thread() % warp, mine = m.thread() / warp, warps = m.threads() / warp;
  const T scanned = scan_warp(m, value);
  const T left = m.up(scanned, 1);
  if (lane == warp - 1) s.sums[mine] = scanned;
  m.sync();
  if (mine == 0) {
    const T sums = scan_warp(m, lane < warps ? s.sums[lane] : T{});
    s.sums[lane] = sums;
  }
  m.sync();
  const T before = (lane == 0 ? T{} : left) + (mine == 0 ? T{} : s.sums[mine - 1]);
  whole = s.sums[warps - 1];
  m.sync();  // before the next sums come
  return before;
}

template <class M, class In, class T>
AREAL_ON_DEVICE void row(M& m, Shared<T>& s, const In* from, T* to, std::int64_t width) {
  T carry{};
  for (std::int64_t first = 0; first < width; first += m.threads()) {
    const std::int64_t x = first + m.thread();
    const T value = x < width ? static_cast<T>(from[x]) : T{};
    T whole;
    const T before = carry + scan_block(m, s, value, whole);
    if (x < width) to[x] = before + value;
    carry += whole;
  }
}

// By selection, so that indexed values stay in registers.
template <class T>
AREAL_ON_DEVICE T picked(const T& a, const T& b, const T& c, const T& d, int which) {
  const T low = (which & 1) != 0 ? b : a, high = (which & 1) != 0 ? d : c;
  return (which & 2) != 0 ? high : low;
}

/// Pixels and sums begin at 16 bytes, and the width is a multiple of 16.
template <class M, class T>
AREAL_ON_DEVICE void row_of_bytes(M& m, Shared<T>& s, const std::uint8_t* from, T* to, std::int64_t width) {
  const int quarter = m.thread() % 4;  // of 16 sums that this thread writes
  T carry{};
  for (std::int64_t first = 0; first < width; first += std::int64_t{pixels} * m.threads()) {
    const std::int64_t x = first + std::int64_t{pixels} * m.thread();
    Words loaded{};
    if (x < width) loaded = m.load(from + x);
    T sums[pixels];
    T value{};
    AREAL_UNROLLED
    for (int i = 0; i < pixels; ++i) {
      value += static_cast<T>(loaded.word[i / 4] >> 8 * (i % 4) & 255U);
      sums[i] = value;
    }
    T whole;
    const T before = carry + scan_block(m, s, value, whole);
    // Of its 16 sums, the lane `mask` away sends the quarter that this one writes.
    T got[4][4];
    AREAL_UNROLLED
    for (int mask = 0; mask < 4; ++mask) AREAL_UNROLLED
    for (int i = 0; i < 4; ++i)
      got[mask][i] = m.across(
          static_cast<T>(before + picked(sums[i], sums[4 + i], sums[8 + i], sums[12 + i], quarter ^ mask)), mask);
    AREAL_UNROLLED
    for (int lane = 0; lane < 4; ++lane) {  // all four write its sums
      Four<T> four;
      AREAL_UNROLLED
      for (int i = 0; i < 4; ++i) four.at[i] = picked(got[0][i], got[1][i], got[2][i], got[3][i], quarter ^ lane);
      const std::int64_t group = x + pixels * (lane - quarter);
      if (group < width) m.store(to + group + 4 * quarter, four);
    }
    carry += whole;
  }
}

/// `pitch`: entries from row to row.
template <class T>
AREAL_ON_DEVICE void column(T* first, std::int64_t pitch, std::int64_t height) {
  T sum{};
  for (std::int64_t y = 0; y < height; y += rows_ahead) {
    T ahead[rows_ahead];
    AREAL_UNROLLED
    for (int i = 0; i < rows_ahead; ++i) ahead[i] = y + i < height ? first[(y + i) * pitch] : T{};
    AREAL_UNROLLED
    for (int i = 0; i < rows_ahead; ++i) {
      sum += ahead[i];
      if (y + i < height) first[(y + i) * pitch] = sum;
    }
  }
}

/// True if rows may be processed 16 pixels at a time. The library checks the same, and uses the other path otherwise.
inline bool by_sixteen(const void* image, const void* table, std::int64_t width) {
  const auto both = reinterpret_cast<std::uintptr_t>(image) | reinterpret_cast<std::uintptr_t>(table);
  return both % 16 == 0 && width % pixels == 0;
}
/// Threads for a row, 16 pixels each: whole warps, at most a block.
inline int threads_by_sixteen(std::int64_t width) {
  const std::int64_t warps = (width + pixels * warp - 1) / (pixels * warp);
  return static_cast<int>(warps < most_threads / warp ? warps * warp : most_threads);
}

}  // namespace areal::bench::scan_then_scan
