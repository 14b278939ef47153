// areal model chen: the performance model of Chen 2018, with the paper's figures or the measurements of
// areal_latencies, its prediction for VI-D, and the measurements of areal bench.

#include "bench/papers/model_chen.hpp"
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <span>
#include "bench/papers/model.hpp"
#include "bench/papers/model_chen_measured.hpp"
#include "io/columns.hpp"
#include "io/help.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "json/read.hpp"

namespace areal::command {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t most_latencies = 1 << 20;
using chen::claimed;
using chen::Device;
using chen::Times;

struct Named {
  std::string name;
  Device device;
};

/// One way to predict: by latency, or by throughput with one of the warp scans.
struct Prediction {
  std::string by;
  Times times;
};

double figure(const Json& json, const std::string& path, const char* group, const char* name) {
  const Json& from = *group == '\0' ? json : json.value(group, Json::object());
  const auto found = from.is_object() ? from.find(name) : from.end();
  if (!from.is_object() || found == from.end() || !found->is_number() || !(found->get<double>() > 0))
    throw IoError(fmt::format("{}: needs {}{}{}, a number above 0", path, group, *group == '\0' ? "" : ".", name));
  return found->get<double>();
}

Named read_latencies(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) throw IoError(path + ": cannot be read");
  Json json;
  if (!read_json(file, most_latencies, json).empty() || !json.is_object())
    throw IoError(path + ": is not what areal_latencies writes, one JSON object");
  const auto of = [&](const char* group, const char* name) { return figure(json, path, group, name); };
  Named named;
  const auto device = json.find("device");
  named.name = device != json.end() && device->is_string() ? device->get<std::string>() : path;
  Device& d = named.device;
  d.shared_latency = of("latency_clocks", "shared"), d.shuffle_latency = of("latency_clocks", "shuffle");
  d.add_latency = of("latency_clocks", "add");
  d.shuffles = of("lanes_per_clock", "shuffle"), d.adds = of("lanes_per_clock", "add");
  d.ands = of("lanes_per_clock", "and");
  d.sms = static_cast<int>(of("", "sms")), d.clock = of("", "clock_ghz") * 1e9;
  d.shared_bandwidth = of("", "shared_bytes_per_clock") * d.sms * d.clock;
  d.registers = static_cast<std::int64_t>(of("of_sm", "registers"));
  d.shared_bytes = static_cast<std::int64_t>(of("of_sm", "shared_bytes"));
  d.most_blocks = static_cast<int>(of("of_sm", "blocks"));
  return named;
}

std::vector<Prediction> predictions(const Device& d, int bytes) {
  return {{"latency", predicted_latency(d)},
          {"throughput, kogge-stone", predicted_throughput(d, bytes)},
          {"throughput, ladner-fischer", predicted_throughput(d, bytes, chen::ladner_fischer_time)}};
}

/// Microseconds of the device for an image, where all SMs are busy with so many clocks for each 32 x 32 matrix.
double microseconds(const Device& d, double clocks, const Size& image) {
  const std::int64_t matrices = (image.width + 31) / 32 * ((image.height + 31) / 32);
  return clocks * static_cast<double>(matrices) / d.sms / d.clock * 1e6;
}

// ---- The equations, by their numbers. Those of sums of 4 and of 8 bytes where they differ.

struct Equation {
  const char *number, *what;
  double four, eight;
};

