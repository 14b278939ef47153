#pragma once
// Messages about command lines that the parser does not accept.

#include <CLI/CLI.hpp>
#include <span>
#include <string>

namespace areal::command {

/// Explains the `words` that the parser could not match: numbers that need commas, or an unknown option and the one
/// with the most similar name. `arguments` is the whole command line.
std::string usage_error(const CLI::App& app, const std::vector<std::string>& words, std::span<char*> arguments);

}  // namespace areal::command
