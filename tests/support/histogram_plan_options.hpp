#pragma once
// All parameters of a HistogramPlan in one place: options, execution and the papers' parameters. On the CPU unless
// another backend is named. And its executes, in a workspace that stages host memory where the plan runs elsewhere.

#include <areal/research/histogram.hpp>

namespace areal {

struct HistogramPlanOptions : HistogramOptions {
  Backend backend = Backend::cpu;
  int device = 0;
  int threads = 0;
  int tile = 32;
  int tile_threads = 0;
  LaunchReport on_launch = {};
};

inline HistogramPlan plan_of(const Shape& image, Type type, const Binning& binning,
                             const HistogramPlanOptions& asked = {}) {
  return research::histogram_plan(image, type, binning, asked, {asked.tile, asked.tile_threads, asked.on_launch},
                                  {.backend = asked.backend, .device = asked.device, .threads = asked.threads});
}

/// A plan and a workspace of its own.
struct ReadyHistogram {
  explicit ReadyHistogram(const HistogramPlan& plan_) : plan(plan_), workspace(plan) {}
  void execute(const HistogramArguments& arguments) { plan.execute(arguments, workspace); }

  HistogramPlan plan;
  Workspace workspace;
};

}  // namespace areal
