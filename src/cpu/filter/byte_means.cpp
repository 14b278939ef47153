#include "cpu/filter/byte_means.hpp"
#include <algorithm>
#include <cstring>
#include <variant>
#include "cpu/filter/strips.hpp"
#include "cpu/filter/walk_rows.hpp"
#include "formulas/rounded_mean.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/filter/byte_means.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef AREAL_CPU_FILTER_BYTE_MEANS_ONCE
#define AREAL_CPU_FILTER_BYTE_MEANS_ONCE
namespace areal::cpu {

/// Sums of columns, or of several neighbours, that together are a window.
struct Parts {
  std::array<const std::uint16_t*, 10> part;
  int count = 0;
};

struct ByteKernels {
  void (*add)(std::uint16_t* columns, const std::uint8_t* row, std::int64_t n);
  void (*step)(std::uint16_t* columns, const std::uint8_t* entering, const std::uint8_t* leaving, std::int64_t n);
  void (*widen)(const std::uint16_t* from, std::uint32_t* to, std::int64_t n);
  /// to[i] = from[i] + from[i + apart]
  void (*pairs)(const std::uint16_t* from, std::int64_t apart, std::uint16_t* to, std::int64_t n);
  void (*means)(const Parts& parts, const ShortMean& mean, std::int64_t n, std::uint8_t* out);
};

}  // namespace areal::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

void add_bytes(std::uint16_t* HWY_RESTRICT columns, const std::uint8_t* HWY_RESTRICT row, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) columns[i] = static_cast<std::uint16_t>(columns[i] + row[i]);
}

void step_bytes(std::uint16_t* HWY_RESTRICT columns, const std::uint8_t* HWY_RESTRICT entering,
                const std::uint8_t* HWY_RESTRICT leaving, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) columns[i] = static_cast<std::uint16_t>(columns[i] + entering[i] - leaving[i]);
}

void widen_sums(const std::uint16_t* HWY_RESTRICT from, std::uint32_t* HWY_RESTRICT to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
}

void add_pairs(const std::uint16_t* from, std::int64_t apart, std::uint16_t* HWY_RESTRICT to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<std::uint16_t>(from[i] + from[i + apart]);
}

template <int count>
std::uint16_t sum_of(const Parts& parts, std::int64_t i) {
  std::uint32_t sum = 0;
  for (int k = 0; k < count; ++k) sum += parts.part[static_cast<std::size_t>(k)][i];
  return static_cast<std::uint16_t>(sum);
}

template <int count>
void means_of(const Parts& of, const ShortMean& mean, std::int64_t n, std::uint8_t* HWY_RESTRICT out) {
  const Parts parts = of;
  std::int64_t i = 0;
  if (mean.is_exact) {
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<std::uint16_t> d;
    const hn::RebindToSigned<decltype(d)> di;
    const hn::Rebind<std::uint8_t, decltype(d)> d8;
    const auto half = hn::Set(d, static_cast<std::uint16_t>(mean.half)),
               factor = hn::Set(d, static_cast<std::uint16_t>(mean.factor)),
               pixels = hn::Set(d, static_cast<std::uint16_t>(mean.pixels)), one = hn::Set(d, 1);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto sums = [&](std::int64_t at) HWY_ATTR {
      auto sum = hn::LoadU(d, parts.part[0] + at);
      for (int k = 1; k < count; ++k) sum = hn::Add(sum, hn::LoadU(d, parts.part[static_cast<std::size_t>(k)] + at));
      return hn::Add(sum, half);
    };
    if (mean.pixels % 2 == 1) {
      for (; i + lanes <= n; i += lanes) {
        const auto up = hn::ShiftRightSame(hn::MulHigh(sums(i), factor), mean.shift);
        hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di, up)), d8, out + i);
      }
    } else {
      for (; i + lanes <= n; i += lanes) {
        const auto sum = sums(i);
        const auto up = hn::ShiftRightSame(hn::MulHigh(sum, factor), mean.shift);
        const auto is_tie = hn::Eq(hn::Mul(up, pixels), sum);
        const auto even = hn::Sub(up, hn::IfThenElseZero(is_tie, hn::And(up, one)));
        hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di, even)), d8, out + i);
      }
    }
#endif
  }
  const formulas::RoundedMean rounded(mean.pixels);
  for (; i < n; ++i) out[i] = static_cast<std::uint8_t>(rounded(sum_of<count>(parts, i)));
}

