#pragma once
// --types: the types of pixels and sums.

#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace areal::command {

/// Adds --types, and its old name --lane, hidden from the help.
void add_types_to(CLI::App& verb, std::string& types, const std::string& help);

/// Finds the pair by name; none for an empty text. Throws InvalidArgument with the names of all pairs.
std::optional<TypePair> parse_types(const std::string& text);
/// The requested pair, or the default for images of that shape. Throws InvalidArgument if the pair cannot hold every
/// value of `type`; the message calls the values `elements`: "pixels of photo.png".
TypePair types_for(const std::optional<TypePair>& requested, const Shape& image, Type type, bool volume,
                   const std::string& elements);

}  // namespace areal::command
