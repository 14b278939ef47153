#include "input_image.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <cstring>
#include "numbers.hpp"
#include "pixels.hpp"
#include "progress.hpp"

namespace areal::command {
namespace {

/// Rows in a band of a few MiB.
std::int64_t band_rows(const Shape& shape, Type type) {
  constexpr std::int64_t band_bytes = 4 << 20;
  const auto row = static_cast<std::int64_t>(bytes_of({shape.width, 1, shape.channels}, type));
  return std::clamp<std::int64_t>(band_bytes / std::max<std::int64_t>(1, row), 1,
                                  std::max<std::int64_t>(1, shape.height));
}

/// A reader that reads blocks in bands and converts each row through doubles with `convert`.
template <class Convert>
ImageReader converting(ImageReader read, Type type, Convert convert) {
  return [read = std::move(read), type, convert](std::int64_t x, std::int64_t y, const View& block) {
    const std::int64_t rows = band_rows(block.shape, type);
    Array band({block.shape.width, std::min(rows, block.shape.height), block.shape.channels}, type);
    std::vector<double> row(static_cast<std::size_t>(block.shape.width));
    for (std::int64_t from = 0; from < block.shape.height; from += rows) {
      View part = band.view();
      part.shape.height = std::min(rows, block.shape.height - from);
      const ConstView pixels = read(x, y + from, part);
      for (std::int64_t i = 0; i < part.shape.height; ++i)
        for (std::int64_t c = 0; c < part.shape.channels; ++c) {
          load_row(pixels, i, c, 0, row);
          convert(row);
          store_row(block, from + i, c, 0, row);
        }
    }
    return block;
  };
}

}  // namespace

InputImage::InputImage(const InputOptions& input, std::uint64_t memory, const Settings& settings) : name_(input.path) {
  if (SyntheticImage::is_name(input.path)) {
    if (const std::string choice = input.choice(); !choice.empty())
      refuse(choice, ": ", input.path, " has one channel and one level");
    synthetic_.emplace(input.path);
    return;
  }
  if (!input.raw.empty() || is_stream(input.path)) {
    const auto source = open_source(input, settings);
    if (source->is_sequence()) refuse(input.path, ": holds several images; one is needed here");
    Item item;
    source->next(item);
    loaded_ = std::move(item.pixels);
    return;
  }
  const InputFacts facts = facts_of(input);
  if (facts.is_array && !media::is_npy(input.path)) media::map_npy(input.path);  // throws
  if (facts.only_way)
    refuse(input.path, std::filesystem::is_directory(input.path) ? ": is a folder" : ": is a video",
           "; one picture or .npy is needed here");
  media::ReadOptions options = read_options(input);
  options.memory_limit = memory;
  options.threads = settings.threads;
  picture_ = media::open_large_picture(input.path, options);
  decodes_ = !facts.is_array;
  for (const std::string& note : picture_->notes()) settings.note("{}: {}", input.path, note);
}

const Shape& InputImage::shape() const noexcept {
  return synthetic_ ? synthetic_->shape() : picture_ ? picture_->shape() : loaded_.shape();
}

Type InputImage::type() const noexcept { return synthetic_ ? Type::u8 : picture_ ? picture_->type() : loaded_.type(); }

std::uint64_t InputImage::memory() const { return synthetic_ ? 0 : picture_ ? picture_->memory() : loaded_.bytes(); }

media::BlockSize InputImage::block() const {
  return picture_ ? picture_->block() : media::BlockSize{shape().width, shape().height};
}

bool InputImage::decodes() const { return decodes_; }

std::optional<media::PixelSize> InputImage::pixel_size() const {
  return picture_ ? picture_->pixel_size() : std::nullopt;
}

std::vector<std::string> InputImage::notes() const { return picture_ ? picture_->notes() : std::vector<std::string>(); }

ConstView InputImage::read(std::int64_t x, std::int64_t y, const View& block) const {
  if (!synthetic_ && !picture_) return image_in_memory(loaded_.view())(x, y, block);
  synthetic_ ? synthetic_->read(x, y, block) : picture_->read(x, y, block);
  return block;
}

ImageReader InputImage::reader() const {
  return [this](std::int64_t x, std::int64_t y, const View& block) { return read(x, y, block); };
}

ImageReader InputImage::reader(Type as) const {
  return as == type() ? reader() : converting(reader(), type(), [](std::vector<double>&) {});
}

Array InputImage::whole() const {
  const std::uint64_t bytes = bytes_of(shape(), type()), free = free_memory();
  if (bytes > free)
    throw OutOfMemory(fmt::format("{}: {}x{} pixels take {} bytes, and {} are free", name_, shape().width,
                                  shape().height, bytes, free),
                      bytes);
  Array pixels(shape(), type());
  const ConstView all = read(0, 0, pixels.view());
  if (all.data != pixels.data()) std::memcpy(pixels.data(), all.data, pixels.bytes());
  return pixels;
}

void InputImage::each_band(const Settings& settings, const std::function<void(const ConstView&)>& take) const {
  if (shape().empty()) return;
  const std::int64_t rows = band_rows(shape(), type()), height = shape().height;
  Array band({shape().width, rows, shape().channels}, type());
  WorkBar bar("rows", settings.quiet);
  for (std::int64_t y = 0; y < height; y += rows) {
    View part = band.view();
    part.shape.height = std::min(rows, height - y);
    take(read(0, y, part));
    bar.update(y + part.shape.height, height);
  }
}

InputOptions plane_options(const std::string& path) {
  InputOptions options;
  options.path = path;
  return options;
}

ImageReader mask_reader(const InputImage& image) {
  return converting(image.reader(), image.type(), [](std::vector<double>& row) {
    for (double& value : row) value = value != 0 ? 255 : 0;
  });
}

}  // namespace areal::command
