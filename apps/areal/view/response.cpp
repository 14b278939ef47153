#include "view/response.hpp"

#include <fmt/format.h>

namespace areal::command::page {
namespace {

constexpr std::string_view headers =
    "Cache-Control: no-store\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for "
    "'script'; trusted-types default\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "X-Content-Type-Options: nosniff\r\n";

std::string_view reason_of(int status) noexcept {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 426:
      return "Upgrade Required";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

}  // namespace

std::string text_of(const Response& response, bool keep_alive) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\nContent-Length: {}\r\nConnection: {}\r\n", response.status,
                                 reason_of(response.status), response.body.size(), keep_alive ? "keep-alive" : "close");
  if (response.status == 200) {
    text += fmt::format("Content-Type: {}\r\n", response.content_type);
    if (!response.saved_as.empty())
      text += fmt::format("Content-Disposition: attachment; filename=\"{}\"\r\n", response.saved_as);
    text += headers;
  }
  text += "\r\n";
  return text += response.body;
}

}  // namespace areal::command::page
