#include "help.hpp"

namespace areal::command {
namespace {

/// A verb can replace an option of the command: bench --json FILE.
bool replaces(const CLI::App& verb, const CLI::Option& option) {
  const std::vector<std::string>& names = option.get_lnames();
  return !names.empty() && verb.get_option_no_throw("--" + names.front()) != nullptr;
}

}  // namespace

std::string GroupedHelp::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  return make_description(app) + make_usage(app, std::move(name)) + groups(*app) + make_subcommands(app, mode) + '\n' +
         make_footer(app);
}

std::string GroupedHelp::groups(const CLI::App& app) const {
  const CLI::App* command = &app;
  while (command->get_parent() != nullptr) command = command->get_parent();
  std::string text;
  for (const char* const name : {group::input, group::what, group::where, group::output, "Options"}) {
    std::string lines;
    for (const CLI::Option* option : app.get_options())
      if (option->get_group() == name) lines += make_option(option, option->get_positional());
    for (const CLI::Option* option : command->get_options())
      if (option->get_group() == name && !replaces(app, *option)) lines += make_option(option, false);
    if (!lines.empty()) text += "\n" + std::string(name) + ":\n" + lines;
  }
  return text;
}

}  // namespace areal::command
