#pragma once
// --help: options in groups.

#include <CLI/CLI.hpp>
#include <string>

namespace areal::command {

namespace group {
inline constexpr const char* input = "Input";
inline constexpr const char* what = "What to compute";
inline constexpr const char* where = "Where and how";
inline constexpr const char* output = "Output";
}  // namespace group

/// Puts the options that are added to the verb from here on into the group `name`.
inline void begin_group(CLI::App& verb, const char* name) { verb.option_defaults()->group(name); }

/// Prints each group with the options of the verb, then those of the command.
class GroupedHelp : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;

 private:
  std::string groups(const CLI::App& app) const;
};

}  // namespace areal::command
