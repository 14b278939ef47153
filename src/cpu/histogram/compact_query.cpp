#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>
#include "cpu/histogram/compact.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/histogram/compact_query.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef AREAL_COMPACT_QUERY_ARGUMENTS
#define AREAL_COMPACT_QUERY_ARGUMENTS
namespace areal::cpu {
namespace {

/// Two strips whose difference, at most 65,535, is a count.
struct StripPair {
  const std::uint16_t *more, *less;
};

/// Counts of a box, or a part of them: four anchors, which the first part has, and pairs of strips.
struct BoxPart {
  static constexpr int most = 8;
  std::int64_t bins = 0;             ///< padded
  const std::byte* anchors[4] = {};  ///< lower right, upper right, lower left, upper left
  StripPair added[most], subtracted[most];
  int added_count = 0, subtracted_count = 0;
};

}  // namespace
}  // namespace areal::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// sums[k] = the anchors' part, or without anchors sums[k], and the pairs. Anchors of 32 bits.
void add_part(const BoxPart& part, std::uint32_t* sums) {
  const hn::CappedTag<std::uint32_t, 16> d;  // bins are padded to a multiple of 16
  const hn::Rebind<std::uint16_t, decltype(d)> d16;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t k = 0; k < part.bins; k += lanes) {
    const auto anchor = [&](int i) {
      return hn::LoadU(d, reinterpret_cast<const std::uint32_t*>(part.anchors[i]) + k);
    };
    const auto count = [&](const StripPair& pair) {
      return hn::PromoteTo(d, hn::Sub(hn::LoadU(d16, pair.more + k), hn::LoadU(d16, pair.less + k)));
    };
    auto sum = part.anchors[0] == nullptr ? hn::LoadU(d, sums + k)
                                          : hn::Add(hn::Sub(anchor(0), anchor(1)), hn::Sub(anchor(3), anchor(2)));
    for (int i = 0; i < part.added_count; ++i) sum = hn::Add(sum, count(part.added[i]));
    for (int i = 0; i < part.subtracted_count; ++i) sum = hn::Sub(sum, count(part.subtracted[i]));
    hn::StoreU(sum, d, sums + k);
  }
}

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
namespace {

HWY_EXPORT(add_part);

using formulas::Compact;
using formulas::CompactRest;

/// The same with anchors of 64 bits.
void add_wide_part(const BoxPart& part, std::uint64_t* sums) {
  const auto anchor = [&](int i, std::int64_t k) { return reinterpret_cast<const std::uint64_t*>(part.anchors[i])[k]; };
  const auto count = [](const StripPair& pair, std::int64_t k) {
    return static_cast<std::uint16_t>(pair.more[k] - pair.less[k]);
  };
  for (std::int64_t k = 0; k < part.bins; ++k) {
    if (part.anchors[0] != nullptr) sums[k] = anchor(0, k) - anchor(1, k) + anchor(3, k) - anchor(2, k);
    for (int i = 0; i < part.added_count; ++i) sums[k] += count(part.added[i], k);
    for (int i = 0; i < part.subtracted_count; ++i) sums[k] -= count(part.subtracted[i], k);
  }
}

// Labels of one byte are counted in four tables, one for each column of a square: equal neighbours would make each
// increment wait for the one before. A label without a bin has a place in them, too.
constexpr std::int64_t tables = 4, table_size = 256;

/// One box. Anchor: their type, which all arithmetic is modulo.
template <class Anchor>
class Box {
 public:
  Box(const Compact& c, const std::byte* store, std::int64_t image, const Region& region, std::byte* scratch)
      : c_(c),
        store_(store),
        image_(image),
        x_{region.x, region.x + region.width},
        y_{region.y, region.y + region.height},
        sums_(reinterpret_cast<Anchor*>(scratch)),
        tables_(reinterpret_cast<std::int16_t*>(scratch + c.padded_bins() * c.anchor_bytes)) {
    part_.bins = c.padded_bins();
  }

  const Anchor* counted() {
    const std::array<CompactRest, 4> rests = {
        formulas::compact_rest(c_, y_[1], x_[1], 1), formulas::compact_rest(c_, y_[0], x_[1], -1),
        formulas::compact_rest(c_, y_[1], x_[0], -1), formulas::compact_rest(c_, y_[0], x_[0], 1)};
    std::int64_t pixels = 0;
    for (const CompactRest& rest : rests) pixels += rest.pixels();
    if (c_.label_bytes == 1) std::memset(tables_, 0, tables * table_size * sizeof *tables_);
    // A box with fewer pixels than its corners' rests is counted itself.
    if (x_[1] - x_[0] <= 2 * c_.block && y_[1] - y_[0] <= 2 * c_.block && (x_[1] - x_[0]) * (y_[1] - y_[0]) <= pixels) {
      std::fill_n(sums_, c_.padded_bins(), Anchor{0});
      count({x_[0], x_[1], y_[0], y_[1], 1});
    } else {
      add_edges();
      for (const CompactRest& rest : rests) count(rest);
    }
    if (c_.label_bytes == 1) add_tables();
    return sums_;
  }

