#include "pieces/strips/region_events.hpp"
#include <algorithm>
#include "api/core/require.hpp"

namespace areal::pieces {

RegionEvents::RegionEvents(Span<const Region> regions, std::int64_t width, std::int64_t height, Outside outside) {
  require(regions.memory().is_host(), "regions: they lie on CUDA device ", regions.memory().device,
          ", they must be in host memory");
  require(regions.size() < std::size_t{1} << 31, regions.size(), " regions: strips answer fewer than 2^31 at a time");
  regions_.reserve(regions.size());
  std::size_t events = 0;
  for (const Region& region : regions) {
    const auto index = static_cast<std::int64_t>(regions_.size());
    regions_.push_back(checked_region(region, index, width, height, outside));
    const Region& inside = regions_.back();
    if (inside.width > 0 && inside.height > 0) events += inside.y > 0 ? 2 : 1;
  }
  order_.reserve(events);
  for (std::uint32_t i = 0; i < regions_.size(); ++i) {
    const Region& region = regions_[i];
    if (region.width == 0 || region.height == 0) continue;
    if (region.y > 0) order_.push_back(2 * i);
    order_.push_back(2 * i + 1);
  }
  std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
    const std::int64_t row_a = of(a).row, row_b = of(b).row;
    if (row_a != row_b) return row_a < row_b;
    const std::int64_t x_a = regions_[a / 2].x, x_b = regions_[b / 2].x;
    return x_a != x_b ? x_a < x_b : a < b;
  });
}

}  // namespace areal::pieces
