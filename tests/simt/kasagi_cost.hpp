#pragma once
// The exact work of the tile algorithms of Kasagi 2014 on h x w elements in tiles of t x t: accesses of global and of
// shared memory, and launches. Counted from the description of the steps, tile by tile; runs nothing.

#include <algorithm>
#include <cstdint>

namespace areal::kasagi {

struct Cost {
  std::int64_t reads = 0, writes = 0, launches = 0, shared_reads = 0, shared_writes = 0;

  Cost& operator+=(const Cost& o) {
    reads += o.reads, writes += o.writes, launches += o.launches;
    shared_reads += o.shared_reads, shared_writes += o.shared_writes;
    return *this;
  }
};

inline std::int64_t tiles_of(std::int64_t length, std::int64_t t) { return (length + t - 1) / t; }

inline Cost cost_of_2r1w(std::int64_t h, std::int64_t w, std::int64_t t);

/// The table of y x x corners, within the launch that scans the carries: by one block, or by 2R1W, which has that
/// launch as its first.
inline Cost cost_of_corners(std::int64_t y, std::int64_t x, std::int64_t t) {
  if (y <= 0 || x <= 0) return {};
  // One tile is copied, summed down and along, and copied back.
  if (y <= t && x <= t) return {y * x, y * x, 0, 2 * t * t + y * x, 3 * t * t};
  Cost cost = cost_of_2r1w(y, x, t);
  cost.launches -= 1;
  return cost;
}

inline Cost cost_of_2r1w(std::int64_t h, std::int64_t w, std::int64_t t) {
  const std::int64_t th = tiles_of(h, t), tw = tiles_of(w, t), tiles = th * tw, n = h * w;
  const std::int64_t carries = (th - 1) * w + (tw - 1) * h, corners = (th - 1) * (tw - 1);
  // All sums but the first of each line are written again.
  const std::int64_t scanned = std::max<std::int64_t>(0, th - 2) * w + std::max<std::int64_t>(0, tw - 2) * h;
  Cost cost{2 * n + 2 * carries + corners, n + carries + corners + scanned, carries > 0 ? 3 : 2};
  // Step 1: a tile is copied, summed by columns and by rows, t of the sums are added up. Step 3: copied, what is
  // carried into it added, summed down and along, copied out.
  cost.shared_writes = tiles * (4 * t * t + t) + carries + corners;
  cost.shared_reads = tiles * (4 * t * t + t) + carries + corners + n;
  return cost += cost_of_corners(th - 1, tw - 1, t);
}

inline Cost cost_of_1r1w(std::int64_t h, std::int64_t w, std::int64_t t) {
  const std::int64_t th = tiles_of(h, t), tw = tiles_of(w, t), tiles = th * tw, n = h * w;
  const std::int64_t above = (th - 1) * w, left = (tw - 1) * h;
  return {n + above + left + (th - 1) * (tw - 1), n + left, th + tw - 1,
          // Two sums and an element for each addition, the corner, both scans, the copy out, the saved column.
          tiles * (2 * t * t + 2) + 3 * (above + left) + n + left,
          // The copy, the sums around a tile, both scans, and the additions.
          tiles * (3 * t * t + 2 * t + 2) + above + left};
}

/// (1+r)R1W with triangles of side k.
inline Cost cost_of_hybrid(std::int64_t h, std::int64_t w, std::int64_t t, std::int64_t k) {
  const std::int64_t th = tiles_of(h, t), tw = tiles_of(w, t), square = t * t;
  const auto rows_of = [&](std::int64_t i) { return std::min(t, h - i * t); };
  const auto columns_of = [&](std::int64_t j) { return std::min(t, w - j * t); };
  Cost cost;
  cost.launches = th + tw - 1 - 2 * k;
  for (std::int64_t i = 0; i < th; ++i)
    for (std::int64_t j = 0; j < tw; ++j) {
      if (i + j < k || i + j > th + tw - 2 - k) continue;
      const std::int64_t rows = rows_of(i), columns = columns_of(j), carried = (i > 0) * columns + (j > 0) * rows;
      const std::int64_t saved = (j + 1 < tw) * rows, n = rows * columns;
      cost += {n + carried + (i > 0 && j > 0), n + saved, 0, 2 * square + 2 + 3 * carried + n + saved,
               3 * square + 2 * t + 2 + carried};
    }
  if (k == 0) return cost;
  for (const bool lower : {false, true}) {
    const std::int64_t y = lower ? th - k : 0, x = lower ? tw - k : 0;
    for (std::int64_t i = 0; i < k; ++i)
      for (std::int64_t j = 0; j < k; ++j) {
        const bool below = i + 1 < k, beside = j + 1 < k;
        if (lower ? i + j < k - 1 : i + j >= k) {  // a zero among the corners
          cost.writes += lower || (below && beside);
          continue;
        }
        const std::int64_t rows = rows_of(y + i), columns = columns_of(x + j), n = rows * columns;
        // Step 1. The lower triangle's first corner of a line is a finished sum, the next a difference of three.
        cost += {n, below * columns + beside * rows + (below && beside), 0, 2 * square + t, square + t};
        if (lower && i + j == k - 1) cost += {1, 1};
        if (lower && i + j == k) cost += {3, 1};
        // Step 3. The upper triangle's last tiles save their last columns for 1R1W.
        const std::int64_t carried = (lower || i > 0) * columns + (lower || j > 0) * rows;
        const std::int64_t corner = lower || (i > 0 && j > 0), saved = (!lower && i + j == k - 1) * rows;
        cost += {n + carried + corner, n + saved, 0, 2 * square + carried + corner + n + saved,
                 3 * square + carried + corner};
      }
    // Step 2. A line of the lower triangle begins with a difference of finished sums.
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t lines = rows_of(y + i) + columns_of(x + i);
      if (lower)
        cost += {lines * (2 + i), lines * (1 + i)};
      else
        cost += {lines * (k - 1 - i), lines * std::max<std::int64_t>(0, k - 2 - i)};
    }
    const std::int64_t corners = lower ? k : k - 1;
    cost.launches += corners > 0 ? 3 : 2;  // one tile has no carries
    cost += cost_of_corners(corners, corners, t);
  }
  return cost;
}

}  // namespace areal::kasagi
