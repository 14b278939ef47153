#pragma once
// Matrices with any row pitch and alignment, and their accesses: the form in which the papers' algorithms are written.

#include <cstdint>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// Rows of elements.
struct Matrix {
  char* first = nullptr;
  std::int64_t pitch = 0;  ///< bytes from row to row
  bool aligned = true;     ///< elements are; otherwise accesses are byte by byte

  AREAL_DEVICE char* at(std::int64_t y, std::int64_t x, int size) const { return first + y * pitch + x * size; }
};

/// The input of a plain algorithm: `width` x `height` pixels to sum.
struct Plain {
  Matrix in, out;
  std::int64_t width = 0, height = 0;
};

/// An element as a term of the sum: of an image, or of an unfinished table.
template <class T, class From, class M>
AREAL_DEVICE T load(const M& m, const Matrix& from, std::int64_t y, std::int64_t x, Site site = AREAL_HERE) {
  return term<T>(load_element<M, From>(m, from.at(y, x, sizeof(From)), from.aligned, site));
}
/// Stores to a table that the next launch may read: not evicted first.
template <class T, class M>
AREAL_DEVICE void store(const M& m, const Matrix& to, std::int64_t y, std::int64_t x, T value, Site site = AREAL_HERE) {
  char* const cell = to.at(y, x, sizeof(T));
  if (to.aligned) {
    m.store(reinterpret_cast<T*>(cell), value, site);
    return;
  }
  const auto bytes = __builtin_bit_cast(Vec<unsigned char, sizeof(T)>, value);
  AREAL_UNROLL
  for (int i = 0; i < static_cast<int>(sizeof(T)); ++i)
    m.store(reinterpret_cast<unsigned char*>(cell) + i, bytes.at[i], site);
}

/// Types, and side of the tiles (the machine's w).
template <class In_, class T_, int w_ = warp_size>
struct PlainConfig {
  using In = In_;
  using T = T_;
  static constexpr int w = w_;
};

constexpr std::int64_t blocks_of(std::int64_t threads, int a_block) { return (threads + a_block - 1) / a_block; }

}  // namespace areal::kernels
