#include "question.hpp"

#include <algorithm>
#include <areal/border.hpp>
#include <areal/type_pair.hpp>
#include <array>
#include <cmath>
#include <cstdio>

namespace doors {
namespace {

constexpr std::array<Field, 30> fields = {{
    {"id", "handed back with the answer"},
    {"door", "a name of this list"},
    {"family", "one of the door's families"},
    {"image", ".npy of (batch, height, width, channels), also (height, width) and (batch, height, width)"},
    {"mask", ".npy of 8u (height, width), for every image alike, or (batch, height, width)"},
    {"weights", ".npy of (height, width) or (batch, height, width)"},
    {"types", "as 8u32u"},
    {"border", "zero, none or exclusive; default zero, of histograms none"},
    {"squares", "no, auto, 32u, 64u, 64f or 32f"},
    {"tilted", "also the tilted table"},
    {"ignore_nan", "as SatOptions::ignore_nan"},
    {"volume", "as SatOptions::volume"},
    {"reverse", "as SatOptions::reverse"},
    {"algorithm", "an id of the catalogue, or auto"},
    {"backend", "cpu, simt, cuda or auto; default cpu"},
    {"threads", "as Execution::threads"},
    {"layout", "planar or interleaved: channels of the image in memory; default interleaved. Of tables see params"},
    {"regions", "of four numbers x, y, width, height; of a volume boxes of six: x, y, z, width, height, depth"},
    {"outside", "error or clip"},
    {"stats", "of sum, mean, variance, std, count, tilted; of windows one, where the window says none"},
    {"binning", "{bins, range}, {edges}, {labels, ignored}, {lookup}, {of_type} or {joint: [..]}"},
    {"clamp", "Binning::clamped"},
    {"window", "{size, anchor, edge, value, stat, type, rounding}"},
    {"params", "see params"},
    {"out", "files of the answer begin with it"},
    {"values", "of scatter: one for each region"},
    {"measure", "of measures: entropy, percentile, median, mode, mean, normalise, or the name of a distance"},
    {"target", "of measures that are distances: one histogram"},
    {"box", "of trackers: where the first frame has it"},
    {"list", "true: names of doors, fields, algorithms"},
}};

constexpr std::array<Field, 45> params = {{
    {"pitch", "input: bytes between rows beyond those of a row"},
    {"offset", "input: bytes by which it begins behind a multiple of 64"},
    {"gap", "input: bytes between planes and between images beyond theirs"},
    {"out_pitch", "output: as pitch"},
    {"out_offset", "output: as offset"},
    {"out_gap", "output: as gap"},
    {"out_layout", "output of windows and scatter: planar or interleaved"},
    {"tables", "layout of tables: planar (default) or interleaved"},
    {"workspace", "own (the plan's) or mine (poisoned, guarded; default)"},
    {"memory", "cuda: host or device (default), of images and outputs"},
    {"ask_from", "cuda: host (default) or device, of regions and answers"},
    {"stream", "cuda: none, legacy (default) or own"},
    {"device", "cuda: number"},
    {"query_backend", "of queries about tables in host memory: cpu, simt or auto"},
    {"by", "all (default): queries take all planes at once; planes: each by itself; one: each region by itself"},
    {"form", "span (default: guarded memory) or vector"},
    {"as", "double: sums of integers as double, too"},
    {"first_invalid", "true: regions that cannot be answered get 0 or NaN, and the answer names the first"},
    {"parallel", "threads that execute one plan at once; default 3"},
    {"strip_rows", "StripOptions::height"},
    {"strip_memory", "StripOptions::memory"},
    {"block_rows", "rows of each push; default 3"},
    {"tile", "[width, height] of tiles or pieces"},
    {"order", "forward (default) or backward: of tiles in their row"},
    {"workers", "as workers_named reads it, or a number of CPU workers of a thread each"},
    {"rows", "SpreadOptions::rows"},
    {"band_width", "SpreadOptions::band_width"},
    {"parts", "SpreadOptions::parts"},
    {"group_bins", "bins of a group or slice"},
    {"device_bytes", "TiledOptions and SequenceOptions"},
    {"piece_bytes", "TiledOptions::piece_bytes"},
    {"slots", "SequenceOptions::slots"},
    {"counter", "of histograms: 16u, 32u, 64u, 32f or 64f"},
    {"from", "of conversions: the border that is computed"},
    {"chunk_tile", "ChunkedWriteOptions::tile"},
    {"chunk_memory", "ChunkedReadOptions::memory"},
    {"unchecked", "true: ChunkedReadOptions::checked = false"},
    {"percent", "of percentiles"},
    {"r", "research::SatParameters::r"},
    {"scan", "research::SatParameters::scan"},
    {"kernel_tile", "research::HistogramParameters::tile"},
    {"kernel_threads", "research::HistogramParameters::tile_threads"},
    {"scan_threads", "ScanOptions::threads"},
    {"scan_group", "ScanOptions::group"},
    {"radius", "TrackerOptions::radius"},
}};

void check_names(const Json& object, std::span<const Field> known, const std::string& what) {
  if (!object.is_object()) throw BadQuestion(what + ": is no object");
  for (const auto& item : object.items())
    if (std::ranges::find(known, std::string_view(item.key()), &Field::name) == known.end())
      throw BadQuestion(what + ": has a field " + item.key() + " that is not known");
}

template <class T>
T named(const char* what, const std::string& name, std::initializer_list<std::pair<const char*, T>> known) {
  std::string all;
  for (const auto& [known_name, value] : known) {
    if (name == known_name) return value;
    all += std::string(all.empty() ? "" : ", ") + known_name;
  }
  throw BadQuestion(std::string(what) + ": " + name + " is none of " + all);
}

areal::Backend backend_of(const std::string& name) {
  const auto backend = areal::backend_named(name);
  if (!backend) throw BadQuestion("backend: " + name);
  return *backend;
}

std::int64_t whole(const Json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) throw BadQuestion("a number above 2^63");
  if (!value.is_number_integer()) throw BadQuestion(value.dump() + ": is no whole number of 64 bits");
  return value.get<std::int64_t>();
}

std::vector<double> numbers_of(const Json& values) {
  std::vector<double> numbers;
  for (const Json& value : values) numbers.push_back(number_of(value));
  return numbers;
}

areal::Binning binning_from(const Json& b) {
  if (b.contains("joint")) {
    std::vector<areal::Binning> parts;
    for (const Json& part : b["joint"]) parts.push_back(binning_from(part));
    return areal::Binning::joint(parts);
  }
  if (b.contains("edges")) return areal::Binning::edges(numbers_of(b["edges"]));
  if (b.contains("lookup")) return areal::Binning::lookup(b["lookup"].get<std::vector<std::int32_t>>());
  if (b.contains("labels")) {
    const bool ignores = b.contains("ignored") && !b["ignored"].is_null();
    return areal::Binning::labels(whole(b["labels"]), ignores ? std::optional(whole(b["ignored"])) : std::nullopt);
  }
  if (b.contains("of_type"))
    return areal::Binning::of_type(type_of_name(b.at("type").get<std::string>()), whole(b["of_type"]));
  return areal::Binning::uniform(whole(b.at("bins")), number_of(b.at("range").at(0)), number_of(b.at("range").at(1)));
}

}  // namespace

