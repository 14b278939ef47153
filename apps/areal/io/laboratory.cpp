#include "io/laboratory.hpp"
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <areal/error.hpp>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include "io/output_of.hpp"

namespace areal::command {
namespace {

// Only in the command's own folder: what is found is run, and somebody else may own another one.
std::filesystem::path laboratory() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "areal-lab";
}

}  // namespace

bool has_laboratory() { return access(laboratory().c_str(), X_OK) == 0; }

void become_laboratory(char** arguments) {
  const std::string path = laboratory();
  execv(path.c_str(), arguments);
  throw Unavailable(path + ": " + std::generic_category().message(errno));
}

std::string laboratory_output(const std::vector<std::string>& words) {
  if (!has_laboratory()) return {};
  std::vector<std::string> line{laboratory()};
  line.insert(line.end(), words.begin(), words.end());
  return output_of(line);
}

bool is_for_laboratory(const CLI::App& verb) { return verb.get_prefix_command(); }

}  // namespace areal::command
