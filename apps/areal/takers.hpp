#pragma once
// Who has an option of the algorithms, for words about it.

#include <areal/catalog.hpp>
#include <string>
#include <vector>

namespace areal::command {

/// The ids of all that take it: "naive, optimal or sequential-parallel".
inline std::string takers(bool Takes::*what, const char* last = " or ") {
  std::vector<std::string_view> ids;
  for (const Algorithm& row : algorithms())
    if (row.takes.*what) ids.push_back(row.id);
  std::string list;
  for (const std::string_view& id : ids)
    list += (list.empty() ? "" : &id == &ids.back() ? last : ", ") + std::string(id);
  return list;
}

}  // namespace areal::command
