#pragma once
// Pieces of a larger tensor with their carries, against the whole one that the per-pixel oracle gives: grids of pieces
// and of slices of bins, and carries of any values, against the formula. Whoever runs the plan is handed in.

#include <algorithm>
#include <areal/histogram.hpp>
#include <sstream>
#include "histogram_oracle.hpp"

namespace oracle {

using areal::HistogramOptions;
using areal::HistogramPlan;

/// Every input and output of an execute, between guards. Views that the case does not use have no memory.
struct CarriedPiece {
  Guarded image, weights, above, left, tensor;
  areal::HistogramArguments arguments() const {
    return {image.view, tensor.view, weights.view, {above.view, left.view}};
  }
};
/// Executes once; the tensor is in the piece's host memory afterwards.
using Execute = std::function<void(const HistogramPlan&, CarriedPiece&)>;

struct CarryCase {
  Shape image;  // the whole
  Type type = Type::u8;
  Rule rule;
  Border border = Border::none;
  Type counter = Type::u32;
  bool weighted = false;
  int misalign = 0, gap = 0;

  std::string words() const {
    std::ostringstream text;
    text << image.width << "x" << image.height << " channels " << image.channels << " batch " << image.batch << " "
         << name_of(type) << " " << rule.name << " border " << name_of(border) << " counter " << name_of(counter)
         << (weighted ? " weighted" : "") << " misalign " << misalign << " gap " << gap;
    return text.str();
  }
  HistogramOptions options() const {
    HistogramOptions options;
    options.border = border, options.counter = counter, options.weighted = weighted;
    return options;
  }
};

/// An integer modulo the counter, or a float.
inline void put(Type counter, void* to, double value) {
  const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(std::isfinite(value) ? value : 0));
  const auto real = static_cast<float>(value);
  if (counter == Type::f64)
    std::memcpy(to, &value, sizeof value);
  else if (counter == Type::f32)
    std::memcpy(to, &real, sizeof real);
  else
    std::memcpy(to, &bits, areal::size_of(counter));  // little-endian
}

/// A box of a picture, copied between guards.
inline Guarded cut(const View& from, std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height,
                   int misalign, int gap) {
  Shape shape = from.shape;
  shape.width = width, shape.height = height;
  Guarded piece(shape, from.type, misalign, gap);
  const bool planar = shape.layout == Layout::planar;
  for (std::int64_t n = 0; n < shape.batch; ++n)
    for (std::int64_t c = 0; c < (planar ? shape.channels : 1); ++c)
      for (std::int64_t row = 0; row < height && width > 0; ++row)
        std::memcpy(piece.view.row(row, c, n), static_cast<char*>(from.row(y + row, c, n)) + x * from.column_pitch(),
                    static_cast<std::size_t>(width * from.column_pitch()));
  return piece;
}

/// The picture, its weights, and all of its tensor with a border of zeros: entry (y, x) is the sum above and left of
/// it.
struct WholeTensor {
  Guarded image, weights;
  std::vector<double> sums;
  Shape shape;  // of the tensor

  WholeTensor(const CarryCase& c, std::mt19937_64& random) : image(c.image, c.type, 0, 0) {
    fill_random(image.view, random, 0, 255);
    if (c.weighted) {
      weights = Guarded({c.image.width, c.image.height, 1, c.image.batch}, Type::f32, 0, 0);
      fill_random(weights.view, random, 0, 9, false);
    }
    const ConstView weight = weights.view;
    sums = tensor(c.rule, image.view, c.weighted ? &weight : nullptr, Border::zero);
    shape = {c.image.width + 1, c.image.height + 1, c.rule.binning.bins(), c.image.batch, Layout::planar};
  }
  double at(std::int64_t n, std::int64_t bin, std::int64_t y, std::int64_t x) const {
    return sums[static_cast<std::size_t>(((n * shape.channels + bin) * shape.height + y) * shape.width + x)];
  }
};

/// The first entry that is not what `expected(n, bin, y, x)` says, in words, or empty.
template <class Expected>
std::string difference_of(const View& got, const Expected& expected) {
  const std::size_t size = areal::size_of(got.type);
  for (std::int64_t n = 0; n < got.shape.batch; ++n)
    for (std::int64_t bin = 0; bin < got.shape.channels; ++bin)
      for (std::int64_t y = 0; y < got.shape.height; ++y)
        for (std::int64_t x = 0; x < got.shape.width; ++x) {
          unsigned char wanted[8];
          put(got.type, wanted, expected(n, bin, y, x));
          const auto* const at =
              static_cast<const unsigned char*>(got.row(y, bin, n)) + x * static_cast<std::int64_t>(size);
          if (std::memcmp(at, wanted, size) != 0)
            return "image " + std::to_string(n) + " bin " + std::to_string(bin) + " entry (" + std::to_string(x) +
                   ", " + std::to_string(y) + ") is not " + std::to_string(expected(n, bin, y, x));
        }
  return {};
}

