// Stands in for `areal bench` in a build without it.
#include <CLI/CLI.hpp>
#include <areal/error.hpp>
#include "verbs/verbs.hpp"

namespace areal::command {

void add_bench(CLI::App& app, Settings&) {
  CLI::App* verb = app.add_subcommand("bench", "Time algorithms against their floors: not in this build");
  verb->fallthrough(false)->allow_extras();
  verb->callback([] { throw Unavailable("bench: this build has no benchmarks (AREAL_BENCH=OFF)"); });
}

}  // namespace areal::command
