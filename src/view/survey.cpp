#include "view/survey.hpp"

#include <areal/region_histogram.hpp>

namespace areal::view {
namespace {

StorePlan plan_of(const Shape& channel, Type type, const Counting& counting, int threads) {
  return {channel, type, counting.counted(), {.store = Store::compact}, {.backend = Backend::cpu, .threads = threads}};
}

}  // namespace

std::uint64_t Survey::store_bytes(const Extent& full, Type type, std::int64_t bins) {
  return plan_of({full.width, full.height}, type, Counting(type, bins, {0, 1}), 1).bytes();
}

Survey::Survey(const ConstView& channel, std::int64_t bins, std::pair<double, double> range, int threads)
    : channel_(channel), execution_{.backend = Backend::cpu, .threads = threads}, counting_(channel.type, bins, range) {
  if (!counting_.is_bytes()) cells_.emplace(channel, range);
}

std::uint64_t Survey::make(std::uint64_t memory, int threads) {
  if (cells_) cells_->fill();
  const StorePlan plan = plan_of(channel_.shape, channel_.type, counting_, threads);
  if (plan.bytes() > memory) return 0;
  store_ = plan.build({channel_});
  has_store_ = true;
  return store_.bytes();
}

std::vector<std::uint64_t> Survey::counts(const Region& region) const {
  if (has_store_) return region_histograms(store_.view(), Span<const Region>(&region, 1), {.execution = execution_});
  const Region whole{0, 0, region.width, region.height};
  return region_histograms(part_of(channel_, region), counting_.counted(), Span<const Region>(&whole, 1),
                           {.execution = execution_});
}

Answer Survey::answer(const Region& region) const {
  checked_region(region, 0, channel_.shape.width, channel_.shape.height);
  return counting_.answer(counts(region), cells_ ? cells_->of(region) : Moments());
}

}  // namespace areal::view
