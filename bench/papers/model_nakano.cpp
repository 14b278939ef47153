// areal model nakano: time units of the programs of Nakano 2013 on the DMM and the UMM, the limits that bind them, and
// the constants of the paper's bounds. Sweeps are lists of values.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <areal/research/model.hpp>
#include <nlohmann/json.hpp>
#include "bench/papers/model.hpp"
#include "io/columns.hpp"
#include "io/help.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "media/media.hpp"

namespace areal::command {
namespace {

using Json = nlohmann::ordered_json;
using Values = std::vector<std::int64_t>;

constexpr std::int64_t million = 1 << 20;

struct Request {
  std::string n = "16384", p, w = "32", l = "32", k;
};

struct Point {
  MemoryMachine machine;
  std::int64_t n = 0;
  NakanoTimes times;
};

Values list(const char* option, const std::string& text, std::int64_t least, std::int64_t most) {
  Values values;
  for (const std::string_view part : split(text, ',')) values.push_back(whole_number(option, part, least, most));
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// By default p doubles from w to n; where something else has several values already, it is wl, which hides the latency.
Values threads_for(const Request& request, std::int64_t n, std::int64_t w, std::int64_t l, bool sweeps) {
  if (!request.p.empty()) {
    Values values = list("--p", request.p, 1, million);
    for (const std::int64_t p : values)
      if (p % w != 0) refuse("--p ", std::to_string(p), ": may be a multiple of --w ", std::to_string(w));
    return values;
  }
  if (!sweeps) return {std::min(w * l, million / w * w)};
  Values values{w};
  while (values.back() * 2 <= n) values.push_back(values.back() * 2);
  return values;
}

// Every combination of the lists on both machines, not yet run.
std::vector<Point> points_of(const Request& request) {
  constexpr std::int64_t most_elements = 2 * million;
  const Values ns = list("--n", request.n, 2, million), ws = list("--w", request.w, 1, 1024),
               ls = list("--l", request.l, 1, million);
  const bool sweeps = ns.size() == 1 && ws.size() == 1 && ls.size() == 1;
  std::vector<Point> points;
  std::int64_t elements = 0;
  for (const auto kind : {MemoryKind::dmm, MemoryKind::umm})
    for (const std::int64_t n : ns)
      for (const std::int64_t w : ws)
        for (const std::int64_t l : ls)
          for (const std::int64_t p : threads_for(request, n, w, l, sweeps)) {
            points.push_back({{kind, p, w, l}, n, {}});
            elements += n;
            if (elements > 2 * most_elements)
              refuse("model nakano: too many values; the elements of all combinations may be ",
                     std::to_string(most_elements), " together");
          }
  return points;
}

void run_all(const Request& request, std::vector<Point>& points) {
  for (Point& point : points) {
    const std::int64_t k =
        request.k.empty() ? 0 : whole_number("--k", request.k, std::min(point.machine.threads, point.n), point.n);
    point.times = nakano_times(point.machine, point.n, k);
  }
}

double ratio(const ModelTime& row) { return static_cast<double>(row.time_units) / row.bound; }

std::string bound_of(std::string_view program) {
  if (program == "contiguous") return "n/w + nl/p + l";
  if (program == "naive") return "n log n / w + nl log n / p + l log n";
  if (program == "sequential-parallel") return "n/w + nl/p + (nl log k) / k";
  return "n/w + nl/p + l log n";
}

Json json_of(const Point& point) {
  const NakanoTimes& times = point.times;
  Json programs = Json::array();
  for (const ModelTime& row : times.programs)
    programs.push_back({{"program", row.program},
                        {"time_units", row.time_units},
                        {"requests", row.requests},
                        {"entries", row.entries},
                        {"barriers", row.barriers},
                        {"bound", bound_of(row.program)},
                        {"time_over_bound", ratio(row)},
                        {"constant", row.constant ? Json(*row.constant) : Json()}});
  return {{"machine", name_of(point.machine.kind)},
          {"n", point.n},
          {"p", point.machine.threads},
          {"w", point.machine.width},
          {"l", point.machine.latency},
          {"k", times.workspace},
          {"height", times.height},
          {"width", times.width},
          {"limits", {{"bandwidth", times.bandwidth}, {"latency", times.latency}, {"reduction", times.reduction}}},
          {"lower_bound", times.lower_bound},
          {"limit", times.limit},
          {"enough_threads", times.enough_threads},
          {"enough_elements", times.enough_elements},
          {"programs", programs}};
}

std::string times_table(const std::vector<Point>& points) {
  std::vector<std::vector<std::string>> rows{
      {"machine", "n", "p", "w", "l", "k", "limit", "wl<=p", "wl<=n/log n", "lower bound"}};
  for (const ModelTime& program : points[0].times.programs) rows[0].emplace_back(program.program);
  for (const auto& [machine, n, times] : points) {
    const auto yes = [](bool holds) { return std::string(holds ? "yes" : "no"); };
    rows.push_back({std::string(name_of(machine.kind)), std::to_string(n), std::to_string(machine.threads),
                    std::to_string(machine.width), std::to_string(machine.latency), std::to_string(times.workspace),
                    std::string(times.limit), yes(times.enough_threads), yes(times.enough_elements),
                    std::to_string(times.lower_bound)});
    for (const ModelTime& program : times.programs) rows.back().push_back(std::to_string(program.time_units));
  }
  return aligned(rows);
}

// The largest time / bound of each program, of the points where a constant is proven and of all.
std::string constants_table(const std::vector<Point>& points) {
  std::vector<std::vector<std::string>> rows{
      {"machine", "program", "bound", "c", "time / bound", "where c is not proven"}};
  for (const auto kind : {MemoryKind::dmm, MemoryKind::umm})
    for (std::size_t i = 0; i < points[0].times.programs.size(); ++i) {
      double constant = 0, proven = 0, other = 0;
      for (const Point& point : points) {
        if (point.machine.kind != kind) continue;
        const ModelTime& row = point.times.programs[i];
        if (row.constant) constant = *row.constant;
        double& largest = row.constant ? proven : other;
        largest = std::max(largest, ratio(row));
      }
      const std::string_view program = points[0].times.programs[i].program;
      const auto shown = [](double value) { return value > 0 ? fmt::format("{:.3f}", value) : "-"; };
      rows.push_back({std::string(name_of(kind)), std::string(program), bound_of(program),
                      constant > 0 ? fmt::format("{:.0f}", constant) : "-", shown(proven), shown(other)});
    }
  return aligned(rows);
}

void run(const Request& request, const Settings& settings) {
  std::vector<Point> points = points_of(request);
  run_all(request, points);
  if (settings.json) {
    for (const Point& point : points) write_out(json_of(point).dump() + "\n");
    return;
  }
  write_out(times_table(points) + "\n" + constants_table(points));
}

}  // namespace

void add_model_nakano(CLI::App& verb, Settings& settings) {
  auto request = std::make_shared<Request>();
  CLI::App* sub = verb.add_subcommand("nakano", "The sum, prefix-sums and table of Nakano 2013 on the DMM and the UMM");
  begin_group(*sub, group::what);
  sub->add_option("--n", request->n, "Elements, one value or several: N,N,..; by default 16384")->type_name("N");
  sub->add_option("--p", request->p,
                  "Threads, multiples of w; by default w, 2w, 4w, .. n, or wl where another parameter varies")
      ->type_name("N");
  sub->add_option("--w", request->w, "Width: banks, cells of a group, threads of a warp; by default 32")
      ->type_name("N");
  sub->add_option("--l", request->l, "Latency, in time units; by default 32")->type_name("N");
  sub->add_option("--k", request->k, "Workspace of sequential-parallel, p to n; by default min(p log p, wl log(wl))")
      ->type_name("N");
  sub->footer(
      "Runs every combination on both machines. The lower bound is the largest of n/w (bandwidth), nl/p (latency) and\n"
      "l log n (reduction); limit names it. Latency is hidden where wl <= p and wl <= n/log n. The second table has "
      "the\n"
      "proven constants c of time <= c bound, and the largest time / bound that was found.\n"
      "The sources' bench/pages/show.py draws the points that --json prints.\n\n"
      "Example:\n  areal model nakano --n 4096 --p 32,256,2048 --l 100");
  sub->callback([request, &settings] {
    settings.resolve();
    run(*request, settings);
  });
}

}  // namespace areal::command
