// areal model --algorithm ID: the simulated machine's counts of an algorithm against the catalogue's formulas, and its
// costs on the DMM, the UMM and the HMM against the paper's.

#include <CLI/CLI.hpp>
#include <areal/catalog.hpp>
#include <areal/research/histogram.hpp>
#include <areal/research/model.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include "bench/papers/model.hpp"
#include "io/algorithms_taking.hpp"
#include "io/columns.hpp"
#include "io/help.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/tile_options.hpp"

namespace areal::command {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t million = 1 << 20;

struct Request {
  std::string family, algorithm, n, size, types, counter, bins, tile, tile_threads, share, scan, threads, group;
  std::string p = "2048", w = "32", l = "32", d = "16";
};

Size size_of(const Request& request, bool is_line) {
  if (is_line) {
    if (!request.size.empty()) refuse("--size ", request.size, ": a line has --n");
    return {request.n.empty() ? 16384 : whole_number("--n", request.n, 1, million), 1};
  }
  if (!request.size.empty()) {
    if (!request.n.empty()) refuse("--n and --size: may not be given together");
    return size("--size", request.size);
  }
  if (request.n.empty()) return {128, 128};
  const std::int64_t n = whole_number("--n", request.n, 1, million);
  const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(n))));
  if (side * side != n) refuse("--n ", request.n, ": may be a square; --size WxH takes other images");
  return {side, side};
}

/// The family of the option, else the first family of the catalogue with the algorithm.
std::string_view family_of(const Request& request) {
  for (const std::string_view family : {"sat", "histogram", "scan"})
    if (request.family == family || (request.family.empty() && find_algorithm(family, request.algorithm) != nullptr))
      return family;
  if (!request.family.empty()) refuse("--family ", request.family, ": may be sat, histogram or scan");
  return {};  // no such algorithm: the model says so
}

AlgorithmRequest algorithm_of(const Request& request) {
  AlgorithmRequest model_request;
  model_request.algorithm = request.algorithm;
  model_request.family = request.family;
  const std::string_view family = family_of(request);
  const bool is_tensor = family == "histogram", is_line = family == "scan";
  const Size image = size_of(request, is_line);
  model_request.height = image.height, model_request.width = image.width;
  const auto only = [&](const char* option, const std::string& text, bool holds, const std::string& what) {
    if (!text.empty() && !holds) refuse(option, " ", text, ": only ", what, " has it");
    return !text.empty();
  };
  if (only("--types", request.types, !is_tensor, "a summed-area table or a line")) {
    const auto types = find_type_pair(request.types);
    if (!types) refuse("--types ", request.types, ": no such types");
    model_request.types = *types;
  }
  if (only("--bins", request.bins, is_tensor, "an integral histogram"))
    model_request.bins = whole_number("--bins", request.bins, 1, 65535);
  if (only("--counter", request.counter, is_tensor, "an integral histogram")) {
    const auto type = type_named(request.counter);
    if (!type || (*type != Type::u16 && *type != Type::u32 && *type != Type::u64))
      refuse("--counter ", request.counter, ": may be 16u, 32u or 64u");
    model_request.counter = *type;
  }
  const Algorithm* const row = find_algorithm(family, model_request.algorithm);
  const auto is_given = [&](const char* option, const std::string& text, bool AlgorithmOptions::*what) {
    return only(option, text, row != nullptr && row->takes.*what, algorithms_taking(what));
  };
  if (is_given("--tile", request.tile, &AlgorithmOptions::tile)) model_request.tile = tile_side(request.tile);
  if (is_given("--tile-threads", request.tile_threads, &AlgorithmOptions::tile))
    model_request.tile_threads = threads_on_tile(request.tile_threads, model_request.tile);
  if (is_given("--r", request.share, &AlgorithmOptions::r)) {
    model_request.r = number("--r", request.share);
    if (!(model_request.r > 0 && model_request.r < 1)) refuse("--r ", request.share, ": may be above 0 and below 1");
  }
  if (is_given("--threads", request.threads, &AlgorithmOptions::threads))
    model_request.threads = whole_number("--threads", request.threads, 0, million);
  if (is_given("--k", request.group, &AlgorithmOptions::group))
    model_request.group = whole_number("--k", request.group, 1, million);
  if (is_given("--scan", request.scan, &AlgorithmOptions::scan)) {
    const auto scan = warp_scan_named(request.scan);
    if (!scan) refuse("--scan ", request.scan, ": may be kogge-stone or ladner-fischer");
    model_request.scan = *scan;
  }
  return model_request;
}

