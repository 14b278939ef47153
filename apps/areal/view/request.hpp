#pragma once
// What a request must be before it is answered: docs/view.md, "Security".

#include <cstddef>
#include <string>
#include <string_view>
#include "view/routes.hpp"

namespace areal::command::page {

inline constexpr std::size_t most_header_bytes = 8192, token_digits = 32;

struct Request {
  int status = 200;  // of the refusal; 200: answer it
  Route route;       // its name is a part of the header
  bool keep_alive = true;
};

/// Reads a header, which ends with its empty line. `token`: 32 hexadecimal digits.
Request check_request(std::string_view header, std::string_view token);

}  // namespace areal::command::page
