#include "view/message.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include "json/read.hpp"
#include "view/compare.hpp"
#include "view/page_file.hpp"

namespace areal::command::page {
namespace {

using Json = nlohmann::json;
using Ordered = nlohmann::ordered_json;

constexpr std::int64_t largest_exact = std::int64_t{1} << 53;  // of JavaScript's integers

std::optional<std::int64_t> whole(const Json& value, std::int64_t least, std::int64_t most) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(largest_exact)) return {};
  if (!value.is_number_integer()) return {};
  const auto number = value.get<std::int64_t>();
  return number < least || number > most ? std::nullopt : std::optional(number);
}

/// The member of an object, or null.
const Json& member(const Json& object, const char* name) {
  static const Json none;
  const auto at = object.find(name);
  return at == object.end() ? none : *at;
}

/// Four whole numbers from `from` on.
std::optional<Region> box_of(const Json& array, std::size_t from) {
  if (!array.is_array() || array.size() != from + 4) return {};
  std::int64_t sides[4];
  for (std::size_t i = 0; i < 4; ++i) {
    const auto side = whole(array[from + i], -largest_exact, largest_exact);
    if (!side) return {};
    sides[i] = *side;
  }
  return Region{sides[0], sides[1], sides[2], sides[3]};
}

/// A channel's number, 0 without one.
std::optional<std::size_t> channel_of(const Json& json, std::size_t channels) {
  const Json& channel = member(json, "channel");
  if (channel.is_null()) return 0;
  const auto number = whole(channel, 0, static_cast<std::int64_t>(channels) - 1);
  return number ? std::optional(static_cast<std::size_t>(*number)) : std::nullopt;
}

Wrong wrong_channel(const Json& json, std::int64_t n, std::size_t channels) {
  return {n, "channel " + shortened_json(member(json, "channel")) + ": may be 0 to " + std::to_string(channels - 1)};
}

Message read_ask(const Json& json, std::int64_t n, std::size_t channels) {
  Ask ask;
  ask.n = n;
  const auto channel = channel_of(json, channels);
  if (!channel) return wrong_channel(json, n, channels);
  ask.channel = *channel;
  const Json& final = member(json, "final");
  if (!final.is_null() && !final.is_boolean()) return Wrong{n, "final: may be true or false"};
  ask.final = final.is_boolean() && final.get<bool>();
  const Json& regions = member(json, "regions");
  if (!regions.is_array() || regions.size() > most_regions_asked)
    return Wrong{n, "regions: must be a list of at most " + std::to_string(most_regions_asked)};
  for (const Json& region : regions) {
    const auto box = box_of(region, 1);
    const auto id = box ? whole(region[0], -largest_exact, largest_exact) : std::nullopt;
    if (!id) return Wrong{n, "a region " + shortened_json(region) + ": must be [id, x, y, width, height]"};
    ask.regions.push_back({*id, *box});
  }
  if (const Json& reference = member(json, "reference"); !reference.is_null()) {
    ask.reference = whole(reference, -largest_exact, largest_exact);
    if (!ask.reference || std::none_of(ask.regions.begin(), ask.regions.end(),
                                       [&](const AskedRegion& region) { return region.id == *ask.reference; }))
      return Wrong{n, "reference " + shortened_json(reference) + ": must be the id of one of the regions"};
  }
  return ask;
}

Message read_set(const Json& json, std::int64_t n) {
  SetRegion set;
  set.n = n;
  if (const Json& id = member(json, "id"); !id.is_null()) {
    const auto number = whole(id, 1, largest_exact);
    if (!number) return Wrong{n, "id " + shortened_json(id) + ": must be a region's, or null for a new one"};
    set.id = *number;
  }
  const Json& name = member(json, "name");
  if (!name.is_null() && !name.is_string()) return Wrong{n, "name: must be text"};
  if (name.is_string()) set.name = name.get<std::string>();
  const auto box = box_of(member(json, "box"), 0);
  if (!box) return Wrong{n, "box: must be [x, y, width, height]"};
  set.box = *box;
  return set;
}

