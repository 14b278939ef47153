#include "types.hpp"

#include <CLI/CLI.hpp>
#include <vector>
#include "listed.hpp"
#include "numbers.hpp"
#include "pixels.hpp"

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
  refuse("--types ", text, ": may be ", listed(names));
}

TypePair types_for(const std::optional<TypePair>& asked, const Shape& image, Type type, bool volume,
                   const std::string& elements) {
  if (!asked) return default_types(image, type, volume);
  if (holds(asked->input, type)) return *asked;
  std::vector<std::string> names;
  for (const TypePair& known : type_pairs())
    if (holds(known.input, type)) names.push_back(name_of(known));
  refuse("--types ", name_of(*asked), ": cannot hold the ", name_of(type), " ", elements,
         names.empty() ? "" : "; it may be ", listed(names));
}

}  // namespace areal::command
