#pragma once
// The picture formats of each extension, and what they can hold.

#include <areal/view.hpp>
#include <filesystem>
#include <string>

namespace areal::media {

// The extension in lower case, with its dot.
std::string extension_of(const std::filesystem::path& path);
// True for the extensions that count as pictures in a folder.
bool is_picture_name(const std::filesystem::path& path);
// Returns the extension of the format to write, or throws InvalidArgument that says what that format can hold.
std::string require_writable_as_picture(const std::filesystem::path& path, const ConstView& picture);

}  // namespace areal::media
