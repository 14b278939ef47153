#pragma once
// The interface of the plug-ins. They are opened by dlopen and built together with the code that opens them:
// `version` must be areal::version(), so C++ types may cross.

#include "media/media.hpp"
#include "media/tile_source.hpp"
#include "media/zarr/metadata.hpp"

#define AREAL_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))

namespace areal::media {

struct PicturePlugin {
  const char* version;
  Picture (*read)(const fs::path& path, const ReadOptions& options);
  // Fills the existing, empty file `where`. `format` is an extension with its dot; `name` names the file in error
  // messages; shape and type fit the format.
  std::unique_ptr<PictureRows> (*open_rows)(const fs::path& where, const std::string& format, const std::string& name,
                                            const Shape& shape, Type type);
  // The tiles or strips of a TIFF or an EXR; null for any other picture.
  std::unique_ptr<TileSource> (*open_tiles)(const fs::path& path, const ReadOptions& options);
};

struct VideoPlugin {
  const char* version;
  std::unique_ptr<Video> (*open)(const fs::path& path, const ReadOptions& options);
  // Fills the existing, empty file `where`. `format` is .mp4, .avi or .mkv; `name` names the file in error messages.
  std::unique_ptr<VideoWriter> (*open_writer)(const fs::path& where, const std::string& format, const std::string& name,
                                              std::int64_t width, std::int64_t height, double frames_per_second);
};

struct SlidePlugin {
  const char* version;
  bool (*knows)(const fs::path& path);  // true for a slide, but not for a generic TIFF
  std::unique_ptr<TileSource> (*open)(const fs::path& path, const ReadOptions& options);
};

struct CodecPlugin {
  const char* version;
  bool (*has)(ZarrCodec codec);  // true if its library was available when the plug-in was built
  // Writes exactly `bytes` to `into`; or returns false and, perhaps, why.
  bool (*decode)(ZarrCodec codec, const char* from, std::size_t size, char* into, std::size_t bytes, std::string& why);
};

// The plug-in, opened at the first call. Throws Unavailable if it cannot be opened.
const PicturePlugin& picture_plugin();
const VideoPlugin& video_plugin();
const CodecPlugin& codec_plugin();
const SlidePlugin& slide_plugin();

// A folder of pictures as a video (no plug-in of its own).
std::unique_ptr<Video> open_picture_folder(const fs::path& path, const ReadOptions& options);

}  // namespace areal::media
