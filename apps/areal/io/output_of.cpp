#include "io/output_of.hpp"
#include <cstdio>

namespace areal::command {
namespace {

/// In single quotes for the shell.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string output_of(const std::vector<std::string>& words) {
  std::string line, text;
  for (const std::string& word : words) line += quoted(word) + " ";
  std::FILE* const pipe = popen((line + "2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return {};
  char part[4096];
  for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, n);
  pclose(pipe);
  return text;
}

}  // namespace areal::command