Message read_range(const Json& json, std::int64_t n) {
  const Json& ends = member(json, "range");
  if (!ends.is_array() || ends.size() != 2 || !ends[0].is_number() || !ends[1].is_number())
    return Wrong{n, "range " + shortened_json(ends) + ": must be two numbers"};
  return SetRange{n, {ends[0].get<double>(), ends[1].get<double>()}};
}

Message read_play(const Json& json, std::int64_t n, Play::Act act) {
  Play play{n, act};
  if (act == Play::Act::play || act == Play::Act::pause) return play;
  const bool seeks = act == Play::Act::seek;
  const Json& value = member(json, seeks ? "frame" : "by");
  const auto number = whole(value, seeks ? 0 : -largest_exact, largest_exact);
  if (!number)
    return Wrong{n, seeks ? "frame " + shortened_json(value) + ": must be a number from 0 on"
                          : "by " + shortened_json(value) + ": must be a whole number"};
  play.frames = *number;
  return play;
}

Message read_follow(const Json& json, std::int64_t n) {
  FollowRegion follow;
  follow.n = n;
  const auto id = whole(member(json, "id"), 1, largest_exact);
  if (!id) return Wrong{n, "id: must be a region's"};
  follow.id = *id;
  const Json& algorithm = member(json, "algorithm");
  if (algorithm.is_null()) return follow;
  const auto known = tracker_names();
  const auto at = std::find_if(known.begin(), known.end(), [&](std::string_view name) { return algorithm == name; });
  if (at == known.end()) {
    std::string names;
    for (const std::string_view name : known) names.append(names.empty() ? "" : ", ").append(name);
    return Wrong{n, "algorithm " + shortened_json(algorithm) + ": may be " + names + ", or null to stop"};
  }
  follow.algorithm = *at;
  return follow;
}

Message read_layer(const Json& json, std::int64_t n, std::size_t channels) {
  AskLayer ask;
  ask.n = n;
  const Json& kind = member(json, "kind");
  if (kind != "filter" && kind != "match" && kind != "histogram")
    return Wrong{n, "kind " + shortened_json(kind) + ": may be filter, match or histogram"};
  ask.kind = kind == "filter"  ? AskLayer::Kind::filter
             : kind == "match" ? AskLayer::Kind::match
                               : AskLayer::Kind::histogram;
  const auto channel = channel_of(json, channels);
  if (!channel) return wrong_channel(json, n, channels);
  ask.channel = *channel;
  const auto view = box_of(member(json, "view"), 0);
  if (!view || view->width < 1 || view->height < 1) return Wrong{n, "view: must be [x, y, width, height], not empty"};
  ask.view = *view;
  const Json& name = member(json, "name");
  if (!name.is_string() || name.get_ref<const std::string&>().size() > longest_option)
    return Wrong{n, "name " + shortened_json(name) + ": must be that of a filter, a method or a distance"};
  ask.name = name.get<std::string>();
  if (ask.kind != AskLayer::Kind::filter) {
    const auto region = box_of(member(json, "region"), 0);
    if (!region) return Wrong{n, "region: must be [x, y, width, height]"};
    ask.region = *region;
    return ask;
  }
  const Json& options = member(json, "options");
  if (options.is_null()) return ask;
  if (!options.is_object() || options.size() > most_options)
    return Wrong{n, "options: must be an object of at most " + std::to_string(most_options)};
  for (const auto& [option, value] : options.items()) {
    if (option.size() > longest_option || !value.is_string() ||
        value.get_ref<const std::string&>().size() > longest_option)
      return Wrong{n, "options: must be texts of at most " + std::to_string(longest_option) + " bytes"};
    ask.options.emplace_back(option, value.get<std::string>());
  }
  return ask;
}

Ordered number_of(const view::Number& number) {
  return std::visit(
      [](auto value) -> Ordered {
        if constexpr (!std::is_same_v<decltype(value), double>)
          if (value > decltype(value)(largest_exact) ||
              (std::is_signed_v<decltype(value)> && value < static_cast<decltype(value)>(-largest_exact)))
            return std::to_string(value);
        return value;
      },
      number);
}

