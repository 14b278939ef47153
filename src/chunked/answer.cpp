#include "chunked/answer.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>
#include "chunked/on_threads.hpp"
#include "chunked/sentence.hpp"
#include "chunked/shard_reader.hpp"

namespace areal::chunked {
namespace {

struct Entry {
  std::int64_t x = 0, y = 0;
};

/// One term of +T[bottom][right] - T[top][right] - T[bottom][left] + T[top][left].
Entry entry_of(const Region& r, std::uint32_t corner) {
  return {(corner & 2) != 0 ? r.x - 1 : r.x + r.width - 1, (corner & 1) != 0 ? r.y - 1 : r.y + r.height - 1};
}
bool is_subtracted(std::uint32_t corner) { return corner == 1 || corner == 2; }

/// A thread's read buffers.
struct Scratch {
  std::vector<std::uint32_t> tile;
  std::vector<std::uint64_t> top, left;
};

class Answers {
 public:
  Answers(const fs::path& folder, const Format& format, const std::vector<Region>& regions, std::uint64_t* out,
          bool checked)
      : folder_(folder), format_(format), regions_(regions), out_(out), checked_(checked) {}

  std::vector<Corner> sorted_corners() const;
  /// All corners of one shard.
  void add_shard(std::span<const Corner> corners, Scratch& scratch) const;

 private:
  Entry entry(const Corner& corner) const { return entry_of(regions_[corner.which / 4], corner.which % 4); }
  void add_tile(const ShardReader& shard, const CarryReader& carries, std::span<const Corner> corners,
                Scratch& scratch) const;

  const fs::path& folder_;
  const Format& format_;
  const std::vector<Region>& regions_;
  std::uint64_t* const out_;
  const bool checked_;
};

std::vector<Corner> Answers::sorted_corners() const {
  std::vector<Corner> corners;
  corners.reserve(4 * regions_.size());
  const std::int64_t n = format_.tiles_per_shard();
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    if (regions_[i].width == 0 || regions_[i].height == 0) continue;
    for (std::uint32_t k = 0; k < 4; ++k) {
      const Entry at = entry_of(regions_[i], k);
      if (at.x < 0 || at.y < 0) continue;
      corners.push_back(
          {static_cast<std::uint64_t>(at.y / shard_side * format_.shard_columns() + at.x / shard_side),
           static_cast<std::uint32_t>(at.y % shard_side / format_.tile * n + at.x % shard_side / format_.tile),
           static_cast<std::uint32_t>(4 * i + k)});
    }
  }
  std::sort(corners.begin(), corners.end(), [](const Corner& a, const Corner& b) {
    return std::tie(a.shard, a.tile, a.which) < std::tie(b.shard, b.tile, b.which);
  });
  return corners;
}

void Answers::add_shard(std::span<const Corner> corners, Scratch& scratch) const {
  const Entry first = entry(corners[0]);
  const ShardReader shard(folder_, format_, first.y / shard_side, first.x / shard_side);
  std::optional<CarryReader> carries;
  while (!corners.empty()) {
    const auto end = std::find_if(corners.begin(), corners.end(),
                                  [tile = corners[0].tile](const Corner& corner) { return corner.tile != tile; });
    const auto of_tile = corners.first(static_cast<std::size_t>(end - corners.begin()));
    const std::int64_t row = entry(of_tile[0]).y / format_.tile;
    if (!carries || carries->tile_row() != row) carries.emplace(folder_, format_, row);
    add_tile(shard, *carries, of_tile, scratch);
    corners = corners.subspan(of_tile.size());
  }
}

void Answers::add_tile(const ShardReader& shard, const CarryReader& carries, std::span<const Corner> corners,
                       Scratch& scratch) const {
  const std::int64_t tile = format_.tile;
  const Entry first = entry(corners[0]);
  const std::int64_t i = first.y / tile, j = first.x / tile;
  std::int64_t least_x = first.x, most_x = first.x, least_y = first.y, most_y = first.y;
  for (const Corner& corner : corners) {
    const Entry at = entry(corner);
    least_x = std::min(least_x, at.x), most_x = std::max(most_x, at.x);
    least_y = std::min(least_y, at.y), most_y = std::max(most_y, at.y);
  }
  if (checked_) {
    scratch.tile.resize(static_cast<std::size_t>(tile * tile));
    shard.read_tile(i, j, scratch.tile.data());
  }
  scratch.top.resize(static_cast<std::size_t>(most_x - least_x + 1));
  scratch.left.resize(static_cast<std::size_t>(most_y - least_y + 1));
  carries.read_top(least_x, most_x - least_x + 1, scratch.top.data());
  carries.read_left(j, least_y - i * tile, most_y - least_y + 1, scratch.left.data());
  const std::uint64_t corner_carry = carries.corner(j);
  for (const Corner& corner : corners) {
    const Entry at = entry(corner);
    const std::int64_t x = at.x - j * tile, y = at.y - i * tile;
    const std::uint64_t local =
        checked_ ? scratch.tile[static_cast<std::size_t>(y * tile + x)] : shard.entry(i, j, y, x);
    const std::uint64_t value = local + scratch.top[static_cast<std::size_t>(at.x - least_x)] +
                                scratch.left[static_cast<std::size_t>(at.y - least_y)] - corner_carry;
    // Threads work on different shards, which may have corners of the same region.
    std::atomic_ref<std::uint64_t>(out_[corner.which / 4])
        .fetch_add(is_subtracted(corner.which % 4) ? 0 - value : value, std::memory_order_relaxed);
  }
}

}  // namespace

std::uint64_t answer_bytes(const Format& f, bool checked) {
  const auto tile = static_cast<std::uint64_t>(f.tile);
  return (checked ? 4 * tile * tile : 0) + 16 * tile + static_cast<std::uint64_t>(f.index_bytes()) + (64 << 10);
}

void answer(const fs::path& folder, const Format& format, const std::vector<Region>& regions, std::uint64_t* out,
            int threads, bool checked, const std::function<void(std::int64_t, std::int64_t)>& shard_done) {
  const Answers answers(folder, format, regions, out, checked);
  const std::vector<Corner> corners = answers.sorted_corners();
  std::vector<std::size_t> begins;  // of shards
  for (std::size_t i = 0; i < corners.size(); ++i)
    if (i == 0 || corners[i].shard != corners[i - 1].shard) begins.push_back(i);
  const auto shards = static_cast<std::int64_t>(begins.size());
  begins.push_back(corners.size());
  std::atomic<std::int64_t> next = 0;
  std::mutex telling;
  std::int64_t done = 0;
  on_threads(
      static_cast<int>(std::min<std::int64_t>(threads, shards)),
      [&](int) {
        Scratch scratch;
        for (std::int64_t k = next++; k < shards; k = next++) {
          const auto at = static_cast<std::size_t>(k);
          answers.add_shard(std::span(corners).subspan(begins[at], begins[at + 1] - begins[at]), scratch);
          const std::lock_guard lock(telling);
          shard_done(++done, shards);
        }
      },
      [&] { next = shards; });
}

}  // namespace areal::chunked
