#pragma once
// Messages about command lines that the parser does not accept.

#include <CLI/CLI.hpp>
#include <span>
#include <string>

namespace areal::command {

/// A sentence about a command line that the parser refused: numbers that need commas, an unknown option and the one
/// with the most similar name, though something else is missing, too, or an option without its value. `arguments` is
/// the whole command line.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error, std::span<char*> arguments);

}  // namespace areal::command
