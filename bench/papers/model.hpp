#pragma once
// The sub-commands of areal model; each function adds one to the verb.

#include "io/settings.hpp"

namespace CLI {
class App;
}

namespace areal::command {

/// Programs of Nakano 2013 on the DMM and the UMM.
void add_model_nakano(CLI::App& verb, Settings& settings);
/// The performance model of Chen 2018.
void add_model_chen(CLI::App& verb, Settings& settings);
/// What the verb does without a sub-command: any GPU algorithm on simt. Last: the sub-commands exclude its options.
void add_model_algorithm(CLI::App& verb, Settings& settings);

}  // namespace areal::command
