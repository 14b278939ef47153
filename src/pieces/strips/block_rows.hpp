#pragma once
// Blocks that come by themselves, strips or tiles of a grid, become rows from the top down. What is missing, repeated
// or out of place is refused, and what came before stands.

#include <areal/array.hpp>
#include <functional>
#include <vector>
#include "pieces/core/work.hpp"

namespace areal::pieces {

class BlockRows {
 public:
  /// `inputs`: the image, then what comes with it, as a mask, whose name `second` is.
  BlockRows(const Shape& image, std::vector<Rows> inputs, const char* second, std::int64_t tile_width,
            std::int64_t tile_height);

  /// use(views) is called with rows that follow each other, of every input; it returns false to end.
  using Use = std::function<bool(const std::vector<ConstView>& rows)>;
  /// What `use` returned last, or true. Throws InvalidArgument for a block that cannot be the next.
  bool push(std::int64_t x, std::int64_t y, const ConstView& block, const ConstView& second, const Use& use);
  /// Throws InvalidArgument where rows or tiles are missing.
  void require_all() const;

 private:
  void check_inputs(const ConstView& block, const ConstView& second, const Shape& extent) const;
  void check_strip(std::int64_t y, std::int64_t rows) const;
  void check_tile(std::int64_t x, std::int64_t y) const;
  void require_no_tiles(std::int64_t y) const;
  std::int64_t tile_rows() const { return std::min(tile_height_, image_.height - next_); }

  Shape image_;
  std::vector<Rows> inputs_;
  const char* second_;
  std::int64_t tile_width_, tile_height_;
  std::int64_t next_ = 0;     // the row that is awaited
  std::vector<Array> tiles_;  // a row of tiles, of every input
  std::vector<bool> came_;    // of these, which tiles
  std::int64_t missing_ = 0;  // of these, how many
};

}  // namespace areal::pieces
