#pragma once
// Windows of parts: a part is an image by itself with the rows around it that its windows see. Where it ends inside the
// whole image, no window of its own rows looks beyond.

#include <areal/sat.hpp>
#include <areal/strips.hpp>
#include "pieces/core/work.hpp"

namespace areal::pieces {

/// One output for each statistic. The tables are computed where the caller's execution says, from host memory, and the
/// windows by the CPU.
class WindowWork final : public Work {
 public:
  /// Throws InvalidArgument for what windows refuse, and as SatPlan.
  WindowWork(const Shape& image, Type type, const Window& window, const StripWindowsOptions& options,
             const Execution& execution);

  std::size_t workspace_bytes(std::int64_t width, std::int64_t rows) const override;
  std::unique_ptr<Step> plan(std::int64_t width, std::int64_t rows, Stream stream) const override;
  /// Of the tables of such a part.
  SatPlan plan_of(std::int64_t width, std::int64_t rows) const;
  /// A window with edge `wrap` that is higher than the image sees rows of all copies of it.
  bool needs_the_whole() const noexcept { return window_.edge == Edge::wrap && window_.height > image_.height; }

 private:
  void refuse_invalid(const StripWindowsOptions& options) const;

  Shape image_;
  Type type_;
  Window window_;
  std::vector<WindowStatistic> statistics_;
  SatOptions tables_;
  Execution where_;  // of the tables
};

}  // namespace areal::pieces
