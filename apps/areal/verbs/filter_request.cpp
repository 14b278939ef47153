#include "filter_request.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include "io/numbers.hpp"
#include "io/word_list.hpp"
#include "window_answer.hpp"

namespace areal::command {

const std::vector<std::string> filter_names{"mean",    "sum",    "count",      "var",       "std",     "min",
                                            "max",     "median", "percentile", "threshold", "bradley", "niblack",
                                            "sauvola", "wolf",   "nick",       "equalize",  "otsu",    "entropy",
                                            "modal",   "guided", "gaussian",   "bilateral"};

namespace {

/// Local thresholds, in the order of filter::Local, from "threshold" on.
const std::int64_t first_threshold =
    std::find(filter_names.begin(), filter_names.end(), "threshold") - filter_names.begin();

std::optional<double> given(std::string_view option, const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(number(option, text));
}

/// "2" or "2x3", of columns first.
std::pair<double, double> sigmas_of(const std::string& text) {
  if (text.empty()) refuse("--sigma is required, for example --sigma 2");
  const auto parts = split(text, 'x');
  if (parts.size() > 2) refuse("--sigma ", text, ": may be S or SxS, for example 2 or 1.5x3");
  const double across = number("--sigma", parts[0]);
  return {across, parts.size() == 1 ? across : number("--sigma", parts[1])};
}

}  // namespace

bool is_threshold(const FilterRequest& request) {
  const auto at = std::find(filter_names.begin(), filter_names.end(), request.name);
  return at - filter_names.begin() >= first_threshold && at - filter_names.begin() < first_threshold + 6;
}

Filter filter_of(const FilterRequest& request) {
  const auto at = std::find(filter_names.begin(), filter_names.end(), request.name);
  if (at == filter_names.end()) refuse("filter ", request.name, ": may be ", word_list(filter_names));
  const auto only = [&](const char* option, const std::string& text, bool allowed, const char* which) {
    if (!text.empty() && !allowed) refuse(option, " ", text, ": is for ", which);
  };
  const bool threshold = is_threshold(request);
  only("--k", request.k, threshold && request.name != "threshold", "bradley, niblack, sauvola, wolf and nick");
  only("--r", request.r, request.name == "sauvola", "sauvola");
  only("--offset", request.offset, threshold, "thresholds");
  only("--high", request.high, threshold, "thresholds");
  only("--ddof", request.ddof, request.name == "var" || request.name == "std", "var and std");
  const bool guided = request.name == "guided", gaussian = request.name == "gaussian";
  only("--eps", request.eps, guided, "guided");
  only("--guide", request.guide, guided, "guided");
  only("--sigma", request.sigma, gaussian, "gaussian");
  only("--truncate", request.truncate, gaussian, "gaussian");
  only("--passes", request.passes, gaussian, "gaussian");
  only("--sigma-range", request.sigma_range, request.name == "bilateral", "bilateral");
  only("--q", request.q, request.name == "percentile", "percentile");
  if (request.name == "percentile" && request.q.empty()) refuse("--q is required, for example --q 25");
  if (request.inverted && !threshold) refuse("--inverted: is for thresholds");
  if (guided && request.eps.empty()) refuse("--eps is required, for example --eps 100 for 8 bits");
  if (guided) return filter::Guided{number("--eps", request.eps)};
  if (request.name == "equalize") return filter::Equalize{};
  if (request.name == "otsu") return filter::Otsu{};
  if (request.name == "entropy") return filter::Entropy{};
  if (request.name == "modal") return filter::Modal{};
  if (request.name == "bilateral") {
    if (request.sigma_range.empty()) refuse("--sigma-range is required, for example --sigma-range 25");
    return filter::Bilateral{number("--sigma-range", request.sigma_range)};
  }
  if (gaussian) {
    const auto [across, down] = sigmas_of(request.sigma);
    const std::int64_t passes = request.passes.empty() ? 0 : whole_number("--passes", request.passes, 0, 1 << 30);
    return filter::Gaussian{across, down, given("--truncate", request.truncate).value_or(4), static_cast<int>(passes)};
  }
  const int ddof = request.ddof.empty() ? 0 : static_cast<int>(whole_number("--ddof", request.ddof, 0, 1 << 30));
  switch (at - filter_names.begin()) {
    case 0:
      return filter::Mean{};
    case 1:
      return filter::Sum{};
    case 2:
      return filter::Count{};
    case 3:
      return filter::Variance{ddof};
    case 4:
      return filter::StandardDeviation{ddof};
    case 5:
      return filter::Minimum{};
    case 6:
      return filter::Maximum{};
    case 7:
      return filter::Percentile{};
    case 8:
      return filter::Percentile{number("--q", request.q)};
    default:
      return filter::Threshold{static_cast<filter::Local>(at - filter_names.begin() - first_threshold),
                               given("--k", request.k),
                               given("--r", request.r),
                               given("--offset", request.offset).value_or(0),
                               given("--high", request.high).value_or(255),
                               request.inverted};
  }
}

FilterOptions options_of(const FilterRequest& request) {
  FilterOptions options;
  const bool gaussian = request.name == "gaussian";
  if (gaussian && !request.size.empty())
    refuse("--size ", request.size, ": the window of gaussian follows from --sigma");
  if (gaussian && !request.anchor.empty()) refuse("--anchor ", request.anchor, ": the window of gaussian has none");
  if (!request.sizes.empty()) {
    if (!request.size.empty()) refuse("--size ", request.size, ": --sizes has those of all pixels");
    options.sizes = true;
  } else if (!gaussian) {
    if (request.size.empty()) refuse("--size is required, for example --size 31");
    const Size cells = window_cells("--size", request.size, 1);
    options.window.width = cells.width, options.window.height = cells.height;
  }
  if (!request.anchor.empty()) {
    const Size anchor = window_cells("--anchor", request.anchor, 0);
    options.window.anchor_x = anchor.width, options.window.anchor_y = anchor.height;
  }
  options.window.edge = WindowRequest::edge_named(request.edge);
  if (!request.value.empty() && options.window.edge != Edge::constant)
    refuse("--value ", request.value, ": needs --edge constant, but --edge is ", request.edge);
  options.window.value = given("--value", request.value).value_or(0);
  if (!request.nan.empty() && request.nan != "propagate" && request.nan != "omit")
    refuse("--nan ", request.nan, ": may be propagate or omit");
  options.nan = request.nan == "omit" ? Missing::omit : Missing::propagate;
  options.mask = !request.mask.empty();
  if (!request.min_count.empty()) options.min_count = whole_number("--min-count", request.min_count, 0);
  options.fill = given("--fill", request.fill);
  return options;
}

bool set_option(FilterRequest& request, std::string_view name, std::string value) {
  using Member = std::string FilterRequest::*;
  static const std::vector<std::pair<std::string_view, Member>> members{
      {"size", &FilterRequest::size},     {"anchor", &FilterRequest::anchor},
      {"edge", &FilterRequest::edge},     {"value", &FilterRequest::value},
      {"k", &FilterRequest::k},           {"r", &FilterRequest::r},
      {"offset", &FilterRequest::offset}, {"high", &FilterRequest::high},
      {"ddof", &FilterRequest::ddof},     {"q", &FilterRequest::q},
      {"nan", &FilterRequest::nan},       {"min-count", &FilterRequest::min_count},
      {"fill", &FilterRequest::fill},     {"eps", &FilterRequest::eps},
      {"sigma", &FilterRequest::sigma},   {"truncate", &FilterRequest::truncate},
      {"passes", &FilterRequest::passes}, {"sigma-range", &FilterRequest::sigma_range}};
  if (name == "inverted") {
    request.inverted = value == "true";
    return value == "true" || value == "false";
  }
  const auto at = std::find_if(members.begin(), members.end(), [&](const auto& one) { return one.first == name; });
  if (at == members.end()) return false;
  request.*(at->second) = std::move(value);
  return true;
}

}  // namespace areal::command
