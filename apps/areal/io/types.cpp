#include "types.hpp"

#include <CLI/CLI.hpp>
#include <vector>
#include "numbers.hpp"
#include "pixels.hpp"
#include "word_list.hpp"

namespace areal::command {

void add_types_to(CLI::App& verb, std::string& types, const std::string& help) {
  verb.add_option("--types", types, help)->type_name("TYPES");
  verb.add_option("--lane", types)->group("");
}

std::optional<TypePair> parse_types(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (const auto types = find_type_pair(text)) return types;
  std::vector<std::string> names;
  for (const TypePair& known : type_pairs()) names.push_back(name_of(known));
  refuse("--types ", text, ": may be ", word_list(names));
}

TypePair types_for(const std::optional<TypePair>& requested, const Shape& image, Type type, bool volume,
                   const std::string& elements) {
  if (!requested) return default_types(image, type, volume);
  if (holds(requested->input, type)) return *requested;
  std::vector<std::string> names;
  for (const TypePair& known : type_pairs())
    if (holds(known.input, type)) names.push_back(name_of(known));
  refuse("--types ", name_of(*requested), ": cannot hold the ", name_of(type), " ", elements,
         names.empty() ? "" : "; it may be ", word_list(names));
}

}  // namespace areal::command
