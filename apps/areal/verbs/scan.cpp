// areal scan: inclusive sums of one line.

#include <CLI/CLI.hpp>
#include <areal/catalog.hpp>
#include <areal/info.hpp>
#include <areal/research/scan.hpp>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include "io/launch_table.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/pixels.hpp"
#include "io/takers.hpp"
#include "media/media.hpp"
#include "verbs.hpp"

namespace areal::command {
namespace {

struct Request {
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
  return listed(ids);
}

/// `auto` is cuda where there is one. Where there is none, sums without a named algorithm are the CPU's; the papers'
/// algorithms, which no CPU has, run on the simulated machine.
ScanOptions scan_options(Request& request, Settings& settings) {
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
    refuse("--algorithm ", request.algorithm, ": the cpu has serial alone; cuda and simt have this one");
  if (backend != Backend::cpu && is_serial)
    refuse("--algorithm serial: is the cpu's; ", name_of(backend), " has ", device_ids());
  options.backend = backend;
  options.device = settings.device;
  options.algorithm = is_papers ? request.algorithm : backend == Backend::cpu ? "serial" : "optimal";
  const Algorithm* const row = find_algorithm("scan", options.algorithm);
  const auto taken = [&](const char* option, const std::string& text, bool AlgorithmOptions::*what) {
    if (text.empty()) return std::int64_t{0};
    if (row == nullptr || !(row->takes.*what)) refuse(option, " ", text, ": only ", takers(what), " has it");
    return whole_number(option, text, 0, most);
  };
  options.threads = taken("--threads", request.threads, &AlgorithmOptions::threads);
  options.group = taken("--k", request.group, &AlgorithmOptions::group);
  options.launched = request.launches.report(settings);
  return options;
}

/// "NxTYPE" of a file without a header.
Array raw_line(const std::string& path, const std::string& text) {
  const auto parts = split(text, 'x');
  const auto type = parts.size() == 2 ? type_named(parts[1]) : std::nullopt;
  if (!type) refuse("--raw ", text, ": may be NxTYPE, for example 1000000x32f");
  if (path == "-") refuse("--raw ", text, ": needs a file, not standard input");
  return media::read_raw(path, Shape{whole_number("--raw", parts[0], 0), 1}, *type);
}

Array line_of(const Request& request) {
  if (!request.raw.empty()) return raw_line(request.path, request.raw);
  if (request.path != "-") return media::read_npy(request.path, media::Axes::line);
  Array line = media::read_npy(stdin, "standard input", media::Axes::line);
  if (std::feof(stdin) != 0 && line.data() == nullptr) throw IoError("standard input: holds no .npy array");
  return line;
}

TypePair types_for(const Request& request, const Array& line) {
  if (request.types.empty()) return default_types(line.shape(), line.type());
  const auto types = find_type_pair(request.types);
  std::vector<std::string> all, fitting;
  for (const TypePair& known : type_pairs()) {
    all.push_back(name_of(known));
    if (holds(known.input, line.type())) fitting.push_back(name_of(known));
  }
  if (!types) refuse("--types ", request.types, ": may be ", listed(all));
  if (!holds(types->input, line.type()))
    refuse("--types ", request.types, ": cannot hold the ", name_of(line.type()), " elements of ", request.path,
           fitting.empty() ? "" : "; it may be ", listed(fitting));
  return *types;
}

/// The sum of the whole line, as the number that it is.
nlohmann::json last_of(const Array& sums) {
  const std::int64_t n = sums.shape().width;
  const auto read = [&]<class T>(T value) {
    if (n > 0) std::memcpy(&value, static_cast<const T*>(sums.data()) + n - 1, sizeof value);
    return nlohmann::json(value);
  };
  switch (sums.type()) {
    case Type::u32:
      return read(std::uint32_t{});
    case Type::s32:
      return read(std::int32_t{});
    case Type::u64:
      return read(std::uint64_t{});
    case Type::s64:
      return read(std::int64_t{});
    case Type::f32:
      return read(float{});
    default:
      return read(double{});
  }
}

void run(Request& request, Settings& settings) {
  const ScanOptions options = scan_options(request, settings);
  Array line = line_of(request);
  const TypePair types = types_for(request, line);
  if (types.input != line.type()) line = converted(line.view(), types.input);
  Array sums(line.shape(), types.table);
  const auto start = std::chrono::steady_clock::now();
  scan_line(line.view(), sums.view(), options);
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (!request.output.empty()) media::write_npy_line(request.output, sums.view());
  const nlohmann::json total = last_of(sums);
  if (settings.json) {
    nlohmann::ordered_json json{{"input", request.path},
                                {"n", line.shape().width},
                                {"lane", name_of(types)},
                                {"backend", name_of(options.backend)},
                                {"algorithm", options.algorithm},
                                {"sum", total},
                                {"time_ms", ms}};
    if (!request.output.empty()) json["output"] = request.output;
    if (request.launches.asked()) json["launches"] = request.launches.take_json();
    write_out(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    return;
  }
  if (request.output.empty())
    write_out(fmt::format("{}: {} elements, types {}, backend {}, algorithm {}, sum {}, {:.3f} ms\n", request.path,
                          line.shape().width, name_of(types), name_of(options.backend), options.algorithm, total.dump(),
                          ms));
  else
    settings.detail("wrote {}", request.output);
  request.launches.write({}, false, settings);
}

}  // namespace

void add_scan(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand("scan", "Inclusive sums of one line");
  auto request = std::make_shared<Request>();
  verb->add_option("INPUT", request->path, "An .npy of one dimension, or - (one on standard input)")->required();
  verb->add_option("--raw", request->raw, "INPUT is so many elements of this type, e.g. 1000000x32f")
      ->type_name("NxTYPE");
  verb->add_option("-o,--output", request->output, "Write the sums: an .npy of one dimension")->type_name("FILE");
  verb->add_option("--types,--types", request->types, "Input and sum type, e.g. 8u32u, 32f64f")->type_name("LANE");
  verb->add_option("--algorithm", request->algorithm,
                   "serial, on the CPU, or an id of areal algorithms, family scan (optimal)")
      ->type_name("ID");
  verb->add_option("--threads", request->threads,
                   "For " + takers(&AlgorithmOptions::threads) + ": their p; 0: as there is work")
      ->type_name("P");
  verb->add_option("--k", request->group,
                   "For " + takers(&AlgorithmOptions::group) + ": elements of a group; by default p log p, or all")
      ->type_name("K");
  request->launches.add_to(*verb);
  verb->footer("With no -o: one line on the sums.\n\nExample:\n  areal scan data/home.jpg --raw 32197x8u -o sums.npy");
  verb->callback([request, &settings] {
    settings.resolve();
    run(*request, settings);
  });
}

}  // namespace areal::command
