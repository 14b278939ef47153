// Prints and draws `areal bench histogram --figure poostchi`.

#include <fmt/format.h>
#include <algorithm>
#include <areal/research/histogram.hpp>
#include <array>
#include <cmath>
#include "bench/papers/model_plot.hpp"
#include "bench/papers/poostchi.hpp"

namespace areal::bench {
namespace {

using Rows = std::vector<std::vector<std::string>>;
using Cases = std::vector<PoostchiCase>;

constexpr std::array phases{"initialisation", "horizontal",     "transpose", "vertical",
                            "wave-front",     "last transpose", "own"};

std::string name_of(const Cases& cases, std::size_t racer) {
  for (const PoostchiCase& of : cases)
    if (of.ranks[racer]) return of.ranks[racer]->algorithm;  // the choice of auto
  return poostchi_racers[racer].algorithm;
}

double memset_of(const PoostchiCase& of) {
  for (const std::optional<Record>& record : of.ranks)
    if (record) return record->floor_time.median;
  return 0;
}

/// Of one image after the other with two buffers: the copies are behind the execute, or it behind them.
double frame(double execute, double transfers) {
  return execute > 0 && transfers > 0 ? std::max(execute, transfers) : 0;
}

double ratio(double a, double b) { return b > 0 ? a / b : 0; }
/// "4.1", "123": a ratio.
std::string times_cell(double value) { return value >= 100 ? fmt::format("{:.0f}", value) : cell(value); }

void times_table(const std::string& heading, const Cases& cases, const Rows& columns) {
  Rows rows{{"algorithm"}};
  for (const std::vector<std::string>& column : columns) rows[0].push_back(column[0]);
  for (const std::size_t racer : poostchi_shown) {
    rows.push_back({name_of(cases, racer)});
    for (const PoostchiCase& of : cases) rows.back().push_back(cell(median_of(of.ranks[racer])));
  }
  rows.push_back({"memset"});
  for (const PoostchiCase& of : cases) rows.back().push_back(cell(memset_of(of)));
  write_table(heading, rows, 1);
}

void breakdown_table(const PoostchiCase& of) {
  Rows rows{{"algorithm"}};
  rows[0].insert(rows[0].end(), phases.begin(), phases.end());
  rows[0].insert(rows[0].end(), {"all", "execute"});
  for (const std::size_t racer : poostchi_shown) {
    const std::optional<Record>& record = of.ranks[racer];
    if (!record) continue;
    rows.push_back({record->algorithm});
    double all = 0;
    for (const char* phase : phases) {
      double time = 0;
      for (const LaunchTime& l : record->launches)
        if (l.phase == phase) time += l.time.median;
      rows.back().push_back(cell(time));
      all += time;
    }
    rows.back().push_back(cell(all));
    rows.back().push_back(cell(record->time.median));
  }
  write_table(fmt::format("Figure 8, {}, {} bins: microseconds of the launches, with events between them; and of an "
                          "execute without",
                          text_of(of.size), of.bins),
              rows, 1);
}

/// Of a tile that blocks of so many threads work on.
const Record* find(const PoostchiCase& of, const Racer& racer, int threads) {
  for (const std::optional<Record>& record : of.ranks)
    if (record && record->algorithm == racer.algorithm && record->tile == racer.tile && record->tile_threads == threads)
      return &*record;
  return nullptr;
}

/// The racers that work on tiles, with any number of threads.
std::vector<Racer> on_tiles() { return {poostchi_racers.begin() + 2, poostchi_racers.begin() + wavefront + 1}; }

void sweep_table(const PoostchiCase& of) {
  Rows rows{{"algorithm", "tile", "threads", "occupancy", "scans", "execute"}};
  for (const Racer& racer : on_tiles())
    for (const int threads : research::tile_threads(racer.tile)) {
      rows.push_back({racer.algorithm, std::to_string(racer.tile), std::to_string(threads)});
      const Record* const record = find(of, racer, threads);
      double occupancy = 1, scans = 0;
      for (const LaunchTime& l : record != nullptr ? record->launches : std::vector<LaunchTime>())
        if (l.phase != "initialisation") occupancy = std::min(occupancy, l.occupancy), scans += l.time.median;
      rows.back().insert(rows.back().end(), {scans > 0 ? fmt::format("{:.2f}", occupancy) : "-", cell(scans),
                                             cell(record != nullptr ? record->time.median : 0)});
    }
  write_table(fmt::format("Figures 9 and 10, {}, {} bins: threads of a block on a tile, the warps that they leave room "
                          "for, microseconds of the scans and of an execute",
                          text_of(of.size), of.bins),
              rows, 2);
}

void blocks_table(const PoostchiCase& of) {
  Rows rows{{"algorithm", "tile", "phase", "kernel", "launches", "threads", "occupancy", "us"}};
  for (std::size_t racer = 0; racer < poostchi_racers.size(); ++racer) {
    const std::optional<Record>& record = of.ranks[racer];
    for (const LaunchTime& l : record ? record->launches : std::vector<LaunchTime>())
      rows.push_back({record->algorithm, record->tile != 0 ? std::to_string(record->tile) : "", l.phase, l.kernel,
                      std::to_string(l.launches), std::to_string(l.threads), fmt::format("{:.2f}", l.occupancy),
                      cell(l.time.median)});
  }
  write_table(fmt::format("Blocks, {}, {} bins: threads, the warps that they leave room for, and microseconds",
                          text_of(of.size), of.bins),
              rows, 4);
}

void tiles_table(const Cases& cases) {
  Rows rows{{"algorithm", "tile"}};
  for (const PoostchiCase& of : cases) rows[0].push_back(text_of(of.size));
  for (const Racer& racer : on_tiles()) {
    rows.push_back({racer.algorithm, std::to_string(racer.tile)});
    for (const PoostchiCase& of : cases) {
      const Record* const record = find(of, racer, research::default_tile_threads(racer.tile));
      rows.back().push_back(cell(record != nullptr ? record->time.median : 0));
    }
  }
  write_table(fmt::format("4.2.2, {} bins: microseconds by tile", cases[0].bins), rows, 1);
}

void transfer_table(const Cases& cases) {
  Rows rows{{"size", "bins", "image up", "tensor down", "both"}};
  for (const std::size_t racer : poostchi_shown) rows[0].push_back(name_of(cases, racer));
  for (const PoostchiCase& of : cases) {
    rows.push_back(
        {text_of(of.size), std::to_string(of.bins), cell(of.image_up), cell(of.tensor_down), cell(of.transfers())});
    for (const std::size_t racer : poostchi_shown) rows.back().push_back(cell(median_of(of.ranks[racer])));
  }
  write_table("Figure 11: microseconds of the transfers, and of executes", rows, 1);
}

void initialisation_table(const Cases& cases) {
  Rows rows{{"size", "bins", "on the device", "with the image up"}};
  std::vector<int> threads;
  for (const PoostchiCase& of : cases)
    for (const Record& record : of.host)
      if (std::find(threads.begin(), threads.end(), record.threads) == threads.end()) threads.push_back(record.threads);
  for (const int n : threads) rows[0].push_back(fmt::format("on the host, {}", n));
  rows[0].insert(rows[0].end(), {"tensor up", "host / device"});
  for (const PoostchiCase& of : cases) {
    const double device = of.initialised > 0 && of.image_up > 0 ? of.initialised + of.image_up : 0;
    rows.push_back({text_of(of.size), std::to_string(of.bins), cell(of.initialised), cell(device)});
    double best = 0;
    for (const int n : threads) {
      double time = 0;
      for (const Record& record : of.host)
        if (record.threads == n) time = record.time.median;
      rows.back().push_back(cell(time));
      if (time > 0 && (best == 0 || time < best)) best = time;
    }
    const double host = best > 0 && of.tensor_up > 0 ? best + of.tensor_up : 0;
    rows.back().insert(rows.back().end(), {cell(of.tensor_up), times_cell(ratio(host, device))});
  }
  write_table(
      "3.1: microseconds of the initialisation, on the device or by that many threads of the host and copied up", rows,
      1);
}

std::string cpu_name(const Record& record) { return fmt::format("{} {}", record.algorithm, record.threads); }

void speed_up_table(const std::string& heading, const Cases& cases, bool transfers) {
  Rows rows{{"algorithm", "size", "bins"}};
  const auto most = std::max_element(cases.begin(), cases.end(), [](const PoostchiCase& a, const PoostchiCase& b) {
    return a.cpu.size() < b.cpu.size();
  });
  if (most->cpu.empty()) return;
  for (const Record& cpu : most->cpu) rows[0].push_back(cpu_name(cpu));
  for (const std::size_t racer : poostchi_shown)
    for (const PoostchiCase& of : cases) {
      if (of.cpu.empty()) continue;
      const double execute = median_of(of.ranks[racer]);
      const double time = transfers ? frame(execute, of.transfers()) : execute;
      rows.push_back({name_of(cases, racer), text_of(of.size), std::to_string(of.bins)});
      for (const Record& cpu : of.cpu) rows.back().push_back(times_cell(ratio(cpu.time.median, time)));
    }
  write_table(heading, rows, 2);
}

void frames_table(const PoostchiCase& of) {
  Rows rows{{"algorithm", "threads", "with transfers", "without"}};
  const auto frames = [](double microseconds) { return times_cell(ratio(1e6, microseconds)); };
  for (const std::size_t racer : {wavefront, poostchi_shown.back()})
    if (const double execute = median_of(of.ranks[racer]); execute > 0)
      rows.push_back({of.ranks[racer]->algorithm, "", frames(frame(execute, of.transfers())), frames(execute)});
  for (const Record& cpu : of.cpu)
    rows.push_back({cpu.algorithm, std::to_string(cpu.threads), "", frames(cpu.time.median)});
  write_table(fmt::format("Figure 20, {}, {} bins: frames a second", text_of(of.size), of.bins), rows, 1);
}

/// The curves of one panel: what is dashed first.
std::vector<command::PlotCurve> curves(const Cases& cases) {
  std::vector<command::PlotCurve> all;
  const auto add = [&](const std::string& name, const auto& value) {
    all.push_back({name, {}});
    for (const PoostchiCase& of : cases) all.back().values.push_back(value(of));
  };
  add("memset", memset_of);
  for (const std::size_t racer : poostchi_shown)
    add(name_of(cases, racer), [&](const PoostchiCase& of) { return median_of(of.ranks[racer]); });
  add("transfers", [](const PoostchiCase& of) { return of.transfers(); });
  add("CPU, serial", [](const PoostchiCase& of) { return of.cpu.empty() ? 0 : of.cpu.front().time.median; });
  // Behind it is areal's own.
  add("CPU, parallel", [](const PoostchiCase& of) { return of.cpu.empty() ? 0 : of.cpu.end()[-2].time.median; });
  return all;
}

/// Microseconds over the threads of a block.
command::PlotPanel sweep_panel(const PoostchiCase& of) {
  command::PlotPanel panel{fmt::format("{}, {} bins, by blocks", text_of(of.size), of.bins), {}, {}};
  for (const Racer& racer : on_tiles()) {
    panel.curves.push_back({fmt::format("{}, tile {}", racer.algorithm, racer.tile), {}});
    for (const int threads : research::tile_threads(racer.tile)) {
      const Record* const record = find(of, racer, threads);
      panel.curves.back().x.push_back(threads);
      panel.curves.back().values.push_back(record != nullptr ? record->time.median : 0);
      panel.x.push_back(threads);
    }
  }
  std::sort(panel.x.begin(), panel.x.end());
  panel.x.erase(std::unique(panel.x.begin(), panel.x.end()), panel.x.end());
  panel.x_name = "threads of a block", panel.y_name = "microseconds of an execute";
  panel.bound = false;
  return panel;
}

}  // namespace

void print(const Poostchi& what) {
  const PoostchiCase& first = what.by_size.front();
  Rows sizes, bins;
  for (const PoostchiCase& of : what.by_size) sizes.push_back({text_of(of.size)});
  for (const PoostchiCase& of : what.by_bins) bins.push_back({fmt::format("{} bins", of.bins)});
  times_table(fmt::format("Figure 7, {} bins: microseconds of an execute, on tiles of 64", first.bins), what.by_size,
              sizes);
  times_table(fmt::format("{}: microseconds of an execute by bins", text_of(what.by_bins[0].size)), what.by_bins, bins);
  for (const PoostchiCase& of : what.by_size) breakdown_table(of);
  sweep_table(what.by_size[what.swept]);
  blocks_table(what.by_size[what.swept]);
  tiles_table(what.by_size);
  transfer_table(what.by_size);
  initialisation_table(what.by_size);
  speed_up_table("Figure 19 a: how many times faster than the CPU, transfers included", what.by_size, true);
  speed_up_table("Figure 19 a: without transfers", what.by_size, false);
  speed_up_table("Figure 19 b: how many times faster than the CPU, transfers included", what.by_bins, true);
  speed_up_table("Figure 19 b: without transfers", what.by_bins, false);
  const auto standard = std::find_if(what.by_size.begin(), what.by_size.end(), [](const PoostchiCase& of) {
    return of.size.width == 640 && of.size.height == 480;  // the paper's
  });
  frames_table(standard == what.by_size.end() ? first : *standard);
}

std::string picture(const Poostchi& what) {
  const auto side = [](const PoostchiCase& of) {
    return std::round(std::sqrt(static_cast<double>(of.size.width * of.size.height)));
  };
  Cases by_size = what.by_size, by_bins = what.by_bins;
  std::sort(by_size.begin(), by_size.end(), [&](const auto& a, const auto& b) { return side(a) < side(b); });
  std::sort(by_bins.begin(), by_bins.end(), [](const auto& a, const auto& b) { return a.bins < b.bins; });
  command::PlotPanel sizes{fmt::format("{} bins", by_size[0].bins), curves(by_size), {}};
  command::PlotPanel bins{text_of(by_bins[0].size), curves(by_bins), {}};
  for (const PoostchiCase& of : by_size) sizes.x.push_back(side(of));
  for (const PoostchiCase& of : by_bins) bins.x.push_back(static_cast<double>(of.bins));
  sizes.x_name = "side of a square image of as many pixels", bins.x_name = "bins";
  return command::svg({"Poostchi et al. 2017, Figures 7, 9 to 11 and 19",
                       "",
                       "microseconds",
                       {},
                       {sizes, bins, sweep_panel(what.by_size[what.swept])}});
}

}  // namespace areal::bench
