// The share r of hybrid-1r1w: the values that whole tiles allow, and the best one.

#include <algorithm>
#include <areal/array.hpp>
#include <areal/catalog.hpp>
#include <areal/research/model.hpp>
#include <areal/research/sat.hpp>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>
#include "api/core/require.hpp"
#include "cuda/device.hpp"
#include "formulas/triangles.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/table_geometry.hpp"

namespace areal::research {
namespace {

struct Tiles {
  std::int64_t y, x;
  Tiles(const Shape& image, Border border) {
    const kernels::TableGeometry p = kernels::table_geometry(image, border);
    y = (p.height + kernels::warp_size - 1) / kernels::warp_size;
    x = (p.width + kernels::warp_size - 1) / kernels::warp_size;
  }
  std::int64_t sides() const { return std::max<std::int64_t>(0, std::min(y, x) - 1); }
  double share(std::int64_t side) const { return formulas::share_of(side, y, x); }
  std::int64_t side(double share) const { return formulas::triangle_side(share, y, x); }
};

/// A plan for each share, and the cost of its execute.
class Trial {
 public:
  Trial(const SatPlan& requested, const Execution& execution)
      : image_(requested.image_shape()), options_(requested.options()), execution_(execution) {
    options_.progress = {};
    execution_.backend = requested.backend();
  }
  virtual ~Trial() = default;
  virtual double cost(double share) = 0;

 protected:
  SatPlan plan(double share, const LaunchReport& on_launch = {}) const {
    return sat_plan(image_, options_.types->input, options_, {.r = share, .on_launch = on_launch}, execution_);
  }

 private:
  Shape image_;
  SatOptions options_;
  Execution execution_;
};

class CountedTrial : public Trial {
 public:
  CountedTrial(const SatPlan& requested, const Execution& execution)
      : Trial(requested, execution),
        image_(requested.image_shape(), requested.types().input),
        table_(requested.allocate()) {
    std::memset(image_.data(), 0, image_.bytes());
  }
  double cost(double share) override {
    Counts all;
    const SatPlan one = plan(share, [&](const LaunchCounts& launch) { all += launch.counts; });
    Workspace workspace(one);
    one.execute(image_.view(), table_, workspace);
    const HierarchicalMachine machine;
    const auto number = [](auto count) { return static_cast<double>(count); };
    return number(all.reads.coalesced + all.writes.coalesced) / number(machine.width) +
           number(all.reads.strided + all.writes.strided) + number(all.launches) * number(machine.latency - 1);
  }

 private:
  Array image_;
  SatTable table_;
};

class TimedTrial : private cuda::OwnedStream, public Trial {  // in a DeviceScope
 public:
  TimedTrial(const SatPlan& requested, const Execution& execution)
      : Trial(requested, on(execution, get())),
        image_(requested.image_shape(), requested.types().input, execution.device),
        table_(requested.allocate()) {
    cuda::clear(image_.view().data, image_.bytes(), get());
  }
  double cost(double share) override {
    const SatPlan one = plan(share);
    Workspace workspace(one);
    std::array<double, 5> seconds{};
    for (std::size_t i = 0; i <= seconds.size(); ++i) {  // the first one is a warm-up
      workspace.wait();
      const auto start = std::chrono::steady_clock::now();
      one.execute(std::as_const(image_).view(), table_, workspace);
      workspace.wait();
      if (i > 0) seconds[i - 1] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    return seconds[seconds.size() / 2];
  }

 private:
  static Execution on(Execution execution, Stream stream) {
    execution.stream = stream;
    return execution;
  }

  DeviceArray image_;
  SatTable table_;
};

/// Coarse, then fine: between the neighbours of the best coarse share.
double least(const Shape& image, Border border, Trial& trial) {
  const std::vector<double> coarse = hybrid_shares(image, border, 12);
  double best = coarse[0], cost = trial.cost(best);
  const auto attempt = [&](double share) {
    const double its = trial.cost(share);
    if (its < cost) best = share, cost = its;
  };
  for (std::size_t i = 1; i < coarse.size(); ++i) attempt(coarse[i]);
  const auto at = std::find(coarse.begin(), coarse.end(), best);
  const double from = at == coarse.begin() ? 0 : at[-1], to = at + 1 == coarse.end() ? 1 : at[1];
  for (const double share : hybrid_shares(image, border, 7, from, to))
    if (std::find(coarse.begin(), coarse.end(), share) == coarse.end()) attempt(share);
  return best;
}

}  // namespace

double hybrid_share(const Shape& image, double r, Border border) {
  const kernels::TableGeometry p = kernels::table_geometry(image, border);
  return formulas::effective_r(r, p.height, p.width);
}

std::vector<double> hybrid_shares(const Shape& image, Border border, std::size_t most, double from, double to) {
  const Tiles tiles(image, border);
  std::vector<double> shares;
  if (tiles.sides() == 0) return shares;
  // The nearest side may lie beyond a bound by one.
  std::int64_t first = std::max<std::int64_t>(1, tiles.side(from)), last = tiles.side(to);
  if (tiles.share(first) < from) ++first;
  if (tiles.share(last) > to) --last;
  const std::int64_t count = last - first + 1, n = std::min(count, static_cast<std::int64_t>(most));
  for (std::int64_t i = 1; i <= n; ++i) shares.push_back(tiles.share(first - 1 + i * count / n));
  return shares;
}

double best_hybrid_share(const Shape& image, Type input, const SatOptions& options, const Execution& execution,
                         double otherwise) {
  const Algorithm* const row = find_algorithm("sat", options.algorithm);
  require(row != nullptr && row->takes.r, "algorithm ", options.algorithm, ": only hybrid-1r1w has an r");
  const SatPlan plan(image, input, options, execution);
  if (hybrid_shares(image, options.border, 1).empty()) return otherwise;
  if (plan.backend() == Backend::simt) {
    CountedTrial counted(plan, execution);
    return least(image, options.border, counted);
  }
  const cuda::DeviceScope scope(execution.device);
  TimedTrial timed(plan, execution);
  return least(image, options.border, timed);
}

}  // namespace areal::research
