#include "bench/papers/kasagi_table.hpp"
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace areal::bench {
namespace {

using Cell = std::optional<double>;  // milliseconds

struct Row {
  std::string name;
  std::vector<Cell> cells = {};  // one for each size
};

/// A type pair's records, by size.
struct Sheet {
  std::string types, device, floor;
  std::vector<Size> sizes;
  std::vector<Row> rows;  // as they are printed, the fastest (1+r)R1W among them
  std::vector<Cell> r;    // of that one
  std::vector<std::map<double, double>> curves;
};

/// Row numbers in a sheet.
constexpr std::size_t fixed = std::size(kasagi_gpu_rows), quarter = fixed, best = fixed + 1, on_cpu = fixed + 2,
                      ours = on_cpu + std::size(kasagi_cpu_rows), floors = ours + 1;

bool is_hybrid(const Record& record) { return record.algorithm == "hybrid-1r1w"; }

std::size_t row_of(const Record& record) {
  for (std::size_t i = 0; i < std::size(kasagi_gpu_rows); ++i)
    if (record.algorithm == kasagi_gpu_rows[i].algorithm) return i;
  for (std::size_t i = 0; i < std::size(kasagi_cpu_rows); ++i)
    if (record.algorithm == kasagi_cpu_rows[i].algorithm) return on_cpu + i;
  return ours;
}

/// The share nearest to 1/4 stands for 1/4: tiles round shares.
void take_hybrids(const std::vector<const Record*>& hybrids, std::size_t column, Sheet& sheet) {
  if (hybrids.empty()) return;
  const auto off = [](const Record* record) { return std::abs(record->r.value_or(0) - 0.25); };
  const auto* const near =
      *std::min_element(hybrids.begin(), hybrids.end(), [&](auto* a, auto* b) { return off(a) < off(b); });
  const auto* const fast = *std::min_element(hybrids.begin(), hybrids.end(),
                                             [](auto* a, auto* b) { return a->time.median < b->time.median; });
  sheet.rows[quarter].cells[column] = near->time.median / 1000;
  sheet.rows[best].cells[column] = fast->time.median / 1000;
  sheet.r[column] = fast->r;
}

Sheet sheet_of(const std::vector<Record>& records, const std::string& types) {
  Sheet sheet;
  sheet.types = types;
  const auto column_of = [&](const Record& record) {
    const auto same = [&](const Size& s) { return s.width == record.width && s.height == record.height; };
    return static_cast<std::size_t>(std::find_if(sheet.sizes.begin(), sheet.sizes.end(), same) - sheet.sizes.begin());
  };
  for (const Record& record : records) {
    if (record.types != types) continue;
    if (column_of(record) == sheet.sizes.size()) sheet.sizes.push_back({record.width, record.height});
    if (record.backend != Backend::cuda) continue;
    sheet.device = record.device, sheet.floor = record.floor;
  }
  std::stable_sort(sheet.sizes.begin(), sheet.sizes.end(),
                   [](const Size& a, const Size& b) { return a.width * a.height < b.width * b.height; });
  for (const KasagiRow& row : kasagi_gpu_rows) sheet.rows.push_back({row.name});
  sheet.rows.push_back({"1.25R1W"});
  sheet.rows.push_back({"fastest (1+r)R1W"});
  for (const KasagiRow& row : kasagi_cpu_rows) sheet.rows.push_back({row.name});
  sheet.rows.push_back({"areal's default"});
  sheet.rows.push_back({sheet.floor});
  for (Row& row : sheet.rows) row.cells.resize(sheet.sizes.size());
  sheet.r.resize(sheet.sizes.size());
  sheet.curves.resize(sheet.sizes.size());

  std::vector<std::vector<const Record*>> hybrids(sheet.sizes.size());
  for (const Record& record : records) {
    if (record.types != types) continue;
    const std::size_t column = column_of(record);
    if (record.shown == kasagi_curve) {
      sheet.curves[column][record.r.value_or(0)] = record.time.median / 1000;
      continue;
    }
    if (is_hybrid(record))
      hybrids[column].push_back(&record);
    else
      sheet.rows[row_of(record)].cells[column] = record.time.median / 1000;
    if (!record.floor.empty()) sheet.rows[floors].cells[column] = record.floor_time.median / 1000;
  }
  for (std::size_t column = 0; column < sheet.sizes.size(); ++column) take_hybrids(hybrids[column], column, sheet);
  return sheet;
}

std::vector<Sheet> sheets_of(const std::vector<Record>& records) {
  std::vector<Sheet> sheets;
  for (const Record& record : records)
    if (std::none_of(sheets.begin(), sheets.end(), [&](const Sheet& sheet) { return sheet.types == record.types; }))
      sheets.push_back(sheet_of(records, record.types));
  return sheets;
}

/// Three digits, as the paper has them.
std::string digits(double value) {
  const int whole = value > 0 ? static_cast<int>(std::floor(std::log10(value))) : 0;
  return fmt::format("{:.{}f}", value, std::clamp(2 - whole, 0, 5));
}

std::string line(const std::string& name, const std::vector<std::string>& cells) {
  std::string out = fmt::format("{:<18}", name);
  for (const std::string& cell : cells) out += fmt::format("{:>11}", cell);
  return out + "\n";
}

/// The fastest of the paper's rows on the GPU at that size, `best` where it is as fast as one of the others.
std::size_t fastest(const Sheet& sheet, std::size_t column) {
  std::size_t first = best;
  for (std::size_t row = 0; row < best; ++row) {
    const Cell &cell = sheet.rows[row].cells[column], &least = sheet.rows[first].cells[column];
    if (cell && (!least || *cell < *least)) first = row;
  }
  return first;
}

std::string title_of(const Sheet& sheet) { return sheet.types + (sheet.device.empty() ? "" : " on " + sheet.device); }

std::string text_of(const Sheet& sheet) {
  std::string out = "Kasagi 2014, Table II: " + title_of(sheet) + ", milliseconds; * is the fastest of the paper's\n";
  const auto row = [&](const std::string& name, const auto& cell_of) {
    std::vector<std::string> cells;
    for (std::size_t column = 0; column < sheet.sizes.size(); ++column) cells.push_back(cell_of(column));
    out += line(name, cells);
  };
  row("", [&](std::size_t column) { return kasagi_size(sheet.sizes[column]); });
  for (std::size_t i = 0; i < sheet.rows.size(); ++i) {
    row(sheet.rows[i].name, [&](std::size_t column) {
      const Cell& cell = sheet.rows[i].cells[column];
      return cell ? (i <= best && fastest(sheet, column) == i ? "*" : "") + digits(*cell) : std::string("-");
    });
    if (i == best)
      row("r", [&](std::size_t column) { return sheet.r[column] ? digits(*sheet.r[column]) : std::string("-"); });
  }
  row("speed-up", [&](std::size_t column) {
    Cell cpu;
    for (std::size_t i = on_cpu; i < ours; ++i)
      if (const Cell& cell = sheet.rows[i].cells[column]; cell && (!cpu || *cell < *cpu)) cpu = cell;
    const Cell& gpu = sheet.rows[best].cells[column];
    return cpu && gpu ? digits(*cpu / *gpu) : std::string("-");
  });
  return out + "speed-up: of the fastest (1+r)R1W over the faster of the two on the CPU, one thread\n";
}

/// Its rows over the side of the matrix, the floor first: a bound.
command::PlotPanel times_panel(const Sheet& sheet) {
  command::PlotPanel panel{title_of(sheet), {}, {}, {}, "side of the matrix"};
  for (const Size& size : sheet.sizes)
    panel.x.push_back(std::sqrt(static_cast<double>(size.width) * static_cast<double>(size.height)));
  const auto add = [&](const Row& row) {
    command::PlotCurve curve{row.name, {}};
    for (const Cell& cell : row.cells) curve.values.push_back(cell.value_or(0));
    panel.curves.push_back(curve);
  };
  add(sheet.rows[floors]);
  for (std::size_t i = 0; i < floors; ++i) add(sheet.rows[i]);
  return panel;
}

/// Times over r, as multiples of the fastest, of up to five sizes. The smallest shares, next to nothing, are left out.
std::optional<command::PlotPanel> shares_panel(const Sheet& sheet) {
  constexpr double least_share = 1e-3;
  std::vector<std::size_t> columns;
  for (std::size_t column = 0; column < sheet.sizes.size(); ++column)
    if (sheet.curves[column].size() > 1) columns.push_back(column);
  std::vector<std::size_t> few;
  const std::size_t n = std::min<std::size_t>(5, columns.size());
  for (std::size_t i = 0; i < n; ++i) few.push_back(columns[n == 1 ? 0 : i * (columns.size() - 1) / (n - 1)]);

  command::PlotPanel panel{"(1+r)R1W, " + sheet.types, {}, {}, {}, "r", "time / that of the best r", false};
  for (const std::size_t column : few)
    for (const auto& point : sheet.curves[column])
      if (point.first >= least_share) panel.x.push_back(point.first);
  if (panel.x.empty()) return {};
  std::sort(panel.x.begin(), panel.x.end());
  panel.x.erase(std::unique(panel.x.begin(), panel.x.end()), panel.x.end());
  for (const std::size_t column : few) {
    const auto& points = sheet.curves[column];
    const double least = std::min_element(points.begin(), points.end(), [](const auto& a, const auto& b) {
                           return a.second < b.second;
                         })->second;
    command::PlotCurve curve{kasagi_size(sheet.sizes[column]), {}};
    for (const auto& point : points)
      if (point.first >= least_share) curve.x.push_back(point.first), curve.values.push_back(point.second / least);
    if (!curve.x.empty()) panel.curves.push_back(curve);
  }
  return panel;
}

}  // namespace

std::string kasagi_size(const Size& size) {
  return size.width == size.height && size.width % 1024 == 0 ? fmt::format("{}K", size.width / 1024)
                                                             : fmt::format("{}x{}", size.width, size.height);
}

std::string kasagi_table(const std::vector<Record>& records) {
  std::string out;
  for (const Sheet& sheet : sheets_of(records)) out += (out.empty() ? "" : "\n") + text_of(sheet);
  return out;
}

command::Plot kasagi_plot(const std::vector<Record>& records) {
  command::Plot plot{"Kasagi 2014, Table II again", "", "milliseconds", {}, {}};
  for (const Sheet& sheet : sheets_of(records)) {
    plot.panels.push_back(times_panel(sheet));
    if (const auto shares = shares_panel(sheet)) plot.panels.push_back(*shares);
  }
  return plot;
}

}  // namespace areal::bench
