// The areal command: one verb a file of verbs/. Those of the laboratory, bench and model, are run by areal-lab.

#include "io/command.hpp"
#include "verbs/verbs.hpp"

int main(int argc, char** argv) {
  return areal::command::run_command(argc, argv, [](CLI::App& app, areal::command::Settings& settings) {
    areal::command::add_sat(app, settings);
    areal::command::add_hist(app, settings);
    areal::command::add_query(app, settings);
    areal::command::add_window(app, settings);
    areal::command::add_filter(app, settings);
    areal::command::add_match(app, settings);
    areal::command::add_detect(app, settings);
    areal::command::add_scan(app, settings);
    areal::command::add_track(app, settings);
    areal::command::add_view(app, settings);
    areal::command::add_algorithms(app, settings);
    areal::command::add_model(app, settings);
    areal::command::add_bench(app, settings);
    areal::command::add_info(app, settings);
    areal::command::add_help(app, settings);
    areal::command::add_completion(app, settings);
  });
}
