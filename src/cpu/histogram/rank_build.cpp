#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>
#include "cpu/histogram/rank.hpp"
#include "cpu/histogram/rank_keys.hpp"
#include "cpu/in_order.hpp"
#include "cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/histogram/rank_build.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef AREAL_RANK_BUILD_ARGUMENTS
#define AREAL_RANK_BUILD_ARGUMENTS
namespace areal::cpu {
namespace {

constexpr int word_bits = 32;
// Whole vectors are stored behind the ones.
constexpr std::int64_t key_padding = 64;

/// One plane of a panel.
template <class Key>
struct PlanePass {
  Key* keys;  ///< n, becomes the order of the next plane
  Key* ones;  ///< n + key_padding, scratch
  std::int64_t n;
  int bit;    ///< of the keys
  bool last;  ///< the lowest plane: no further plane needs the keys in order, and they stay where they are
  formulas::RankLine* lines;
};

}  // namespace
}  // namespace areal::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using formulas::RankLine;

/// Where the next zero and the next one go.
struct Ends {
  std::int64_t zeros = 0, ones = 0;
};

/// The bits of `count` keys, at most a word.
template <bool last, class Key>
std::uint32_t part_some(const PlanePass<Key>& p, std::int64_t at, int count, Ends& ends) {
  std::uint32_t bits = 0;
  for (int i = 0; i < count; ++i) {
    const Key key = p.keys[at + i];
    const auto one = static_cast<std::uint32_t>(key >> p.bit & 1);
    bits |= one << i;
    if constexpr (!last) {
      p.keys[ends.zeros] = key;
      p.ones[ends.ones] = key;
    }
    ends.ones += one;
    ends.zeros += 1 - one;
  }
  return bits;
}

#if HWY_TARGET != HWY_SCALAR
// Keys of 16 bits are compressed as 32: AVX-512 without VBMI2 has no other way.
template <class Key>
using Compressed = std::conditional_t<sizeof(Key) == 8, std::uint64_t, std::uint32_t>;

template <class D>
std::uint32_t bits_of(D d, hn::Mask<D> mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  std::uint32_t bits;
  std::memcpy(&bits, bytes, sizeof bits);
  return bits;
}

/// The bits of 32 keys. Zeros go to where keys have been read: whole vectors may be stored. In registers first, as
/// compressing stores are slow on Zen 4.
template <bool last, class Key>
std::uint32_t part_word(const PlanePass<Key>& p, std::int64_t at, Ends& ends) {
  const hn::CappedTag<Compressed<Key>, 16> d;
  const hn::Rebind<Key, decltype(d)> d_key;
  constexpr int lanes = static_cast<int>(hn::MaxLanes(d));
  const auto tested = hn::Set(d, Compressed<Key>{1} << p.bit);
  std::uint32_t bits = 0;
  for (int i = 0; i < word_bits; i += lanes) {
    const auto store = [&](auto keys, Key* to) {
      if constexpr (sizeof(Key) == 2) {
        const hn::RebindToSigned<decltype(d)> d_signed;
        hn::StoreU(hn::DemoteTo(d_key, hn::BitCast(d_signed, keys)), d_key, to);
      } else {
        hn::StoreU(keys, d_key, to);
      }
    };
    hn::Vec<decltype(d)> keys;
    if constexpr (sizeof(Key) == 2)
      keys = hn::PromoteTo(d, hn::LoadU(d_key, p.keys + at + i));
    else
      keys = hn::LoadU(d, p.keys + at + i);
    const auto mask = hn::TestBit(keys, tested);
    const std::uint32_t some = bits_of(d, mask);
    const int ones = __builtin_popcount(some);
    if constexpr (!last) {
      store(hn::Compress(keys, hn::Not(mask)), p.keys + ends.zeros);
      store(hn::Compress(keys, mask), p.ones + ends.ones);
    }
    ends.ones += ones;
    ends.zeros += lanes - ones;
    bits |= some << i;
  }
  return bits;
}
#else
template <bool last, class Key>
std::uint32_t part_word(const PlanePass<Key>& p, std::int64_t at, Ends& ends) {
  return part_some<last>(p, at, word_bits, ends);
}
#endif