std::span<const Field> question_fields() noexcept { return fields; }
std::span<const Field> param_fields() noexcept { return params; }

Question::Question(Json json) : json_(std::move(json)) {
  check_names(json_, fields, "question");
  if (has("params")) check_names(json_["params"], params, "params");
  door_ = text("door");
  family_ = text("family");
}

std::string Question::text(const char* field, const char* otherwise) const {
  return has(field) ? json_[field].get<std::string>() : otherwise;
}
bool Question::flag(const char* field) const { return has(field) && json_[field].get<bool>(); }
bool Question::has_param(const char* name) const {
  return has("params") && json_["params"].contains(name) && !json_["params"][name].is_null();
}
std::int64_t Question::number(const char* name, std::int64_t otherwise) const {
  return has_param(name) ? whole(param(name)) : otherwise;
}
std::string Question::word(const char* name, const char* otherwise) const {
  return has_param(name) ? param(name).get<std::string>() : otherwise;
}
std::pair<std::int64_t, std::int64_t> Question::pair(const char* name, std::int64_t first, std::int64_t second) const {
  if (!has_param(name)) return {first, second};
  return {whole(param(name).at(0)), whole(param(name).at(1))};
}
Question Question::with(const char* field, const Json& value) const {
  Question other = *this;
  other.json_[field] = value;
  return other;
}
Question Question::with_param(const char* name, const Json& value) const {
  Question other = *this;
  other.json_["params"][name] = value;
  return other;
}

