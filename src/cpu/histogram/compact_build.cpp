#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include "cpu/cancellation.hpp"
#include "cpu/histogram/compact.hpp"
#include "cpu/in_order.hpp"
#include "cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/histogram/compact_build.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef AREAL_COMPACT_BUILD_ARGUMENTS
#define AREAL_COMPACT_BUILD_ARGUMENTS
namespace areal::cpu {
namespace {

/// The strips at one lattice line of a tile: of its rows, or of its columns.
struct StripPass {
  std::int64_t bins;  ///< padded
  int block;
  std::uint16_t* sums;         ///< block x bins: all counts of each row left of the tile, or of each column above it
  const std::uint8_t* counts;  ///< block x `counts_pitch`: the tile's, added to the sums
  std::int64_t counts_pitch;
  std::uint16_t* strips;      ///< of the tile's first row or column
  std::int64_t strips_pitch;  ///< elements between two
  int written;                ///< strips that exist, of those of the whole tile
  bool stream;                ///< stores pass the caches, if they are aligned
};

}  // namespace
}  // namespace areal::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

template <bool stream, class D>
void strips_of_bins(D d, const StripPass& p, std::int64_t k) {
  const hn::Rebind<std::uint8_t, D> d8;
  const int half = p.block / 2;
  const auto next = [&](int i, auto&& step) {
    std::uint16_t* const sums = p.sums + i * p.bins + k;
    const auto before = hn::LoadU(d, sums);
    const auto strip = step(before);
    std::uint16_t* const out = p.strips + i * p.strips_pitch + k;
    if (i < p.written) {
      if constexpr (stream)
        hn::Stream(strip, d, out);
      else
        hn::StoreU(strip, d, out);
    }
    hn::StoreU(hn::Add(before, hn::PromoteTo(d, hn::LoadU(d8, p.counts + i * p.counts_pitch + k))), d, sums);
  };
  // The first half lies after this line of the lattice, the second half before the next one.
  auto run = hn::Zero(d);
  for (int i = 0; i < half; ++i)
    next(i, [&](auto before) {
      const auto strip = run;
      run = hn::Add(run, before);
      return strip;
    });
  run = hn::Zero(d);
  for (int i = p.block - 1; i >= half; --i) next(i, [&](auto before) { return run = hn::Sub(run, before); });
}

template <class D>
void strips_of_vector(D d, const StripPass& p, std::int64_t k) {
  const auto vector = hn::Lanes(d) * sizeof(std::uint16_t);
  const bool aligned = (reinterpret_cast<std::uintptr_t>(p.strips + k) |
                        static_cast<std::uintptr_t>(p.strips_pitch) * sizeof(std::uint16_t)) %
                           vector ==
                       0;
  if (p.stream && aligned)
    strips_of_bins<true>(d, p, k);
  else
    strips_of_bins<false>(d, p, k);
}

}  // namespace

void write_strips(const StripPass& p) {
  const hn::ScalableTag<std::uint16_t> d;
  const hn::CappedTag<std::uint16_t, 16> d16;  // bins are padded to a multiple of 16
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d)), lanes16 = static_cast<std::int64_t>(hn::Lanes(d16));
  std::int64_t k = 0;
  for (; k + lanes <= p.bins; k += lanes) strips_of_vector(d, p, k);
  for (; k < p.bins; k += lanes16) strips_of_vector(d16, p, k);
}

/// out[i] = pixels[i] >> shift.
void shift_bytes(const std::uint8_t* pixels, std::int64_t n, int shift, std::uint8_t* out) {
#if HWY_TARGET == HWY_SCALAR
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(pixels[i] >> shift);
#else
  const hn::ScalableTag<std::uint8_t> d;
  const hn::Repartition<std::uint16_t, decltype(d)> d16;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto kept = hn::Set(d, static_cast<std::uint8_t>(0xff >> shift));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto pairs = hn::BitCast(d16, hn::LoadU(d, pixels + i));
    hn::StoreU(hn::And(hn::BitCast(d, hn::ShiftRightSame(pairs, shift)), kept), d, out + i);
  }
  for (; i < n; ++i) out[i] = static_cast<std::uint8_t>(pixels[i] >> shift);
