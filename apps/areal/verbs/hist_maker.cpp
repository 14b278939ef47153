#include "hist_maker.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <chrono>

namespace areal::command {

std::int64_t area_of(std::span<const Region> regions, const Shape& image) {
  double pixels = 0;
  for (const Region& region : regions) {
    const auto side = [](std::int64_t size, std::int64_t most) {
      return static_cast<double>(std::clamp<std::int64_t>(size, 0, most));
    };
    pixels += side(region.width, image.width) * side(region.height, image.height);
  }
  return static_cast<std::int64_t>(std::min(pixels, 9e18));
}

std::uint64_t elements_of_histograms(std::size_t histograms, std::int64_t bins) {
  const std::uint64_t free = free_memory();
  std::uint64_t elements = 0, bytes = 0;
  if (__builtin_mul_overflow(histograms, static_cast<std::uint64_t>(bins), &elements) ||
      __builtin_mul_overflow(elements, sizeof(std::uint64_t), &bytes) || bytes > free)
    throw OutOfMemory(fmt::format("{} histograms of {} bins do not fit: {} bytes are free", histograms, bins, free),
                      bytes);
  return elements;
}

void HistogramMaker::make(const ConstView& image, const ConstView& weights, const Binning& binning,
                          std::span<const Region> regions, const Settings& settings) {
  const bool same = (plan_ || store_plan_) && shape_ == image.shape && type_ == image.type;
  if (!same) plan_for(image, binning, regions, settings);
  const auto start = std::chrono::steady_clock::now();
  if (store_plan_)
    store_plan_->build({.image = image, .weights = weights}, stored_);
  else
    plan_->execute(image, tensor_, *workspace_, weights);
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void HistogramMaker::plan_for(const ConstView& image, const Binning& binning, std::span<const Region> regions,
                              const Settings& settings) {
  shape_ = image.shape, type_ = image.type, bins_ = binning.bins();
  workspace_.reset();  // free the memory before allocating again
  tensor_ = HistogramTensor();
  stored_ = HistogramStore();
  store_plan_.reset();
  if (store_ != Store::tensor) {
    StoreOptions options;
    options.store = store_;
    options.regions = static_cast<std::int64_t>(regions.size());
    options.area = area_of(regions, image.shape);
    options.weighted = options_.weighted;
    options.memory_limit = options_.memory_limit;
    store_plan_.emplace(image.shape, image.type, binning, options, settings.execution());
    if (!reported_) settings.detail("{}", store_plan_->reason());
    reported_ = true;
    return;
  }
  plan_.emplace(
      research::histogram_plan(image.shape, image.type, binning, options_, parameters_, settings.execution()));
  settings.detail("store tensor: backend {}, algorithm {} ({}), {} bytes", name_of(plan_->backend()),
                  plan_->algorithm(), plan_->reason(), plan_->tensor_bytes());
  tensor_ = plan_->allocate(MemoryPlace{});
  workspace_.emplace(*plan_);
}

template <class T>
std::vector<T> HistogramMaker::histograms(std::span<const Region> regions, const QueryOptions& query) const {
  elements_of_histograms(regions.size(), bins_);
  return store_plan_ ? region_histograms<T>(stored_, regions, query) : region_histograms<T>(tensor_, regions, query);
}

template std::vector<std::uint64_t> HistogramMaker::histograms(std::span<const Region>, const QueryOptions&) const;
template std::vector<double> HistogramMaker::histograms(std::span<const Region>, const QueryOptions&) const;

}  // namespace areal::command