double number_of(const Json& value) {
  if (!value.is_string()) return value.get<double>();
  char* end = nullptr;
  const auto text = value.get<std::string>();
  const double number = std::strtod(text.c_str(), &end);  // hex floats, nan and inf, too
  if (text.empty() || *end != '\0') throw BadQuestion(text + ": is no number");
  return number;
}

std::string hex(double value) {
  if (std::isnan(value)) return "nan";
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%a", value);
  return text.data();
}
std::string text_of(double value) { return hex(value); }
std::string text_of(std::uint64_t value) { return std::to_string(value); }
std::string text_of(std::int64_t value) { return std::to_string(value); }

areal::Type type_of_name(const std::string& name) {
  const auto type = areal::type_named(name);
  if (!type) throw BadQuestion(name + ": is no type");
  return *type;
}

areal::Layout layout_of(const std::string& name) {
  return named<areal::Layout>("layout", name,
                              {{"planar", areal::Layout::planar}, {"interleaved", areal::Layout::interleaved}});
}

areal::Border border_of(const Question& q, areal::Border otherwise) {
  if (!q.has("border")) return otherwise;
  const auto border = areal::border_named(q.text("border"));
  if (!border) throw BadQuestion("border: " + q.text("border"));
  return *border;
}

areal::SatOptions sat_options(const Question& q) {
  areal::SatOptions options;
  options.border = border_of(q);
  if (q.has("types")) options.types = areal::type_pair(q.text("types"));
  options.algorithm = q.text("algorithm", "auto");
  options.squares = named<areal::Squares>("squares", q.text("squares", "no"),
                                          {{"no", areal::Squares::no},
                                           {"auto", areal::Squares::automatic},
                                           {"32u", areal::Squares::u32},
                                           {"64u", areal::Squares::u64},
                                           {"64f", areal::Squares::f64},
                                           {"32f", areal::Squares::f32}});
  options.tilted = q.flag("tilted");
  options.mask = q.has("mask");
  options.ignore_nan = q.flag("ignore_nan");
  options.volume = q.flag("volume");
  options.reverse = q.flag("reverse");
  options.tables = layout_of(q.word("tables", "planar"));
  return options;
}

areal::HistogramOptions histogram_options(const Question& q) {
  areal::HistogramOptions options;
  options.border = border_of(q, areal::Border::none);
  options.weighted = q.has("weights");
  options.counter = type_of_name(q.word("counter", options.weighted ? "64f" : "32u"));
  options.algorithm = q.text("algorithm", "auto");
  return options;
}

areal::Execution execution_of(const Question& q) {
  areal::Execution execution;
  execution.backend = backend_of(q.text("backend", "cpu"));
  execution.threads = q.has("threads") ? static_cast<int>(whole(q["threads"])) : 0;
  execution.device = static_cast<int>(q.number("device"));
  return execution;
}

areal::QueryOptions query_options(const Question& q) {
  areal::QueryOptions options;
  options.outside = named<areal::Outside>("outside", q.text("outside", "error"),
                                          {{"error", areal::Outside::error}, {"clip", areal::Outside::clip}});
  options.execution = execution_of(q);
  if (options.execution.backend == areal::Backend::cuda) options.execution.backend = areal::Backend::automatic;
  if (q.has_param("query_backend")) options.execution.backend = backend_of(q.word("query_backend"));
  return options;
}

areal::StripOptions strip_options(const Question& q) {
  areal::StripOptions options;
  options.execution = execution_of(q);
  options.memory = static_cast<std::uint64_t>(q.number("strip_memory"));
  options.height = q.number("strip_rows");
  return options;
}

