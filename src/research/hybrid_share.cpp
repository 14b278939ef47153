// The share r of hybrid-1r1w: what whole tiles can make of it, and which one does best.

#include <algorithm>
#include <areal/array.hpp>
#include <areal/catalog.hpp>
#include <areal/research/model.hpp>
#include <areal/sat.hpp>
#include <array>
#include <chrono>
#include <cstring>
#include "api/core/require.hpp"
#include "cuda/device.hpp"
#include "formulas/triangles.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/table_geometry.hpp"

namespace areal {
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

/// A plan for each share, and what an execute of it takes.
class Trial {
 public:
  Trial(const Shape& image, TypePair types, const SatOptions& options)
      : image_(image), types_(types), options_(options) {
    options_.launched = {}, options_.progress = {};
  }
  virtual ~Trial() = default;
  virtual double cost(double share) = 0;

 protected:
  SatPlan plan(double share, const LaunchReport& launched = {}) const {
    SatOptions options = options_;
    options.r = share, options.launched = launched;
    return SatPlan(image_, types_, options);
  }

 private:
  Shape image_;
  TypePair types_;
  SatOptions options_;
};

class CountedTrial : public Trial {
 public:
  CountedTrial(const SatPlan& asked)
      : Trial(asked.image_shape(), asked.types(), asked.options()),
        image_(asked.image_shape(), asked.types().input),
        table_(asked.table_shape(), asked.types().table) {
    std::memset(image_.data(), 0, image_.bytes());
  }
  double cost(double share) override {
    Counts all;
    const SatPlan one = plan(share, [&](const LaunchCounts& launch) { all += launch.counts; });
    Array workspace({static_cast<std::int64_t>(one.workspace_bytes()), 1}, Type::u8);
    one.prepare(workspace.data());
    one.execute({image_.view(), table_.view()}, workspace.data());
    const HierarchicalMachine machine;
    const auto number = [](auto count) { return static_cast<double>(count); };
    return number(all.reads.coalesced + all.writes.coalesced) / number(machine.width) +
           number(all.reads.strided + all.writes.strided) + number(all.launches) * number(machine.latency - 1);
  }

 private:
  Array image_, table_;
};

class TimedTrial : public Trial {  // in a DeviceScope
 public:
  TimedTrial(const SatPlan& asked)
      : Trial(asked.image_shape(), asked.types(), asked.options()),
        image_(bytes_of(asked.image_shape(), asked.types().input)),
        table_(asked.table_bytes()) {
    cuda::clear(image_.data(), bytes_of(asked.image_shape(), asked.types().input), stream_.get());
  }
  double cost(double share) override {
    const SatPlan one = plan(share);
    const cuda::Memory workspace(one.workspace_bytes());
    one.prepare(workspace.data(), stream_.get());
    std::array<double, 5> seconds{};
    for (std::size_t i = 0; i <= seconds.size(); ++i) {  // the first one does not count
      stream_.synchronize();
      const auto start = std::chrono::steady_clock::now();
      one.execute({ConstView(image_.data(), one.types().input, one.image_shape()),
                   View(table_.data(), one.types().table, one.table_shape())},
                  workspace.data(), stream_.get());
      stream_.synchronize();
      if (i > 0) seconds[i - 1] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    return seconds[seconds.size() / 2];
  }

 private:
  cuda::OwnedStream stream_;
  cuda::Memory image_, table_;
};

/// Coarse, then fine: between the neighbours of the best of the coarse ones.
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
  // The nearest side may lie on the wrong side of a bound, by one.
  std::int64_t first = std::max<std::int64_t>(1, tiles.side(from)), last = tiles.side(to);
  if (tiles.share(first) < from) ++first;
  if (tiles.share(last) > to) --last;
  const std::int64_t count = last - first + 1, n = std::min(count, static_cast<std::int64_t>(most));
  for (std::int64_t i = 1; i <= n; ++i) shares.push_back(tiles.share(first - 1 + i * count / n));
  return shares;
}

double best_hybrid_share(const Shape& image, TypePair types, const SatOptions& options) {
  const Algorithm* const row = find_algorithm("sat", options.algorithm);
  require(row != nullptr && row->takes.r, "algorithm ", options.algorithm, ": only hybrid-1r1w has an r");
  const SatPlan asked(image, types, options);
  if (hybrid_shares(image, options.border, 1).empty()) return options.r;
  if (asked.backend() == Backend::simt) {
    CountedTrial counted(asked);
    return least(image, options.border, counted);
  }
  const cuda::DeviceScope scope(options.device);
  TimedTrial timed(asked);
  return least(image, options.border, timed);
}

}  // namespace areal
