// Slides through OpenSlide: a level's pixels, tile by tile, as RGB over the slide's background.
#include <openslide.h>
#include <algorithm>
#include <areal/version.hpp>
#include <charconv>
#include <cmath>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>
#include "media/file_error.hpp"
#include "media/plugin.hpp"

namespace areal::media {
namespace {

constexpr int most_workers = 16;

using Slide = std::shared_ptr<openslide_t>;

Slide open_slide(const std::string& name) {
  openslide_t* const opened = ::openslide_open(name.c_str());
  if (!opened) fail(name, "is no slide that OpenSlide reads");
  Slide slide(opened, &::openslide_close);
  if (const char* why = ::openslide_get_error(opened)) fail(name, "is damaged or truncated (", printable(why), ")");
  return slide;
}

std::string_view property(const Slide& slide, const std::string& key) {
  const char* value = ::openslide_get_property_value(slide.get(), key.c_str());
  return value ? value : "";
}

std::int64_t number_in(std::string_view text, std::int64_t otherwise, int base = 10) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty() ? value : otherwise;
}

/// 0 for anything else than a number.
double decimal_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : 0;
}

class SlideTiles final : public TileSource {
 public:
  SlideTiles(std::string name, const ReadOptions& options)
      : name_(std::move(name)), slide_(open_slide(name_)), level_(options.level) {
    const int levels = ::openslide_get_level_count(slide_.get());
    if (level_ < 0 || level_ >= levels)
      refuse(name_, "level ", level_, " does not exist: the slide has ", levels, levels == 1 ? " level" : " levels",
             ", counted from 0");
    ::openslide_get_level_dimensions(slide_.get(), level_, &layout_.width, &layout_.height);
    if (layout_.width <= 0 || layout_.height <= 0) fail(name_, "has a level without pixels");
    scale_ = ::openslide_get_level_downsample(slide_.get(), level_);
    const std::string tile = "openslide.level[" + std::to_string(level_) + "].tile-";
    layout_.tile_width = side(number_in(property(slide_, tile + "width"), 0));
    layout_.tile_height = side(number_in(property(slide_, tile + "height"), 0));
    layout_.channels = 3;
    layout_.type = Type::u8;
    if (options.colour == Colour::channel) {
      if (options.channel < 0 || options.channel > 2)
        refuse(name_, "channel ", options.channel, " does not exist: a slide has R, G and B, counted from 0");
      layout_.choice = {{options.channel}, false};
    } else {
      layout_.choice = {{0, 1, 2}, options.colour == Colour::luma};
    }
    layout_.decoder_bytes = 4 * static_cast<std::uint64_t>(layout_.tile_width * layout_.tile_height);
    layout_.most_workers = most_workers;
    background_ = number_in(property(slide_, OPENSLIDE_PROPERTY_NAME_BACKGROUND_COLOR), 0xffffff, 16);
    const auto bound = [&](const char* key) { return number_in(property(slide_, key), -1); };
    const std::int64_t x = bound(OPENSLIDE_PROPERTY_NAME_BOUNDS_X), y = bound(OPENSLIDE_PROPERTY_NAME_BOUNDS_Y);
    const std::int64_t w = bound(OPENSLIDE_PROPERTY_NAME_BOUNDS_WIDTH),
                       h = bound(OPENSLIDE_PROPERTY_NAME_BOUNDS_HEIGHT);
    layout_.pixel_size = pixel_size_of(scale_ * decimal_in(property(slide_, OPENSLIDE_PROPERTY_NAME_MPP_X)),
                                       scale_ * decimal_in(property(slide_, OPENSLIDE_PROPERTY_NAME_MPP_Y)));
    if (x >= 0 && y >= 0 && w > 0 && h > 0)
      layout_.notes.push_back("of level 0, " + std::to_string(w) + "x" + std::to_string(h) + " pixels from " +
                              std::to_string(x) + "," + std::to_string(y) + " on were scanned; the rest is background");
  }

  const TileLayout& layout() const override { return layout_; }

  void decode(int, std::int64_t column, std::int64_t row, void* into) override {
    const std::int64_t x = column * layout_.tile_width, y = row * layout_.tile_height;
    const std::int64_t width = std::min(layout_.tile_width, layout_.width - x);
    const std::int64_t height = std::min(layout_.tile_height, layout_.height - y);
    std::vector<std::uint32_t> pixels(static_cast<std::size_t>(width * height));
    const Slide slide = current();
    // Positions are in pixels of level 0, for every level.
    ::openslide_read_region(slide.get(), pixels.data(), std::llround(static_cast<double>(x) * scale_),
                            std::llround(static_cast<double>(y) * scale_), level_, width, height);
    if (const char* why = ::openslide_get_error(slide.get())) {
      const std::string text = printable(why);
      forget(slide);
      fail(name_, "is damaged or truncated in columns ", x, " to ", x + width - 1, " of rows ", y, " to ",
           y + height - 1, " (", text, ")");
    }
    // Colours are premultiplied by alpha.
    auto* out = static_cast<std::uint8_t*>(into);
    for (const std::uint32_t pixel : pixels)
      for (const int shift : {16, 8, 0}) {
        const std::uint32_t behind = (255 - (pixel >> 24)) * (static_cast<std::uint32_t>(background_) >> shift & 255);
        *out++ = static_cast<std::uint8_t>(std::min<std::uint32_t>(255, (pixel >> shift & 255) + (behind + 127) / 255));
      }
  }

 private:
  static std::int64_t side(std::int64_t stored) { return stored >= 64 && stored <= 4096 ? stored : 512; }

  // An openslide_t fails for ever after its first failure; a new one replaces it.
  Slide current() {
    const std::lock_guard lock(mutex_);
    if (!slide_) slide_ = open_slide(name_);
    return slide_;
  }
  void forget(const Slide& failed) {
    const std::lock_guard lock(mutex_);
    if (slide_ == failed) slide_.reset();
  }

  std::string name_;
  std::mutex mutex_;
  Slide slide_;
  int level_;
  double scale_ = 1;
  std::int64_t background_ = 0xffffff;
  TileLayout layout_;
};

bool knows(const fs::path& path) {
  const char* vendor = ::openslide_detect_vendor(path.c_str());
  // Generic TIFFs are read as TIFFs, in all their types.
  return vendor && std::string_view(vendor) != "generic-tiff";
}

std::unique_ptr<TileSource> open_tiles_of_slide(const fs::path& path, const ReadOptions& options) {
  return std::make_unique<SlideTiles>(path.string(), options);
}

}  // namespace
}  // namespace areal::media

AREAL_PLUGIN_EXPORT const areal::media::SlidePlugin* areal_slide_plugin() {
  static const areal::media::SlidePlugin plugin{AREAL_VERSION_STRING, &areal::media::knows,
                                                &areal::media::open_tiles_of_slide};
  return &plugin;
}
