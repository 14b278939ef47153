#pragma once
// Tables of parts by a SatPlan.

#include <areal/sat.hpp>
#include "pieces/core/work.hpp"

namespace areal::pieces {

/// Options for a plan of the whole image, which gives shapes and types and never executes.
inline SatOptions of_whole(SatOptions options) {
  options.algorithm = "auto", options.progress = {};
  return options;
}

/// The sum, then squares and counts as far as the options ask for them.
class TableWork final : public Work {
 public:
  /// What becomes of a part's tables: they leave, with what lies above in them, or begin at the part and stay.
  enum class Tables { leave, stay };
  /// Parts of images of that width, channels and layout. The options' border is `zero` or `none`, and their types are
  /// given.
  /// Throws as SatPlan.
  TableWork(const Shape& image, Type type, const SatOptions& options, const Execution& execution, Tables tables);

  std::size_t workspace_bytes(std::int64_t width, std::int64_t height) const override;
  std::unique_ptr<Step> plan(std::int64_t width, std::int64_t height, Stream stream) const override;

 private:
  SatPlan plan_of(std::int64_t width, std::int64_t height) const;

  Shape image_;
  Type type_;
  SatOptions options_;
};

}  // namespace areal::pieces
