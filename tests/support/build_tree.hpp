#pragma once
// Programs of the build that a test belongs to, found from the test's own place, BUILD/tests/NAME: its object serves
// any build.

#include <filesystem>
#include <string>

namespace areal::test {

inline std::string of_build(const std::string& file) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / file;
}
inline std::string areal_command() { return of_build("apps/areal/areal"); }

}  // namespace areal::test
