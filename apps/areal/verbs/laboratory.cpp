// areal bench and areal model, which areal-lab runs.

#include "io/laboratory.hpp"
#include <CLI/CLI.hpp>
#include <areal/error.hpp>
#include "verbs.hpp"

namespace areal::command {
namespace {

void add_for_laboratory(CLI::App& app, const Settings& settings, const std::string& name, const char* description) {
  CLI::App* verb = app.add_subcommand(name, description);
  verb->fallthrough(false)->allow_extras();
  if (has_laboratory()) {
    verb->set_help_flag();  // --help is the laboratory's, too
    verb->prefix_command();
    verb->callback([&settings] { become_laboratory(settings.arguments); });
    return;
  }
  const std::string missing = "needs areal-lab, which is not installed: build and install areal with -DAREAL_BENCH=ON";
  verb->description(std::string(description) + "; " + missing);
  verb->callback([name, missing] { throw Unavailable(name + ": " + missing); });
}

}  // namespace

void add_bench(CLI::App& app, Settings& settings) { add_for_laboratory(app, settings, "bench", bench_description); }

void add_model(CLI::App& app, Settings& settings) { add_for_laboratory(app, settings, "model", model_description); }

}  // namespace areal::command