HierarchicalMachine machine_of(const Request& request) {
  HierarchicalMachine machine;
  machine.width = whole_number("--w", request.w, 1, 32);
  if (32 % machine.width != 0) refuse("--w ", request.w, ": may be 1, 2, 4, 8, 16 or 32");
  machine.latency = whole_number("--l", request.l, 1, million);
  machine.threads = whole_number("--p", request.p, 1, million);
  if (machine.threads % machine.width != 0) refuse("--p ", request.p, ": may be a multiple of --w ", request.w);
  machine.dmms = whole_number("--d", request.d, 1, 1024);
  return machine;
}

Json whole_or_not(double value) {
  return value == std::floor(value) ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

Json json_of(const CountBeside& figure) {
  return {{"formula", figure.formula},
          {"counted", whole_or_not(figure.counted)},
          {"expected", whole_or_not(figure.expected)},
          {"difference", whole_or_not(figure.difference())}};
}

Json number_or_none(const std::optional<double>& value) { return value ? whole_or_not(*value) : Json(); }

Json json_of(const CostBeside& figure) {
  return {{"formula", figure.formula.empty() ? Json() : Json(figure.formula)},
          {"counted", number_or_none(figure.counted)},
          {"expected", number_or_none(figure.expected)},
          {"difference", number_or_none(figure.difference())}};
}

Json json_of(const AlgorithmRequest& model_request, const HierarchicalMachine& machine, const AlgorithmModel& model) {
  const bool is_tensor = model.row->family == "histogram";
  const int threads =
      model_request.tile_threads != 0 ? model_request.tile_threads : research::default_tile_threads(model_request.tile);
  return {{"algorithm", model.row->id},
          {"family", model.row->family},
          {"source", model.row->source},
          {"height", model_request.height},
          {"width", model_request.width},
          {"bins", is_tensor ? Json(model_request.bins) : Json()},
          {"counter", is_tensor ? Json(name_of(model_request.counter)) : Json()},
          {"lane", is_tensor ? Json() : Json(name_of(model_request.types))},
          {"n", model.elements},
          {"threads", model.row->family == "scan" ? Json(model_request.threads) : Json()},
          {"k", model.group > 0 ? Json(model.group) : Json()},
          {"p", machine.threads},
          {"w", machine.width},
          {"l", machine.latency},
          {"d", machine.dmms},
          {"tile", model.tile > 0 ? whole_or_not(model.tile) : Json()},
          {"tile_threads", model.row->takes.tile ? Json(threads) : Json()},
          {"r", model.r > 0 ? Json(model.r) : Json()},
          {"side", model.r > 0 ? whole_or_not(model.side) : Json()},
          {"capacity", model.capacity > 0 ? whole_or_not(model.capacity) : Json()},
          {"scan", model.row->takes.scan ? Json(name_of(model_request.scan)) : Json()},
          {"depth", whole_or_not(model.depth)},
          {"coalesced", model.coalesced},
          {"strided", model.strided},
          {"strided_elements", model.strided_elements},
          {"groups", model.groups},
          {"shared", model.shared},
          {"shared_reads", model.counts.shared_reads.elements},
          {"shared_writes", model.counts.shared_writes.elements},
          {"barrier_steps", model.barrier_steps},
          {"cost", *model.cost.counted},
          {"cost_of_groups", model.cost_of_groups},
          {"cost_by_formula", model.cost.expected ? Json(*model.cost.expected) : Json()},
          {"time_units", number_or_none(model.hmm.counted)},
          {"no_time", model.no_time.empty() ? Json() : Json(model.no_time)},
          {"no_formula", model.no_formula.empty() ? Json() : Json(model.no_formula)},
          {"polls", model.counts.polls},
          {"formulas",
           {{"reads", json_of(model.reads)},
            {"writes", json_of(model.writes)},
            {"steps", json_of(model.steps)},
            {"cost", json_of(model.cost)},
            {"dmm", json_of(model.dmm)},
            {"umm", json_of(model.umm)},
            {"hmm", json_of(model.hmm)}}}};
}

std::string shown(double value) {
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

std::string shown(const std::optional<double>& value) { return value ? shown(*value) : "-"; }

std::string text_of(const AlgorithmRequest& model_request, const HierarchicalMachine& machine,
                    const AlgorithmModel& model) {
  const bool is_tensor = model.row->family == "histogram";
  std::string text = fmt::format("{} ({}), ", model.row->id, model.row->source);
  if (model.row->family == "scan")
    text += "a line: ";
  else
    text += fmt::format("{} x {}{}: ", model_request.width, model_request.height,
                        is_tensor ? fmt::format(" x {} bins", model_request.bins) : "");
  text += fmt::format("n = {}", model.elements);
  if (!is_tensor) text += ", " + name_of(model_request.types);
  if (model_request.threads > 0) text += fmt::format(", {} threads", model_request.threads);
  if (model.group > 0) text += fmt::format(", k = {}", model.group);
  if (model.tile > 0) text += fmt::format(", T = {:.0f}", model.tile);
  if (model_request.tile_threads > 0) text += fmt::format(", blocks of {} threads", model_request.tile_threads);
  if (model.r > 0) text += fmt::format(", r = {:.4f}, k = {:.0f}", model.r, model.side);
  if (model.row->takes.scan) text += fmt::format(", scan {}", name_of(model_request.scan));
  if (model.capacity > 0) text += fmt::format(", C = {:.0f}", model.capacity);
  if (model.recursive) text += fmt::format(", {:.0f} levels of recursion", model.depth);
  text += "\n\n";
  std::vector<std::vector<std::string>> rows{{"", "formula", "counted", "expected", "difference"}};
  const auto add = [&](const char* what, std::string_view formula, double counted, double expected) {
    rows.push_back({what, std::string(formula), shown(counted), shown(expected), shown(counted - expected)});
  };
  const auto of_all = [](std::string_view formula) {  // the catalogue's are of one element
    return formula.find(' ') == std::string_view::npos ? fmt::format("{} n", formula) : fmt::format("({}) n", formula);
  };
  add("reads", of_all(model.reads.formula), model.reads.counted, model.reads.expected);
  add("writes", of_all(model.writes.formula), model.writes.counted, model.writes.expected);
  add("barrier steps B", model.steps.formula, model.steps.counted, model.steps.expected);
  const auto add_cost = [&](const char* what, const CostBeside& cost) {
    rows.push_back({what, cost.formula.empty() ? "-" : cost.formula, shown(cost.counted), shown(cost.expected),
                    shown(cost.difference())});
  };
  add_cost("cost C/w + S + (B+1)(l-1)", model.cost);
  add_cost("DMM, stages", model.dmm);
  add_cost("UMM, time units", model.umm);
  add_cost("HMM, time units", model.hmm);
  text += aligned(rows, 2);
  const auto line = [&](const char* what, const std::string& value) {
    text += fmt::format("{:<26}{:>12}\n", what, value);
  };
  text += "\n";
  line("coalesced C", std::to_string(model.coalesced));
  line("strided S, groups", std::to_string(model.strided));
  line("strided elements", std::to_string(model.strided_elements));
  line("address groups", std::to_string(model.groups));
  line("cost of address groups", shown(model.cost_of_groups));
  line("shared accesses", std::to_string(model.shared));
  if (model.counts.polls > 0) line("polls, not in the cost", std::to_string(model.counts.polls));
  text += fmt::format("\nw = {}, l = {}", machine.width, machine.latency);
  if (machine.width != 32) text += " (tiles and blocks stay those of w = 32)";
  text += fmt::format("; the HMM is d = {} DMMs of p = {} threads, the UMM has all {}\n", machine.dmms, machine.threads,
                      machine.dmms * machine.threads);
  if (!model.no_formula.empty()) text += model.no_formula + "\n";
  if (!model.no_time.empty()) text += "no time on the UMM and the HMM: " + model.no_time + "\n";
  return text;
}

void run(const Request& request, const Settings& settings) {
  const AlgorithmRequest model_request = algorithm_of(request);
  const HierarchicalMachine machine = machine_of(request);
  const AlgorithmModel model = algorithm_model(model_request, machine);
  write_out(settings.json ? json_of(model_request, machine, model).dump() + "\n"
                          : text_of(model_request, machine, model));
}

}  // namespace

void add_model_algorithm(CLI::App& verb, Settings& settings) {
  auto request = std::make_shared<Request>();
  const auto add = [&](const char* name, std::string& text, const std::string& what, const char* type) {
    return verb.add_option(name, text, what)->type_name(type);
  };
  begin_group(verb, group::what);
  std::vector<CLI::Option*> options{
      add("--algorithm", request->algorithm, "A GPU algorithm of areal algorithms", "ID"),
      add("--family", request->family, "sat, histogram or scan; by default the first that has the algorithm", "NAME"),
      add("--n", request->n, "Elements of a square image, or of a line; by default 16384", "N"),
      add("--size", request->size, "Or the width and height of the image", "WxH"),
      add("--p", request->p, "Threads that a DMM holds; by default 2048", "N"),
      add("--w", request->w, "Width of the machine, 1 to 32; the tiles stay 32 (or --tile) wide", "N"),
      add("--l", request->l, "Latency of global memory, in time units; by default 32", "N"),
      add("--d", request->d, "DMMs; by default 16", "N"),
      add("--types", request->types, "Input and table type; by default 32f32f", "TYPES"),
      add("--lane", request->types, "", "TYPES")->group(""),  // its old name
      add("--counter", request->counter, "For histograms: 16u, 32u or 64u; by default 32u", "TYPE"),
      add("--bins", request->bins, "For histograms; by default 16", "N"),
      add("--tile", request->tile, "For " + algorithms_taking(&AlgorithmOptions::tile, " and ") + ": 16, 32 or 64",
          "N"),
      add("--tile-threads", request->tile_threads, "Threads of a block on such a tile, as in areal hist", "N"),
      add("--r", request->share,
          "For " + algorithms_taking(&AlgorithmOptions::r) + ": the share of the triangles; by default 0.25", "R"),
      add("--k", request->group,
          "For " + algorithms_taking(&AlgorithmOptions::group) + ": elements of a group; by default p log p, or all",
          "N"),
      add("--scan,--warp-scan", request->scan,
          "For " + algorithms_taking(&AlgorithmOptions::scan, " and ") + ": kogge-stone or ladner-fischer", "NAME"),
  };
  begin_group(verb, group::where);
  // Of nakano and chen it is what every verb has.
  add("--threads", request->threads,
      "For " + algorithms_taking(&AlgorithmOptions::threads, " and ") +
          ": their p; by default as many as there is work",
      "N");
  for (CLI::App* sub : verb.get_subcommands([](CLI::App*) { return true; }))
    for (CLI::Option* option : options)
      if (sub->get_option_no_throw(option->get_name()) == nullptr) sub->excludes(option);
  verb.callback([request, &verb, &settings] {
    if (!verb.get_subcommands().empty()) return;
    if (request->algorithm.empty()) refuse("model: needs a sub-command; it may be nakano or chen; or --algorithm ID");
    settings.resolve();
    run(*request, settings);
  });
}

}  // namespace areal::command
