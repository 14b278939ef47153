#pragma once

#include <string>
#include <vector>

namespace areal::command {

/// What a program writes to standard output; its other words are dropped.
std::string output_of(const std::vector<std::string>& words);

}  // namespace areal::command
