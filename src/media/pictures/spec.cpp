#include "media/pictures/spec.hpp"
#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include "media/file_error.hpp"
#include "media/pictures/png_input.hpp"
#include "media/pictures/pnm.hpp"

namespace areal::media {
namespace {

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

}  // namespace

bool is_converted(const OIIO::ImageSpec& spec) {
  const int photometric = spec.get_int_attribute("tiff:PhotometricInterpretation", -1);
  for (const int converted : {6, 8, 9, 10, 32844, 32845})  // YCbCr, three kinds of Lab, LogL, LogLuv
    if (photometric == converted) return true;
  return false;
}

// OpenImageIO 2.4 leaves the values of such tiles and rows unset and reports success.
void require_right_tiff(const OIIO::ImageSpec& spec, Type type, const std::string& name) {
  if (size_of(type) != 8) return;
  if (spec.tile_width != 0)
    fail(name, "is a tiled TIFF of ", name_of(type), ", which this reader cannot decode correctly: store it in strips");
  if (spec.height == 1)
    fail(name, "is a TIFF of ", name_of(type),
         " with one row, which this reader cannot decode correctly: store it as .npy");
}

std::unique_ptr<OIIO::ImageInput> make_input(const PictureFile& file, const std::string& name) {
  auto input = file.kind == PictureKind::png   ? make_png_input()
               : file.kind == PictureKind::pnm ? make_pnm_input()
                                               : OIIO::ImageInput::create(file.reader);
  if (!input)
    throw Unavailable("pictures such as " + name + " cannot be read: this OpenImageIO has no " + file.reader +
                      " reader");
  return input;
}

void open_input(OIIO::ImageInput& input, const PictureFile& file, const std::string& name) {
  OIIO::ImageSpec config, spec;
  config["oiio:UnassociatedAlpha"] = 1;  // otherwise colours come multiplied by alpha
  if (input.open(name, spec, config)) return;
  const std::string why = printable(input.geterror());
  fail(name, "is damaged or not a ", file.reader, " picture", why.empty() ? "" : " (" + why + ")");
}

bool read_rows(OIIO::ImageInput& input, int page, int level, int first, int last, int first_channel, int last_channel,
               OIIO::TypeDesc format, void* into) {
  const OIIO::ImageSpec& spec = input.spec();
  if (std::string_view(input.format_name()) != "tiff" || spec.format.size() != 8)
    return input.read_scanlines(page, level, first, last, spec.z, first_channel, last_channel, format, into);
  const int strip = std::clamp(spec.get_int_attribute("tiff:RowsPerStrip", spec.height), 1, spec.height);
  const auto down = [&](int y) { return spec.y + (y - spec.y) / strip * strip; };
  const int bottom = std::min(spec.y + spec.height, down(last + strip - 1));
  int top = down(first);
  if (bottom - top == 1) top = std::max(spec.y, top - strip);
  const auto pixel = static_cast<std::size_t>(spec.nchannels) * 8,
             chosen = static_cast<std::size_t>(last_channel - first_channel) * 8;
  const auto row = static_cast<std::size_t>(spec.width);
  const std::unique_ptr<char[]> rows(new char[static_cast<std::size_t>(bottom - top) * row * pixel]);
  if (!input.read_native_scanlines(page, level, top, bottom, spec.z, rows.get())) return false;
  const char* from =
      rows.get() + static_cast<std::size_t>(first - top) * row * pixel + static_cast<std::size_t>(first_channel) * 8;
  char* to = static_cast<char*>(into);
  if (chosen == pixel) {
    std::memcpy(to, from, static_cast<std::size_t>(last - first) * row * pixel);
    return true;
  }
  for (std::size_t left = static_cast<std::size_t>(last - first) * row; left > 0; --left, from += pixel, to += chosen)
    std::memcpy(to, from, chosen);
  return true;
}

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

Channels choose_channels(const OIIO::ImageSpec& spec, const ReadOptions& options, const std::string& name,
                         std::vector<std::string>& notes) {
  if (options.colour == Colour::channel) {
    if (options.channel < 0 || options.channel >= spec.nchannels)
      refuse(name, "channel ", options.channel, " does not exist: the picture has ", channel_list(spec),
             ", counted from 0");
    return {{options.channel}, false};
  }
  Channels out;
  // A depth channel is no colour either; users select it by name.
  for (int c = 0; c < spec.nchannels; ++c) {
    const bool alpha = c == spec.alpha_channel;
    if (alpha && options.colour == Colour::all && options.keep_alpha) {
      out.chosen.push_back(c);
    } else if (alpha) {
      notes.push_back("alpha channel left out");
    } else if (c == spec.z_channel && spec.nchannels > 1) {
      notes.push_back("depth channel left out");
    } else {
      out.chosen.push_back(c);
    }
  }
  if (out.chosen.empty()) refuse(name, "has no colour, only alpha: choose its channel by number");
  if (options.colour == Colour::all || out.chosen.size() == 1) return out;
  const int r = named_channel(spec, "R"), g = named_channel(spec, "G"), b = named_channel(spec, "B");
  if (r < 0 || g < 0 || b < 0 || out.chosen.size() != 3)
    refuse(name, "has ", channel_list(spec), ", which have no luma: choose one channel, or all");
  return {{r, g, b}, true};
}

namespace {

[[noreturn]] void fail_size(const OIIO::ImageSpec& spec, const std::string& name, const std::string& why) {
  fail(name, "declares ", spec.width, "x", spec.height, " pixels of ", spec.nchannels, " channels, ", why);
}

}  // namespace

void require_flat(const OIIO::ImageSpec& spec, const std::string& name) {
  if (spec.width <= 0 || spec.height <= 0 || spec.nchannels <= 0) fail_size(spec, name, "which is not a picture");
  if (spec.depth > 1) fail(name, "is a volume of ", spec.depth, " slices; areal reads flat pictures");
  if (spec.deep) fail(name, "is a deep picture; areal reads flat pictures");
  const std::uint64_t decoded = spec.image_bytes(true);
  if (decoded == UINT64_MAX) fail_size(spec, name, "more than 64 bits can count");
  if (spec.tile_width != 0 && spec.tile_bytes(true) > std::max<std::uint64_t>(4 * decoded, std::uint64_t{1} << 26))
    fail(name, "declares tiles of ", spec.tile_width, "x", spec.tile_height, ", far larger than the picture");
}

void require_plausible(const OIIO::ImageSpec& spec, const PictureFile& file, const std::string& name) {
  require_flat(spec, name);
  const std::uint64_t decoded = spec.image_bytes(true);
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
  if (decoded > most) fail_size(spec, name, "which its " + std::to_string(file.bytes) + " bytes cannot hold");
}

namespace {

// What follows `key` in `text`, up to `end`; nothing without them.
std::optional<std::string_view> after(std::string_view text, std::string_view key, char end) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + key.size());
  return text.substr(0, text.find(end));
}

double number_of(std::optional<std::string_view> text) {
  double value = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

}  // namespace

std::optional<PixelSize> pixel_size_of(const OIIO::ImageSpec& spec) {
  const std::string description = spec.get_string_attribute("ImageDescription");
  // Pixels per unit.
  const double x = spec.get_float_attribute("XResolution"), y = spec.get_float_attribute("YResolution");
  if (const auto pixels = after(description, "<Pixels ", '>');
      pixels && description.find("<OME") != std::string::npos) {
    const auto length = [&](const std::string& axis) {
      const auto unit = after(*pixels, " PhysicalSize" + axis + "Unit=\"", '"');
      return number_of(after(*pixels, " PhysicalSize" + axis + "=\"", '"')) * (unit ? micrometres_of(*unit) : 1);
    };
    return pixel_size_of(length("X"), length("Y"));
  }
  if (description.starts_with("ImageJ=")) {
    const double unit = micrometres_of(after(description, "\nunit=", '\n').value_or(""));
    return pixel_size_of(unit / x, unit / y);
  }
  if (spec.get_string_attribute("ResolutionUnit") != "cm") return {};
  return pixel_size_of(micrometres_of("cm") / x, micrometres_of("cm") / y);
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

}  // namespace areal::media
