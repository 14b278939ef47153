#pragma once
// --help: the options of a verb and those of every verb, in groups.

#include <CLI/CLI.hpp>
#include <string>

namespace areal::command {

namespace group {
inline constexpr const char* input = "Input";
inline constexpr const char* what = "What to compute";
inline constexpr const char* where = "Where and how";
inline constexpr const char* output = "Output";
}  // namespace group

/// The group of the options that are added to the verb from here on.
inline void begin_group(CLI::App& verb, const char* name) { verb.option_defaults()->group(name); }

/// Prints the groups in their order, each with the options of the verb and then those of the command.
class GroupedHelp : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;

 private:
  std::string groups(const CLI::App& app) const;
};

}  // namespace areal::command
