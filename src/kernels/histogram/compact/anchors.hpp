#pragma once
// The compact store of up to 32 bins: the anchors, from the totals of bands.

#include <cstdint>
#include "kernels/histogram/compact/bands.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// A block has a lattice line across the bands with totals and walks along it, a lane a bin. A warp has eight anchors
/// of 128 at once. Reads K'/128 bytes a pixel.
template <class M, class C>
struct CompactAnchors {
  using Args = CompactBandArgs;
  static constexpr int warps = 16, threads = warps * warp_size, resident = 2;
  static constexpr int ahead = 8;
  struct Shared {
    std::uint64_t sums[warps][warp_size];
  };
  M m;
  const Args& a;

  AREAL_DEVICE void operator()() {
    m.trigger_next_launch();
    Shared& s = m.template shared<Shared>();
    const std::int64_t lines = a.lattice(!a.by_rows), points = a.lattice(a.by_rows), bins = a.c.padded_bins();
    const std::int64_t image = m.block() / lines, line = m.block() - image * lines;
    const int bands = a.bands[a.by_rows];
    const std::uint32_t* const totals = a.totals + (image * bands * lines + line) * warp_size + m.lane();
    m.wait_previous_launch();
    std::uint64_t carry = 0;  // of the anchors before
    AREAL_NO_UNROLL
    for (std::int64_t first = m.warp() * ahead; first - m.warp() * ahead < points; first += warps * ahead) {
      std::uint32_t forwards[ahead], backwards[ahead];
      const auto load = [&](std::int64_t band) {
        return band < bands && m.lane() < bins ? m.load(totals + band * lines * warp_size) : 0;
      };
      AREAL_UNROLL
      for (int k = 0; k < ahead; ++k) {
        forwards[k] = load(2 * (first + k));
        backwards[k] = load(2 * (first + k) + 1);
      }
      std::uint64_t sum = 0;
      AREAL_UNROLL
      for (int k = 0; k < ahead; ++k) {
        if (2 * (first + k) + 1 < bands) ++backwards[k];  // its counts began at -1
        sum += forwards[k] + backwards[k];
      }
      m.put(s.sums[m.warp()][m.lane()], sum);
      m.sync();
      std::uint64_t before = carry;
      AREAL_UNROLL
      for (int warp = 0; warp < warps; ++warp) {
        const std::uint64_t of_warp = m.get(s.sums[warp][m.lane()]);
        if (warp < m.warp()) before += of_warp;
        carry += of_warp;
      }
      AREAL_UNROLL
      for (int k = 0; k < ahead; ++k) {
        const std::int64_t point = first + k;
        if (point < points && m.lane() < bins)
          store(a.by_rows ? a.c.anchor(image, point, line) : a.c.anchor(image, line, point), before);
        before += forwards[k] + backwards[k];
      }
      m.sync();
    }
  }

  AREAL_DEVICE void store(std::int64_t anchor, std::uint64_t count) const {
    char* const to = a.store + (anchor + m.lane()) * a.c.anchor_bytes;
    if (a.c.anchor_bytes == 4)
      m.store(reinterpret_cast<std::uint32_t*>(to), static_cast<std::uint32_t>(count));
    else
      m.store(reinterpret_cast<std::uint64_t*>(to), count);
  }
};

}  // namespace areal::kernels
