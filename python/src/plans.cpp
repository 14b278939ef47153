#include "plans.hpp"

#include <cstdint>
#include <list>
#include <utility>

namespace areal::python {

std::shared_ptr<PlannedSat> PlanSource::make(const Shape& image, Type input, Layout tables, bool volume) const {
  return std::make_shared<PlannedSat>(image, input, options_.of(input, tables, volume), options_.execution);
}

namespace {

/// The most recent first.
struct Kept {
  static constexpr std::size_t most = 64;
  struct Known {
    std::uint64_t options;
    Type input;
    Layout tables;
    bool volume;
    std::shared_ptr<PlannedSat> planned;
  };
  std::mutex mutex;
  std::list<Known> known;
};

Kept& kept() {
  static auto& all = *new Kept;  // never destroyed: threads may still execute while the process ends
  return all;
}

}  // namespace

std::shared_ptr<PlannedSat> RecentPlans::get(const Shape& image, Type input, Layout tables, bool volume) {
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  for (auto at = all.known.begin(); at != all.known.end(); ++at)
    if (at->options == options_.number && at->input == input && at->tables == tables && at->volume == volume &&
        at->planned->plan.image_shape() == image) {
      if (at != all.known.begin()) all.known.splice(all.known.begin(), all.known, at);
      return at->planned;
    }
  auto planned = make(image, input, tables, volume);
  all.known.push_front({options_.number, input, tables, volume, planned});
  if (all.known.size() > Kept::most) all.known.pop_back();
  return planned;
}

std::shared_ptr<PlannedSat> OwnPlans::get(const Shape& image, Type input, Layout tables, bool volume) {
  const std::lock_guard lock(mutex_);
  for (const auto& planned : plans_)
    if (planned->plan.image_shape() == image && planned->plan.types().input == input &&
        planned->plan.options().tables == tables)
      return planned;
  plans_.push_back(make(image, input, tables, volume));
  return plans_.back();
}

}  // namespace areal::python
