#pragma once
// What a line of JSON is answered with, also where a door throws.

#include <functional>
#include <span>
#include <string>

#include "door.hpp"

namespace doors {

/// The answer, or {"refused", "kind"} for exceptions of areal's and of a question that makes no sense, or {"failed"}.
Json answered(const std::string& line, const std::function<Json(const Json&)>& ask);
/// Asks the door that the question names.
Json ask_one_of(std::span<const Door> doors, const Json& line);
std::string line_of(const Json& answer);

}  // namespace doors