 private:
  void add_edges() {
    const std::int64_t a0 = c_.line(y_[0]), a1 = c_.line(y_[1]), b0 = c_.line(x_[0]), b1 = c_.line(x_[1]);
    const std::int64_t corners[4] = {c_.anchor(image_, a1, b1), c_.anchor(image_, a0, b1), c_.anchor(image_, a1, b0),
                                     c_.anchor(image_, a0, b0)};
    for (int i = 0; i < 4; ++i) part_.anchors[i] = store_ + corners[i] * c_.anchor_bytes;
    const auto* const rows = reinterpret_cast<const std::uint16_t*>(store_ + c_.row_strips_at());
    const auto* const columns = reinterpret_cast<const std::uint16_t*>(store_ + c_.column_strips_at());
    for (const int edge : {0, 1}) {
      add_edge(c_.offset(y_[edge]), edge, b0, b1,
               [&](std::int64_t b) { return rows + c_.row_strip(image_, y_[edge], b); });
      add_edge(c_.offset(x_[edge]), edge, a0, a1,
               [&](std::int64_t a) { return columns + c_.column_strip(image_, a, x_[edge]); });
    }
    flush();
  }

  /// The strips of one edge, `offset` pixels from its line, between two lines of the other axis.
  template <class Strip>
  void add_edge(std::int64_t offset, int edge, std::int64_t first, std::int64_t last, const Strip& strip) {
    if (offset == 0) return;
    const std::int64_t most = formulas::compact_pair(offset, c_.block);
    const bool added = (offset > 0) == (edge == 1);
    for (std::int64_t from = first; from < last; from += most) {
      StripPair pair{strip(std::min(from + most, last)), strip(from)};
      if (offset < 0) std::swap(pair.more, pair.less);
      if ((added ? part_.added_count : part_.subtracted_count) == BoxPart::most) flush();
      if (added)
        part_.added[part_.added_count++] = pair;
      else
        part_.subtracted[part_.subtracted_count++] = pair;
    }
  }

  void flush() {
    if constexpr (sizeof(Anchor) == 4)
      HWY_DYNAMIC_DISPATCH(add_part)(part_, sums_);
    else
      add_wide_part(part_, sums_);
    part_.anchors[0] = nullptr;
    part_.added_count = part_.subtracted_count = 0;
  }

  void count(const CompactRest& rest) {
    if (rest.sign == 0) return;
    if (c_.label_bytes == 1)
      count_bytes(rest);
    else
      count_wide(rest);
  }

  void count_bytes(const CompactRest& rest) {
    const auto* const labels = reinterpret_cast<const std::uint8_t*>(store_ + c_.labels_at());
    const auto sign = static_cast<std::int16_t>(rest.sign);
    std::int16_t* const t = tables_;
    const auto add = [&](std::int64_t column, std::uint8_t label) {
      std::int16_t& sum = t[column * table_size + label];
      sum = static_cast<std::int16_t>(sum + sign);
    };
    const std::int64_t first = rest.x0 / 4, last = (rest.x1 - 1) / 4;
    for (std::int64_t y = rest.y0; y < rest.y1; ++y) {
      const std::uint8_t* square = labels + c_.label(image_, y, 4 * first);
      if (first == last) {
        for (std::int64_t x = rest.x0 % 4; x <= (rest.x1 - 1) % 4; ++x) add(x, square[x]);
        continue;
      }
      for (std::int64_t x = rest.x0 % 4; x < 4; ++x) add(x, square[x]);
      square += 16;
      for (std::int64_t s = first + 1; s < last; ++s, square += 16)
        for (int x = 0; x < 4; ++x) add(x, square[x]);
      for (std::int64_t x = 0; x <= (rest.x1 - 1) % 4; ++x) add(x, square[x]);
    }
  }

  void count_wide(const CompactRest& rest) {
    const auto* const labels = reinterpret_cast<const std::uint16_t*>(store_ + c_.labels_at());
    for (std::int64_t y = rest.y0; y < rest.y1; ++y)
      for (std::int64_t x = rest.x0; x < rest.x1; ++x) {
        const std::uint16_t label = labels[c_.label(image_, y, x)];
        if (label < c_.bins) sums_[label] += static_cast<Anchor>(std::int64_t{rest.sign});
      }
  }

  void add_tables() {
    for (std::int64_t k = 0; k < c_.padded_bins(); ++k) {
      const int sum = tables_[k] + tables_[table_size + k] + tables_[2 * table_size + k] + tables_[3 * table_size + k];
      sums_[k] += static_cast<Anchor>(std::int64_t{sum});
    }
  }

  const Compact& c_;
  const std::byte* const store_;
  const std::int64_t image_;
  const std::int64_t x_[2], y_[2];
  BoxPart part_;
  Anchor* const sums_;
  std::int16_t* const tables_;
};

template <class Out>
void counts(const Compact& c, const std::byte* store, std::int64_t image, const Region& region, std::byte* scratch,
            Out* out) {
  if (region.width == 0 || region.height == 0) return static_cast<void>(std::fill_n(out, c.bins, Out{0}));
  const auto copy = [&](const auto* sums) {
    for (std::int64_t k = 0; k < c.bins; ++k) out[k] = static_cast<Out>(sums[k]);
  };
  if (c.anchor_bytes == 4)
    copy(Box<std::uint32_t>(c, store, image, region, scratch).counted());
  else
    copy(Box<std::uint64_t>(c, store, image, region, scratch).counted());
}

}  // namespace

std::size_t compact_scratch_bytes(const Compact& c) {
  return static_cast<std::size_t>(c.padded_bins() * c.anchor_bytes) + tables * table_size * sizeof(std::int16_t);
}

void compact_counts(const Compact& c, const std::byte* store, std::int64_t image, const Region& region,
                    std::byte* scratch, std::uint64_t* out) {
  counts(c, store, image, region, scratch, out);
}

void compact_counts(const Compact& c, const std::byte* store, std::int64_t image, const Region& region,
                    std::byte* scratch, double* out) {
  counts(c, store, image, region, scratch, out);
}

}  // namespace areal::cpu
#endif
