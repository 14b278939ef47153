#pragma once
// Where plans of tables are kept.

#include <areal/sat.hpp>
#include <memory>
#include <mutex>
#include <vector>
#include "options.hpp"
#include "planned.hpp"

namespace areal::python {

using PlannedSat = Planned<SatPlan>;
using TakenSlot = PlannedSat::Taken;

/// Where the plan for an image is found.
class PlanSource {
 public:
  virtual std::shared_ptr<PlannedSat> get(const Shape& image, Type input, Layout tables, bool volume) = 0;
  const Options& options() const noexcept { return options_; }

 protected:
  explicit PlanSource(const Options& options) : options_(options) {}  // which must stay
  ~PlanSource() = default;
  std::shared_ptr<PlannedSat> make(const Shape& image, Type input, Layout tables, bool volume) const;
  const Options& options_;
};

/// The plans of the last 64 kinds of calls of the one-line form.
class RecentPlans final : public PlanSource {
 public:
  explicit RecentPlans(const Options& options) : PlanSource(options) {}
  std::shared_ptr<PlannedSat> get(const Shape& image, Type input, Layout tables, bool volume) override;
};

/// The plans of one SatPlan of Python: one for each order in which its arrays lie in memory.
class OwnPlans final : public PlanSource {
 public:
  explicit OwnPlans(const Options& options) : PlanSource(options) {}
  std::shared_ptr<PlannedSat> get(const Shape& image, Type input, Layout tables, bool volume) override;

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<PlannedSat>> plans_;
};

}  // namespace areal::python
