#pragma once
// Quantiles, percentiles and counts below a value, of regions, from a rank store (formulas/rank.hpp). 1 launch for each
// 32 numbers given. A warp has a region, a channel and a number; a lane has the panels of the region in turn. Reads per
// warp: the region's 4 numbers; for each plane and panel the lines at both ends of its rows, 32 bytes each, and the
// panel's zeros. Panels without keys in the plane are not read. A loop of `planes` steps, each of which waits for the
// one before; the second key of a quantile between two is searched from the plane where their ways part. NaN take one
// more such loop. Writes 8 bytes.

#include <bit>
#include <cstdint>
#include "formulas/quantile.hpp"
#include "formulas/rank.hpp"
#include "formulas/variance.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/warp/warp.hpp"
#include "kernels/query/regions.hpp"
#include "kernels/query/request.hpp"

namespace areal::kernels {

struct RankValuesArgs {
  static constexpr int most = 32;  ///< numbers of a launch

  RankValuesRequest::What what;
  QuantileMethod method;
  RegionArgs regions;
  formulas::Rank r;
  const char* store = nullptr;
  std::int64_t image = 0, channels = 1;
  Type type = Type::u8;
  bool may_have_nan = false;
  int first = 0, count = 0;  ///< of this launch
  std::int64_t all = 0;      ///< numbers of all launches
  union {
    double given[most];
    std::uint64_t keys[most];
  };
  void* out = nullptr;
};

/// Panels of a lane: at most 32 times as many as a region has.
template <int slots_>
struct RankSlots {
  static constexpr int slots = slots_;
};

/// The pixel that has this key, as a double.
AREAL_DEVICE double rank_value(Type type, std::uint64_t key) {
  switch (type) {
    case Type::s8:
      return static_cast<std::int8_t>(
          formulas::RankOrder<std::uint8_t>{true, false}.pixel(static_cast<std::uint8_t>(key)));
    case Type::s16:
      return static_cast<std::int16_t>(
          formulas::RankOrder<std::uint16_t>{true, false}.pixel(static_cast<std::uint16_t>(key)));
    case Type::s32:
      return static_cast<std::int32_t>(
          formulas::RankOrder<std::uint32_t>{true, false}.pixel(static_cast<std::uint32_t>(key)));
    case Type::f16:
      return static_cast<double>(
          float_of(Half{formulas::RankOrder<std::uint16_t>{false, true}.pixel(static_cast<std::uint16_t>(key))}));
    case Type::f32:
      return static_cast<double>(__builtin_bit_cast(
          float, formulas::RankOrder<std::uint32_t>{false, true}.pixel(static_cast<std::uint32_t>(key))));
    case Type::f64:
      return __builtin_bit_cast(double, formulas::RankOrder<std::uint64_t>{false, true}.pixel(key));
    default:
      return static_cast<double>(key);
  }
}
/// Above the keys of all floats but NaN.
AREAL_DEVICE std::uint64_t rank_end_of_numbers(Type type) {
  if (type == Type::f16) return std::uint64_t{formulas::RankOrder<std::uint16_t>{false, true}.key(0x7c00)} + 1;
  if (type == Type::f32) return std::uint64_t{formulas::RankOrder<std::uint32_t>{false, true}.key(0x7f800000)} + 1;
  return formulas::RankOrder<std::uint64_t>{false, true}.key(0x7ff0000000000000) + 1;
}

/// The ranges of a lane's panels in one plane. Of panels without keys, begin == end.
template <int slots>
struct RankRanges {
  std::uint32_t begin[slots], end[slots];
};

template <class M, class C>
struct RankValues {
  using Args = RankValuesArgs;
  using Shared = NoShared;
  using Ranges = RankRanges<C::slots>;
  using RankLine = formulas::RankLine;
  static constexpr int warps = 4, threads = warps * warp_size, resident = C::slots < 4 ? 8 : 4;
  M m;
  const Args& a;

  /// Of the lane's panels.
  struct Panels {
    std::int64_t line[C::slots], zeros[C::slots];  ///< the first line of plane 0; the zeros of plane 0
  };
  /// The zeros in front of the ranges' ends, and of the whole plane of the panel.
  struct Zeros {
    std::uint32_t begin[C::slots], end[C::slots], all[C::slots];
  };

  AREAL_DEVICE void operator()() {
    const std::int64_t warp = m.block() * warps + m.warp(), answers = a.channels * a.count, i = warp / answers;
    CheckedRegion region;
    if (i < a.regions.count) {
      region = checked_region(m, a.regions, i);
      const auto rest = static_cast<std::int32_t>(warp - i * answers), channel = rest / a.count,
                 k = rest - channel * a.count;
      answer(i, channel, k, region);
    }
    report(m, a.regions.refused, i, region.refused && m.lane() == 0);
  }

