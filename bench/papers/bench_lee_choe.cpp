// areal bench histogram --figure lee-choe: Figures 3 to 5 of Lee, Choe 2014, times relative to Harris' algorithm, and
// those of areal's default. The largest tensor, 4096 x 2160 x 256, is 9 GB, which an algorithm of the paper reads
// and writes nine times: some 20 ms on an H200, and the whole figure well below half a minute.

#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <array>
#include "bench/papers/figure.hpp"
#include "bench/papers/model_plot.hpp"

namespace areal::bench {
namespace {

/// Figure, algorithm: the first is what the others are compared with.
struct Row {
  const char *figure, *algorithm;
};
constexpr std::array<Row, 5> rows{
    {{"", "harris"}, {"3", "lee-choe-multiple"}, {"4", "lee-choe-shared"}, {"5", "lee-choe"}, {"", "auto"}}};

/// Of one number of bins.
struct Relative {
  std::int64_t bins = 0;
  std::vector<Ranks> ranks;  // by size
};

Race race_of(const Size& size, std::int64_t bins) {
  Race race;
  race.size = size;
  race.bins = bins;
  for (const Row& row : rows) race.racers.push_back({row.algorithm});
  return race;
}

double memset_of(const Ranks& ranks) {
  for (const std::optional<Record>& record : ranks)
    if (record) return record->floor_time.median;
  return 0;
}

/// Per cent of Harris' time; 0 where either is not there.
double per_cent(double time, const Ranks& ranks) {
  const double harris = median_of(ranks[0]);
  return harris > 0 ? 100 * time / harris : 0;
}

std::string name_of(std::size_t row, const Relative& what) {
  for (const Ranks& ranks : what.ranks)
    if (ranks[row]) return ranks[row]->algorithm;  // the choice of auto
  return rows[row].algorithm;
}

void print(const Relative& what, const std::vector<Size>& sizes) {
  std::vector<std::vector<std::string>> table{{"figure", "algorithm"}, {"", "harris, us"}};
  for (const Size& size : sizes) table[0].push_back(text_of(size));
  for (const Ranks& ranks : what.ranks) table[1].push_back(cell(median_of(ranks[0])));
  for (std::size_t row = 1; row < rows.size(); ++row) {
    table.push_back({rows[row].figure, name_of(row, what)});
    for (const Ranks& ranks : what.ranks) table.back().push_back(cell(per_cent(median_of(ranks[row]), ranks)));
  }
  table.push_back({"", "memset"});
  for (const Ranks& ranks : what.ranks) table.back().push_back(cell(per_cent(memset_of(ranks), ranks)));
  write_table(fmt::format("Lee, Choe 2014, {} bins: per cent of the time of harris", what.bins), table, 2);
}

std::string picture(const std::vector<Relative>& all, const std::vector<Size>& sizes) {
  command::Plot plot{"Lee, Choe 2014, Figures 3 to 5", "megapixels", "per cent of the time of harris", {}, {}};
  plot.linear = true;
  // From left to right by pixels, in whatever order the options name the sizes.
  std::vector<std::size_t> order(sizes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto megapixels = [&](std::size_t i) { return 1e-6 * static_cast<double>(sizes[i].width * sizes[i].height); };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return megapixels(a) < megapixels(b); });
  for (const std::size_t i : order) plot.x.push_back(megapixels(i));
  for (const Relative& what : all) {
    command::PlotPanel panel{fmt::format("{} bins", what.bins), {}, {}};
    for (std::size_t row = 0; row < rows.size(); ++row) {
      panel.curves.push_back({name_of(row, what), {}});
      for (const std::size_t i : order)
        panel.curves.back().values.push_back(per_cent(median_of(what.ranks[i][row]), what.ranks[i]));
    }
    panel.curves.push_back({"memset", {}});
    for (const std::size_t i : order)
      panel.curves.back().values.push_back(per_cent(memset_of(what.ranks[i]), what.ranks[i]));
    plot.panels.push_back(panel);
  }
  return svg(plot);
}

}  // namespace

void bench_lee_choe(const Options& options, Report& report) {
  check_figure(options);
  const std::vector<Size> sizes =
      options.sizes.empty() ? std::vector<Size>{{1920, 1080}, {2560, 1440}, {3840, 2160}, {4096, 2160}} : options.sizes;
  std::vector<Relative> all;
  bool any = false;
  for (const std::int64_t bins : options.bins.empty() ? std::vector<std::int64_t>{256, 32} : options.bins) {
    Relative what{bins, {}};
    for (const Size& size : sizes) {
      what.ranks.push_back(keep_race(race_of(size, bins), options, report));
      any = any || memset_of(what.ranks.back()) > 0;
    }
    print(what, sizes);
    all.push_back(what);
  }
  if (!any) throw Unavailable("--figure lee-choe: nothing ran; the notes say why");
  if (!options.plot.empty()) write_picture(options.plot, picture(all, sizes));
}

}  // namespace areal::bench