/// One piece: pixels [x, x + width) x [y, y + height), bins [first, first + count), as the whole tensor has them.
inline std::string piece_difference(const CarryCase& c, const WholeTensor& whole, std::int64_t x, std::int64_t y,
                                    std::int64_t width, std::int64_t height, std::int64_t first, std::int64_t count,
                                    const areal::Execution& execution, const Execute& execute, bool flip = false) {
  Shape shape = c.image;
  shape.width = width, shape.height = height;
  const Binning binning = count == c.rule.binning.bins() ? c.rule.binning : c.rule.binning.slice(first, count);
  const HistogramPlan plan(shape, c.type, binning, c.options(), execution);
  const Shape entries = plan.tensor_shape();
  CarriedPiece piece{cut(whole.image.view, x, y, width, height, c.misalign, c.gap), {}, {}, {}, {}};
  if (c.weighted) piece.weights = cut(whole.weights.view, x, y, width, height, c.misalign, c.gap);
  piece.tensor = Guarded(entries, c.counter, c.misalign, c.gap);
  Shape row = entries, column = entries;
  row.width += 1, row.height = 1, column.width = 1;
  // Entry i of a border of zeros is the sum of what is above and left of pixel i, otherwise that of pixel i itself.
  const std::int64_t shift = c.border == Border::none ? 1 : 0;
  const auto fill = [&](const View& view, std::int64_t x0, std::int64_t y0, bool is_row) {
    for (std::int64_t n = 0; n < view.shape.batch; ++n)
      for (std::int64_t b = 0; b < view.shape.channels; ++b)
        for (std::int64_t i = 0; i < (is_row ? view.shape.width : view.shape.height); ++i) {
          char* const to = static_cast<char*>(view.row(is_row ? 0 : i, b, n)) + (is_row ? i * view.column_pitch() : 0);
          // The corner and the entry behind it are one where the piece begins with a border.
          const std::int64_t right = is_row && shift == 0 ? std::max<std::int64_t>(0, i - 1) : i;
          put(view.type, to,
              is_row ? whole.at(n, first + b, y0, x0 + right) : whole.at(n, first + b, y0 + i + shift, x0));
        }
  };
  if (y > 0) {
    piece.above = Guarded(row, c.counter, c.misalign, c.gap);
    fill(piece.above.view, x, y, true);
  }
  if (x > 0) {
    piece.left = Guarded(column, c.counter, c.misalign, c.gap);
    fill(piece.left.view, x, y, false);
  }
  execute(plan, piece);
  for (const Guarded* one : {&piece.image, &piece.weights, &piece.above, &piece.left, &piece.tensor})
    if (one->touched() != -1) return "wrote byte " + std::to_string(one->touched()) + " outside a view";
  if (flip) static_cast<unsigned char*>(piece.tensor.view.row(entries.height - 1, entries.channels - 1))[0] ^= 1;
  return difference_of(piece.tensor.view, [&](std::int64_t n, std::int64_t b, std::int64_t ey, std::int64_t ex) {
    return whole.at(n, first + b, y + ey + shift, x + ex + shift);
  });
}

/// The whole, cut at random: every piece of every slice of the bins.
inline void check_grid(const CarryCase& c, std::uint64_t seed, const areal::Execution& execution,
                       const Execute& execute) {
  std::mt19937_64 random(seed);
  const WholeTensor whole(c, random);
  const auto cuts = [&](std::int64_t length, std::uint64_t most) {
    std::vector<std::int64_t> at{0, length};
    for (std::uint64_t i = random() % most; length > 0 && i > 0; --i)
      at.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(length)));
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    if (at.size() == 1) at.push_back(at.front());
    return at;
  };
  const bool slices = c.rule.binning.channels() == 1;
  const auto xs = cuts(c.image.width, 4), ys = cuts(c.image.height, 4);
  const auto bins = slices ? cuts(c.rule.binning.bins(), 3) : std::vector<std::int64_t>{0, c.rule.binning.bins()};
  for (std::size_t b = 0; b + 1 < bins.size(); ++b)
    for (std::size_t j = 0; j + 1 < ys.size(); ++j)
      for (std::size_t i = 0; i + 1 < xs.size(); ++i)
        ASSERT_EQ(piece_difference(c, whole, xs[i], ys[j], xs[i + 1] - xs[i], ys[j + 1] - ys[j], bins[b],
                                   bins[b + 1] - bins[b], execution, execute),
                  "")
            << c.words() << " seed " << seed << " piece at (" << xs[i] << ", " << ys[j] << ") to (" << xs[i + 1] << ", "
            << ys[j + 1] << ") bins from " << bins[b];
}

