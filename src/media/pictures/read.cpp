// Reads pictures through OpenImageIO: limits first, then a band of rows at a time into the one array that it returns.
#include <OpenImageIO/imageio.h>
#include <algorithm>
#include <areal/version.hpp>
#include <cstring>
#include <mutex>
#include "media/file_error.hpp"
#include "media/luma.hpp"
#include "media/pictures/pictures.hpp"
#include "media/pictures/png_input.hpp"
#include "media/pictures/pnm.hpp"
#include "media/pictures/signature.hpp"

namespace areal::media {
namespace {

// Deflate (PNG, most EXR, many TIFF) expands at most 1032 times and LZW 2600; a JPEG block of 64 samples takes at least
// about two bits a component. A header that claims more is wrong.
constexpr std::uint64_t largest_expansion = 4096;
constexpr std::int64_t band_bytes = 8 << 20;

Type type_of_format(const OIIO::TypeDesc& format, const std::string& name) {
  switch (format.basetype) {
    case OIIO::TypeDesc::UINT8:
      return Type::u8;
    case OIIO::TypeDesc::INT8:
      return Type::s8;
    case OIIO::TypeDesc::UINT16:
      return Type::u16;
    case OIIO::TypeDesc::INT16:
      return Type::s16;
    case OIIO::TypeDesc::UINT32:
      return Type::u32;
    case OIIO::TypeDesc::INT32:
      return Type::s32;
    case OIIO::TypeDesc::UINT64:
      return Type::u64;
    case OIIO::TypeDesc::INT64:
      return Type::s64;
    case OIIO::TypeDesc::HALF:
      return Type::f16;
    case OIIO::TypeDesc::FLOAT:
      return Type::f32;
    case OIIO::TypeDesc::DOUBLE:
      return Type::f64;
    default:
      fail(name, "holds pixels of type ", format.c_str(), ", which areal does not read");
  }
}

// The mapping from the file's channels to the picture's.
struct Choice {
  std::vector<int> channels;
  bool luma = false;
};

int named_channel(const OIIO::ImageSpec& spec, const char* name) {
  for (int c = 0; c < spec.nchannels; ++c)
    if (spec.channelnames[static_cast<std::size_t>(c)] == name) return c;
  return -1;
}

std::string channel_list(const OIIO::ImageSpec& spec) {
  std::string out = std::to_string(spec.nchannels) + (spec.nchannels == 1 ? " channel (" : " channels (");
  for (int c = 0; c < std::min(spec.nchannels, 8); ++c)
    out += (c ? ", " : "") + printable(spec.channelnames[static_cast<std::size_t>(c)], 24);
  return out + (spec.nchannels > 8 ? ", ...)" : ")");
}

Choice choose(const OIIO::ImageSpec& spec, const ReadOptions& options, const std::string& name,
              std::vector<std::string>& notes) {
  if (options.colour == Colour::channel) {
    if (options.channel < 0 || options.channel >= spec.nchannels)
      refuse(name, "channel ", options.channel, " does not exist: the picture has ", channel_list(spec),
             ", counted from 0");
    return {{options.channel}, false};
  }
  Choice out;
  // A depth channel is no colour either; users who want it name it.
  for (int c = 0; c < spec.nchannels; ++c) {
    const bool alpha = c == spec.alpha_channel;
    if (alpha && options.colour == Colour::all && options.keep_alpha) {
      out.channels.push_back(c);
    } else if (alpha) {
      notes.push_back("alpha channel left out");
    } else if (c == spec.z_channel && spec.nchannels > 1) {
      notes.push_back("depth channel left out");
    } else {
      out.channels.push_back(c);
    }
  }
  if (out.channels.empty()) refuse(name, "has no colour, only alpha: choose its channel by number");
  if (options.colour == Colour::all || out.channels.size() == 1) return out;
  const int r = named_channel(spec, "R"), g = named_channel(spec, "G"), b = named_channel(spec, "B");
  if (r < 0 || g < 0 || b < 0 || out.channels.size() != 3)
    refuse(name, "has ", channel_list(spec), ", which have no luma: choose one channel, or all");
  return {{r, g, b}, true};
}

void require_plausible(const OIIO::ImageSpec& spec, const PictureFile& file, const std::string& name) {
  const auto refuse_size = [&](const char* why) {
    fail(name, "declares ", spec.width, "x", spec.height, " pixels of ", spec.nchannels, " channels, ", why);
  };
  if (spec.width <= 0 || spec.height <= 0 || spec.nchannels <= 0) refuse_size("which is not a picture");
  if (spec.depth > 1) fail(name, "is a volume of ", spec.depth, " slices; areal reads flat pictures");
  if (spec.deep) fail(name, "is a deep picture; areal reads flat pictures");
  const std::uint64_t decoded = spec.image_bytes(true);
  if (decoded == UINT64_MAX) refuse_size("more than 64 bits can count");
  const std::string compression = spec.get_string_attribute("compression");
  bool bounded = file.kind == PictureKind::png || file.kind == PictureKind::jpeg;
  for (const char* name_of_bounded : {"zip", "zips", "lzw", "packbits", "rle", "jpeg", "pxr24"})
    bounded = bounded || compression == name_of_bounded;
  std::uint64_t most = UINT64_MAX;
  if (bounded)
    most = file.bytes * largest_expansion;
  else if (file.kind == PictureKind::tiff && compression == "none")
    // Samples of 1 to 7 bits are widened when read, a palette to three or four channels.
    most = file.bytes * 32;
  else if (file.kind == PictureKind::pnm)
    most = file.bytes * 8;  // P4 has eight pixels a byte
  if (decoded > most) refuse_size(("which its " + std::to_string(file.bytes) + " bytes cannot hold").c_str());
  if (spec.tile_width != 0 && spec.tile_bytes(true) > std::max<std::uint64_t>(4 * decoded, std::uint64_t{1} << 26))
    fail(name, "declares tiles of ", spec.tile_width, "x", spec.tile_height, ", far larger than the picture");
}

template <class T>
void take_rows(const Choice& choice, const char* from, std::int64_t channels, std::int64_t pixels, void* to) {
  // OpenImageIO fills bands that operator new aligned; T's alignment holds in both.
  const T* in = reinterpret_cast<const T*>(from);
  T* out = static_cast<T*>(to);
  if (choice.luma) {
    if constexpr (sizeof(T) <= 4 || std::is_floating_point_v<T>)
      for (std::int64_t i = 0; i < pixels; ++i, in += channels)
        out[i] = luma(in[choice.channels[0]], in[choice.channels[1]], in[choice.channels[2]]);
    return;
  }
  for (std::int64_t i = 0; i < pixels; ++i, in += channels)
    for (const int c : choice.channels) *out++ = in[c];
}

void take_rows(Type type, const Choice& choice, const char* from, std::int64_t channels, std::int64_t pixels,
               void* to) {
  switch (type) {
    case Type::u8:
      return take_rows<std::uint8_t>(choice, from, channels, pixels, to);
    case Type::s8:
      return take_rows<std::int8_t>(choice, from, channels, pixels, to);
    case Type::u16:
      return take_rows<std::uint16_t>(choice, from, channels, pixels, to);
    case Type::s16:
      return take_rows<std::int16_t>(choice, from, channels, pixels, to);
    case Type::u32:
      return take_rows<std::uint32_t>(choice, from, channels, pixels, to);
    case Type::s32:
      return take_rows<std::int32_t>(choice, from, channels, pixels, to);
    case Type::u64:
      return take_rows<std::uint64_t>(choice, from, channels, pixels, to);
    case Type::s64:
      return take_rows<std::int64_t>(choice, from, channels, pixels, to);
    case Type::f16:
      return take_rows<Half>(choice, from, channels, pixels, to);
    case Type::f32:
      return take_rows<float>(choice, from, channels, pixels, to);
    case Type::f64:
      return take_rows<double>(choice, from, channels, pixels, to);
  }
}

void add_notes(const OIIO::ImageSpec& spec, Type type, std::vector<std::string>& notes) {
  for (const char* key : {"jpeg:ColorSpace", "tiff:ColorSpace"})
    if (const std::string space = spec.get_string_attribute(key); space == "CMYK" || space == "YCCK")
      notes.push_back("CMYK converted to RGB without a colour profile");
  const int orientation = spec.get_int_attribute("Orientation", 1);
  if (orientation != 1)
    notes.push_back("orientation " + std::to_string(orientation) + " not applied: pixels are as stored");
  if (const int most = spec.get_int_attribute("areal:maxval", 0); most > 0)
    notes.push_back("samples of 0 to " + std::to_string(most) + " scaled to " + std::string(name_of(type)));
  const int bits = spec.get_int_attribute("oiio:BitsPerSample", 0);
  if (bits > 0 && bits < 8 * static_cast<int>(size_of(type)) && !is_float(type))
    notes.push_back(std::to_string(bits) + "-bit samples scaled to " + std::string(name_of(type)));
}

Picture read_with(OIIO::ImageInput& in, const OIIO::ImageSpec& spec, const PictureFile& file,
                  const ReadOptions& options, const std::string& name) {
  require_plausible(spec, file, name);
  const Type type = type_of_format(spec.format, name);
  // OpenImageIO 2.4 leaves the values of such tiles unset and reports success.
  if (file.kind == PictureKind::tiff && spec.tile_width != 0 && size_of(type) == 8)
    fail(name, "is a tiled TIFF of ", name_of(type), ", which this reader cannot decode correctly: store it in strips");
  Picture out;
  const Choice choice = choose(spec, options, name, out.notes);
  if (choice.luma && (type == Type::u64 || type == Type::s64))
    fail(name, "holds 64-bit colours, which have no luma here");
  const Shape shape{spec.width, spec.height, choice.luma ? 1 : static_cast<std::int64_t>(choice.channels.size())};
  const std::int64_t row = std::int64_t{spec.width} * spec.nchannels * static_cast<std::int64_t>(size_of(type));
  // UNKNOWN returns the bits as they are (a named type converts doubles to float). But the channels of an EXR may
  // differ in type; then all come as the widest.
  const OIIO::TypeDesc format = spec.channelformats.empty() ? OIIO::TypeDesc(OIIO::TypeDesc::UNKNOWN) : spec.format;
  // A band is at least as high as a tile; the decoder keeps about as much again.
  const std::int64_t unit = std::max(1, spec.tile_height);
  const std::int64_t band =
      std::min<std::int64_t>(spec.height, std::max<std::int64_t>(1, band_bytes / row / unit) * unit);
  const std::uint64_t whole = spec.get_int_attribute("areal:whole") ? spec.image_bytes(true) : 0;
  require_memory(name, bytes_of(shape, type) + whole + static_cast<std::uint64_t>(2 * band * row),
                 options.memory_limit);
  out.pixels = Array(shape, type);

  const bool straight = !choice.luma && static_cast<int>(choice.channels.size()) == spec.nchannels;
  const std::unique_ptr<char[]> rows(straight ? nullptr : new char[static_cast<std::size_t>(band * row)]);
  const std::int64_t out_row = shape.width * shape.channels * static_cast<std::int64_t>(size_of(type));
  char* to = static_cast<char*>(out.pixels.data());
  for (std::int64_t y = 0; y < spec.height; y += band) {
    const std::int64_t count = std::min(band, spec.height - y);
    char* into = straight ? to + y * out_row : rows.get();
    const int first = spec.y + static_cast<int>(y), last = first + static_cast<int>(count);
    const bool good = spec.tile_width ? in.read_tiles(0, 0, spec.x, spec.x + spec.width, first, last, spec.z,
                                                      spec.z + 1, 0, spec.nchannels, format, into)
                                      : in.read_scanlines(0, 0, first, last, spec.z, 0, spec.nchannels, format, into);
    const std::string why = printable(in.geterror());
    if (!good || !why.empty())
      fail(name, "is damaged or truncated in rows ", y, " to ", y + count - 1, why.empty() ? "" : " (" + why + ")");
    if (!straight) take_rows(type, choice, into, spec.nchannels, count * spec.width, to + y * out_row);
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
    OIIO::ImageSpec config, spec;
    config["oiio:UnassociatedAlpha"] = 1;  // otherwise colours come multiplied by alpha
    const auto in = file.kind == PictureKind::png   ? make_png_input()
                    : file.kind == PictureKind::pnm ? make_pnm_input()
                                                    : OIIO::ImageInput::create(file.reader);
    if (!in)
      throw Unavailable("pictures such as " + name + " cannot be read: this OpenImageIO has no " + file.reader +
                        " reader");
    if (!in->open(name, spec, config)) {
      const std::string why = printable(in->geterror());
      fail(name, "is damaged or not a ", file.reader, " picture", why.empty() ? "" : " (" + why + ")");
    }
    return read_with(*in, spec, file, options, name);
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
                                                  &areal::media::write_file};
  return &plugin;
}
