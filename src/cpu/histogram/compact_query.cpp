#include <algorithm>
#include <array>
#include <cstring>
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

/// Two strips whose difference, at most 65,535, is a count, and its sign in the box: 0, or -1 to subtract.
struct StripPair {
  const std::uint16_t *more, *less;
  std::int32_t sign;
};

// Labels of one byte are counted in four tables, one for each column of a square: equal neighbours would make each
// increment wait for the one before. Labels without a bin have a place in them, too.
constexpr std::int64_t tables = 4, table_size = 256;

/// Counts of a box, or a part of them.
struct BoxPart {
  std::int64_t bins = 0;                                               ///< padded
  enum class On : std::uint8_t { anchors, zero, sums } on = On::zero;  ///< what the pairs are added to
  const std::byte* anchors[4] = {};  ///< lower right, upper right, lower left, upper left
  StripPair pairs[4] = {};           ///< always four: without branches, an edge on its line reads a strip twice
  std::int16_t* tables = nullptr;    ///< added and set to zeros, or null
};

}  // namespace
}  // namespace areal::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// sums[k] = the part. Anchors of 32 bits.
void add_part(const BoxPart& part, std::uint32_t* sums) {
  const hn::CappedTag<std::uint32_t, 16> d;  // bins are padded to a multiple of 16
  const hn::Rebind<std::uint16_t, decltype(d)> d16;
  const hn::RebindToSigned<decltype(d)> d_signed;
  const hn::RebindToSigned<decltype(d16)> d16_signed;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sign[4];
  for (int i = 0; i < 4; ++i) sign[i] = hn::Set(d, static_cast<std::uint32_t>(part.pairs[i].sign));
  for (std::int64_t k = 0; k < part.bins; k += lanes) {
    const auto anchor = [&](int i) {
      return hn::LoadU(d, reinterpret_cast<const std::uint32_t*>(part.anchors[i]) + k);
    };
    auto sum = hn::Zero(d);
    if (part.on == BoxPart::On::anchors)
      sum = hn::Add(hn::Sub(anchor(0), anchor(1)), hn::Sub(anchor(3), anchor(2)));
    else if (part.on == BoxPart::On::sums)
      sum = hn::LoadU(d, sums + k);
    if (part.pairs[0].more != nullptr)
      for (int i = 0; i < 4; ++i) {
        const StripPair& pair = part.pairs[i];
        const auto count = hn::PromoteTo(d, hn::Sub(hn::LoadU(d16, pair.more + k), hn::LoadU(d16, pair.less + k)));
        sum = hn::Add(sum, hn::Sub(hn::Xor(count, sign[i]), sign[i]));
      }
    if (part.tables != nullptr) {
      auto counted = hn::Zero(d16_signed);  // at most 2^14 labels
      for (std::int64_t i = 0; i < tables; ++i) {
        std::int16_t* const table = part.tables + i * table_size + k;
        counted = hn::Add(counted, hn::LoadU(d16_signed, table));
        hn::StoreU(hn::Zero(d16_signed), d16_signed, table);
      }
      sum = hn::Add(sum, hn::BitCast(d, hn::PromoteTo(d_signed, counted)));
    }
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
  for (std::int64_t k = 0; k < part.bins; ++k) {
    std::uint64_t sum = 0;
    if (part.on == BoxPart::On::anchors)
      sum = anchor(0, k) - anchor(1, k) + anchor(3, k) - anchor(2, k);
    else if (part.on == BoxPart::On::sums)
      sum = sums[k];
    if (part.pairs[0].more != nullptr)
      for (const StripPair& pair : part.pairs) {
        const std::uint64_t count = static_cast<std::uint16_t>(pair.more[k] - pair.less[k]);
        sum = pair.sign == 0 ? sum + count : sum - count;
      }
    if (part.tables != nullptr)
      for (std::int64_t i = 0; i < tables; ++i) {
        std::int16_t& counted = part.tables[i * table_size + k];
        sum += static_cast<std::uint64_t>(std::int64_t{counted});
        counted = 0;
      }
    sums[k] = sum;
  }
}

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
        tables_(reinterpret_cast<std::int16_t*>(scratch)),
        sums_(reinterpret_cast<Anchor*>(scratch + tables * table_size * sizeof(std::int16_t))) {
    part_.bins = c.padded_bins();
  }

  const Anchor* counted() {
    const std::array<CompactRest, 4> rests = {
        formulas::compact_rest(c_, y_[1], x_[1], 1), formulas::compact_rest(c_, y_[0], x_[1], -1),
        formulas::compact_rest(c_, y_[1], x_[0], -1), formulas::compact_rest(c_, y_[0], x_[0], 1)};
    std::int64_t pixels = 0;
    for (const CompactRest& rest : rests) pixels += rest.pixels();
    // A box with fewer pixels than its corners' rests is counted itself. Neither has more than four squares of B.
    const bool small =
        x_[1] - x_[0] <= 2 * c_.block && y_[1] - y_[0] <= 2 * c_.block && (x_[1] - x_[0]) * (y_[1] - y_[0]) <= pixels;
    const auto count = [&](const auto& count_one) {
      if (small) return count_one(CompactRest{x_[0], x_[1], y_[0], y_[1], 1});
      for (const CompactRest& rest : rests)
        if (rest.sign != 0) count_one(rest);
    };
    if (c_.label_bytes == 1) {
      count([&](const CompactRest& rest) { count_bytes(rest); });
      part_.tables = tables_;
    }
    if (!small) add_edges();
    add();
    if (c_.label_bytes == 2) count([&](const CompactRest& rest) { count_wide(rest); });
    return sums_;
  }

 private:
  void add() {
    if constexpr (sizeof(Anchor) == 4)
      HWY_DYNAMIC_DISPATCH(add_part)(part_, sums_);
    else
      add_wide_part(part_, sums_);
    part_.on = BoxPart::On::sums;
    part_.tables = nullptr;
  }

  /// One edge: the strips of lattice lines `first` to `last` of the other axis, `offset` pixels from its own line.
  struct Edge {
    const std::uint16_t* strips;  ///< of line 0
    std::int64_t pitch, first, last, offset;
    std::int32_t sign;

    /// The strips from line `from` on that one pair can hold, up to `to`.
    StripPair pair(std::int64_t from, std::int64_t to) const {
      const std::uint16_t *low = strips + from * pitch, *high = strips + to * pitch;
      return offset > 0 ? StripPair{high, low, sign} : StripPair{low, high, sign};
    }
  };

  /// Anchors and the first pair of each edge, for the next `add`; and at once all further pairs of wide edges.
  void add_edges() {
    const std::int64_t a[] = {c_.line(y_[0]), c_.line(y_[1])}, b[] = {c_.line(x_[0]), c_.line(x_[1])};
    const std::int64_t corners[] = {c_.anchor(image_, a[1], b[1]), c_.anchor(image_, a[0], b[1]),
                                    c_.anchor(image_, a[1], b[0]), c_.anchor(image_, a[0], b[0])};
    for (int i = 0; i < 4; ++i) part_.anchors[i] = store_ + corners[i] * c_.anchor_bytes;
    part_.on = BoxPart::On::anchors;
    const auto* const rows = reinterpret_cast<const std::uint16_t*>(store_ + c_.row_strips_at());
    const auto* const columns = reinterpret_cast<const std::uint16_t*>(store_ + c_.column_strips_at());
    const std::int64_t bins = c_.padded_bins(), column_pitch = (c_.width + 1) * bins;
    bool further = false;
    Edge edges[4];
    std::int64_t at[4];
    for (int i = 0; i < 4; ++i) {
      const int end = i % 2;
      const std::int64_t offset = i < 2 ? c_.offset(y_[end]) : c_.offset(x_[end]);
      const std::int32_t sign = (offset > 0) == (end == 1) ? 0 : -1;
      edges[i] = i < 2 ? Edge{rows + c_.row_strip(image_, y_[end], 0), bins, b[0], b[1], offset, sign}
                       : Edge{columns + c_.column_strip(image_, 0, x_[end]), column_pitch, a[0], a[1], offset, sign};
      Edge& edge = edges[i];
      at[i] = offset == 0 ? edge.first : edge.last;
      if ((edge.last - edge.first) * std::abs(offset) << c_.shift > formulas::compact_most) [[unlikely]] {
        at[i] = edge.first + formulas::compact_pair(offset, c_.block);
        further = true;
      }
      part_.pairs[i] = edge.pair(edge.first, at[i]);
    }
    if (!further) return;
    for (bool again = true; again;) {
      add();
      again = false;
      for (int i = 0; i < 4; ++i) {
        const Edge& edge = edges[i];
        std::int64_t next = at[i];
        if (edge.offset != 0 && at[i] < edge.last) {
          next = std::min(edge.last, at[i] + formulas::compact_pair(edge.offset, c_.block));
          again = again || next < edge.last;
        }
        part_.pairs[i] = edge.pair(at[i], next);
        at[i] = next;
      }
    }
  }

  void count_bytes(const CompactRest& rest) {
    const auto* const labels = reinterpret_cast<const std::uint8_t*>(store_ + c_.labels_at());
    const auto sign = static_cast<std::int16_t>(rest.sign);
    std::int16_t* const t = tables_;
    const auto add = [&](std::uint32_t column, std::uint32_t label) {
      std::int16_t& sum = t[column * table_size + label];
      sum = static_cast<std::int16_t>(sum + sign);
    };
    const std::int64_t first = rest.x0 >> 2, last = (rest.x1 - 1) >> 2;
    if (c_.bins == 256) {  // every label may be a bin
      for (std::int64_t y = rest.y0; y < rest.y1; ++y) {
        const std::uint8_t* square = labels + c_.label(image_, y, first << 2);
        for (std::int64_t s = first; s <= last; ++s, square += 16) {
          const std::int64_t from = s == first ? rest.x0 & 3 : 0, to = s == last ? (rest.x1 - 1) & 3 : 3;
          for (std::int64_t x = from; x <= to; ++x) add(static_cast<std::uint32_t>(x), square[x]);
        }
      }
      return;
    }
    // Whole squares: labels beside the rectangle become 255, which is no bin. Loops of one length do not mispredict.
    const std::uint32_t left = (std::uint32_t{1} << ((rest.x0 & 3) * 8)) - 1;
    const std::uint32_t right = ~std::uint32_t{0} << (((rest.x1 - 1) & 3) * 8) << 8;
    for (std::int64_t y = rest.y0; y < rest.y1; ++y) {
      const std::uint8_t* square = labels + c_.label(image_, y, first << 2);
      for (std::int64_t s = first; s <= last; ++s, square += 16) {
        std::uint32_t four;
        std::memcpy(&four, square, 4);
        four |= (s == first ? left : 0) | (s == last ? right : 0);
        add(0, four & 255);
        add(1, four >> 8 & 255);
        add(2, four >> 16 & 255);
        add(3, four >> 24);
      }
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

  const Compact& c_;
  const std::byte* const store_;
  const std::int64_t image_;
  const std::int64_t x_[2], y_[2];
  BoxPart part_;
  std::int16_t* const tables_;
  Anchor* const sums_;
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
