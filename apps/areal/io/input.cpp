#include "input.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <areal/error.hpp>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>
#include "help.hpp"
#include "input_image.hpp"
#include "media/media.hpp"
#include "numbers.hpp"
#include "pixels.hpp"

namespace areal::command {
namespace {

namespace fs = std::filesystem;

enum class Kind { picture, npy, npy_stream, video, folder };

bool has_extension(const fs::path& path, std::initializer_list<std::string_view> list) {
  std::string extension = path.extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::find(list.begin(), list.end(), extension) != list.end();
}

// By the first bytes of the file, else by its extension.
Kind kind_of(const std::string& path) {
  if (path == "-") return Kind::npy_stream;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw IoError(path + ": no such file");
  if (fs::is_directory(status)) return Kind::folder;
  if (!fs::is_regular_file(status)) return Kind::npy_stream;  // a named pipe
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError(path + ": cannot be opened for reading");
  std::array<char, 12> bytes{};
  file.read(bytes.data(), bytes.size());
  const std::string_view head(bytes.data(), static_cast<std::size_t>(file.gcount()));
  if (head.empty()) throw IoError(path + ": the file is empty");
  if (head.starts_with("\x93NUMPY")) return Kind::npy;
  const bool riff = head.starts_with("RIFF") && head.size() == 12 && head.substr(8, 4) == "AVI ";
  const bool mp4 = head.size() >= 8 && head.substr(4, 4) == "ftyp";
  if (riff || mp4 || head.starts_with("\x1a\x45\xdf\xa3") || head.starts_with("OggS") || head.starts_with("FLV"))
    return Kind::video;
  if (has_extension(path, {".npy"})) return Kind::npy;
  if (has_extension(path, {".avi", ".mp4", ".m4v", ".mkv", ".mov", ".webm", ".mpg", ".mpeg", ".ts", ".wmv", ".flv",
                           ".ogv", ".y4m", ".mjpeg", ".h264"}))
    return Kind::video;
  return Kind::picture;
}

std::optional<int> channel_of(const InputOptions& options) {
  if (options.channel_text.empty()) return std::nullopt;
  if (options.all_channels) refuse("--channel and --all-channels: only one of the two");
  return static_cast<int>(whole_number("--channel", options.channel_text, 0, 1 << 16));
}

Array reduced(Array image, const std::string& name, const InputOptions& options, const Settings& settings) {
  std::vector<std::string> notes;
  image = media::choose_channels(std::move(image), read_options(options), name, notes);
  for (const std::string& note : notes) settings.note("{}: {}", name, note);
  return image;
}

}  // namespace

media::ReadOptions read_options(const InputOptions& options) {
  media::ReadOptions read;
  if (const auto channel = channel_of(options)) {
    read.colour = media::Colour::channel;
    read.channel = *channel;
  } else if (options.all_channels) {
    read.colour = media::Colour::all;
  }
  if (!options.level_text.empty())
    read.level = static_cast<int>(whole_number("--level", options.level_text, 0, 1 << 20));
  if (!options.t_text.empty()) read.t = whole_number("--t", options.t_text, 0);
  if (!options.z_text.empty()) read.z = whole_number("--z", options.z_text, 0);
  return read;
}

namespace {

Array load(const std::string& path, Kind kind, const InputOptions& options, const Settings& settings) {
  if (kind == Kind::npy) {
    if (options.volume) return media::read_npy(path, media::Axes::nhw);
    return reduced(media::read_npy(path), path, options, settings);
  }
  media::Picture picture = media::read_picture(path, read_options(options));
  for (const std::string& note : picture.notes) settings.note("{}: {}", path, note);
  return std::move(picture.pixels);
}

// An array of one or several images, one item each; a volume is a single item.
class Images final : public Source {
 public:
  Images(Array pixels, bool is_volume) : pixels_(std::move(pixels)), one_(is_volume || pixels_.shape().batch == 1) {}
  bool next(Item& item) override {
    if (next_ == (one_ ? 1 : pixels_.shape().batch)) return false;
    item = {};
    item.number = next_++;
    if (one_) {
      item.pixels = std::move(pixels_);
    } else {
      item.pixels = Array(one_image(pixels_.shape()), pixels_.type());
      std::memcpy(item.pixels.data(), std::as_const(pixels_).view().row(0, 0, item.number), item.pixels.bytes());
    }
    return true;
  }
  bool is_sequence() const override { return !one_; }
  std::optional<std::int64_t> count() const override { return one_ ? 1 : pixels_.shape().batch; }

 private:
  static Shape one_image(Shape shape) {
    shape.batch = 1;
    return shape;
  }

