// Opens large pictures: the content of a path selects the reader.
#include <algorithm>
#include <areal/info.hpp>
#include <array>
#include <cstring>
#include <string_view>
#include "media/channels.hpp"
#include "media/file_error.hpp"
#include "media/large.hpp"
#include "media/picture_formats.hpp"
#include "media/plugin.hpp"
#include "media/zarr/zarr.hpp"

namespace areal::media {
namespace {

class WholePicture final : public LargePicture {
 public:
  WholePicture(const fs::path& path, const ReadOptions& options)
      : name_(path.string()), picture_(read_picture(path, options)) {}
  const Shape& shape() const override { return picture_.pixels.shape(); }
  Type type() const override { return picture_.pixels.type(); }
  BlockSize block() const override { return {shape().width, shape().height}; }
  std::vector<std::string> notes() const override { return picture_.notes; }
  std::uint64_t memory() const override { return picture_.pixels.bytes(); }

 private:
  const std::string& name() const override { return name_; }
  void read_checked(std::int64_t x, std::int64_t y, const View& into) override {
    const ConstView from = picture_.pixels.view();
    for (std::int64_t row = 0; row < into.shape.height; ++row)
      put_pixels(static_cast<const char*>(from.row(y + row)) + x * from.column_pitch(), into, 0, row, into.shape.width);
  }

  std::string name_;
  Picture picture_;
};

const PicturePlugin& pictures_for(const fs::path& path) {
  try {
    return picture_plugin();
  } catch (const Unavailable& error) {
    throw Unavailable(path.string() + ": is no .npy, and " + error.what());
  }
}

bool has_name_of_slide(const fs::path& path) {
  const std::string extension = extension_of(path);
  constexpr std::array<std::string_view, 8> slides{".svs", ".svslide", ".ndpi", ".mrxs",
                                                   ".scn", ".vms",     ".vmu",  ".bif"};
  return std::find(slides.begin(), slides.end(), extension) != slides.end();
}

// By content, if OpenSlide is available. Without it, a file with the name of a slide is refused: read as the TIFF or
// JPEG that its first bytes announce, it would give part of the slide at best.
bool is_slide(const fs::path& path) {
  const SlidePlugin* slides = nullptr;
  try {
    slides = &slide_plugin();
  } catch (const Unavailable& error) {
    if (has_name_of_slide(path)) throw Unavailable(path.string() + ": is a slide by its name, and " + error.what());
    return false;
  }
  return slides->knows(path);
}

}  // namespace

bool is_large_format(const fs::path& path) {
  if (std::error_code error; fs::is_directory(path, error)) return is_zarr(path);
  return has_name_of_slide(path);
}

void LargePicture::read(std::int64_t x, std::int64_t y, const View& into) {
  const Shape &whole = shape(), &block = into.shape;
  if (into.memory.kind != MemoryPlace::host) refuse(name(), "a block must be in host memory to be read into");
  if (into.type != type()) refuse(name(), "a block is of ", name_of(into.type), ", the picture of ", name_of(type()));
  if (block.channels != whole.channels || block.batch != 1)
    refuse(name(), "a block has ", block.channels, " channels and a batch of ", block.batch, ", the picture has ",
           whole.channels, " channels and no batch");
  if (block.width < 0 || block.height < 0 || x < 0 || y < 0 || block.width > whole.width ||
      block.height > whole.height || x > whole.width - block.width || y > whole.height - block.height)
    refuse(name(), "a block of ", block.width, "x", block.height, " at ", x, ",", y, " leaves the picture of ",
           whole.width, "x", whole.height);
  if (block.empty()) return;
  if (!into.data) refuse(name(), "a block has no memory");
  read_checked(x, y, into);
}

void put_pixels(const void* from, const View& into, std::int64_t x, std::int64_t row, std::int64_t pixels) {
  const auto size = static_cast<std::int64_t>(size_of(into.type));
  const std::int64_t channels = into.shape.channels;
  if (into.shape.layout == Layout::interleaved || channels == 1) {
    std::memcpy(static_cast<char*>(into.row(row)) + x * channels * size, from,
                static_cast<std::size_t>(pixels * channels * size));
    return;
  }
  const auto* in = static_cast<const char*>(from);
  for (std::int64_t c = 0; c < channels; ++c) {
    char* out = static_cast<char*>(into.row(row, c)) + x * size;
    for (std::int64_t i = 0; i < pixels; ++i)
      std::memcpy(out + i * size, in + (i * channels + c) * size, static_cast<std::size_t>(size));
  }
}

std::uint64_t large_picture_limit(const ReadOptions& options) {
  return options.memory_limit ? options.memory_limit : free_memory() / 4;
}

Channels array_channels(std::int64_t channels, Type type, const ReadOptions& options, const std::string& name,
                        std::vector<std::string>& notes) {
  if (options.colour == Colour::channel) {
    if (options.channel < 0 || options.channel >= channels)
      refuse(name, "channel ", options.channel, " does not exist: there ", channels == 1 ? "is 1" : "are ",
             channels == 1 ? std::string() : std::to_string(channels), ", counted from 0");
    return {{options.channel}, false};
  }
  if (channels == 1) return {{0}, false};
  if (options.colour == Colour::all) {
    Channels out;
    for (int c = 0; c < static_cast<int>(channels); ++c) out.chosen.push_back(c);
    return out;
  }
  if (channels != 3 && channels != 4)
    refuse(name, "has ", channels, " channels, which is not a colour: choose one channel, or all");
  if (channels == 4) notes.push_back("luma of the first three channels; the fourth is assumed to be alpha");
  if (type == Type::u64 || type == Type::s64) refuse(name, "holds 64-bit colours: choose one channel, or all");
  return {{0, 1, 2}, true};
}

Array choose_channels(Array image, const ReadOptions& options, const std::string& name,
                      std::vector<std::string>& notes) {
  const Shape whole = image.shape();
  const Channels choice = array_channels(whole.channels, image.type(), options, name, notes);
  if (!choice.luma && choice.count() == whole.channels) return image;
  Shape shape = whole;
  shape.channels = choice.count();
  Array out(shape, image.type());
  for (std::int64_t n = 0; n < whole.batch; ++n)
    for (std::int64_t y = 0; y < whole.height; ++y)
      take_channels(image.type(), choice, image.view().row(y, 0, n), whole.channels, whole.width,
                    out.view().row(y, 0, n));
  return out;
}

std::unique_ptr<LargePicture> open_large_picture(const fs::path& path, const ReadOptions& options) {
  if (std::error_code error; fs::is_directory(path, error)) {
    if (!is_zarr(path)) fail(path.string(), "is a folder that holds no Zarr array");
    return picture_of_tiles(path.string(), open_zarr(path, options), options);
  }
  require_readable(path);
  if (options.t != 0 || options.z != 0) refuse(path.string(), "has no axes t and z to choose from");
  const auto require_level_0 = [&] {
    if (options.level != 0) refuse(path.string(), "has one level; level ", options.level, " does not exist");
  };
  if (is_npy(path)) {
    require_level_0();
    return open_large_npy(path, options);
  }
  if (is_slide(path)) return picture_of_tiles(path.string(), slide_plugin().open(path, options), options);
  if (auto tiles = pictures_for(path).open_tiles(path, options))
    return picture_of_tiles(path.string(), std::move(tiles), options);
  require_level_0();
  return std::make_unique<WholePicture>(path, options);
}

}  // namespace areal::media