template <bool last, class Key>
std::int64_t part_plane(const PlanePass<Key>& p) {
  Ends ends;
  RankLine* out = p.lines;
  std::int64_t at = 0;
  for (; p.n - at >= RankLine::positions; ++out) {
    RankLine line;
    line.zeros = static_cast<std::uint32_t>(ends.zeros);
    for (std::uint32_t& bits : line.bits) {
      bits = part_word<last>(p, at, ends);
      at += word_bits;
    }
    *out = line;
  }
  RankLine line{static_cast<std::uint32_t>(ends.zeros), {}};
  for (std::uint32_t& bits : line.bits) {
    const int count = static_cast<int>(std::min<std::int64_t>(word_bits, p.n - at));
    bits = count == word_bits ? part_word<last>(p, at, ends) : part_some<last>(p, at, count, ends);
    at += count;
  }
  *out = line;
  if constexpr (!last) std::memcpy(p.keys + ends.zeros, p.ones, static_cast<std::size_t>(ends.ones) * sizeof(Key));
  return ends.zeros;
}

template <class Key>
std::int64_t part(const PlanePass<Key>& p) {
  return p.last ? part_plane<true>(p) : part_plane<false>(p);
}

}  // namespace

std::int64_t part_16(const PlanePass<std::uint16_t>& p) { return part(p); }
std::int64_t part_32(const PlanePass<std::uint32_t>& p) { return part(p); }
std::int64_t part_64(const PlanePass<std::uint64_t>& p) { return part(p); }

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
namespace {

HWY_EXPORT(part_16);
HWY_EXPORT(part_32);
HWY_EXPORT(part_64);

using formulas::Rank;
using formulas::RankLine;

constexpr int strip_level = 2;  ///< the widest panels that come from a strip
constexpr std::int64_t strip_columns = std::int64_t{1} << (2 * strip_level);

std::int64_t part_any(const PlanePass<std::uint16_t>& p) { return HWY_DYNAMIC_DISPATCH(part_16)(p); }
std::int64_t part_any(const PlanePass<std::uint32_t>& p) { return HWY_DYNAMIC_DISPATCH(part_32)(p); }
std::int64_t part_any(const PlanePass<std::uint64_t>& p) { return HWY_DYNAMIC_DISPATCH(part_64)(p); }

/// What a thread needs. Grows.
template <class Key>
class Buffer {
 public:
  Key* of(std::int64_t n) {
    if (n + key_padding > size_) {
      keys_.reset();
      keys_.reset(new Key[static_cast<std::size_t>(n + key_padding)]);
      size_ = n + key_padding;
    }
    return keys_.get();
  }

 private:
  std::unique_ptr<Key[]> keys_;
  std::int64_t size_ = 0;
};
template <class Key>
struct Buffers {
  Buffer<Key> strip, keys, ones;
};

template <class Pixel, class Key>
class Builder {
 public:
  Builder(const Rank& r, const ConstView& image, std::byte* store)
      : r_(r),
        image_(image),
        order_(rank_order<Pixel>(image.type)),
        lines_(reinterpret_cast<RankLine*>(store)),
        zeros_(reinterpret_cast<std::uint32_t*>(store + r.zeros_at())) {}

  /// A panel wider than strips.
  void panel(std::int64_t matrix, int level, std::int64_t panel, Buffers<Key>& buffers) const {
    const std::int64_t columns = r_.columns(level, panel), n = columns * r_.height;
    Key* const keys = buffers.keys.of(n);
    read(matrix, r_.column(level, panel), columns, keys);
    planes(matrix, level, panel, keys, n, buffers.ones);
  }

  /// All panels of a strip.
  void strip(std::int64_t matrix, std::int64_t strip, Buffers<Key>& buffers) const {
    const std::int64_t columns = r_.columns(strip_level, strip), height = r_.height;
    Key* const all = buffers.strip.of(columns * height);
    Key* const keys = buffers.keys.of(columns * height);
    read(matrix, r_.column(strip_level, strip), columns, all);
    for (int level = 0; level < std::min(r_.levels, strip_level); ++level) {
      const std::int64_t wide = std::int64_t{1} << (2 * level);
      for (std::int64_t x = 0; x < columns; x += wide) {
        const std::int64_t some = std::min(wide, columns - x);
        if (level == 0)
          for (std::int64_t y = 0; y < height; ++y) keys[y] = all[y * columns + x];
        else
          for (std::int64_t y = 0; y < height; ++y) std::copy_n(all + y * columns + x, some, keys + y * some);
        planes(matrix, level, (strip * strip_columns + x) / wide, keys, some * height, buffers.ones);
      }
    }
    if (r_.levels > strip_level) planes(matrix, strip_level, strip, all, columns * height, buffers.ones);
  }