  Array pixels_;
  bool one_;
  std::int64_t next_ = 0;
};

// The frames of a video or the pictures of a folder. A folder's pictures have no time.
class VideoSource final : public Source {
 public:
  VideoSource(const InputOptions& options, bool is_folder, const Settings& settings)
      : options_(options), settings_(settings), is_folder_(is_folder) {
    media::ReadOptions read = read_options(options);
    // Decoders give luma or RGB; `reduced` selects the channel.
    if (!is_folder && read.colour == media::Colour::channel) read.colour = media::Colour::all;
    video_ = media::open_video(options.path, read);
  }
  bool next(Item& item) override {
    media::Frame frame;
    if (!video_->next(frame)) return false;
    item.pixels =
        is_folder_ ? std::move(frame.pixels) : reduced(std::move(frame.pixels), options_.path, options_, settings_);
    item.number = frame.number;
    if (!is_folder_) item.seconds = frame.seconds;
    return true;
  }
  std::optional<std::int64_t> count() const override { return video_->frame_count(); }
  double frames_per_second() const override { return is_folder_ ? 0 : video_->frames_per_second(); }
  std::string damage() const override { return video_->damage(); }

 private:
  const InputOptions& options_;
  const Settings& settings_;
  bool is_folder_;
  std::unique_ptr<media::Video> video_;
};

// Frames of --raw and --luma; null for a single image.
std::unique_ptr<media::Video> open_raw_frames(const InputOptions& options) {
  const bool is_nv12 = options.raw.ends_with("nv12");
  if (!is_nv12) raw_format("--raw", options.raw);  // for its message
  media::RawFrames frames = media::parse_raw_frames(options.raw);
  frames.is_limited = options.luma_range() == "limited";
  if (options.path == "-") return media::open_raw(stdin, "standard input", frames);
  if (kind_of(options.path) == Kind::folder) return nullptr;
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(options.path, error);  // fails for a pipe
  const std::uint64_t one = bytes_of({frames.width, frames.height}, frames.type);
  if (!error && !is_nv12 && bytes <= one) return nullptr;
  return media::open_raw(options.path, frames);
}

// The images of consecutive arrays, or raw frames, from a stream. The constructor reads two arrays ahead, to know
// whether the stream is a sequence.
class StreamSource final : public Source {
 public:
  StreamSource(const InputOptions& options, const Settings& settings) : options_(options), settings_(settings) {
    if (!options.raw.empty()) {
      frames_ = open_raw_frames(options);
    } else if (options.path == "-") {
      stream_ = stdin;
    } else {
      opened_.reset(std::fopen(options.path.c_str(), "rb"));
      stream_ = opened_.get();
      if (!stream_) throw IoError(options.path + ": cannot be opened for reading");
    }
    name_ = options.path == "-" ? "standard input" : options.path;
    first_ = read();
    if (!first_ && !damage().empty()) throw IoError(damage());
    if (!first_) throw IoError(name_ + (frames_ ? ": holds no frame" : ": holds no .npy array"));
    second_ = read();
    is_sequence_ = second_.has_value() || (!options.volume && first_->shape().batch > 1);
  }
  bool next(Item& item) override {
    while (!images_ || !images_->next(item)) {
      std::optional<Array> now = std::move(first_);
      first_ = std::move(second_);
      second_.reset();
      if (!now && is_sequence_) now = read();
      if (!now) return false;
      images_.emplace(std::move(*now), options_.volume);
    }
    item.number = number_++;
    return true;
  }
  bool is_sequence() const override { return is_sequence_; }
  std::string damage() const override { return frames_ ? frames_->damage() : std::string(); }

