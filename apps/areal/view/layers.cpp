#include "view/layers.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <string>
#include "io/numbers.hpp"
#include "io/word_list.hpp"
#include "verbs/filter_request.hpp"
#include "view/compare.hpp"

namespace areal::command::page {
namespace {

view::Layer filter_layer(const view::Scene& scene, const AskLayer& ask, const view::LayerPart& part) {
  FilterRequest request;
  request.name = ask.name;
  for (const auto& [name, value] : ask.options)
    if (!set_option(request, name, value)) refuse("option ", name, ": there is none of this name and value");
  try {
    const Filter filter = filter_of(request);
    return view::filtered(scene, part, filter, options_of(request));
  } catch (const InvalidArgument& error) {
    // The page's fields have the names of the command's options.
    std::string sentence = error.what();
    for (std::size_t at = 0; (at = sentence.find("--", at)) != std::string::npos;) sentence.erase(at, 2);
    throw InvalidArgument(sentence);
  }
}

Distance distance_of(const std::string& name) {
  std::vector<std::string> names;
  for (const Distance measure : view::measures) {
    if (name_of(measure) == name) return measure;
    names.emplace_back(name_of(measure));
  }
  refuse("distance ", name, ": may be ", word_list(names));
}

}  // namespace

view::Layer make_layer(const view::Scene& scene, const AskLayer& ask, std::uint64_t memory, int threads) {
  const view::LayerPart part{ask.channel, ask.view, memory, threads};
  if (ask.kind == AskLayer::Kind::filter) return filter_layer(scene, ask, part);
  if (ask.kind == AskLayer::Kind::histogram) return view::searched(scene, part, ask.region, distance_of(ask.name));
  const auto method = match_method_named(ask.name);
  if (!method) refuse("method ", ask.name, ": is none of areal match");
  return view::matched(scene, part, ask.region, *method);
}

}  // namespace areal::command::page
