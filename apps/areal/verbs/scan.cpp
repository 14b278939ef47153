// areal scan: inclusive sums of one line.

#include <CLI/CLI.hpp>
#include <areal/catalog.hpp>
#include <areal/info.hpp>
#include <areal/research/scan.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include "io/algorithms_taking.hpp"
#include "io/exact_sums.hpp"
#include "io/help.hpp"
#include "io/json_line.hpp"
#include "io/json_number.hpp"
#include "io/launch_table.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/pixels.hpp"
#include "io/types.hpp"
#include "media/media.hpp"
#include "verbs.hpp"

namespace areal::command {
namespace {

struct ScanRequest {
  std::string path, raw, output, algorithm, types, threads, group;
  LaunchTable launches;
};

bool available(Backend backend) {
  for (const BackendInfo& row : backends())
    if (row.backend == backend) return row.available;
  return false;
}

std::string device_ids() {
  std::vector<std::string> ids;
  for (const Algorithm& row : algorithms())
    if (row.family == "scan") ids.emplace_back(row.id);
  return word_list(ids);
}

/// Backend `auto` is cuda with a GPU. Without one it is the CPU, or for a paper's algorithm, which the CPU lacks, the
/// simulated machine.
ScanOptions scan_options(ScanRequest& request, Settings& settings) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  ScanOptions options;
  Backend& backend = settings.backend;
  const bool is_serial = request.algorithm == "serial", is_papers = !request.algorithm.empty() && !is_serial;
  if (is_papers && find_algorithm("scan", request.algorithm) == nullptr)
    refuse("--algorithm ", request.algorithm, ": may be serial, ", device_ids());
  if (backend == Backend::automatic) {
    const bool on_cuda = !is_serial && available(Backend::cuda);
    backend = on_cuda ? Backend::cuda : is_papers ? Backend::simt : Backend::cpu;
    if (backend == Backend::simt)
      settings.note("there is no GPU: {} runs on the simulated machine, which is slow", request.algorithm);
  }
  if (backend == Backend::cpu && is_papers)
    refuse("--algorithm ", request.algorithm, ": backend cpu has only serial; cuda and simt have this algorithm");
  if (backend != Backend::cpu && is_serial)
    refuse("--algorithm serial: only backend cpu has it; ", name_of(backend), " has ", device_ids());
  options.algorithm = is_papers ? request.algorithm : backend == Backend::cpu ? "serial" : "optimal";
  const Algorithm* const row = find_algorithm("scan", options.algorithm);
  const auto option_value = [&](const char* option, const std::string& text, bool AlgorithmOptions::*what) {
    if (text.empty()) return std::int64_t{0};
    if (row == nullptr || !(row->takes.*what))
      refuse(option, " ", text, ": of areal scan it is for ", algorithms_taking(what), ", and this is ",
             options.algorithm);
    return whole_number(option, text, 0, most);
  };
  options.threads = option_value("--threads", request.threads, &AlgorithmOptions::threads);
  options.group = option_value("--k", request.group, &AlgorithmOptions::group);
  options.on_launch = request.launches.report(settings);
  return options;
}

/// Reads a headerless file described by "NxTYPE".
Array raw_line(const std::string& path, const std::string& text) {
  const auto parts = split(text, 'x');
  const auto type = parts.size() == 2 ? type_named(parts[1]) : std::nullopt;
  if (!type) refuse("--raw ", text, ": may be NxTYPE, for example 1000000x32f");
  if (path == "-") refuse("--raw ", text, ": needs a file, not standard input");
  return media::read_raw(path, Shape{whole_number("--raw", parts[0], 0), 1}, *type);
}

Array line_of(const ScanRequest& request) {
  if (!request.raw.empty()) return raw_line(request.path, request.raw);
  if (request.path != "-") return media::read_npy(request.path, media::Axes::line);
  Array line = media::read_npy(stdin, "standard input", media::Axes::line);
  if (std::feof(stdin) != 0 && line.data() == nullptr) throw IoError("standard input: holds no .npy array");
  return line;
}

/// The sum of the whole line; null if it may have wrapped.
nlohmann::json last_of(const Array& sums, const SumTypes& types) {
  const std::int64_t n = sums.shape().width;
  if (!types.fits(n)) return nullptr;
  constexpr double zero = 0;  // all bits are 0 in every type
  return json_number(sums.type(), n > 0 ? static_cast<const char*>(sums.data()) + (n - 1) * size_of(sums.type())
                                        : static_cast<const void*>(&zero));
}

void run(ScanRequest& request, Settings& settings) {
  const ScanOptions options = scan_options(request, settings);
  media::require_other_files({request.output}, {request.path});
  Array line = line_of(request);
  const TypePair types =
      types_for(parse_types(request.types), line.shape(), line.type(), false, "elements of " + request.path);
  if (types.input != line.type()) line = converted(line.view(), types.input);
  Array sums(line.shape(), types.table);
  const auto start = std::chrono::steady_clock::now();
  scan_line(line.view(), sums.view(), options, settings.execution());
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (!request.output.empty()) media::write_npy_line(request.output, sums.view());
  const nlohmann::json total = last_of(sums, {types, {}, is_float(line.type()) ? PixelRange() : range_of(line.view())});
  if (settings.json) {
    nlohmann::ordered_json json{{"input", request.path},
                                {"n", line.shape().width},
                                {"lane", name_of(types)},
                                {"backend", name_of(settings.backend)},
                                {"algorithm", options.algorithm},
                                {"sum", total},
                                {"time_ms", ms}};
    if (!request.output.empty()) json["output"] = request.output;
    if (request.launches.enabled()) json["launches"] = request.launches.take_json();
    write_json(json);
    return;
  }
  if (request.output.empty())
    write_out(fmt::format("{}: {} elements, types {}, backend {}, algorithm {}, {}{:.3f} ms\n", request.path,
                          line.shape().width, name_of(types), name_of(settings.backend), options.algorithm,
                          total.is_null() ? "" : "sum " + json_text(total) + ", ", ms));
  else
    settings.detail("wrote {}", request.output);
  request.launches.write({}, false, settings);
}

}  // namespace

