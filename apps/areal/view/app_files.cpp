#include "view/app_files.hpp"

#include <algorithm>

namespace areal::command::page {
namespace {

std::string_view content_type_of(std::string_view name) noexcept {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  return name.ends_with(".svg") ? "image/svg+xml" : "text/plain; charset=utf-8";
}

}  // namespace

AppFile app_file(std::string_view name) noexcept {
  const EmbeddedFile* const end = embedded_files + embedded_count;
  const EmbeddedFile* const at =
      std::find_if(embedded_files, end, [&](const EmbeddedFile& file) { return file.name == name; });
  if (at == end) return {};
  return {content_type_of(name), {reinterpret_cast<const char*>(at->bytes), at->size}};
}

}  // namespace areal::command::page
