#include "media/picture_formats.hpp"
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>
#include "media/file_error.hpp"

namespace areal::media {
namespace {

struct Format {
  std::string_view extension;
  std::vector<Type> types;
  std::vector<std::int64_t> channels;
};

const std::vector<Format>& formats() {
  static const std::vector<Format> rows{
      {".png", {Type::u8, Type::u16}, {1, 3, 4}},
      {".jpg", {Type::u8}, {1, 3}},
      {".jpeg", {Type::u8}, {1, 3}},
      {".tif", {Type::u8, Type::u16, Type::f32}, {1, 3, 4}},
      {".tiff", {Type::u8, Type::u16, Type::f32}, {1, 3, 4}},
      {".exr", {Type::f16, Type::f32}, {1, 3, 4}},
      {".pgm", {Type::u8, Type::u16}, {1}},
      {".ppm", {Type::u8, Type::u16}, {3}},
  };
  return rows;
}

template <class List, class Word>
std::string either(const List& list, Word&& word) {
  std::string out;
  for (std::size_t i = 0; i < list.size(); ++i)
    out += (i == 0 ? "" : i + 1 == list.size() ? " or " : ", ") + std::string(word(list[i]));
  return out;
}

}  // namespace

std::string extension_of(const std::filesystem::path& path) {
  std::string out = path.extension().string();
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return out;
}

bool is_picture_name(const std::filesystem::path& path) {
  const std::string extension = extension_of(path);
  if (extension == ".pnm" || extension == ".pbm") return true;  // read, not written
  return std::any_of(formats().begin(), formats().end(), [&](const Format& f) { return f.extension == extension; });
}

std::string require_writable_as_picture(const std::filesystem::path& path, const ConstView& picture) {
  const std::string name = path.string(), extension = extension_of(path);
  const auto format =
      std::find_if(formats().begin(), formats().end(), [&](const Format& f) { return f.extension == extension; });
  if (format == formats().end())
    refuse(name, "a picture's name must end in ", either(formats(), [](const Format& f) { return f.extension; }));
  const Shape& s = picture.shape;
  if (s.batch != 1) refuse(name, "a picture file holds one picture, not a batch of ", s.batch);
  if (s.empty()) refuse(name, "a picture of ", s.width, "x", s.height, " cannot be written");
  if (std::count(format->channels.begin(), format->channels.end(), s.channels) == 0)
    refuse(name, "a ", extension, " holds ", either(format->channels, [](std::int64_t c) { return std::to_string(c); }),
           " channels, not ", s.channels);
  if (std::count(format->types.begin(), format->types.end(), picture.type) == 0)
    refuse(name, "a ", extension, " holds ", either(format->types, [](Type t) { return name_of(t); }), ", not ",
           name_of(picture.type));
  if (extension == ".jpg" || extension == ".jpeg")
    if (s.width > 65500 || s.height > 65500)
      refuse(name, "a JPEG is at most 65500x65500, not ", s.width, "x", s.height);
  if (extension == ".png" && (s.width > 1'000'000 || s.height > 1'000'000))  // libpng prints its own line beyond
    refuse(name, "a PNG is at most 1000000x1000000, not ", s.width, "x", s.height);
  return extension;
}

}  // namespace areal::media