std::vector<Equation> equations(const Device& d) {
  using namespace chen;
  const Kernel four = brlt_kernel(d, 4), eight = brlt_kernel(d, 8);
  const auto both = [](const char* number, const char* what, double value) {
    return Equation{number, what, value, value};
  };
  const auto count = [](std::int64_t value) { return static_cast<double>(value); };
  return {
      both("3", "transpose, latency, clocks", transpose_latency(d)),
      both("4", "warp scans, latency, clocks", row_latency(d)),
      both("5", "serial scan, latency, clocks", column_latency(d)),
      both("6", "(3) + (5) < (4)", latency_favours_columns(d)),
      {"7", "warps of a block with BRLT", count(warps_of_block(four)), count(warps_of_block(eight))},
      {"8", "active warps", count(active_warps(d, four)), count(active_warps(d, eight))},
      {"9", "shared memory for a warp, GB/s", warp_bandwidth(d, four) * 1e-9, warp_bandwidth(d, eight) * 1e-9},
      {"10", "transpose, clocks", transpose_time(d, 4), transpose_time(d, 8)},
      both("11", "serial scan, clocks", column_add_time(d)),
      both("12", "shuffles, clocks", shuffle_time(d)),
      both("13", "additions of kogge-stone, clocks", kogge_stone_add_time(d)),
      both("13", "additions of ladner-fischer, clocks", ladner_fischer_add_time(d)),
      both("13", "ands of ladner-fischer, clocks", ladner_fischer_and_time(d)),
      {"14", "(10) + (11) < kogge-stone", double(beats_kogge_stone(d, 4)), double(beats_kogge_stone(d, 8))},
      {"15", "(10) + (11) < ladner-fischer", double(beats_ladner_fischer(d, 4)), double(beats_ladner_fischer(d, 8))}};
}

bool is_inequality(const Equation& equation) { return std::string_view(equation.what).find('<') != std::string::npos; }

// ---- JSON

Json json_of(const Device& d, const Prediction& prediction, int bytes, const Size& image) {
  const Times& t = prediction.times;
  const auto holds = claims(t);
  const auto algorithm = [&](double clocks) {
    Json json{{"clocks", clocks}};
    if (prediction.by != "latency") json["us"] = microseconds(d, clocks, image);
    return json;
  };
  return {{"by", prediction.by},
          {"bytes", bytes},
          {"passes",
           {{"ScanRowBrlt", t.scan_row_brlt},
            {"BrltScanRow", t.brlt_scan_row},
            {"ScanRow", t.scan_row},
            {"ScanColumn", t.scan_column}}},
          {"algorithms",
           {{"scanrow-brlt", algorithm(scanrow_brlt(t))},
            {"brlt-scanrow", algorithm(brlt_scanrow(t))},
            {"scanrow-column", algorithm(scanrow_column(t))}}},
          {"claims", {{claimed[0], holds[0]}, {claimed[1], holds[1]}, {claimed[2], holds[2]}}}};
}

Json json_of(const MeasuredFigure& measured) {
  Json pairs = Json::array();
  for (const MeasuredTypes& types : measured.pairs) {
    Json row{{"lane", types.types}, {"bytes", types.bytes}, {"scan", types.scan}, {"algorithms_us", types.algorithms}};
    if (const auto times = types.passes.times()) {
      const auto holds = claims(*times);
      row["passes_us"] = {{"ScanRowBrlt", times->scan_row_brlt},
                          {"BrltScanRow", times->brlt_scan_row},
                          {"ScanRow", times->scan_row},
                          {"ScanColumn", times->scan_column}};
      row["claims"] = {{claimed[0], holds[0]}, {claimed[1], holds[1]}, {claimed[2], holds[2]}};
    }
    pairs.push_back(row);
  }
  return {{"device", measured.device}, {"lanes", pairs}};
}

Json json_of(const Named& named, const Size& image) {
  Json list = Json::array(), predicted = Json::array();
  for (const Equation& e : equations(named.device)) {
    Json row{{"equation", e.number}, {"what", e.what}};
    if (is_inequality(e))
      row["holds"] = {{"4", e.four != 0}, {"8", e.eight != 0}};
    else
      row["value"] = {{"4", e.four}, {"8", e.eight}};
    list.push_back(row);
  }
  for (const int bytes : {4, 8})
    for (const Prediction& prediction : predictions(named.device, bytes))
      predicted.push_back(json_of(named.device, prediction, bytes, image));
  return {{"device", named.name},
          {"width", image.width},
          {"height", image.height},
          {"equations", list},
          {"predictions", predicted}};
}

