#pragma once
// The laboratory, areal-lab: a separate program in the command's folder, which runs the verbs bench and model.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace areal::command {

inline constexpr const char* bench_description = "Time algorithms against their floors and other libraries";
inline constexpr const char* model_description =
    "Costs of algorithms on the memory machines, against the papers' bounds";

bool has_laboratory();
/// Becomes the laboratory with these arguments, whose first is the command's name: its exit code and the signals that
/// end it are then the command's. Throws Unavailable if it cannot be run.
[[noreturn]] void become_laboratory(char** arguments);
/// What it writes for these words; "" where it is not installed.
std::string laboratory_output(const std::vector<std::string>& words);
/// True for a verb of the command that the laboratory runs.
bool is_for_laboratory(const CLI::App& verb);

}  // namespace areal::command
