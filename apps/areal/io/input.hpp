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
  std::string path, raw, luma_text, channel_text, level_text, t_text, z_text;
  bool all_channels = false;
  bool volume = false;  // the first axis of a 3-D .npy is its depth

  /// Adds INPUT, --raw, --channel and --all-channels.
  void add_to(CLI::App& verb);
  /// The same without INPUT.
  void add_format_to(CLI::App& verb);
  /// The same without --raw.
  void add_choice_to(CLI::App& verb);
  /// The first option that add_choice_to added and that was given, or an empty text.
  std::string choice() const;
  /// Is it read by blocks alone: a slide, a Zarr picture, a synthetic image, or a level or a position that was chosen?
  bool is_by_blocks() const;
  /// What --luma says of nv12. Throws InvalidArgument for wrong use.
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
  /// True where there may be several images: a video, a folder, a stream of more than one array.
  virtual bool is_sequence() const { return true; }
  virtual std::optional<std::int64_t> count() const { return std::nullopt; }
  /// 0 where it has none.
  virtual double frames_per_second() const { return 0; }
  /// What is wrong with a video that ended too early; empty if nothing is.
  virtual std::string damage() const { return {}; }
};

/// The frames of a video, of a folder, or of raw pixels that are more than one image; null for all else. Of `read`, the
/// colour is that of the options. `has_time`: they have a presentation time.
std::unique_ptr<media::Video> open_frames(const InputOptions& options, media::ReadOptions read, bool& has_time);

/// What --channel and --all-channels ask for. Throws InvalidArgument for wrong use.
media::ReadOptions read_options(const InputOptions& options);

/// Standard input or a pipe.
bool is_stream(const std::string& path);
/// Throws IoError where there is none.
InputFacts facts_of(const InputOptions& options);

std::unique_ptr<Source> open_source(const InputOptions& options, const Settings& settings);
/// One image that was read already.
std::unique_ptr<Source> source_of(Array image);

/// One picture or .npy, with the channel rules of the options.
Array load_image(const std::string& path, const InputOptions& options, const Settings& settings);
/// One picture or .npy as one channel, luma if it has colour: a mask, weights.
Array load_plane(const std::string& path, const Settings& settings);

}  // namespace areal::command