#endif
}

/// Copies four rows of labels, `pitch` apart, into squares; `columns` is a multiple of 32.
void store_squares(const std::uint8_t* labels, std::int64_t pitch, std::int64_t columns, std::uint8_t* squares) {
#if HWY_TARGET != HWY_SCALAR && HWY_MAJOR >= 1  // older ones interleave only bytes
  const hn::CappedTag<std::uint32_t, 8> d;      // of four labels
  const hn::Repartition<std::uint8_t, decltype(d)> d8;
  const auto row = [&](int i, std::int64_t x) { return hn::BitCast(d, hn::LoadU(d8, labels + i * pitch + x)); };
  for (std::int64_t x = 0; x < columns; x += static_cast<std::int64_t>(hn::Lanes(d8)))
    hn::StoreInterleaved4(row(0, x), row(1, x), row(2, x), row(3, x), d,
                          reinterpret_cast<std::uint32_t*>(squares + 4 * x));
#else
  for (std::int64_t x = 0; x < columns; x += 4)
    for (int i = 0; i < 4; ++i) std::memcpy(squares + 4 * x + 4 * i, labels + i * pitch + x, 4);
#endif
}

/// sums[k] = the tile's counts of bin k in all rows.
void sum_tile(const std::uint8_t* counts, std::int64_t counts_pitch, int rows, std::int64_t bins, std::uint32_t* sums) {
  const hn::CappedTag<std::uint32_t, 16> d;  // bins are padded to a multiple of 16
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  for (std::int64_t k = 0; k < bins; k += static_cast<std::int64_t>(hn::Lanes(d))) {
    auto sum = hn::Zero(d);
    for (int i = 0; i < rows; ++i) sum = hn::Add(sum, hn::PromoteTo(d, hn::LoadU(d8, counts + i * counts_pitch + k)));
    hn::StoreU(sum, d, sums + k);
  }
}

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
namespace {

HWY_EXPORT(write_strips);
HWY_EXPORT(sum_tile);
HWY_EXPORT(store_squares);
HWY_EXPORT(shift_bytes);

using formulas::Compact;

// 1920x1080 with 32 bins, 11 MB, one thread of an EPYC: 2.5 ms with streamed strips, 3.7 without.
constexpr std::int64_t least_streamed_store = std::int64_t{4} << 20;
constexpr std::int64_t label_pitch = longest_run;  ///< columns whose labels are found together: of whole tiles
// A row of counts has a place for pixels without a bin behind the bins: counting needs no branch.
constexpr std::int64_t beyond = Compact::bin_step;

template <class T>
class Aligned {
 public:
  explicit Aligned(std::int64_t n) : n_(n), data_(static_cast<T*>(::operator new (size(), std::align_val_t{64}))) {
    clear();
  }
  ~Aligned() { ::operator delete (data_, std::align_val_t{64}); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  T* data() { return data_; }
  void clear() { std::memset(static_cast<void*>(data_), 0, size()); }

 private:
  std::size_t size() const { return static_cast<std::size_t>(n_) * sizeof(T); }
  std::int64_t n_;
  T* data_;
};

/// The shift that is the whole rule for bytes, or -1.
int shift_of(const PixelBins& rule) {
  if (!rule.is_table() || size_of(rule.type) != 1) return -1;
  for (int shift = 0; shift < 8; ++shift) {
    bool all = true;
    for (std::size_t v = 0; all && v < 256; ++v) all = rule.channels[0].table[v] == v >> shift;
    if (all) return shift;
  }
  return -1;
}

/// The images of one build.
template <class Label>
struct Build {
  const Compact& c;
  const PixelBins& rule;
  const ConstView &image, &mask;
  bool has_none;
  int shift;
  std::byte* store;
  bool stream;