void add_scan(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand("scan", "Inclusive sums of one line");
  auto request = std::make_shared<ScanRequest>();
  begin_group(*verb, group::input);
  verb->add_option("INPUT", request->path, "An .npy of one dimension, or - to read it from standard input")->required();
  verb->add_option("--raw", request->raw, "INPUT is raw: this number of elements of this type, e.g. 1000000x32f")
      ->type_name("NxTYPE");
  begin_group(*verb, group::what);
  add_types_to(*verb, request->types, "Types of elements and sums, e.g. 8u32u, 32f64f");
  begin_group(*verb, group::where);
  verb->add_option(
          "--algorithm", request->algorithm,
          "serial (on the CPU) or an id of family scan in areal algorithms (default optimal; on the CPU serial)")
      ->type_name("ID");
  verb->add_option(
          "--threads", request->threads,
          "For " + algorithms_taking(&AlgorithmOptions::threads) + ": number of threads, p; 0 fits it to the line")
      ->type_name("P");
  verb->add_option("--k", request->group,
                   "For " + algorithms_taking(&AlgorithmOptions::group) +
                       ": elements of a group; by default p log2 p, or all where p is 0")
      ->type_name("K");
  begin_group(*verb, group::output);
  verb->add_option("-o,--output", request->output, "Write the sums to this .npy of one dimension")->type_name("FILE");
  request->launches.add_to(*verb);
  verb->footer(
      "Without -o: one line about the sums.\n\nExample:\n  areal scan data/home.jpg --raw 32197x8u -o sums.npy");
  verb->callback([request, &settings] {
    settings.resolve();
    run(*request, settings);
  });
}

}  // namespace areal::command
