#pragma once
// Strips whose sums are picked up panel by panel: a step makes no table.

#include <areal/execution.hpp>
#include <memory>
#include "pieces/core/work.hpp"
#include "pieces/strips/panel_sums.hpp"

namespace areal::pieces {

class PanelWork final : public Work {
 public:
  /// The panels must stay; `execution` is the CPU's.
  PanelWork(PanelSums& panels, const Shape& image, Type type, const Execution& execution) : panels_(panels) {
    execution_ = execution;
    form_.inputs.push_back({type, image.channels, image.layout});
    // Of 16, 32, 64 and 128 MiB the fastest, and as fast for every width: threads wait for each other less often, and
    // L3 holds it.
    form_.usual_bytes = std::uint64_t{32} << 20;
  }

  std::size_t workspace_bytes(std::int64_t, std::int64_t height) const override {
    return panels_.workspace_bytes(height);
  }
  std::unique_ptr<Step> plan(std::int64_t, std::int64_t, Stream) const override {
    return std::make_unique<PanelStep>(panels_);
  }

 private:
  class PanelStep final : public Step {
   public:
    explicit PanelStep(PanelSums& panels) : panels_(panels) {}
    void execute(const Views& views) override { panels_.add(views.inputs[0]); }

   private:
    PanelSums& panels_;
  };

  PanelSums& panels_;
};

}  // namespace areal::pieces
