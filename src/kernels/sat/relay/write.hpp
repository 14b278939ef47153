#pragma once
// The write role of relay: a warp writes a unit's entries, row by row, from the table's row above it.

#include <cstdint>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/warp/warp.hpp"
#include "kernels/sat/mirror.hpp"

namespace areal::kernels {

/// K: the kernel. A lane has four columns of each half of a unit.
template <class K>
class RelayWriter {
  using T = typename K::T;
  using Sums = Vec<T, 4>;
  static constexpr int together = K::Tuning::together, parts = K::parts;
  static constexpr bool aligned = K::Tuning::aligned, reverse = K::reverse;
  static constexpr int size = static_cast<int>(sizeof(T)), direction = reverse ? -1 : 1;  // of a row
  static constexpr std::uint32_t each = 0x01010101u;

 public:
  AREAL_DEVICE explicit RelayWriter(const K& k) : k_(k), m_(k.m), a_(k.a) {}

  std::uint32_t left[parts];  ///< of each row, lane by lane

  /// The table's row above a unit, from the sums of all columns above it and the sum above and left of it.
  AREAL_DEVICE void begin(const std::uint32_t (&column)[8], bool first, T corner) {
    AREAL_UNROLL
    for (int h = 0; h < 2; ++h) {
      AREAL_UNROLL
      for (int v = 0; v < 4; ++v) row_[h].at[v] = 0;
    }
    if (first) return;
    T before = corner;
    AREAL_UNROLL
    for (int h = 0; h < 2; ++h) {
      T run = 0;
      AREAL_UNROLL
      for (int v = 0; v < 4; ++v) row_[h].at[v] = run += static_cast<T>(column[4 * h + v]);
      const T scan = warp_scan(m_, run), mine = before + before_in_scan(m_, scan, run);
      AREAL_UNROLL
      for (int v = 0; v < 4; ++v) row_[h].at[v] += mine;
      before += m_.shuffle(scan, warp_size - 1);
    }
  }

  template <bool whole, class Shared, class Unit>
  AREAL_DEVICE void write(const Shared& s, const Unit& u) {
    const std::int64_t y0 = static_cast<std::int64_t>(u.group) * K::unit_rows;
    // The lowest address of the lane's four columns.
    char* to = a_.table + u.image * a_.table_batch + y0 * a_.table_row +
               (static_cast<std::int64_t>(u.strip) * K::columns + m_.lane() * 4) * direction * size -
               (reverse ? 3 * size : 0);
    columns_ = u.columns;
    const int halves = whole || here(1, 0) ? 2 : 1;  // that have columns in the image
    if (a_.edge) write_edge(u, to);
    for (int top = 0; top < (whole ? K::unit_rows : u.rows); top += together) {
      std::uint32_t pixels[together][2], own[together], scan[together];
      AREAL_UNROLL
      for (int i = 0; i < together; ++i) {
        AREAL_UNROLL
        for (int h = 0; h < 2; ++h) {
          pixels[i][h] = 0;
          if (whole || (here(h) && top + i < u.rows))
            pixels[i][h] = k_.template columns_of<4>(s, u, top + i, h * warp_size + m_.lane()).at[0];
        }
        // The sums of 128 columns fit 16 bits.
        own[i] = m_.dot4(pixels[i][0], each, 0u) | m_.dot4(pixels[i][1], each, 0u) << 16;
        scan[i] = own[i];
      }
      AREAL_UNROLL
      for (int n = 1; n < warp_size; n *= 2) {
        AREAL_UNROLL
        for (int i = 0; i < together; ++i) {
          const std::uint32_t more = m_.shuffle_up(scan[i], n);
          if (m_.lane() >= n) scan[i] += more;
        }
      }
      const std::uint32_t lefts = parts == 1 || top < warp_size ? left[0] : left[parts - 1];
      AREAL_UNROLL
      for (int i = 0; i < together; ++i) {
        const std::uint32_t first_half = m_.shuffle(scan[i], warp_size - 1) & 0xffffu;
        const std::uint32_t row_left = m_.shuffle(lefts, (top + i) % warp_size), before = scan[i] - own[i];
        const std::uint32_t from[2] = {row_left + (before & 0xffffu), row_left + first_half + (before >> 16)};
        AREAL_UNROLL
        for (int h = 0; h < 2; ++h) {
          if (h >= halves) break;
          AREAL_UNROLL
          for (int v = 0; v < 4; ++v) row_[h].at[v] += static_cast<T>(m_.dot4(pixels[i][h], K::up_to(v), from[h]));
        }
        if (whole || top + i < u.rows) store<whole>(to, halves);
        to += a_.table_row;
      }
    }
  }

