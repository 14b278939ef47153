#include "cpu/histogram/tile.hpp"
#include <algorithm>
#include <cstring>
#include "cpu/prefetch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/histogram/tile.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sums inside blocks of 16 bytes, then block by block: the same additions on every target, so the same floats.
template <class T>
inline constexpr int block = 16 / static_cast<int>(sizeof(T));

// Cache lines of a row of sums.
template <class T>
constexpr int line_of(int x) {
  return x * static_cast<int>(sizeof(T)) / 64;
}
template <class T>
constexpr bool starts_line(int x) {
  return x * static_cast<int>(sizeof(T)) % 64 == 0;
}

// A finished row on its way to the tensor, at any alignment there: a head, whole cache lines, a tail. The lines go out
// one by one while the next row is computed in the same memory. In a burst, the core would wait for memory between
// rows, and memory for the core (46 ms instead of 40 at 1920x1080x32 on one thread).
//
// `stream` stores past the caches: a line that is overwritten as a whole need not be fetched, which counts where
// several cores have used the memory up (docs/notes/cpu-sat.md).
template <bool stream>
class RowOut {
 public:
  RowOut() = default;
  // `next` is the destination of the row after this one.
  RowOut(const char* row, std::size_t bytes, char* out, const char* next)
      : row_(row), out_(out), next_(next), bytes_(bytes) {}

  // The head and the first line. Then step(0), step(1), .. before the sums of cache line 0, 1, .. change: step i stores
  // line i + 1, which starts at most one element before them.
  HWY_INLINE void start() {
    if (bytes_ == 0) return;
    const std::size_t head = (line - reinterpret_cast<std::uintptr_t>(out_) % line) % line;
    if (bytes_ < head + line) return finish_small();
    if (head) std::memcpy(out_, row_, head);
    row_ += head, out_ += head, bytes_ -= head;
    lines_ = static_cast<int>(bytes_ / line);
    send(0);
  }
  HWY_INLINE void step(int i) const {
    if (i + 1 < lines_)
      send(i + 1);
    else if (i + 1 == lines_ && bytes_ % line)
      std::memcpy(out_ + lines_ * line, row_ + lines_ * line, bytes_ % line);
  }
  void all() {
    start();
    for (int i = 0; i < lines_; ++i) step(i);
  }

 private:
  static constexpr std::size_t line = 64;

  void finish_small() {
    std::memcpy(out_, row_, bytes_);
    lines_ = 0;
  }
  HWY_INLINE void send(int i) const {
    const char* from = row_ + i * line;
    char* to = out_ + i * line;
    if constexpr (!stream) {
      // The lines of this row, including its shared last one, then the first ones of the next row.
      constexpr int ahead = prefetch_distance / static_cast<int>(line);
      prefetch_to_write(i + ahead <= lines_ ? to + prefetch_distance
                                            : next_ + (i + ahead - lines_ - 1) * static_cast<int>(line));
    }
#if HWY_TARGET == HWY_SCALAR
    std::memcpy(to, from, line);
#else
    const hn::ScalableTag<std::uint8_t> d;
    for (std::size_t j = 0; j < line; j += hn::Lanes(d)) {
      const auto v = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + j));
      if constexpr (stream)
        hn::Stream(v, d, reinterpret_cast<std::uint8_t*>(to + j));
      else
        hn::Store(v, d, reinterpret_cast<std::uint8_t*>(to + j));
    }
#endif
  }

  const char* row_ = nullptr;
  char* out_ = nullptr;
  const char* next_ = nullptr;
  std::size_t bytes_ = 0;
  int lines_ = 0;
};

#if HWY_TARGET != HWY_SCALAR
// Bytes to 32- or 64-bit elements.
template <class D>
HWY_INLINE hn::Vec<D> widen(D d, const std::uint8_t* HWY_RESTRICT from) {
  const auto bytes = hn::LoadU(hn::Rebind<std::uint8_t, D>(), from);
  if constexpr (sizeof(hn::TFromD<D>) == 4)
    return hn::PromoteTo(d, bytes);
  else
    return hn::PromoteTo(d, hn::PromoteTo(hn::Rebind<std::uint32_t, D>(), bytes));
}
#endif

