// Requests to the page's server: any bytes give one decision, and only a request with the token and a local Host is
// answered.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include "view/request.hpp"

namespace {

constexpr std::string_view token = "0123456789abcdef0123456789abcdef";

void require(bool holds) {
  if (!holds) std::abort();
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace areal::command::page;
  std::string header(reinterpret_cast<const char*>(data), size);
  // Seeds have the token as @.
  if (const std::size_t at = header.find('@'); at != std::string::npos) header.replace(at, 1, token);
  const Request request = check_request(header, token);
  if (request.status == 200) {
    require(header.size() <= most_header_bytes && header.starts_with("GET /") && header.ends_with("\r\n\r\n"));
    require(header.substr(5).starts_with(std::string(token) + "/"));
    require(contains(header, "127.0.0.1") || contains(header, "localhost") || contains(header, "[::1]"));
    require(request.route.kind != Route::Kind::none);
    require(!contains(header, "\n ") && !contains(header, "\n\t"));
    if (request.route.kind == Route::Kind::app) {
      const std::string_view name = request.route.name;
      require(name.data() >= header.data() && name.data() + name.size() <= header.data() + header.size());
    }
  } else {
    require(request.status >= 400 && request.status < 500);
  }
  route_of({reinterpret_cast<const char*>(data), size});
  return 0;
}
