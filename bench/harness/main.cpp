// areal-lab: the laboratory. The command runs it for `areal bench` and `areal model`, so messages and help name the
// command.

#include <CLI/CLI.hpp>
#include "io/command.hpp"
#include "verbs/verbs.hpp"

int main(int argc, char** argv) {
  return areal::command::run_command(argc, argv, [](CLI::App& app, areal::command::Settings& settings) {
    areal::command::add_model(app, settings);
    areal::command::add_bench(app, settings);
    areal::command::add_help(app, settings);
    areal::command::add_completion(app, settings);
    // Only the command shows these, and has the laboratory complete them for its own verbs.
    for (const char* const verb : {"help", "completion"}) app.get_subcommand(verb)->group("");
  });
}