// sums[x] += pixels of `bin` in [0, x] of this row, and left of it; returns the row's sum so far. Stores the row above
// in the same loop.
template <class T, bool stream>
HWY_INLINE T count_row(const std::uint8_t* HWY_RESTRICT rel, int width, std::uint8_t bin, T left, T* sums,
                       RowOut<stream> above) {
  above.start();
#if HWY_TARGET == HWY_SCALAR
  for (int x = 0; x < width; ++x) {
    if (starts_line<T>(x)) above.step(line_of<T>(x));
    left += rel[x] == bin;
    sums[x] += left;
  }
  return left;
#else
  const int padded = tile_stride(width);
  // Sums inside blocks of 16 pixels fit a byte.
  alignas(64) std::uint8_t inside[tile_width];
  const hn::ScalableTag<std::uint8_t> d8;
  const auto wanted = hn::Set(d8, bin);
  const auto one = hn::Set(d8, std::uint8_t{1});
  for (int x = 0; x < padded; x += static_cast<int>(hn::Lanes(d8))) {
    auto v = hn::IfThenElseZero(hn::Eq(hn::Load(d8, rel + x), wanted), one);
    v = hn::Add(v, hn::ShiftLeftBytes<1>(v));
    v = hn::Add(v, hn::ShiftLeftBytes<2>(v));
    v = hn::Add(v, hn::ShiftLeftBytes<4>(v));
    v = hn::Add(v, hn::ShiftLeftBytes<8>(v));
    hn::Store(v, d8, inside + x);
  }
  const hn::CappedTag<T, 16> d;
  for (int x = 0; x < padded; x += 16) {
    const auto before = hn::Set(d, left);
    for (int j = 0; j < 16; j += static_cast<int>(hn::Lanes(d))) {
      if (starts_line<T>(x + j)) above.step(line_of<T>(x + j));
      const auto sum = hn::Add(hn::Add(widen(d, inside + x + j), before), hn::Load(d, sums + x + j));
      hn::Store(sum, d, sums + x + j);
    }
    left += inside[x + 15];
  }
  return left;
#endif
}

// The same for weights.
template <class T, bool stream>
HWY_INLINE T weigh_row(const std::uint8_t* HWY_RESTRICT rel, const T* HWY_RESTRICT weights, int width, std::uint8_t bin,
                       T left, T* sums, RowOut<stream> above) {
  above.start();
  const int padded = tile_stride(width);
  constexpr int n = block<T>;
#if HWY_TARGET == HWY_SCALAR
  for (int x = 0; x < padded; x += n) {
    T v[n];
    for (int i = 0; i < n; ++i) v[i] = rel[x + i] == bin ? weights[x + i] : T{0};
    for (int step = 1; step < n; step *= 2)
      for (int i = n - 1; i >= step; --i) v[i] += v[i - step];
    if (starts_line<T>(x)) above.step(line_of<T>(x));
    for (int i = 0; i < n; ++i) sums[x + i] += v[i] + left;
    left += v[n - 1];
  }
  return left;
#else
  alignas(64) T inside[tile_width];
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto wanted = hn::Set(du, hn::TFromD<decltype(du)>{bin});
  for (int x = 0; x < padded; x += static_cast<int>(hn::Lanes(d))) {
    const auto hit = hn::RebindMask(d, hn::Eq(widen(du, rel + x), wanted));
    auto v = hn::IfThenElseZero(hit, hn::Load(d, weights + x));
    v = hn::Add(v, hn::ShiftLeftLanes<1>(v));
    if constexpr (n == 4) v = hn::Add(v, hn::ShiftLeftLanes<2>(v));
    hn::Store(v, d, inside + x);
  }
  const hn::CappedTag<T, n> d16;
  for (int x = 0; x < padded; x += n) {
    if (starts_line<T>(x)) above.step(line_of<T>(x));
    const auto sum = hn::Add(hn::Load(d16, inside + x), hn::Set(d16, left));
    hn::Store(hn::Add(hn::Load(d16, sums + x), sum), d16, sums + x);
    left += inside[x + n - 1];
  }
  return left;
#endif
}