  static constexpr Label none = static_cast<Label>(~Label{0});

  std::uint16_t* row_strips() const { return reinterpret_cast<std::uint16_t*>(store + c.row_strips_at()); }
  std::uint16_t* column_strips() const { return reinterpret_cast<std::uint16_t*>(store + c.column_strips_at()); }
  Label* labels() const { return reinterpret_cast<Label*>(store + c.labels_at()); }

  // out[i] = the label of pixel (x + i, y).
  void label_run(std::int64_t n, std::int64_t y, std::int64_t x, int count, Label* out) const {
    if constexpr (sizeof(Label) == 1) {
      if (shift >= 0 && image.column_pitch() == 1) {
        const auto* const pixels = static_cast<const std::uint8_t*>(image.row(y, 0, n)) + x;
        HWY_DYNAMIC_DISPATCH(shift_bytes)(pixels, count, shift, out);
      } else if (c.bins <= 255) {
        group_of_run(rule, image, n, y, x, count, 0, static_cast<int>(c.bins), out);
      } else {
        by_number(n, y, x, count, out);
      }
    } else {
      by_number(n, y, x, count, out);
    }
    if (mask.data == nullptr) return;
    const auto* const kept = static_cast<const std::uint8_t*>(mask.row(y, 0, n)) + x * mask.column_pitch();
    for (int i = 0; i < count; ++i)
      if (kept[i * mask.column_pitch()] == 0) out[i] = none;
  }
  void by_number(std::int64_t n, std::int64_t y, std::int64_t x, int count, Label* out) const {
    std::int32_t bins[longest_run];
    bins_of_run(rule, image, n, y, x, count, bins);
    for (int i = 0; i < count; ++i) out[i] = static_cast<Label>(bins[i]);  // -1 becomes none
  }
};

/// What a thread needs for a row of tiles.
template <class Anchor, class Label>
struct RowScratch {
  std::int64_t pitch;  ///< of counts
  Aligned<Label> labels;
  Aligned<std::uint8_t> row_counts, column_counts;
  Aligned<std::uint16_t> before;  ///< counts of each row left of the tile
  Aligned<std::uint32_t> tile;    ///< counts of all rows of the tile
  Aligned<Anchor> total;          ///< counts of all rows left of the tile

