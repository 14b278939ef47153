#include "view/sources.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <cstring>
#include <filesystem>
#include "io/input_image.hpp"
#include "io/memory_limit.hpp"
#include "io/numbers.hpp"
#include "io/synthetic.hpp"
#include "view/film.hpp"
#include "view/picture.hpp"
#include "view/picture_on_disk.hpp"
#include "view/survey.hpp"
#include "view/table_on_disk.hpp"

namespace areal::command::page {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t most_channels = 64;
constexpr int most_levels = 16;

/// Copies pixels of any layout to planes.
void copy_planes(const ConstView& from, const View& to) {
  const std::size_t size = size_of(to.type);
  for (std::int64_t c = 0; c < to.shape.channels; ++c)
    for (std::int64_t y = 0; y < to.shape.height; ++y) {
      const auto* pixel =
          static_cast<const char*>(from.row(y)) +
          c * (from.shape.layout == Layout::planar ? from.plane_pitch : static_cast<std::int64_t>(size));
      auto* out = static_cast<char*>(to.row(y, c));
      if (from.column_pitch() == static_cast<std::int64_t>(size)) {
        std::memcpy(out, pixel, static_cast<std::size_t>(to.shape.width) * size);
        continue;
      }
      for (std::int64_t x = 0; x < to.shape.width; ++x, pixel += from.column_pitch(), out += size)
        std::memcpy(out, pixel, size);
    }
}

void require_channels(const std::string& path, std::int64_t channels) {
  if (channels > most_channels)
    refuse(path, ": has ", std::to_string(channels), " channels, and a page shows ", std::to_string(most_channels),
           "; choose one with --channel");
}

std::vector<std::string> names_of(std::int64_t channels, bool in_colour, const std::string& chosen) {
  if (in_colour) return {"red", "green", "blue"};
  if (!chosen.empty()) return {"channel " + chosen};
  if (channels == 1) return {"gray"};
  std::vector<std::string> names;
  for (std::int64_t c = 0; c < channels; ++c) names.push_back("channel " + std::to_string(c));
  return names;
}

/// Planes of the channels of a file; with colour also of luma, which comes first.
view::ReadPlanes with_luma(view::ReadPlanes read, bool in_colour) {
  if (!in_colour) return read;
  return [read = std::move(read)](std::int64_t x, std::int64_t y, const View& planes) {
    View colours = planes;
    colours.data = planes.row(0, 1);
    colours.shape.channels = 3;
    read(x, y, colours);
    copy_planes(media::luma(colours).view(), plane(planes, 0));
  };
}

/// An image of the command as planes.
view::ReadPlanes planes_of(std::shared_ptr<const InputImage> image) {
  return [image = std::move(image), read = ImageReader()](std::int64_t x, std::int64_t y, const View& planes) mutable {
    if (!read) read = image->reader();
    const ConstView pixels = read(x, y, planes);
    if (pixels.data != planes.data) copy_planes(pixels, planes);
  };
}

/// Of a file that stays on disk, its chosen channels.
view::ReadPlanes planes_of(std::shared_ptr<const media::MappedArray> file, std::int64_t first) {
  return [file = std::move(file), first](std::int64_t x, std::int64_t y, const View& planes) {
    ConstView part = file->view();
    part.data = static_cast<const char*>(part.row(y)) + x * part.column_pitch() +
                first * static_cast<std::int64_t>(size_of(part.type));
    part.shape = planes.shape;
    part.shape.layout = Layout::interleaved;
    copy_planes(part, planes);
  };
}

/// What a file is, before it is read.
struct File {
  std::shared_ptr<const media::MappedArray> mapped;  // .npy and raw pixels
  std::shared_ptr<const InputImage> image;           // any other
  Shape shape;
  Type type = Type::u8;
  std::int64_t first_channel = 0;                            // of a mapped file
  std::optional<std::pair<double, double>> pixel_size = {};  // micrometres
};

bool is_regular(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// A folder with what a chunked table has: docs/chunked-tables.md.
bool is_chunked_table(const std::string& path) {
  std::error_code error;
  return fs::is_directory(fs::path(path) / "local", error);
}

File open_file(const InputOptions& input, std::uint64_t memory, const Settings& settings) {
  File file;
  if (!input.raw.empty() && !input.raw.ends_with("nv12") && is_regular(input.path)) {
    const RawFormat format = raw_format("--raw", input.raw);
    const Shape shape{format.size.width, format.size.height};
    if (shape.empty()) refuse(input.path, ": has no pixels to view");
    file.mapped = media::map_raw(input.path, shape, format.type);
  } else if (media::is_npy(input.path) && !input.is_by_blocks() && input.channel_text.empty()) {
    file.mapped = media::map_npy(input.path);
  }
  if (file.mapped) {
    file.shape = file.mapped->view().shape;
    file.type = file.mapped->view().type;
    return file;
  }
  file.image = std::make_shared<InputImage>(input, memory, settings);
  file.shape = file.image->shape();
  file.type = file.image->type();
  if (const auto size = file.image->pixel_size()) file.pixel_size.emplace(size->x, size->y);
  return file;
}

/// Has the file no part that can be read alone? True for PNG, JPEG, a TIFF of one strip, and a stream.
bool is_one_block(const File& file, const InputOptions& input) {
  return file.image && !SyntheticImage::is_name(input.path) &&
         file.image->block() == media::BlockSize{file.shape.width, file.shape.height};
}

/// The frames of a video, a folder, or raw pixels.
class Frames final : public view::FrameReader {
 public:
  /// A video has a luma of its own, which a decoder reads beside the one of the colours.
  Frames(std::unique_ptr<media::Video> colours, std::unique_ptr<media::Video> luma, bool has_time)
      : colours_(std::move(colours)), luma_(std::move(luma)), has_time_(has_time) {}

  bool next(view::DecodedFrame& frame) override {
    media::Frame read, luma;
    if (!colours_->next(read) || (luma_ && !luma_->next(luma))) return false;
    const Shape& shape = read.pixels.shape();
    frame.planes = Array({shape.width, shape.height, shape.channels, 1, Layout::planar}, read.pixels.type());
    copy_planes(std::as_const(read.pixels).view(), frame.planes.view());
    frame.luma = luma_                 ? std::move(luma.pixels)
                 : shape.channels == 3 ? media::luma(std::as_const(read.pixels).view())
                                       : Array();
    if (has_time_) frame.seconds = read.seconds;
    return true;
  }
  std::string damage() const override { return colours_->damage(); }

 private:
  std::unique_ptr<media::Video> colours_, luma_;
  bool has_time_;
};

/// The images of an `.npy`, or a channel of each.
class ArrayFrames final : public view::FrameReader {
 public:
  ArrayFrames(std::shared_ptr<const media::MappedArray> file, std::int64_t first_channel, std::int64_t channels)
      : file_(std::move(file)), first_channel_(first_channel), channels_(channels) {}

  bool next(view::DecodedFrame& frame) override {
    ConstView image = file_->view();
    if (number_ == image.shape.batch) return false;
    image.data = static_cast<const char*>(image.row(0, 0, number_++)) +
                 first_channel_ * static_cast<std::int64_t>(size_of(image.type));
    image.shape.batch = 1;
    frame.planes = Array({image.shape.width, image.shape.height, channels_, 1, Layout::planar}, image.type);
    copy_planes(image, frame.planes.view());
    frame.luma = channels_ == 3 ? media::luma(frame.planes.view()) : Array();
    return true;
  }
  std::string damage() const override { return {}; }

 private:
  std::shared_ptr<const media::MappedArray> file_;
  std::int64_t first_channel_, channels_, number_ = 0;
};

/// None for one image.
std::optional<view::FilmSource> film_of_array(const InputOptions& input) {
  const std::shared_ptr<const media::MappedArray> file = media::map_npy(input.path);
  const Shape& shape = file->view().shape;
  if (shape.batch < 2 || shape.empty()) return {};
  const bool is_one = !input.channel_text.empty();
  const std::int64_t first = is_one ? whole_number("--channel", input.channel_text, 0) : 0;
  if (first >= shape.channels)
    refuse("--channel ", input.channel_text, ": ", input.path, " has ", std::to_string(shape.channels), " channels");
  const std::int64_t channels = is_one ? 1 : shape.channels;
  require_channels(input.path, channels);
  view::FilmSource source;
  source.names = names_of(channels, channels == 3, input.channel_text);
  source.frames = shape.batch;
  source.open = [=] { return std::make_unique<ArrayFrames>(file, first, channels); };
  return source;
}

/// None for an input without frames.
std::optional<view::FilmSource> film_of(const InputOptions& input, std::uint64_t memory) {
  if (input.path == "-" || SyntheticImage::is_name(input.path) || is_stream(input.path)) return {};
  if (!input.raw.empty() && !is_regular(input.path)) return {};
  if (input.raw.empty() && !input.is_by_blocks() && media::is_npy(input.path)) return film_of_array(input);
  media::ReadOptions read;
  read.memory_limit = memory;
  bool has_time = false;
  const std::unique_ptr<media::Video> first = open_frames(input, read, has_time);
  if (!first) return {};
  media::Frame frame;
  if (!first->next(frame)) throw IoError(first->damage().empty() ? input.path + ": has no frames" : first->damage());
  const std::int64_t channels = frame.pixels.shape().channels;
  require_channels(input.path, channels);
  view::FilmSource source;
  source.names = names_of(channels, channels == 3, input.channel_text);
  source.frames_per_second = has_time ? first->frames_per_second() : 0;
  source.frames = first->frame_count();
  source.open = [input, read, has_luma = has_time && channels == 3]() -> std::unique_ptr<view::FrameReader> {
    bool timed = false;
    auto colours = open_frames(input, read, timed);
    if (!colours) throw IoError(input.path + ": is no longer a video");
    InputOptions of_luma = input;
    of_luma.all_channels = false;
    return std::make_unique<Frames>(std::move(colours), has_luma ? open_frames(of_luma, read, timed) : nullptr, timed);
  };
  return source;
}

std::unique_ptr<view::Scene> in_memory(const File& file, const SceneOptions& options, std::uint64_t for_stores,
                                       const Settings& settings) {
  const bool in_colour = file.shape.channels == 3;
  Array planes({file.shape.width, file.shape.height, file.shape.channels, 1, Layout::planar}, file.type);
  (file.mapped ? planes_of(file.mapped, 0) : planes_of(file.image))(0, 0, planes.view());
  Array luma = in_colour ? media::luma(planes.view()) : Array();
  view::PictureOptions chosen;
  chosen.bins = options.bins, chosen.range = options.range;
  chosen.store_memory = for_stores;
  chosen.threads = settings.threads;
  auto picture = std::make_unique<view::Picture>(
      std::move(planes), names_of(file.shape.channels, in_colour, options.input.channel_text), std::move(luma), chosen);
  picture->set_pixel_size(file.pixel_size);
  return picture;
}

/// The smaller levels that the file itself has.
void add_levels(view::PictureSource& source, const InputOptions& input, std::uint64_t memory,
                const Settings& settings) {
  const int first = input.level_text.empty() ? 0 : static_cast<int>(whole_number("--level", input.level_text, 0));
  for (int level = first + 1; level <= first + most_levels; ++level) {
    InputOptions smaller = input;
    smaller.level_text = std::to_string(level);
    Settings quiet = settings;
    quiet.quiet = true;  // the first level's notes have been said
    try {
      const auto image = std::make_shared<InputImage>(smaller, memory / most_levels, quiet);
      const Shape& shape = image->shape();
      const view::Extent& above = source.levels.back().extent;
      // Further pages of a TIFF need not be smaller.
      if (shape.width >= above.width || shape.height >= above.height || image->type() != source.type) return;
      source.levels.push_back({{shape.width, shape.height},
                               {image->block().width, image->block().height},
                               with_luma(planes_of(image), source.has_colour)});
    } catch (const Error&) {
      return;  // there are no more
    }
  }
}

std::unique_ptr<view::Scene> on_disk(File file, const SceneOptions& options, const Settings& settings) {
  view::PictureSource source;
  const Shape& shape = file.shape;
  const bool in_colour = shape.channels == 3;
  source.type = file.type;
  source.has_colour = in_colour;
  source.names = names_of(shape.channels, in_colour, options.input.channel_text);
  if (in_colour) source.names.insert(source.names.begin(), "luma");
  const view::Extent full{shape.width, shape.height};
  if (file.mapped) {
    source.levels.push_back({full, full, with_luma(planes_of(file.mapped, 0), in_colour)});
    source.survey = source.levels.front().read;
  } else {
    // An eighth each for the reader of answers, that of the survey, and those of smaller levels.
    const std::uint64_t share = options.memory / 8;
    file.image.reset();
    const auto image = std::make_shared<InputImage>(options.input, share, settings);
    Settings quiet = settings;
    quiet.quiet = true;
    source.levels.push_back(
        {full, {image->block().width, image->block().height}, with_luma(planes_of(image), in_colour)});
    source.survey = with_luma(planes_of(std::make_shared<InputImage>(options.input, share, quiet)), in_colour);
    source.decodes = image->decodes();
    if (source.decodes) add_levels(source, options.input, share, settings);
  }
  view::PictureOnDiskOptions chosen;
  chosen.bins = options.bins, chosen.range = options.range;
  chosen.memory = options.memory;
  chosen.threads = settings.threads;
  auto picture = std::make_unique<view::PictureOnDisk>(std::move(source), chosen);
  picture->set_pixel_size(file.pixel_size);
  return picture;
}

}  // namespace

std::unique_ptr<view::Scene> open_scene(const SceneOptions& options, const Settings& settings,
                                        std::vector<std::string>& notes) {
  InputOptions input = options.input;
  input.all_channels = input.channel_text.empty() && !SyntheticImage::is_name(input.path);
  SceneOptions all = options;
  all.input = input;
  if (is_chunked_table(input.path)) {
    if (const std::string choice = options.input.choice(); !choice.empty() || !input.raw.empty())
      refuse(choice.empty() ? "--raw" : choice, ": ", input.path, " is a table of one channel and one level");
    if (options.range) refuse("--range: ", input.path, " is a table of sums, which has no histogram");
    notes.push_back("A table keeps sums alone: Sum and Mean are exact, all else needs the picture.");
    return std::make_unique<view::TableOnDisk>(input.path, options.memory / 4, settings.threads);
  }
  if (auto film = film_of(input, options.memory)) {
    view::FilmOptions chosen;
    chosen.bins = options.bins, chosen.range = options.range;
    chosen.memory = options.memory, chosen.threads = settings.threads;
    try {
      return std::make_unique<view::Film>(std::move(*film), chosen);
    } catch (const OutOfMemory& error) {
      throw OutOfMemory(fmt::format("{}: three frames of it need --memory of at least {}M", input.path,
                                    ((process_bytes + error.bytes()) >> 20) + 1),
                        error.bytes());
    }
  }
  File file = open_file(input, options.memory, settings);
  const Shape& shape = file.shape;
  if (shape.empty()) refuse(input.path, ": has no pixels to view");
  require_channels(input.path, shape.channels);
  if (file.image) notes = file.image->notes();
  const std::int64_t channels = shape.channels + (shape.channels == 3 ? 1 : 0);
  const view::Extent full{shape.width, shape.height};
  const std::uint64_t needed =
      view::Picture::bytes(full, channels, file.type) + (file.image ? file.image->memory() : 0);
  constexpr std::int64_t most_pixels = (std::int64_t{1} << 31) - 1;
  const bool fits = needed <= options.memory && full.width <= most_pixels / full.height;
  const std::uint64_t beside = fits ? options.memory - needed : 0;
  const std::uint64_t for_stores = beside - std::min(beside, options.memory / layer_share);
  const auto answers_soon = [&] {
    // Without its stores each answer counts a region's pixels; on disk it counts those at the edges alone. 16 million
    // bytes are counted in 5 ms, 16-bit pixels in 50, floats in 100.
    return (size_of(file.type) == 1 && full.width * full.height <= view::PictureOnDisk::most_counted) ||
           view::Survey::store_bytes(full, file.type, options.bins) <=
               for_stores / static_cast<std::uint64_t>(channels);
  };
  if (fits && (is_one_block(file, input) || answers_soon())) return in_memory(file, all, for_stores, settings);
  const Type type = file.type;
  std::unique_ptr<view::Scene> scene;
  try {
    scene = on_disk(std::move(file), all, settings);
  } catch (const OutOfMemory&) {  // large blocks of the file, for one
    if (!fits) throw;
    Settings quiet = settings;
    quiet.quiet = true;  // the notes have been said
    return in_memory(open_file(input, options.memory, quiet), all, for_stores, settings);
  }
  if (type != Type::u8 && type != Type::s8 && !options.range)
    notes.push_back(fmt::format("The histogram covers the values of a sample, {:g} to {:g}; --range chooses others.",
                                scene->range().first, scene->range().second));
  return scene;
}

}  // namespace areal::command::page
