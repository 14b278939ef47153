#pragma once
// Names of the files of one image's tables.

#include <filesystem>
#include <string>

namespace areal::command {

/// T.npy and "squares": T.squares.npy.
inline std::filesystem::path beside(const std::filesystem::path& path, const std::string& part) {
  return path.parent_path() / (path.stem().string() + "." + part + path.extension().string());
}

}  // namespace areal::command