/// Carries of any values: the formula, entry by entry, those of the border included. Counters only. `carried`: 1 above,
/// 2 left, 3 both.
inline void check_any_values(const CarryCase& c, std::uint64_t seed, const areal::Execution& execution,
                             const Execute& execute, std::initializer_list<int> carried = {1, 2, 3}) {
  std::mt19937_64 random(seed);
  const HistogramPlan plan(c.image, c.type, c.rule.binning, c.options(), execution);
  const Shape entries = plan.tensor_shape();
  const std::size_t size = areal::size_of(c.counter);
  for (const int which : carried) {
    CarriedPiece piece{
        Guarded(c.image, c.type, c.misalign, c.gap), {}, {}, {}, Guarded(entries, c.counter, c.misalign, c.gap)};
    fill_random(piece.image.view, random, 0, 255);
    Shape row = entries, column = entries;
    row.width += 1, row.height = 1, column.width = 1;
    const auto any = [&](const Shape& shape) {
      Guarded values(shape, c.counter, c.misalign, c.gap);
      for (std::int64_t n = 0; n < shape.batch; ++n)
        for (std::int64_t b = 0; b < shape.channels; ++b)
          for (std::int64_t y = 0; y < shape.height; ++y)
            for (std::int64_t x = 0; x < shape.width; ++x) {
              const std::uint64_t value = random();
              std::memcpy(static_cast<char*>(values.view.row(y, b, n)) + x * values.view.column_pitch(), &value, size);
            }
      return values;
    };
    if (which & 1) piece.above = any(row);
    if (which & 2) piece.left = any(column);
    execute(plan, piece);
    ASSERT_EQ(piece.tensor.touched(), -1) << c.words();
    const auto alone = tensor(c.rule, piece.image.view, nullptr, c.border);
    const auto read = [&](const View& view, std::int64_t n, std::int64_t b, std::int64_t y, std::int64_t x) {
      std::uint64_t value = 0;
      if (view.data != nullptr)
        std::memcpy(&value, static_cast<const char*>(view.row(y, b, n)) + x * view.column_pitch(), size);
      return value;
    };
    const std::uint64_t mask = size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * size) - 1;
    std::size_t i = 0;
    for (std::int64_t n = 0; n < entries.batch; ++n)
      for (std::int64_t b = 0; b < entries.channels; ++b)
        for (std::int64_t y = 0; y < entries.height; ++y)
          for (std::int64_t x = 0; x < entries.width; ++x, ++i) {
            const std::uint64_t wanted = static_cast<std::uint64_t>(alone[i]) + read(piece.above.view, n, b, 0, 1 + x) +
                                         read(piece.left.view, n, b, y, 0) - read(piece.above.view, n, b, 0, 0);
            ASSERT_EQ(read(piece.tensor.view, n, b, y, x), wanted & mask)
                << c.words() << " seed " << seed << " carries " << which << " entry (" << x << ", " << y << ") bin "
                << b;
          }
  }
}

/// Any case of those that the tests of one backend run.
inline CarryCase random_case(std::mt19937_64& random, std::int64_t most_width, std::int64_t most_height,
                             bool counters_of_16_bits) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  constexpr Border borders[] = {Border::none, Border::zero, Border::exclusive};
  constexpr std::int64_t bins[] = {1, 2, 3, 5, 9, 33};
  const std::int64_t count = bins[below(6)];
  CarryCase c{{1 + below(most_width), 1 + below(most_height), 1, 1 + below(3)}, Type::u8, uniform(count, 0, 256)};
  if (below(4) == 0) c.type = Type::u16;
  c.border = borders[below(3)];
  c.weighted = below(4) == 0;
  constexpr Type counters[] = {Type::u32, Type::u64, Type::u16};
  c.counter = c.weighted ? below(2) ? Type::f32 : Type::f64 : counters[below(counters_of_16_bits ? 3 : 2)];
  c.misalign = below(2) ? 0 : static_cast<int>(below(20)), c.gap = below(2) ? 0 : static_cast<int>(below(20));
  if (below(6) == 0) {
    c.rule = joint({uniform(2, 0, 256), uniform(3, 0, 256)});
    c.image.channels = 2, c.image.layout = below(2) ? Layout::planar : Layout::interleaved;
  }
  return c;
}

}  // namespace oracle
