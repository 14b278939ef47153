// Reads pictures through OpenImageIO: limits first, then a band of rows at a time into the one array that it returns.
#include <OpenImageIO/imageio.h>
#include <algorithm>
#include <areal/version.hpp>
#include <cstring>
#include <mutex>
#include "media/channels.hpp"
#include "media/file_error.hpp"
#include "media/pictures/pictures.hpp"
#include "media/pictures/signature.hpp"
#include "media/pictures/spec.hpp"

namespace areal::media {
namespace {

constexpr std::int64_t band_bytes = 8 << 20;

Picture read_with(OIIO::ImageInput& in, const OIIO::ImageSpec& spec, const PictureFile& file,
                  const ReadOptions& options, const std::string& name) {
  require_plausible(spec, file, name);
  const Type type = type_of_format(spec.format, name);
  if (file.kind == PictureKind::tiff) require_right_tiff(spec, type, name);
  Picture out;
  const Channels choice = choose_channels(spec, options, name, out.notes);
  if (choice.luma && (type == Type::u64 || type == Type::s64))
    fail(name, "holds 64-bit colours, which have no luma here");
  const Shape shape{spec.width, spec.height, choice.count()};
  const std::int64_t row = std::int64_t{spec.width} * spec.nchannels * static_cast<std::int64_t>(size_of(type));
  // UNKNOWN returns the bits unconverted (a named type converts doubles to float). But the channels of an EXR may
  // differ in type; then all are converted to the widest.
  const OIIO::TypeDesc format = spec.channelformats.empty() ? OIIO::TypeDesc(OIIO::TypeDesc::UNKNOWN) : spec.format;
  // A band is at least as high as a tile; the decoder keeps about as much again.
  std::int64_t unit = std::max(1, spec.tile_height);
  if (file.kind == PictureKind::tiff && size_of(type) == 8)  // of which read_rows reads whole strips
    unit = std::clamp(spec.get_int_attribute("tiff:RowsPerStrip", spec.height), 1, spec.height);
  const std::int64_t band =
      std::min<std::int64_t>(spec.height, std::max<std::int64_t>(1, band_bytes / row / unit) * unit);
  const std::uint64_t whole = spec.get_int_attribute("areal:whole") ? spec.image_bytes(true) : 0;
  require_memory(name, bytes_of(shape, type) + whole + static_cast<std::uint64_t>(2 * band * row),
                 options.memory_limit);
  out.pixels = Array(shape, type);

  const bool straight = !choice.luma && static_cast<int>(choice.chosen.size()) == spec.nchannels;
  const std::unique_ptr<char[]> rows(straight ? nullptr : new char[static_cast<std::size_t>(band * row)]);
  const std::int64_t out_row = shape.width * shape.channels * static_cast<std::int64_t>(size_of(type));
  char* to = static_cast<char*>(out.pixels.data());
  for (std::int64_t y = 0; y < spec.height; y += band) {
    const std::int64_t count = std::min(band, spec.height - y);
    char* into = straight ? to + y * out_row : rows.get();
    const int first = spec.y + static_cast<int>(y), last = first + static_cast<int>(count);
    const bool good = spec.tile_width ? in.read_tiles(0, 0, spec.x, spec.x + spec.width, first, last, spec.z,
                                                      spec.z + 1, 0, spec.nchannels, format, into)
                                      : read_rows(in, 0, 0, first, last, 0, spec.nchannels, format, into);
    const std::string why = printable(in.geterror());
    if (!good || !why.empty())
      fail(name, "is damaged or truncated in rows ", y, " to ", y + count - 1, why.empty() ? "" : " (" + why + ")");
    if (!straight) take_channels(type, choice, into, spec.nchannels, count * spec.width, to + y * out_row);
  }
  add_notes(spec, type, out.notes);
  if (in.seek_subimage(1, 0)) out.notes.push_back("the file holds more pictures; the first was read");
  (void)in.geterror();
  return out;
}

Picture read_file(const fs::path& path, const ReadOptions& options) {
  const std::string name = path.string();
  const PictureFile file = inspect_picture(name);
  if (file.jpeg_samples > file.bytes * largest_expansion)
    fail(name, "declares ", file.jpeg_samples, " samples, which its ", file.bytes, " bytes cannot hold");
  // The decoder holds all coefficients of a progressive JPEG, 16 bits each, until its last scan.
  if (file.jpeg_progressive) require_memory(name, 3 * file.jpeg_samples, options.memory_limit);
  try {
    quiet_openimageio();
    const auto in = make_input(file, name);
    open_input(*in, file, name);
    return read_with(*in, in->spec(), file, options, name);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {  // OpenEXR and std::bad_alloc, through OpenImageIO
    fail(name, "could not be decoded (", printable(error.what()), ")");
  }
}

}  // namespace

void quiet_openimageio() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Errors are collected, never printed. Unread errors must not appear at exit either.
    OIIO::attribute("debug", 0);
    OIIO::attribute("threads", 1);
    OIIO::attribute("limits:imagesize_MB", 0);  // checked here, against memory_limit and the file's own size
  });
}

}  // namespace areal::media

AREAL_PLUGIN_EXPORT const areal::media::PicturePlugin* areal_picture_plugin() {
  static const areal::media::PicturePlugin plugin{AREAL_VERSION_STRING, &areal::media::read_file,
                                                  &areal::media::open_rows, &areal::media::open_tiles};
  return &plugin;
}