void means_of_parts(const Parts& parts, const ShortMean& mean, std::int64_t n, std::uint8_t* out) {
  switch (parts.count) {
    case 1:
      return means_of<1>(parts, mean, n, out);
    case 2:
      return means_of<2>(parts, mean, n, out);
    case 3:
      return means_of<3>(parts, mean, n, out);
    case 4:
      return means_of<4>(parts, mean, n, out);
    case 5:
      return means_of<5>(parts, mean, n, out);
    case 6:
      return means_of<6>(parts, mean, n, out);
    case 7:
      return means_of<7>(parts, mean, n, out);
    case 8:
      return means_of<8>(parts, mean, n, out);
    default:
      return means_of<9>(parts, mean, n, out);
  }
}

inline constexpr ByteKernels byte_set = {add_bytes, step_bytes, widen_sums, add_pairs, means_of_parts};

}  // namespace
const ByteKernels* byte_kernels() { return &byte_set; }
}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
HWY_EXPORT(byte_kernels);

namespace {

constexpr std::int64_t panel = 2048;  // elements of a row
constexpr std::int64_t ahead = 4;     // rows
// Rows of a column, or pixels of a window, whose sum fits 16 bits.
constexpr std::int64_t most_added = 257;
bool has_short_sums(const FilterRequest& request) { return request.columns.size * request.rows.size <= most_added; }
// Levels 0, 1, 2, .. hold the sums of 1, 2, 4, .. columns. The largest power of two in a width is two of the level
// below.
int levels_of(std::int64_t width) {
  int levels = 1;
  while ((std::int64_t{4} << (levels - 1)) <= width) ++levels;
  return levels;
}

std::int64_t level_elements(const FilterRequest& request, std::int64_t channels) {
  return std::max(panel, channels) + request.columns.size * channels + 128;  // vectors may read beyond the end
}

/// A cell of a panel beyond the image, and the element of a row that the edge shows there.
struct Shown {
  std::int64_t cell, element;
};

// One panel of a strip: outputs [first, first + n) of the row's elements.
class Panel {
 public:
  Panel(const FilterRequest& request, std::int64_t channels, std::int64_t first, std::int64_t n, char* scratch)
      : request_(request), kernels_(*HWY_DYNAMIC_DISPATCH(byte_kernels)()), channels_(channels), first_(first), n_(n) {
    const formulas::WindowAxis& axis = request.columns;
    const std::int64_t elements = level_elements(request, channels), width = axis.extent * channels;
    if (has_short_sums(request)) {
      levels_ = levels_of(axis.size);
    } else {
      wide_ = take<std::uint32_t>(scratch, elements);
      prefix_ = take<std::uint32_t>(scratch, elements + channels);
    }
    for (int l = 0; l < levels_; ++l) level_[static_cast<std::size_t>(l)] = take<std::uint16_t>(scratch, elements);
    cells_ = n + (axis.size - 1) * channels;
    const std::int64_t begin = first - axis.before * channels;  // the element of the row that cell 0 is
    inside_begin_ = std::clamp<std::int64_t>(-begin, 0, cells_);
    inside_end_ = std::clamp<std::int64_t>(width - begin, inside_begin_, cells_);
    begin_ = begin;
    shown_ = take<Shown>(scratch, (axis.size - 1) * channels + 1);
    const auto show = [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t cell = from; cell < to; ++cell) {
        const std::int64_t element = begin + cell + axis.size * channels;  // never negative
        const std::int64_t x = element / channels - axis.size, c = element % channels;
        const std::int64_t pixel = formulas::shown_pixel(x, axis.extent, axis.edge);
        if (pixel >= 0) shown_[shown_count_++] = {cell, pixel * channels + c};
      }
    };
    show(0, inside_begin_);
    show(inside_end_, cells_);
    std::memset(level_[0], 0, static_cast<std::size_t>(elements) * sizeof(std::uint16_t));
    // A column beyond the edge holds as many constants as a window has rows.
    if (axis.edge == Edge::constant)
      for (std::int64_t cell = 0; cell < cells_; ++cell)
        if (cell < inside_begin_ || cell >= inside_end_)
          level_[0][cell] = static_cast<std::uint16_t>(request.value * static_cast<double>(request.rows.size));
    if (wide_ == nullptr) parts_of_window();
    if (axis.edge == Edge::shrink) rim_ = take<formulas::RoundedMean>(scratch, 2 * (axis.size - 1) + 1);
  }

  void add(const std::uint8_t* row) {
    kernels_.add(level_[0] + inside_begin_, row + begin_ + inside_begin_, inside_end_ - inside_begin_);
    for (std::int64_t i = 0; i < shown_count_; ++i)
      level_[0][shown_[i].cell] = static_cast<std::uint16_t>(level_[0][shown_[i].cell] + row[shown_[i].element]);
  }

