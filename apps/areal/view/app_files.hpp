#pragma once
// The page's files, which CMake embeds: those of web/, and Leaflet's.

#include <cstddef>
#include <string_view>

namespace areal::command::page {

struct AppFile {
  std::string_view content_type, bytes;
};

/// The file of that name; no bytes if there is none. "page.html" is the page itself.
AppFile app_file(std::string_view name) noexcept;

struct EmbeddedFile {
  const char* name;
  const unsigned char* bytes;
  std::size_t size;
};
/// Of a source that cmake/embed.cmake writes.
extern const EmbeddedFile embedded_files[];
extern const std::size_t embedded_count;

}  // namespace areal::command::page
