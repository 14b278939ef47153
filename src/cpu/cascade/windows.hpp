#pragma once
// The windows of one row of positions that pass all stages of a cascade.

#include <cstdint>
#include <memory>
#include <vector>
#include "cpu/cascade/model.hpp"

namespace areal::cpu {

/// Where the entries of a level's tables lie: row after row, each with the sums, then the tilted sums and the squares
/// where the cascade reads them. With step 2 the even columns of a table's row come before the odd ones, so that
/// neighbouring positions read neighbouring entries.
struct CascadeLayout {
  CascadeLayout(const CascadeModel& model, std::int64_t columns, int step);

  int step = 1, tables = 1;
  std::int64_t half = 0;   ///< entries between column x and x + 1, x even, with step 2
  std::int64_t table = 0;  ///< between the tables of a row
  std::int64_t row = 0;    ///< between rows
  std::int64_t tilted = 0, squares = 0;

  /// Entries beyond the last row that vectors of positions may read.
  static constexpr std::int64_t padding = 64;

  std::int64_t column(std::int64_t x) const { return step == 1 ? x : x / 2 + (x % 2 == 0 ? 0 : half); }
  /// Copies a table's row of `columns` entries to its place.
  void place(const std::uint32_t* from, std::int64_t columns, std::uint32_t* to) const;
};

/// A cascade with the entries that its features read in a layout.
class CascadeWindows {
 public:
  CascadeWindows(const CascadeModel& model, const CascadeLayout& layout);
  ~CascadeWindows();
  CascadeWindows(const CascadeWindows&) = delete;
  CascadeWindows& operator=(const CascadeWindows&) = delete;

  struct Nodes;
  /// For one thread.
  struct Scratch {
    std::vector<float> scale;
    std::vector<std::uint64_t> failed, passed;  // bits of positions
    std::vector<std::int32_t> at;
  };
  /// Appends the numbers of the positions that pass. `tables`: the entry of the first position; position i is column
  /// i * step. A position that fails the first stage hides the next one.
  void row(const std::uint32_t* tables, std::int64_t positions, Scratch& scratch,
           std::vector<std::int64_t>& passed) const;

 private:
  std::unique_ptr<const Nodes> nodes_;
};

}  // namespace areal::cpu
