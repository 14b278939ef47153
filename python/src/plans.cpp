#include "plans.hpp"

#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <utility>

namespace areal::python {
namespace {

/// Tables below this are done before anyone could press Ctrl-C.
constexpr std::uint64_t long_bytes = 64 << 20;

SatPlan stoppable_plan(const SatPlan& plan, Interrupt& interrupt) {
  SatOptions options = plan.options();
  options.algorithm = plan.algorithm();
  options.progress = [&interrupt](std::int64_t, std::int64_t) { return interrupt.go_on(); };
  return SatPlan(plan.image_shape(), plan.types().input, options, plan.execution());
}

}  // namespace

PlannedSat::PlannedSat(const Shape& shape, Type type, const SatOptions& options, const Execution& execution)
    : plan(shape, type, options, execution),
      origin(std::make_shared<Origin>(Origin{plan.algorithm(), plan.reason(), std::string(name_of(plan.backend()))})),
      stoppable(plan.backend() == Backend::cpu && plan.table_bytes() >= long_bytes) {}

PlannedSat::Slot::Slot(const PlannedSat& of)
    : plan(of.stoppable ? stoppable_plan(of.plan, interrupt) : of.plan), workspace(plan), stoppable(of.stoppable) {}

std::unique_ptr<PlannedSat::Slot> PlannedSat::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto slot = std::move(free_.back());
      free_.pop_back();
      return slot;
    }
  }
  return std::make_unique<Slot>(*this);
}

void PlannedSat::give_back(std::unique_ptr<Slot> slot) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(slot));
}

void TakenSlot::execute(const SatArguments& arguments) {
  require_usable(slot_->plan.backend());
  if (slot_->stoppable) slot_->interrupt.begin();
  try {
    const nb::gil_scoped_release released;
    slot_->plan.execute(arguments, slot_->workspace);
  } catch (const Cancelled&) {
    if (slot_->interrupt.raised()) throw nb::python_error();
    throw;
  }
}

namespace {

/// The most recent first.
class Kept {
 public:
  std::shared_ptr<PlannedSat> get(const Shape& image, Type input, Layout tables, bool volume, const Options& options) {
    const std::lock_guard lock(mutex_);
    for (auto at = known_.begin(); at != known_.end(); ++at)
      if (at->options == options.number && at->input == input && at->tables == tables && at->volume == volume &&
          at->planned->plan.image_shape() == image) {
        if (at != known_.begin()) known_.splice(known_.begin(), known_, at);
        return at->planned;
      }
    auto planned = std::make_shared<PlannedSat>(image, input, options.of(input, tables, volume), options.execution);
    known_.push_front({options.number, input, tables, volume, planned});
    if (known_.size() > most) known_.pop_back();
    return planned;
  }

 private:
  static constexpr std::size_t most = 64;
  struct Known {
    std::uint64_t options;
    Type input;
    Layout tables;
    bool volume;
    std::shared_ptr<PlannedSat> planned;
  };
  std::mutex mutex_;
  std::list<Known> known_;
};

Kept& kept() {
  static auto& all = *new Kept;  // never destroyed: threads may still execute while the process ends
  return all;
}

}  // namespace

std::shared_ptr<PlannedSat> RecentPlans::get(const Shape& image, Type input, Layout tables, bool volume) {
  return kept().get(image, input, tables, volume, options_);
}

std::shared_ptr<PlannedSat> OwnPlans::get(const Shape& image, Type input, Layout tables, bool volume) {
  const std::lock_guard lock(mutex_);
  for (const auto& planned : plans_)
    if (planned->plan.image_shape() == image && planned->plan.types().input == input &&
        planned->plan.options().tables == tables)
      return planned;
  plans_.push_back(std::make_shared<PlannedSat>(image, input, options_.of(input, tables, volume), options_.execution));
  return plans_.back();
}

}  // namespace areal::python