// ---- Text

std::string yes(bool holds) { return holds ? "yes" : "no"; }
std::string number_of(double value) {
  return value == static_cast<double>(static_cast<std::int64_t>(value)) ? fmt::format("{:.0f}", value)
                                                                        : fmt::format("{:.1f}", value);
}

using Table = std::vector<std::vector<std::string>>;

// What is predicted: the launches, then the algorithms.
constexpr std::size_t passes = 4;
constexpr std::pair<const char*, double (*)(const Times&)> lines[] = {
    {"ScanRowBrlt", [](const Times& t) { return t.scan_row_brlt; }},
    {"BrltScanRow", [](const Times& t) { return t.brlt_scan_row; }},
    {"ScanRow", [](const Times& t) { return t.scan_row; }},
    {"ScanColumn", [](const Times& t) { return t.scan_column; }},
    {"scanrow-brlt", chen::scanrow_brlt},
    {"brlt-scanrow", chen::brlt_scanrow},
    {"scanrow-column", chen::scanrow_column}};

/// Columns side by side: every device with sums of 4, then of 8 bytes.
template <class Value>
std::vector<std::string> row_of(const std::vector<Named>& devices, std::vector<std::string> words, const Value& value) {
  for (const Named& named : devices)
    for (const int bytes : {4, 8}) words.push_back(value(named.device, bytes));
  return words;
}

std::string text_of(const std::vector<Named>& devices, const Size& image) {
  const auto header = [&](std::vector<std::string> words) {
    for (const Named& named : devices)
      for (const int bytes : {4, 8}) words.push_back(fmt::format("{}, {} bytes", named.name, bytes));
    return words;
  };
  Table table{header({"", "a 32 x 32 matrix of a warp, sums of"})};
  const std::vector<Equation> first = equations(devices[0].device);
  for (std::size_t i = 0; i < first.size(); ++i)
    table.push_back(
        row_of(devices, {fmt::format("({})", first[i].number), first[i].what}, [&](const Device& d, int bytes) {
          const Equation e = equations(d)[i];
          const double value = bytes == 4 ? e.four : e.eight;
          return is_inequality(e) ? yes(value != 0) : number_of(value);
        }));
  std::string text = aligned(table, 2);
  for (std::size_t way = 0; way < 3; ++way) {
    const std::string by = predictions(devices[0].device, 4)[way].by;
    table = {header({by})};
    for (const auto& line : lines)
      table.push_back(row_of(devices, {std::string(line.first) + ", clocks"}, [&](const Device& d, int bytes) {
        return number_of(line.second(predictions(d, bytes)[way].times));
      }));
    if (way > 0)
      for (const auto& line : std::span(lines).subspan(passes))
        table.push_back(row_of(devices, {fmt::format("{}, {} x {}, us", line.first, image.width, image.height)},
                               [&](const Device& d, int bytes) {
                                 const double clocks = line.second(predictions(d, bytes)[way].times);
                                 return fmt::format("{:.1f}", microseconds(d, clocks, image));
                               }));
    for (std::size_t i = 0; i < 3; ++i)
      table.push_back(row_of(devices, {fmt::format("VI-D {}) {}", i + 1, claimed[i])}, [&](const Device& d, int bytes) {
        return yes(claims(predictions(d, bytes)[way].times)[i]);
      }));
    text += "\n" + aligned(table, 1);
  }
  return text;
}

