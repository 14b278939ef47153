#include "cpu/histogram/region_keys.hpp"
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include "cpu/histogram/rank_keys.hpp"

namespace areal::cpu {
namespace {

constexpr std::int64_t few = 64;  // sorted at once

/// keys[i] = the key of rank ranks[i] - first of the n keys in `from`, which are alike above shift + 8 bits. `from` and
/// `to` have n + 1 places and lose what they hold.
template <class Key>
void select_keys(Key* from, std::int64_t n, int shift, std::uint64_t first, std::span<const std::uint64_t> ranks,
                 std::uint64_t* keys, Key* to) {
  if (n <= few) {
    std::sort(from, from + n);
    for (std::size_t i = 0; i < ranks.size(); ++i) keys[i] = from[ranks[i] - first];
    return;
  }
  // Four tables: equal neighbours would make each increment wait for the one before.
  std::array<std::array<std::uint32_t, 256>, 4> tables{};
  const auto digit = [&](Key key) { return static_cast<std::size_t>(key >> shift & 255); };
  std::int64_t at = 0;
  for (; at + 4 <= n; at += 4)
    for (std::size_t j = 0; j < 4; ++j) ++tables[j][digit(from[at + static_cast<std::int64_t>(j)])];
  for (; at < n; ++at) ++tables[0][digit(from[at])];

  struct Bucket {
    std::size_t ranks = 0;    ///< of the wanted ones
    std::uint64_t first = 0;  ///< rank
    std::int64_t size = 0;
  };
  std::array<Bucket, 256> buckets;
  std::array<std::int64_t, 256> place;  // of the next key: those of a bucket without ranks go to the last one
  std::array<std::int64_t, 256> step{};
  std::int64_t places = 0;
  std::size_t found = 0;
  for (std::size_t d = 0; d < 256; ++d) {
    Bucket& bucket = buckets[d];
    bucket.first = first;
    bucket.size = std::int64_t{tables[0][d]} + tables[1][d] + tables[2][d] + tables[3][d];
    first += static_cast<std::uint64_t>(bucket.size);
    while (found + bucket.ranks < ranks.size() && ranks[found + bucket.ranks] < first) ++bucket.ranks;
    found += bucket.ranks;
    step[d] = bucket.ranks > 0 ? 1 : 0;
    place[d] = step[d] != 0 ? places : n;
    places += step[d] != 0 ? bucket.size : 0;
  }
  if (shift > 0)
    for (std::int64_t i = 0; i < n; ++i) {
      const std::size_t d = digit(from[i]);
      to[place[d]] = from[i];
      place[d] += step[d];
    }
  const auto above = static_cast<Key>(static_cast<Key>(from[0] >> shift) & static_cast<Key>(~Key{255}));
  std::size_t done = 0;
  std::int64_t begin = 0;
  for (std::size_t d = 0; d < 256; ++d) {
    const Bucket& bucket = buckets[d];
    if (bucket.ranks == 0) continue;
    const auto mine = ranks.subspan(done, bucket.ranks);
    if (shift > 0)
      select_keys(to + begin, bucket.size, shift - 8, bucket.first, mine, keys + done, from + begin);
    else
      std::fill_n(keys + done, mine.size(), static_cast<std::uint64_t>(above) | d);
    done += bucket.ranks;
    begin += bucket.size;
  }
}

template <class Pixel>
double value_of(Type type, Pixel pixel) {
  switch (type) {
    case Type::s8:
      return static_cast<std::int8_t>(pixel);
    case Type::s16:
      return static_cast<std::int16_t>(pixel);
    case Type::s32:
      return static_cast<std::int32_t>(pixel);
    case Type::f16:
      return to_float(Half{static_cast<std::uint16_t>(pixel)});
    case Type::f32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(pixel));
    case Type::f64:
      return std::bit_cast<double>(static_cast<std::uint64_t>(pixel));
    default:
      return static_cast<double>(pixel);
  }
}

}  // namespace

double PixelOrder::value(std::uint64_t key) const {
  return with_rank_key(type, [&]<class Pixel, class Key>() {
    return value_of(type, rank_order<Pixel>(type).pixel(static_cast<Pixel>(key)));
  });
}

std::uint64_t PixelOrder::end() const {
  return with_rank_key(type, [&]<class Pixel, class Key>() -> std::uint64_t {
    const formulas::RankOrder<Pixel> order = rank_order<Pixel>(type);
    if (!order.is_real) return sizeof(Pixel) == 8 ? ~std::uint64_t{0} : std::uint64_t{1} << (8 * sizeof(Pixel) % 64);
    return std::uint64_t{order.key(order.infinity)} + 1;
  });
}

std::uint64_t PixelOrder::least_from(double v) const {
  if (std::isnan(v)) return 0;
  // The keys' values rise: a binary search needs no rules for the types' limits.
  std::uint64_t low = is_float(type)
                          ? with_rank_key(type,
                                          [&]<class Pixel, class Key>() -> std::uint64_t {
                                            const formulas::RankOrder<Pixel> order = rank_order<Pixel>(type);
                                            return order.key(static_cast<Pixel>(order.infinity | order.sign));
                                          })
                          : 0;
  std::uint64_t high = end();
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (value(middle) < v)
      low = middle + 1;
    else
      high = middle;
  }
  return high;
}

template <class F>
decltype(auto) RegionKeys::with_keys(const F& f) const {
  switch (size_of(type_)) {
    case 1:
      return f(keys8_);
    case 2:
      return f(keys16_);
    case 4:
      return f(keys32_);
    default:
      return f(keys64_);
  }
}

void RegionKeys::read(const ConstView& view, std::int64_t image, std::int64_t channel, const Region& region) {
  type_ = view.type;
  with_keys([&]<class Key>(Keys<Key>& keys) {
    keys.count = region.width * region.height;
    if (keys.all.size() < static_cast<std::size_t>(keys.count + 1))
      keys.all.resize(static_cast<std::size_t>(keys.count + 1));
    const formulas::RankOrder<Key> order = rank_order<Key>(type_);
    for (std::int64_t y = 0; y < region.height; ++y)
      keys_of_run(order, pixel_at(view, image, channel, region.y + y, region.x), view.column_pitch(), region.width,
                  keys.all.data() + y * region.width);
  });
}

std::uint64_t RegionKeys::below(std::uint64_t key) const {
  return with_keys([&]<class Key>(const Keys<Key>& keys) {
    std::int64_t count = 0;
    if (key > std::numeric_limits<Key>::max()) return static_cast<std::uint64_t>(keys.count);
    const auto limit = static_cast<Key>(key);
    for (std::int64_t i = 0; i < keys.count; ++i) count += keys.all.data()[i] < limit ? 1 : 0;
    return static_cast<std::uint64_t>(count);
  });
}

void RegionKeys::select(std::span<const std::uint64_t> ranks, std::uint64_t* out) {
  if (ranks.empty()) return;
  with_keys([&]<class Key>(Keys<Key>& keys) {
    if (keys.some.size() < keys.all.size()) keys.some.resize(keys.all.size());
    select_keys(keys.all.data(), keys.count, 8 * (static_cast<int>(sizeof(Key)) - 1), 0, ranks, out, keys.some.data());
  });
}

}  // namespace areal::cpu
