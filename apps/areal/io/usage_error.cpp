#include "usage_error.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <numeric>

namespace areal::command {
namespace {

bool is_number(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size();
}

/// Insertions, deletions, changes and exchanges of neighbours between two words: the optimal string alignment, by the
/// recurrence of Wagner and Fischer.
std::size_t edits(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before, above, row(to.size() + 1);  // rows i - 2, i - 1 and i
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= from.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      row[j] = std::min({above[j - 1] + (from[i - 1] != to[j - 1]), row[j - 1] + 1, above[j] + 1});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

/// The option with the most similar name; empty if none is similar.
std::string nearest(const CLI::App& app, const CLI::App& verb, std::string_view word) {
  std::size_t least = word.size() / 3 + 1;
  std::string found;
  for (const CLI::App* of : {&verb, &app})
    for (const CLI::Option* option : of->get_options())
      for (const std::string& name : option->get_lnames())
        if (const std::size_t n = edits(word, name); !option->get_group().empty() && n < least) {
          least = n;
          found = "--" + name;
        }
  return found;
}

/// About the words that the parser could not match.
std::string about_words(const CLI::App& app, const std::vector<std::string>& words, std::span<char*> arguments) {
  const CLI::App* verb = &app;
  while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().front();
  // --region 1 2 3 4
  for (std::size_t i = 0; i + 2 < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    const CLI::Option* const option = name.starts_with("--") ? verb->get_option_no_throw(arguments[i]) : nullptr;
    if (option == nullptr || option->get_type_name().find(',') == std::string::npos) continue;
    std::vector<std::string> numbers;
    for (std::size_t j = i + 1; j < arguments.size() && is_number(arguments[j]); ++j)
      numbers.emplace_back(arguments[j]);
    if (numbers.size() > 1)
      return fmt::format("{} {}: separate the numbers by commas: {} {}", name, fmt::join(numbers, " "), name,
                         fmt::join(numbers, ","));
  }
  const auto option = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.starts_with('-') && word.find_first_not_of('-') != std::string::npos;
  });
  const std::string verb_name = verb == &app ? app.get_name() : verb->get_display_name();
  if (option == words.end()) return fmt::format("{}: {} takes no further argument", words.front(), verb_name);
  const std::string word = option->substr(0, option->find('='));
  const std::string near = nearest(app, *verb, std::string_view(word).substr(word.find_first_not_of('-')));
  return fmt::format("{}: no option of {}; {}", word, verb_name,
                     near.empty() ? "--help lists them" : "did you mean " + near + "?");
}

}  // namespace

std::string usage_error(const CLI::App& app, const CLI::ParseError& error, std::span<char*> arguments) {
  const std::vector<std::string> unknown = app.remaining(true);
  const bool has_option =
      std::any_of(unknown.begin(), unknown.end(), [](const std::string& word) { return word.starts_with("--"); });
  // What is missing may be an option whose name is misspelt.
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
      (has_option && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr))
    return about_words(app, unknown, arguments);
  // CLI11 says "--bins: 1 required N missing".
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && text.ends_with("missing"))
    return text.substr(0, text.find(':')) + ": needs a value";
  return text;
}

}  // namespace areal::command
