// Finds and opens the plug-ins; the public calls that they implement.
#include "media/plugin.hpp"
#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <areal/version.hpp>
#include <cstdlib>
#include <fstream>
#include <limits>
#include "media/file_error.hpp"
#include "media/picture_formats.hpp"

namespace areal::media {
namespace {

// Files of the plug-ins.
constexpr const char *pictures_file = "areal_pictures.so", *video_file = "areal_video.so",
                     *codecs_file = "areal_codecs.so", *slides_file = "areal_slides.so";

fs::path folder_of(const void* address) {
  Dl_info info{};
  if (::dladdr(address, &info) == 0 || !info.dli_fname) return {};
  std::error_code error;
  const fs::path file = fs::canonical(info.dli_fname, error);
  return error ? fs::path() : file.parent_path();
}

// The folder for plug-ins: $AREAL_PLUGIN_DIR if it is set; else the folder `areal` next to libareal, in the build tree
// and in an installation. For a static libareal it is the one of the program's installation, or of the build tree.
// Never another folder, which somebody else may own.
fs::path plugin_folder() {
  if (const char* folder = std::getenv("AREAL_PLUGIN_DIR"); folder && *folder) return folder;
  const fs::path place = folder_of(reinterpret_cast<const void*>(&areal::version));
  if (place.empty()) return {};
#ifdef AREAL_BUILD_TREE
  std::error_code error;
  const fs::path tree = fs::canonical(AREAL_BUILD_TREE, error);
  const bool is_in_tree =
      !error && std::mismatch(tree.begin(), tree.end(), place.begin(), place.end()).first == tree.end();
  return is_in_tree ? tree / "src/areal" : (place / "../" AREAL_LIBDIR "/areal").lexically_normal();
#else
  return place / "areal";
#endif
}

// Bytes of address space that the process's limit (ulimit -v) leaves.
std::uint64_t free_address_space() {
  rlimit limit{};
  std::uint64_t pages = 0;
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      !(std::ifstream("/proc/self/statm") >> pages))
    return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t taken = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > taken ? limit.rlim_cur - taken : 0;
}

// `mib`: address space that the libraries take, if their static constructors abort the process where they get less.
template <class Plugin>
const Plugin& open(const char* file, const char* entry, const char* what, const char* needs, std::uint64_t mib = 0) {
  const fs::path folder = plugin_folder(), path = folder / file;
  const auto unavailable = [&](const std::string& why) {
    throw Unavailable(std::string(what) + " cannot be read or written: " + why);
  };
  if (std::error_code error; folder.empty() || !fs::exists(path, error))
    unavailable(std::string(file) + " is not in " + (folder.empty() ? "any folder" : folder.string()) +
                "; build areal with " + needs + ", or set AREAL_PLUGIN_DIR to the folder that holds it");
  if (const std::uint64_t left = free_address_space() >> 20; left < mib)
    unavailable("the libraries for them take " + std::to_string(mib) + " MiB of address space, of which its limit (" +
                "ulimit -v) leaves " + std::to_string(left) + " MiB");
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

}  // namespace

const PicturePlugin& picture_plugin() {
  static const PicturePlugin& plugin = open<PicturePlugin>(pictures_file, "areal_picture_plugin", "pictures",
                                                           "OpenImageIO (Debian package libopenimageio-dev)", 460);
  return plugin;
}

const VideoPlugin& video_plugin() {
  static const VideoPlugin& plugin =
      open<VideoPlugin>(video_file, "areal_video_plugin", "videos",
                        "FFmpeg (Debian packages libavformat-dev, libavcodec-dev and libswscale-dev)");
  return plugin;
}

const CodecPlugin& codec_plugin() {
  static const CodecPlugin& plugin =
      open<CodecPlugin>(codecs_file, "areal_codec_plugin", "compressed Zarr chunks",
                        "zlib, Zstandard and Blosc (Debian packages zlib1g-dev, libzstd-dev and libblosc-dev)");
  return plugin;
}

const SlidePlugin& slide_plugin() {
  static const SlidePlugin& plugin =
      open<SlidePlugin>(slides_file, "areal_slide_plugin", "slides", "OpenSlide (Debian package libopenslide-dev)");
  return plugin;
}

PlugIns plug_ins() {
  PlugIns result{plugin_folder(), {}};
  std::error_code error;
  for (const char* file : {pictures_file, video_file, codecs_file, slides_file})
    if (!result.folder.empty() && fs::exists(result.folder / file, error)) result.files.emplace_back(file);
  return result;
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
