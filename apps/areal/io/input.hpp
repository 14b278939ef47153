#pragma once
// INPUT: a picture, an .npy, `-` (an .npy stream), raw pixels, a video or a folder of pictures.

#include <areal/array.hpp>
#include <memory>
#include <optional>
#include <string>
#include "media/media.hpp"
#include "route.hpp"
#include "settings.hpp"

namespace areal::command {

struct InputOptions {
  static constexpr const char* any_input =
      "A picture, a video, a folder of pictures, an .npy, or - (.npy arrays on standard input)";

  std::string path, raw, luma_text, channel_text, level_text, t_text, z_text;
  bool all_channels = false;
  bool volume = false;  // the first axis of a 3-D .npy is its depth

  /// Adds INPUT and the options of add_format_to.
  void add_to(CLI::App& verb, const char* what = any_input);
  /// Adds --raw and the options of add_choice_to.
  void add_format_to(CLI::App& verb);
  /// Adds --channel, --all-channels and the options of add_level_to.
  void add_choice_to(CLI::App& verb);
  /// Adds --level, --t and --z.
  void add_level_to(CLI::App& verb);
  /// The name of INPUT without its folder; "-" for standard input.
  std::string file_name() const;
  /// The first of add_choice_to's options on the command line; empty without any.
  std::string choice() const;
  /// Can the input only be read in blocks? True for a slide, a Zarr picture, a synthetic image, and with --level, --t
  /// or --z.
  bool is_by_blocks() const;
  /// The value of --luma. Throws InvalidArgument for wrong use.
  const std::string& luma_range() const;
};

struct Item {
  Array pixels;  // interleaved; one channel unless --all-channels
  std::int64_t number = 0;
  std::optional<double> seconds;  // video
};

class Source {
 public:
  virtual ~Source() = default;
  /// The next image, or false at the end.
  virtual bool next(Item& item) = 0;
  /// True for a video, a folder, and a stream of more than one array.
  virtual bool is_sequence() const { return true; }
  virtual std::optional<std::int64_t> count() const { return std::nullopt; }
  /// 0 if the input has no frame rate.
  virtual double frames_per_second() const { return 0; }
  /// Why a video ended too early; empty if it did not.
  virtual std::string damage() const { return {}; }
};

/// The frames of a video, a folder, or raw pixels of more than one image; null for other inputs. The colour of
/// `options` replaces that of `read`. Sets `has_time` if frames have a presentation time.
std::unique_ptr<media::Video> open_frames(const InputOptions& options, media::ReadOptions read, bool& has_time);

/// --channel, --all-channels, --level, --t and --z. Throws InvalidArgument for wrong use.
media::ReadOptions read_options(const InputOptions& options);

/// Is the path standard input or a pipe?
bool is_stream(const std::string& path);
/// Throws IoError if the input does not exist.
InputFacts facts_of(const InputOptions& options);

std::unique_ptr<Source> open_source(const InputOptions& options, const Settings& settings);
/// A source of one image in memory.
std::unique_ptr<Source> source_of(Array image);

/// Loads a picture or .npy with the channels that the options select.
Array load_image(const std::string& path, const InputOptions& options, const Settings& settings);
/// Loads a mask or weights: a picture or .npy as one channel, luma if it has colour.
Array load_plane(const std::string& path, const Settings& settings);

}  // namespace areal::command
