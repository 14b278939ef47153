#pragma once
// Filters of parts. The plan is of the whole image, and a part says which rows it has: positions of floats, edges and
// thresholds are those of the whole image.

#include <areal/filter.hpp>
#include "pieces/core/work.hpp"

namespace areal::pieces {

class FilterWork final : public Work {
 public:
  /// Throws InvalidArgument for a filter that needs the whole image, and for another backend than the CPU; and as
  /// FilterPlan.
  FilterWork(const Shape& image, Type in, Type out, const Filter& filter, const FilterOptions& options,
             const Execution& execution);

  std::size_t workspace_bytes(std::int64_t width, std::int64_t rows) const override;
  std::unique_ptr<Step> plan(std::int64_t width, std::int64_t rows, Stream stream) const override;
  /// Of the whole image.
  const FilterPlan& whole() const noexcept { return whole_; }

 private:
  FilterPlan whole_;
};

}  // namespace areal::pieces
