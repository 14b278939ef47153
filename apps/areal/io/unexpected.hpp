#pragma once
// What to say of words that the verb does not take.

#include <CLI/CLI.hpp>
#include <span>
#include <string>

namespace areal::command {

/// One sentence about a command line of which `words` were left over: numbers that need commas, or an option and the
/// one that it is near to. `arguments` is the whole line.
std::string unexpected(const CLI::App& app, const std::vector<std::string>& words, std::span<char*> arguments);

}  // namespace areal::command