  AREAL_DEVICE void answer(std::int64_t i, int channel, int k, const CheckedRegion& checked) {
    const Region& region = checked.region;
    const bool is_empty = region.width == 0 || region.height == 0,
               counts = a.what == RankValuesRequest::What::counts_below;
    double value = formulas::not_a_number();
    std::uint64_t below = 0;
    if (!is_empty) {
      Panels panels;
      const Ranges whole = start(region, a.image * a.channels + channel, panels);
      const auto pixels = static_cast<std::uint64_t>(region.width * region.height);
      if (counts)
        below = a.keys[k] >> (a.r.planes - 1) > 1 ? pixels : count_below(panels, whole, a.keys[k]);
      else
        value = quantile(panels, whole, pixels, a.given[k]);
    }
    const std::int64_t at = (i * a.channels + channel) * a.all + a.first + k;
    if (m.lane() != 0) return;
    if (counts)
      m.store_streaming(static_cast<std::uint64_t*>(a.out) + at, below);
    else
      m.store_streaming(static_cast<double*>(a.out) + at, value);
  }

  /// The lane's panels, and their whole ranges.
  AREAL_DEVICE Ranges start(const Region& region, std::int64_t matrix, Panels& panels) const {
    Ranges ranges;
    AREAL_UNROLL
    for (int s = 0; s < C::slots; ++s) ranges.begin[s] = ranges.end[s] = 0, panels.line[s] = panels.zeros[s] = 0;
    int before = 0;
    a.r.each_run(region.x, region.x + region.width, [&](int level, std::int64_t first, int count) {
      AREAL_UNROLL
      for (int s = 0; s < C::slots; ++s) {
        const int own = s * warp_size + m.lane() - before;
        if (own < 0 || own >= count) continue;
        const std::int64_t panel = first + own;
        const auto columns = static_cast<std::uint32_t>(a.r.columns(level, panel));
        panels.line[s] = a.r.line(matrix, 0, level, panel);
        panels.zeros[s] = a.r.zeros(matrix, level, panel);
        ranges.begin[s] = static_cast<std::uint32_t>(region.y) * columns;
        ranges.end[s] = static_cast<std::uint32_t>(region.y + region.height) * columns;
      }
      before += count;
    });
    return ranges;
  }

  AREAL_DEVICE double quantile(const Panels& panels, const Ranges& whole, std::uint64_t pixels, double given) const {
    if (a.may_have_nan) pixels = count_below(panels, whole, rank_end_of_numbers(a.type));
    if (pixels == 0) return formulas::not_a_number();
    formulas::QuantilePlace place;
    if (a.what == RankValuesRequest::What::percentiles)
      place.lower = place.upper = formulas::percentile_rank(given, pixels);
    else
      place = formulas::quantile_place(a.method, given, pixels);
    std::uint64_t keys[2];
    select(panels, whole, static_cast<std::uint32_t>(place.lower), static_cast<std::uint32_t>(place.upper), keys);
    return formulas::quantile_of(place, rank_value(a.type, keys[0]), rank_value(a.type, keys[1]));
  }

  // ---- a plane

  AREAL_DEVICE std::uint32_t zeros_before(const RankLine* lines, std::uint32_t position) const {
    constexpr auto positions = static_cast<std::uint32_t>(RankLine::positions);
    const std::uint32_t number = position / positions, rest = position - number * positions;
    const auto* const from = reinterpret_cast<const Vec<std::uint32_t, 4>*>(lines + number);
    const Vec<std::uint32_t, 4> half[2] = {m.load(from), m.load(from + 1)};
    std::uint32_t ones = 0;
    AREAL_UNROLL
    for (int k = 0; k < RankLine::words; ++k) {
      const auto first = static_cast<std::uint32_t>(k * warp_size);
      const std::uint32_t word = half[(k + 1) / 4].at[(k + 1) % 4];
      const std::uint32_t mask = rest >= first + warp_size ? ~0u : rest > first ? (1u << (rest - first)) - 1 : 0;
      ones += static_cast<std::uint32_t>(std::popcount(word & mask));
    }
    return half[0].at[0] + rest - ones;
  }
  /// Of the lane's ranges. Returns how many keys of all ranges have a zero.
  AREAL_DEVICE std::uint32_t count_zeros(const Panels& panels, const Ranges& ranges, int plane, Zeros& zeros) const {
    std::uint32_t sum = 0;
    const auto* const lines = reinterpret_cast<const RankLine*>(a.store) + plane * a.r.lines;
    const auto* const all = reinterpret_cast<const std::uint32_t*>(a.store + a.r.zeros_at()) + plane;
    AREAL_UNROLL
    for (int s = 0; s < C::slots; ++s) {
      zeros.begin[s] = zeros.end[s] = zeros.all[s] = 0;
      if (ranges.begin[s] == ranges.end[s]) continue;
      zeros.all[s] = m.load(all + panels.zeros[s]);
      zeros.begin[s] = zeros_before(lines + panels.line[s], ranges.begin[s]);
      zeros.end[s] = zeros_before(lines + panels.line[s], ranges.end[s]);
      sum += zeros.end[s] - zeros.begin[s];
    }
    return warp_sum(m, sum);
  }
  /// To the zeros or the ones.
  AREAL_DEVICE static Ranges go(const Ranges& ranges, const Zeros& zeros, bool ones) {
    Ranges next;
    AREAL_UNROLL
    for (int s = 0; s < C::slots; ++s) {
      next.begin[s] = ones ? zeros.all[s] + ranges.begin[s] - zeros.begin[s] : zeros.begin[s];
      next.end[s] = ones ? zeros.all[s] + ranges.end[s] - zeros.end[s] : zeros.end[s];
    }
    return next;
  }

