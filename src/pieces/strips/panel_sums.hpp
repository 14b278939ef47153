#pragma once
// Sums of regions of strips on the host, by panels: some columns of a strip. A panel's table has a few of its rows at a
// time, begins at their first row and the panel's first column, stays in a core's cache and fits 32 bits. Threads take
// panels in any order; what lies to their left is added to the corners afterwards. So time hardly depends on the
// image's width.

#include <areal/execution.hpp>
#include <areal/view.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>
#include "pieces/strips/region_events.hpp"

namespace areal::pieces {

/// The extents of a panel's table.
struct PanelShape {
  std::int64_t width = 1, rows = 1;
};

class PanelSums {
 public:
  /// Pixels of one channel and 8 or 16 bits.
  static bool takes(const Shape& image, Type type) noexcept;
  /// Events and their regions must stay. `threads` as Execution's.
  PanelSums(const Shape& image, Type type, int threads, const RegionEvents& events);
  ~PanelSums();
  PanelSums(const PanelSums&) = delete;
  PanelSums& operator=(const PanelSums&) = delete;

  const PanelShape& panel() const noexcept { return panel_; }
  /// What strips of so many rows take beside their pixels and 8 bytes a column.
  std::size_t workspace_bytes(std::int64_t rows) const;
  void restart();
  /// The rows that follow, of full width.
  void add(const ConstView& rows);
  /// Of each region, modulo 2^64, once all rows were added.
  const std::vector<std::uint64_t>& answers() const noexcept { return answers_; }

 private:
  struct Scratch;
  /// The events of a strip by the panels of their corners, from the top down; keys[first[p]] on are those of panel p.
  struct Side {
    std::vector<std::uint32_t> keys;
    std::vector<std::size_t> first;
  };
  std::int64_t panels() const noexcept;
  std::int64_t columns_of(std::int64_t panel) const noexcept;
  void compute_all(const ConstView& rows);
  void add_left_parts(std::int64_t height);
  template <bool Right>
  void gather(Side& side, std::size_t last) const;
  template <class Entry>
  void compute(Scratch& scratch, std::int64_t panel, const ConstView& rows);
  template <class Entry, bool Right>
  void pick(const Side& side, std::int64_t panel, std::size_t& next, std::int64_t top, const View& table);
  template <bool Right>
  void add_left(const Side& side, std::int64_t panel);

  const Shape image_;
  const Type type_, entry_;
  const int threads_;
  const RegionEvents& events_;
  PanelShape panel_;
  std::vector<std::uint64_t> answers_;
  std::vector<std::uint64_t> above_;  // of each column: the sums of all rows above, from its panel's first column on
  std::vector<std::uint64_t> ends_;   // panels x (rows + 1): what a panel adds to all right of it
  std::vector<std::uint64_t> left_;   // rows + 1: what lies left of a panel
  Side lefts_, rights_;
  std::vector<std::unique_ptr<Scratch>> scratch_;
  std::int64_t y_ = 0;
  std::size_t next_ = 0;  // event
};

}  // namespace areal::pieces