  explicit RowScratch(const Compact& c)
      : pitch(c.padded_bins() + beyond),
        labels(c.block * label_pitch),
        row_counts(c.block * pitch),
        column_counts(c.block * pitch),
        before(c.block * c.padded_bins()),
        tile(c.padded_bins()),
        total(c.padded_bins()) {}
};

/// Counts a tile's labels by row and by column. Eight rows are counted together, an eighth of the tile apart: equal
/// neighbours would make each increment wait for the one before.
template <bool has_none, class Anchor, class Label>
void count_tile(const Compact& c, int rows, int columns, const Label* labels, RowScratch<Anchor, Label>& s) {
  constexpr int together = 8;
  const std::int64_t bins = c.bins, nowhere = c.padded_bins(), pitch = s.pitch;
  std::uint8_t *const by_row = s.row_counts.data(), *const by_column = s.column_counts.data();
  const auto count = [&](Label label, std::uint8_t* row, std::uint8_t* column) {
    std::int64_t at = label;
    if constexpr (has_none) at = at < bins ? at : nowhere;
    ++row[at];
    ++column[at];
  };
  const int part = columns / together;
  for (int r = 0; r < rows; r += together) {
    const int some = std::min(together, rows - r);
    if (some == together)
      for (int turn = 0; turn < together; ++turn) {
        const Label* from[together];
        std::uint8_t* to[together];
        for (int j = 0; j < together; ++j) {
          const int column = (j + turn) % together * part;
          from[j] = labels + (r + j) * label_pitch + column;
          to[j] = by_column + column * pitch;
        }
        for (int i = 0; i < part; ++i)
          for (int j = 0; j < together; ++j) count(from[j][i], by_row + (r + j) * pitch, to[j] + i * pitch);
      }
    for (int j = 0; j < some; ++j)
      for (int i = some == together ? part * together : 0; i < columns; ++i)
        count(labels[(r + j) * label_pitch + i], by_row + (r + j) * pitch, by_column + i * pitch);
  }
}

void copy_squares(const std::uint8_t* labels, std::int64_t pitch, std::int64_t columns, std::uint8_t* squares) {
  HWY_DYNAMIC_DISPATCH(store_squares)(labels, pitch, columns, squares);
}
void copy_squares(const std::uint16_t* labels, std::int64_t pitch, std::int64_t columns, std::uint16_t* squares) {
  for (std::int64_t x = 0; x < columns; x += 4)
    for (int i = 0; i < 4; ++i) std::memcpy(squares + 4 * x + 4 * i, labels + i * pitch + x, 4 * sizeof *labels);
}

/// How many of `block` places from `first` on lie before `end`.
int inside(std::int64_t first, std::int64_t end, int block) {
  return static_cast<int>(std::clamp<std::int64_t>(end - first, 0, block));
}

/// Finds the labels of some columns of a row of tiles, and stores them in squares. Fills the padding: up to whole
/// squares below, up to 32 columns on the right.
template <class Label>
void label_columns(const Build<Label>& build, std::int64_t n, std::int64_t y0, int rows, std::int64_t x0, int columns,
                   Label* labels) {
  const Compact& c = build.c;
  const int width = inside(x0, c.width, columns), padded = inside(x0, c.square_columns() * 4, columns);
  if (padded == 0) return;
  for (int y = 0; y < (rows + 3) / 4 * 4; ++y) {
    Label* const row = labels + y * label_pitch;
    const int labelled = y < rows ? width : 0;
    if (labelled > 0) build.label_run(n, y0 + y, x0, labelled, row);
    std::fill(row + labelled, row + padded, Build<Label>::none);
  }
  for (int y = 0; y < rows; y += 4)
    copy_squares(labels + y * label_pitch, label_pitch, padded, build.labels() + c.label(n, y0 + y, x0));
}

/// A row of tiles of image n. Calls wait(b) before it uses what the row above left of tile b, and done(b) behind its
/// own. `columns`: the counts of each column above.
template <class Anchor, class Label, class Wait, class Done>
void build_row(const Build<Label>& build, std::int64_t n, std::int64_t a, std::uint16_t* columns, const Wait& wait,
               const Done& done) {
  const Compact& c = build.c;
  const std::int64_t bins = c.padded_bins(), y0 = a * c.block;
  const int rows = inside(y0, c.height, c.block), row_strips = inside(y0, c.height + 1, c.block);
  Anchor* const anchors = reinterpret_cast<Anchor*>(build.store);
  RowScratch<Anchor, Label> s(c);
  const auto write = HWY_DYNAMIC_DISPATCH(write_strips);
  const auto sum = HWY_DYNAMIC_DISPATCH(sum_tile);
  Anchor* const total = s.total.data();
  for (std::int64_t b = 0; b < c.columns(); ++b) {
    const std::int64_t x0 = b * c.block;
    if (x0 % label_pitch == 0 && rows > 0)
      label_columns(build, n, y0, rows, x0, static_cast<int>(label_pitch), s.labels.data());
    const int width = inside(x0, c.width, c.block), column_strips = inside(x0, c.width + 1, c.block);
    s.row_counts.clear(), s.column_counts.clear();
    if (build.has_none)
      count_tile<true>(c, rows, width, s.labels.data() + x0 % label_pitch, s);
    else
      count_tile<false>(c, rows, width, s.labels.data() + x0 % label_pitch, s);

    if (!wait(b)) break;
    if (a == 0) std::fill_n(anchors + c.anchor(n, 0, b), bins, Anchor{0});
    if (a + 1 < c.rows()) {
      const Anchor* const above = anchors + c.anchor(n, a, b);
      Anchor* const next = anchors + c.anchor(n, a + 1, b);
      for (std::int64_t k = 0; k < bins; ++k) next[k] = above[k] + total[k];
    }
    write({bins, c.block, columns + x0 * bins, s.column_counts.data(), s.pitch,
           build.column_strips() + c.column_strip(n, a, x0), bins, column_strips, build.stream});
    done(b);
    sum(s.row_counts.data(), s.pitch, rows, bins, s.tile.data());
    for (std::int64_t k = 0; k < bins; ++k) total[k] += s.tile.data()[k];
    write({bins, c.block, s.before.data(), s.row_counts.data(), s.pitch, build.row_strips() + c.row_strip(n, y0, b),
           c.columns() * bins, row_strips, build.stream});
  }
  if (build.stream) hwy::FlushStream();
}

template <class Anchor, class Label>
void build_all(const Build<Label>& build, int threads) {
  const Compact& c = build.c;
  const std::int64_t column_counts = c.columns() * c.block * c.padded_bins();
  const auto always = [](std::int64_t) { return true; };
  const auto nothing = [](std::int64_t) {};
  // Many images, or a single thread: an image a thread, without waiting.
  if (threads == 1 || c.images >= (threads > 0 ? threads : default_threads()) || c.rows() == 1) {
    Cancellation* const cancellation = Cancellation::current();
    return parallel_for(threads, c.images, [&](std::int64_t n) {
      Aligned<std::uint16_t> columns(column_counts);
      for (std::int64_t a = 0; a < c.rows(); ++a) {
        if (cancellation != nullptr && !cancellation->go_on()) return;
        build_row<Anchor>(build, n, a, columns.data(), always, nothing);
      }
    });
  }
  const std::unique_ptr<Reached[]> reached(new Reached[static_cast<std::size_t>(c.rows())]);
  Aligned<std::uint16_t> columns(column_counts);
  for (std::int64_t n = 0; n < c.images; ++n) {
    if (n > 0) columns.clear();
    for (std::int64_t a = 0; a < c.rows(); ++a) reached[static_cast<std::size_t>(a)].steps.store(0);
    in_order(threads, c.rows(), [&](std::int64_t a, const Turn& turn) {
      const auto at = static_cast<std::size_t>(a);
      build_row<Anchor>(
          build, n, a, columns.data(), [&](std::int64_t b) { return a == 0 || turn.wait(reached[at - 1], b + 1); },
          [&](std::int64_t b) { reached[at].steps.store(b + 1, std::memory_order_release); });
    });
  }
}

template <class Label>
void build_labelled(const Compact& c, const PixelBins& rule, const ConstView& image, const ConstView& mask,
                    std::byte* store, int threads) {
  const bool has_none = mask.data != nullptr || has_no_bin(rule);
  const Build<Label> build{c, rule, image, mask, has_none, shift_of(rule), store, c.bytes() >= least_streamed_store};
  if (c.anchor_bytes == 8)
    build_all<std::uint64_t>(build, threads);
  else
    build_all<std::uint32_t>(build, threads);
}

}  // namespace

bool has_no_bin(const PixelBins& rule) {
  return std::any_of(rule.channels.begin(), rule.channels.end(), [](const ChannelBins& channel) {
    if (channel.kind != ChannelBins::Kind::table) return true;
    return std::find(channel.table.begin(), channel.table.end(), ChannelBins::none) != channel.table.end();
  });
}

void build_compact(const Compact& c, const PixelBins& rule, const ConstView& image, const ConstView& mask,
                   std::byte* store, int threads) {
  if (c.label_bytes == 1)
    build_labelled<std::uint8_t>(c, rule, image, mask, store, threads);
  else
    build_labelled<std::uint16_t>(c, rule, image, mask, store, threads);
}

}  // namespace areal::cpu
#endif