/// {"hellinger": 0.2, "l1": ..}
Ordered distances_of(const view::Answer& answer, const view::Answer& reference) {
  Ordered distances;
  const auto found = view::distances_between(answer, reference);
  for (std::size_t i = 0; i < found.size(); ++i) distances[std::string(name_of(view::measures[i]))] = found[i];
  return distances;
}

Ordered list_of(const std::vector<view::DrawnRegion>& regions) {
  Ordered list = Ordered::array();
  for (const view::DrawnRegion& region : regions) {
    const Region& box = region.box;
    list.push_back({{"id", region.id}, {"name", region.name}, {"box", {box.x, box.y, box.width, box.height}}});
  }
  return list;
}

std::string_view kind_name(view::Scene::Kind kind) noexcept {
  switch (kind) {
    case view::Scene::Kind::table:
      return "table";
    case view::Scene::Kind::video:
      return "video";
    default:
      return "picture";
  }
}

std::string dumped(const Ordered& json) { return json.dump(-1, ' ', false, Ordered::error_handler_t::replace); }

}  // namespace

Message read_message(std::string_view text, std::size_t channels, bool is_video) {
  Json json;
  if (const std::string wrong = read_json(text, most_message_bytes, json, most_message_depth); !wrong.empty())
    return Wrong{0, "the message " + wrong};
  if (!json.is_object()) return Wrong{0, "the message is no object"};
  const auto n = whole(member(json, "n"), 1, largest_exact);
  if (!n) return Wrong{0, "n: must be a number from 1 on"};
  const Json& what = member(json, "do");
  if (what == "ask") return read_ask(json, *n, channels);
  if (what == "set") return read_set(json, *n);
  if (what == "remove") {
    const auto id = whole(member(json, "id"), 1, largest_exact);
    if (!id) return Wrong{*n, "id: must be a region's"};
    return RemoveRegion{*n, *id};
  }
  if (what == "range") return read_range(json, *n);
  if (what == "layer") return read_layer(json, *n, channels);
  if (is_video) {
    if (what == "play") return read_play(json, *n, Play::Act::play);
    if (what == "pause") return read_play(json, *n, Play::Act::pause);
    if (what == "seek") return read_play(json, *n, Play::Act::seek);
    if (what == "step") return read_play(json, *n, Play::Act::step);
    if (what == "follow") return read_follow(json, *n);
  }
  return Wrong{*n, "do " + shortened_json(what) + ": may be ask, set, remove, range" +
                       (is_video ? ", layer, play, pause, seek, step or follow" : " or layer")};
}

std::string answer_text(const Ask& ask, std::span<const view::Answer> answers, std::pair<double, double> range,
                        std::optional<std::int64_t> frame) {
  Ordered json{{"n", ask.n},
               {"final", ask.final},
               {"channel", ask.channel},
               {"range", {range.first, range.second}},
               {"regions", Ordered::array()}};
  if (frame) json["frame"] = *frame;
  const auto reference =
      std::find_if(ask.regions.begin(), ask.regions.end(), [&](const auto& one) { return one.id == ask.reference; });
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const view::Answer& answer = answers[i];
    const view::Moments& m = answer.moments;
    if (answer.standing == view::Answer::Standing::pending) {
      json["regions"].push_back({{"id", ask.regions[i].id}, {"pending", true}});
      continue;
    }
    Ordered percentiles = Ordered::array();
    for (std::size_t p = 0; p < view::percents.size(); ++p)
      percentiles.push_back({view::percents[p], answer.percentiles[p]});
    json["regions"].push_back({{"id", ask.regions[i].id},
                               {"pixels", m.pixels},
                               {"nan", m.nans},
                               {"sum", m.nans == 0 ? Ordered(m.sum) : Ordered()},
                               {"mean", m.mean},
                               {"std", m.deviation},
                               {"min", number_of(m.least)},
                               {"max", number_of(m.most)},
                               {"percentiles", std::move(percentiles)},
                               {"histogram", answer.histogram},
                               {"under", m.under},
                               {"over", m.over}});
    if (ask.reference) {
      const view::Answer& to = answers[static_cast<std::size_t>(reference - ask.regions.begin())];
      if (!answer.histogram.empty() && !to.histogram.empty())  // a pending answer has none
        json["regions"].back()["distances"] = distances_of(answer, to);
    }
    if (answer.standing == view::Answer::Standing::rounded) {
      const Region& box = answer.box;
      json["regions"].back()["about"] = {box.x, box.y, box.width, box.height};
    }
  }
  return dumped(json);
}

