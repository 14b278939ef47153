#pragma once
// Windows of parts: a part is an image by itself with the rows around it that its windows see. Where it ends inside the
// whole image, no window of its own rows looks beyond.

#include <areal/sat.hpp>
#include <areal/strips.hpp>
#include "api/core/window_axes.hpp"
#include "pieces/core/work.hpp"

namespace areal::pieces {

/// The rows around a part that windows of its rows see. `twice`: each pixel sees all the windows that hold it, as in
/// guided filters.
Halo halo_of(const formulas::WindowAxis& rows, bool twice = false);

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
