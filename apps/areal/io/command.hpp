#pragma once
// What the programs that have verbs share: the command and its laboratory.

#include <functional>
#include "io/settings.hpp"

namespace CLI {
class App;
}

namespace areal::command {

/// Parses the arguments and runs one of the verbs that `add_verbs` adds. Returns the exit code.
int run_command(int argc, char** argv, const std::function<void(CLI::App&, Settings&)>& add_verbs);

}  // namespace areal::command