std::string regions_text(const view::Regions& regions) {
  return dumped({{"regions", list_of(regions.all())}, {"revision", regions.revision()}});
}
std::string regions_text(const std::vector<view::DrawnRegion>& regions) { return dumped(list_of(regions)); }

std::string range_text(std::pair<double, double> range) { return dumped({{"range", {range.first, range.second}}}); }

std::string survey_text(const view::Surveyed& surveyed) {
  return dumped({{"survey",
                  {{"rows", surveyed.rows},
                   {"of", surveyed.of},
                   {"problem", surveyed.problem.empty() ? Ordered() : Ordered(surveyed.problem)}}}});
}

std::string frame_text(const view::FilmState& state) {
  Ordered boxes = Ordered::array();
  for (const view::FollowedBox& one : state.boxes) {
    const Region box = one.box.region();
    boxes.push_back({{"id", one.id}, {"box", {box.x, box.y, box.width, box.height}}, {"distance", one.box.distance}});
  }
  return dumped({{"frame",
                  {{"number", state.number},
                   {"seconds", state.seconds ? Ordered(*state.seconds) : Ordered()},
                   {"frames", state.frames ? Ordered(*state.frames) : Ordered()},
                   {"plays", state.plays},
                   {"seeks", state.seeks},
                   {"problem", state.problem.empty() ? Ordered() : Ordered(state.problem)},
                   {"followed", state.followed},
                   {"boxes", std::move(boxes)}}}});
}

std::string layer_text(const AskLayer& ask, std::uint64_t id, const view::Layer& layer,
                       std::optional<std::int64_t> frame) {
  Ordered places = Ordered::array();
  for (const view::Place& place : layer.places)
    places.push_back({place.box.x, place.box.y, place.box.width, place.box.height, place.score});
  const Region& box = layer.box;
  Ordered json{{"n", ask.n},
               {"layer", id},
               {"level", layer.level},
               {"box", {box.x, box.y, box.width, box.height}},
               {"range", {layer.least, layer.most}},
               {"places", std::move(places)}};
  if (frame) json["frame"] = *frame;
  return dumped(json);
}

std::string set_text(std::int64_t n, std::int64_t id) { return dumped({{"n", n}, {"id", id}}); }

std::string done_text(std::int64_t n) { return dumped({{"n", n}}); }

std::string error_text(std::int64_t n, std::string_view sentence) { return dumped({{"n", n}, {"error", sentence}}); }

std::string picture_text(view::Scene& picture, std::string_view name, std::span<const std::string> notes) {
  Ordered levels = Ordered::array();
  for (const view::Extent& level : picture.levels()) levels.push_back({level.width, level.height});
  const auto [lo, hi] = picture.range();
  const auto [black, white] = picture.drawn();
  const auto& size = picture.pixel_size();
  Ordered json{{"name", name},
               {"kind", kind_name(picture.kind())},
               {"width", picture.width()},
               {"height", picture.height()},
               {"type", areal::name_of(picture.type())},
               {"channels", picture.names()},
               {"colour", picture.colour() ? Ordered(*picture.colour()) : Ordered()},
               {"levels", std::move(levels)},
               {"pixel_size", size ? Ordered{{"x", size->first}, {"y", size->second}, {"unit", "µm"}} : Ordered()},
               {"range", {lo, hi}},
               {"drawn", {black, white}},
               {"bins", picture.bins()},
               {"generation", picture.film() == nullptr ? 1 : 0},
               {"page", fits_page_file(picture)},
               {"notes", std::vector<std::string>(notes.begin(), notes.end())}};
  if (const view::Film* const film = picture.film())
    json["video"] = {{"rate", film->frames_per_second()}, {"trackers", tracker_names()}};
  return dumped(json);
}

}  // namespace areal::command::page
