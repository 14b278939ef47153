// areal model: what the memory machines say of algorithms.

#include "model.hpp"

#include <CLI/CLI.hpp>
#include "numbers.hpp"
#include "verbs.hpp"

namespace areal::command {

void add_model(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand("model", "Time units that the memory machines take, beside their bounds");
  verb->require_subcommand(0, 1);
  add_model_nakano(*verb, settings);
  verb->footer("Example:\n  areal model nakano --n 4096 --w 32 --l 32");
  verb->callback([verb] {
    if (verb->get_subcommands().empty()) refuse("model: needs a sub-command; it may be nakano");
  });
}

}  // namespace areal::command
