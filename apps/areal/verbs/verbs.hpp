#pragma once
// The verbs. Each function adds a verb to the command: its options, its help with an example, its callback.

#include "io/settings.hpp"

namespace CLI {
class App;
}

namespace areal::command {

void add_sat(CLI::App& app, Settings& settings);
void add_hist(CLI::App& app, Settings& settings);
void add_query(CLI::App& app, Settings& settings);
void add_window(CLI::App& app, Settings& settings);
void add_filter(CLI::App& app, Settings& settings);
void add_match(CLI::App& app, Settings& settings);
void add_detect(CLI::App& app, Settings& settings);
void add_scan(CLI::App& app, Settings& settings);
void add_track(CLI::App& app, Settings& settings);
void add_view(CLI::App& app, Settings& settings);
void add_algorithms(CLI::App& app, Settings& settings);
void add_model(CLI::App& app, Settings& settings);
void add_bench(CLI::App& app, Settings& settings);
void add_info(CLI::App& app, Settings& settings);
void add_help(CLI::App& app, Settings& settings);
/// Last: it reads all verbs and options added before.
void add_completion(CLI::App& app, Settings& settings);

}  // namespace areal::command
