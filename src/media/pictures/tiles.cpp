// Tiles and strips of TIFFs and EXRs through OpenImageIO, never the whole picture.
#include <OpenImageIO/imageio.h>
#include <algorithm>
#include <array>
#include <new>
#include "media/file_error.hpp"
#include "media/pictures/pictures.hpp"
#include "media/pictures/spec.hpp"
#include "media/pictures/sub_ifds.hpp"

namespace areal::media {
namespace {

constexpr int most_workers = 16;
// Several strips of few bytes are decoded at once; one of many rows is read in bands.
constexpr std::int64_t least_strip_bytes = 64 << 10, most_strip_bytes = 8 << 20;

class OiioTiles final : public TileSource {
 public:
  OiioTiles(std::string name, const PictureFile& file, const ReadOptions& options)
      : name_(std::move(name)), file_(file), is_tiff_(file.kind == PictureKind::tiff) {
    inputs_[0] = open(0);
    choose_level(options.level);
    spec_ = inputs_[0]->spec();
    layout_.type = type_of_format(spec_.format, name_);
    const auto size = static_cast<std::int64_t>(size_of(layout_.type));
    if (is_tiff_) require_right_tiff(spec_, layout_.type, name_);
    if (spec_.tile_width != 0)
      require_tiles();
    else
      require_plausible(spec_, file_, name_);
    const Channels choice = choose_channels(spec_, options, name_, layout_.notes);
    if (choice.luma && (layout_.type == Type::u64 || layout_.type == Type::s64))
      fail(name_, "holds 64-bit colours, which have no luma here");
    // Reads only the channels from the first to the last chosen one.
    const auto [first, last] = std::minmax_element(choice.chosen.begin(), choice.chosen.end());
    first_channel_ = *first;
    layout_.channels = *last - *first + 1;
    layout_.choice = choice;
    for (int& c : layout_.choice.chosen) c -= first_channel_;
    layout_.width = spec_.width;
    layout_.height = spec_.height;
    layout_.most_workers = most_workers;
    lay_tiles(std::int64_t{spec_.width} * spec_.nchannels * size);
    add_notes(spec_, layout_.type, layout_.notes);
    if (is_tiff_ && options.level == 0) layout_.pixel_size = pixel_size_of(spec_);
    if (sub_ifd_.place == 0 && has_page(subimage_ + 1))
      layout_.notes.push_back("the file holds more pictures; " + std::string(options.level == 0 ? "the first" : "one") +
                              " was read");
    // The channels of an EXR may differ in type; then all are converted to the widest.
    format_ = spec_.channelformats.empty() ? OIIO::TypeDesc(OIIO::TypeDesc::UNKNOWN) : spec_.format;
  }

  const TileLayout& layout() const override { return layout_; }

