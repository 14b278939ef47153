#pragma once
// Plans with their workspaces, and where they are kept.

#include <areal/sat.hpp>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>
#include "options.hpp"
#include "process.hpp"

namespace areal::python {

/// What a table says of how it was made.
struct Origin {
  std::string algorithm, reason, backend;
};

/// A plan with workspaces for as many threads as use it at once. Take and give back with the GIL, so that no lock is
/// held when the process forks.
class PlannedSat {
 public:
  PlannedSat(const Shape& shape, Type type, const SatOptions& options, const Execution& execution);

  /// What one execute needs.
  struct Slot {
    explicit Slot(const PlannedSat& of);
    Interrupt interrupt;
    SatPlan plan;  ///< the plan, or an equal one that Ctrl-C can stop
    Workspace workspace;
    bool stoppable;
  };
  std::unique_ptr<Slot> take();
  void give_back(std::unique_ptr<Slot> slot);

  const SatPlan plan;
  const std::shared_ptr<const Origin> origin;
  const bool stoppable;

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Slot>> free_;
};

/// A slot for one execute; given back to the pool at the end. Make and destroy with the GIL.
class TakenSlot {
 public:
  explicit TakenSlot(PlannedSat& of) : of_(of), slot_(of.take()) {}
  ~TakenSlot() { of_.give_back(std::move(slot_)); }
  TakenSlot(const TakenSlot&) = delete;
  TakenSlot& operator=(const TakenSlot&) = delete;
  /// Releases the GIL. Throws what the plan's execute throws, and KeyboardInterrupt where Ctrl-C stopped it.
  void execute(const SatArguments& arguments);

 private:
  PlannedSat& of_;
  std::unique_ptr<PlannedSat::Slot> slot_;
};

/// Where the plan for an image is found.
class PlanSource {
 public:
  virtual std::shared_ptr<PlannedSat> get(const Shape& image, Type input, Layout tables, bool volume) = 0;
  const Options& options() const noexcept { return options_; }

 protected:
  explicit PlanSource(const Options& options) : options_(options) {}  // which must stay
  ~PlanSource() = default;
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