  // ---- all planes

  /// Keys of two ranks, the second one at least the first.
  AREAL_DEVICE void select(const Panels& panels, Ranges ranges, std::uint32_t lower, std::uint32_t upper,
                           std::uint64_t (&keys)[2]) const {
    Ranges later{};  // where the way to the upper one parts
    std::uint64_t key = 0, later_key = 0;
    std::uint32_t rank = lower, later_rank = 0;
    int later_plane = 0;
    bool parted = false;
    AREAL_NO_UNROLL
    for (int plane = 0; plane < a.r.planes; ++plane) {
      Zeros zeros;
      const std::uint32_t count = count_zeros(panels, ranges, plane, zeros);
      const bool ones = rank >= count;
      if (!parted && !ones && upper >= count) {
        parted = true;
        later = go(ranges, zeros, true);
        later_key = key << 1 | 1, later_rank = upper - count, later_plane = plane + 1;
      }
      ranges = go(ranges, zeros, ones);
      if (ones) rank -= count, upper -= count;
      key = key << 1 | (ones ? 1 : 0);
    }
    keys[0] = keys[1] = key;
    if (!parted) return;
    AREAL_NO_UNROLL
    for (int plane = later_plane; plane < a.r.planes; ++plane) {
      Zeros zeros;
      const std::uint32_t count = count_zeros(panels, later, plane, zeros);
      const bool ones = later_rank >= count;
      later = go(later, zeros, ones);
      if (ones) later_rank -= count;
      later_key = later_key << 1 | (ones ? 1 : 0);
    }
    keys[1] = later_key;
  }

  /// The keys below that one, which has at most as many bits as there are planes.
  AREAL_DEVICE std::uint64_t count_below(const Panels& panels, Ranges ranges, std::uint64_t key) const {
    std::uint32_t below = 0;
    AREAL_NO_UNROLL
    for (int plane = 0; plane < a.r.planes; ++plane) {
      Zeros zeros;
      const std::uint32_t count = count_zeros(panels, ranges, plane, zeros);
      const bool ones = (key >> (a.r.planes - 1 - plane) & 1u) != 0;
      if (ones) below += count;
      ranges = go(ranges, zeros, ones);
    }
    return below;
  }
};

template <class Launcher>
void run_query(Launcher& launcher, const RankValuesRequest& request) {
  forget_refused(launcher, request.regions);
  const formulas::Rank& r = request.layout;
  RankValuesArgs a{};
  a.what = request.what, a.method = request.method;
  a.regions = region_args(request.regions, r.width, r.height, false);
  a.r = r;
  a.store = static_cast<const char*>(request.store);
  a.image = request.image, a.channels = request.channels;
  a.type = request.type, a.may_have_nan = request.may_have_nan;
  a.all = request.count;
  a.out = request.out;
  const auto launch = [&]<int slots>(RankSlots<slots>) {
    using Slots = RankSlots<slots>;
    constexpr std::int64_t warps = RankValues<NoMachine, Slots>::warps;
    launcher.template launch<RankValues, Slots>((request.regions.count * a.channels * a.count + warps - 1) / warps, a,
                                                false);
  };
  for (std::int64_t first = 0; first < request.count; first += RankValuesArgs::most) {
    a.first = static_cast<int>(first);
    a.count = static_cast<int>(request.count - first < RankValuesArgs::most ? request.count - first
                                                                            : std::int64_t{RankValuesArgs::most});
    for (int k = 0; k < a.count; ++k)
      if (request.what == RankValuesRequest::What::counts_below)
        a.keys[k] = request.keys[first + k];
      else
        a.given[k] = request.given[first + k];
    const int panels = r.most_cover();
    if (panels <= warp_size)
      launch(RankSlots<1>{});
    else if (panels <= 2 * warp_size)
      launch(RankSlots<2>{});
    else
      launch(RankSlots<4>{});
  }
}

}  // namespace areal::kernels
