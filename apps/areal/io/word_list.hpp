#pragma once
// Enumerations in messages.

#include <cstddef>
#include <string>
#include <vector>

namespace areal::command {

/// "16, 32 or 64".
inline std::string word_list(const std::vector<std::string>& words, const std::string& last = " or ") {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) list += (i == 0 ? "" : i + 1 == words.size() ? last : ", ") + words[i];
  return list;
}

}  // namespace areal::command
