#pragma once
// One row of shards: blocks of pixels become tiles, tiles become shards, and their edges the carries.

#include <areal/chunked_table.hpp>
#include <areal/sat.hpp>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>
#include "chunked/format.hpp"
#include "chunked/object.hpp"
#include "chunked/write_plan.hpp"

namespace areal::chunked {

/// Plans for the tables of a whole tile, and of those cut off at the image's right and lower edge.
class TilePlans {
 public:
  explicit TilePlans(const Format& format);
  /// 0: whole; + 1 narrow, + 2 low.
  std::size_t number(std::int64_t width, std::int64_t height) const {
    return (width == format_.tile ? 0u : 1u) + (height == format_.tile ? 0u : 2u);
  }
  const SatPlan& plan(std::size_t number) const { return *plans_[number]; }

 private:
  const Format& format_;
  std::array<std::optional<SatPlan>, 4> plans_;
};

class ShardRow {
 public:
  /// `block_done` is called after each block, by one thread at a time, and may throw.
  ShardRow(const fs::path& folder, const Format& format, const WritePlan& plan, const TilePlans& plans,
           const ImageReader& read, const std::function<void()>& block_done);

  /// Writes row `row` of shards and the carries of its tiles. `top` is the row of the whole table above it on entry,
  /// and below it on return.
  void write(std::int64_t row, std::vector<std::uint64_t>& top);

 private:
  struct Block {
    std::int64_t shard = 0, x = 0, y = 0, width = 0, height = 0;  // pixels, in the image
  };
  struct Worker;

  bool take(Worker& worker);
  void compute(Worker& worker);
  void block_ended(const Block& block);
  void publish(std::int64_t shard);
  void write_carries(std::vector<std::uint64_t>& top);
  ObjectWriter& shard_object(std::int64_t shard);
  std::int64_t tile_columns_of(std::int64_t shard) const;
  std::int64_t blocks_of(std::int64_t shard) const;

  const fs::path& folder_;
  const Format& format_;
  const WritePlan& plan_;
  const TilePlans& plans_;
  const ImageReader& read_;
  const std::function<void()>& block_done_;

  std::int64_t row_ = 0, first_y_ = 0, end_y_ = 0, tile_rows_ = 0;  // of this row of shards
  std::vector<std::uint32_t> bottom_;                               // [tile row][x]: the last rows of the tiles
  std::vector<std::uint32_t> right_;                                // [tile row][tile column][y]: their last columns
  std::mutex reading_;                                              // guards what follows
  std::int64_t next_shard_ = 0, next_block_ = 0;
  bool stopped_ = false;
  std::mutex state_;  // guards what follows
  std::vector<std::optional<ObjectWriter>> objects_;
  std::vector<std::int64_t> blocks_left_;
  std::int64_t published_ = 0;
};

}  // namespace areal::chunked
