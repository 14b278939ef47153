#pragma once
// The sub-commands of areal model: each adds itself to the verb.

#include "settings.hpp"

namespace CLI {
class App;
}

namespace areal::command {

/// Programs of Nakano 2013 on the DMM and the UMM.
void add_model_nakano(CLI::App& verb, Settings& settings);

}  // namespace areal::command