/// Model and measurement side by side, with each warp scan.
std::string text_of(const MeasuredFigure& measured, const std::vector<Named>& devices, const Size& image) {
  std::string text;
  for (const std::size_t way : {1, 2}) {
    const std::string scan = way == 1 ? "kogge-stone" : "ladner-fischer";
    Table table{{fmt::format("{}, {} x {}, us; measured on one {}", scan, image.width, image.height, measured.device)}};
    for (const auto& line : lines) table.push_back({line.first});
    for (std::size_t i = 0; i < claimed.size(); ++i) table.push_back({fmt::format("VI-D {}) {}", i + 1, claimed[i])});
    const auto add = [&](const std::string& title, const auto& value, const auto& holds) {
      table[0].push_back(title);
      for (std::size_t i = 0; i < std::size(lines); ++i) {
        const std::optional<double> time = value(i);
        table[1 + i].push_back(time ? fmt::format("{:.1f}", *time) : "-");
      }
      for (std::size_t i = 0; i < claimed.size(); ++i) table[1 + std::size(lines) + i].push_back(holds(i));
    };
    for (const int bytes : {4, 8}) {
      std::vector<const MeasuredTypes*> pairs;
      for (const MeasuredTypes& types : measured.pairs)
        if (types.scan == scan && types.bytes == bytes) pairs.push_back(&types);
      if (pairs.empty()) continue;
      for (const Named& named : devices) {
        const Times times = predictions(named.device, bytes)[way].times;
        add(
            fmt::format("{}, model, {} bytes", named.name, bytes),
            [&](std::size_t i) -> std::optional<double> {
              return microseconds(named.device, lines[i].second(times), image);
            },
            [&](std::size_t i) { return yes(claims(times)[i]); });
      }
      for (const MeasuredTypes* types : pairs)
        add(
            "measured, " + types->types,
            [&](std::size_t i) -> std::optional<double> {
              if (i < passes) return types->passes.of(lines[i].first);
              const auto found = types->algorithms.find(lines[i].first);
              if (found == types->algorithms.end()) return {};
              return found->second;
            },
            [&](std::size_t i) {
              const auto times = types->passes.times();
              return times ? yes(claims(*times)[i]) : "-";
            });
    }
    if (table[0].size() > 1) text += "\n" + aligned(table, 1);
  }
  return text;
}

}  // namespace

void add_model_chen(CLI::App& verb, Settings& settings) {
  struct Request {
    std::string latencies, measured, size = "4096x4096";
  };
  auto request = std::make_shared<Request>();
  CLI::App* sub = verb.add_subcommand("chen", "The performance model of Chen 2018: equations 3 to 15, passes, VI-D");
  begin_group(*sub, group::what);
  sub->add_option("--latencies", request->latencies,
                  "What areal_latencies measured of a device; by default the paper's P100 and V100")
      ->type_name("F.json");
  sub->add_option("--measured", request->measured,
                  "The output of areal bench sat --figure chen --json: prints its times next to the model's")
      ->type_name("F.json");
  sub->add_option("--size", request->size,
                  "Size of the image that the times in microseconds are for; by default 4096x4096")
      ->type_name("WxH");
  sub->footer(
      "Clocks are those of one SM; times assume that all SMs are busy. The model covers a warp's arithmetic and "
      "shared\n"
      "memory, but not global memory. VI-D has the paper's three inequalities, the third as its text states it. A "
      "launch\n"
      "that an algorithm makes twice is measured as the mean of both.\n\n"
      "Example:\n  areal model chen --size 8192x8192");
  sub->callback([request, &settings] {
    settings.resolve();
    const Size image = size("--size", request->size);
    std::vector<Named> devices{{"P100 (paper)", chen::p100}, {"V100 (paper)", chen::v100}};
    if (!request->latencies.empty()) devices = {read_latencies(request->latencies)};
    std::optional<MeasuredFigure> measured;
    if (!request->measured.empty()) {
      measured = read_measured(request->measured, image);
      if (!request->latencies.empty() && devices[0].name != measured->device)
        settings.note("the model is of {}, but the times were measured on {}", devices[0].name, measured->device);
    }
    if (!settings.json)
      return write_out(text_of(devices, image) + (measured ? text_of(*measured, devices, image) : ""));
    for (const Named& named : devices) {
      Json object = json_of(named, image);
      if (measured) object["measured"] = json_of(*measured);
      write_out(object.dump() + "\n");
    }
  });
}

}  // namespace areal::command