 private:
  /// A lane's columns of a half, in the unit; and whether they lie in the image, which has whole vectors of them.
  AREAL_DEVICE int first_of(int half, int lane) const { return half * K::columns / 2 + lane * 4; }
  AREAL_DEVICE bool here(int half, int lane) const { return first_of(half, lane) < columns_; }
  AREAL_DEVICE bool here(int half) const { return here(half, m_.lane()); }

  /// The zeros above the first units and left of a row's first.
  template <class Unit>
  AREAL_DEVICE void write_edge(const Unit& u, char* to) const {
    static constexpr int border_column = reverse ? 4 : -1;  // from `to`, of the first lane
    const auto zero = [&](char* at) { m_.store_streaming(reinterpret_cast<T*>(at), T(0)); };
    if (u.group == 0) {
      char* const over = to - a_.table_row;
      AREAL_UNROLL
      for (int h = 0; h < 2; ++h)
        if (here(h)) {
          AREAL_UNROLL
          for (int v = 0; v < 4; ++v) zero(over + (h * direction * (K::columns / 2) + v) * size);
        }
      if (u.strip == 0 && m_.lane() == 0) zero(over + border_column * size);
    }
    if (u.strip == 0) {
      char* const side = to + (border_column - m_.lane() * 4 * direction) * size;
      for (int y = m_.lane(); y < u.rows; y += warp_size) zero(side + y * a_.table_row);
    }
  }

  template <bool whole>
  AREAL_DEVICE void store(char* to, int halves) const {
    if constexpr (aligned) {
      AREAL_UNROLL
      for (int h = 0; h < 2; ++h)
        if (whole || (h < halves && here(h)))
          m_.store_streaming(reinterpret_cast<Sums*>(to) + h * direction * warp_size, mirrored<reverse>(row_[h]));
    } else {
      // All lanes are at the same distance from an aligned address.
      const int r = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % 4);
      if (r == 0)
        store_shifted<0, whole>(to, halves);
      else if (r == 1)
        store_shifted<1, whole>(to, halves);
      else if (r == 2)
        store_shifted<2, whole>(to, halves);
      else
        store_shifted<3, whole>(to, halves);
    }
  }
  /// Vectors r entries after an aligned address: each lane stores the aligned one that ends within its own columns; the
  /// unit's first lane in memory, and the last one, also store the remainders.
  template <int r, bool whole>
  AREAL_DEVICE void store_shifted(char* to, int halves) const {
    const Sums lines[2] = {mirrored<reverse>(row_[0]), mirrored<reverse>(row_[1])};  // in memory order
    AREAL_UNROLL
    for (int h = 0; h < 2; ++h) {
      if (h >= halves) break;
      Sums out;
      AREAL_UNROLL
      for (int v = 0; v < 4; ++v) {
        if (v >= r) {
          out.at[v] = lines[h].at[v >= r ? v - r : 0];
        } else {
          const int from = v < r ? 4 - r + v : 0;
          T give = lines[h].at[from];
          if (h == (reverse ? 0 : 1) && m_.lane() == (reverse ? 0 : warp_size - 1)) give = lines[1 - h].at[from];
          out.at[v] = m_.shuffle(give, (m_.lane() + (reverse ? 1 : warp_size - 1)) % warp_size);
        }
      }
      T* const at = reinterpret_cast<T*>(to) + h * direction * warp_size * 4;
      const bool begins = h == 0 && m_.lane() == 0;
      const bool ends = whole ? h == 1 && m_.lane() == warp_size - 1 : first_of(h, m_.lane()) + 4 == columns_;
      const bool first = reverse ? ends : begins, last = reverse ? begins : ends;
      if ((whole || here(h)) && (r == 0 || !first)) m_.store_streaming(reinterpret_cast<Sums*>(at - r), out);
      if constexpr (r > 0) {
        AREAL_UNROLL
        for (int v = 0; v < 4; ++v)
          if (v < 4 - r ? first : last) m_.store_streaming(at + v, lines[h].at[v]);
      }
    }
  }
  const K& k_;
  const typename K::Machine& m_;
  const typename K::Args& a_;
  int columns_ = 0;  // of the unit that lie in the image
  Sums row_[2];      // the table's last row
};

}  // namespace areal::kernels