areal::TiledOptions tiled_options(const Question& q) {
  areal::TiledOptions options;
  options.workers = workers_of(q);
  options.outside = query_options(q).outside;
  options.counter = type_of_name(q.word("counter", "32u"));
  options.device_bytes = static_cast<std::uint64_t>(q.number("device_bytes"));
  if (q.has_param("piece_bytes")) options.piece_bytes = static_cast<std::uint64_t>(q.number("piece_bytes"));
  std::tie(options.tile_width, options.tile_height) = q.pair("tile", 0, 0);
  options.group_bins = q.number("group_bins");
  return options;
}

std::vector<areal::Worker> workers_of(const Question& q) {
  if (q.has_param("workers")) {
    const Json& workers = q.param("workers");
    if (workers.is_string()) return areal::workers_named(workers.get<std::string>());
    areal::Worker one{execution_of(q).backend, static_cast<int>(q.number("device")), 1};
    if (one.backend != areal::Backend::cpu) one.threads = 0;
    return std::vector<areal::Worker>(static_cast<std::size_t>(whole(workers)), one);
  }
  const areal::Execution on = execution_of(q);
  if (on.backend == areal::Backend::automatic) return {};
  return {{on.backend, on.device, on.backend == areal::Backend::cpu ? on.threads : 0}};
}

std::vector<areal::Region> regions_of(const Question& q) {
  std::vector<areal::Region> regions;
  if (!q.has("regions")) return regions;
  for (const Json& r : q["regions"]) {
    if (r.size() != 4) throw BadQuestion("regions: " + r.dump() + " are not four numbers");
    regions.push_back({whole(r[0]), whole(r[1]), whole(r[2]), whole(r[3])});
  }
  return regions;
}

std::vector<areal::Box> boxes_of(const Question& q) {
  std::vector<areal::Box> boxes;
  if (!q.has("regions")) return boxes;
  for (const Json& r : q["regions"]) {
    if (r.size() != 6) throw BadQuestion("regions: of a volume " + r.dump() + " are not six numbers");
    boxes.push_back({whole(r[0]), whole(r[1]), whole(r[2]), whole(r[3]), whole(r[4]), whole(r[5])});
  }
  return boxes;
}

areal::Binning binning_of(const Question& q) {
  if (!q.has("binning")) throw BadQuestion("binning: none is given");
  const areal::Binning binning = binning_from(q["binning"]);
  return q.flag("clamp") ? binning.clamped() : binning;
}

areal::Window window_of(const Question& q) {
  if (!q.has("window")) throw BadQuestion("window: none is given");
  const Json& w = q["window"];
  check_names(
      w,
      std::array<Field, 7>{
          {{"size", ""}, {"anchor", ""}, {"edge", ""}, {"value", ""}, {"stat", ""}, {"type", ""}, {"rounding", ""}}},
      "window");
  areal::Window window;
  window.width = whole(w.at("size").at(0));
  window.height = whole(w.at("size").at(1));
  if (w.contains("anchor") && !w["anchor"].is_null()) {
    window.anchor_x = whole(w["anchor"].at(0));
    window.anchor_y = whole(w["anchor"].at(1));
  }
  window.edge = named<areal::Edge>("edge", w.value("edge", "shrink"),
                                   {{"valid", areal::Edge::valid},
                                    {"shrink", areal::Edge::shrink},
                                    {"zero", areal::Edge::zero},
                                    {"replicate", areal::Edge::replicate},
                                    {"reflect", areal::Edge::reflect},
                                    {"symmetric", areal::Edge::symmetric},
                                    {"wrap", areal::Edge::wrap},
                                    {"constant", areal::Edge::constant}});
  if (w.contains("value") && !w["value"].is_null()) window.value = number_of(w["value"]);
  window.rounding =
      named<areal::Rounding>("rounding", w.value("rounding", "nearest"),
                             {{"nearest", areal::Rounding::nearest}, {"opencv", areal::Rounding::opencv}});
  return window;
}

}  // namespace doors