template <class T>
T element(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// The carry above the piece, less its corner: for the column of zeros, and for the pixels.
template <class T>
void take_over(const char* above, T corner, int extra, int width, T* sums) {
  for (int x = -extra; x < width; ++x) sums[x] = element<T>(above + x * static_cast<int>(sizeof(T))) - corner;
}

template <class T, bool stream>
void tile_of(const HistogramTile& t) {
  constexpr bool weighted = std::is_floating_point_v<T>;
  constexpr int lead = 64 / static_cast<int>(sizeof(T));  // for the column of zeros; keeps `sums` aligned
  alignas(64) T row[lead + tile_width];
  alignas(64) T moved[lead + tile_width];  // the row plus the carry left of the piece
  T* const sums = row + lead;
  const T* const out_row = t.outer_left ? moved + lead : sums;
  const int stride = tile_stride(t.width);
  const int extra = t.zero_column ? 1 : 0;
  const std::size_t bytes = static_cast<std::size_t>(t.width + extra) * sizeof(T);
  const std::size_t carried = static_cast<std::size_t>(t.width) * sizeof(T);
  for (int bin = 0; bin < t.bins; ++bin) {
    char* out = t.out + bin * t.plane_pitch - extra * static_cast<int>(sizeof(T));
    T* const above = t.above ? static_cast<T*>(t.above) + bin * t.above_pitch : nullptr;
    T* const left = t.left ? static_cast<T*>(t.left) + bin * t.left_pitch : nullptr;
    row[lead - 1] = 0;
    std::fill(sums, sums + stride, T{0});
    if (t.outer_above)
      take_over(t.outer_above + bin * t.outer_above_plane, element<T>(t.outer_corner + bin * t.outer_above_plane),
                extra, t.width, sums);
    const auto row_to = [&](std::int64_t y) {
      return RowOut<stream>(reinterpret_cast<const char*>(out_row - extra), bytes, out + y * t.row_pitch,
                            out + (y + 1) * t.row_pitch);
    };
    const auto add_left = [&](std::int64_t y) {
      if (t.outer_left == nullptr) return;
      const T carry_left = element<T>(t.outer_left + bin * t.outer_left_plane + y * t.outer_left_row);
      for (int x = -extra; x < t.width; ++x) moved[lead + x] = sums[x] + carry_left;
    };
    if (t.zero_row) {
      add_left(-1);
      row_to(-1).all();
    }
    if (t.read_above) std::memcpy(sums, above, carried);
    for (int y = 0; y < t.height; ++y) {
      const std::uint8_t* rel = t.rel + y * t.rel_pitch;
      const auto wanted = static_cast<std::uint8_t>(t.first_bin + bin);
      const RowOut<stream> done = y > 0 ? row_to(y - 1) : RowOut<stream>();
      T carry = t.read_left ? left[y] : T{0};
      if constexpr (weighted)
        carry = weigh_row<T, stream>(rel, static_cast<const T*>(t.weights) + y * stride, t.width, wanted, carry, sums,
                                     done);
      else
        carry = count_row<T, stream>(rel, t.width, wanted, carry, sums, done);
      if (t.write_left) left[y] = carry;
      add_left(y);
    }
    row_to(t.height - 1).all();
    if (t.write_above) std::memcpy(above, sums, carried);
  }
}

template <class T>
void tile_by_stores(const HistogramTile& t) {
  if (!t.stream) return tile_of<T, false>(t);
  tile_of<T, true>(t);
  hwy::FlushStream();
}
void tile_32u(const HistogramTile& t) { tile_by_stores<std::uint32_t>(t); }
void tile_64u(const HistogramTile& t) { tile_by_stores<std::uint64_t>(t); }
void tile_32f(const HistogramTile& t) { tile_by_stores<float>(t); }
void tile_64f(const HistogramTile& t) { tile_by_stores<double>(t); }

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
HWY_EXPORT(tile_32u);
HWY_EXPORT(tile_64u);
HWY_EXPORT(tile_32f);
HWY_EXPORT(tile_64f);

void run_tile(const HistogramTile& tile) {
  switch (tile.counter) {
    case Type::u64:
      HWY_DYNAMIC_DISPATCH(tile_64u)(tile);
      break;
    case Type::f32:
      HWY_DYNAMIC_DISPATCH(tile_32f)(tile);
      break;
    case Type::f64:
      HWY_DYNAMIC_DISPATCH(tile_64f)(tile);
      break;
    default:
      HWY_DYNAMIC_DISPATCH(tile_32u)(tile);
  }
}
}  // namespace areal::cpu
#endif
