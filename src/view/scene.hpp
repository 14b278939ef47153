#pragma once
// What a page shows: channels of one size with statistics of regions, and tiles.

#include <areal/array.hpp>
#include <areal/region.hpp>
#include <areal/type.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include "view/answer.hpp"
#include "view/pyramid.hpp"

namespace areal::view {

/// A tile: a header of 20 bytes, then rows of interleaved channels. The header: "artl", then version 1, type, channels
/// (bytes), 0, width, height (16u), scale and offset (32f), all little-endian. Type 0 is 8u; type 1 is 16u, of which
/// 65535 stands for NaN; type 2 is 32f, of layers. A pixel's value is offset + scale * entry.
inline constexpr std::size_t tile_header_bytes = 20;

struct TileHeader {
  std::uint8_t type = 0, channels = 1;
  std::int64_t width = 0, height = 0;  // of 16 bits
  double scale = 1, offset = 0;
};
/// A tile with that header. Its entries, of `entry` bytes each, are zero.
std::string new_tile(const TileHeader& header, std::size_t entry);

/// A survey's rows that are complete, of all rows.
struct Surveyed {
  std::int64_t rows = 0, of = 0;
  std::string problem;  // a sentence about rows that it cannot read; empty if there is none
};

class Film;

class Scene {
 public:
  enum class Kind : std::uint8_t { picture, table, video };

  virtual ~Scene() = default;
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  /// A table has no numbers but sums and means.
  virtual Kind kind() const noexcept { return Kind::picture; }
  /// Itself, if it is a video; answers are then about the frame that is shown.
  virtual Film* film() noexcept { return nullptr; }
  std::int64_t width() const noexcept { return facts_.full.width; }
  std::int64_t height() const noexcept { return facts_.full.height; }
  Type type() const noexcept { return facts_.type; }
  /// The names of the channels.
  const std::vector<std::string>& names() const noexcept { return facts_.names; }
  std::size_t channels() const noexcept { return facts_.names.size(); }
  /// The number under which `tile` draws red, green and blue together: one more than the last channel's.
  std::optional<std::size_t> colour() const noexcept;
  const std::vector<Extent>& levels() const noexcept { return levels_; }
  /// Width and height of a pixel in micrometres, where they are known. They are set before the scene is shown.
  const std::optional<std::pair<double, double>>& pixel_size() const noexcept { return pixel_size_; }
  void set_pixel_size(std::optional<std::pair<double, double>> size) noexcept { pixel_size_ = size; }
  /// Of the histogram. For any thread.
  std::pair<double, double> range() const;
  /// The histogram covers another range from now on; a survey that this invalidates begins again. Not while another
  /// thread calls `answer`. Throws InvalidArgument for a range that Binning::uniform refuses, and for a table.
  void set_range(std::pair<double, double> range);
  std::int64_t bins() const noexcept { return facts_.bins; }
  /// The values that type 1 of a tile tells apart, its black and its white; for 8u 0 and 255.
  std::pair<double, double> drawn() const noexcept { return facts_.drawn; }

  /// Throws InvalidArgument for a region outside the picture. An answer that is not `final` may be rounded where an
  /// exact one takes long. For any thread.
  virtual Answer answer(std::size_t channel, const Region& region, bool final = true) const = 0;
  /// Numbers must be of a tile: see `has_tile`. For any thread.
  std::string tile(std::size_t channel, std::size_t level, std::int64_t column, std::int64_t row) const;
  bool has_tile(std::uint64_t channel, std::uint64_t level, std::uint64_t column, std::uint64_t row) const noexcept;
  /// The picture as drawn, 8u: red, green and blue, or a channel between black and white; of the first level of at most
  /// `most_drawn` pixels, whose number is returned.
  std::pair<Array, std::size_t> drawing(std::size_t channel, std::pair<double, double> black_and_white) const;

  /// The pixels of a region of a level: 8u if the scene is, else of any type. For any thread.
  Array copy(std::size_t channel, std::size_t level, const Region& region) const;
  /// The pixels of a channel that are in memory, valid as long as the scene; none of others.
  virtual std::optional<ConstView> pixels(std::size_t) const { return {}; }
  /// What a survey of the whole picture has come to; of = 0 without one.
  virtual Surveyed surveyed() const { return {}; }
  /// `call` is called on another thread when `surveyed` changes, until the scene ends. Once, before any answer.
  virtual void on_survey(std::function<void()>) {}

 protected:
  struct Facts {
    Extent full;
    Type type = Type::u8;
    std::vector<std::string> names;
    bool has_colour = false;  // channels 1 to 3 are red, green and blue
    std::int64_t bins = 256;
    std::pair<double, double> range, drawn;
    std::int64_t most_drawn = std::numeric_limits<std::int64_t>::max();
  };
  explicit Scene(Facts facts);
  static const Facts& facts_of(const Scene& scene) noexcept { return scene.facts_; }

  /// Calls `take(i, pixels)` for i < `count` with the pixels of channel `first` + i at a level, in columns and rows of
  /// that level: 8u if the scene is, else of any type. They are valid during the call. For any thread.
  virtual void with_pixels(std::size_t first, std::size_t count, std::size_t level, const Region& region,
                           const std::function<void(std::size_t, const ConstView&)>& take) const = 0;
  /// After `range` has changed.
  virtual void range_changed() = 0;

 private:
  mutable std::mutex range_lock_;
  Facts facts_;
  std::vector<Extent> levels_;
  std::optional<std::pair<double, double>> pixel_size_;
};

}  // namespace areal::view
