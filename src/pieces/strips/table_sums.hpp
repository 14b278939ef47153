#pragma once
// Sums of regions of strips by tables: a strip's own table, whose sums begin at its first row; at an event, what it has
// between the region's columns and what all strips above have there. What is above is kept in 64 bits.

#include <areal/region.hpp>
#include <cstdint>
#include <vector>
#include "pieces/core/piece_lane.hpp"
#include "pieces/strips/region_events.hpp"

namespace areal::pieces {

/// Sums modulo 2^64, or in 64f.
struct Sums {
  std::vector<std::uint64_t> integer;
  std::vector<double> real;

  Sums() = default;
  Sums(bool is_real, std::size_t n) : integer(is_real ? 0 : n), real(is_real ? n : 0) {}
};

class TableSums {
 public:
  /// Events and work must stay. The work's tables begin at each strip and stay.
  TableSums(const RegionEvents& events, std::int64_t width, const Work& work);

  void restart();
  /// The next strip, whose tables are computed.
  void add(const Part& strip, PieceLane& lane);
  std::size_t tables() const noexcept { return tables_.size(); }
  Type type(std::size_t t) const noexcept { return tables_[t].type; }
  /// Of table t, regions x channels, once all strips were added.
  const Sums& answers(std::size_t t) const noexcept { return tables_[t].answers; }

 private:
  struct Table {
    Type type;
    Sums above;    // of each channel W + 1: all strips above, from column 0 on
    Sums answers;  // regions x channels
  };
  template <class Local, class T>
  void pick_as(const SatView& strip, std::size_t last, const QueryOptions& query, std::vector<Local>& sums,
               const std::vector<T>& above, std::vector<T>& answers);
  void pick(Table& table, const ConstView& view, std::size_t last, Stream stream);

  const RegionEvents& events_;
  const Work& work_;
  std::size_t channels_, columns_;
  std::vector<Table> tables_;
  std::size_t next_ = 0;  // event
  // Of some events, in the strip.
  std::vector<Region> local_;
  std::vector<std::uint64_t> integers_;
  std::vector<std::int64_t> signed_integers_;
  std::vector<double> reals_;
};

}  // namespace areal::pieces