  /// Asks for the panel's part of a row that enters and of one that is written: it begins in a page of its own, which
  /// the processor does not foresee.
  void fetch(const std::uint8_t* entering, const std::uint8_t* out) const {
    const std::uint8_t* const from = entering + begin_ + inside_begin_;
    for (std::int64_t i = 0; i < inside_end_ - inside_begin_; i += 64) __builtin_prefetch(from + i, 0, 2);
    for (std::int64_t i = 0; i < n_; i += 64) __builtin_prefetch(out + first_ + i, 1);
  }

  void step(const std::uint8_t* entering, const std::uint8_t* leaving) {
    const std::int64_t at = begin_ + inside_begin_;
    kernels_.step(level_[0] + inside_begin_, entering + at, leaving + at, inside_end_ - inside_begin_);
    for (std::int64_t i = 0; i < shown_count_; ++i) {
      const auto [cell, element] = shown_[i];
      level_[0][cell] = static_cast<std::uint16_t>(level_[0][cell] + entering[element] - leaving[element]);
    }
  }

  /// The outputs of windows with that many rows, at the row's start `out`.
  void store(std::uint64_t rows, std::uint8_t* out) {
    const formulas::WindowAxis& axis = request_.columns;
    if (wide_ != nullptr) {
      kernels_.widen(level_[0], wide_, cells_);
      term_kernels(Type::u8, Power::pixel, false)->prefix(wide_, prefix_, cells_, channels_);
    }
    for (int l = 1; l < levels_; ++l) {
      const std::int64_t apart = (std::int64_t{1} << (l - 1)) * channels_;
      const auto to = static_cast<std::size_t>(l);
      kernels_.pairs(level_[to - 1], apart, level_[to], cells_ - 2 * apart + channels_);
    }
    if (rows != rows_) means_of(rows);
    const bool shrinks = axis.edge == Edge::shrink;
    const std::int64_t inner_begin = shrinks ? inner(axis.inner_begin()) : 0;
    const std::int64_t inner_end = shrinks ? std::max(inner_begin, inner(axis.inner_end())) : n_;
    std::int64_t rim = 0;
    for (std::int64_t i = 0; i < inner_begin; ++i) out[first_ + i] = rim_mean(i, rim_[rim++ / channels_]);
    rim = (rim + channels_ - 1) / channels_ * channels_;
    if (wide_ != nullptr) {
      finish_kernels().means(prefix_ + inner_begin, prefix_ + inner_begin + axis.size * channels_, wide_mean_,
                             inner_end - inner_begin, Type::u8, reinterpret_cast<char*>(out) + first_ + inner_begin);
    } else if (mean_.pixels > 1) {
      Parts parts = parts_;
      for (int k = 0; k < parts.count; ++k) parts.part[static_cast<std::size_t>(k)] += inner_begin;
      kernels_.means(parts, mean_, inner_end - inner_begin, out + first_ + inner_begin);
    } else {
      for (std::int64_t i = inner_begin; i < inner_end; ++i) out[first_ + i] = static_cast<std::uint8_t>(sum(i));
    }
    for (std::int64_t i = inner_end; i < n_; ++i) out[first_ + i] = rim_mean(i, rim_[rim++ / channels_]);
  }

 private:
  template <class T>
  static T* take(char*& scratch, std::int64_t elements) {
    T* const at = reinterpret_cast<T*>(scratch);
    scratch += whole_lines(static_cast<std::size_t>(elements) * sizeof(T));
    return at;
  }

  void parts_of_window() {
    std::int64_t left = request_.columns.size, offset = 0;
    for (int l = levels_ - 1; l >= 0; --l)
      for (const std::int64_t columns = std::int64_t{1} << l; left >= columns; left -= columns) {
        parts_.part[static_cast<std::size_t>(parts_.count++)] =
            level_[static_cast<std::size_t>(l)] + offset * channels_;
        offset += columns;
      }
  }

  // An output column's element in this panel.
  std::int64_t inner(std::int64_t column) const { return std::clamp<std::int64_t>(column * channels_ - first_, 0, n_); }

