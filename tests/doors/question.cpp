#include "question.hpp"

#include <algorithm>
#include <areal/border.hpp>
#include <areal/type_pair.hpp>
#include <array>
#include <cmath>
#include <cstdio>

namespace doors {
namespace {

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
    for (const Json& part : b["joint"])
      parts.push_back(b.value("clamp", false) ? binning_from(part).clamped() : binning_from(part));
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

Question::Question(Json json) : json_(std::move(json)) {
  check_names(json_, question_fields(), "question");
  if (has("params")) check_names(json_["params"], param_fields(), "params");
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

areal::Progress Question::progress() const {
  const bool cancels = has_param("cancel_after");
  if (!cancels && !flag_param("progress")) return {};
  return watch_->callback(cancels ? number("cancel_after") : -1);
}

areal::Progress Watch::callback(std::int64_t cancel_after) {
  calls_ = done_ = 0;
  total_ = -1;
  return [this, cancel_after](std::int64_t done, std::int64_t total) {
    if (inside_.exchange(true)) overlaps_ = true;
    const bool again = done_ == total_;  // another execute of one plan
    if ((done < done_ && !again) || done > total || (total_ >= 0 && total != total_)) shrinks_ = true;
    done_ = done;
    total_ = total;
    const bool more = cancel_after < 0 || calls_ < cancel_after;
    ++calls_;
    inside_ = false;
    return more;
  };
}

void Watch::expect_sound() const {
  if (overlaps_) throw Failed("progress: was called by two threads at once");
  if (shrinks_) throw Failed("progress: the work done shrinks or passes the whole, or the whole changes");
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
  options.memory_limit = static_cast<std::uint64_t>(q.number("memory_limit"));
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

areal::PieceOptions strip_options(const Question& q) {
  areal::PieceOptions options;
  const areal::Execution on = execution_of(q);
  options.workers = {{on.backend, on.device, on.threads}};
  options.memory = static_cast<std::uint64_t>(q.number("strip_memory"));
  options.height = q.number("strip_rows");
  options.bins = q.number("group_bins");
  options.outside = query_options(q).outside;
  options.progress = q.progress();
  return options;
}

areal::PieceOptions tiled_options(const Question& q) {
  areal::PieceOptions options;
  options.workers = workers_of(q);
  options.outside = query_options(q).outside;
  options.memory = static_cast<std::uint64_t>(q.number("device_bytes"));
  if (q.has_param("piece_bytes")) options.piece_bytes = static_cast<std::uint64_t>(q.number("piece_bytes"));
  std::tie(options.width, options.height) = q.pair("tile", 0, 0);
  options.bins = q.number("group_bins");
  options.progress = q.progress();
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
  check_names(w,
              std::array<Field, 11>{{{"size", ""},
                                     {"anchor", ""},
                                     {"edge", ""},
                                     {"value", ""},
                                     {"stat", ""},
                                     {"type", ""},
                                     {"rounding", ""},
                                     {"r", ""},
                                     {"offset", ""},
                                     {"sigma", ""},
                                     {"eps", ""}}},
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
