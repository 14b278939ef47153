// areal bench sat --figure chen: Figures 6 to 8 of Chen 2018. Each algorithm's time against scan-scan and NPP, its
// launches, and the three inequalities of VI-D.
//
// On an H200, in 15 rounds: scan-scan and NPP, which take longest, about 5 and 20 ms of 20480 x 20480 pixels, all
// others together 10; the sizes have 4 times the pixels of the largest. Seven type pairs, three of them with NPP: about
// 20 s, and as much again for images and checks.

#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/type.hpp>
#include <cmath>
#include <map>
#include "bench/harness/race.hpp"
#include "bench/papers/chen_passes.hpp"
#include "bench/papers/figure.hpp"
#include "bench/papers/model_plot.hpp"
#include "io/columns.hpp"
#include "io/out.hpp"

namespace areal::bench {
namespace {

namespace chen = command::chen;
using Table = std::vector<std::vector<std::string>>;

// The paper's sizes, 1k to 20k; above 8k, where it finds few images, in wider steps.
constexpr std::int64_t sides[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20};
// Its type pairs. 32s32s and 32u32u are the same numbers by bits, and so are 8u32s and 8u32u.
constexpr TypePair pairs_shown[] = {{Type::u8, Type::s32},  {Type::u8, Type::u32},  {Type::u8, Type::f32},
                                    {Type::s32, Type::s32}, {Type::u32, Type::u32}, {Type::f32, Type::f32},
                                    {Type::f64, Type::f64}};
// Figure 8 is of this type pair, up to that many pixels.
constexpr TypePair types_of_launches{Type::f32, Type::f32};
constexpr std::int64_t most_with_launches = 4096 * 4096;

// Columns: what is raced. The three of the paper stand in the middle.
enum Column { by_scan_scan, by_npp, by_scanrow_brlt, by_brlt_scanrow, by_scanrow_column, by_default, columns };
constexpr const char* titles[columns] = {"scan-scan", "npp", "scanrow-brlt", "brlt-scanrow", "scanrow-column", "areal"};
constexpr Column three[] = {by_scanrow_brlt, by_brlt_scanrow, by_scanrow_column};

/// What one size gave. 0: did not run.
struct Row {
  Size size;
  double floor = 0, time[columns] = {};
  std::string algorithm;                            // the default's choice
  std::vector<Record> kogge_stone, ladner_fischer;  // the three algorithms, with their launches
};

Racer racer_of(int column) {
  Racer racer;
  racer.algorithm = column == by_default ? "auto" : titles[column];
  return racer;
}

std::string named(const Size& size) { return fmt::format("{}x{}", size.width, size.height); }

/// Why racers did not run, each reason once for all sizes.
class LeftOut {
 public:
  void add(const std::string& racer, const std::string& why, const Size& size) {
    of_[{racer, why}].push_back(named(size));
  }
  void print(const TypePair& types, const Report& report) const {
    for (const auto& [what, sizes] : of_)
      report.note(fmt::format("{} of {} did not run at {}{}: {}", what.first, name_of(types), sizes[0],
                              sizes.size() == 1 ? "" : fmt::format(" and {} more", sizes.size() - 1), what.second));
  }

