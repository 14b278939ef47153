#pragma once
// A response of HTTP/1.1 to a request of the page.

#include <string>
#include <string_view>

namespace areal::command::page {

struct Response {
  int status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";
  std::string body = {};
  std::string_view saved_as = {};  // a browser saves it under this name
};

/// As it is sent: with status 200, with the headers that keep other origins away.
std::string text_of(const Response& response, bool keep_alive);

}  // namespace areal::command::page