  void decode(int worker, std::int64_t column, std::int64_t row, void* into) override {
    try {
      auto& input = inputs_[static_cast<std::size_t>(worker)];
      if (!input) input = open(static_cast<std::size_t>(worker));
      const std::int64_t x = column * layout_.tile_width, y = row * layout_.tile_height;
      const std::int64_t right = std::min(x + layout_.tile_width, layout_.width);
      const std::int64_t bottom = std::min(y + layout_.tile_height, layout_.height);
      const int left = spec_.x + static_cast<int>(x), top = spec_.y + static_cast<int>(y);
      const int end_x = spec_.x + static_cast<int>(right), end_y = spec_.y + static_cast<int>(bottom);
      const int last_channel = first_channel_ + static_cast<int>(layout_.channels);
      const bool good = spec_.tile_width ? input->read_tiles(subimage_, miplevel_, left, end_x, top, end_y, spec_.z,
                                                             spec_.z + 1, first_channel_, last_channel, format_, into)
                                         : read_rows(*input, subimage_, miplevel_, top, end_y, first_channel_,
                                                     last_channel, format_, into);
      const std::string why = printable(input->geterror());
      if (good && why.empty()) return;
      input.reset();  // a decoder that failed is not used again
      fail(name_, "is damaged or truncated in columns ", x, " to ", right - 1, " of rows ", y, " to ", bottom - 1,
           why.empty() ? "" : " (" + why + ")");
    } catch (const Error&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {  // OpenEXR, through OpenImageIO
      fail(name_, "could not be decoded (", printable(error.what()), ")");
    }
  }

 private:
  std::unique_ptr<OIIO::ImageInput> open(std::size_t worker) {
    auto input = make_input(file_, name_);
    if (sub_ifd_.place != 0) {
      auto& proxy = proxies_[worker] = std::make_unique<FromSubIfd>(name_, sub_ifd_);
      if (!input->supports("ioproxy") || !input->set_ioproxy(proxy.get()))
        throw Unavailable(name_ + ": its levels are in sub-IFDs, which this OpenImageIO cannot be made to read");
    }
    open_input(*input, file_, name_);
    return input;
  }

  bool has_page(int page) {
    const bool found = inputs_[0]->seek_subimage(page, 0);
    (void)inputs_[0]->geterror();
    (void)inputs_[0]->seek_subimage(subimage_, miplevel_);
    return found;
  }

  // True if the file has its levels in sub-IFDs of the first page.
  bool choose_sub_ifd(int level) {
    const SubIfd found = find_sub_ifd(name_, file_.bytes, static_cast<std::uint64_t>(level - 1));
    if (found.count == 0) return false;
    if (static_cast<std::uint64_t>(level) > found.count)
      refuse(name_, "level ", level, " does not exist: the first page has ", found.count, " below it");
    sub_ifd_ = found;
    inputs_[0] = open(0);
    return true;
  }

  // Sub-IFDs or pages of a TIFF, parts of an EXR; else the levels of its only picture.
  void choose_level(int level) {
    if (level < 0) refuse(name_, "level ", level, " does not exist: levels count from 0");
    if (level == 0) return;
    if (is_tiff_ && choose_sub_ifd(level)) return;
    auto& input = *inputs_[0];
    if (input.seek_subimage(level, 0)) {
      subimage_ = level;
      return;
    }
    (void)input.geterror();
    if (input.seek_subimage(0, level)) {
      miplevel_ = level;
      return;
    }
    (void)input.geterror();
    int pages = 1;
    while (pages < level && input.seek_subimage(pages, 0)) ++pages;
    (void)input.geterror();
    if (pages == 1)
      while (pages < level && input.seek_subimage(0, pages)) ++pages;
    (void)input.geterror();
    refuse(name_, "level ", level, " does not exist: the file holds ", pages, pages == 1 ? " picture" : " pictures",
           ", counted from 0");
  }

  // The file stores each tile's offset in at least two bytes: a picture may be sparse, but not without limits.
  void require_tiles() const {
    require_flat(spec_, name_);
    const auto along = [](std::int64_t length, std::int64_t tile) {
      return static_cast<std::uint64_t>((length + tile - 1) / tile);
    };
    const std::uint64_t tiles = along(spec_.width, spec_.tile_width) * along(spec_.height, spec_.tile_height);
    if (tiles > file_.bytes / 2)
      fail(name_, "declares ", spec_.width, "x", spec_.height, " pixels in ", tiles, " tiles, which its ", file_.bytes,
           " bytes cannot hold");
  }

  void lay_tiles(std::int64_t row_bytes) {
    if (spec_.tile_width != 0) {
      layout_.tile_width = spec_.tile_width;
      layout_.tile_height = spec_.tile_height;
      layout_.decoder_bytes =
          2 * spec_.tile_bytes(true) + (is_tiff_ && is_converted(spec_) ? 16 * spec_.tile_pixels() : 0);
      return;
    }
    layout_.tile_width = spec_.width;
    const std::int64_t most = std::max<std::int64_t>(1, most_strip_bytes / row_bytes);
    // The scan lines of an EXR are stored in chunks of up to 256.
    std::int64_t strip = is_tiff_ ? spec_.get_int_attribute("tiff:RowsPerStrip", spec_.height) : 32;
    strip = std::clamp<std::int64_t>(strip, 1, spec_.height);
    if (const std::int64_t least = std::max<std::int64_t>(1, least_strip_bytes / row_bytes); strip < least)
      strip = (least + strip - 1) / strip * strip;
    layout_.tile_height = std::min<std::int64_t>({strip, most > strip ? strip : most, spec_.height});
    layout_.decoder_bytes = 2 * static_cast<std::uint64_t>(layout_.tile_height * row_bytes);
    if (is_tiff_ && size_of(layout_.type) == 8)  // of which read_rows reads whole strips
      layout_.decoder_bytes += static_cast<std::uint64_t>((strip + layout_.tile_height) * row_bytes);
    if (is_tiff_ && is_converted(spec_)) {
      layout_.most_workers = 1;
      layout_.decoder_bytes +=
          4 * static_cast<std::uint64_t>(layout_.width) * static_cast<std::uint64_t>(layout_.height);
    }
    if (strip <= layout_.tile_height) return;
    if (spec_.get_string_attribute("compression") == "none") return;
    // A strip of many rows is decoded from its beginning, by one worker that continues from row to row, and libtiff may
    // hold its coded bytes.
    layout_.most_workers = 1;
    layout_.decoder_bytes += std::min(file_.bytes, static_cast<std::uint64_t>(strip * row_bytes));
    layout_.notes.push_back("a strip of " + std::to_string(strip) +
                            " rows is decoded from its beginning where rows do not follow one another");
  }

  std::string name_;
  PictureFile file_;
  bool is_tiff_;
  int subimage_ = 0, miplevel_ = 0, first_channel_ = 0;
  OIIO::ImageSpec spec_;
  OIIO::TypeDesc format_;
  TileLayout layout_;
  SubIfd sub_ifd_;  // of a level that is one
  std::array<std::unique_ptr<FromSubIfd>, most_workers> proxies_;
  std::array<std::unique_ptr<OIIO::ImageInput>, most_workers> inputs_;
};

}  // namespace

std::unique_ptr<TileSource> open_tiles(const fs::path& path, const ReadOptions& options) {
  const std::string name = path.string();
  const PictureFile file = inspect_picture(name);
  if (file.kind != PictureKind::tiff && file.kind != PictureKind::exr) return {};
  try {
    quiet_openimageio();
    return std::make_unique<OiioTiles>(name, file, options);
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(name + ": no memory was left to open it", 0);
  } catch (const std::exception& error) {  // OpenEXR, through OpenImageIO
    fail(name, "could not be decoded (", printable(error.what()), ")");
  }
}

}  // namespace areal::media