 private:
  void read(std::int64_t matrix, std::int64_t x, std::int64_t columns, Key* keys) const {
    const std::int64_t n = matrix / image_.shape.channels, channel = matrix % image_.shape.channels;
    for (std::int64_t y = 0; y < r_.height; ++y)
      keys_of_run(order_, pixel_at(image_, n, channel, y, x), image_.column_pitch(), columns, keys + y * columns);
  }

  void planes(std::int64_t matrix, int level, std::int64_t panel, Key* keys, std::int64_t n,
              Buffer<Key>& scratch) const {
    std::uint32_t* const zeros = zeros_ + r_.zeros(matrix, level, panel);
    PlanePass<Key> pass{keys, scratch.of(n), n, 0, false, nullptr};
    for (int plane = 0; plane < r_.planes; ++plane) {
      pass.bit = r_.planes - 1 - plane;
      pass.last = pass.bit == 0;
      pass.lines = lines_ + r_.line(matrix, plane, level, panel);
      zeros[plane] = static_cast<std::uint32_t>(part_any(pass));
    }
  }

  const Rank& r_;
  const ConstView& image_;
  formulas::RankOrder<Pixel> order_;
  RankLine* lines_;
  std::uint32_t* zeros_;
};

/// A panel wider than strips, or strip number `panel`. The largest first.
struct Task {
  std::int64_t matrix;
  int level;
  std::int64_t panel;
};
std::vector<Task> tasks_of(const Rank& r) {
  std::vector<Task> tasks;
  for (int level = std::max(r.levels - 1, strip_level); level >= strip_level; --level)
    for (std::int64_t matrix = 0; matrix < r.matrices; ++matrix)
      for (std::int64_t panel = 0; panel < r.panels_at(level); ++panel) tasks.push_back({matrix, level, panel});
  return tasks;
}

}  // namespace

bool has_rank(Type type) noexcept { return type != Type::u64 && type != Type::s64; }

std::uint64_t greatest_key(const ConstView& image, int threads) {
  return with_rank_key(image.type, [&]<class Pixel, class Key>() -> std::uint64_t {
    const Shape& s = image.shape;
    std::atomic<std::uint64_t> greatest{0};
    if (s.empty()) return 0;
    parallel_ranges(threads, s.batch * s.channels * s.height, 16, [&](std::int64_t begin, std::int64_t end) {
      Pixel most = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t plane = i / s.height;
        const auto* const row =
            static_cast<const char*>(pixel_at(image, plane / s.channels, plane % s.channels, i % s.height, 0));
        for (std::int64_t x = 0; x < s.width; ++x) {
          Pixel pixel;
          std::memcpy(&pixel, row + x * image.column_pitch(), sizeof pixel);
          most = std::max(most, pixel);
        }
      }
      std::uint64_t before = greatest.load();
      while (before < most && !greatest.compare_exchange_weak(before, most)) {
      }
    });
    return greatest.load();
  });
}

std::uint64_t rank_scratch_bytes(const Rank& r, Type type, int threads) {
  if (r.levels == 0) return 0;
  // A slot begins with one of the first tasks, as large as any of its later ones.
  const std::int64_t key = std::max<std::int64_t>(2, static_cast<std::int64_t>(size_of(type)));
  const auto buffers = [&](std::int64_t count, std::int64_t keys) {
    return static_cast<std::uint64_t>(count * (keys + key_padding) * key);
  };
  std::int64_t left = slots(threads);
  std::uint64_t bytes = buffers(left, r.columns(strip_level, 0) * r.height);  // of the strip
  for (int level = std::max(r.levels - 1, strip_level); level >= strip_level && left > 0; --level) {
    const std::int64_t some = std::min(left, r.matrices * r.panels_at(level));
    bytes += buffers(2 * some, r.columns(level, 0) * r.height);
    left -= some;
  }
  return bytes;
}

void build_rank(const Rank& r, const ConstView& image, std::byte* store, int threads) {
  if (r.levels == 0) return;
  with_rank_key(image.type, [&]<class Pixel, class Key>() {
    const Builder<Pixel, Key> builder(r, image, store);
    const std::vector<Task> tasks = tasks_of(r);
    std::vector<Buffers<Key>> buffers(static_cast<std::size_t>(slots(threads)));
    in_order(threads, static_cast<std::int64_t>(tasks.size()), [&](std::int64_t i, const Turn&) {
      const Task& task = tasks[static_cast<std::size_t>(i)];
      Buffers<Key>& own = buffers[static_cast<std::size_t>(slot())];
      if (task.level == strip_level)
        builder.strip(task.matrix, task.panel, own);
      else
        builder.panel(task.matrix, task.level, task.panel, own);
    });
  });
}

}  // namespace areal::cpu
#endif
