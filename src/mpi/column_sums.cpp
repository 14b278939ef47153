#include "mpi/column_sums.hpp"
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>
#include "mpi/column_blocks.hpp"

namespace areal::mpi {
namespace {

constexpr std::int64_t column_block = 2048;  // columns: their sums stay in the first cache
constexpr std::int64_t narrow = 256;         // rows of bytes whose sums fit 16 bits

/// Rows of any alignment, through memcpy if the pixels are not aligned to their type.
template <class In>
const In* aligned_row(const void* row, std::int64_t count, std::vector<In>& copy) {
  if (reinterpret_cast<std::uintptr_t>(row) % alignof(In) == 0) return static_cast<const In*>(row);
  copy.resize(static_cast<std::size_t>(count));
  std::memcpy(copy.data(), row, static_cast<std::size_t>(count) * sizeof(In));
  return copy.data();
}

/// sums[i] += elements from + i of all rows of one plane.
template <class In, class Sum, bool squares>
void add_block(const ConstView& strip, std::int64_t channel, std::int64_t n, std::int64_t from, std::int64_t count,
               Sum* sums) {
  const auto term = [](In pixel) {
    const auto value = static_cast<Sum>(pixel);  // NOLINT(bugprone-signed-char-misuse): modulo 2^k
    if constexpr (squares)
      return static_cast<Sum>(value * value);
    else
      return value;
  };
  std::vector<In> copies[4];
  const auto row = [&](std::int64_t y, int copy) {
    return aligned_row<In>(static_cast<const char*>(strip.row(y, channel, n)) + from * sizeof(In), count, copies[copy]);
  };
  const std::int64_t height = strip.shape.height;
  std::int64_t y = 0;
  if constexpr (sizeof(In) == 1 && !squares) {
    using Half = std::conditional_t<std::is_signed_v<In>, std::int16_t, std::uint16_t>;
    Half partial[column_block];
    for (; y + 4 <= height;) {
      const std::int64_t end = std::min(height - 3, y + narrow);
      std::fill_n(partial, count, Half(0));
      for (; y < end; y += 4) {
        const In *a = row(y, 0), *b = row(y + 1, 1), *c = row(y + 2, 2), *d = row(y + 3, 3);
        for (std::int64_t i = 0; i < count; ++i) partial[i] = static_cast<Half>(partial[i] + a[i] + b[i] + c[i] + d[i]);
      }
      for (std::int64_t i = 0; i < count; ++i) sums[i] += static_cast<Sum>(partial[i]);
    }
  } else {
    for (; y + 4 <= height; y += 4) {
      const In *a = row(y, 0), *b = row(y + 1, 1), *c = row(y + 2, 2), *d = row(y + 3, 3);
      for (std::int64_t i = 0; i < count; ++i) sums[i] += term(a[i]) + term(b[i]) + term(c[i]) + term(d[i]);
    }
  }
  for (; y < height; ++y) {
    const In* const a = row(y, 0);
    for (std::int64_t i = 0; i < count; ++i) sums[i] += term(a[i]);
  }
}

/// The same for pixels that the mask keeps; `channels` elements of a row are one pixel.
template <class In, class Sum>
void add_masked(const ConstView& strip, const ConstView& mask, std::int64_t channel, std::int64_t channels,
                std::int64_t n, Term term, std::int64_t from, std::int64_t count, Sum* sums) {
  std::vector<In> copy;
  for (std::int64_t y = 0; y < strip.shape.height; ++y) {
    const In* const pixels =
        aligned_row<In>(static_cast<const char*>(strip.row(y, channel, n)) + from * sizeof(In), count, copy);
    const auto* const keep = static_cast<const std::uint8_t*>(mask.row(y, 0, n));
    for (std::int64_t i = 0; i < count; ++i) {
      if (keep[(from + i) / channels] == 0) continue;
      const auto value = static_cast<Sum>(pixels[i]);  // NOLINT(bugprone-signed-char-misuse)
      sums[i] += term == Term::pixel ? value : term == Term::square ? static_cast<Sum>(value * value) : Sum(1);
    }
  }
}

template <class In, class Sum>
void sum_planes(const ConstView& strip, const ConstView& mask, Term term, bool reverse, int threads, const View& row) {
  const Shape& s = strip.shape;
  const bool joined = s.channels > 1 && s.layout == Layout::interleaved;
  const std::int64_t planes = term == Term::one || joined ? 1 : s.channels;
  const std::int64_t step = joined && term != Term::one ? s.channels : 1, elements = s.width * step;
  std::vector<Sum> sums(static_cast<std::size_t>(elements));
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t p = 0; p < planes; ++p) {
      std::fill(sums.begin(), sums.end(), Sum(0));
      in_column_blocks(elements, column_block, threads, [&](std::int64_t from, std::int64_t count) {
        Sum* const to = sums.data() + from;
        if (term == Term::one)  // sums the mask itself
          add_masked<std::uint8_t, Sum>(mask, mask, 0, 1, n, term, from, count, to);
        else if (mask.data != nullptr)
          add_masked<In, Sum>(strip, mask, p, step, n, term, from, count, to);
        else if (term == Term::square)
          add_block<In, Sum, true>(strip, p, n, from, count, to);
        else
          add_block<In, Sum, false>(strip, p, n, from, count, to);
      });
      for (std::int64_t c = 0; c < step; ++c) {
        const std::int64_t channel = joined ? c : p,
                           stride = row.shape.layout == Layout::planar ? 1 : row.shape.channels;
        Sum* const out = static_cast<Sum*>(row.row(0, channel, n));
        Sum sum = 0;
        out[(reverse ? s.width : 0) * stride] = 0;
        for (std::int64_t i = 0; i < s.width; ++i) {
          const std::int64_t x = reverse ? s.width - 1 - i : i;
          sum += sums[static_cast<std::size_t>(x * step + c)];
          out[(reverse ? x : x + 1) * stride] = sum;
        }
      }
    }
}

template <class In>
void sum_planes_of(const ConstView& strip, const ConstView& mask, Term term, bool reverse, int threads,
                   const View& row) {
  if (size_of(row.type) == 8)
    sum_planes<In, std::uint64_t>(strip, mask, term, reverse, threads, row);
  else
    sum_planes<In, std::uint32_t>(strip, mask, term, reverse, threads, row);
}

}  // namespace

void column_sums(const ConstView& strip, const ConstView& mask, Term term, bool reverse, int threads, const View& row) {
  switch (strip.type) {
    case Type::u8:
      return sum_planes_of<std::uint8_t>(strip, mask, term, reverse, threads, row);
    case Type::s8:
      return sum_planes_of<std::int8_t>(strip, mask, term, reverse, threads, row);
    case Type::u16:
      return sum_planes_of<std::uint16_t>(strip, mask, term, reverse, threads, row);
    case Type::s16:
      return sum_planes_of<std::int16_t>(strip, mask, term, reverse, threads, row);
    case Type::u32:
      return sum_planes_of<std::uint32_t>(strip, mask, term, reverse, threads, row);
    case Type::s32:
      return sum_planes_of<std::int32_t>(strip, mask, term, reverse, threads, row);
    case Type::u64:
      return sum_planes_of<std::uint64_t>(strip, mask, term, reverse, threads, row);
    default:
      return sum_planes_of<std::int64_t>(strip, mask, term, reverse, threads, row);
  }
}

}  // namespace areal::mpi
