#pragma once
// Windows of a size per pixel, from a table of one plane at a time: the sums of all pixels left of and above each
// entry. Four entries answer any window. Writes 1 entry of 8 to 48 bytes per pixel, reads 4.

#include <areal/filter.hpp>
#include <cstddef>
#include <cstdint>
#include "cpu/filter/request.hpp"
#include "cpu/filter/walk_rows.hpp"

namespace areal::cpu {

class Sized {
 public:
  /// A checked request with sizes.
  explicit Sized(const FilterRequest& request);

  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// Checked views. The workspace may hold anything.
  void execute(const FilterArguments& arguments, void* workspace) const;

 private:
  template <class T, class Cell>
  class Plane;

  /// f.operator()<T, Cell>() for the type of pixels and the entries that the request needs.
  template <class F>
  void with_cell(const F& f) const;

  FilterRequest request_;
  Finish finish_;
  std::size_t table_bytes_ = 0, workspace_bytes_ = 0;
  struct {
    std::size_t count = 0, sum = 0, squares = 0, numerator = 0, pixels = 0, values = 0, out = 0, bytes = 0;
  } layout_;  ///< of a thread
};

}  // namespace areal::cpu
