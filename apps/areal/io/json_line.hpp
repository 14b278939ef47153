#pragma once
// A line of JSON on standard output.

#include <nlohmann/json.hpp>
#include "io/out.hpp"

namespace areal::command {

/// Text that is not UTF-8, such as a file's name, gets replacement characters.
template <class Json>
void write_json(const Json& json) {
  write_out(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace areal::command
