// Finds and opens the plug-ins; the public calls that they implement.
#include "media/plugin.hpp"
#include <dlfcn.h>
#include <areal/version.hpp>
#include <cstdlib>
#include "media/file_error.hpp"
#include "media/picture_formats.hpp"

namespace areal::media {
namespace {

fs::path folder_of(const void* address) {
  Dl_info info{};
  if (::dladdr(address, &info) == 0 || !info.dli_fname) return {};
  std::error_code error;
  const fs::path file = fs::canonical(info.dli_fname, error);
  return error ? fs::path() : file.parent_path();
}

// The folders for plug-ins. Only $AREAL_PLUGIN_DIR if it is set; else a folder `areal` beside libareal, in the build
// tree and in an installation; else, for a static libareal, the same relative to the program.
std::vector<fs::path> plugin_folders() {
  if (const char* folder = std::getenv("AREAL_PLUGIN_DIR"); folder && *folder) return {folder};
  std::vector<fs::path> out;
  if (const fs::path library = folder_of(reinterpret_cast<const void*>(&areal::version)); !library.empty())
    out.push_back(library / "areal");
  std::error_code error;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path(); !program.empty())
    for (const char* step : {"../" AREAL_LIBDIR "/areal", "../src/areal", "../../src/areal"})
      out.push_back((program / step).lexically_normal());
  return out;
}

template <class Plugin>
const Plugin& open(const char* file, const char* entry, const char* what, const char* needs) {
  const std::vector<fs::path> folders = plugin_folders();
  const auto unavailable = [&](const std::string& why) {
    throw Unavailable(std::string(what) + " cannot be read or written: " + why);
  };
  for (const fs::path& folder : folders) {
    const fs::path path = folder / file;
    if (std::error_code error; !fs::exists(path, error)) continue;
    void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      const char* error = ::dlerror();
      unavailable(path.string() + " needs " + needs + " (" + printable(error ? error : "dlopen failed", 300) + ")");
    }
    const auto get = reinterpret_cast<const Plugin* (*)()>(::dlsym(handle, entry));
    if (!get) unavailable(path.string() + " is not a plug-in of areal");
    const Plugin* plugin = get();
    if (std::string_view(plugin->version) != areal::version())
      unavailable(path.string() + " is of areal " + plugin->version + ", this is areal " + areal::version());
    return *plugin;
  }
  unavailable(std::string(file) + " is not in " + (folders.empty() ? "any folder" : folders.front().string()) +
              "; build areal with " + needs + ", or set AREAL_PLUGIN_DIR to the folder that holds it");
  __builtin_unreachable();
}

}  // namespace

const PicturePlugin& picture_plugin() {
  static const PicturePlugin& plugin = open<PicturePlugin>("areal_pictures.so", "areal_picture_plugin", "pictures",
                                                           "OpenImageIO (Debian package libopenimageio-dev)");
  return plugin;
}

const VideoPlugin& video_plugin() {
  static const VideoPlugin& plugin =
      open<VideoPlugin>("areal_video.so", "areal_video_plugin", "videos",
                        "FFmpeg (Debian packages libavformat-dev, libavcodec-dev and libswscale-dev)");
  return plugin;
}

const CodecPlugin& codec_plugin() {
  static const CodecPlugin& plugin =
      open<CodecPlugin>("areal_codecs.so", "areal_codec_plugin", "compressed Zarr chunks",
                        "zlib, Zstandard and Blosc (Debian packages zlib1g-dev, libzstd-dev and libblosc-dev)");
  return plugin;
}

const SlidePlugin& slide_plugin() {
  static const SlidePlugin& plugin = open<SlidePlugin>("areal_slides.so", "areal_slide_plugin", "slides",
                                                       "OpenSlide (Debian package libopenslide-dev)");
  return plugin;
}

Picture read_picture(const fs::path& path, const ReadOptions& options) {
  require_readable(path);
  return picture_plugin().read(path, options);
}

struct PictureWriter::State {
  OutputFile file;
  std::unique_ptr<PictureRows> rows;  // goes first
};

PictureWriter::PictureWriter(const fs::path& path, const Shape& shape, Type type) {
  const std::string format = require_writable_as_picture(path, {nullptr, type, shape});
  const PicturePlugin& plugin = picture_plugin();
  state_.reset(new State{OutputFile(path), {}});
  state_->rows = plugin.open_rows(state_->file.temporary(), format, path.string(), shape, type);
}
PictureWriter::~PictureWriter() = default;
PictureWriter::PictureWriter(PictureWriter&&) noexcept = default;

void PictureWriter::write(const ConstView& rows) { state_->rows->write(rows); }
void PictureWriter::finish() {
  state_->rows->finish();
  state_->file.commit();
}

void write_picture(const fs::path& path, const ConstView& picture) {
  PictureWriter writer(path, picture.shape, picture.type);
  writer.write(picture);
  writer.finish();
}

std::unique_ptr<Video> open_video(const fs::path& path, const ReadOptions& options) {
  if (std::error_code error; fs::is_directory(path, error)) return open_picture_folder(path, options);
  require_readable(path);
  return video_plugin().open(path, options);
}

}  // namespace areal::media
