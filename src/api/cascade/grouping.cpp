#include "api/cascade/grouping.hpp"
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

namespace areal {
namespace {

constexpr double part = 0.2;  // of a window's size by which windows of a group may differ

bool are_similar(const Detection& a, const Detection& b) {
  const double most = part * static_cast<double>(std::min(a.width, b.width) + std::min(a.height, b.height)) * 0.5;
  const auto within = [&](std::int64_t p, std::int64_t q) { return static_cast<double>(std::abs(p - q)) <= most; };
  return within(a.x, b.x) && within(a.y, b.y) && within(a.x + a.width, b.x + b.width) &&
         within(a.y + a.height, b.y + b.height);
}

/// Sets of windows, joined one pair after another.
class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  /// The root of both is the one that came first.
  void join(std::size_t i, std::size_t j) {
    const auto [first, last] = std::minmax({root(i), root(j)});
    parent_[last] = first;
  }

 private:
  std::vector<std::size_t> parent_;
};

std::int64_t rounded(float value) { return static_cast<std::int64_t>(std::nearbyint(value)); }

}  // namespace

std::vector<Detection> grouped(const std::vector<Detection>& windows, std::int64_t least) {
  const std::size_t count = windows.size();
  Sets sets(count);
  // By column: only windows up to a fifth of a window's size to the right can be similar to it.
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(
      order, [&](std::size_t i, std::size_t j) { return std::pair(windows[i].x, i) < std::pair(windows[j].x, j); });
  for (std::size_t k = 0; k < count; ++k) {
    const Detection& one = windows[order[k]];
    const double reach = part * static_cast<double>(one.width + one.height) * 0.5;
    for (std::size_t m = k + 1; m < count && static_cast<double>(windows[order[m]].x - one.x) <= reach; ++m)
      if (are_similar(one, windows[order[m]])) sets.join(order[k], order[m]);
  }

  std::vector<Detection> groups;
  std::vector<std::size_t> group_of(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t root = sets.root(i);
    if (root == i) {  // its first window
      group_of[i] = groups.size();
      groups.push_back({0, 0, 0, 0, 0});
    }
    Detection& group = groups[group_of[root]];
    group.x += windows[i].x, group.y += windows[i].y;
    group.width += windows[i].width, group.height += windows[i].height;
    ++group.neighbors;
  }
  for (Detection& group : groups) {
    const float factor = 1.F / static_cast<float>(group.neighbors);
    const auto mean = [&](std::int64_t sum) { return rounded(static_cast<float>(sum) * factor); };
    group.x = mean(group.x), group.y = mean(group.y);
    group.width = mean(group.width), group.height = mean(group.height);
  }

  std::erase_if(groups, [&](const Detection& group) { return group.neighbors <= least; });
  std::vector<Detection> boxes;
  for (const Detection& inner : groups) {
    const bool is_inside = std::ranges::any_of(groups, [&](const Detection& outer) {
      if (&outer == &inner) return false;
      const auto dx = static_cast<std::int64_t>(std::nearbyint(static_cast<double>(outer.width) * part)),
                 dy = static_cast<std::int64_t>(std::nearbyint(static_cast<double>(outer.height) * part));
      return inner.x >= outer.x - dx && inner.y >= outer.y - dy &&
             inner.x + inner.width <= outer.x + outer.width + dx &&
             inner.y + inner.height <= outer.y + outer.height + dy &&
             (outer.neighbors > std::max<std::int64_t>(3, inner.neighbors) || inner.neighbors < 3);
    });
    if (!is_inside) boxes.push_back(inner);
  }
  return boxes;
}

}  // namespace areal
