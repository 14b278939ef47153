#include "hist_maker.hpp"

#include <areal/error.hpp>
#include <areal/info.hpp>
#include <chrono>
#include <set>

namespace areal::command {
namespace {

// Rows of the image at which regions begin or end: each costs bins x width of copying when streamed.
std::size_t distinct_rows(std::span<const Region> regions) {
  std::set<std::int64_t> rows;
  for (const Region& region : regions) {
    rows.insert(region.y);
    std::int64_t end = 0;
    if (!__builtin_add_overflow(region.y, region.height, &end)) rows.insert(end);
  }
  return rows.size();
}

}  // namespace

std::uint64_t elements_of_histograms(std::size_t histograms, std::int64_t bins) {
  const std::uint64_t free = free_memory();
  std::uint64_t elements = 0, bytes = 0;
  if (__builtin_mul_overflow(histograms, static_cast<std::uint64_t>(bins), &elements) ||
      __builtin_mul_overflow(elements, sizeof(std::uint64_t), &bytes) || bytes > free)
    throw OutOfMemory(fmt::format("{} histograms of {} bins do not fit: {} bytes are free", histograms, bins, free),
                      bytes);
  return elements;
}

bool HistogramMaker::wants_tensor(std::span<const Region> regions, const Settings& settings) const {
  if (needs_tensor_) return true;
  const auto rows = static_cast<std::int64_t>(distinct_rows(regions));
  const std::int64_t height = plan_->tensor_shape().height;
  // The tensor writes bins x width values for every row, streaming only for rows that a region touches. All threads
  // write the tensor with SIMD, hence the half.
  bool tensor = rows > height / 2;
  const char* why = tensor ? "regions touch most rows" : "regions touch few rows";
  if (tensor) {
    try {
      plan_->require_fit();
    } catch (const OutOfMemory&) {
      tensor = false;
      why = "the tensor does not fit";
    }
  }
  if (!reported_)
    settings.detail("{} regions, {} distinct rows of {}: {} ({})", regions.size(), rows, height,
                    tensor ? "answered from the tensor" : "streamed from the image", why);
  return tensor;
}

void HistogramMaker::make(const ConstView& image, const ConstView& weights, const Binning& binning,
                          std::span<const Region> regions, const Settings& settings) {
  const bool same = plan_ && image_.shape == image.shape && image_.type == image.type;
  image_ = image;
  weights_ = weights;
  if (!same) plan_for(image, binning, regions, settings);
  if (!workspace_) return;
  const auto start = std::chrono::steady_clock::now();
  plan_->execute(image, tensor_, *workspace_, weights);
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void HistogramMaker::plan_for(const ConstView& image, const Binning& binning, std::span<const Region> regions,
                              const Settings& settings) {
  binning_ = binning;
  workspace_.reset();  // free its memory before allocating again
  tensor_ = HistogramTensor();
  plan_.emplace(
      research::histogram_plan(image.shape, image.type, binning, options_, parameters_, settings.execution()));
  const bool tensor = wants_tensor(regions, settings);
  reported_ = true;
  if (!tensor) return;
  settings.detail("backend {}, algorithm {} ({}), tensor of {} bytes", name_of(plan_->backend()), plan_->algorithm(),
                  plan_->reason(), plan_->tensor_bytes());
  tensor_ = plan_->allocate(MemoryPlace{});
  workspace_.emplace(*plan_);
}

template <class T>
std::vector<T> HistogramMaker::histograms(std::span<const Region> regions, const QueryOptions& query) const {
  elements_of_histograms(regions.size(), binning_->bins());
  if (workspace_) return region_histograms<T>(tensor_, regions, query);
  if constexpr (std::is_same_v<T, double>)
    return region_histograms(image_, *binning_, weights_, regions, query);
  else
    return region_histograms(image_, *binning_, regions, query);
}

template std::vector<std::uint64_t> HistogramMaker::histograms(std::span<const Region>, const QueryOptions&) const;
template std::vector<double> HistogramMaker::histograms(std::span<const Region>, const QueryOptions&) const;

}  // namespace areal::command
