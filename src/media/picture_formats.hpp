#pragma once
// Which pictures can be written under which extension.

#include <areal/view.hpp>
#include <filesystem>
#include <string>

namespace areal::media {

// The extension in lower case, with its dot.
std::string extension_of(const std::filesystem::path& path);
// True for the extensions that a folder of pictures is searched for.
bool is_picture_name(const std::filesystem::path& path);
// Returns the extension to write as, or throws InvalidArgument that says what that format can hold.
std::string require_writable_as_picture(const std::filesystem::path& path, const ConstView& picture);

}  // namespace areal::media
