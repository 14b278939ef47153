#include "view/request.hpp"

#include <utility>  // before Asio of Boost 1.74, which lacks it

#include <algorithm>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

namespace areal::command::page {
namespace {

namespace http = boost::beast::http;
using HttpRequest = http::request<http::empty_body>;

/// Beast 1.74 accepts folded fields and line ends that other programs read in another way.
bool has_plain_lines(std::string_view header) {
  if (!header.ends_with("\r\n\r\n")) return false;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const auto c = static_cast<unsigned char>(header[i]);
    const unsigned char before = i == 0 ? ' ' : static_cast<unsigned char>(header[i - 1]);
    if (c == '\n' ? before != '\r' : before == '\r') return false;
    if (before == '\n' && (c == ' ' || c == '\t')) return false;
    if ((c < ' ' && c != '\r' && c != '\n' && c != '\t') || c > '~') return false;
  }
  return true;
}

std::string_view text_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

/// The value of a field that occurs once; nothing for none or several.
bool only_one(const HttpRequest& message, boost::beast::string_view name, std::string_view& value) {
  if (message.count(name) != 1) return false;
  value = text_of(message[name]);
  return true;
}

/// 127.0.0.1, localhost or [::1], with any port: `ssh -L` changes it.
bool is_local(std::string_view host) {
  for (const std::string_view name : {"127.0.0.1", "localhost", "[::1]"}) {
    if (!host.starts_with(name)) continue;
    const std::string_view rest = host.substr(name.size());
    if (rest.empty()) return true;
    const bool digits = std::all_of(rest.begin() + 1, rest.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (rest.front() == ':' && digits && rest.size() >= 2 && rest.size() <= 6) return true;
  }
  return false;
}

/// The time does not depend on where they differ.
bool same(std::string_view given, std::string_view token) {
  if (given.size() != token.size()) return false;
  unsigned differences = 0;
  for (std::size_t i = 0; i < token.size(); ++i)
    differences |= static_cast<unsigned>(static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(token[i]));
  return differences == 0;
}

/// Does another page send the request? Browsers say so; other programs send no such field.
bool is_foreign(const HttpRequest& message, const Route& route, std::string_view host) {
  if (message.count("Sec-Fetch-Site") > 1) return true;
  const std::string_view site = text_of(message["Sec-Fetch-Site"]);
  const bool opens_page = route.kind == Route::Kind::page && message["Sec-Fetch-Mode"] == "navigate" &&
                          message["Sec-Fetch-Dest"] == "document";
  if (!site.empty() && site != "same-origin" && site != "none" && !opens_page) return true;
  const bool needs_origin = route.kind == Route::Kind::socket;
  std::string_view origin;
  if (!only_one(message, "Origin", origin)) return needs_origin || message.count("Origin") > 1;
  return origin != "http://" + std::string(host);
}

}  // namespace

Request check_request(std::string_view header, std::string_view token) {
  Request request;
  const auto refused = [&](int status) {
    request.status = status;
    return request;
  };
  if (header.size() > most_header_bytes) return refused(431);
  if (!has_plain_lines(header)) return refused(400);
  http::request_parser<http::empty_body> parser;
  parser.header_limit(most_header_bytes);
  boost::system::error_code error;
  parser.put(boost::asio::buffer(header.data(), header.size()), error);
  if (error || !parser.is_header_done()) return refused(400);
  const HttpRequest& message = parser.get();
  std::string_view host;
  const std::string_view target = text_of(message.target());
  if (message.version() != 11 || !target.starts_with('/') || !only_one(message, "Host", host)) return refused(400);
  if (message.count("Content-Length") != 0 || message.count("Transfer-Encoding") != 0) return refused(400);
  if (!is_local(host)) return refused(403);
  const std::string_view path = target.substr(1);
  if (path.size() <= token_digits || path[token_digits] != '/' || !same(path.substr(0, token_digits), token))
    return refused(404);
  if (message.method() != http::verb::get) return refused(405);
  // In `header`: the message and its target end here.
  const std::size_t at = header.find(target);
  request.route = route_of(header.substr(at + 1 + token_digits + 1, path.size() - token_digits - 1));
  if (is_foreign(message, request.route, host)) return refused(403);
  if (request.route.kind == Route::Kind::none) return refused(404);
  const bool is_socket = request.route.kind == Route::Kind::socket;
  if (is_socket != boost::beast::websocket::is_upgrade(message)) return refused(is_socket ? 426 : 400);
  request.keep_alive = message.keep_alive();
  return request;
}

}  // namespace areal::command::page