 private:
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> of_;
};

bool has_launches(const TypePair& types, const Size& size) {
  return types == types_of_launches && size.width * size.height <= most_with_launches;
}

Row run(const TypePair& types, const Size& size, const Options& options, Report& report, LeftOut& left_out) {
  Race contest;
  contest.types = types;
  contest.size = size;
  contest.launches = has_launches(types, size);
  std::vector<int> columns_of;
  for (int column = 0; column < columns; ++column) {
    if (column == by_npp && !options.peers) continue;
    contest.racers.push_back(racer_of(column));
    columns_of.push_back(column);
  }
  if (contest.launches)
    for (const int column : {by_scanrow_brlt, by_scanrow_column}) {
      contest.racers.push_back(racer_of(column));
      contest.racers.back().scan = WarpScan::ladner_fischer;
      columns_of.push_back(columns);  // only in Figure 8
    }
  Row row;
  row.size = size;
  const auto refused = [&](std::size_t i, const std::string& why) {
    left_out.add(contest.racers[i].algorithm + (columns_of[i] == columns ? " with ladner-fischer" : ""), why, size);
  };
  const auto ran = [&](std::size_t i, Record record) {
    const int column = columns_of[i];
    if (column == by_npp) {  // its table has another geometry and so another floor
      record.border = Border::zero;
      record.floor.clear();
    }
    report.keep(record);
    if (column == by_default) row.algorithm = record.algorithm;
    if (column < columns) row.time[column] = record.time.median;
    if (std::find(std::begin(three), std::end(three), column) != std::end(three)) row.kogge_stone.push_back(record);
    if (column == columns) row.ladner_fischer.push_back(record);
  };
  row.floor = race(contest, options, {ran, refused}).median;
  return row;
}

std::string microseconds(double time) { return time == 0 ? "-" : fmt::format("{:.1f}", time); }
std::string times_as_fast(double slower, double faster) {
  return slower == 0 || faster == 0 ? "-" : fmt::format("{:.2f}", slower / faster);
}

/// The fastest of the three; `columns` where one of them did not run, as it might be that one.
int best_of(const Row& row) {
  int best = by_scanrow_brlt;
  for (const int column : three) {
    if (row.time[column] == 0) return columns;
    if (row.time[column] < row.time[best]) best = column;
  }
  return best;
}

/// Figures 6 and 7 of one type pair: times, then speed-ups.
std::string text_of(const TypePair& types, const std::vector<Row>& rows) {
  const std::string floor = floor_of({types, {}, 0, 1, {}, false});
  Table times{{name_of(types) + ", us", floor}};
  times[0].insert(times[0].end(), std::begin(titles), std::end(titles));
  times[0].push_back("areal is");
  Table speed{{name_of(types) + ", over scan-scan", "scanrow-brlt", "brlt-scanrow", "scanrow-column", "areal",
               "best of the three", "it over npp", "areal over npp", "areal over it"}};
  for (const Row& row : rows) {
    times.push_back({named(row.size), microseconds(row.floor)});
    for (const double time : row.time) times.back().push_back(microseconds(time));
    times.back().push_back(row.algorithm.empty() ? "-" : row.algorithm);
    const auto over = [&](Column other, int column) { return times_as_fast(row.time[other], row.time[column]); };
    speed.push_back({named(row.size)});
    for (const int column : {by_scanrow_brlt, by_brlt_scanrow, by_scanrow_column, by_default})
      speed.back().push_back(over(by_scan_scan, column));
    const int best = best_of(row);
    const double best_time = best == columns ? 0 : row.time[best];
    for (const std::string& cell :
         {std::string(best == columns ? "-" : titles[best]), times_as_fast(row.time[by_npp], best_time),
          over(by_npp, by_default), times_as_fast(best_time, row.time[by_default])})
      speed.back().push_back(cell);
  }
  return command::aligned(times, 1) + "\n" + command::aligned(speed, 1) + "\n";
}

/// Figure 8: the launches of each algorithm, then VI-D with what they took.
std::string text_of_launches(const std::vector<Row>& rows) {
  Table launches{{name_of(types_of_launches) + ", us of a scan", "algorithm", "warp scan", "1st", "2nd", "both"}};
  Table claims{{"VI-D, us", "inequality", "left", "right", "holds"}};
  for (const Row& row : rows) {
    chen::Passes passes;
    for (const auto* records : {&row.kogge_stone, &row.ladner_fischer})
      for (const Record& record : *records) {
        if (record.launches.size() != 2) continue;
        const double first = record.launches[0].time.median, second = record.launches[1].time.median;
        launches.push_back({named(row.size), record.algorithm, record.scan.empty() ? "-" : record.scan,
                            microseconds(first), microseconds(second), microseconds(first + second)});
        if (records == &row.kogge_stone)
          for (const LaunchTime& launch : record.launches) passes.add(launch.kernel, launch.time.median);
      }
    if (const auto measured = passes.times())
      for (std::size_t i = 0; i < chen::claimed.size(); ++i) {
        const auto [left, right] = chen::sides(*measured)[i];
        claims.push_back({named(row.size), chen::claimed[i], microseconds(left), microseconds(right),
                          chen::claims(*measured)[i] ? "yes" : "no"});
      }
  }
  std::string text;
  if (launches.size() > 1) text += command::aligned(launches, 3) + "\n";
  if (claims.size() > 1) text += command::aligned(claims, 2) + "\n";
  return text;
}

/// Two panels of a type pair: times, and speed-ups over scan-scan. What did not run is a gap.
void add_panels(const TypePair& types, const std::vector<Row>& rows, bool npp, command::Plot& plot) {
  const auto curve = [&](const char* name, const auto& value) {
    command::PlotCurve made{name, {}};
    for (const Row& row : rows) made.values.push_back(value(row));
    return made;
  };
  command::PlotPanel times{name_of(types), {}, {}}, speed{name_of(types), {}, {}};
  speed.y_name = "speed-up over scan-scan";
  times.curves.push_back(curve("copy or widen", [](const Row& row) { return row.floor; }));
  speed.curves.push_back(
      curve("copy or widen", [](const Row& row) { return row.floor > 0 ? row.time[by_scan_scan] / row.floor : 0; }));
  for (const int column : {by_default, by_scanrow_brlt, by_brlt_scanrow, by_scanrow_column, by_scan_scan, by_npp}) {
    if (column == by_npp && !npp) continue;
    times.curves.push_back(curve(titles[column], [&](const Row& row) { return row.time[column]; }));
    speed.curves.push_back(curve(titles[column], [&](const Row& row) {
      return row.time[column] == 0 ? 0 : row.time[by_scan_scan] / row.time[column];
    }));
  }
  plot.panels.push_back(std::move(times));
  plot.panels.push_back(std::move(speed));
}

/// The figure has these of its own.
void refuse_what_is_given(const Options& options) {
  const auto refuse = [](const char* option) {
    throw InvalidArgument(std::string(option) +
                          " may not be given with --figure chen, which takes --size, --types and --repetitions");
  };
  if (!options.algorithms.empty()) refuse("--algorithm");
  if (options.squares != Squares::no) refuse("--squares");
  if (!options.bins.empty()) refuse("--bins");
  if (options.border != Border::none) refuse("--border");
  if (options.batch != 1) refuse("--batch");
}

}  // namespace

void bench_chen(const Options& options, Report& report) {
  refuse_what_is_given(options);
  std::vector<Size> sizes = options.sizes;
  if (sizes.empty())
    for (const std::int64_t side : sides) sizes.push_back({side * 1024, side * 1024});
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](const Size& a, const Size& b) { return a.width * a.height < b.width * b.height; });
  std::vector<TypePair> pairs = options.pairs;
  if (pairs.empty()) pairs.assign(std::begin(pairs_shown), std::end(pairs_shown));
  command::Plot plot;
  plot.title = "Chen 2018, Figures 6 and 7";
  if (const std::string device = device_name(options.device); !device.empty()) plot.title += ", on one " + device;
  plot.x_name = "side of the image, pixels";
  plot.y_name = "microseconds";
  plot.panels_of_a_row = 2;
  for (const Size& size : sizes)
    plot.x.push_back(std::sqrt(static_cast<double>(size.width) * static_cast<double>(size.height)));
  bool launches = false;
  for (const TypePair& types : pairs) {
    LeftOut left_out;
    std::vector<Row> rows;
    for (const Size& size : sizes) rows.push_back(run(types, size, options, report, left_out));
    std::string text = text_of(types, rows);
    if (types == types_of_launches) {
      const std::string breakdown = text_of_launches(rows);
      launches = launches || !breakdown.empty();
      text += breakdown;
    }
    command::write_out(text);
    command::flush_out();
    left_out.print(types, report);
    add_panels(types, rows, options.peers, plot);
  }
  if (!launches)
    report.note(
        "Figure 8 and VI-D are left out: they need 32f32f up to 4096x4096, which was not asked for or did not run");
  if (!options.plot.empty()) write_picture(options.plot, svg(plot));
}

}  // namespace areal::bench