  // The divisors of windows with that many rows.
  void means_of(std::uint64_t rows) {
    const formulas::WindowAxis& axis = request_.columns;
    rows_ = rows;
    const auto pixels = static_cast<std::uint32_t>(rows * static_cast<std::uint64_t>(axis.size));
    mean_ = ShortMean();
    if (wide_ != nullptr)
      wide_mean_ = formulas::RoundedMean(pixels);
    else if (pixels > 1)
      mean_ = ShortMean(pixels);
    if (axis.edge != Edge::shrink) return;
    std::int64_t rim = 0;
    const auto add = [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; i += channels_)
        rim_[rim++] = formulas::RoundedMean(static_cast<std::uint32_t>(rows * axis.inside((first_ + i) / channels_)));
    };
    const std::int64_t inner_begin = inner(axis.inner_begin()),
                       inner_end = std::max(inner_begin, inner(axis.inner_end()));
    add(0, inner_begin);
    add(inner_end, n_);
  }

  std::uint32_t sum(std::int64_t i) const {
    if (wide_ != nullptr) return prefix_[i + request_.columns.size * channels_] - prefix_[i];
    std::uint32_t total = 0;
    for (int k = 0; k < parts_.count; ++k) total += parts_.part[static_cast<std::size_t>(k)][i];
    return total & 0xffff;
  }
  std::uint8_t rim_mean(std::int64_t i, const formulas::RoundedMean& mean) const {
    return static_cast<std::uint8_t>(mean(sum(i)));
  }

  const FilterRequest& request_;
  const ByteKernels& kernels_;
  std::int64_t channels_, first_, n_;
  std::int64_t cells_ = 0, begin_ = 0, inside_begin_ = 0, inside_end_ = 0, shown_count_ = 0;
  int levels_ = 1;
  std::array<std::uint16_t*, 8> level_{};
  std::uint32_t *wide_ = nullptr, *prefix_ = nullptr;  ///< of sums that do not fit 16 bits
  formulas::RoundedMean wide_mean_;
  Shown* shown_ = nullptr;
  formulas::RoundedMean* rim_ = nullptr;
  Parts parts_{};
  std::uint64_t rows_ = 0;
  ShortMean mean_;
};

}  // namespace

bool ByteMeans::serves(const FilterRequest& request) {
  const std::int64_t width = request.columns.size, height = request.rows.size;
  return std::holds_alternative<filter::Mean>(request.filter) && request.in == Type::u8 && request.out == Type::u8 &&
         request.rounding == Rounding::nearest && !request.mask && request.min_count <= 1 && width <= most_added &&
         height <= most_added;
}

std::size_t ByteMeans::scratch_bytes(const FilterRequest& request, std::int64_t channels) {
  const auto size = static_cast<std::size_t>(request.columns.size * channels);
  const std::size_t level = whole_lines(static_cast<std::size_t>(level_elements(request, channels)) * 2);
  const std::size_t wide = 4 * level + whole_lines(static_cast<std::size_t>(channels) * 4) + cache_line;
  return whole_lines(static_cast<std::size_t>(request.image.width * channels)) + 8 * level + wide +
         whole_lines((size + 1) * sizeof(Shown)) + whole_lines((2 * size + 1) * sizeof(formulas::RoundedMean));
}

void ByteMeans::strip(const ConstView& image, const View& out, const FilterRows& held, std::int64_t channels,
                      std::int64_t begin, std::int64_t end, void* scratch) const {
  const formulas::WindowAxis& rows = request_.rows;
  const std::int64_t width = request_.image.width * channels, outputs = request_.columns.outputs * channels;
  auto* const beyond = static_cast<std::uint8_t*>(scratch);
  char* const memory = static_cast<char*>(scratch) + whole_lines(static_cast<std::size_t>(width));
  const bool constant = rows.edge == Edge::constant;
  std::memset(beyond, constant ? static_cast<int>(request_.value) : 0, static_cast<std::size_t>(width));
  const auto row = [&](std::int64_t position) {
    const std::int64_t y = formulas::shown_pixel(position, rows.extent, rows.edge);
    return y < 0 ? beyond : static_cast<const std::uint8_t*>(image.row(held.held(y, rows.extent)));
  };
  const auto out_row = [&](std::int64_t y) { return static_cast<std::uint8_t*>(out.row(y - held.begin)); };
  const std::int64_t whole = std::max<std::int64_t>(1, panel / channels) * channels;  // panels of whole pixels
  for (std::int64_t first = 0; first < outputs; first += whole) {
    Panel one(request_, channels, first, std::min(whole, outputs - first), memory);
    for (std::int64_t v = begin - rows.before; v < begin - rows.before + rows.size; ++v) one.add(row(v));
    for (std::int64_t y = begin; y < end; ++y) {
      const std::int64_t leaves = y - 1 - rows.before;
      if (y + ahead < end) one.fetch(row(leaves + rows.size + ahead), out_row(y + ahead));
      if (y > begin) one.step(row(leaves + rows.size), row(leaves));
      one.store(rows.pixels(y), out_row(y));
    }
  }
}

}  // namespace areal::cpu
#endif
