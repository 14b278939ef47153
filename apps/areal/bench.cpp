// areal bench: its hook. The benchmarks themselves are not here yet.

#include <CLI/CLI.hpp>
#include <areal/error.hpp>
#include "verbs.hpp"

namespace areal::command {

void add_bench(CLI::App& app, Settings&) {
  CLI::App* verb = app.add_subcommand("bench", "Measure (not in this build)");
  verb->allow_extras();
  verb->callback([] { throw Unavailable("bench: this build has no benchmarks"); });
}

}  // namespace areal::command
