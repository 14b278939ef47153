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

/// Adds --types, and --lane, its old name, which no help shows.
void add_types_to(CLI::App& verb, std::string& types, const std::string& help);

/// The pair of that name; none for an empty text. Throws InvalidArgument with the names of all pairs.
std::optional<TypePair> parse_types(const std::string& text);
/// The pair asked for, or the default of images of that shape. Throws InvalidArgument where the pair cannot hold every
/// value of the image's type. `elements` says what has that type: "pixels of photo.png".
TypePair types_for(const std::optional<TypePair>& asked, const Shape& image, Type type, bool volume,
                   const std::string& elements);

}  // namespace areal::command