 private:
  std::optional<Array> read() {
    if (frames_) {
      media::Frame frame;
      if (!frames_->next(frame)) return std::nullopt;
      return reduced(std::move(frame.pixels), name_, options_, settings_);
    }
    // Test for the end of the stream here: an empty array does not mean the end.
    const int c = std::fgetc(stream_);
    if (c == EOF) return std::nullopt;
    std::ungetc(c, stream_);
    const auto axes = options_.volume ? media::Axes::nhw : media::Axes::hwc;
    Array array = media::read_npy(stream_, name_, axes);
    return options_.volume ? std::move(array) : reduced(std::move(array), name_, options_, settings_);
  }

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const InputOptions& options_;
  const Settings& settings_;
  std::unique_ptr<std::FILE, Close> opened_;
  std::FILE* stream_ = nullptr;
  std::unique_ptr<media::Video> frames_;
  std::string name_;
  std::optional<Array> first_, second_;
  std::optional<Images> images_;
  bool is_sequence_ = false;
  std::int64_t number_ = 0;
};

}  // namespace

void InputOptions::add_to(CLI::App& verb, const char* what) {
  begin_group(verb, group::input);
  verb.add_option("INPUT", path, what)->required();
  add_format_to(verb);
}

void InputOptions::add_format_to(CLI::App& verb) {
  begin_group(verb, group::input);
  verb.add_option("--raw", raw, "INPUT is raw pixels of this size and type, e.g. 1920x1080x8u")->type_name("WxHxTYPE");
  add_choice_to(verb);
}

void InputOptions::add_choice_to(CLI::App& verb) {
  begin_group(verb, group::input);
  verb.add_option("--channel,--c", channel_text, "Only this channel, counted from 0 (default: luma)")->type_name("N");
  verb.add_flag("--all-channels", all_channels, "Every colour channel separately");
  add_level_to(verb);
}

void InputOptions::add_level_to(CLI::App& verb) {
  begin_group(verb, group::input);
  verb.add_option("--level", level_text,
                  "This level of a pyramid (a slide, an OME-Zarr, an OME-TIFF), or this page of a TIFF, counted from "
                  "0; areal info lists them")
      ->type_name("N");
  verb.add_option("--t", t_text, "Of an OME-Zarr with an axis t: this position, counted from 0")->type_name("N");
  verb.add_option("--z", z_text, "Of an OME-Zarr with an axis z: this position, counted from 0")->type_name("N");
}

std::string InputOptions::file_name() const { return path == "-" ? path : fs::path(path).filename().string(); }

std::string InputOptions::choice() const {
  if (!channel_text.empty()) return "--channel";
  if (!level_text.empty()) return "--level";
  if (!t_text.empty()) return "--t";
  if (!z_text.empty()) return "--z";
  return all_channels ? "--all-channels" : "";
}

std::unique_ptr<media::Video> open_frames(const InputOptions& options, media::ReadOptions read, bool& has_time) {
  if (!options.raw.empty()) return open_raw_frames(options);
  if (options.is_by_blocks()) return nullptr;
  const Kind kind = kind_of(options.path);
  if (kind != Kind::folder && kind != Kind::video) return nullptr;
  has_time = kind == Kind::video;
  const media::ReadOptions colour = read_options(options);
  read.colour = colour.colour;
  read.channel = colour.channel;
  return media::open_video(options.path, read);
}

bool InputOptions::is_by_blocks() const {
  if (path == "-" && !(level_text + t_text + z_text).empty())
    refuse("-: a stream has no levels, and no axes t and z to choose from");
  return raw.empty() && path != "-" &&
         (!(level_text + t_text + z_text).empty() || SyntheticImage::is_name(path) || media::is_large_format(path));
}

const std::string& InputOptions::luma_range() const {
  if (!luma_text.empty() && !raw.ends_with("nv12")) refuse("--luma ", luma_text, ": is for --raw WxHxnv12");
  if (!luma_text.empty() && luma_text != "limited" && luma_text != "full")
    refuse("--luma ", luma_text, ": may be limited or full");
  return luma_text;
}

bool is_stream(const std::string& path) {
  return path == "-" || (!SyntheticImage::is_name(path) && kind_of(path) == Kind::npy_stream);
}

InputFacts facts_of(const InputOptions& options) {
  InputFacts facts{.name = options.path};
  if (options.is_by_blocks()) return facts;
  const Kind kind = kind_of(options.path);
  facts.is_stream = kind == Kind::npy_stream;
  facts.is_array = kind == Kind::npy && options.raw.empty();
  if (options.raw.empty() && !options.volume && (kind == Kind::folder || kind == Kind::video))
    facts.only_way = Way::frames;
  return facts;
}

std::unique_ptr<Source> open_source(const InputOptions& options, const Settings& settings) {
  channel_of(options);  // refuse wrong options before opening a file
  if (!options.raw.empty()) {
    if (!(options.level_text + options.t_text + options.z_text).empty())
      refuse("--raw ", options.raw, ": raw pixels have no levels, and no axes t and z to choose from");
    if (options.path == "-") return std::make_unique<StreamSource>(options, settings);
    const RawFormat format = raw_format("--raw", options.raw);
    const Kind kind = kind_of(options.path);
    if (kind == Kind::folder) refuse(options.path, ": is a folder; --raw takes one file");
    const Shape shape{format.size.width, format.size.height};
    return std::make_unique<Images>(
        reduced(media::read_raw(options.path, shape, format.type), options.path, options, settings), false);
  }
  if (options.is_by_blocks()) {
    if (options.volume) refuse("--volume: ", options.path, " is one picture");
    return std::make_unique<Images>(InputImage(options, 0, settings).whole(), false);
  }
  const Kind kind = kind_of(options.path);
  if (kind == Kind::folder || kind == Kind::video)
    return std::make_unique<VideoSource>(options, kind == Kind::folder, settings);
  if (kind == Kind::npy_stream) return std::make_unique<StreamSource>(options, settings);
  return std::make_unique<Images>(load(options.path, kind, options, settings), options.volume);
}

std::unique_ptr<Source> source_of(Array image) { return std::make_unique<Images>(std::move(image), false); }

Array load_image(const std::string& path, const InputOptions& options, const Settings& settings) {
  InputOptions of_path = options;
  of_path.path = path;
  if (of_path.is_by_blocks()) return InputImage(of_path, 0, settings).whole();
  const Kind kind = kind_of(path);
  if (kind == Kind::folder) refuse(path, ": is a folder; one picture or .npy is needed here");
  if (kind == Kind::video) refuse(path, ": is a video; one picture or .npy is needed here");
  if (kind == Kind::npy_stream) refuse(path, ": is a stream; one picture or .npy is needed here");
  Array image = load(path, kind, options, settings);
  if (image.shape().batch != 1)
    refuse(path, ": holds ", std::to_string(image.shape().batch), " images; one is needed here");
  return image;
}

Array load_plane(const std::string& path, const Settings& settings) { return load_image(path, {}, settings); }

}  // namespace areal::command
